package handlers_test

import (
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestCanaryDoubt: whoever decides about the rest is told which rows of it are on the
// suppression list by now, and that the canary is disputed.
func TestCanaryDoubt(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.ApplyMailing(t, "{approvers: {role: approver}, expires: 72h}", "canary: 1")
	s, ctx, job := h.Store, t.Context(), store.Job("runner")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	id := h.Batch(t, storetest.Recipients(3, nil))
	h.ApproveBatch(t, id, "lead")
	_, err := s.ReleaseBatch(ctx, job, id, 100)
	must(err)
	c, err := s.ClaimGroup(ctx, job, id, 5, "worker")
	if err != nil || len(c.Dispatched) != 1 {
		t.Fatal(c, err)
	}
	d := c.Dispatched[0]
	_, err = s.RecordGroup(ctx, job, id, []store.Outcome{{Operation: d.Operation, Attempt: d.Attempt, Fence: d.Fence,
		Result: operation.Result{Outcome: operation.OutcomeConfirmed, TargetReference: "mail-1", Proof: operation.Proof{Code: "accepted", Phase: operation.PhaseComplete, Status: 250}}}})
	must(err)
	if state, err := s.AdvanceBatch(ctx, job, id); err != nil || state != operation.BatchCanaryReview {
		t.Fatal(state, err)
	}
	const nobody = "No row is left out"
	b := h.as(t, "lead")
	b.get("/batches/" + string(id)).want(200).says(nobody)
	_, err = s.AddSuppressions(ctx, h.As("ops"), store.Suppressing{FormID: store.NewFormID()}, []store.NewSuppression{
		{Address: "r000001@example.test", Reason: operation.SuppressedUnsubscribed}, // went out with the canary
		{Address: "R000003@example.test.", Reason: operation.SuppressedUnsubscribed}})
	must(err)
	if text := b.get("/batches/" + string(id)).want(200).says("1 row is on the suppression list now and will not be sent.").text(); strings.Contains(text, nobody) {
		t.Error("nobody is said to be on the suppression list")
	}
	const doubt = "1 item of the canary is disputed"
	page := "/batches/" + string(id)
	if text := h.as(t, "lead").get(page).want(200).text(); strings.Contains(text, doubt) {
		t.Error("a canary that nobody disputes is said to be in doubt")
	}
	p, err := s.FindOperation(ctx, h.As("ops"), d.Operation)
	must(err)
	must(s.Dispute(ctx, h.As("ops"), store.Shown{Operation: d.Operation, Revision: p.Revision, FormID: store.NewFormID(), Reason: "Nothing arrived."}, ""))
	h.as(t, "lead").get(page).want(200).says(doubt)
}
