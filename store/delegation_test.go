package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"

	"github.com/lib/pq"
)

// handOn lets one person hand their approvals to another for an hour, and gives the ID.
func handOn(t *testing.T, f *storetest.Fixture, from, to string, roles ...operation.Role) operation.DelegationID {
	t.Helper()
	now := time.Now()
	n := store.NewDelegation{To: f.Users[to], Roles: roles, StartsAt: now.Add(-time.Minute), EndsAt: now.Add(time.Hour), Reason: "away", FormID: store.NewFormID()}
	ok(t, f.Store.AddDelegation(t.Context(), f.As(from), n))
	var id operation.DelegationID
	ok(t, f.Owner.QueryRow(`SELECT id FROM delegations WHERE form_id = $1`, n.FormID).Scan(&id))
	return id
}

// decideFor lets one person decide for another on the current version.
func decideFor(t *testing.T, f *storetest.Fixture, id operation.ID, who, principal string, d operation.Decision) error {
	t.Helper()
	in := f.Decision(t, id, d)
	in.For = f.Users[principal]
	return f.Store.Decide(t.Context(), f.As(who), in)
}

// twoSigned is a mail by author that two approvers must approve.
func twoSigned(t *testing.T, f *storetest.Fixture) operation.ID {
	t.Helper()
	id := f.Receive(t, storetest.CampaignEvent())[1]
	ok(t, f.Store.AddVersion(t.Context(), f.As("author"), store.NewVersion{Operation: id, Author: store.Author{Kind: "person", ID: string(f.Users["author"])}, Submit: true,
		Content: map[string]any{"to": "c@example.test", "subject": "Spring", "text": "Dear customer"}}))
	return id
}

// TestDelegation: an ops owner without the approvers' role decides for one who has it.
// Both identities are in the record; the person acted for, and who acted, count once.
func TestDelegation(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx := f.Store, t.Context()
	id := twoSigned(t, f)
	refused(t, f.Decide(t, id, "ops", operation.Approve), operation.CodeNotEntitled)
	refused(t, decideFor(t, f, id, "ops", "lead", operation.Approve), operation.CodeDelegation)
	given := handOn(t, f, "lead", "ops", operation.RoleApprover)

	ok(t, decideFor(t, f, id, "ops", "lead", operation.Approve))
	if n := f.Count(t, "approvals WHERE user_id = $1 AND for_user = $2 AND delegation_id = $3 AND role = 'approver'", string(f.Users["ops"]), string(f.Users["lead"]), string(given)); n != 1 {
		t.Errorf("%d approvals with both identities, want 1", n)
	}
	refused(t, f.Decide(t, id, "lead", operation.Approve), operation.CodeCountedOnce)
	refused(t, decideFor(t, f, id, "ops", "lead", operation.Approve), operation.CodeAlreadyDecided)
	if got := f.State(t, id); got != operation.PendingApproval {
		t.Fatalf("one natural person made a quorum of two: %s", got)
	}
	// a second delegation gives nobody a second voice
	handOn(t, f, "second", "ops", operation.RoleApprover)
	refused(t, decideFor(t, f, id, "ops", "second", operation.Approve), operation.CodeCountedOnce)
	ok(t, f.Decide(t, id, "second", operation.Approve))
	if got := f.State(t, id); got != operation.Waiting {
		t.Errorf("state %s after two people", got)
	}
	var entry *store.HistoryRow
	for _, h := range whole(t, s, operation.SubjectOperation, string(id)) {
		if h.Links()["for"] != "" {
			entry = &h
		}
	}
	if entry == nil || entry.ActorID != string(f.Users["ops"]) || entry.Links()["for"] != string(f.Users["lead"]) || entry.Links()["for_name"] != "Lea Lead" || entry.Links()["delegation"] != string(given) {
		t.Errorf("the history does not name both: %+v", entry)
	}
	for _, who := range []string{"lead", "ops"} {
		whole(t, s, operation.SubjectUser, string(f.Users[who]))
	}
	// the person acted for takes the approval back, as if it were their own
	ok(t, f.Decide(t, id, "lead", operation.Withdraw))
	if got := f.State(t, id); got != operation.PendingApproval {
		t.Errorf("state %s after it was taken back", got)
	}
	// the gate asks whether the person acted for is entitled now
	task := f.Receive(t, storetest.CouponEvent())[0]
	ok(t, decideFor(t, f, task, "ops", "lead", operation.Approve))
	ok(t, s.RevokeRole(ctx, f.As("admin"), f.Users["lead"], store.RoleGrant{Role: operation.RoleApprover}, "moved"))
	_, err := s.Claim(ctx, worker, task, "w")
	refused(t, err, operation.CodeApproverNotEntitled)
	refused(t, decideFor(t, f, f.Receive(t, storetest.CouponEvent())[0], "ops", "lead", operation.Approve), operation.CodeDelegatorNotEntitled)
}

