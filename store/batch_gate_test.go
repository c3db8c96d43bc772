package store_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// runner is who releases, claims and records in these tests.
var runner = store.Job("runner")

// clear writes what the last approval of a batch writes, up to a position (0 = all).
func clearBatch(t *testing.T, f *storetest.Fixture, id operation.BatchID, upto int) {
	t.Helper()
	f.ApproveBatch(t, id, "lead", "second")
	_ = upto
}

// mailing gives an approved batch of n items.
func mailing(t *testing.T, f *storetest.Fixture, n int) operation.BatchID {
	t.Helper()
	id := f.Batch(t, storetest.Recipients(n, nil))
	clearBatch(t, f, id, 0)
	return id
}

// released releases everything that may go.
func released(t *testing.T, f *storetest.Fixture, id operation.BatchID) (n int) {
	t.Helper()
	for {
		k, err := f.Store.ReleaseBatch(t.Context(), runner, id, 100)
		ok(t, err)
		if n += k; k == 0 {
			return n
		}
	}
}

func claimed(t *testing.T, f *storetest.Fixture, id operation.BatchID, n int) store.GroupClaimed {
	t.Helper()
	c, err := f.Store.ClaimGroup(t.Context(), runner, id, n, "worker")
	ok(t, err)
	return c
}

// confirmed gives the outcomes of attempts that the destination confirmed.
func confirmed(ds []store.Dispatched) []store.Outcome {
	var out []store.Outcome
	for _, d := range ds {
		out = append(out, store.Outcome{Operation: d.Operation, Attempt: d.Attempt, Fence: d.Fence, Result: operation.Result{Outcome: operation.OutcomeConfirmed,
			TargetReference: "mail-" + string(d.Operation), Proof: operation.Proof{Code: "accepted", Phase: operation.PhaseComplete, Status: 250}}})
	}
	return out
}

func recorded(t *testing.T, f *storetest.Fixture, id operation.BatchID, outcomes []store.Outcome) []store.GroupRecorded {
	t.Helper()
	rs, err := f.Store.RecordGroup(t.Context(), runner, id, outcomes)
	ok(t, err)
	for i, r := range rs {
		if r.Err != nil {
			t.Fatalf("outcome %d: %v", i, r.Err)
		}
	}
	return rs
}

func advanced(t *testing.T, f *storetest.Fixture, id operation.BatchID) operation.BatchState {
	t.Helper()
	s, err := f.Store.AdvanceBatch(t.Context(), runner, id)
	ok(t, err)
	return s
}

// batchStates counts the operations of a batch by their states. The kept counts say the same.
func batchStates(t *testing.T, f *storetest.Fixture, id operation.BatchID) string {
	t.Helper()
	var s, kept string
	const words = `SELECT COALESCE(string_agg(state || '=' || n, ' ' ORDER BY state COLLATE "C"), '') FROM `
	err := f.Owner.QueryRowContext(t.Context(), words+`(SELECT state, count(*) AS n FROM operations WHERE batch_id = $1 GROUP BY state) s`, string(id)).Scan(&s)
	ok(t, err)
	ok(t, f.Owner.QueryRowContext(t.Context(), words+`batch_counts WHERE batch_id = $1 AND n <> 0`, string(id)).Scan(&kept))
	if kept != s {
		t.Errorf("counted %q, kept %q", s, kept)
	}
	return s
}

// TestBatchFromReleaseToEnd takes a batch the whole way: released in slices, claimed and
// recorded in groups, closed, with a history that verifies.
func TestBatchFromReleaseToEnd(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "")
	id := mailing(t, f, 25)
	if n, err := f.Store.ReleaseBatch(t.Context(), runner, id, 10); n != 10 || err != nil {
		t.Fatalf("released %d, %v", n, err)
	}
	if n := released(t, f, id); n != 15 {
		t.Fatalf("released %d more", n)
	}
	if s := batchStates(t, f, id); s != "ready=25" {
		t.Fatal(s)
	}
	all := map[operation.ID]bool{}
	for range 3 {
		c := claimed(t, f, id, 10)
		if len(c.Refused)+len(c.Alone) > 0 || c.Why != nil {
			t.Fatalf("%+v", c)
		}
		for _, d := range c.Dispatched {
			if all[d.Operation] {
				t.Errorf("%s was claimed twice", d.Operation)
			}
			all[d.Operation] = true
			if d.Content["to"] == "" || d.Request.Kind == "" || d.Key == "" || d.Profile == nil || !d.LeaseUntil.After(time.Now()) {
				t.Errorf("%+v", d)
			}
		}
		recorded(t, f, id, confirmed(c.Dispatched))
	}
	if s := batchStates(t, f, id); len(all) != 25 || s != "confirmed=25" {
		t.Fatalf("%d claimed: %s", len(all), s)
	}
	if s := advanced(t, f, id); s != operation.BatchClosed {
		t.Errorf("the batch is %s", s)
	}
	if n := f.Count(t, `batches b JOIN runs r ON r.id = b.run_id WHERE b.id = $1 AND b.satisfied AND r.state = 'completed'`, string(id)); n != 1 {
		t.Error("the stage is not satisfied, or the run not completed")
	}
	if n := f.Count(t, `(SELECT sum(confirmed) AS n FROM batch_marks WHERE batch_id = $1) m WHERE n = 25`, string(id)); n != 1 {
		t.Error("the marks do not add up")
	}
	verified(t, f, id)
}

