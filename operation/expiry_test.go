package operation

import (
	"slices"
	"testing"
	"time"
)

func codeOf(r *Refusal) Code {
	if r == nil {
		return CodeOK
	}
	return r.Code
}

// FC-20: an approval past its deadline sends nothing, in every state, and says so.
func TestFieldCase20_ApprovalPastItsDeadline(t *testing.T) {
	expired := func(f *Facts) { f.Clearance.ExpiresAt = at1h }
	again := func(f *Facts) { expired(f); f.Clearance.Kind = ClearReexecution }
	rows := []struct {
		state State
		turn  func(*Facts)
		event Event
		code  Code
	}{
		{Waiting, expired, EvExpire, CodeApprovalExpired},
		{Ready, expired, EvExpire, CodeApprovalExpired},
		{RetryScheduled, expired, EvExpire, CodeApprovalExpired},
		{Ready, again, EvRefuseReexecution, CodeApprovalExpired},
		{RetryScheduled, again, EvRefuseReexecution, CodeApprovalExpired},
		{Unknown, expired, "", CodeApprovalExpired},
		{Unknown, func(f *Facts) { expired(f); f.Misses = MissesBeforePerson }, EvEscalate, CodeApprovalExpired},
		{Unknown, func(f *Facts) { expired(f); f.Protection.HasLookup = false }, EvEscalate, CodeApprovalExpired},
		{Ready, func(f *Facts) { f.Clearance.Approvers[0].Entitled = false }, EvExpire, CodeApproverNotEntitled},
		{Ready, func(f *Facts) { f.Clearance = nil }, EvExpire, CodeNotApproved},
		{Ready, func(f *Facts) { f.Version.Hash = hash(7) }, EvExpire, CodeHashMismatch},
		{Ready, func(*Facts) {}, "", CodeOK},
		{Draft, expired, "", CodeOK},
		{PendingApproval, expired, "", CodeOK},
		{InProgress, expired, "", CodeOK},
		{Review, expired, "", CodeOK},
		{Confirmed, expired, "", CodeOK},
	}
	for _, r := range rows {
		f := readyFacts()
		if r.state == Unknown {
			f = unknownFacts()
		}
		f.State = r.state
		r.turn(&f)
		ev, why := ExpiryDue(f, at1h)
		if ev != r.event || codeOf(why) != r.code {
			t.Errorf("%s: got %q %v, want %q %q", r.state, ev, why, r.event, r.code)
		}
		if _, ok := Next(r.state, ev); ev != "" && !ok {
			t.Errorf("%s: %s is forbidden", r.state, ev)
		}
		if _, refused := Permit(f, at1h); why != nil && refused == nil {
			t.Errorf("%s: expired and sent", r.state)
		}
	}
}

func TestAfterRefusal(t *testing.T) {
	rows := []struct {
		name   string
		base   func() Facts
		turn   func(*Facts)
		events []Event
	}{
		{"paused: later", readyFacts, func(f *Facts) { f.PausedAll = true }, nil},
		{"limit used up", readyFacts, func(f *Facts) { f.AttemptsUsed = 5 }, []Event{EvRefused}},
		{"limit used up between tries", readyFacts, func(f *Facts) { f.State, f.AttemptsUsed = RetryScheduled, 5 }, []Event{EvRefused}},
		{"another account", readyFacts, func(f *Facts) { f.Account = "x" }, []Event{EvEdit}},
		{"earlier stage reopened", readyFacts, func(f *Facts) { f.EarlierOpen = []string{"a"} }, []Event{EvStageReopened}},
		{"original reopened: later", readyFacts, func(f *Facts) { f.OriginalOpen = true }, nil},
		{"original has its effect", readyFacts, func(f *Facts) { f.OriginalDone = true }, []Event{EvCancel}},
		{"original has its effect, a person's word about an attempt", readyFacts, func(f *Facts) { f.OriginalDone, f.Stated = true, true }, []Event{EvRefused}},
		{"expired", readyFacts, func(f *Facts) { f.Clearance.ExpiresAt = at1h }, []Event{EvExpire}},
		{"kept key expired", reexecutionFacts, func(f *Facts) { f.Protection.Retention = 2 * time.Hour }, []Event{EvRefuseReexecution}},
		{"re-execution needs a lookup: later", reexecutionFacts, func(f *Facts) { f.LastLookup = nil }, nil},
		{"re-execution, earlier stage reopened: the gate holds it", reexecutionFacts, func(f *Facts) { f.EarlierOpen = []string{"a"} }, nil},
		{"unknown, key expired, lookups left", unknownFacts, func(f *Facts) { f.Protection.Retention = time.Hour }, nil},
		{"unknown, key expired, lookups used up", unknownFacts, func(f *Facts) { f.Protection.Retention, f.Misses = time.Hour, 3 }, []Event{EvEscalate}},
		{"unknown, paused: later", unknownFacts, func(f *Facts) { f.PausedFlow = true }, nil},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			f := r.base()
			r.turn(&f)
			_, refused := Permit(f, at1h)
			if refused == nil {
				t.Fatal("the gate lets it through")
			}
			a := AfterRefusal(f, refused, retries, at1h)
			if !slices.Equal(a.Events, r.events) {
				t.Fatalf("%s: got %v, want %v", refused.Code, a.Events, r.events)
			}
			to, ok := Apply(f.State, a.Events...)
			if !ok {
				t.Fatalf("%v is no way out of %s", a.Events, f.State)
			}
			if to == Unknown && a.LookupAt.IsZero() && a.RetryAt.IsZero() {
				t.Error("unknown with no next step")
			}
		})
	}
}