// TestDelegationEnds: taken back by the giver, by the receiver or by an admin, ended, or
// of another flow, it permits nothing; an approval given before stands until withdrawn.
func TestDelegationEnds(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx := f.Store, t.Context()
	for _, by := range []string{"lead", "ops", "admin"} {
		before, after := f.Receive(t, storetest.CouponEvent())[0], f.Receive(t, storetest.CouponEvent())[0]
		given := handOn(t, f, "lead", "ops", operation.RoleApprover)
		ok(t, decideFor(t, f, before, "ops", "lead", operation.Approve))
		gone(t, s.RevokeDelegation(ctx, f.As("second"), given, "not mine"))
		ok(t, s.RevokeDelegation(ctx, f.Fresh(t, by), given, "back"))
		ok(t, s.RevokeDelegation(ctx, f.Fresh(t, by), given, "again"))
		refused(t, decideFor(t, f, after, "ops", "lead", operation.Approve), operation.CodeDelegation)
		if _, err := s.Claim(ctx, worker, before, "w"); err != nil {
			t.Errorf("what was approved before is not sent: %v", err)
		}
		if n := f.Count(t, "history WHERE action = 'end_delegation' AND links::json->>'delegation' = $1", string(given)); n != 2 {
			t.Errorf("%d entries, want one for each of the two", n)
		}
	}
	n := store.NewDelegation{To: f.Users["ops"], Roles: []operation.Role{operation.RoleApprover}, Flows: []string{"campaign-follow-up"}, StartsAt: time.Now().Add(-time.Minute), EndsAt: time.Now().Add(time.Hour), Reason: "away", FormID: "f1"}
	ok(t, s.AddDelegation(ctx, f.As("lead"), n))
	ok(t, s.AddDelegation(ctx, f.As("lead"), n)) // the same form
	if c := f.Count(t, "delegations WHERE form_id = 'f1'"); c != 1 {
		t.Errorf("%d delegations of one form", c)
	}
	refused(t, decideFor(t, f, f.Receive(t, storetest.CouponEvent())[0], "ops", "lead", operation.Approve), operation.CodeDelegation)
	refused(t, s.AddDelegation(ctx, f.As("ops"), store.NewDelegation{To: f.Users["second"], Roles: n.Roles, StartsAt: n.StartsAt, EndsAt: n.EndsAt, Reason: "on", FormID: "f2"}), operation.CodeNotEntitled)
	refused(t, s.AddDelegation(ctx, f.As("lead"), store.NewDelegation{To: f.Users["auditor"], Roles: n.Roles, StartsAt: n.StartsAt, EndsAt: n.EndsAt, Reason: "on", FormID: "f3"}), operation.CodeDelegate)
}

// TestDelegationKeepsPartiesApart: neither who wrote it nor who acts for the author approves.
func TestDelegationKeepsPartiesApart(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	ctx := t.Context()
	ok(t, f.Store.GrantRole(ctx, f.As("admin"), f.Users["author"], store.RoleGrant{Role: operation.RoleApprover}, ""))
	handOn(t, f, "author", "lead", operation.RoleApprover)
	handOn(t, f, "lead", "author", operation.RoleApprover)
	id := twoSigned(t, f)
	refused(t, decideFor(t, f, id, "lead", "author", operation.Approve), operation.CodePartyFor)
	refused(t, decideFor(t, f, id, "author", "lead", operation.Approve), operation.CodePartyFor)
	refused(t, decideFor(t, f, id, "author", "author", operation.Approve), operation.CodeDelegation)
	if n := f.Count(t, "approvals"); n != 0 {
		t.Errorf("%d approvals", n)
	}
	ok(t, f.Decide(t, id, "lead", operation.Approve)) // their own is nobody else's
	if n := f.Count(t, "history WHERE action = 'decision_refused' AND links::json->>'code' = 'party_for'"); n != 2 {
		t.Errorf("%d refused attempts recorded, want 2", n)
	}
}

