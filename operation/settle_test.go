package operation

import (
	"slices"
	"testing"
	"time"
)

var retries = RetryPolicy{Max: 5, Base: 2 * time.Second, MaxInterval: time.Minute, RespectRetryAfter: true}

// running is an attempt just ended: state in_progress, the attempt counted.
func running(turn func(*Facts)) Facts {
	f := readyFacts()
	f.State, f.AttemptsUsed, f.AttemptsEver = InProgress, 1, 1
	if turn != nil {
		turn(&f)
	}
	return f
}

// unanswered is the same with the attempt's outcome unknown.
func unanswered(turn func(*Facts)) Facts {
	u := unknownFacts()
	u.State = InProgress
	u.RetryAt = time.Time{}
	if turn != nil {
		turn(&u)
	}
	return u
}

func TestAfterResult(t *testing.T) {
	lost := Result{}
	refused := Result{Outcome: OutcomeNotStarted}
	now := t0.Add(30 * time.Second)
	rows := []struct {
		name   string
		f      Facts
		r      Result
		kind   AttemptKind
		events []Event
		code   Code
	}{
		{"confirmed", running(nil), Result{Outcome: OutcomeConfirmed}, AttemptFirst, []Event{EvEffect}, ""},
		{"nothing happened: another try", running(nil), refused, AttemptFirst, []Event{EvNotStarted}, ""},
		{"nothing happened, limit used up", running(func(f *Facts) { f.AttemptsUsed = 5 }), refused, AttemptRetry, []Event{EvRefused}, CodeAttemptLimit},
		{"refused for good", running(nil), Result{Outcome: OutcomeNotStarted, Permanent: true}, AttemptFirst, []Event{EvRefused}, CodePermanent},
		{"refused because of other parameters", running(nil), Result{Outcome: OutcomeNotStarted, Mismatch: true}, AttemptFirst, []Event{EvRefused}, CodeContentDiffers},
		{"nothing happened after a stop", running(func(f *Facts) { f.Stopped = true }), refused, AttemptFirst, []Event{EvNotStarted, EvCancel}, CodeStopped},
		{"nothing happened after a stop, but earlier only stated", running(func(f *Facts) { f.Stopped, f.Stated = true, true }), refused, AttemptReexecution, []Event{EvRefused}, CodeStopped},
		{"re-execution refused after dispatch", running(func(f *Facts) { f.Clearance.Kind, f.Clearance.Spent = ClearReexecution, true }), refused, AttemptReexecution, []Event{EvRefused}, CodeAttemptLimit},
		{"re-execution without its clearance", running(func(f *Facts) { f.Clearance = nil }), refused, AttemptReexecution, []Event{EvRefused}, CodeAttemptLimit},
		{"re-execution that ended before dispatch", running(func(f *Facts) { f.Clearance.Kind, f.AttemptsUsed = ClearReexecution, 5 }), refused, AttemptReexecution, []Event{EvNotStarted}, ""},
		{"answer lost", unanswered(nil), lost, AttemptFirst, []Event{EvUnknown}, ""},
		{"an earlier unknown is never hidden by a later not_started", unanswered(nil), refused, AttemptProtected, []Event{EvUnknown}, ""},
		{"nor by a permanent refusal", unanswered(nil), Result{Outcome: OutcomeNotStarted, Permanent: true}, AttemptProtected, []Event{EvUnknown}, ""},
		{"key used with other parameters", unanswered(nil), Result{Mismatch: true}, AttemptProtected, []Event{EvUnknown, EvEscalate}, CodeContentDiffers},
		{"neither protection nor lookup", unanswered(func(f *Facts) { f.Protection = Protection{} }), lost, AttemptFirst, []Event{EvUnknown, EvEscalate}, CodeUnprotected},
		{"re-execution unknown, no lookup", unanswered(func(f *Facts) {
			f.Protection.HasLookup, f.Clearance.Kind, f.Clearance.Spent = false, ClearReexecution, true
		}), lost, AttemptReexecution, []Event{EvUnknown, EvEscalate}, CodeNotApproved},
		{"already exists, no lookup", unanswered(func(f *Facts) { f.Protection.HasLookup = false }), Result{Lookup: true}, AttemptFirst, []Event{EvUnknown, EvEscalate}, CodeUnprotected},
		{"already exists, look whose it is", unanswered(nil), Result{Lookup: true}, AttemptFirst, []Event{EvUnknown}, ""},
		{"replayed stored error, no lookup", unanswered(func(f *Facts) { f.Protection.HasLookup = false }), Result{Replayed: true}, AttemptProtected, []Event{EvUnknown, EvEscalate}, CodeUnprotected},
		{"expired meanwhile, no lookup", unanswered(func(f *Facts) { f.Protection.HasLookup, f.Clearance.ExpiresAt = false, now }), lost, AttemptFirst, []Event{EvUnknown, EvEscalate}, CodeApprovalExpired},
		{"several found meanwhile", unanswered(func(f *Facts) { f.LastLookup = &LookupFact{LookupMany, now} }), lost, AttemptFirst, []Event{EvUnknown, EvEscalate}, CodeContentDiffers},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			a := AfterResult(r.f, r.r, r.kind, retries, now)
			if !slices.Equal(a.Events, r.events) || a.Code != r.code {
				t.Fatalf("got %v %q, want %v %q", a.Events, a.Code, r.events, r.code)
			}
			to, ok := Apply(InProgress, a.Events...)
			if !ok {
				t.Fatalf("%v is no way out of in_progress", a.Events)
			}
			if to == RetryScheduled && !a.RetryAt.After(now) {
				t.Errorf("retry at %v", a.RetryAt)
			}
			if to == Unknown && a.RetryAt.IsZero() && a.LookupAt.IsZero() {
				t.Error("unknown with no next step")
			}
			if (r.r.Lookup || r.r.Replayed) && (!a.RetryAt.IsZero() || !a.KeyAnswered) {
				t.Errorf("a repeat is planned although the destination said its last word: %+v", a)
			}
		})
	}
}

