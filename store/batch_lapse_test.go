package store_test

import (
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestBatchOfALostApprover: when one of those who carried its approval may approve no more, a
// batch asks anew about its rest as a whole. Its rows do not become thousands of single
// operations that each wait for an approval.
func TestBatchOfALostApprover(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "{approvers: {role: approver}, required: 2, expires: 72h}")
	id := f.Batch(t, storetest.Recipients(40, nil))
	f.ApproveBatch(t, id, "lead", "second")
	sent := took(t, f, id, 5).Dispatched
	recorded(t, f, id, confirmed(sent))
	ok(t, f.Store.RevokeRole(t.Context(), f.As("admin"), f.Users["second"], store.RoleGrant{Role: operation.RoleApprover}, "moved"))
	for range 6 { // as the runner does
		if c := took(t, f, id, 5); len(c.Dispatched) != 0 {
			t.Fatalf("%d were sent without a quorum", len(c.Dispatched))
		}
		claimed(t, f, id, 5)
	}
	if n := f.Count(t, "operations WHERE batch_id = $1", string(id)); n != 5 {
		t.Errorf("%d rows became operations, want the 5 that were sent", n)
	}
	if n, err := f.Store.ReleaseBatch(t.Context(), runner, id, 100); err != nil || n != 0 {
		t.Errorf("%d were released, %v", n, err)
	}
	n, err := f.Store.SweepBatches(t.Context(), store.Job("sweep"))
	if err != nil || n != 1 || f.BatchState(t, id) != operation.BatchCanaryReview {
		t.Fatalf("%d batches moved, it is %s, %v", n, f.BatchState(t, id), err)
	}
	if f.Count(t, `history WHERE subject_id = $1 AND action = 'expire' AND links::json->>'cause' = 'approver_not_entitled'`, string(id)) != 1 {
		t.Error("its history does not say why")
	}
	if n, err = f.Store.SweepBatches(t.Context(), store.Job("sweep")); err != nil || n != 0 {
		t.Errorf("%d moved once more, %v", n, err)
	}
	ok(t, f.Store.GrantRole(t.Context(), f.As("admin"), f.Users["ops2"], store.RoleGrant{Role: operation.RoleApprover}, "new"))
	f.ApproveBatch(t, id, "lead", "ops2")
	if c := took(t, f, id, 50); len(c.Dispatched) != 35 {
		t.Errorf("approved anew, %d went out", len(c.Dispatched))
	}
	verified(t, f, id)
}

// TestReexecutionOfASuppressedItemInAGroup: a re-execution that was permitted is never taken
// for something of which nothing was sent, also while its batch still runs.
func TestReexecutionOfASuppressedItemInAGroup(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "{approvers: {role: approver}, expires: 72h}")
	id := f.Batch(t, storetest.Recipients(3, nil))
	f.ApproveBatch(t, id, "lead")
	sent := took(t, f, id, 1).Dispatched
	recorded(t, f, id, confirmed(sent))
	_, err := f.Owner.Exec(`UPDATE operations SET last_dispatch = last_dispatch - interval '1 day', last_send = last_send - interval '1 day'`)
	ok(t, err)
	s := &stand{f: f, t: t, id: sent[0].Operation}
	s.dispute()
	s.notDone(true)
	ok(t, f.Store.DecideReexecution(t.Context(), f.Fresh(t, "ops2"), s.shown("agreed"), true))
	suppressed(t, f, sent[0].Content["to"].(string))
	c := claimed(t, f, id, 10)
	if len(c.Alone) != 1 || c.Alone[0] != s.id || len(c.Refused) != 0 {
		t.Errorf("the group decided about it: %+v", c)
	}
	_, err = f.Store.ClaimAndDispatch(t.Context(), runner, s.id, "alone")
	refused(t, err, operation.CodeSuppressed)
	if got := f.State(t, s.id); got != operation.Review {
		t.Errorf("its first request may have been sent, and it is %s", got)
	}
	verified(t, f, id)
}

// TestBatchGoesOnAfterBounces: a person who lets a batch go on after it paused by itself is
// asked again by what goes out from then on, not by the bounces that they have seen.
func TestBatchGoesOnAfterBounces(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "{approvers: {role: approver}, expires: 72h}", "pause_when: {last: 10, bounced: 10%}")
	s, ctx := f.Store, t.Context()
	id := f.Batch(t, storetest.Recipients(20, nil))
	f.ApproveBatch(t, id, "lead")
	send := func(n, bounced int) {
		t.Helper()
		sent := took(t, f, id, n).Dispatched
		recorded(t, f, id, confirmed(sent))
		for _, d := range sent[:min(bounced, len(sent))] {
			_, err := f.Owner.Exec(`UPDATE operations SET delivery = 'bounced' WHERE id = $1`, string(d.Operation))
			ok(t, err)
		}
	}
	judge := func(want string) {
		t.Helper()
		if alarm, err := s.JudgeBatch(ctx, runner, id); err != nil || alarm.Kind != want {
			t.Errorf("%+v, %v, want %q", alarm, err, want)
		}
	}
	send(5, 2)
	judge(operation.AlarmBounced)
	p, err := s.FindBatch(ctx, f.As("ops"), id)
	ok(t, err)
	ok(t, s.ResumeBatch(ctx, f.As("ops"), store.BatchShown{Batch: id, Revision: p.Revision, FormID: store.NewFormID(), Reason: "two old addresses"}))
	judge("")
	send(5, 1)
	judge("")
	send(5, 1)
	judge(operation.AlarmBounced)
}
