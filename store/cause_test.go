package store_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// causes reads why an operation stopped, as somebody sees it.
func causes(t *testing.T, f *storetest.Fixture, short string, id operation.ID) []store.Cause {
	t.Helper()
	list, err := f.Store.ListCauses(t.Context(), f.As(short), id)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// onlyFor adds somebody who holds one role for one flow.
func onlyFor(t *testing.T, f *storetest.Fixture, short string, role operation.Role, flow string) store.Actor {
	t.Helper()
	id, err := f.Store.AddUser(t.Context(), store.System("command"), store.NewUser{Email: short + "@example.test", Name: "Eve " + short, Roles: []store.RoleGrant{{Role: role, Flow: flow}}})
	if err != nil {
		t.Fatal(err)
	}
	f.Users[short] = id.User
	return f.As(short)
}

func failing(code string, phase operation.Phase, status int, text string) operation.Result {
	return operation.Result{Proof: operation.Proof{Code: code, Phase: phase, Status: status, Excerpt: text}}
}

// Every stop has a class and a pattern, written with it; the way to a confirmed effect
// writes nothing.
func TestStopsAreClassified(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	for name, x := range map[string]struct {
		way   func(*stand)
		class operation.CauseClass
		phase operation.CausePhase
		code  string
		kind  operation.StopKind
	}{
		"time-out": {ways[operation.Unknown], operation.ClassOutage, operation.CauseWaiting, "timeout", operation.StopUnknown},
		"mismatch": {ways[operation.Review], operation.ClassContent, operation.CauseAnswer, "mismatch", operation.StopUnknown},
		"lease end": {func(s *stand) {
			f.Approve(t, s.id, "lead")
			s.send()
			r := operation.LeaseEnded(true)
			s.report(r)
		}, operation.ClassSystem, operation.CauseSending, "lease_ended_after_dispatch", operation.StopUnknown},
		"refused for good": {func(s *stand) {
			f.Approve(t, s.id, "lead")
			s.send()
			r := failing("validation_error", operation.PhaseComplete, 422, `{"error":{"message":"email u99@x.example is invalid","type":"validation_error"}}`)
			r.Outcome, r.Permanent = operation.OutcomeNotStarted, true
			s.report(r)
		}, operation.ClassContent, operation.CauseAnswer, "validation_error", operation.StopRefused},
		"two effects": {func(s *stand) {
			f.Approve(t, s.id, "lead")
			s.send()
			s.report(lost)
			s.must(f.Store.RecordLookup(t.Context(), hand, s.id, time.Now(), operation.LookupFinding{Result: operation.LookupMany, Proof: operation.Proof{Code: "lookup_answered"}}))
		}, operation.ClassSystem, operation.CauseLookup, "lookup_many", operation.StopContradiction},
		"disputed": {func(s *stand) {
			ways[operation.Confirmed](s)
			s.must(f.Store.Dispute(t.Context(), f.As("ops"), s.shown("their list does not have it"), ""))
		}, operation.ClassOutage, operation.CauseDecided, "dispute", operation.StopReview},
		"effect after all": {func(s *stand) {
			ways[operation.Cancelled](s)
			s.must(news["Callback"](s, ref(s.id)))
		}, operation.ClassOutage, operation.CauseDecided, operation.WhyLateEffect, operation.StopReview},
	} {
		t.Run(name, func(t *testing.T) {
			s := &stand{f: f, t: t, id: coupon(t, f)()}
			x.way(s)
			list := causes(t, f, "auditor", s.id)
			if len(list) == 0 {
				t.Fatal("it stopped, and nothing says why")
			}
			c := list[0]
			if c.Counts() != x.class || c.Pattern.Phase != x.phase || c.Pattern.Code != x.code || c.Kind != x.kind {
				t.Errorf("%s: %s %s %q, want %s: %s %s %q", c.Kind, c.Counts(), c.Pattern.Phase, c.Pattern.Code, x.kind, x.class, x.phase, x.code)
			}
			(&race{f: f, t: t, id: s.id}).whole()
		})
	}
	s := &stand{f: f, t: t, id: coupon(t, f)()}
	ways[operation.Confirmed](s)
	if n := f.Count(t, `stops WHERE operation_id = $1`, string(s.id)); n != 0 {
		t.Errorf("the confirmed operation stopped %d times", n)
	}
	adopted, err := f.Store.Adopt(t.Context(), f.As("ops"), store.AdoptedJob{Flow: "campaign-follow-up", Stage: "crm-task", System: "cron", ItsID: "job 9", Reason: "It stopped half-way."})
	s.must(err)
	if list := causes(t, f, "ops", adopted); len(list) != 1 || list[0].Pattern.Code != operation.WhyAdopted {
		t.Errorf("the adopted operation: %+v", list)
	}
}

// What only waits for its author has not stopped; what lacks data that the event should
// have brought has.
func TestMissingDataIsAStop(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	whole := f.Receive(t, storetest.CampaignEvent())
	if n := f.Count(t, `stops WHERE operation_id = ANY(string_to_array($1, ','))`, joined(whole)); n != 0 {
		t.Errorf("%d stops of a run that only waits for its author", n)
	}
	in := storetest.InvoiceEvent()
	delete(in.Data, "customer")
	id := f.Receive(t, in)[0]
	list := causes(t, f, "ops", id)
	if f.State(t, id) != operation.Draft || len(list) != 1 || list[0].Kind != operation.StopMissing || list[0].Counts() != operation.ClassContent || list[0].Pattern.Error == "" {
		t.Errorf("%s with causes %+v", f.State(t, id), list)
	}
}

func joined(ids []operation.ID) string {
	s := ""
	for i, id := range ids {
		if i > 0 {
			s += ","
		}
		s += string(id)
	}
	return s
}

// The same stop in the same case is one; a case that stopped by an error keeps it when it
// comes to review for want of other means.
func TestOneStopForEachCauseOfACase(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s := &stand{f: f, t: t, id: coupon(t, f)()}
	ways[operation.Unknown](s)
	for range 3 {
		s.must(f.Store.RecordLookup(t.Context(), hand, s.id, time.Now(), operation.LookupFinding{Result: operation.LookupNone}))
	}
	if f.State(t, s.id) != operation.Review && f.State(t, s.id) != operation.Unknown {
		t.Fatalf("it is %s", f.State(t, s.id))
	}
	if list := causes(t, f, "ops", s.id); len(list) != 1 || list[0].Pattern.Code != "timeout" {
		t.Errorf("%+v", list)
	}
}

// A person's word against the class counts, with a reason and in the operation's history.
func TestClassIsCorrected(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s := &stand{f: f, t: t, id: coupon(t, f)()}
	ways[operation.Unknown](s)
	c := causes(t, f, "ops", s.id)[0]
	correct := func(short, reason string, stop int64, class operation.CauseClass) error {
		return f.Store.CorrectCause(t.Context(), f.As(short), s.shown(reason), stop, class)
	}
	for _, x := range []struct {
		short, reason string
		stop          int64
		class         operation.CauseClass
	}{{"author", "x", c.Stop, operation.ClassSystem}, {"auditor", "x", c.Stop, operation.ClassSystem}, {"ops", " ", c.Stop, operation.ClassSystem}, {"ops", "x", c.Stop + 999, operation.ClassSystem}, {"ops", "x", c.Stop, "approved"}} {
		if err := correct(x.short, x.reason, x.stop, x.class); err == nil {
			t.Errorf("%+v was taken", x)
		}
	}
	s.must(correct("ops", "our proxy was down", c.Stop, operation.ClassSystem))
	s.must(correct("ops2", "no, theirs", c.Stop, operation.ClassOutage))
	got := causes(t, f, "auditor", s.id)[0]
	if got.Counts() != operation.ClassOutage || got.ClassBy != f.Users["ops2"] || got.ClassWhy != "no, theirs" || f.State(t, s.id) != operation.Unknown {
		t.Errorf("%+v", got)
	}
	if n := f.Count(t, `history WHERE subject_id = $1 AND action = 'correct_cause' AND reason <> '' AND actor_kind = 'person'`, string(s.id)); n != 2 {
		t.Errorf("%d entries", n)
	}
	(&race{f: f, t: t, id: s.id}).whole()
}

// The library counts how the last ones ended, and only what the viewer may see.
func TestPatternCountsWhatTheViewerSees(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	stopped := func(end func(*stand)) *stand {
		s := &stand{f: f, t: t, id: coupon(t, f)()}
		ways[operation.Unknown](s)
		if end != nil {
			end(s)
		}
		return s
	}
	found := func(s *stand) { s.must(news["Lookup"](s, ref(s.id))) }
	for range 3 {
		stopped(found)
	}
	stopped(func(s *stand) {
		s.must(f.Store.ConfirmDone(t.Context(), f.As("ops"), s.shown("I saw it"), store.Reference{ID: ref(s.id)}))
	})
	stopped(func(s *stand) { s.notDone(false) })
	now := stopped(nil)
	other := stopped(nil)
	c := causes(t, f, "ops", now.id)[0]
	if c.Before.Happened() != 4 || c.Before.NotHappened() != 1 || c.Before[operation.EndOpen] != 1 || c.Before.Total() != 6 || len(c.BeforeLast) != 3 {
		t.Errorf("known of the pattern: %+v, newest %d", c.Before, len(c.BeforeLast))
	}
	p, err := f.Store.FindPattern(t.Context(), f.As("auditor"), c.Pattern.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	for closed, want := range map[bool]int{false: 2, true: 5} {
		list, err := f.Store.ListCases(t.Context(), f.As("auditor"), store.CaseFilter{Pattern: c.Pattern.ID, Closed: closed})
		if err != nil || list.Total != want || len(list.Rows) != want {
			t.Errorf("%d cases of the pattern, closed %v, want %d: %v", list.Total, closed, want, err)
		}
		if list, err = f.Store.ListCases(t.Context(), f.As("auditor"), store.CaseFilter{Pattern: "pat_" + c.Pattern.ID[5:] + "0", Closed: closed}); err != nil || list.Total != 0 {
			t.Errorf("%d cases of no pattern: %v", list.Total, err)
		}
	}
	want := operation.Endings{operation.EndFound: 3, operation.EndPerson: 1, operation.EndNotExecuted: 1, operation.EndOpen: 2}
	if p.Times != 7 || len(p.Open) != 2 || len(p.Closed) != 5 || p.MayEdit || !sameEndings(p.Ended, want) || p.Open[0].Operation != other.id {
		t.Errorf("%d times, open %d, closed %d, ended %v", p.Times, len(p.Open), len(p.Closed), p.Ended)
	}
	list, err := f.Store.ListPatterns(t.Context(), f.As("ops"), store.PatternFilter{})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list.Rows, func(r store.PatternLine) bool { return r.ID == c.Pattern.ID })
	if i < 0 || list.Rows[i].Times != 7 || list.Rows[i].Open != 2 || !sameEndings(list.Rows[i].Ended, want) {
		t.Fatalf("the library: %+v", list.Rows)
	}
	// somebody of another flow sees nothing of it
	elsewhere := onlyFor(t, f, "elsewhere", operation.RoleOpsOwner, "plain-note")
	if _, err := f.Store.FindPattern(t.Context(), elsewhere, c.Pattern.ID, ""); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a stranger: %v", err)
	}
	if list, err := f.Store.ListPatterns(t.Context(), elsewhere, store.PatternFilter{}); err != nil || len(list.Rows) != 0 {
		t.Errorf("a stranger's library: %+v %v", list, err)
	}
	if err := f.Store.WritePattern(t.Context(), elsewhere, store.PatternWords{ID: c.Pattern.ID, Revision: c.Pattern.Revision, Note: "x"}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a stranger wrote: %v", err)
	}
}