func TestPlanUnknown(t *testing.T) {
	now := t0.Add(30 * time.Second)
	plan := func(turn func(*Facts)) After { return PlanUnknown(unanswered(turn), retries, now, 0) }

	a := plan(nil)
	if want := t0.Add(time.Minute); !a.LookupAt.Equal(want) {
		t.Errorf("first lookup at %v, want the end of the lag, %v", a.LookupAt, want)
	}
	if !a.RetryAt.After(a.LookupAt) {
		t.Errorf("the repeat at %v does not wait for the lookup at %v", a.RetryAt, a.LookupAt)
	}
	if want := t0.Add(30*time.Second + 2*time.Minute); a.RetryAt.Before(want) {
		t.Errorf("the repeat at %v does not wait for settle_after, %v", a.RetryAt, want)
	}
	soon := plan(func(f *Facts) {
		f.Protection.Retention, f.Protection.Margin = 4*time.Minute, 0
		f.Protection.LookupLag = time.Hour
	})
	if soon.RetryAt.IsZero() || !soon.RetryAt.Before(t0.Add(4*time.Minute)) {
		t.Errorf("where the retention would end meanwhile the repeat does not wait for the lookup: %v", soon.RetryAt)
	}
	if a := plan(func(f *Facts) { f.Protection.Retention = 2 * time.Minute; f.Protection.Margin = 0 }); !a.RetryAt.IsZero() || len(a.Events) > 0 {
		t.Errorf("settling outlasts the retention: got %+v, want lookups only", a)
	}
	for n, want := range map[int][]Event{0: nil, MissesBeforePerson - 1: nil, MissesBeforePerson: {EvEscalate}} {
		a := plan(func(f *Facts) { f.Misses, f.Protection.Key = n, false })
		if !slices.Equal(a.Events, want) || a.LookupAt.IsZero() {
			t.Errorf("%d misses: got %v, lookup at %v", n, a.Events, a.LookupAt)
		}
	}
	if a := plan(func(f *Facts) { f.Protection.HasLookup, f.Stopped = false, true }); !slices.Equal(a.Events, []Event{EvEscalate}) || a.Code != CodeStopped {
		t.Errorf("stopped by a person: got %+v", a)
	}
	long := PlanUnknown(unanswered(func(f *Facts) { f.Protection.HasLookup = false }), retries, now, 30*time.Hour)
	if !long.RetryAt.IsZero() {
		t.Errorf("the destination asks to wait past the retention, and a repeat is planned at %v", long.RetryAt)
	}
	if a := plan(func(f *Facts) { f.Clearance.ExpiresAt = now.Add(time.Second) }); !a.RetryAt.IsZero() {
		t.Errorf("a repeat is planned past the approval's end: %v", a.RetryAt)
	}
	if a := plan(func(f *Facts) { f.Protection.Overwrites, f.Protection.HasLookup = true, false }); !slices.Equal(a.Events, []Event{EvEscalate}) {
		t.Errorf("an upsert without lookup can never be repeated: got %+v", a)
	}
}