// TestDelegatedReexecution: whoever asked hands nobody the second decision.
func TestDelegatedReexecution(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	s, ctx := f.Store, t.Context()
	doubt := &stand{f: f, t: t, id: coupon(t, f)()}
	ways[operation.ReexecutionRequested](doubt)
	var asked operation.UserID
	ok(t, f.Owner.QueryRowContext(ctx, `SELECT requested_by FROM reexecution_requests WHERE operation_id = $1`, string(doubt.id)).Scan(&asked))
	short := map[operation.UserID]string{f.Users["ops"]: "ops", f.Users["ops2"]: "ops2"}
	other := map[string]string{"ops": "ops2", "ops2": "ops"}[short[asked]]
	handOn(t, f, short[asked], "lead", operation.RoleOpsOwner)
	handOn(t, f, other, short[asked], operation.RoleOpsOwner)
	handOn(t, f, other, "lead", operation.RoleOpsOwner)
	try := func(who, principal string) error {
		sh := doubt.shown("second decision")
		sh.For = f.Users[principal]
		return s.DecideReexecution(ctx, f.Fresh(t, who), sh, true)
	}
	refused(t, try("lead", short[asked]), operation.CodePartyFor)
	refused(t, try(short[asked], other), operation.CodePartyFor)
	ok(t, try("lead", other))
	if n := f.Count(t, "approvals WHERE request_id IS NOT NULL AND user_id = $1 AND for_user = $2", string(f.Users["lead"]), string(f.Users[other])); n != 1 {
		t.Errorf("%d decisions with both identities", n)
	}
}

// TestDelegationConstraints breaks each rule by hand: the database refuses it by name.
func TestDelegationConstraints(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	given := handOn(t, f, "lead", "ops", operation.RoleApprover)
	past := handOn(t, f, "second", "ops", operation.RoleApprover)
	ok(t, f.Store.RevokeDelegation(t.Context(), f.As("second"), past, "back"))
	id := twoSigned(t, f)
	in := f.Decision(t, id, operation.Approve)
	insert := func(user, principal string, delegation operation.DelegationID, role string) error {
		_, err := f.Owner.Exec(`INSERT INTO approvals (id, operation_id, version_id, hash, decision, user_id, role, form_id, decided_at, for_user, delegation_id)
			VALUES ($1, $2, $3, decode($4, 'hex'), 'approve', $5, $6, $1, clock_timestamp(), NULLIF($7, ''), NULLIF($8, ''))`,
			store.NewFormID(), string(id), string(in.Version), in.Hash, string(f.Users[user]), role, string(f.Users[principal]), string(delegation))
		return err
	}
	named := func(err error, constraint string) {
		t.Helper()
		if !broke(err, constraint) {
			t.Errorf("err = %v, want %s", err, constraint)
		}
	}
	named(insert("ops", "", given, "approver"), "approvals_delegated")
	named(insert("ops2", "lead", given, "approver"), "approvals_delegation")
	named(insert("ops", "lead", given, "ops_owner"), "approvals_delegation_live")
	named(insert("ops", "second", past, "approver"), "approvals_delegation_live")
	ok(t, insert("ops", "lead", given, "approver"))
	named(insert("lead", "", "", "approver"), "approval_people_once")
	named(insert("ops", "", "", "approver"), "approval_people_once")
	for q, constraint := range map[string]string{
		`UPDATE delegations SET ends_at = ends_at + interval '1 day' WHERE id = $1`: "delegations_facts",
		`UPDATE delegations SET revoked_at = NULL, revoked_by = NULL WHERE id = $1`: "delegations_facts",
		`DELETE FROM delegations WHERE id = $1`:                                     "delegations_facts",
	} {
		_, err := f.Owner.Exec(q, string(past))
		named(err, constraint)
	}
	add := func(from, to, by string) error {
		_, err := f.Owner.Exec(`INSERT INTO delegations (id, from_user, to_user, roles, reason, starts_at, ends_at, created_by, created_at, form_id)
			VALUES ('dgn_x', $1, $2, '{approver}', 'r', now(), now() + interval '1 h', $3, now(), 'x')`, string(f.Users[from]), string(f.Users[to]), string(f.Users[by]))
		return err
	}
	named(add("lead", "lead", "lead"), "delegations_other")
	named(add("lead", "ops", "admin"), "delegations_own")
	// a party of the content
	ok(t, f.Store.GrantRole(t.Context(), f.As("admin"), f.Users["author"], store.RoleGrant{Role: operation.RoleApprover}, ""))
	wrote := handOn(t, f, "author", "ops2", operation.RoleApprover)
	named(insert("ops2", "author", wrote, "approver"), "approvals_delegated_party")
}

