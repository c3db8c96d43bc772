package operation

// Original is what a replacement looks at, with its row locked.
type Original struct {
	State State
	// OpenReplacement: another operation of its lineage is not closed.
	OpenReplacement bool
	// EffectBefore, EffectAfter: an operation before or after it in its lineage has the effect
	// that it was meant to have.
	EffectBefore, EffectAfter bool

	DispatchedEver bool // some attempt of it, or of one before it in its lineage, was ever dispatched
	// Deliberate: a second effect is wanted although the original's effect exists
	// (say, a bounced mail is sent again on purpose).
	Deliberate bool
}

// MayReplace checks that an original may be replaced by a new operation. It is refused
// while the original or another of its lineage is unresolved, and where the effect exists
// unless a second one is wanted deliberately. second says that the replacement follows the
// re-execution rule: a second person decides, with the original's attempts shown.
func MayReplace(o Original) (second bool, r *Refusal) {
	switch {
	case !o.State.Closed():
		return false, Refuse(CodeOriginalOpen, "state", string(o.State))
	case o.State == Confirmed && !o.Deliberate:
		return false, Refuse(CodeForbiddenMove, "state", string(o.State))
	case o.OpenReplacement:
		return false, Refuse(CodeOriginalOpen)
	case o.EffectBefore && !o.Deliberate:
		return false, Refuse(CodeOriginalConfirmed)
	case o.EffectAfter && !o.Deliberate:
		return false, Refuse(CodeReplacementConfirmed)
	}
	return o.DispatchedEver || o.State == Confirmed || o.EffectBefore || o.EffectAfter, nil
}

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

// permitLineage stops what could be a second effect of the lineage: the effect exists, or may, in
// an operation before or after this one.
func permitLineage(f Facts) *Refusal {
	if f.OriginalOpen {
		return Refuse(CodeOriginalOpen)
	}
	return noSecondEffect(f)
}

// noSecondEffect stops another attempt of what has its effect already, in what it replaces,
// or has or may have it in what replaced it since.
func noSecondEffect(f Facts) *Refusal {
	if f.OriginalDone {
		return Refuse(CodeOriginalConfirmed).By(reviewer(f))
	}
	return notReplaced(f)
}

// notReplaced stops another attempt of what was replaced since, where the replacement has
// the effect, or nobody can say whether it has.
func notReplaced(f Facts) *Refusal {
	switch {
	case f.ReplacementDone:
		return Refuse(CodeReplacementConfirmed).By(reviewer(f))
	case f.ReplacementOpen:
		return Refuse(CodeReplacementOpen).By(reviewer(f))
	}
	return nil
}

// MaySendOnceMore checks that a second person may permit one more attempt: nobody who must
// not be written to would get it, and it would be no second effect.
func MaySendOnceMore(f Facts) *Refusal { return firstRefusal(notSuppressed(f), noSecondEffect(f)) }