func TestAfterLookup(t *testing.T) {
	now := at1h
	two := func(f *Facts) { f.Unsettled = append(f.Unsettled, f.Unsettled[0]); f.Unsettled[1].LeaseEnd = now }
	rows := []struct {
		name   string
		state  State
		result LookupResult
		turn   func(*Facts)
		events []Event
		dup    bool
	}{
		{"found", Unknown, LookupOne, nil, []Event{EvEffect}, false},
		{"found in review", Review, LookupOne, nil, []Event{EvEffect}, false},
		{"found while a re-execution is asked for", ReexecutionRequested, LookupOne, nil, []Event{EvEffect}, false},
		{"found before a re-execution", Ready, LookupOne, nil, []Event{EvEffect}, false},
		{"found when confirmed", Confirmed, LookupOne, nil, nil, false},
		{"found when closed without effect", NotExecuted, LookupOne, nil, []Event{EvDispute}, false},
		{"many", Unknown, LookupMany, nil, []Event{EvEscalate}, true},
		{"many in review", Review, LookupMany, nil, nil, true},
		{"many while a re-execution is asked for", ReexecutionRequested, LookupMany, nil, []Event{EvRefuseReexecution}, true},
		{"many before a re-execution", Ready, LookupMany, func(f *Facts) { f.Clearance.Kind = ClearReexecution }, []Event{EvRefuseReexecution}, true},
		{"many before a retry", RetryScheduled, LookupMany, nil, []Event{EvRefused}, true},
		{"many when confirmed", Confirmed, LookupMany, nil, nil, true},
		{"many when cancelled", Cancelled, LookupMany, nil, []Event{EvDispute}, true},
		{"many while an attempt is open", InProgress, LookupMany, nil, nil, true},
		{"a candidate", Unknown, LookupMismatch, nil, []Event{EvEscalate}, false},
		{"a miss is not a proof", Unknown, LookupNone, nil, nil, false},
		{"a miss in review", Review, LookupNone, nil, nil, false},
		{"a miss when confirmed", Confirmed, LookupNone, nil, nil, false},
		{"unreachable", Unknown, LookupUnreachable, nil, nil, false},
		{"enough misses and no protection", Unknown, LookupNone, func(f *Facts) { f.Misses, f.Protection.Key = 3, false }, []Event{EvEscalate}, false},
		{"found, another attempt still under way", Unknown, LookupOne, two, []Event{EvEffect}, false},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			f := unknownFacts()
			f.State = r.state
			if r.turn != nil {
				r.turn(&f)
			}
			a := AfterLookup(f, LookupFinding{Result: r.result, ID: "x"}, retries, now)
			if !slices.Equal(a.Events, r.events) || a.DuplicateSuspected != r.dup {
				t.Fatalf("got %v %v, want %v %v", a.Events, a.DuplicateSuspected, r.events, r.dup)
			}
			if _, ok := Apply(r.state, a.Events...); !ok {
				t.Fatalf("%v is no way out of %s", a.Events, r.state)
			}
			if r.result == LookupNone && r.state.Unresolved() && a.LookupAt.IsZero() {
				t.Error("lookups stop")
			}
		})
	}
	f := unknownFacts()
	two(&f)
	if a := AfterLookup(f, LookupFinding{Result: LookupOne}, retries, now); !a.LookupAt.Equal(now.Add(3 * time.Minute)) {
		t.Errorf("one more lookup at %v", a.LookupAt)
	}
	f = unknownFacts()
	f.RetryAt = now.Add(-time.Minute)
	if a := AfterLookup(f, LookupFinding{Result: LookupNone}, retries, now); !a.RetryAt.Equal(f.RetryAt) {
		t.Errorf("a lookup pushed a repeat that is due from %v to %v", f.RetryAt, a.RetryAt)
	}
}

