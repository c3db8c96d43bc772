package operation

import "time"

// ExpiryDue says what an approval that no longer holds (expired, withdrawn, its
// approver no longer entitled, its version not the current one) means for the
// operation now; "" = nothing. The refusal names the reason; nil when the approval
// holds or the state needs none.
//
// Unsent content goes back to be approved ("Expired, not sent"); a re-execution goes
// back to review; out of unknown nothing is sent any more, lookups go on, and a person
// is asked when they are used up. An open attempt is stopped at its dispatch.
func ExpiryDue(f Facts, now time.Time) (Event, *Refusal) {
	switch f.State {
	case Waiting, Ready, RetryScheduled, Unknown:
	default:
		return "", nil
	}
	r := permitClearance(f, now)
	switch {
	case r == nil:
		return "", nil
	case f.State == Unknown:
		if f.Protection.HasLookup && f.Misses < MissesBeforePerson {
			return "", r
		}
		return EvEscalate, r
	case isReexecution(f):
		return EvRefuseReexecution, r
	}
	return EvExpire, r
}

// AfterRefusal gives what follows when the gate has refused a claim: most refusals
// only mean "later"; those that no waiting changes move the operation to the person
// who can help.
func AfterRefusal(f Facts, r *Refusal, p RetryPolicy, now time.Time) After {
	if ev, ok := AfterOriginal(f); ok {
		return After{Events: []Event{ev}, Code: CodeOriginalConfirmed}
	}
	if ev, why := ExpiryDue(f, now); ev != "" {
		return After{Events: []Event{ev}, Code: why.Code, LookupAt: lookupIfUnknown(f, p, now)}
	}
	unsent := f.State == Ready || f.State == RetryScheduled
	switch {
	case f.State == Unknown && f.OpenAttempt == "" && (lasting(r.Code) || r.Code == CodeBatchStopped):
		return PlanUnknown(f, p, now, 0)
	case unsent && isReexecution(f) && lasting(r.Code):
		return After{Events: []Event{EvRefuseReexecution}, Code: r.Code}
	case unsent && !isReexecution(f) && r.Code == CodeAccountChanged:
		return After{Events: []Event{EvEdit}, Code: r.Code} // only a new version can name the new account
	case unsent && !isReexecution(f) && lasting(r.Code):
		return After{Events: []Event{EvRefused}, Code: r.Code}
	case r.Code == CodeEarlierStage:
		if ev, ok := StageReopened(f); ok {
			return After{Events: []Event{ev}, Code: r.Code}
		}
	}
	return After{RetryAt: f.RetryAt, LookupAt: f.LookupAt, KeyAnswered: f.KeyAnswered}
}

// lasting reports a refusal that waiting does not change.
func lasting(c Code) bool {
	switch c {
	case CodeKeyExpired, CodeUnprotected, CodeAttemptLimit, CodeNotApproved, CodeApprovalExpired, CodeApproverNotEntitled,
		CodeHashMismatch, CodeContentDiffers, CodeAttemptsUnsettled, CodeStopped, CodeSuppressed, CodeAccountChanged, CodeOriginalConfirmed, CodeReplacementConfirmed:
		return true
	}
	return false
}

func lookupIfUnknown(f Facts, p RetryPolicy, now time.Time) time.Time {
	if f.State == Unknown {
		return nextLookup(f, p, now)
	}
	return time.Time{}
}

// isReexecution reports that an approved re-execution is what would be carried out.
func isReexecution(f Facts) bool {
	return f.Reexecution != nil || (f.Clearance != nil && f.Clearance.Kind == ClearReexecution)
}

// StageReopened gives the move of an unsent operation when an earlier stage is no
// longer satisfied (MODEL §7); ok is false when it stays where it is, because the gate
// alone holds it.
func StageReopened(f Facts) (Event, bool) {
	if (f.State == Ready || f.State == RetryScheduled) && !isReexecution(f) {
		return EvStageReopened, true
	}
	return "", false
}
