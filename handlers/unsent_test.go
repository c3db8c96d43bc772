package handlers_test

import (
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

const soon = "It is sent once, as soon as a job takes it."

// TestApprovedAndUnsent: whoever approves what is not sent now is told so, and why.
func TestApprovedAndUnsent(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.Receive(t, storetest.CouponEvent())[0]
	lead := h.as(t, "lead")
	form := lead.get(opPath(id)).want(200)
	if _, err := h.Store.PauseFlow(t.Context(), h.As("ops"), "newsletter-coupon", "Wait."); err != nil {
		t.Fatal(err)
	}
	said := lead.follow(lead.submit(form, "form-decide", "decision", "approve").want(303)).want(200).says("Approved. It is not sent yet: The flow is paused.")
	if strings.Contains(said.text(), soon) {
		t.Error("it is said to be sent all the same")
	}
}

// TestReplacementApprovedAndUnsent: a replacement to somebody who is on the suppression list
// is approved, and its approver is told that nothing is sent to them.
func TestReplacementApprovedAndUnsent(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.ApplyMailing(t, "{approvers: {role: approver}, expires: 72h}")
	s, ctx := h.Store, t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	id := h.Batch(t, storetest.Recipients(2, nil))
	h.ApproveBatch(t, id, "lead")
	c, err := s.ReleaseAndClaim(ctx, store.Job("runner"), id, 5, "worker")
	must(err)
	if len(c.Dispatched) != 2 {
		t.Fatalf("%+v", c)
	}
	first := c.Dispatched[0]
	_, err = s.RecordGroup(ctx, store.Job("runner"), id, []store.Outcome{{Operation: first.Operation, Attempt: first.Attempt, Fence: first.Fence,
		Result: operation.Result{Outcome: operation.OutcomeConfirmed, TargetReference: "mail-1", Proof: operation.Proof{Code: "accepted", Phase: operation.PhaseComplete, Status: 250}}}})
	must(err)
	_, err = h.Owner.Exec(`UPDATE operations SET last_dispatch = last_dispatch - interval '1 day', last_send = last_send - interval '1 day'`) // no request can take effect any more
	must(err)
	shown := func() store.Shown {
		return store.Shown{Operation: first.Operation, Revision: h.Decision(t, first.Operation, operation.Approve).Revision, FormID: store.NewFormID(), Reason: "Their list does not have it."}
	}
	must(s.Dispute(ctx, h.As("ops"), shown(), ""))
	var yes store.Answers
	for _, item := range operation.Checklist {
		yes = append(yes, operation.Answer{Item: item, Yes: true, Comment: "looked", User: h.Users["ops"]})
	}
	must(s.ConfirmNotDone(ctx, h.As("ops"), shown(), yes, false))
	p, err := s.FindOperation(ctx, h.As("author"), first.Operation)
	must(err)
	next, err := s.Replace(ctx, h.As("author"), shown(), store.Replacement{Content: p.Current().Content(), Submit: true})
	must(err)
	lead := h.as(t, "ops2") // not a party to the case
	form := lead.get(opPath(next)).want(200)
	_, err = s.AddSuppressions(ctx, h.As("ops"), store.Suppressing{FormID: store.NewFormID()}, []store.NewSuppression{{Address: "r000001@example.test", Reason: operation.SuppressedUnsubscribed}})
	must(err)
	said := lead.follow(lead.submit(form, "form-decide", "decision", "approve").want(303)).want(200).says("Approved. It is not sent yet: The recipient is on the suppression list.")
	if strings.Contains(said.text(), soon) {
		t.Error("it is said to be sent all the same")
	}
}

// TestBatchApprovedAndUnsent: the same of a batch whose destination is paused.
func TestBatchApprovedAndUnsent(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.ApplyMailing(t, "{approvers: {role: approver}, expires: 72h}")
	id := h.Batch(t, storetest.Recipients(3, nil))
	page := "/batches/" + string(id)
	if _, err := h.Store.PauseDestination(t.Context(), h.As("ops"), "mail", "Wait."); err != nil {
		t.Fatal(err)
	}
	b := h.as(t, "lead")
	said := b.follow(b.submit(b.get(page).want(200), "form-decide", "decision", "approve").want(303)).want(200).says("Approved. It is not sent yet: The destination is paused.")
	if strings.Contains(said.text(), "Its items go out now") {
		t.Error("its items are said to go out all the same")
	}
}