func TestAfterLookupClosed(t *testing.T) {
	f := unknownFacts()
	f.State = Confirmed
	for id, dup := range map[string]bool{"ref_1": false, "": false, "ref_2": true} {
		a := AfterLookupClosed(f, LookupFinding{Result: LookupOne, ID: id}, "ref_1", retries, at1h)
		if len(a.Events) > 0 || a.DuplicateSuspected != dup {
			t.Errorf("confirmed as ref_1, found %q: %+v", id, a)
		}
	}
	if a := AfterLookupClosed(f, LookupFinding{Result: LookupUnreachable}, "", retries, at1h); !a.LookupAt.After(at1h) {
		t.Error("an unreachable destination is not asked again")
	}
	if a := AfterLookupClosed(f, LookupFinding{Result: LookupNone}, "", retries, at1h); !a.LookupAt.IsZero() || len(a.Events) > 0 {
		t.Errorf("a miss lowers confirmed: %+v", a)
	}
}

// FC-33: evidence may reopen, a sweep never lowers; every state has an answer.
func TestFieldCase33_EvidenceOfAnEffectInEveryState(t *testing.T) {
	for _, s := range States {
		to, ok := Apply(s, EffectFound(s, false)...)
		want := Confirmed
		if s.WithoutEffect() {
			want = Review
		}
		if !ok || to != want {
			t.Errorf("%s: leads to %s %v, want %s", s, to, ok, want)
		}
	}
	if LeaseEnded(true).Outcome != OutcomeUnknown || LeaseEnded(false).Outcome != OutcomeNotStarted {
		t.Error("a lease that ends after dispatch is unknown, before it not_started")
	}
}

func TestAfterEffectLooksOnceMore(t *testing.T) {
	now := t0.Add(5 * time.Minute)
	if a := AfterResult(running(nil), Result{Outcome: OutcomeConfirmed}, AttemptFirst, retries, now); !a.LookupAt.IsZero() {
		t.Errorf("only one attempt, and a lookup at %v", a.LookupAt)
	}
	a := AfterResult(unanswered(nil), Result{Outcome: OutcomeConfirmed}, AttemptProtected, retries, now)
	if !a.LookupAt.Equal(now.Add(time.Minute)) || !slices.Equal(a.Events, []Event{EvEffect}) {
		t.Errorf("another attempt may also have had an effect: %+v", a)
	}
}

func TestWait(t *testing.T) {
	for _, c := range []struct {
		n    int
		wish time.Duration
		want time.Duration
	}{{0, 0, 2 * time.Second}, {1, 0, 2 * time.Second}, {2, 0, 4 * time.Second}, {5, 0, 32 * time.Second}, {50, 0, time.Minute}, {1, time.Hour, time.Hour}, {5, time.Second, 32 * time.Second}} {
		if got := retries.Wait(c.n, c.wish); got != c.want {
			t.Errorf("after %d attempts, wish %v: %v, want %v", c.n, c.wish, got, c.want)
		}
	}
	if got := (RetryPolicy{Base: time.Second}).Wait(3, time.Hour); got != time.Second {
		t.Errorf("no cap, no wish: %v", got)
	}
}
