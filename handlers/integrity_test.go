package handlers_test

import (
	"net/url"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
)

// TestRestoredDatabase reconciles what a restored database lists, and then resumes.
func TestRestoredDatabase(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	admin, ops := h.as(t, "admin"), h.as(t, "ops")
	ops.get("/installation/restore").want(200).says("Nothing to reconcile")
	admin.get("/installation").want(200).says("No checkpoints are made")
	first, second := h.Ready(t), h.Ready(t)
	lost := int64(12)
	m := store.Mismatch{Word: store.MismatchOlder, Since: time.Now().Add(-time.Hour), Until: time.Now(), Missing: &lost}
	if err := h.Store.PauseForWitness(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	admin.get("/installation").want(200).says("Reconciling a restored database")
	page := ops.get("/installation/restore").want(200).says(string(first), string(second), "up to 12 history entries", "0 of 2")

	// Nobody resumes while something is open, or without the confirmation.
	resume := admin.get("/installation").want(200)
	admin.submit(resume, "form-resume_all", "reason", "it will be fine").want(422)
	admin.submit(resume, "form-resume_all", "reason", "it will be fine", "confirm", "yes").want(409).says("still to be compared")

	ops.submit(page, "form-compare", "reason", "looked").want(422).says("Choose the operations")
	ops.submit(page, "form-compare", "reason", " ", "operation", string(first)).want(422).says("Give a reason")
	if a := ops.submit(page, "form-compare", "reason", "not in the shop's log", "operation", string(first)); a.status != 303 {
		t.Fatalf("status %d", a.status)
	}
	page = ops.get("/installation/restore").want(200).says("1 of 2")
	if page.has("form-compare-all") == nil {
		t.Fatal("no form for a whole destination")
	}
	p, err := h.Store.FindOperation(t.Context(), h.As("admin"), second)
	if err != nil {
		t.Fatal(err)
	}
	if a := ops.submit(page, "form-compare-all", "destination", p.Destination, "reason", "the whole log was compared"); a.status != 303 {
		t.Fatalf("status %d", a.status)
	}
	ops.get("/installation/restore?show=all").want(200).says("2 of 2", "not in the shop")
	h.as(t, "author").post("/installation/restore/compare", url.Values{"reason": {"x"}, "operation": {string(first)}}).want(403)
	if a := admin.submit(admin.get("/installation").want(200), "form-resume_all", "reason", "all compared", "confirm", "yes"); a.status != 303 {
		t.Fatalf("status %d", a.status)
	}
	admin.get("/installation/restore?show=all").want(200).says("let the sends go on", "all compared")
	rows, broken, err := h.Store.ListHistory(t.Context(), operation.SubjectOperation, string(first))
	if err != nil || broken != 0 || rows[len(rows)-1].Action != "restore_compared" {
		t.Errorf("%d entries, broken at %d, %v", len(rows), broken, err)
	}
}
