package handlers_test

import (
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestDisputedPage: what still reports a disputed effect is said on the page of the operation
// and of its case, and the reviewer confirms it in one step, or not.
func TestDisputedPage(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.Receive(t, storetest.CampaignEvent())[0]
	h.Approve(t, id, "lead")
	d, err := h.Store.ClaimAndDispatch(t.Context(), store.Job("hand"), id, "hand")
	if err != nil {
		t.Fatal(err)
	}
	done := operation.Result{Outcome: operation.OutcomeConfirmed, TargetReference: "TSK-7", Proof: operation.Proof{Code: "confirmed", Status: 201}}
	if _, err := h.Store.Record(t.Context(), store.Job("hand"), d.Attempt, d.Fence, done); err != nil {
		t.Fatal(err)
	}
	ops := h.as(t, "ops")
	again := ops.submit(ops.get(opPath(id)).want(200), "form-dispute", "evidence", "Their list does not have it.").want(303)
	page := ops.follow(again).want(200).says("This is disputed. Only a person settles it")
	if strings.Contains(page.body, `value="TSK-7"`) {
		t.Error("the form is filled with what nobody reported since")
	}
	found := operation.LookupFinding{Result: operation.LookupOne, ID: "TSK-7", URL: "https://crm.example/TSK-7", Matched: "reference"}
	if err := h.Store.RecordLookup(t.Context(), store.Job("hand"), id, time.Now(), found); err != nil {
		t.Fatal(err)
	}
	h.wantState(t, id, operation.Review)
	var c string
	if err := h.Owner.QueryRow(`SELECT id FROM recovery_cases WHERE operation_id = $1 AND closed_at IS NULL`, string(id)).Scan(&c); err != nil {
		t.Fatal(err)
	}
	const said = "still reports it: reference TSK-7, looked up"
	ops.get("/cases/"+c).want(200).says(said, "The dispute is settled by a person.")
	page = ops.get(opPath(id)).want(200).says(said)
	if !strings.Contains(page.body, `value="TSK-7"`) || !strings.Contains(page.body, `value="https://crm.example/TSK-7"`) {
		t.Error("the form is not filled with what was found")
	}
	ops.follow(ops.submit(page, "form-reconcile", "finding", "done", "done_how", "seen").want(303)).says("Confirmed with TSK-7")
	if h.Count(t, `operations WHERE id = $1 AND state = 'confirmed' AND confirmed_by = 'person' AND target_reference = 'TSK-7'`, string(id)) != 1 {
		t.Error("the form's own reference did not confirm it")
	}
	if after := ops.get(opPath(id)).want(200); strings.Contains(after.body, "still reports it") {
		t.Error("it is said to be disputed after it was settled")
	}
}
