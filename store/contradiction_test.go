package store_test

import (
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// against counts the entries that tell of evidence against a decision of somebody.
func against(t *testing.T, f *storetest.Fixture, id operation.ID, short, decision string) int {
	t.Helper()
	return f.Count(t, `history WHERE subject_kind = 'operation' AND subject_id = $1 AND action = 'contradicted' AND links::jsonb->>'decided_by' = $2 AND links::jsonb->>'decision' = $3`,
		string(id), string(f.Users[short]), decision)
}

// decided are the decisions of people that evidence can contradict.
var decided = map[string]struct {
	way   func(*stand)
	by    string
	entry string
	want  operation.State // after the evidence
}{
	"not executed": {ways[operation.NotExecuted], "ops", "close_not_executed", operation.Review},
	"re-execution": {ways[operation.ReexecutionRequested], "ops", "request_reexecution", operation.Confirmed},
	"cancelled":    {ways[operation.Cancelled], "ops", "cancel", operation.Review},
	"rejected":     {ways[operation.Rejected], "lead", "reject", operation.Review},
	"approved once more": {func(s *stand) {
		ways[operation.ReexecutionRequested](s)
		s.must(s.f.Store.DecideReexecution(s.t.Context(), s.f.Fresh(s.t, "ops2"), s.shown("agreed"), true))
	}, "ops2", "approve_reexecution", operation.Confirmed},
	"another effect": {func(s *stand) {
		ways[operation.Unknown](s)
		s.must(s.f.Store.ConfirmDone(s.t.Context(), s.f.As("ops"), s.shown("I saw it"), store.Reference{ID: "seen-" + string(s.id)}))
	}, "ops", "effect", operation.Confirmed},
}

// Evidence of an effect against what a person decided is told of, once, however it comes.
func TestEvidenceAgainstADecision(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	for name, x := range decided {
		for kind, bring := range news {
			t.Run(name+"/"+kind, func(t *testing.T) {
				s := &stand{f: f, t: t, id: coupon(t, f)()}
				x.way(s)
				if kind == "LateReport" && s.last.Attempt == "" {
					return
				}
				r := race{f: f, t: t, id: s.id}
				sent := r.sent()
				s.must(bring(s, ref(s.id)))
				if r.state() != x.want || against(t, f, s.id, x.by, x.entry) != 1 {
					t.Errorf("%s, told of %d times", r.state(), against(t, f, s.id, x.by, x.entry))
				}
				_ = bring(s, ref(s.id)) // the same again is no news
				if n := against(t, f, s.id, x.by, x.entry); n != 1 {
					t.Errorf("told of %d times", n)
				}
				if r.claim() == nil || r.sent() != sent {
					t.Error("it permitted a send")
				}
				if f.Count(t, `runs r JOIN operations o ON o.run_id = r.id WHERE o.id = $1`, string(s.id)) != 1 {
					t.Error("the run is gone")
				}
				r.whole()
			})
		}
	}
}

// What fits the decision, and the effect of an attempt that a second person permitted, are
// no contradiction.
func TestNoContradiction(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	nothing := func(t *testing.T, s *stand) {
		t.Helper()
		if n := f.Count(t, `history WHERE subject_id = $1 AND action = 'contradicted'`, string(s.id)); n != 0 {
			t.Errorf("%d contradictions", n)
		}
	}
	t.Run("the same effect", func(t *testing.T) {
		s := &stand{f: f, t: t, id: coupon(t, f)()}
		ways[operation.Unknown](s)
		s.must(f.Store.ConfirmDone(t.Context(), f.As("ops"), s.shown("I saw it"), store.Reference{ID: ref(s.id)}))
		s.must(news["LateReport"](s, ref(s.id)))
		nothing(t, s)
	})
	t.Run("nobody decided", func(t *testing.T) {
		s := &stand{f: f, t: t, id: coupon(t, f)()}
		ways[operation.Unknown](s)
		s.must(news["Lookup"](s, ref(s.id)))
		nothing(t, s)
	})
	t.Run("the permitted attempt", func(t *testing.T) {
		s := &stand{f: f, t: t, id: coupon(t, f)()}
		decided["approved once more"].way(s)
		s.must(f.Store.RecordLookup(t.Context(), hand, s.id, time.Now(), operation.LookupFinding{Result: operation.LookupNone}))
		first := s.last
		s.send()
		s.must(news["Callback"](s, ref(s.id)))
		nothing(t, s)
		if f.State(t, s.id) != operation.Confirmed {
			t.Fatalf("it is %s", f.State(t, s.id))
		}
		// the first attempt had an effect after all: two effects against "nothing happened"
		_, err := f.Store.Record(t.Context(), hand, first.Attempt, first.Fence, effect("first-"+string(s.id)))
		s.must(err)
		if against(t, f, s.id, "ops2", "approve_reexecution") != 1 || f.Count(t, `operations WHERE id = $1 AND duplicate = 'suspected'`, string(s.id)) != 1 {
			t.Error("the first attempt's effect is told to nobody")
		}
	})
}

// Several effects of an operation that a person closed without one reopen it.
func TestManyEffectsReopenWhatWasClosed(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	s := &stand{f: f, t: t, id: coupon(t, f)()}
	ways[operation.NotExecuted](s)
	s.must(f.Store.RecordLookup(t.Context(), hand, s.id, time.Now(), operation.LookupFinding{Result: operation.LookupMany, Found: []operation.Found{{ID: "a"}, {ID: "b"}}}))
	if f.State(t, s.id) != operation.Review || against(t, f, s.id, "ops", "close_not_executed") != 1 || f.Count(t, `operations WHERE id = $1 AND duplicate = 'suspected' AND disputed`, string(s.id)) != 1 {
		t.Errorf("it is %s", f.State(t, s.id))
	}
	(&race{f: f, t: t, id: s.id}).whole()
}

// The reviewer and whoever decided are told at once: quiet hours, the digest and a storm of
// other notices hold nothing back, and it can be turned off.
func TestContradictionIsToldAtOnce(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	owner(t, f, `INSERT INTO notice_people (user_id, quiet_from, quiet_to) SELECT id, 0, 1439 FROM users`)
	off := store.NoticeSettings{Modes: map[operation.NoticeKind]operation.NoticeMode{operation.NoticeContradiction: operation.NoticeOff}, Mail: true, DigestAt: 480}
	ok(t, f.Store.SaveNoticeSettings(t.Context(), f.As("ops2"), off))
	bad := off
	bad.Modes = map[operation.NoticeKind]operation.NoticeMode{operation.NoticeContradiction: operation.NoticeInDaily}
	if err := f.Store.SaveNoticeSettings(t.Context(), f.As("ops2"), bad); err == nil {
		t.Error("it can be gathered in the digest")
	}
	var all []*stand
	for range 8 { // more than a storm takes
		s := &stand{f: f, t: t, id: coupon(t, f)()}
		ways[operation.Rejected](s)
		all = append(all, s)
	}
	look(t, f, byMail)
	for _, s := range all {
		s.must(news["Callback"](s, ref(s.id)))
	}
	look(t, f, byMail)
	got := told(t, f, `WHERE n.kind = 'contradiction' AND n.planned_for <= clock_timestamp() AND n.subject = $1`, string(all[0].id))
	same(t, "told", got, "contradiction.0 lead mail planned", "contradiction.0 ops mail planned")
	if n := f.Count(t, `notices WHERE kind = 'contradiction' AND bundle = '' AND planned_for <= clock_timestamp()`); n != 16 {
		t.Errorf("%d told alone and at once, want 16", n)
	}
	if look(t, f, byMail) != 0 {
		t.Error("told twice")
	}
}
