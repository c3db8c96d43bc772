package store_test

import (
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// disputes are the ways into a dispute: a person brings evidence against an effect, or
// evidence of an effect comes of what was closed without one.
var disputes = map[string]func(*stand){
	"confirmed":    func(s *stand) { ways[operation.Confirmed](s); s.dispute() },
	"not executed": func(s *stand) { ways[operation.NotExecuted](s); s.must(news["Callback"](s, "first-"+string(s.id))) },
	"cancelled":    func(s *stand) { ways[operation.Cancelled](s); s.must(news["Lookup"](s, ref(s.id))) },
	"rejected":     func(s *stand) { ways[operation.Rejected](s); s.must(news["Callback"](s, "first-"+string(s.id))) },
}

func (s *stand) dispute() {
	s.t.Helper()
	s.must(s.f.Store.Dispute(s.t.Context(), s.f.As("ops"), s.shown("their own list does not have it"), ""))
}

// stillDisputed checks that nothing but the evidence has come of it.
func (s *stand) stillDisputed(kept int) {
	s.t.Helper()
	r := race{f: s.f, t: s.t, id: s.id}
	if r.count(`operations WHERE id = $1 AND state = 'review' AND disputed AND confirmed_by IS NULL AND next_kind = 'reconcile' AND next_role = 'ops_owner' AND NOT next_system`) != 1 {
		s.t.Errorf("nobody settled it, and it is %s", r.state())
	}
	if r.count(`recovery_cases WHERE operation_id = $1 AND closed_at IS NULL`) != 1 {
		s.t.Error("it has no open case")
	}
	if n := r.count(`evidence WHERE operation_id = $1`); n != kept {
		s.t.Errorf("%d pieces of evidence, want %d", n, kept)
	}
	sent := r.sent()
	if r.claim() == nil || r.sent() != sent {
		s.t.Error("it permitted a send")
	}
	r.whole()
}

// TestOnlyAPersonSettlesADispute: what finds or reports the effect of a disputed operation is
// kept as evidence, however often and by whichever way it comes. A person settles it.
func TestOnlyAPersonSettlesADispute(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	for name, begin := range disputes {
		for kind, bring := range news {
			for _, done := range []bool{true, false} {
				t.Run(name+"/"+kind+map[bool]string{true: "/done", false: "/not done"}[done], func(t *testing.T) {
					s := &stand{f: f, t: t, id: coupon(t, f)()}
					begin(s)
					if kind == "LateReport" && s.last.Attempt == "" {
						return // without an attempt nobody can report
					}
					r := race{f: f, t: t, id: s.id}
					kept := r.count(`evidence WHERE operation_id = $1`)
					s.must(bring(s, ref(s.id)))
					s.stillDisputed(kept + 1)
					if kind == "Lookup" && r.count(`operations WHERE id = $1 AND lookup_at IS NULL`) != 1 {
						t.Error("it was found, and is looked for again")
					}
					if _, err := f.Store.SweepStuck(t.Context(), store.System("job")); err != nil {
						t.Fatal(err)
					}
					s.must(bring(s, "other-"+string(s.id)))
					s.stillDisputed(kept + 2)
					s.settle(done)
				})
			}
		}
	}
}

// settle lets the reviewer decide, and checks that it stays so.
func (s *stand) settle(done bool) {
	s.t.Helper()
	want := `operations WHERE id = $1 AND state = 'confirmed' AND confirmed_by = 'person' AND target_reference = '` + ref(s.id) + `' AND NOT disputed`
	if done {
		s.must(s.f.Store.ConfirmDone(s.t.Context(), s.f.As("ops"), s.shown("I see it there"), store.Reference{ID: ref(s.id)}))
	} else {
		s.notDone(false)
		want = `operations WHERE id = $1 AND state = 'not_executed' AND NOT disputed AND stated`
	}
	r := race{f: s.f, t: s.t, id: s.id}
	if r.count(want) != 1 || r.count(`operations WHERE id = $1 AND lookup_at IS NULL`) != 1 {
		s.t.Errorf("settled by a person, it is %s", r.state())
	}
	if r.count(`recovery_cases WHERE operation_id = $1 AND closed_at IS NULL`) != 0 {
		s.t.Error("its case is open")
	}
	r.whole()
}

// TestNewsOfADisputedMail: news of a delivery moves the delivery alone, and news that a person
// ties by hand is evidence as well.
func TestNewsOfADisputedMail(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s := mailed(t, f, operation.Confirmed)
	s.dispute()
	p, err := f.Store.PlaceOf(t.Context(), s.id)
	ok(t, err)
	var account string
	ok(t, f.Owner.QueryRow(`SELECT account FROM operations WHERE id = $1`, string(s.id)).Scan(&account))
	r := race{f: f, t: t, id: s.id}
	kept := r.count(`evidence WHERE operation_id = $1`)
	for i, kind := range []operation.NewsKind{operation.NewsAccepted, operation.NewsDeferred, operation.NewsDelivered, operation.NewsEffect} {
		tell(t, f, p, account, definition.News{Key: string(kind), Kind: kind, Operation: s.id, Reference: ref(s.id)})
		s.stillDisputed(kept + i + 1)
	}
	if r.count(`operations WHERE id = $1 AND delivery = 'delivered'`) != 1 {
		t.Error("what was told of the delivery is not known")
	}
	by := tell(t, f, p, account, definition.News{Key: "nameless", Kind: operation.NewsEffect, Reference: "nobody-has-it"})
	ok(t, f.Store.TieNewsByHand(t.Context(), f.As("ops"), by[0], s.id, "form", "it is ours"))
	s.stillDisputed(kept + 5)
}

// TestLookupsOfADispute: the planned ones come ever later and end with the effect; one that a
// person asks for, alone or with others, changes nothing about who settles it.
func TestLookupsOfADispute(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	s := &stand{f: f, t: t, id: coupon(t, f)()}
	disputes["confirmed"](s)
	r := race{f: f, t: t, id: s.id}
	planned := func() (wait float64) {
		t.Helper()
		ok(t, f.Owner.QueryRow(`SELECT COALESCE(EXTRACT(EPOCH FROM lookup_at - updated_at), -1) FROM operations WHERE id = $1`, string(s.id)).Scan(&wait))
		return wait
	}
	looks := func(x operation.LookupFinding) {
		t.Helper()
		ok(t, f.Store.RecordLookup(t.Context(), hand, s.id, time.Now(), x))
	}
	if planned() != 0 {
		t.Errorf("the first lookup of a dispute comes after %v s", planned())
	}
	last := 0.0
	for _, x := range []operation.LookupResult{operation.LookupNone, operation.LookupMismatch, operation.LookupMany, operation.LookupMismatch, operation.LookupUnreachable, operation.LookupNone} {
		looks(operation.LookupFinding{Result: x, ID: "x"})
		if wait := planned(); wait <= last {
			t.Errorf("after %s the next lookup comes after %v s, before it %v s", x, wait, last)
		} else {
			last = wait
		}
	}
	var c store.PickedCase
	ok(t, f.Owner.QueryRow(`SELECT id FROM recovery_cases WHERE operation_id = $1 AND closed_at IS NULL`, string(s.id)).Scan(&c.ID))
	ask := map[string]func() error{
		"alone": func() error { return f.Store.AskLookup(t.Context(), f.As("ops"), c.ID) },
		"with others": func() error {
			return f.Store.WorkOnCases(t.Context(), f.As("ops"), store.NewFormID(), store.BulkLookup, []store.PickedCase{c}, "")
		},
	}
	for how, asks := range ask {
		ok(t, asks())
		if planned() != 0 {
			t.Errorf("%s: asked for a lookup, and it comes after %v s", how, planned())
		}
		kept := r.count(`evidence WHERE operation_id = $1`)
		looks(operation.LookupFinding{Result: operation.LookupOne, ID: ref(s.id), Matched: "reference"})
		s.stillDisputed(kept + 1)
		if planned() != -1 {
			t.Errorf("%s: it was found, and is looked for again after %v s", how, planned())
		}
	}
	// what a person said to be not done may be asked for once more; then the lookup decides again
	s.notDone(true)
	ok(t, f.Store.RecordLookup(t.Context(), hand, s.id, time.Now(), operation.LookupFinding{Result: operation.LookupOne, ID: ref(s.id)}))
	if r.state() != operation.Confirmed || r.count(`history WHERE subject_id = $1 AND action = 'contradicted'`) != 1 {
		t.Errorf("it is %s", r.state())
	}
	r.whole()
}
