package operation

// Original is what a replacement looks at, with its row locked.
type Original struct {
	State           State
	OpenReplacement bool // another replacement of it is not closed
	DispatchedEver  bool // some attempt of it was ever dispatched
	// Deliberate: a second effect is wanted although the original's effect exists
	// (say, a bounced mail is sent again on purpose).
	Deliberate bool
}

// MayReplace checks that an original may be replaced by a new operation. It is refused
// while the original is unresolved, and for a confirmed one unless a second effect is
// wanted deliberately. second says that the replacement follows the re-execution rule:
// a second person decides, with the original's attempts shown.
func MayReplace(o Original) (second bool, r *Refusal) {
	switch {
	case !o.State.Closed():
		return false, Refuse(CodeOriginalOpen, "state", string(o.State))
	case o.State == Confirmed && !o.Deliberate:
		return false, Refuse(CodeForbiddenMove, "state", string(o.State))
	case o.OpenReplacement:
		return false, Refuse(CodeOriginalOpen)
	}
	return o.DispatchedEver || o.State == Confirmed, nil
}

// OriginalOpen gives Facts.OriginalOpen of a replacement: whether its original is not (or
// no longer) closed, so that nobody can say whether the replacement would be a second effect.
func OriginalOpen(o Original) bool { return !o.State.Closed() }

// OriginalDone gives Facts.OriginalDone of a replacement: whether its original turned out to
// have its effect, and a second one is not wanted deliberately.
func OriginalDone(o Original) bool { return o.State == Confirmed && !o.Deliberate }

// AfterOriginal gives the move of a replacement whose original has its effect
// (Facts.OriginalDone): while provably nothing of the replacement was executed, it is
// cancelled by itself. ok is false where a person has to settle the replacement first, or an
// attempt of it is open: that one ends before its dispatch, or is settled as usual.
func AfterOriginal(f Facts) (ev Event, ok bool) {
	if !f.OriginalDone || f.OpenAttempt != "" || isReexecution(f) || MayCancel(f, false) != nil {
		return "", false
	}
	return EvCancel, true
}
