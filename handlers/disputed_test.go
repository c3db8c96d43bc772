package handlers_test

import (
	"net/url"
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
	for _, who := range []string{"author", "auditor"} { // whoever may not is told everybody who may, on the page and behind it
		b := h.as(t, who)
		b.get(opPath(id)).want(200).says("Who can: ops owner, approver")
		b.do("POST", opPath(id)+"/dispute", url.Values{}).want(403).says("Who can: ops owner, approver")
	}
	ops := h.as(t, "ops")
	again := ops.submit(ops.get(opPath(id)).want(200), "form-dispute", "evidence", "Their list does not have it.").want(303)
	page := ops.follow(again).want(200).says("This is disputed. Only a person settles it")
	page.says("A person disputes what is recorded of this effect", "that settles the dispute and confirms the operation")
	if strings.Contains(page.body, "Automatic means are used up") || !strings.Contains(page.body, `id="late-reference"`) {
		t.Error("the reviewer is not told what holds, or asked for no reference")
	}
	for _, who := range []string{"author", "lead"} {
		if other := h.as(t, who).get(opPath(id)).want(200).says("It decides nothing by itself"); strings.Contains(other.body, `id="late-reference"`) {
			t.Errorf("%s is asked for a reference", who)
		}
	}
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
	// What is reported meanwhile hides nothing of what the lookup found.
	p, err := h.Store.FindOperation(t.Context(), h.As("ops"), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{"", "OTHER-9"} {
		news := store.Callback{Operation: id, Destination: p.Destination, Kind: operation.NewsDelivered, Reference: ref, Body: `{}`}
		if err := h.Store.RecordCallback(t.Context(), store.System("api"), news); err != nil {
			t.Fatal(err)
		}
		if page = ops.get(opPath(id)).want(200).says(said); !strings.Contains(page.body, `value="TSK-7"`) || strings.Contains(page.body, "without a reference") {
			t.Errorf("a report with the reference %q hides the one that was found", ref)
		}
	}
	ops.follow(ops.submit(page, "form-reconcile", "finding", "done", "done_how", "seen").want(303)).says("Confirmed with TSK-7")
	if h.Count(t, `operations WHERE id = $1 AND state = 'confirmed' AND confirmed_by = 'person' AND target_reference = 'TSK-7'`, string(id)) != 1 {
		t.Error("the form's own reference did not confirm it")
	}
	if after := ops.get(opPath(id)).want(200); strings.Contains(after.body, "still reports it") {
		t.Error("it is said to be disputed after it was settled")
	}
}
