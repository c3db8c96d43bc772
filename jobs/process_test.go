package jobs

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"holdpoint/connector"
	"holdpoint/connector/connectortest"
	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/pglocal"
)

// FC-30: a worker is frozen, its lease ends, another worker takes over, it wakes up.
func TestFC30_WorkerFrozen(t *testing.T) {
	t.Run("BeforeTheCall_SendsNothingWhenItWakesAfterSendBy", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "1s")
		first := w.startChild(beforeAct)
		id := w.ready("plain")
		first.await(beforeAct)
		first.freeze()
		w.work()
		w.untilState(id, operation.Review) // lease over, dispatched, nothing protects: a person decides
		first.goOn()
		first.await(afterAct)
		w.until(id, "reported late", func(s seen) bool { return w.history(id, "late_report") == 1 })
		s := w.see(id)
		if s.State != "review" || !slices.Equal(s.Attempts, []string{"unknown"}) {
			t.Errorf("%+v", s)
		}
		w.effects("plain", id, 0)
		if n := w.posts("plain"); n != 0 {
			t.Errorf("%d requests left after send_by", n)
		}
	})

	t.Run("BeforeTheCall_TheSecondWorkerMakesTheOnlyEffect", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "1s")
		first := w.startChild(beforeAct)
		id := w.ready("billing")
		first.await(beforeAct)
		first.freeze()
		w.work()
		w.untilState(id, operation.Confirmed) // by a protected retry with the same key
		first.goOn()
		first.await(afterAct)
		w.until(id, "reported late", func(s seen) bool { return w.history(id, "late_report") == 1 })
		if s := w.see(id); s.State != "confirmed" || !slices.Equal(s.Attempts, []string{"unknown", "confirmed"}) {
			t.Errorf("%+v", s)
		}
		w.effects("billing", id, 1)
		if n := w.posts("billing"); n != 1 {
			t.Errorf("%d requests, want 1: the frozen worker must not send", n)
		}
	})

	t.Run("AfterTheAnswer_TheLateResultSettlesTheUnknown", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "4s") // longer than a busy machine takes to send: what is late is not sent
		first := w.startChild(afterAct)
		id := w.ready("plain")
		first.await(afterAct)
		first.freeze()
		w.work()
		w.untilState(id, operation.Review)
		first.goOn()
		s := w.untilState(id, operation.Confirmed) // evidence of an effect confirms any open state
		if !slices.Equal(s.Attempts, []string{"unknown"}) || w.history(id, "late_report") != 1 {
			t.Errorf("%+v", s)
		}
		w.effects("plain", id, 1)
		if n := w.posts("plain"); n != 1 {
			t.Errorf("%d requests, want 1", n)
		}
	})
}

// A worker is killed at each point of an attempt.
func TestWorkerKilled(t *testing.T) {
	t.Run("BetweenClaimAndCall", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "1s")
		first := w.startChild(beforeAct)
		id := w.ready("crm")
		first.await(beforeAct)
		first.kill()
		w.work()
		// The lookup finds nothing, for good: a miss is not a proof, so a person decides.
		s := w.untilState(id, operation.Review)
		if !slices.Equal(s.Attempts, []string{"unknown"}) || s.Codes[0] != "lease_ended_after_dispatch" || !slices.Contains(s.Lookups, "none") {
			t.Errorf("%+v", s)
		}
		w.effects("crm", id, 0)
	})

	t.Run("AfterTheCallBeforeTheRecord", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "4s") // longer than a busy machine takes to send: what is late is not sent
		first := w.startChild(afterAct)
		id := w.ready("crm")
		first.await(afterAct)
		first.kill()
		w.work()
		s := w.untilState(id, operation.Confirmed)
		if !slices.Equal(s.Attempts, []string{"unknown"}) || !slices.Contains(s.Lookups, "one") {
			t.Errorf("%+v", s)
		}
		w.effects("crm", id, 1)
		if n := w.posts("crm"); n != 1 {
			t.Errorf("%d requests, want 1", n)
		}
	})

	t.Run("WithAWakeUpInHand", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "10s")
		id := w.ready("crm")
		if _, err := w.db.Exec(`UPDATE river_job SET state = 'running', attempt = 1, attempted_at = now(), attempted_by = ARRAY['gone']`); err != nil {
			t.Fatal(err)
		}
		w.work()
		w.untilState(id, operation.Confirmed)
		w.effects("crm", id, 1)
	})
}

// FC-31: the unit of retry is the unit of effect, whatever happens to the process.
func TestFC31_WorkerStoppedInTheMiddleOfMany(t *testing.T) {
	for _, how := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		t.Run(how.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "2s")
			const all = 50
			var ids []operation.ID
			for range all {
				ids = append(ids, w.ready("crm"))
			}
			first := w.startChild(nowhere)
			for range 20 {
				first.await(afterAct)
			}
			if how == syscall.SIGKILL {
				first.kill()
			} else {
				first.signal(syscall.SIGTERM)
				first.await("stopped")
			}
			done, open := w.count(`state = 'confirmed'`), w.count(`open_attempt IS NOT NULL`)
			if how == syscall.SIGTERM && open != 0 {
				t.Errorf("%d attempts are open after an orderly stop", open)
			}
			if done < 19 || done+open >= all || open > 1 {
				t.Errorf("%d confirmed, %d open of %d", done, open, all)
			}
			w.startChild(nowhere) // a process that starts again
			w.work()
			for _, id := range ids {
				w.untilState(id, operation.Confirmed)
				w.effects("crm", id, 1)
			}
			if n := w.posts("crm"); n < all || n > all+1 {
				t.Errorf("%d requests for %d operations", n, all)
			}
		})
	}
}

