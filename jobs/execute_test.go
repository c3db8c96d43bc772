package jobs

import (
	"context"
	"sync"
	"testing"
	"time"

	"holdpoint/connector"
	"holdpoint/connector/connectortest"
	"holdpoint/operation"
	"holdpoint/store"
)

func TestExecute(t *testing.T) {
	t.Run("OneApprovalMakesOneEffect", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "10s")
		w.work(func(c *Config) { c.Sweep = time.Hour }) // the wake-up alone must do
		for _, destination := range []string{"crm", "billing", "plain"} {
			id := w.ready(destination)
			s := w.untilState(id, operation.Confirmed)
			if s.Reference == "" || s.ConfirmedBy != "destination" || len(s.Attempts) != 1 {
				t.Errorf("%s: %+v", destination, s)
			}
			w.effects(destination, id, 1)
		}
	})

	t.Run("NothingIsSentBeforeTheApproval", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "10s")
		worker := w.work()
		id := w.draft("crm")
		if err := worker.execute(t.Context(), id, "crm"); err != nil {
			t.Fatal(err)
		}
		if s := w.see(id); s.State != "pending_approval" || len(s.Attempts) != 0 || w.posts("crm") != 0 {
			t.Errorf("%+v, %d requests", s, w.posts("crm"))
		}
	})

	t.Run("TwentyWorkersAtOnceMakeOneEffect", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "10s")
		stores := []*store.Store{w.store, openStore(t, w.url)}
		var workers []*Worker
		for i := range 20 {
			worker, err := New(Config{Store: stores[i%2], Log: quiet(t), PollOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			workers = append(workers, worker)
		}
		for range 5 {
			id := w.ready("crm")
			var all sync.WaitGroup
			for _, worker := range workers {
				all.Go(func() { _ = worker.execute(context.Background(), id, "crm") })
			}
			all.Wait()
			if s := w.see(id); s.State != "confirmed" || len(s.Attempts) != 1 {
				t.Errorf("%+v", s)
			}
			w.effects("crm", id, 1)
		}
		if n := w.posts("crm"); n != 5 {
			t.Errorf("%d requests for 5 operations", n)
		}
	})

	t.Run("ALostWakeUpIsFoundByTheSweep", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "10s")
		id := w.ready("crm")
		w.loseWakes()
		w.work()
		w.untilState(id, operation.Confirmed)
		w.effects("crm", id, 1)
	})

	t.Run("ASlowDestinationDoesNotHoldUpTheOthers", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "10s")
		w.box.Fault(t, connectortest.Fault{Destination: "plain", Fault: "slow", Times: connectortest.Forever, Delay: 350 * time.Millisecond})
		w.work(func(c *Config) { c.Effects = 4 })
		for range 12 {
			w.ready("plain")
		}
		fast := w.ready("crm")
		start := time.Now()
		w.untilState(fast, operation.Confirmed)
		if took := time.Since(start); took > time.Second {
			t.Errorf("the CRM waited %v for another destination", took)
		}
	})

	t.Run("ADestinationIsNotUsedAboveItsLimit", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "10s")
		var mu sync.Mutex
		now, most := 0, 0
		count := func(n int) {
			mu.Lock()
			defer mu.Unlock()
			now += n
			most = max(most, now)
		}
		w.work(around(func(connector.Order) { count(1); time.Sleep(20 * time.Millisecond) },
			func(connector.Order, operation.Result) { count(-1) }))
		var ids []operation.ID
		for range 10 {
			ids = append(ids, w.ready("plain"))
		}
		for _, id := range ids {
			w.untilState(id, operation.Confirmed)
		}
		if most > 2 {
			t.Errorf("%d requests at once, the profile says 2", most)
		}
	})
}

func TestLostAnswer(t *testing.T) {
	t.Run("FC22_UnknownThenConfirmedByLookup", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "10s")
		w.box.Fault(t, connectortest.Fault{Destination: "crm", Fault: "drop_after_execute"})
		w.work()
		id := w.ready("crm")
		s := w.untilState(id, operation.Confirmed)
		if len(s.Attempts) != 1 || s.Attempts[0] != "unknown" || s.Lookups[len(s.Lookups)-1] != "one" || s.Reference == "" {
			t.Errorf("%+v", s)
		}
		w.effects("crm", id, 1)
		if w.posts("crm") != 1 {
			t.Errorf("%d requests, want 1", w.posts("crm"))
		}
	})

	t.Run("FC22_WithoutProtectionAPersonDecides", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "10s")
		w.box.Fault(t, connectortest.Fault{Destination: "plain", Fault: "stall_after_execute"})
		w.work()
		id := w.ready("plain")
		s := w.untilState(id, operation.Review)
		if len(s.Attempts) != 1 || s.Attempts[0] != "unknown" || s.Next != "reconcile" {
			t.Errorf("%+v", s)
		}
		time.Sleep(300 * time.Millisecond) // some sweeps
		w.effects("plain", id, 1)
		if w.posts("plain") != 1 {
			t.Errorf("%d requests, want 1", w.posts("plain"))
		}
	})

	t.Run("FC22_RefusedConnectionIsNotStartedAndTriedAgain", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "10s")
		w.box.Fault(t, connectortest.Fault{Destination: "crm", Fault: "status_before_execute", Status: 429})
		w.work()
		id := w.ready("crm")
		s := w.untilState(id, operation.Confirmed)
		if len(s.Attempts) != 2 || s.Attempts[0] != "not_started" || s.Attempts[1] != "confirmed" {
			t.Errorf("%+v", s)
		}
		w.effects("crm", id, 1)
	})

	t.Run("ALaterRefusalNeverHidesAnEarlierUnknown", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "10s")
		w.box.Fault(t, connectortest.Fault{Destination: "billing", Fault: "drop_after_execute", Times: 1})
		w.box.Fault(t, connectortest.Fault{Destination: "billing", Fault: "status_before_execute", Status: 429, Times: 1})
		w.work()
		id := w.ready("billing")
		s := w.until(id, "refused the second time", func(s seen) bool { return len(s.Attempts) > 1 && s.Attempts[1] != "open" })
		if s.Attempts[0] != "unknown" || s.Attempts[1] != "not_started" || s.State == "retry_scheduled" || s.State == "ready" {
			t.Errorf("%+v", s)
		}
		s = w.untilState(id, operation.Confirmed)
		if got := s.Attempts[len(s.Attempts)-1]; got != "confirmed" {
			t.Errorf("%+v", s)
		}
		w.effects("billing", id, 1)
	})
}
