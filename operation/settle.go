package operation

import "time"

// MissesBeforePerson is how many lookups may miss before a person is asked, where no
// protected retry is possible. A miss is never a proof; it only ends the waiting.
const MissesBeforePerson = 3

// After is what follows from a recorded fact: the events to apply in order and the
// times of the next automatic steps.
type After struct {
	Events             []Event
	RetryAt            time.Time // next attempt, zero = none planned
	LookupAt           time.Time // next lookup, zero = none planned
	DuplicateSuspected bool
	Code               Code // why a person is asked, when Events ends with an escalation
}

// AfterResult gives what follows from an attempt's result. Facts must describe the
// operation with this attempt already counted: if its outcome is unknown it is in
// f.Unsettled; if not, it is not. kind is the permission it ran under.
func AfterResult(f Facts, r Result, kind AttemptKind, p RetryPolicy, now time.Time) After {
	switch {
	case r.Outcome == OutcomeConfirmed:
		return afterEffect(f, now)
	case r.Outcome == OutcomeNotStarted && len(f.Unsettled) == 0:
		if kind == AttemptReexecution || r.Permanent || f.AttemptsUsed >= f.AttemptsMax {
			return After{Events: []Event{EvRefused}, Code: CodeAttemptLimit}
		}
		return After{Events: []Event{EvNotStarted}, RetryAt: now.Add(p.Wait(f.AttemptsUsed, r.RetryAfter))}
	}
	a := After{Events: []Event{EvUnknown}}
	if r.Mismatch {
		a.Events, a.Code = append(a.Events, EvEscalate), CodeContentDiffers
		a.LookupAt = nextLookup(f, p, now)
		return a
	}
	plan := PlanUnknown(f, p, now, r.RetryAfter)
	plan.Events = append(a.Events, plan.Events...)
	return plan
}

// afterEffect confirms. Where another attempt may also have had an effect, one more
// lookup follows after the lag (MODEL §4).
func afterEffect(f Facts, now time.Time) After {
	a := After{Events: []Event{EvEffect}}
	if len(f.Unsettled) > 0 && f.Protection.HasLookup {
		a.LookupAt = now.Add(f.Protection.LookupLag)
	}
	return a
}

// PlanUnknown plans the way from unknown to known (MODEL §5): look up after the lag,
// repeat under protection before the retention ends, else ask a person.
// wish is the destination's Retry-After, 0 = none.
func PlanUnknown(f Facts, p RetryPolicy, now time.Time, wish time.Duration) After {
	var a After
	a.LookupAt = nextLookup(f, p, now)
	retry := nextProtected(f, p, now, wish)
	switch {
	case !retry.IsZero():
		a.RetryAt = retry
	case f.Protection.HasLookup && f.Misses < MissesBeforePerson:
		// keep looking
	default:
		a.Events, a.Code = []Event{EvEscalate}, CodeUnprotected
	}
	return a
}

// nextLookup is when to look up: after the lag of the last dispatch at the earliest,
// then at growing intervals. Lookups never stop while the outcome is not known.
func nextLookup(f Facts, p RetryPolicy, now time.Time) time.Time {
	if !f.Protection.HasLookup {
		return time.Time{}
	}
	at := now
	if f.Misses > 0 {
		at = now.Add(max(p.Wait(f.Misses, 0), 500*time.Millisecond))
	}
	for _, u := range f.Unsettled {
		if t := u.DispatchedAt.Add(f.Protection.LookupLag); t.After(at) {
			at = t
		}
	}
	return at
}

// nextProtected is when the protected retry may run; zero when it may not at all.
// Where a lookup exists it goes first, unless the retention would end meanwhile.
func nextProtected(f Facts, p RetryPolicy, now time.Time, wish time.Duration) time.Time {
	if f.AttemptsUsed >= f.AttemptsMax || f.Clearance == nil || f.Clearance.Kind == ClearReexecution {
		return time.Time{}
	}
	until := f.Protection.Until(f.KeyFirst)
	if until.IsZero() {
		return time.Time{}
	}
	at := now.Add(p.Wait(f.AttemptsUsed, wish))
	for _, u := range f.Unsettled {
		if !u.Protected || u.Key != f.Key || u.Account != f.Account {
			return time.Time{}
		}
		if t := u.DispatchedAt.Add(f.Protection.SettleAfter); !f.Protection.Concurrency && t.After(at) {
			at = t
		}
		if t := u.DispatchedAt.Add(f.Protection.LookupLag); f.Protection.HasLookup && t.After(at) {
			at = t
		}
	}
	if !at.Before(until) {
		return time.Time{}
	}
	return at
}

// AfterLookup gives what follows from a lookup in an unresolved state. For a closed
// operation only a contradiction matters: see AfterLookupClosed.
func AfterLookup(f Facts, l LookupFinding, p RetryPolicy, now time.Time) After {
	switch l.Result {
	case LookupOne:
		return After{Events: []Event{EvEffect}}
	case LookupMany:
		return escalated(f, After{DuplicateSuspected: true, LookupAt: nextLookup(f, p, now), Code: CodeUnprotected})
	case LookupMismatch:
		return escalated(f, After{LookupAt: nextLookup(f, p, now), Code: CodeContentDiffers})
	}
	if f.State != Unknown {
		return After{LookupAt: nextLookup(f, p, now), RetryAt: f.RetryAt}
	}
	a := PlanUnknown(f, p, now, 0)
	if a.RetryAt.IsZero() || !f.RetryAt.After(now) {
		return a
	}
	a.RetryAt = f.RetryAt
	return a
}

func escalated(f Facts, a After) After {
	switch f.State {
	case Unknown:
		a.Events = []Event{EvEscalate}
	case ReexecutionRequested:
		a.Events = []Event{EvRefuseReexecution}
	case Ready:
		if f.Clearance != nil && f.Clearance.Kind == ClearReexecution {
			a.Events = []Event{EvRefuseReexecution}
		}
	}
	return a
}

// EffectFound gives the events by which evidence of an effect moves any state: open
// states become confirmed, states closed without effect go back to review.
func EffectFound(s State) []Event {
	switch s {
	case Confirmed:
		return nil
	case Rejected, Cancelled, NotExecuted:
		return []Event{EvDispute}
	default:
		return []Event{EvEffect}
	}
}

// LeaseEnded gives the outcome of an attempt whose lease ran out: before dispatch
// nothing was sent, provably; after it, unknown (never "failed").
func LeaseEnded(dispatched bool) Result {
	if dispatched {
		return Result{Outcome: OutcomeUnknown, Proof: Proof{Code: "lease_ended_after_dispatch", Phase: PhaseSent}}
	}
	return Result{Outcome: OutcomeNotStarted, Proof: Proof{Code: "lease_ended_before_dispatch", Phase: PhaseBlocked}}
}
