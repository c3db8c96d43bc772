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
	KeyAnswered        bool // to be kept as Facts.KeyAnswered until the key's generation changes
	Code               Code // why a person is asked, when Events ends with an escalation
}

// AfterResult gives what follows from an attempt's result. Facts must describe the
// operation with this attempt already counted: if its outcome is unknown it is in
// f.Unsettled; if not, it is not. kind is the permission it ran under. A re-execution
// is used up by its dispatch (Clearance.Spent, or no clearance left); one that ended
// before dispatch may be taken again.
func AfterResult(f Facts, r Result, kind AttemptKind, p RetryPolicy, now time.Time) After {
	switch {
	case r.Outcome == OutcomeConfirmed:
		return afterEffect(f, now)
	case r.Outcome == OutcomeNotStarted && len(f.Unsettled) == 0:
		return afterNotStarted(f, r, kind, p, now)
	}
	a := After{Events: []Event{EvUnknown}}
	if r.Mismatch {
		a.Events, a.Code = append(a.Events, EvEscalate), CodeContentDiffers
		a.LookupAt = nextLookup(f, p, now)
		return a
	}
	if r.Lookup || (r.Replayed && !r.InProgress) {
		f.KeyAnswered = true
	}
	plan := PlanUnknown(f, p, now, r.RetryAfter)
	plan.Events = append(a.Events, plan.Events...)
	return plan
}

// afterNotStarted follows when every attempt provably did nothing.
func afterNotStarted(f Facts, r Result, kind AttemptKind, p RetryPolicy, now time.Time) After {
	refused := func(c Code) After { return After{Events: []Event{EvRefused}, Code: c} }
	switch {
	case f.Stopped && !f.Stated && !f.Disputed:
		return After{Events: []Event{EvNotStarted, EvCancel}, Code: CodeStopped}
	case f.Stopped:
		return refused(CodeStopped)
	case r.Mismatch:
		return refused(CodeContentDiffers)
	case r.Permanent:
		return refused(CodePermanent)
	case kind == AttemptReexecution && (f.Clearance == nil || f.Clearance.Spent):
		return refused(CodeAttemptLimit)
	case kind != AttemptReexecution && f.AttemptsUsed >= f.AttemptsMax:
		return refused(CodeAttemptLimit)
	}
	return After{Events: []Event{EvNotStarted}, RetryAt: now.Add(p.Wait(f.AttemptsUsed, r.RetryAfter))}
}

// afterEffect confirms. Where another attempt may also have had an effect, one more
// lookup follows after the lag (MODEL §4).
func afterEffect(f Facts, now time.Time) After {
	a := After{Events: []Event{EvEffect}}
	if len(f.Unsettled) > 0 && f.Protection.HasLookup {
		a.LookupAt = later(now, f.quietAt()).Add(f.Protection.LookupLag)
	}
	return a
}

// PlanUnknown plans the way from unknown to known (MODEL §5): look up after the lag,
// repeat under protection before the retention ends, else ask a person.
// wish is the destination's Retry-After, 0 = none.
func PlanUnknown(f Facts, p RetryPolicy, now time.Time, wish time.Duration) After {
	a := After{LookupAt: nextLookup(f, p, now), KeyAnswered: f.KeyAnswered}
	retry := nextProtected(f, p, now, wish)
	switch {
	case contradicted(f):
		a.Events, a.Code = []Event{EvEscalate}, CodeContentDiffers
	case !retry.IsZero():
		a.RetryAt = retry
	case f.Protection.HasLookup && f.Misses < MissesBeforePerson:
		// keep looking
	default:
		a.Events, a.Code = []Event{EvEscalate}, whyNoRepeat(f, now)
	}
	return a
}

// contradicted reports that the newest lookup found something that only a person can
// judge: several effects, or one that does not fit.
func contradicted(f Facts) bool {
	return f.LastLookup != nil && (f.LastLookup.Result == LookupMany || f.LastLookup.Result == LookupMismatch)
}

// whyNoRepeat names what rules a protected retry out.
func whyNoRepeat(f Facts, now time.Time) Code {
	if f.Stopped {
		return CodeStopped
	}
	if f.StoppedBatch {
		return CodeBatchStopped
	}
	if f.Suppressed {
		return CodeSuppressed
	}
	if f.OriginalDone {
		return CodeOriginalConfirmed
	}
	if f.ReplacementDone {
		return CodeReplacementConfirmed
	}
	if r := permitClearance(f, now); r != nil {
		return r.Code
	}
	if f.Clearance.Kind == ClearReexecution || f.AttemptsUsed >= f.AttemptsMax {
		return CodeAttemptLimit
	}
	if r := protectedAtAll(f); r != nil {
		return r.Code
	}
	return CodeKeyExpired
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
		sent := u.DispatchedAt
		if f.Protection.Overwrites {
			sent = u.lastSend() // only a later miss permits the repeat
		}
		at = later(at, sent.Add(f.Protection.LookupLag))
	}
	return at
}