// TestWithdrawnApprovalCanBeGivenAgain: in the same round, while the quorum is open.
func TestWithdrawnApprovalCanBeGivenAgain(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	id := twoSigned(t, f)
	for range 2 {
		ok(t, f.Decide(t, id, "lead", operation.Approve))
		ok(t, f.Decide(t, id, "lead", operation.Withdraw))
	}
	f.Approve(t, id, "lead", "second")
	if got := f.State(t, id); got != operation.Waiting {
		t.Errorf("state %s", got)
	}
}

// TestRaceRevokeDelegationDecide: every decision for another stands before the end of the
// delegation, by the database's clock.
func TestRaceRevokeDelegationDecide(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx := f.Store, context.Background()
	decided := 0
	for range rightsRounds {
		given := handOn(t, f, "lead", "ops", operation.RoleApprover)
		id := f.Receive(t, storetest.CouponEvent())[0]
		form := f.Decision(t, id, operation.Approve)
		form.For = f.Users["lead"]
		err, revoked := both(func() error { return s.Decide(ctx, f.As("ops"), form) },
			func() error { return s.RevokeDelegation(ctx, f.As("lead"), given, "back") })
		ok(t, revoked)
		if err != nil {
			refused(t, err, operation.CodeDelegation)
			continue
		}
		decided++
		approved := at(t, f, `SELECT decided_at FROM approvals WHERE operation_id = $1`, string(id))
		if gone := at(t, f, `SELECT revoked_at FROM delegations WHERE id = $1`, string(given)); !approved.Before(gone) {
			t.Errorf("approved at %v, under a delegation that ended at %v", approved, gone)
		}
	}
	t.Logf("the decision came first in %d of %d rounds", decided, rightsRounds)
}

// TestRaceApproveForAndOwn: the person acted for and who acts for them press at once; one
// of the two counts.
func TestRaceApproveForAndOwn(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	handOn(t, f, "lead", "ops", operation.RoleApprover)
	for range rightsRounds {
		id := twoSigned(t, f)
		own, lent := f.Decision(t, id, operation.Approve), f.Decision(t, id, operation.Approve)
		lent.For = f.Users["lead"]
		x, y := both(func() error { return f.Store.Decide(context.Background(), f.As("lead"), own) }, func() error { return f.Store.Decide(context.Background(), f.As("ops"), lent) })
		if (x == nil) == (y == nil) {
			t.Fatalf("own: %v, for them: %v", x, y)
		}
		if x != nil {
			refused(t, x, operation.CodeCountedOnce)
		} else {
			refused(t, y, operation.CodeCountedOnce)
		}
		if n := f.Count(t, "approvals WHERE operation_id = $1", string(id)); n != 1 {
			t.Errorf("%d approvals", n)
		}
	}
}

// broke reports that the database refused something by this constraint.
func broke(err error, constraint string) bool {
	var p *pq.Error
	return errors.As(err, &p) && p.Constraint == constraint
}
