package web

import (
	"fmt"
	"testing"
	"time"
)

// TestKeeping counts per address prefix, and counts a bounded number of them.
func TestKeeping(t *testing.T) {
	var k keeping
	now := time.Now()
	n := 0
	for i := range 100 {
		if k.allow(fmt.Sprintf("192.0.2.%d", i), now) {
			n++
		}
	}
	if n != keptPerHour || !k.allow("198.51.100.1", now) || !k.allow("192.0.2.1", now.Add(3*time.Minute)) {
		t.Errorf("%d of one network, want %d, and others apart", n, keptPerHour)
	}
	for i := range 2 * keptPrefixes {
		k.allow(fmt.Sprintf("2001:db8:%x:%x::1", i>>16, i&0xffff), now)
	}
	if len(k.all) > keptPrefixes || k.allow("203.0.113.1", now) {
		t.Errorf("%d prefixes are counted", len(k.all))
	}
	if !k.allow("203.0.113.1", now.Add(2*time.Hour)) || len(k.all) > 10 {
		t.Errorf("%d prefixes are still counted after two hours", len(k.all))
	}
}
