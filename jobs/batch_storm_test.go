package jobs

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"holdpoint/connector/connectortest"
	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/pglocal"
)

// stormEnv names the environment variable with the number of items of the storm, where a few
// hundred are too few.
const stormEnv = "HOLDPOINT_TEST_STORM"

// stormFaults are what goes wrong at the destination, each as often as the others.
var stormFaults = []connectortest.Fault{
	{Fault: "drop_after_execute"}, {Fault: "drop_before_execute"}, {Fault: "stall_after_execute", Delay: 600 * time.Millisecond}, {Fault: "empty_body"}, {Fault: "cut_body"},
	{Fault: "status_before_execute", Status: 503}, {Fault: "status_before_execute", Status: 401}, {Fault: "status_after_execute", Status: 500}, {Fault: "refuse"},
	{Fault: "slow", Delay: 700 * time.Millisecond}, {Fault: "html_200"},
}

// storm is a batch while processes die and the destination misbehaves.
type storm struct {
	*world
	pg      *pglocal.Server
	n       int
	rnd     *rand.Rand
	workers []*process
	deaths  int
}

// A batch goes out while workers are killed, PostgreSQL is killed and started again, and one
// request of ten is spoilt. In the end each confirmed item has exactly one effect, each other
// one none, no item is missing, the counts add up, and the histories verify.
func TestBatchInAStorm(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	n := 160
	if v, err := strconv.Atoi(os.Getenv(stormEnv)); err == nil && v > 0 {
		n = v
	}
	pg, err := pglocal.Start(ctx, pglocal.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pg.Stop(ctx) })
	if err := store.Migrate(ctx, pg.OwnerURL(""), "holdpoint_app"); err != nil {
		t.Fatal(err)
	}
	s := &storm{world: worldAt(t, pg.AppURL(""), "2s"), pg: pg, n: n, rnd: rand.New(rand.NewPCG(7, uint64(n)))}
	begun := time.Now()
	for range 2 {
		s.workers = append(s.workers, s.startChild(busy))
	}
	id := s.batch("crm", n, neverPause)
	s.blow(id)
	asked := s.finish(id)
	t.Logf("%d items in %.1f s, %d workers killed, PostgreSQL killed once, %d items settled by people", n, time.Since(begun).Seconds(), s.deaths, asked)
}

// A batch goes out while PostgreSQL ends every connection of its workers, again and again: in
// the middle of claims, of commits and of outcomes. What is confirmed was done once, and
// nothing is lost. Where an answer to a commit was lost nothing was sent, and people say so.
func TestBatchWithCutConnections(t *testing.T) {
	t.Parallel()
	const n, cuts = 200, 16
	s := &storm{world: newWorld(t, "2s"), n: n, rnd: rand.New(rand.NewPCG(11, n))}
	s.box.Fault(t, connectortest.Fault{Destination: "crm", Fault: "slow", Delay: 25 * time.Millisecond, Times: connectortest.Forever})
	s.work()
	s.work()
	id := s.batch("crm", n, neverPause)
	ended := 0
	for i := range cuts {
		s.batchIs(id, "so far", `(SELECT count(*) FROM operations o WHERE o.batch_id = b.id AND o.attempts_ever > 0) >= `+strconv.Itoa((i+1)*n/(cuts+2)), 30*time.Second)
		ended += s.cut()
	}
	if ended < cuts {
		t.Errorf("%d connections were cut", ended)
	}
	asked := s.finish(id)
	if posts := s.posts("crm"); posts < n-asked {
		t.Errorf("%d requests", posts)
	}
	t.Logf("%d connections cut, %d items settled by people", ended, asked)
}