// verified checks the histories of a batch, its run and its operations.
func verified(t *testing.T, f *storetest.Fixture, id operation.BatchID) {
	t.Helper()
	rows, err := f.Owner.QueryContext(t.Context(), `SELECT 'batch', id FROM batches WHERE id = $1 UNION ALL SELECT 'run', run_id FROM batches WHERE id = $1 UNION ALL SELECT 'operation', id FROM operations WHERE batch_id = $1`, string(id))
	ok(t, err)
	defer rows.Close()
	n := 0
	for rows.Next() {
		var kind operation.SubjectKind
		var subject string
		ok(t, rows.Scan(&kind, &subject))
		whole(t, f.Store, kind, subject)
		n++
	}
	ok(t, rows.Err())
	if n < 3 {
		t.Errorf("%d chains", n)
	}
}

// TestBatchGate asks what may not go out of a batch, each case on a batch of its own.
func TestBatchGate(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "")
	shown := func(id operation.BatchID) store.BatchShown {
		return store.BatchShown{Batch: id, FormID: store.NewFormID(), Reason: "as the test wants it"}
	}
	t.Run("PausedInTheMiddle", func(t *testing.T) {
		id := mailing(t, f, 6)
		released(t, f, id)
		first := claimed(t, f, id, 2)
		flight, err := f.Store.PauseBatch(t.Context(), f.As("ops"), shown(id))
		ok(t, err)
		if flight.Count != 2 {
			t.Errorf("%d in flight", flight.Count)
		}
		if c := claimed(t, f, id, 5); len(c.Dispatched) != 0 || c.Why == nil || c.Why.Code != operation.CodePausedBatch {
			t.Errorf("%+v", c)
		}
		next := oneReady(t, f, id)
		_, err = f.Store.ClaimAndDispatch(t.Context(), runner, next, "alone")
		refused(t, err, operation.CodePausedBatch)
		recorded(t, f, id, confirmed(first.Dispatched)) // what was sent is settled
		ok(t, f.Store.ResumeBatch(t.Context(), f.As("ops"), shown(id)))
		recorded(t, f, id, confirmed(claimed(t, f, id, 10).Dispatched))
		if s := batchStates(t, f, id); s != "confirmed=6" {
			t.Error(s)
		}
	})
	t.Run("StoppedInTheMiddle", func(t *testing.T) {
		id := mailing(t, f, 9)
		_, err := f.Store.ReleaseBatch(t.Context(), runner, id, 6)
		ok(t, err)
		first := claimed(t, f, id, 2)
		_, err = f.Store.StopBatch(t.Context(), f.As("ops"), shown(id))
		ok(t, err)
		if c := claimed(t, f, id, 5); len(c.Dispatched) != 0 || c.Why == nil || c.Why.Code != operation.CodeBatchStopped {
			t.Errorf("%+v", c)
		}
		if n, err := f.Store.ReleaseBatch(t.Context(), runner, id, 6); n != 0 || err != nil {
			t.Errorf("released %d, %v", n, err)
		}
		if n, err := f.Store.GiveUpGroup(t.Context(), runner, id, 100); n != 4 || err != nil {
			t.Errorf("gave up %d, %v", n, err)
		}
		if s := advanced(t, f, id); s != operation.BatchRunning {
			t.Errorf("the batch is %s while something is in flight", s)
		}
		recorded(t, f, id, confirmed(first.Dispatched))
		if s := advanced(t, f, id); s != operation.BatchClosed || batchStates(t, f, id) != "cancelled=4 confirmed=2" {
			t.Errorf("%s: %s", s, batchStates(t, f, id))
		}
		if n := f.Count(t, `batches WHERE id = $1 AND satisfied`, string(id)); n != 0 {
			t.Error("not every item is confirmed, and the stage is satisfied")
		}
	})
	t.Run("SuppressedSinceTheApproval", func(t *testing.T) {
		id := mailing(t, f, 3)
		released(t, f, id)
		if _, err := f.Owner.ExecContext(t.Context(), `INSERT INTO suppressions (id, address, scope, reason, since, source, added_kind, added_by, created_at, updated_at)
			VALUES ('sup_1', 'r000002@example.test', 'all', 'unsubscribed', now() - interval '1 second', 'person', 'person', 'usr_x', now(), now())`); err != nil {
			t.Fatal(err)
		}
		defer func() {
			_, _ = f.Owner.ExecContext(context.Background(), `UPDATE suppressions SET lifted_at = now(), lifted_by = 'usr_x', lifted_why = 'over', revision = revision + 1 WHERE id = 'sup_1'`)
		}()
		c := claimed(t, f, id, 10)
		if len(c.Dispatched) != 2 || len(c.Refused) != 1 || c.Refused[0].Refusal.Code != operation.CodeSuppressed {
			t.Errorf("%+v", c)
		}
		if s := batchStates(t, f, id); s != "cancelled=1 in_progress=2" {
			t.Error(s)
		}
		recorded(t, f, id, confirmed(c.Dispatched))
		verified(t, f, id)
	})
	t.Run("AConstraintLosesNoOther", func(t *testing.T) {
		id := mailing(t, f, 4)
		released(t, f, id)
		outcomes := confirmed(claimed(t, f, id, 4).Dispatched)
		outcomes[1].Result.TargetReference = outcomes[0].Result.TargetReference // two items, one effect
		rs, err := f.Store.RecordGroup(t.Context(), runner, id, outcomes)
		ok(t, err)
		for i, r := range rs {
			want := operation.Confirmed
			if i == 1 {
				want = operation.Review
			}
			if r.Err != nil || r.State != want {
				t.Errorf("outcome %d: %s, %v", i, r.State, r.Err)
			}
		}
		id = mailing(t, f, 3)
		released(t, f, id)
		outcomes = confirmed(claimed(t, f, id, 3).Dispatched)
		outcomes[2].Result.TargetURL = strings.Repeat("x", 3)
		if _, err := f.Owner.ExecContext(t.Context(), `ALTER TABLE target_references ADD CONSTRAINT never_this CHECK (url <> 'xxx') NOT VALID`); err != nil {
			t.Fatal(err)
		}
		defer func() {
			_, _ = f.Owner.ExecContext(context.Background(), `ALTER TABLE target_references DROP CONSTRAINT never_this`)
		}()
		rs, err = f.Store.RecordGroup(t.Context(), runner, id, outcomes)
		ok(t, err)
		if rs[0].Err != nil || rs[1].Err != nil || rs[2].Err == nil || batchStates(t, f, id) != "confirmed=2 in_progress=1" {
			t.Errorf("%+v: %s", rs, batchStates(t, f, id))
		}
	})
	t.Run("TwoGroupsAtOnce", func(t *testing.T) {
		id := mailing(t, f, 40)
		released(t, f, id)
		var wg sync.WaitGroup
		seen := make(chan operation.ID, 100)
		for range 4 {
			wg.Go(func() {
				for {
					c, err := f.Store.ClaimGroup(t.Context(), runner, id, 5, "worker")
					if err != nil || len(c.Dispatched) == 0 {
						if err != nil {
							t.Error(err)
						}
						return
					}
					if rs, err := f.Store.RecordGroup(t.Context(), runner, id, confirmed(c.Dispatched)); err != nil || rs[0].Err != nil {
						t.Errorf("%+v %v", rs, err)
					}
					for _, d := range c.Dispatched {
						seen <- d.Operation
					}
				}
			})
		}
		wg.Wait()
		close(seen)
		once := map[operation.ID]bool{}
		for op := range seen {
			if once[op] {
				t.Errorf("%s was claimed twice", op)
			}
			once[op] = true
		}
		if s := batchStates(t, f, id); len(once) != 40 || s != "confirmed=40" {
			t.Errorf("%d: %s", len(once), s)
		}
	})
	t.Run("ADisputeLeavesTheStageUnsatisfied", func(t *testing.T) {
		id := mailing(t, f, 3)
		released(t, f, id)
		recorded(t, f, id, confirmed(claimed(t, f, id, 3).Dispatched))
		advanced(t, f, id)
		var op operation.ID
		var rev int64
		ok(t, f.Owner.QueryRowContext(t.Context(), `SELECT id, revision FROM operations WHERE batch_id = $1 LIMIT 1`, string(id)).Scan(&op, &rev))
		ok(t, f.Store.DisputeSet(t.Context(), f.As("ops"), store.NewFormID(), store.DisputedWith{Evidence: "nothing arrived"}, []store.DisputeOne{{Operation: op, Revision: rev}}))
		if n := f.Count(t, `batches b JOIN runs r ON r.id = b.run_id WHERE b.id = $1 AND NOT b.satisfied AND r.state = 'open'`, string(id)); n != 1 {
			t.Error("the stage is still satisfied, or the run not open")
		}
		verified(t, f, id)
	})
}

// oneReady gives an operation of the batch that is ready.
func oneReady(t *testing.T, f *storetest.Fixture, id operation.BatchID) (op operation.ID) {
	t.Helper()
	ok(t, f.Owner.QueryRowContext(t.Context(), `SELECT id FROM operations WHERE batch_id = $1 AND state = 'ready' ORDER BY batch_no LIMIT 1`, string(id)).Scan(&op))
	return op
}
