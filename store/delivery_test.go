package store_test

import (
	"testing"

	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestDeliveryStatus keeps what was really answered: for a repeat, for a conflict, and
// for a new event whose run is there already.
func TestDeliveryStatus(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	answers := map[store.Verdict]int{store.VerdictRepeated: 200, store.VerdictConflict: 422}
	send := func(in store.Received, want store.Verdict, status int) {
		t.Helper()
		in.Status, in.StatusOf = 201, answers
		r := receive(t, f, in, want)
		if n := f.Count(t, "deliveries WHERE id = $1 AND verdict = $2 AND status = $3 AND reason = $4", string(r.Delivery), string(want), status, r.Reason); n != 1 {
			t.Errorf("%s is not listed with status %d", want, status)
		}
	}
	first := storetest.CampaignEvent()
	send(first, store.VerdictAccepted, 201)
	send(first, store.VerdictRepeated, 200)
	other := first
	other.Body = []byte(`{"other":1}`)
	send(other, store.VerdictConflict, 422)
	again := storetest.CampaignEvent() // another event, of the same run
	again.ActionRunID = first.ActionRunID
	send(again, store.VerdictRepeated, 200)
	held := storetest.CouponEvent()
	held.BusinessKey = "one"
	send(held, store.VerdictAccepted, 201)
	twin := storetest.CouponEvent()
	twin.BusinessKey = "one"
	send(twin, store.VerdictHeld, 201)
}