// cut ends all connections to the database but the one that asks for it.
func (s *storm) cut() (n int) {
	s.t.Helper()
	if err := s.db.QueryRow(`SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()`).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// finish waits until all is settled, lets people decide about what is left to them, and
// compares the record with the ledger. It gives how many were left to people.
func (s *storm) finish(id operation.BatchID) (asked int) {
	s.t.Helper()
	limit := time.Duration(60+s.n/50) * time.Second
	s.batchIs(id, "settled but for people", `released = total AND NOT EXISTS (SELECT 1 FROM operations o WHERE o.batch_id = b.id AND o.state NOT IN ('confirmed', 'review'))`, limit)
	for round := range 5 { // what was permitted once more may get stuck once more
		n := s.settle(id, round == 0)
		if asked += n; n == 0 {
			break
		}
		s.batchIs(id, "settled", `NOT EXISTS (SELECT 1 FROM operations o WHERE o.batch_id = b.id AND o.state NOT IN ('confirmed', 'review', 'not_executed'))`, limit)
	}
	s.batchIs(id, "closed", `state = 'closed'`, 30*time.Second)
	s.check(id)
	return asked
}

// blow spoils requests and kills processes until everything is released and tried.
func (s *storm) blow(id operation.BatchID) {
	var wg sync.WaitGroup
	over := make(chan struct{})
	wg.Go(func() {
		for spoilt := 0; ; {
			select {
			case <-over:
				return
			case <-time.After(20 * time.Millisecond):
				var tried int // the database is away at times
				if err := s.db.QueryRow(`SELECT count(*) FROM operations WHERE batch_id = $1 AND attempts_ever > 0`, string(id)).Scan(&tried); err != nil || tried < 10*spoilt {
					continue
				}
				spoilt++
				f := stormFaults[s.rnd.IntN(len(stormFaults))]
				f.Destination = "crm"
				s.box.Fault(s.t, f)
			}
		}
	})
	part := func(share float64) {
		s.batchIs(id, "so far", `released >= `+strconv.Itoa(int(share*float64(s.n)))+` AND (SELECT count(*) FROM operations o WHERE o.batch_id = b.id AND o.attempts_ever > 0) >= `+strconv.Itoa(int(share*float64(s.n))), time.Duration(60+s.n/50)*time.Second)
	}
	for i := range 5 {
		part(float64(i+1) / 6)
		switch i {
		case 2:
			s.pg.Kill()
			if err := s.pg.Restart(context.Background()); err != nil {
				s.t.Error(err)
			}
		default:
			s.die(i)
		}
	}
	close(over)
	wg.Wait()
}

// die kills a worker and starts another.
func (s *storm) die(i int) {
	k := i % len(s.workers)
	s.workers[k].kill()
	s.deaths++
	s.workers[k] = s.startChild(busy)
}

// settle lets people decide about what is in review, by what the destination's ledger says;
// again: for some of what did not happen they permit one more attempt.
func (s *storm) settle(id operation.BatchID, again bool) (asked int) {
	effects := s.effectsOf("crm")
	for op, state := range s.itemsOf(id) {
		if state != operation.Review {
			continue
		}
		asked++
		switch {
		case effects[op] == 1:
			e := s.box.Ledger(s.t, "crm", string(op))[0]
			s.decide(op, func(sh store.Shown) error {
				return s.store.ConfirmDone(context.Background(), s.ops[0], sh, store.Reference{ID: e.ID})
			})
		case again && asked%3 == 0:
			s.notDone(op)
			s.decide(op, func(sh store.Shown) error { return s.store.DecideReexecution(context.Background(), s.ops[1], sh, true) })
		default:
			s.nothingHappened(op, false)
		}
	}
	return asked
}

// decide lets a person decide about what they have just read: a lookup may come between, and
// then they read again.
func (s *storm) decide(op operation.ID, fn func(store.Shown) error) {
	s.t.Helper()
	limit := time.Now().Add(10 * time.Second)
	for {
		err := fn(s.shown(op))
		var r *operation.Refusal
		if err == nil {
			return
		}
		if !errors.As(err, &r) || r.Code != operation.CodeStaleRevision || time.Now().After(limit) {
			s.t.Fatalf("%s: %v", op, err)
		}
	}
}

// check compares the record with the ledger.
func (s *storm) check(id operation.BatchID) {
	s.t.Helper()
	items, effects := s.itemsOf(id), s.effectsOf("crm")
	if len(items) != s.n {
		s.t.Errorf("%d operations of %d items", len(items), s.n)
	}
	confirmed := 0
	for op, state := range items {
		want := 0
		if state == operation.Confirmed {
			want = 1
			confirmed++
		}
		if effects[op] != want {
			s.t.Errorf("%s is %s and has %d effects", op, state, effects[op])
		}
		if _, broken, err := s.store.ListHistory(context.Background(), operation.SubjectOperation, string(op)); broken > 0 || err != nil {
			s.t.Errorf("the history of %s breaks at %d, %v", op, broken, err)
		}
	}
	if len(effects) != confirmed || confirmed == 0 {
		s.t.Errorf("%d confirmed, %d operations with effects", confirmed, len(effects))
	}
	var keys, open int
	if err := s.db.QueryRow(`SELECT count(DISTINCT item_key), count(*) FILTER (WHERE open_attempt IS NOT NULL OR unsettled > 0) FROM operations WHERE batch_id = $1`, string(id)).Scan(&keys, &open); err != nil || keys != s.n || open != 0 {
		s.t.Errorf("%d keys, %d with something open, %v", keys, open, err)
	}
	var wrong int
	if err := s.db.QueryRow(`SELECT count(*) FROM batch_counts c FULL JOIN (SELECT batch_id, state, count(*) AS n FROM operations WHERE batch_id IS NOT NULL GROUP BY batch_id, state) o
		USING (batch_id, state) WHERE COALESCE(c.n, 0) <> COALESCE(o.n, 0)`).Scan(&wrong); err != nil || wrong > 0 {
		s.t.Errorf("%d counts of states are wrong, %v", wrong, err)
	}
	if _, broken, err := s.store.ListHistory(context.Background(), operation.SubjectBatch, string(id)); broken > 0 || err != nil {
		s.t.Errorf("the batch's history breaks at %d, %v", broken, err)
	}
}
