package operation

// MayCancel checks that an operation may be cancelled: nothing was executed, provably.
// dispatched says whether the open attempt has been dispatched. After dispatch it can
// no longer be taken back; see MayStop. Cancelling an attempt before its dispatch makes
// its fence stale.
func MayCancel(f Facts, dispatched bool) *Refusal {
	if f.State.Closed() {
		return Refuse(CodeClosed, "state", string(f.State))
	}
	if f.State == InProgress && dispatched {
		return Refuse(CodeDispatched, "attempt", string(f.OpenAttempt)).By(Responsible{System: true})
	}
	if len(f.Unsettled) > 0 || f.Stated || f.Disputed {
		return Refuse(CodeAttemptsUnsettled).By(reviewer(f))
	}
	if _, ok := Next(f.State, EvCancel); !ok {
		return Refuse(CodeForbiddenMove, "state", string(f.State)).By(reviewer(f))
	}
	return nil
}

// MayStop checks that a person may forbid any further attempt of an operation whose
// request may have left (withdraw or cancel after dispatch, MODEL §3). It sets
// Facts.Stopped; the outcome is still settled.
func MayStop(f Facts, dispatched bool) *Refusal {
	switch {
	case f.Stopped:
		return Refuse(CodeAlreadyDecided)
	case f.State == Unknown, f.State == InProgress && (dispatched || len(f.Unsettled) > 0):
		return nil
	case f.State.Closed():
		return Refuse(CodeClosed, "state", string(f.State))
	}
	return Refuse(CodeForbiddenMove, "state", string(f.State))
}

// AfterWithdraw gives the moves when an approval that made the clearance is withdrawn.
// none means: only the clearance is void (no further attempt), the state is settled as
// usual. dispatched concerns the open attempt; one that was not dispatched ends as
// not_started and its fence is stale.
func AfterWithdraw(f Facts, dispatched bool) []Event {
	switch {
	case f.State == InProgress && !dispatched && len(f.Unsettled) > 0:
		return []Event{EvUnknown}
	case f.State == InProgress && !dispatched && isReexecution(f):
		return []Event{EvNotStarted, EvRefuseReexecution}
	case f.State == InProgress && !dispatched:
		return []Event{EvNotStarted, EvExpire}
	case (f.State == Ready || f.State == RetryScheduled) && isReexecution(f):
		return []Event{EvRefuseReexecution}
	case f.State == Waiting || f.State == Ready || f.State == RetryScheduled:
		return []Event{EvExpire}
	}
	return nil
}