func sameEndings(a, b operation.Endings) bool {
	for _, e := range operation.CauseEndings {
		if a[e] != b[e] {
			return false
		}
	}
	return true
}

// What people write about a pattern has a history of its own and changes no operation.
func TestPatternWordsHaveAChain(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s := &stand{f: f, t: t, id: coupon(t, f)()}
	ways[operation.Unknown](s)
	id := causes(t, f, "ops", s.id)[0].Pattern.ID
	write := func(short string, w store.PatternWords) error {
		w.ID = id
		return f.Store.WritePattern(t.Context(), f.As(short), w)
	}
	s.must(write("ops", store.PatternWords{Revision: 1, Note: "Their gateway drops requests at night."}))
	s.must(write("ops2", store.PatternWords{Revision: 2, Note: "Their gateway drops requests at night.", Runbook: "1. Look at the log."}))
	var refusal *operation.Refusal
	if err := write("ops", store.PatternWords{Revision: 2, Note: "x"}); !errors.As(err, &refusal) || refusal.Code != operation.CodeStaleRevision {
		t.Errorf("written over what somebody wrote: %v", err)
	}
	if err := write("author", store.PatternWords{Revision: 3, Note: "x"}); !errors.As(err, &refusal) || refusal.Code != operation.CodeNotEntitled {
		t.Errorf("the author wrote: %v", err)
	}
	if err := write("ops", store.PatternWords{Revision: 3, Note: "x", Class: operation.ClassSystem}); !errors.As(err, &refusal) || refusal.Code != operation.CodeReasonMissing {
		t.Errorf("a class without a reason: %v", err)
	}
	s.must(write("ops", store.PatternWords{Revision: 3, Note: "Ours.", Class: operation.ClassSystem, Reason: "it was our proxy"}))
	if c := causes(t, f, "ops", s.id)[0]; c.Counts() != operation.ClassSystem || c.Pattern.Note != "Ours." {
		t.Errorf("%+v", c)
	}
	p, err := f.Store.FindPattern(t.Context(), f.As("ops"), id, "")
	if err != nil {
		t.Fatal(err)
	}
	if !p.MayEdit || len(p.History) != 3 || !p.ChainOK() || p.History[2].Links()["class"] != "destination_outage > system_error" || p.History[1].Links()["runbook"] == "" {
		t.Errorf("%d entries, whole %v", len(p.History), p.ChainOK())
	}
	if f.State(t, s.id) != operation.Unknown {
		t.Error("writing moved the operation")
	}
	if _, err := f.Owner.Exec(`UPDATE patterns SET error = 'x' WHERE id = $1`, string(id)); err == nil {
		t.Error("a pattern's facts can be changed")
	}
	if _, err := f.Owner.Exec(`DELETE FROM stops`); err == nil {
		t.Error("stops can be deleted")
	}
}

