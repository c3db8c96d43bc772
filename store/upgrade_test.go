package store_test

import (
	"database/sql"
	"fmt"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestUpgrade brings databases of earlier versions, with an operation in every state, to
// the newest schema: nothing is lost, every history verifies, work goes on.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	for _, version := range storetest.ReleasedVersions {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			t.Parallel()
			ownerURL, appURL := storetest.NewReleased(t, version)
			owner, err := sql.Open("postgres", ownerURL)
			ok(t, err)
			t.Cleanup(func() { owner.Close() })
			before := states(t, owner)
			if len(before) < len(operation.States) {
				t.Fatalf("only %d operations before the upgrade", len(before))
			}
			ok(t, store.Migrate(t.Context(), ownerURL, "holdpoint_app"))
			f := &storetest.Fixture{OwnerURL: ownerURL, AppURL: appURL, Owner: owner}
			f.Store = f.Open(t, appURL)
			f.FindUsers(t)
			after := states(t, owner)
			for id, state := range before {
				if after[id] != state {
					t.Errorf("%s was %s, is %q", id, state, after[id])
				}
				whole(t, f.Store, operation.SubjectOperation, string(id))
				if _, err := f.Store.FindOperation(t.Context(), f.As("ops"), id); err != nil {
					t.Errorf("%s, %s: %v", id, state, err)
				}
			}
			goesOn(t, f)
		})
	}
}

// goesOn does one of everything that an upgraded database must still permit.
func goesOn(t *testing.T, f *storetest.Fixture) {
	t.Helper()
	in, err := f.Store.ListInbox(t.Context(), f.As("ops"))
	ok(t, err)
	if len(in.Rows) == 0 {
		t.Error("nothing waits for the ops owner")
	}
	for id, state := range states(t, f.Owner) {
		if state == operation.PendingApproval {
			_, err := f.Store.FindOperation(t.Context(), f.As("lead"), id)
			ok(t, err)
		}
	}
	event := storetest.CouponEvent()
	event.EventKey, event.DeliveryKey = "evt-after", "dlv-after" // the old rows hold the first numbers
	event.Data = map[string]any{"code": "CODE-AFTER", "percent_off": 10, "name": "After the upgrade"}
	event.Body = []byte(`{"code": "CODE-AFTER", "percent_off": 10, "name": "After the upgrade"}`)
	s := &stand{f: f, t: t, id: f.Receive(t, event)[0]}
	f.Approve(t, s.id, "lead")
	s.send()
	s.report(effect(ref(s.id)))
	if got := f.State(t, s.id); got != operation.Confirmed {
		t.Errorf("a new operation ends %s", got)
	}
}

func states(t *testing.T, db *sql.DB) map[operation.ID]operation.State {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT id, state FROM operations`)
	ok(t, err)
	defer rows.Close()
	out := map[operation.ID]operation.State{}
	for rows.Next() {
		var id operation.ID
		var state operation.State
		ok(t, rows.Scan(&id, &state))
		out[id] = state
	}
	ok(t, rows.Err())
	return out
}
