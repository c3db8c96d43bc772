package store_test

import (
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestBatchDecide: one decision covers a whole version, by the policy of one operation: two
// people, none of them its author; the same form twice is one decision.
func TestBatchDecide(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "")
	s, ctx := f.Store, t.Context()
	id := f.Batch(t, storetest.Recipients(20, nil))
	d := f.BatchDecision(t, id, operation.Approve)
	refused(t, s.DecideBatch(ctx, f.As("author"), d), operation.CodeNotEntitled)
	refused(t, s.DecideBatch(ctx, f.As("ops"), d), operation.CodeNotEntitled)
	stale := d
	stale.Number = 2
	refused(t, s.DecideBatch(ctx, f.As("lead"), stale), operation.CodeStaleVersion)
	stale = d
	stale.Phase = operation.PhaseRest
	refused(t, s.DecideBatch(ctx, f.As("lead"), stale), operation.CodeStaleRevision)
	ok(t, s.DecideBatch(ctx, f.As("lead"), d))
	ok(t, s.DecideBatch(ctx, f.As("lead"), d))
	other := d
	other.Decision, other.Reason = operation.Reject, "no"
	refused(t, s.DecideBatch(ctx, f.As("lead"), other), operation.CodeStaleRevision)
	if n := f.Count(t, "batch_approvals WHERE batch_id = $1", string(id)); n != 1 || f.BatchState(t, id) != operation.BatchPendingApproval {
		t.Fatalf("%d approvals, %s", n, f.BatchState(t, id))
	}
	ok(t, s.DecideBatch(ctx, f.As("lead"), f.BatchDecision(t, id, operation.Withdraw)))
	f.ApproveBatch(t, id, "lead", "second")
	if f.BatchState(t, id) != operation.BatchRunning || f.Count(t, "batch_clearances WHERE batch_id = $1 AND upto = 20 AND required = 2", string(id)) != 1 ||
		f.Count(t, "batch_clearance_approvals") != 2 {
		t.Fatal(f.BatchState(t, id))
	}
	refused(t, s.DecideBatch(ctx, f.As("lead"), f.BatchDecision(t, id, operation.Withdraw)), operation.CodeForbiddenMove)
	whole(t, s, operation.SubjectBatch, string(id))
	for n := 1; n > 0; {
		var err error
		n, err = s.ReleaseBatch(ctx, store.Job("runner"), id, 7)
		ok(t, err)
	}
	if n := f.Count(t, "operations WHERE batch_id = $1 AND state = 'ready'", string(id)); n != 20 {
		t.Fatalf("%d of 20 are ready", n)
	}
}

// TestBatchReject: what is rejected or sent back never becomes an operation.
func TestBatchReject(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "")
	s, ctx := f.Store, t.Context()
	id := f.Batch(t, storetest.Recipients(3, nil))
	ok(t, s.DecideBatch(ctx, f.As("lead"), f.BatchDecision(t, id, operation.Reject)))
	if f.BatchState(t, id) != operation.BatchRejected || f.Count(t, "runs WHERE state = 'blocked'") != 1 || f.Count(t, "batches WHERE closed_at IS NOT NULL AND next_kind = ''") != 1 {
		t.Error(f.BatchState(t, id))
	}
	id = f.Batch(t, storetest.Recipients(3, nil))
	f.ApproveBatch(t, id, "lead")
	ok(t, s.DecideBatch(ctx, f.As("second"), f.BatchDecision(t, id, operation.RequestChanges)))
	if f.BatchState(t, id) != operation.BatchDraft {
		t.Error(f.BatchState(t, id))
	}
	refused(t, s.DecideBatch(ctx, f.As("second"), f.BatchDecision(t, id, operation.Approve)), operation.CodeForbiddenMove)
	ok(t, s.CancelBatch(ctx, f.As("author"), store.BatchShown{Batch: id, FormID: store.NewFormID(), Reason: "not now"}))
	if f.BatchState(t, id) != operation.BatchCancelled {
		t.Error(f.BatchState(t, id))
	}
	whole(t, s, operation.SubjectBatch, string(id))

	// What is approved is no longer its author's: nobody cancels it, and authors neither pause nor stop.
	id = f.Batch(t, storetest.Recipients(3, nil))
	f.ApproveBatch(t, id, "lead")
	f.ApproveBatch(t, id, "second")
	shown := func() store.BatchShown {
		return store.BatchShown{Batch: id, FormID: store.NewFormID(), Reason: "not now"}
	}
	for _, who := range []string{"author", "ops"} {
		refused(t, s.CancelBatch(ctx, f.As(who), shown()), operation.CodeForbiddenMove)
	}
	_, err := s.PauseBatch(ctx, f.As("author"), shown())
	refused(t, err, operation.CodeNotEntitled)
	_, err = s.StopBatch(ctx, f.As("author"), shown())
	refused(t, err, operation.CodeNotEntitled)
	if f.BatchState(t, id) != operation.BatchRunning || f.Count(t, "batches WHERE id = $1 AND paused_at IS NULL AND stopped_at IS NULL", string(id)) != 1 {
		t.Error(f.BatchState(t, id))
	}
}

