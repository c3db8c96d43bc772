package storetest

import (
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
)

func TestFixture(t *testing.T) {
	t.Parallel()
	NewFixture(t)
	begin := time.Now()
	f := NewFixture(t)
	t.Log(time.Since(begin))
	if len(f.Users) != len(cast) {
		t.Errorf("people: %v", f.Users)
	}
	for name, in := range map[string]store.Received{"coupon": CouponEvent(), "invoice": InvoiceEvent(), "note": NoteEvent(), "campaign": CampaignEvent()} {
		if n := len(f.Receive(t, in)); n == 0 {
			t.Errorf("%s started nothing", name)
		}
	}
	if s := f.State(t, f.Ready(t)); s != operation.Ready {
		t.Errorf("Ready gives an operation in %s", s)
	}
}