// nextProtected is when the protected retry may run; zero when it may not at all.
// Where a lookup exists it goes first, unless the retention would end meanwhile.
func nextProtected(f Facts, p RetryPolicy, now time.Time, wish time.Duration) time.Time {
	until := f.Protection.Until(f.keyFirst())
	if f.Stopped || f.StoppedBatch || f.Suppressed || f.OriginalDone || f.ReplacementDone || f.Stated || f.Disputed || f.AttemptsUsed >= f.AttemptsMax || f.Clearance == nil ||
		f.Clearance.Kind == ClearReexecution || until.IsZero() || protectedAtAll(f) != nil {
		return time.Time{}
	}
	first := later(now, settledAt(f)) // never earlier than this
	if p.RespectRetryAfter {
		first = later(first, now.Add(wish))
	}
	if f.Protection.Overwrites {
		for _, u := range f.Unsettled {
			first = later(first, u.lastSend().Add(f.Protection.LookupLag))
		}
	}
	if !first.Before(until) {
		return time.Time{}
	}
	at := later(first, now.Add(p.Wait(f.AttemptsUsed, wish)))
	if f.Protection.HasLookup && f.Misses == 0 {
		at = later(at, nextLookup(f, p, now).Add(lookupGrace))
	}
	if !at.Before(until) {
		at = first.Add(until.Sub(first) / 2)
	}
	if permitClearance(f, at) != nil {
		return time.Time{}
	}
	return at
}

// lookupGrace is how long a lookup may take before the repeat no longer waits for it.
const lookupGrace = 10 * time.Second

// AfterLookup gives what follows from a lookup in a state that is not closed. Of a disputed
// operation an effect that is found is evidence for the person who settles the dispute; no
// other lookup is planned then. For a closed operation only a contradiction matters: see AfterLookupClosed, to which it
// hands over without a reference. Facts may or may not count this lookup already.
func AfterLookup(f Facts, l LookupFinding, p RetryPolicy, now time.Time) After {
	if f.State.Closed() {
		return AfterLookupClosed(f, l, "", p, now)
	}
	f.LastLookup = &LookupFact{Result: l.Result, At: now}
	switch l.Result {
	case LookupOne:
		a := After{Events: EffectFound(f.State, f.Disputed)}
		if q := f.quietAt().Add(f.Protection.LookupLag); len(f.Unsettled) > 1 && q.After(now) {
			a.LookupAt = q // another attempt may still have an effect
		}
		return a
	}
	f.Misses = max(f.Misses, 1) // the next one comes later, and each time later
	switch l.Result {
	case LookupMany:
		return escalated(f, After{DuplicateSuspected: true, LookupAt: nextLookup(f, p, now), Code: CodeDuplicate})
	case LookupMismatch:
		return escalated(f, After{LookupAt: nextLookup(f, p, now), Code: CodeContentDiffers})
	}
	if f.State != Unknown {
		return After{LookupAt: nextLookup(f, p, now), RetryAt: f.RetryAt, KeyAnswered: f.KeyAnswered}
	}
	a := PlanUnknown(f, p, now, 0)
	if !f.RetryAt.IsZero() && f.RetryAt.Before(a.RetryAt) {
		a.RetryAt = f.RetryAt // looking again never pushes the repeat away, nor one that is due
	}
	return a
}

// AfterLookupClosed gives what follows from a lookup (or a callback) that concerns a
// closed operation. reference is the confirmed effect's; "" = not known. An effect of
// an operation closed without one brings it back to review; a second effect of a
// confirmed one is a suspected duplicate, and the operation stays confirmed.
func AfterLookupClosed(f Facts, l LookupFinding, reference string, p RetryPolicy, now time.Time) After {
	a := After{}
	switch l.Result {
	case LookupUnreachable:
		a.LookupAt = now.Add(max(p.Wait(max(f.Misses, 1), 0), 500*time.Millisecond))
	case LookupMany:
		a.DuplicateSuspected, a.Code = true, CodeDuplicate
		a.Events = EffectFound(f.State, f.Disputed)
	case LookupOne:
		a.Events = EffectFound(f.State, f.Disputed)
		if f.State == Confirmed && reference != "" && l.ID != "" && l.ID != reference {
			a.DuplicateSuspected, a.Code = true, CodeDuplicate
		}
	}
	return a
}

// escalated adds the move by which contradicting evidence brings a state to review. An
// open attempt is finished first: the gate stops its dispatch, its result escalates.
func escalated(f Facts, a After) After {
	switch f.State {
	case Unknown:
		a.Events = []Event{EvEscalate}
	case ReexecutionRequested:
		a.Events = []Event{EvRefuseReexecution}
	case RetryScheduled:
		a.Events = []Event{EvRefused}
	case Ready:
		if f.Clearance != nil && f.Clearance.Kind == ClearReexecution {
			a.Events = []Event{EvRefuseReexecution}
		}
	}
	return a
}

// LeaseEnded gives the outcome of an attempt whose lease ran out: before dispatch
// nothing was sent, provably; after it, unknown (never "failed").
func LeaseEnded(dispatched bool) Result {
	if dispatched {
		return Result{Outcome: OutcomeUnknown, Proof: Proof{Code: "lease_ended_after_dispatch", Phase: PhaseSent}}
	}
	return Result{Outcome: OutcomeNotStarted, Proof: Proof{Code: "lease_ended_before_dispatch", Phase: PhaseBlocked}}
}