// FC-33: a sweep never overwrites what is known.
func TestFC33_SweepsChangeNothingThatIsSettled(t *testing.T) {
	t.Run("ConfirmedIsNeverLowered", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "4s")
		worker := w.work(func(c *Config) { c.Sweep = time.Hour })
		id := w.ready("crm")
		want := w.untilState(id, operation.Confirmed)
		if err := worker.Stop(context.Background()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(4500 * time.Millisecond) // the lease is over
		for range 2 {
			if n, err := w.store.SweepLeases(context.Background(), store.System("job")); n != 0 || err != nil {
				t.Errorf("swept %d, %v", n, err)
			}
		}
		if got := w.see(id); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%+v became %+v", want, got)
		}
	})

	t.Run("TwoSweepsAndALateResultAtOnce", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "1s")
		type claim struct {
			id operation.ID
			d  store.Dispatched
		}
		var claims []claim
		for range 8 {
			id := w.ready("plain")
			d, err := w.store.ClaimAndDispatch(context.Background(), store.Job("gone"), id, "gone")
			if err != nil {
				t.Fatal(err)
			}
			claims = append(claims, claim{id, d})
		}
		time.Sleep(time.Until(claims[len(claims)-1].d.LeaseUntil) + 300*time.Millisecond)
		ended := make(chan error, 20)
		for range 2 {
			go func() {
				_, err := w.store.SweepLeases(context.Background(), store.System("job"))
				ended <- err
			}()
		}
		for i, c := range claims {
			go func() {
				_, err := w.store.Record(context.Background(), store.Job("gone"), c.d.Attempt, c.d.Fence, operation.Result{Outcome: operation.OutcomeConfirmed,
					TargetReference: fmt.Sprint("thing-", i), Proof: operation.Proof{Code: "created", Status: 201}})
				ended <- err
			}()
		}
		for range 2 + len(claims) {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		for i, c := range claims {
			s := w.see(c.id)
			if s.State != "confirmed" || s.Reference != fmt.Sprint("thing-", i) || len(s.Attempts) != 1 {
				t.Errorf("%+v", s)
			}
		}
	})
}

func TestStop(t *testing.T) {
	t.Run("FinishesWhatIsInFlightAndClaimsNoMore", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "10s")
		sent := make(chan struct{})
		worker := w.work(around(func(connector.Order) { close(sent); time.Sleep(200 * time.Millisecond) }, nil), func(c *Config) { c.Effects = 1 })
		first := w.ready("crm")
		<-sent
		second := w.ready("crm")
		if err := worker.Stop(context.Background()); err != nil {
			t.Fatal(err)
		}
		if s := w.see(first); s.State != "confirmed" {
			t.Errorf("in flight: %+v", s)
		}
		if s := w.see(second); s.State != "ready" || len(s.Attempts) != 0 {
			t.Errorf("not taken: %+v", s)
		}
		w.work()
		w.untilState(second, operation.Confirmed)
	})

	t.Run("ParksWhatDoesNotFinishAsUnknown", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "10s")
		w.box.Fault(t, connectortest.Fault{Destination: "plain", Fault: "stall_after_execute"})
		worker := w.work(func(c *Config) { c.StopTimeout = 50 * time.Millisecond })
		id := w.ready("plain")
		if !w.box.WaitEffects(t, "plain", string(id), 1, 10*time.Second) {
			t.Fatal("the request did not arrive")
		}
		if err := worker.Stop(context.Background()); err != nil {
			t.Fatal(err)
		}
		if s := w.see(id); s.State != "review" || !slices.Equal(s.Attempts, []string{"unknown"}) {
			t.Errorf("%+v", s)
		}
	})
}

// The database goes away while a request is under way: the outcome is kept and written
// when it is back.
func TestDatabaseRestartsWhileARequestIsUnderWay(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	pg, err := pglocal.Start(ctx, pglocal.Config{Volatile: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pg.Stop(ctx) })
	if err := store.Migrate(ctx, pg.OwnerURL(""), "holdpoint_app"); err != nil {
		t.Fatal(err)
	}
	w := worldAt(t, pg.AppURL(""), "20s")
	first := make(chan struct{}, 10)
	w.work(around(nil, func(o connector.Order, _ operation.Result) {
		select {
		case first <- struct{}{}:
		default:
			return
		}
		if err := pg.Restart(ctx); err != nil { // answered, not recorded
			t.Error(err)
		}
	}))
	id := w.ready("plain")
	<-first
	s := w.untilState(id, operation.Confirmed)
	if !slices.Equal(s.Attempts, []string{"confirmed"}) {
		t.Errorf("%+v", s)
	}
	w.effects("plain", id, 1)
	after := w.ready("crm") // and everything goes on
	w.untilState(after, operation.Confirmed)
	w.effects("crm", after, 1)
}
