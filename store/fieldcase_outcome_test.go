package store_test

import (
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestFieldCase34_NotFoundIsAnObservation: a lookup that finds nothing is kept with its
// time and permits nothing; the record that the index shows later confirms.
func TestFieldCase34_NotFoundIsAnObservation(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	job := store.Job("test")
	id := f.Receive(t, storetest.CampaignEvent())[0] // the CRM: no key, a lookup
	f.Approve(t, id, "lead")
	a, err := f.Store.ClaimAndDispatch(t.Context(), job, id, "test")
	ok(t, err)
	_, err = f.Store.Record(t.Context(), job, a.Attempt, a.Fence, operation.Result{Proof: operation.Proof{Code: "timeout", Phase: operation.PhaseSent, Written: 300}})
	ok(t, err)
	for n := 1; n <= 4; n++ {
		ok(t, f.Store.RecordLookup(t.Context(), job, id, time.Now(), operation.LookupFinding{Result: operation.LookupNone}))
		if got := f.Count(t, "evidence WHERE operation_id = $1 AND kind = 'lookup' AND result = 'none'", string(id)); got != n {
			t.Errorf("%d observations after %d lookups", got, n)
		}
		if _, err := f.Store.ClaimAndDispatch(t.Context(), job, id, "test"); err == nil {
			t.Fatal("a miss permitted a second send")
		}
	}
	if s := f.State(t, id); s != operation.Review {
		t.Fatalf("state %s: a person should be asked", s)
	}
	p, err := f.Store.FindOperation(t.Context(), f.As("ops"), id)
	ok(t, err)
	shown := store.Shown{Operation: id, Revision: p.Revision, FormID: store.NewFormID(), Reason: "The search shows nothing."}
	refused(t, f.Store.RequestReexecution(t.Context(), f.As("ops"), shown), operation.CodeChecklist)
	if p.LookupAt == nil {
		t.Error("lookups have stopped")
	}
	ok(t, f.Store.RecordLookup(t.Context(), job, id, time.Now(), operation.LookupFinding{Result: operation.LookupOne, ID: "TSK-late", Matched: "reference"}))
	if s := f.State(t, id); s != operation.Confirmed {
		t.Errorf("state %s after the record appeared", s)
	}
	if n := f.Count(t, "attempts WHERE operation_id = $1", string(id)); n != 1 {
		t.Errorf("%d attempts", n)
	}
}

// delivering is the demonstration with a mail that only its delivery satisfies.
func delivering(t *testing.T) *storetest.Fixture {
	t.Helper()
	f := storetest.NewFixture(t)
	files, err := storetest.DemoFiles()
	ok(t, err)
	for _, x := range files {
		if s := string(x.Source); strings.Contains(s, "flow: campaign-follow-up") {
			s = strings.Replace(s, "satisfied_by: accepted", "satisfied_by: delivered\n    delivered_within: 1s", 1)
			_, err := f.Store.Apply(t.Context(), command, []store.File{{Name: x.Name, Source: []byte(s)}})
			ok(t, err)
		}
	}
	return f
}

// accepted gives a mail that its provider has accepted.
func accepted(t *testing.T, f *storetest.Fixture) operation.ID {
	t.Helper()
	job := store.Job("test")
	ops := f.Receive(t, storetest.CampaignEvent())
	f.Approve(t, ops[0], "lead")
	act := func(id operation.ID, ref string) {
		a, err := f.Store.ClaimAndDispatch(t.Context(), job, id, "test")
		ok(t, err)
		_, err = f.Store.Record(t.Context(), job, a.Attempt, a.Fence, operation.Result{Outcome: operation.OutcomeConfirmed, TargetReference: ref + string(id), Proof: operation.Proof{Status: 200}})
		ok(t, err)
	}
	act(ops[0], "TSK-")
	p, err := f.Store.FindOperation(t.Context(), f.As("author"), ops[1])
	ok(t, err)
	content := p.Current().Content()
	content["subject"], content["text"] = "Spring", "Dear customer"
	ok(t, f.Store.AddVersion(t.Context(), f.As("author"), store.NewVersion{Operation: ops[1], Content: content, Author: author(f), Submit: true}))
	f.Approve(t, ops[1], "lead", "second")
	act(ops[1], "em-")
	return ops[1]
}

// TestFieldCase40_AcceptedIsNotDelivered: acceptance confirms the send, delivery is a
// fact of its own with its own evidence; a bounce or silence is the owner's work and
// never a second send.
func TestFieldCase40_AcceptedIsNotDelivered(t *testing.T) {
	t.Parallel()
	f := delivering(t)
	page := func(id operation.ID) *store.OperationPage {
		t.Helper()
		p, err := f.Store.FindOperation(t.Context(), f.As("ops"), id)
		ok(t, err)
		return p
	}
	run := func(id operation.ID) operation.RunState {
		t.Helper()
		r, err := f.Store.FindRun(t.Context(), f.As("ops"), page(id).RunID)
		ok(t, err)
		return r.State
	}
	news := func(id operation.ID, kind string) {
		t.Helper()
		ok(t, f.Store.RecordCallback(t.Context(), store.System("api"), store.Callback{Operation: id, Destination: page(id).Destination, Kind: operation.NewsKind(kind), Reference: page(id).TargetReference, Body: "{}"}))
	}
	t.Run("Delivered", func(t *testing.T) {
		id := accepted(t, f)
		if p := page(id); p.State != operation.Confirmed || p.Delivery != "accepted" || run(id) == operation.RunCompleted {
			t.Fatalf("accepted: state %s, delivery %q, run %s", p.State, p.Delivery, run(id))
		}
		news(id, "news") // deferred: known, changes nothing
		news(id, "delivered")
		news(id, "delivered")
		if p := page(id); p.Delivery != "delivered" || p.Remedy != "" || run(id) != operation.RunCompleted {
			t.Errorf("delivered: delivery %q, remedy %q, run %s", p.Delivery, p.Remedy, run(id))
		}
		news(id, "complained")
		if p := page(id); p.Delivery != "complained" || p.Remedy != "complained" || p.State != operation.Confirmed {
			t.Errorf("complained: %q, remedy %q, state %s", p.Delivery, p.Remedy, p.State)
		}
	})
	t.Run("Bounced", func(t *testing.T) {
		id := accepted(t, f)
		news(id, "bounced")
		p := page(id)
		if p.Delivery != "bounced" || p.Remedy != "bounced" || p.NextKind != string(operation.DecideRemedy) {
			t.Errorf("delivery %q, remedy %q, next %s", p.Delivery, p.Remedy, p.NextKind)
		}
		news(id, "delivered") // late and out of order: never lowers
		if p := page(id); p.Delivery != "bounced" {
			t.Errorf("delivery %q", p.Delivery)
		}
		_, err := f.Store.ClaimAndDispatch(t.Context(), store.Job("test"), id, "test")
		refused(t, err, operation.CodeClosed)
	})
	t.Run("Silence", func(t *testing.T) {
		id := accepted(t, f)
		if n, err := f.Store.SweepSilence(t.Context(), store.System("job")); err != nil || n != 0 {
			t.Errorf("before the deadline: %d, %v", n, err)
		}
		for deadline := time.Now().Add(10 * time.Second); page(id).Remedy == ""; time.Sleep(100 * time.Millisecond) {
			if _, err := f.Store.SweepSilence(t.Context(), store.System("job")); err != nil {
				t.Fatal(err)
			}
			if time.Now().After(deadline) {
				t.Fatal("silence gave nobody work")
			}
		}
		p := page(id)
		if p.Remedy != "silence" || p.State != operation.Confirmed || p.Delivery != "accepted" || p.NextAt == nil {
			t.Errorf("remedy %q, state %s, delivery %q", p.Remedy, p.State, p.Delivery)
		}
		news(id, "delivered")
		if p := page(id); p.Remedy != "" || p.Delivery != "delivered" {
			t.Errorf("after late news: remedy %q, delivery %q", p.Remedy, p.Delivery)
		}
		whole(t, f.Store, operation.SubjectOperation, string(id))
	})
}

// TestReexecutionHasAWayOut: plain evidence makes nobody a party, a request can be
// withdrawn by any reviewer, and a new round may be decided by who was in the last one.
func TestReexecutionHasAWayOut(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	job := store.Job("test")
	id, err := f.Store.Adopt(t.Context(), f.As("ops"), store.AdoptedJob{Flow: "goodwill-invoice", Stage: "invoice", System: "cron", ItsID: "job 7", Reason: "It stopped last night.",
		Content: map[string]any{"customer": "cus_1", "amount": 100, "currency": "eur", "description": "Goodwill"}})
	ok(t, err)
	shown := func(short, reason string) store.Shown {
		t.Helper()
		p, err := f.Store.FindOperation(t.Context(), f.As(short), id)
		ok(t, err)
		return store.Shown{Operation: id, Revision: p.Revision, FormID: store.NewFormID(), Reason: reason}
	}
	if s := f.State(t, id); s != operation.Review {
		t.Fatalf("state %s", s)
	}
	var yes store.Answers
	for _, i := range operation.Checklist {
		yes = append(yes, operation.Answer{Item: i, Yes: true})
	}
	request := func(short string) {
		t.Helper()
		ok(t, f.Store.ConfirmNotDone(t.Context(), f.As(short), shown(short, "Nothing is there."), yes, true))
		if s := f.State(t, id); s != operation.ReexecutionRequested {
			t.Fatalf("state %s after a request", s)
		}
	}
	request("ops")
	ok(t, f.Store.AddStatement(t.Context(), f.As("ops2"), shown("ops2", "I looked as well."), ""))
	refused(t, f.Store.WithdrawRequest(t.Context(), f.As("lead"), shown("lead", "no")), operation.CodeNotEntitled)
	refused(t, f.Store.WithdrawRequest(t.Context(), f.As("ops"), shown("ops", "")), operation.CodeReasonMissing)
	ok(t, f.Store.WithdrawRequest(t.Context(), f.As("ops"), shown("ops", "asked too early")))
	if s := f.State(t, id); s != operation.Review {
		t.Fatalf("state %s after the request was withdrawn", s)
	}
	request("ops")
	refused(t, f.Store.DecideReexecution(t.Context(), f.As("ops"), shown("ops", "mine"), true), operation.CodeParty)
	ok(t, f.Store.DecideReexecution(t.Context(), f.Fresh(t, "ops2"), shown("ops2", "agreed"), true))
	if _, err := f.Store.ClaimAndDispatch(t.Context(), job, id, "test"); err == nil {
		t.Error("sent without a fresh lookup")
	}
	whole(t, f.Store, operation.SubjectOperation, string(id))
}

// TestLookupFromBeforeTheDispatch: a miss that was asked for before the last request
// left is kept as evidence and counts for nothing.
func TestLookupFromBeforeTheDispatch(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	job := store.Job("test")
	id := f.Receive(t, storetest.CampaignEvent())[0]
	f.Approve(t, id, "lead")
	a, err := f.Store.ClaimAndDispatch(t.Context(), job, id, "test")
	ok(t, err)
	_, err = f.Store.Record(t.Context(), job, a.Attempt, a.Fence, operation.Result{Proof: operation.Proof{Code: "timeout", Phase: operation.PhaseSent, Written: 300}})
	ok(t, err)
	before := a.DispatchedAt.Add(-time.Second)
	for range operation.MissesBeforePerson + 1 {
		ok(t, f.Store.RecordLookup(t.Context(), job, id, before, operation.LookupFinding{Result: operation.LookupNone}))
	}
	p, err := f.Store.FindOperation(t.Context(), f.As("ops"), id)
	ok(t, err)
	if p.State != operation.Unknown || p.Misses != 0 || p.LastLookupAt != nil {
		t.Errorf("state %s, %d misses, last lookup %v", p.State, p.Misses, p.LastLookupAt)
	}
	if n := f.Count(t, "evidence WHERE operation_id = $1 AND kind = 'lookup'", string(id)); n != operation.MissesBeforePerson+1 {
		t.Errorf("%d observations kept", n)
	}
}
