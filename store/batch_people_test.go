package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// decideBatchFor lets one person decide about a batch for another.
func decideBatchFor(t *testing.T, f *storetest.Fixture, id operation.BatchID, who, principal string) error {
	t.Helper()
	d := f.BatchDecision(t, id, operation.Approve)
	d.For = f.Users[principal]
	return f.Store.DecideBatch(t.Context(), f.As(who), d)
}

func approveBatch(t *testing.T, f *storetest.Fixture, id operation.BatchID, who string) error {
	t.Helper()
	return f.Store.DecideBatch(t.Context(), f.As(who), f.BatchDecision(t, id, operation.Approve))
}

// TestBatchPeople: who wrote a list decides about it for nobody; two decisions are those of two
// people; what was handed on is worth what its giver may.
func TestBatchPeople(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "")
	s, ctx := f.Store, t.Context()
	for _, who := range []string{"author", "author2"} {
		ok(t, s.GrantRole(ctx, f.As("admin"), f.Users[who], store.RoleGrant{Role: operation.RoleApprover}, ""))
	}
	fresh := func() operation.BatchID { return f.Batch(t, storetest.Recipients(3, nil)) }
	pending := func(t *testing.T, id operation.BatchID) {
		t.Helper()
		if state := f.BatchState(t, id); state != operation.BatchPendingApproval || f.Count(t, "batch_clearances WHERE batch_id = $1", string(id)) != 0 {
			t.Errorf("the batch is %s", state)
		}
	}
	t.Run("OwnContent", func(t *testing.T) {
		id := fresh()
		refused(t, approveBatch(t, f, id, "author"), operation.CodeOwnContent)
		ok(t, s.ReviseBatch(ctx, f.As("author2"), store.BatchRevision{BatchShown: store.BatchShown{Batch: id, FormID: store.NewFormID()}, Shared: map[string]string{"subject": "Hello {{name}}"}}))
		for _, who := range []string{"author", "author2"} { // both wrote a part of it
			refused(t, approveBatch(t, f, id, who), operation.CodeOwnContent)
		}
		handOn(t, f, "author", "lead", operation.RoleApprover)
		refused(t, decideBatchFor(t, f, id, "lead", "author"), operation.CodePartyFor)
		handOn(t, f, "second", "author2", operation.RoleApprover)
		refused(t, decideBatchFor(t, f, id, "author2", "second"), operation.CodePartyFor)
		link(t, f, "lead", "author")
		refused(t, approveBatch(t, f, id, "lead"), operation.CodeOwnContent)
		ok(t, s.UnlinkPerson(ctx, store.System("command"), f.Users["lead"], "they are two"))
		pending(t, id)
		if n := f.Count(t, "batch_approvals WHERE batch_id = $1", string(id)); n != 0 {
			t.Errorf("%d decisions", n)
		}
	})
	t.Run("Quorum", func(t *testing.T) {
		id := fresh()
		ok(t, approveBatch(t, f, id, "lead"))
		refused(t, approveBatch(t, f, id, "lead"), operation.CodeAlreadyDecided)
		link(t, f, "second", "lead")
		refused(t, approveBatch(t, f, id, "second"), operation.CodeAlreadyDecided)
		pending(t, id)
		ok(t, s.UnlinkPerson(ctx, store.System("command"), f.Users["second"], "they are two"))
		ok(t, approveBatch(t, f, id, "second"))
		if n := f.Count(t, `batch_clearances c JOIN batch_clearance_approvals ca ON ca.clearance_id = c.id JOIN batch_approvals a ON a.id = ca.approval_id
			WHERE c.batch_id = $1 AND c.required = 2 AND a.user_id IN ($2, $3)`, string(id), string(f.Users["lead"]), string(f.Users["second"])); n != 2 || f.BatchState(t, id) != operation.BatchRunning {
			t.Errorf("%d approvals carry it, %s", n, f.BatchState(t, id))
		}
	})
	t.Run("Delegated", func(t *testing.T) { delegatedBatch(t, f, fresh(), fresh(), pending) })
	approvedOrRevised(t, f)
}