func TestMayCancel(t *testing.T) {
	allowed := []State{Draft, PendingApproval, Waiting, Ready, RetryScheduled, InProgress}
	for _, s := range States {
		f := readyFacts()
		f.State = s
		if got := MayCancel(f, false); (got == nil) != slices.Contains(allowed, s) {
			t.Errorf("%s: %v", s, got)
		}
	}
	for name, c := range map[string]struct {
		turn func(*Facts)
		code Code
	}{
		"dispatched":          {func(*Facts) {}, CodeDispatched},
		"an earlier unknown":  {func(f *Facts) { f.State, f.Unsettled = Ready, unknownFacts().Unsettled }, CodeAttemptsUnsettled},
		"settled by a person": {func(f *Facts) { f.State, f.Stated = Ready, true }, CodeAttemptsUnsettled},
		"disputed":            {func(f *Facts) { f.State, f.Disputed = Ready, true }, CodeAttemptsUnsettled},
		"closed":              {func(f *Facts) { f.State = Cancelled }, CodeClosed},
		"unknown":             {func(f *Facts) { f.State = Unknown }, CodeForbiddenMove},
	} {
		f := dispatchFacts()
		c.turn(&f)
		if got := codeOf(MayCancel(f, true)); got != c.code {
			t.Errorf("%s: got %q, want %q", name, got, c.code)
		}
	}
}

func TestMayStop(t *testing.T) {
	for _, s := range States {
		f := readyFacts()
		f.State = s
		if got := MayStop(f, true); (got == nil) != (s == Unknown || s == InProgress) {
			t.Errorf("%s: %v", s, got)
		}
	}
	f := dispatchFacts()
	if got := codeOf(MayStop(f, false)); got != CodeForbiddenMove {
		t.Errorf("not dispatched, cancel instead: got %q", got)
	}
	f.Stopped = true
	if got := codeOf(MayStop(f, true)); got != CodeAlreadyDecided {
		t.Errorf("twice: got %q", got)
	}
}

func TestAfterWithdraw(t *testing.T) {
	re := func(f *Facts) { f.Clearance.Kind = ClearReexecution }
	rows := []struct {
		state      State
		dispatched bool
		turn       func(*Facts)
		to         State
	}{
		{PendingApproval, false, nil, PendingApproval}, {Waiting, false, nil, PendingApproval}, {Ready, false, nil, PendingApproval},
		{RetryScheduled, false, nil, PendingApproval}, {Ready, false, re, Review}, {RetryScheduled, false, re, Review},
		{InProgress, false, nil, PendingApproval}, {InProgress, true, nil, InProgress}, {InProgress, false, re, Review},
		{InProgress, false, func(f *Facts) { f.Unsettled = unknownFacts().Unsettled }, Unknown}, {Unknown, false, nil, Unknown},
	}
	for _, r := range rows {
		f := readyFacts()
		f.State = r.state
		if r.turn != nil {
			r.turn(&f)
		}
		if to, ok := Apply(r.state, AfterWithdraw(f, r.dispatched)...); !ok || to != r.to {
			t.Errorf("%s, dispatched %v: leads to %s %v, want %s", r.state, r.dispatched, to, ok, r.to)
		}
	}
}
