package handlers_test

import (
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestEffectOfARestoredOperation: an operation that waits for approval in an older copy of
// the database may have been sent since; a person who finds its effect states it on its page.
func TestEffectOfARestoredOperation(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.Receive(t, storetest.CouponEvent())[0]
	ops := h.as(t, "ops")
	if ops.get(opPath(id)).want(200).has("form-evidence") != nil {
		t.Error("evidence is asked for although nothing can have been sent")
	}
	lost := int64(3)
	if err := h.Store.PauseForWitness(t.Context(), store.Mismatch{Word: store.MismatchOlder, Since: time.Now().Add(-time.Hour), Until: time.Now(), Missing: &lost}); err != nil {
		t.Fatal(err)
	}
	if n, err := h.Store.MarkRestored(t.Context(), store.System("job")); n != 1 || err != nil {
		t.Fatalf("%d marked: %v", n, err)
	}
	page := ops.get(opPath(id)).want(200)
	ops.submit(page, "form-evidence", "evidence", "It stands in their list.", "reference", "SPRING-10").want(303)
	if s := h.State(t, id); s != operation.Confirmed {
		t.Errorf("its effect was stated, and it is %s", s)
	}
	if _, err := h.Store.MarkRestored(t.Context(), store.System("job")); err != nil {
		t.Fatal(err)
	}
	ops.get("/installation/restore").want(200).says("1 of 1")
}