// TestBatchCanary: the first items go out by the first decision, the others by a second one.
func TestBatchCanary(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "{approvers: {role: approver}, expires: 72h}", "canary: 5")
	s, ctx := f.Store, t.Context()
	id := f.Batch(t, storetest.Recipients(20, func(i int, e map[string]any) map[string]any {
		if i == 3 {
			e["email"] = "r000002@example.test" // stands twice, so that the fifth that is sent is the sixth of the list
		}
		return e
	}))
	f.ApproveBatch(t, id, "lead")
	if f.BatchState(t, id) != operation.BatchCanary || f.Count(t, "batches WHERE cleared = 6") != 1 {
		t.Fatal(f.BatchState(t, id))
	}
	n, err := s.ReleaseBatch(ctx, store.Job("runner"), id, 100)
	ok(t, err)
	if n != 5 {
		t.Errorf("%d released", n)
	}
	refused(t, s.DecideBatch(ctx, f.As("lead"), f.BatchDecision(t, id, operation.Approve)), operation.CodeForbiddenMove)
	_, err = f.Owner.Exec(`UPDATE operations SET state = 'cancelled', next_kind = '' WHERE batch_id = $1`, string(id))
	ok(t, err)
	state, err := s.AdvanceBatch(ctx, store.Job("runner"), id)
	ok(t, err)
	if state != operation.BatchCanaryReview || f.Count(t, "batches WHERE next_kind = 'approve' AND NOT next_system") != 1 {
		t.Fatal(state)
	}
	refused(t, s.DecideBatch(ctx, f.As("lead"), f.BatchDecision(t, id, operation.RequestChanges)), operation.CodeForbiddenMove)
	f.ApproveBatch(t, id, "lead")
	n, err = s.ReleaseBatch(ctx, store.Job("runner"), id, 100)
	ok(t, err)
	if f.BatchState(t, id) != operation.BatchRunning || n != 14 {
		t.Errorf("%s, %d released", f.BatchState(t, id), n)
	}
}

// TestBatchExpiry: an approval that was given too long ago clears nothing any more.
func TestBatchExpiry(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "{approvers: {role: approver}, required: 2, expires: 1s}")
	s, ctx := f.Store, t.Context()
	id := f.Batch(t, storetest.Recipients(4, nil))
	f.ApproveBatch(t, id, "lead")
	first := time.Now()
	for time.Since(first) < 1100*time.Millisecond {
		time.Sleep(50 * time.Millisecond) // the policy's own second
	}
	f.ApproveBatch(t, id, "second")
	if f.BatchState(t, id) != operation.BatchPendingApproval {
		t.Fatal("an approval that is over counted")
	}
	f.ApproveBatch(t, id, "lead")
	if f.BatchState(t, id) != operation.BatchRunning {
		t.Fatal(f.BatchState(t, id))
	}
	_, err := f.Owner.Exec(`UPDATE batches SET expires_at = now() - interval '1 second' WHERE id = $1`, string(id))
	ok(t, err)
	n, err := s.SweepBatches(ctx, store.Job("sweep"))
	ok(t, err)
	if n != 1 || f.BatchState(t, id) != operation.BatchPendingApproval {
		t.Errorf("%d, %s", n, f.BatchState(t, id))
	}
	whole(t, s, operation.SubjectBatch, string(id))
}
