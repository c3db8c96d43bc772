package operation

import "time"

// PersonDecisions are the entries by which a person says that nothing happened, that
// nothing is to happen, or which effect it was.
var PersonDecisions = []string{"confirmed_not_done", string(EvCloseNotExecuted), string(EvRequestReexecution), string(EvApproveReexecution),
	string(EvCancel), string(EvReject), string(EvEffect)}

// Told is evidence of an effect from the destination, as it arrives.
type Told struct {
	Reference string // of the effect; "" = it names none
	Many      bool   // several effects
	// Sent is when the request that it answers was dispatched; zero = it does not say.
	Sent time.Time
}

// Contradicts reports whether evidence of an effect contradicts what a person decided last,
// at decided: that there is none, or that it is another one. Evidence that may belong to an
// attempt which was dispatched after that decision contradicts nothing.
func Contradicts(f Facts, byPerson bool, reference string, e Told, decided time.Time) bool {
	later := f.lastDispatch().After(decided) && (e.Sent.IsZero() || e.Sent.After(decided))
	switch {
	case f.State == Confirmed:
		other := e.Many || e.Reference != "" && reference != "" && e.Reference != reference
		return other && (byPerson || f.Stated)
	case f.State.WithoutEffect():
		return !later
	case f.State == ReexecutionRequested || f.Reexecution != nil || f.Stated:
		return !later || e.Many
	}
	return false
}
