package store_test

import (
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

// batchStates counts the operations of a batch by their states.
func batchStates(t *testing.T, f *storetest.Fixture, id operation.BatchID) string {
	t.Helper()
	var s string
	err := f.Owner.QueryRowContext(t.Context(), `SELECT COALESCE(string_agg(state || '=' || n, ' ' ORDER BY state), '') FROM (SELECT state, count(*) AS n FROM operations WHERE batch_id = $1 GROUP BY state) s`, string(id)).Scan(&s)
	ok(t, err)
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
