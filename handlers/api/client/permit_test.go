package client

import (
	"testing"
	"time"
)

func TestLeft(t *testing.T) {
	t.Parallel()
	start := time.Now()
	p := Permit{BudgetMS: 10_000, asked: start}
	for name, c := range map[string]struct {
		now  time.Time
		left time.Duration
	}{
		"at once":              {start, 10 * time.Second},
		"after a slow answer":  {start.Add(4 * time.Second), 6 * time.Second},
		"too late":             {start.Add(11 * time.Second), -time.Second},
		"woken: only the wall": {start.Round(0).Add(30 * time.Second), -20 * time.Second},
	} {
		if got := p.leftAt(c.now); got != c.left {
			t.Errorf("%s: %s left, want %s", name, got, c.left)
		}
	}
	if (Permit{}).Left() > 0 {
		t.Error("an empty permit permits something")
	}
}
