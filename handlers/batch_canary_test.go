package handlers_test

import (
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestCanaryDoubt: whoever decides about the rest is told that the canary is disputed.
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
