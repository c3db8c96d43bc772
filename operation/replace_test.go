package operation

import "testing"

// TestAfterOriginal: a replacement whose original has its effect is cancelled by itself
// exactly while nothing of it can have been executed.
func TestAfterOriginal(t *testing.T) {
	unsent := map[State]bool{Draft: true, PendingApproval: true, Waiting: true, Ready: true, RetryScheduled: true}
	for _, s := range States {
		ev, ok := AfterOriginal(Facts{State: s, OriginalDone: true})
		if want := unsent[s] || s == InProgress; ok != want || ok && ev != EvCancel {
			t.Errorf("%s: %q, %v", s, ev, ok)
		}
		for name, f := range map[string]Facts{
			"the original has no effect":  {State: s},
			"the original is open":        {State: s, OriginalOpen: true},
			"an attempt is open":          {State: s, OriginalDone: true, OpenAttempt: "att_1"},
			"an attempt is not settled":   {State: s, OriginalDone: true, Unsettled: []UnsettledAttempt{{ID: "att_1"}}},
			"an attempt was only stated":  {State: s, OriginalDone: true, Stated: true},
			"it is disputed":              {State: s, OriginalDone: true, Disputed: true},
			"a re-execution was approved": {State: s, OriginalDone: true, Reexecution: &ReexecutionFacts{Request: "req_1"}},
		} {
			if ev, ok := AfterOriginal(f); ok {
				t.Errorf("%s, %s: %q", s, name, ev)
			}
		}
	}
}
