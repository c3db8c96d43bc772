package jobs

import (
	"context"
	"slices"
	"testing"
	"time"

	"holdpoint/connector/connectortest"
	"holdpoint/operation"
	"holdpoint/store"
)

// notDone lets an ops owner state that nothing happened and ask for one attempt more.
func (w *world) notDone(id operation.ID) { w.nothingHappened(id, true) }

// nothingHappened lets an ops owner state so, and perhaps ask for one attempt more.
func (w *world) nothingHappened(id operation.ID, again bool) {
	w.t.Helper()
	ctx := context.Background()
	var answers store.Answers
	for _, item := range operation.Checklist {
		answers = append(answers, operation.Answer{Item: item, Yes: true, Comment: "checked"})
	}
	limit := time.Now().Add(10 * time.Second)
	for {
		err := w.store.ConfirmNotDone(ctx, w.ops[0], w.shown(id), answers, again)
		if err == nil {
			break
		}
		if time.Now().After(limit) { // refused until what was sent can no longer take effect
			w.t.Fatalf("not done: %v", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (w *world) permitAgain(id operation.ID) {
	w.t.Helper()
	if err := w.store.DecideReexecution(context.Background(), w.ops[1], w.shown(id), true); err != nil {
		w.t.Fatalf("permit: %v", err)
	}
}

// shown is what a form about the operation shows now.
func (w *world) shown(id operation.ID) store.Shown {
	w.t.Helper()
	s := store.Shown{Operation: id, FormID: time.Now().String(), Reason: "the destination's log shows nothing"}
	if err := w.db.QueryRow(`SELECT revision FROM operations WHERE id = $1`, string(id)).Scan(&s.Revision); err != nil {
		w.t.Fatal(err)
	}
	return s
}

// age makes the newest lookup older than the gate accepts before a re-execution.
func (w *world) age(id operation.ID) {
	w.t.Helper()
	if _, err := w.db.Exec(`UPDATE operations SET last_lookup_at = last_lookup_at - interval '20 minutes' WHERE id = $1`, string(id)); err != nil {
		w.t.Fatal(err)
	}
}

func TestReexecution(t *testing.T) {
	t.Run("AsksTheDestinationOnceMoreAndThenActs", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "10s")
		w.box.Fault(t, connectortest.Fault{Destination: "crm", Fault: "drop_before_execute"})
		worker := w.work()
		id := w.ready("crm")
		w.untilState(id, operation.Review) // three misses: a person decides
		w.notDone(id)
		if err := worker.Stop(context.Background()); err != nil {
			t.Fatal(err)
		}
		before := len(w.see(id).Lookups)
		w.permitAgain(id)
		w.age(id)
		w.work()
		s := w.untilState(id, operation.Confirmed)
		if !slices.Equal(s.Attempts, []string{"unknown", "confirmed"}) || len(s.Lookups) <= before {
			t.Errorf("%+v; %d lookups before", s, before)
		}
		w.effects("crm", id, 1)
	})

	t.Run("SendsNothingWhenTheLookupFindsTheEffect", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "10s")
		// The request takes effect long after the caller has left.
		w.box.Fault(t, connectortest.Fault{Destination: "crm", Fault: "slow", Delay: longAfter})
		worker := w.work()
		id := w.ready("crm")
		w.untilState(id, operation.Review)
		w.notDone(id)
		if err := worker.Stop(context.Background()); err != nil {
			t.Fatal(err)
		}
		w.permitAgain(id)
		w.age(id)
		w.box.Advance(t, longAfter)
		if !w.box.WaitEffects(t, "crm", string(id), 1, 10*time.Second) {
			t.Fatal("the late effect did not come")
		}
		w.work()
		s := w.untilState(id, operation.Confirmed)
		if !slices.Equal(s.Attempts, []string{"unknown"}) || s.Lookups[len(s.Lookups)-1] != "one" {
			t.Errorf("%+v", s)
		}
		w.effects("crm", id, 1)
		if n := w.posts("crm"); n != 1 {
			t.Errorf("%d requests, want 1", n)
		}
	})
}
