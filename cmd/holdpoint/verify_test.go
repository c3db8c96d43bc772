package main

import (
	"strings"
	"testing"

	"holdpoint/cmd/holdpoint/verify"
)

// TestSayReport: only what was compared as a whole is called whole.
func TestSayReport(t *testing.T) {
	for _, x := range []struct {
		r     verify.Report
		whole bool
	}{{verify.Report{Entries: 3}, true}, {verify.Report{Entries: 3, Partial: true}, false}, {verify.Report{Entries: 3, Broken: 1, Findings: []verify.Finding{{What: verify.Removed}}}, false}} {
		if says := sayReport(&x.r); strings.Contains(says, "Whole.") != x.whole {
			t.Errorf("%+v: %s", x.r, says)
		}
	}
}
