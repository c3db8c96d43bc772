package jobs

import (
	"context"
	"slices"
	"testing"

	"holdpoint/connector/connectortest"
	"holdpoint/operation"
	"holdpoint/store"
)

// disputed disputes a confirmed operation and waits until its lookup has given a result.
func (w *world) disputed(id operation.ID, result operation.LookupResult) {
	w.t.Helper()
	before := w.untilState(id, operation.Confirmed)
	if err := w.store.Dispute(context.Background(), w.ops[0], w.shown(id), ""); err != nil {
		w.t.Fatal(err)
	}
	w.lookedUp(id, len(before.Lookups), result)
}

// lookedUp waits for one lookup more than there were, and checks that it decided nothing.
func (w *world) lookedUp(id operation.ID, before int, result operation.LookupResult) {
	w.t.Helper()
	s := w.until(id, "looked up", func(s seen) bool { return len(s.Lookups) > before })
	if s.Lookups[before] != string(result) {
		w.t.Errorf("the lookup gave %s, want %s", s.Lookups[before], result)
	}
	w.underDispute(id)
}

// underDispute checks that the reviewer's decision is what comes next.
func (w *world) underDispute(id operation.ID) {
	w.t.Helper()
	if s := w.see(id); s.State != string(operation.Review) || s.ConfirmedBy != "" || s.Next != string(operation.DecideReconcile) {
		w.t.Errorf("nobody settled the dispute, and it is %+v", s)
	}
}

// rest stops a worker: what it learns would make a form that is shown meanwhile out of date.
func (w *world) rest(worker *Worker) {
	w.t.Helper()
	if err := worker.Stop(context.Background()); err != nil {
		w.t.Fatal(err)
	}
}

// TestDisputeIsSettledByAPerson: a lookup that finds what is disputed, planned or asked for, and
// what the destination tells decide nothing. Then a person does, and it stays so.
func TestDisputeIsSettledByAPerson(t *testing.T) {
	t.Run("ItIsThere", func(t *testing.T) {
		t.Parallel()
		w, ctx := newWorld(t, "10s"), context.Background()
		worker := w.work()
		id := w.ready("crm")
		w.disputed(id, operation.LookupOne)
		ref := w.box.Ledger(t, "crm", string(id))[0].ID
		if n := w.count(`id = '` + string(id) + `' AND lookup_at IS NULL AND last_lookup = 'one'`); n != 1 {
			t.Error("it was found, and is looked for again")
		}
		var c operation.CaseID
		if err := w.db.QueryRow(`SELECT id FROM recovery_cases WHERE operation_id = $1 AND closed_at IS NULL`, string(id)).Scan(&c); err != nil {
			t.Fatal(err)
		}
		before := len(w.see(id).Lookups)
		if err := w.store.AskLookup(ctx, w.ops[0], c); err != nil {
			t.Fatal(err)
		}
		w.lookedUp(id, before, operation.LookupOne)
		if err := w.store.RecordCallback(ctx, store.System("api"), store.Callback{Operation: id, Destination: "crm", Kind: operation.NewsEffect, Reference: ref, Body: `{"id":"` + ref + `"}`}); err != nil {
			t.Fatal(err)
		}
		w.underDispute(id)
		w.rest(worker)
		if err := w.store.ConfirmDone(ctx, w.ops[0], w.shown(id), store.Reference{ID: ref}); err != nil {
			t.Fatal(err)
		}
		if s := w.see(id); s.State != string(operation.Confirmed) || s.ConfirmedBy != "person" || s.Reference != ref {
			t.Errorf("%+v", s)
		}
		w.effects("crm", id, 1)
	})
	t.Run("ItIsNot", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "10s")
		id := w.draft("crm")
		w.box.Fault(t, connectortest.Fault{Destination: "crm", Fault: "status_before_execute", Status: 201, Body: `{"id":"TSK-0","reference":"` + string(id) + `"}`})
		w.work()
		w.approve(id)
		w.disputed(id, operation.LookupNone) // the 201 was false
		w.effects("crm", id, 0)
		w.nothingHappened(id, false)
		s := w.untilState(id, operation.NotExecuted)
		if slices.Contains(s.Lookups, string(operation.LookupOne)) || w.count(`id = '`+string(id)+`' AND lookup_at IS NULL`) != 1 {
			t.Errorf("%+v", s)
		}
		if w.posts("crm") != 1 {
			t.Error("it was sent again")
		}
	})
	t.Run("ItIsNotAndGoesOutAgain", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "10s")
		id := w.draft("crm")
		w.box.Fault(t, connectortest.Fault{Destination: "crm", Fault: "status_before_execute", Status: 201, Body: `{"id":"TSK-0","reference":"` + string(id) + `"}`})
		worker := w.work()
		w.approve(id)
		w.disputed(id, operation.LookupNone)
		w.nothingHappened(id, true)
		w.rest(worker)
		w.permitAgain(id)
		w.work()
		if s := w.untilState(id, operation.Confirmed); s.ConfirmedBy != "destination" || s.Reference == "TSK-0" {
			t.Errorf("%+v", s)
		}
		w.effects("crm", id, 1)
	})
}
