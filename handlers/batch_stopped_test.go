package handlers_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestStoppedBatchSaysWhatGoesOut: what a stopped batch's page says holds while nothing of it
// goes out any more, and also when people let an item that had been tried go out once more.
func TestStoppedBatchSaysWhatGoesOut(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	files, err := storetest.DemoFiles()
	if err != nil {
		t.Fatal(err)
	}
	for i := range files {
		for _, term := range []string{"settle_after: 10s", "lag: 2s"} {
			files[i].Source = bytes.Replace(files[i].Source, []byte(term), []byte(term[:strings.Index(term, ":")]+": 1ms"), 1)
		}
	}
	if _, err := h.Store.Apply(t.Context(), store.System("command"), files); err != nil {
		t.Fatal(err)
	}
	h.ApplyMailing(t, "{approvers: {role: approver}, expires: 72h}")
	s, ctx, job := h.Store, t.Context(), store.Job("runner")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	id := h.Batch(t, storetest.Recipients(3, nil))
	h.ApproveBatch(t, id, "lead")
	_, err = s.ReleaseBatch(ctx, job, id, 100)
	must(err)
	c, err := s.ClaimGroup(ctx, job, id, 1, "worker")
	if err != nil || len(c.Dispatched) != 1 {
		t.Fatal(c, err)
	}
	lost := operation.Result{Outcome: operation.OutcomeUnknown, Proof: operation.Proof{Code: "timeout", Phase: operation.PhaseSent}}
	d := c.Dispatched[0]
	_, err = s.StopBatch(ctx, h.As("ops"), store.BatchShown{Batch: id, Reason: "Enough.", FormID: store.NewFormID()})
	must(err)
	_, err = s.GiveUpGroup(ctx, job, id, 10)
	must(err)
	_, err = s.RecordGroup(ctx, job, id, []store.Outcome{{Operation: d.Operation, Attempt: d.Attempt, Fence: d.Fence, Result: lost}})
	must(err)
	look := func() {
		t.Helper()
		must(s.RecordLookup(ctx, job, d.Operation, time.Now(), operation.LookupFinding{Result: operation.LookupNone}))
	}
	for range 5 { // it looks several times before it asks a person
		if h.State(t, d.Operation) == operation.Unknown {
			look()
		}
	}

	says := func(state string, again bool) {
		t.Helper()
		page := h.as(t, "auditor").get("/batches/" + string(id)).want(200)
		if !strings.Contains(page.body, state) || strings.Contains(page.body, "stays unsent") || (page.has("stopped-again") != nil) != again {
			t.Errorf("the stopped batch does not say %q, or not that one goes out again (%v)", state, again)
		}
	}
	const stopping, stopped = "goes out once more only where two people decide so", "what was never tried was not sent"
	says(stopping, false)
	shown := func(reason string) store.Shown {
		p, err := s.FindOperation(ctx, h.As("ops"), d.Operation)
		must(err)
		return store.Shown{Operation: d.Operation, Revision: p.Revision, FormID: store.NewFormID(), Reason: reason}
	}
	if state := h.State(t, d.Operation); state != operation.Review {
		t.Fatalf("the lost one is %s", state)
	}
	time.Sleep(2 * time.Millisecond) // settle_after of the last request
	var yes store.Answers
	for _, i := range operation.Checklist {
		yes = append(yes, operation.Answer{Item: i, Yes: true, Comment: "looked"})
	}
	must(s.ConfirmNotDone(ctx, h.As("ops"), shown("Nothing is there."), yes, true))
	says(stopping, false)
	must(s.DecideReexecution(ctx, h.Fresh(t, "ops2"), shown("Once more."), true))
	says(stopping, true)
	look()
	again, err := s.ClaimAndDispatch(ctx, job, d.Operation, "worker")
	must(err)
	_, err = s.Record(ctx, job, again.Attempt, again.Fence, operation.Result{Outcome: operation.OutcomeConfirmed, TargetReference: "mail-1", Proof: operation.Proof{Code: "accepted", Phase: operation.PhaseComplete, Status: 250}})
	must(err)
	if state, err := s.AdvanceBatch(ctx, job, id); err != nil || state != operation.BatchClosed {
		t.Fatalf("the batch is %s: %v", state, err)
	}
	says(stopped, true)
}