// delegatedBatch: ops, who is no approver, decides for the lead, within what the lead may.
func delegatedBatch(t *testing.T, f *storetest.Fixture, id, later operation.BatchID, pending func(*testing.T, operation.BatchID)) {
	s, ctx := f.Store, t.Context()
	refused(t, approveBatch(t, f, id, "ops"), operation.CodeNotEntitled)
	refused(t, decideBatchFor(t, f, id, "ops", "lead"), operation.CodeDelegation)
	other := store.NewDelegation{To: f.Users["ops"], Roles: []operation.Role{operation.RoleApprover}, Flows: []string{"campaign-follow-up"}, StartsAt: time.Now().Add(-time.Minute), EndsAt: time.Now().Add(time.Hour),
		Reason: "away", FormID: store.NewFormID()}
	ok(t, s.AddDelegation(ctx, f.As("lead"), other)) // for another flow
	refused(t, decideBatchFor(t, f, id, "ops", "lead"), operation.CodeDelegation)
	given := handOn(t, f, "lead", "ops", operation.RoleApprover)
	handOn(t, f, "second", "ops", operation.RoleApprover)
	ok(t, decideBatchFor(t, f, id, "ops", "lead"))
	refused(t, approveBatch(t, f, id, "lead"), operation.CodeCountedOnce)
	refused(t, decideBatchFor(t, f, id, "ops", "second"), operation.CodeCountedOnce) // no second voice
	pending(t, id)
	ok(t, approveBatch(t, f, id, "second"))
	if n := f.Count(t, "batch_approvals WHERE batch_id = $1 AND user_id = $2 AND for_user = $3 AND delegation_id = $4", string(id), string(f.Users["ops"]), string(f.Users["lead"]), string(given)); n != 1 {
		t.Errorf("%d approvals name both", n)
	}
	named := false
	for _, h := range whole(t, s, operation.SubjectBatch, string(id)) {
		named = named || h.ActorID == string(f.Users["ops"]) && h.Links()["for"] == string(f.Users["lead"]) && h.Links()["delegation"] == string(given)
	}
	if !named {
		t.Error("the history does not name both")
	}
	released(t, f, id)
	if c := claimed(t, f, id, 1); len(c.Dispatched) != 1 {
		t.Errorf("a delegated approval lets nothing go: %+v", c)
	}
	ok(t, s.RevokeRole(ctx, f.As("admin"), f.Users["lead"], store.RoleGrant{Role: operation.RoleApprover}, "moved"))
	if c := claimed(t, f, id, 10); len(c.Dispatched) != 0 || len(c.Refused) != 2 || c.Refused[0].Refusal.Code != operation.CodeApproverNotEntitled {
		t.Errorf("the person acted for is no approver any more: %+v", c)
	}
	refused(t, decideBatchFor(t, f, later, "ops", "lead"), operation.CodeDelegatorNotEntitled)
	ok(t, s.RevokeDelegation(ctx, f.Fresh(t, "second"), delegationOf(t, f, "second", "ops"), "back"))
	refused(t, decideBatchFor(t, f, later, "ops", "second"), operation.CodeDelegation)
	pending(t, later)
}

func delegationOf(t *testing.T, f *storetest.Fixture, from, to string) (id operation.DelegationID) {
	t.Helper()
	ok(t, f.Owner.QueryRow(`SELECT id FROM delegations WHERE from_user = $1 AND to_user = $2 AND revoked_at IS NULL`, string(f.Users[from]), string(f.Users[to])).Scan(&id))
	return id
}

// approvedOrRevised: an approval and a new version at the same moment. Whichever has the batch
// first holds; the other is refused, and nothing of another version goes out.
func approvedOrRevised(t *testing.T, f *storetest.Fixture) {
	f.ApplyMailing(t, "{approvers: {role: approver}, expires: 72h}")
	s := f.Store
	for _, first := range []string{"revise", "approve"} {
		t.Run(first+" first", func(t *testing.T) {
			id := f.Batch(t, storetest.Recipients(3, nil))
			d, list := f.BatchDecision(t, id, operation.Approve), storetest.Recipients(4, nil)
			r := store.BatchRevision{BatchShown: store.BatchShown{Batch: id, FormID: store.NewFormID(), Revision: d.Revision}, List: &list}
			verbs := map[string]func(context.Context) error{
				"approve": func(ctx context.Context) error { return s.DecideBatch(ctx, f.As("second"), d) },
				"revise":  func(ctx context.Context) error { return s.ReviseBatch(ctx, f.As("author"), r) },
			}
			second := map[string]string{"revise": "approve", "approve": "revise"}[first]
			got := inTurn(t, f, id, verbs[first], verbs[second])
			ok(t, got[0])
			if first == "revise" {
				refused(t, got[1], operation.CodeStaleVersion)
				if n := released(t, f, id); n != 0 || f.BatchState(t, id) != operation.BatchPendingApproval || f.Count(t, "batch_approvals WHERE batch_id = $1", string(id)) != 0 {
					t.Errorf("%d released, %s", n, f.BatchState(t, id))
				}
			} else {
				var no *operation.Refusal
				if !errors.As(got[1], &no) || no.Code != operation.CodeForbiddenMove && no.Code != operation.CodeStaleRevision {
					t.Errorf("revised after the approval: %v", got[1])
				}
				if n := released(t, f, id); n != 3 || f.Count(t, "batches WHERE id = $1 AND number = 1", string(id)) != 1 ||
					f.Count(t, "operations o JOIN content_versions v ON v.id = o.version_id JOIN batch_items i ON i.batch_id = o.batch_id AND i.number = 1 AND i.position = o.batch_no AND i.hash = v.hash WHERE o.batch_id = $1", string(id)) != 3 {
					t.Errorf("%d released", n)
				}
			}
			whole(t, s, operation.SubjectBatch, string(id))
		})
	}
}

// inTurn begins two verbs while the batch's run is locked: the second when the first waits for
// it, and lets them go when both wait.
func inTurn(t *testing.T, f *storetest.Fixture, id operation.BatchID, verbs ...func(context.Context) error) []error {
	t.Helper()
	tx, err := f.Owner.BeginTx(t.Context(), nil)
	ok(t, err)
	defer func() { _ = tx.Rollback() }()
	_, err = tx.ExecContext(t.Context(), `SELECT r.id FROM runs r JOIN batches b ON b.run_id = r.id WHERE b.id = $1 FOR UPDATE OF r`, string(id))
	ok(t, err)
	const waiting = `pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid WHERE a.datname = current_database() AND NOT l.granted`
	out := make([]error, len(verbs))
	done := make(chan struct{})
	for i, verb := range verbs {
		go func() {
			out[i] = verb(t.Context())
			done <- struct{}{}
		}()
		for limit := time.Now().Add(20 * time.Second); f.Count(t, waiting) < i+1; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(limit) {
				t.Fatalf("verb %d does not wait", i+1)
			}
		}
	}
	ok(t, tx.Rollback())
	for range verbs {
		<-done
	}
	return out
}
