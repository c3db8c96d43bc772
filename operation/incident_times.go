package operation

import (
	"slices"
	"time"
)

// doubt are the states in which an operation waits for its outcome to be known.
var doubt = []State{Unknown, Review, ReexecutionRequested}

// ProposeTimes reads from the significant entries of a history, in the order of time, when
// the operations came into doubt and when the last of them left it. states are the
// operations' states now; first and last are the requests that may have had an effect.
func ProposeTimes(entries []TimelineEntry, states []State, first, last time.Time) IncidentTimes {
	t := IncidentTimes{First: first, Last: last}
	for _, e := range entries {
		into, out := slices.Contains(doubt, e.To), slices.Contains(doubt, e.From)
		if into && e.From != e.To && t.Detected.IsZero() {
			t.Detected = e.At
		}
		if out && !into {
			t.Settled = e.At
		}
	}
	for _, s := range states {
		if s == InProgress || slices.Contains(doubt, s) {
			t.Settled = time.Time{}
		}
	}
	return t
}
