package store_test

import (
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestBlockedRunHasAnOwner: a stage that is closed without effect and blocks the run is
// the owner's open decision until the run goes on.
func TestBlockedRunHasAnOwner(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	page := func(id operation.ID) *store.OperationPage {
		t.Helper()
		p, err := f.Store.FindOperation(t.Context(), f.As("ops"), id)
		ok(t, err)
		return p
	}
	shown := func(id operation.ID, reason string) store.Shown {
		return store.Shown{Operation: id, Revision: page(id).Revision, FormID: store.NewFormID(), Reason: reason}
	}
	blocked := func(t *testing.T) operation.ID {
		t.Helper()
		id := f.Receive(t, storetest.CampaignEvent())[0]
		d := f.Decision(t, id, operation.Reject)
		d.Reason = "not this customer"
		ok(t, f.Store.Decide(t.Context(), f.As("lead"), d))
		p := page(id)
		if p.State != operation.Rejected || p.Remedy != "blocked" || p.NextKind != string(operation.DecideRemedy) || p.NextRole != operation.RoleApprover {
			t.Fatalf("state %s, remedy %q, next %s by %s", p.State, p.Remedy, p.NextKind, p.NextRole)
		}
		return id
	}
	t.Run("GoOnWithout", func(t *testing.T) {
		id := blocked(t)
		ok(t, f.Store.GoOnWithout(t.Context(), f.As("lead"), shown(id, "the mail is enough")))
		if p := page(id); p.Remedy != "" || p.NextKind != "" {
			t.Errorf("remedy %q, next %q", p.Remedy, p.NextKind)
		}
	})
	t.Run("Replaced", func(t *testing.T) {
		id := blocked(t)
		_, err := f.Store.Replace(t.Context(), f.As("lead"), shown(id, "other words"), store.Replacement{Content: page(id).Current().Content(), Submit: true})
		ok(t, err)
		if p := page(id); p.Remedy != "" || p.NextKind != "" {
			t.Errorf("remedy %q, next %q", p.Remedy, p.NextKind)
		}
	})
	t.Run("LastStage", func(t *testing.T) {
		id := f.Receive(t, storetest.CouponEvent())[0]
		ok(t, f.Store.Cancel(t.Context(), f.As("lead"), shown(id, "not needed")))
		if p := page(id); p.Remedy != "" {
			t.Errorf("remedy %q where nothing waits", p.Remedy)
		}
	})
}
