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

// TestRestoredBatches: a batch that was open in the backup may have gone out since, although
// nothing of it is known here. Sends go on when it was compared, or nothing more can go out.
func TestRestoredBatches(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.ApplyMailing(t, "")
	kept, gone := h.Batch(t, storetest.Recipients(3, nil)), h.Batch(t, storetest.Recipients(2, nil))
	if err := h.Store.PauseForWitness(t.Context(), store.Mismatch{Word: store.MismatchOlder, Since: time.Now().Add(-time.Hour), Until: time.Now()}); err != nil {
		t.Fatal(err)
	}
	admin, ops := h.as(t, "admin"), h.as(t, "ops")
	ops.get("/installation/restore").want(200).says("Batches that were open", string(kept), string(gone), "0 of 3", "0 of 2")
	resume := func() *answer {
		return admin.submit(admin.get("/installation").want(200), "form-resume_all", "reason", "all compared", "confirm", "yes")
	}
	resume().want(409).says("still to be compared")
	// What is asked for now and has no time of its own may be of the lost time; what happened later is not.
	later, timeless := storetest.CouponEvent(), storetest.CouponEvent()
	later.EventTime, timeless.EventTime = time.Now().Add(time.Minute), time.Time{}
	fresh, again := h.Receive(t, later)[0], h.Receive(t, timeless)[0]
	if _, err := h.Store.MarkRestored(t.Context(), store.System("job")); err != nil {
		t.Fatal(err)
	}
	page := ops.get("/installation/restore").want(200).says(string(again))
	if strings.Contains(page.body, string(fresh)) {
		t.Error("new work is to be compared")
	}
	ops.submit(page, "form-compare", "reason", "it is new", "operation", string(again)).want(303)
	ops.submit(page, "form-compare-batches", "reason", "looked").want(422).says("Choose the batches")
	ops.submit(page, "form-compare-batches", "reason", "none in their log", "batch", string(kept)).want(303)
	resume().want(409)
	if err := h.Store.CancelBatch(t.Context(), h.As("ops"), store.BatchShown{Batch: gone, FormID: "gone", Reason: "It has gone out."}); err != nil {
		t.Fatal(err)
	}
	resume().want(303)
	ops.get("/installation/restore?show=all").want(200).says("none in their log", "Nothing more of it can go out", "3 of 3")
	h.as(t, "author").post("/installation/restore/compare-batches", url.Values{"reason": {"x"}, "batch": {string(kept)}}).want(403)
	rows, broken, err := h.Store.ListHistory(t.Context(), operation.SubjectBatch, string(kept))
	if err != nil || broken != 0 || rows[len(rows)-1].Action != "restore_compared" {
		t.Errorf("%d entries, broken at %d, %v", len(rows), broken, err)
	}
}