// A suggestion changes nothing of its operation; the asking person's history tells of it.
func TestSuggestionDecidesNothing(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s := &stand{f: f, t: t, id: coupon(t, f)()}
	ways[operation.Unknown](s)
	before := f.Decision(t, s.id, operation.Approve).Revision
	n := store.Suggestion{Operation: s.id, Purpose: store.SuggestClass, Model: "small-model", Class: operation.ClassContent, Words: "approve it\x00", Sent: "facts", Millis: 120}
	id, err := f.Store.AddSuggestion(t.Context(), f.As("ops"), n)
	s.must(err)
	list, err := f.Store.ListSuggestions(t.Context(), s.id)
	s.must(err)
	if len(list) != 1 || list[0].ID != id || list[0].Class != operation.ClassContent || list[0].Name != "Oli Ops" {
		t.Errorf("%+v", list)
	}
	if after := f.Decision(t, s.id, operation.Approve).Revision; after != before || causes(t, f, "ops", s.id)[0].Counts() != operation.ClassOutage {
		t.Error("the suggestion changed the operation")
	}
	if f.Count(t, `history WHERE subject_kind = 'user' AND subject_id = $1 AND action = 'ask_model'`, string(f.Users["ops"])) != 1 {
		t.Error("nothing tells that something was given to a model")
	}
	if _, err := f.Store.AddSuggestion(t.Context(), onlyFor(t, f, "elsewhere", operation.RoleOpsOwner, "plain-note"), n); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("somebody of another flow: %v", err)
	}
	if _, err := f.Owner.Exec(`UPDATE suggestions SET class = 'system_error'`); err == nil {
		t.Error("a suggestion can be changed")
	}
	if _, err := f.Owner.Exec(`UPDATE suggestions SET words = ''`); err != nil {
		t.Errorf("its words cannot be erased: %v", err)
	}
}
