package store_test

import (
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// byGroups applies the coupon's flow with its approvals asked for by two groups: one by an
// ops owner, one by an approver.
func byGroups(t *testing.T, f *storetest.Fixture) {
	t.Helper()
	applyApproval(t, f, "groups: [{key: compliance, title: {en: Compliance}, approvers: {role: ops_owner}}, {key: contact, title: {en: Customer contact}, approvers: {role: approver}}], separate_author: true, expires: 7d, due: 24h")
}

func applyApproval(t *testing.T, f *storetest.Fixture, approval string) {
	t.Helper()
	const old = "approvers: {role: approver}, required: 1, separate_author: true, expires: 7d, due: 24h"
	files, err := storetest.DemoFiles()
	ok(t, err)
	for _, x := range files {
		if src := string(x.Source); strings.HasPrefix(src, "flow: "+couponFlow) {
			if !strings.Contains(src, old) {
				t.Fatal("the flow's approval is written otherwise")
			}
			x.Source = []byte(strings.Replace(src, old, approval, 1))
			_, err := f.Store.Apply(t.Context(), store.System("command"), []store.File{x})
			ok(t, err)
		}
	}
}

func grouped(t *testing.T) *storetest.Fixture {
	t.Helper()
	f := storetest.NewFixture(t)
	byGroups(t, f)
	return f
}

func next(t *testing.T, f *storetest.Fixture, id operation.ID) (role operation.Role) {
	t.Helper()
	ok(t, f.Owner.QueryRow(`SELECT next_role FROM operations WHERE id = $1`, string(id)).Scan(&role))
	return role
}

func given(t *testing.T, f *storetest.Fixture, who string, id operation.ID) (n, of int) {
	t.Helper()
	in, err := f.Store.ListInbox(t.Context(), f.As(who))
	ok(t, err)
	for _, r := range in.Rows {
		if r.ID == id {
			return r.Given, r.Required
		}
	}
	return -1, -1
}

// TestGroups: each group gives what it is asked for, in any order, by people who are entitled
// for it; the clearance is written with the last place, and the gate counts by groups.
func TestGroups(t *testing.T) {
	t.Parallel()
	f := grouped(t)
	s, ctx := f.Store, t.Context()
	id := f.Receive(t, storetest.CouponEvent())[0]
	if next(t, f, id) != operation.RoleOpsOwner {
		t.Error("the first group is not asked first")
	}
	if n, of := given(t, f, "ops", id); n != 0 || of != 2 {
		t.Errorf("%d of %d", n, of)
	}
	f.Approve(t, id, "lead")
	refused(t, f.Decide(t, id, "second", operation.Approve), operation.CodeGroupFilled)
	refused(t, f.Decide(t, id, "auditor", operation.Approve), operation.CodeNotEntitled)
	refused(t, f.Decide(t, id, "auditor", operation.Reject), operation.CodeNotEntitled)
	if f.State(t, id) != operation.PendingApproval || f.Count(t, "clearances WHERE operation_id = $1", string(id)) != 0 {
		t.Fatal("one group alone made the quorum")
	}
	if n, of := given(t, f, "ops2", id); n != 1 || of != 2 {
		t.Errorf("%d of %d", n, of)
	}
	ok(t, f.Decide(t, id, "lead", operation.Withdraw))
	f.Approve(t, id, "ops")
	if next(t, f, id) != operation.RoleApprover {
		t.Error("the group with the open place is not asked")
	}
	if n, of := given(t, f, "second", id); n != 1 || of != 2 {
		t.Errorf("%d of %d", n, of)
	}
	refused(t, f.Decide(t, id, "ops2", operation.Approve), operation.CodeGroupFilled)
	f.Approve(t, id, "second")
	if f.State(t, id) != operation.Ready || f.Count(t, "clearances WHERE operation_id = $1 AND required = 2", string(id)) != 1 ||
		f.Count(t, "approvals WHERE operation_id = $1 AND role = 'ops_owner' AND decision = 'approve'", string(id)) != 1 {
		t.Fatalf("state %s", f.State(t, id))
	}
	for _, h := range whole(t, s, operation.SubjectOperation, string(id)) {
		group := map[string]string{string(f.Users["lead"]): "contact", string(f.Users["second"]): "contact", string(f.Users["ops"]): "compliance"}[h.ActorID]
		if h.Action == "approve" && h.Links()["group"] != group {
			t.Errorf("the history says group %q for %s", h.Links()["group"], h.ActorID)
		}
	}
	page, err := s.FindOperation(ctx, f.As("ops"), id)
	ok(t, err)
	if page.Policy == nil || !operation.QuorumReached(*page.Policy, page.Given()) {
		t.Error("the page counts otherwise than the store")
	}
	ok(t, f.Decide(t, id, "second", operation.Withdraw)) // a withdrawal opens the decision again
	if f.State(t, id) != operation.PendingApproval || next(t, f, id) != operation.RoleOpsOwner {
		t.Errorf("state %s, asks %s", f.State(t, id), next(t, f, id))
	}
}

// TestGroupsAtTheGate: who loses the role of their group permits nothing any more, also where
// they hold the other group's; a role of the right group given back permits again.
func TestGroupsAtTheGate(t *testing.T) {
	t.Parallel()
	f := grouped(t)
	s, ctx := f.Store, t.Context()
	approver, ops := store.RoleGrant{Role: operation.RoleApprover}, store.RoleGrant{Role: operation.RoleOpsOwner}
	prepare := func() operation.ID {
		id := f.Receive(t, storetest.CouponEvent())[0]
		f.Approve(t, id, "lead", "ops")
		return id
	}
	id := prepare()
	ok(t, s.GrantRole(ctx, f.As("admin"), f.Users["lead"], ops, ""))
	ok(t, s.RevokeRole(ctx, f.As("admin"), f.Users["lead"], approver, ""))
	_, err := s.Claim(ctx, worker, id, "w")
	refused(t, err, operation.CodeApproverNotEntitled)
	ok(t, s.GrantRole(ctx, f.As("admin"), f.Users["lead"], approver, ""))

	id = prepare() // both hold what they need, one holds both
	c, err := s.Claim(ctx, worker, id, "w")
	ok(t, err)
	ok(t, s.RevokeRole(ctx, f.As("admin"), f.Users["ops"], ops, ""))
	_, err = s.Dispatch(ctx, worker, c.Attempt, c.Fence)
	refused(t, err, operation.CodeApproverNotEntitled)
}

// TestGroupsRightComesBack: an approval whose right ended fills no place while the others
// approve; when the right comes back, one more member's approval completes it.
func TestGroupsRightComesBack(t *testing.T) {
	t.Parallel()
	f := grouped(t)
	s, ctx, g := f.Store, t.Context(), store.RoleGrant{Role: operation.RoleOpsOwner}
	id := f.Receive(t, storetest.CouponEvent())[0]
	f.Approve(t, id, "ops")
	ok(t, s.RevokeRole(ctx, f.As("admin"), f.Users["ops"], g, ""))
	f.Approve(t, id, "lead")
	if f.State(t, id) != operation.PendingApproval || next(t, f, id) != operation.RoleOpsOwner {
		t.Fatalf("state %s, asks %s", f.State(t, id), next(t, f, id))
	}
	refused(t, f.Decide(t, id, "second", operation.Approve), operation.CodeGroupFilled)
	ok(t, s.GrantRole(ctx, f.As("admin"), f.Users["ops"], g, ""))
	f.Approve(t, id, "ops2")
	if f.State(t, id) != operation.Ready {
		t.Fatalf("state %s", f.State(t, id))
	}
	_, err := s.Claim(ctx, worker, id, "w")
	ok(t, err)
	whole(t, s, operation.SubjectOperation, string(id))
}

// TestGroupsOnePersonOnePlace: who fits both groups fills one place, gives way to who fits
// one alone, and a second account of theirs changes nothing.
func TestGroupsOnePersonOnePlace(t *testing.T) {
	t.Parallel()
	f := grouped(t)
	s, ctx := f.Store, t.Context()
	ok(t, s.GrantRole(ctx, f.As("admin"), f.Users["lead"], store.RoleGrant{Role: operation.RoleOpsOwner}, ""))
	id := f.Receive(t, storetest.CouponEvent())[0]
	f.Approve(t, id, "lead")
	refused(t, f.Decide(t, id, "lead", operation.Approve), operation.CodeAlreadyDecided)
	if f.State(t, id) != operation.PendingApproval || next(t, f, id) != operation.RoleApprover {
		t.Fatalf("state %s, asks %s", f.State(t, id), next(t, f, id))
	}
	f.Approve(t, id, "ops") // lead moves to the other group
	if f.State(t, id) != operation.Ready {
		t.Fatalf("state %s", f.State(t, id))
	}
	_, err := s.Claim(ctx, worker, id, "w")
	ok(t, err)

	ok(t, s.LinkPerson(ctx, f.As("admin"), f.Users["ops"], f.Users["second"], "one person"))
	id = f.Receive(t, storetest.CouponEvent())[0]
	f.Approve(t, id, "second")
	refused(t, f.Decide(t, id, "ops", operation.Approve), operation.CodeAlreadyDecided)
	f.Approve(t, id, "ops2")
	if f.State(t, id) != operation.Ready {
		t.Errorf("state %s", f.State(t, id))
	}
}

// TestGroupsByDelegation: a delegate acts for the giver in the groups whose role was handed
// on, and in no other.
func TestGroupsByDelegation(t *testing.T) {
	t.Parallel()
	f := grouped(t)
	s, ctx := f.Store, t.Context()
	ok(t, s.GrantRole(ctx, f.As("admin"), f.Users["lead"], store.RoleGrant{Role: operation.RoleOpsOwner}, ""))
	handOn(t, f, "lead", "ops", operation.RoleApprover)
	id := f.Receive(t, storetest.CouponEvent())[0]
	ok(t, decideFor(t, f, id, "ops", "lead", operation.Approve))
	if next(t, f, id) != operation.RoleOpsOwner {
		t.Error("the approval for another went to a group whose role was not handed on")
	}
	refused(t, f.Decide(t, id, "second", operation.Approve), operation.CodeGroupFilled) // lead's role of an ops owner was not handed on
	refused(t, f.Decide(t, id, "ops", operation.Approve), operation.CodeCountedOnce)
	f.Approve(t, id, "ops2")
	_, err := s.Claim(ctx, worker, id, "w")
	ok(t, err)
	list, err := s.ListTogether(ctx, f.As("second"), couponFlow, couponStage)
	ok(t, err)
	if len(list.Items) != 0 {
		t.Errorf("%d to approve", len(list.Items))
	}
	f.Receive(t, storetest.CouponEvent())
	for who, n := range map[string]int{"second": 1, "ops2": 1, "auditor": 0} {
		list, err := s.ListTogether(ctx, f.As(who), couponFlow, couponStage)
		ok(t, err)
		if len(list.Items) != n {
			t.Errorf("%s: %d to approve, want %d", who, len(list.Items), n)
		}
	}
}

// TestGroupsPinned: what was submitted keeps its policy, both ways: without groups under a
// flow that has them now, and as text that never named them.
func TestGroupsPinned(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	before := f.Receive(t, storetest.CouponEvent())[0]
	if n := f.Count(t, "submissions WHERE operation_id = $1 AND policy LIKE '%groups%'", string(before)); n != 0 {
		t.Error("a policy without groups names them")
	}
	byGroups(t, f)
	after := f.Receive(t, storetest.CouponEvent())[0]
	f.Approve(t, before, "lead")
	f.Approve(t, after, "lead")
	if f.State(t, before) != operation.Ready || f.State(t, after) != operation.PendingApproval {
		t.Errorf("%s, %s", f.State(t, before), f.State(t, after))
	}
	_, err := f.Store.Claim(t.Context(), worker, before, "w")
	ok(t, err)
	applyApproval(t, f, "approvers: {role: approver}, required: 1, separate_author: true, expires: 7d, due: 24h")
	refused(t, f.Decide(t, after, "second", operation.Approve), operation.CodeGroupFilled)
	f.Approve(t, after, "ops")
	if f.State(t, after) != operation.Ready {
		t.Errorf("state %s", f.State(t, after))
	}
	whole(t, f.Store, operation.SubjectOperation, string(before))
	whole(t, f.Store, operation.SubjectOperation, string(after))
}

// TestGroupsShort: a flow whose groups the people there are can never fill is refused, with
// the group's name.
func TestGroupsShort(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	files, err := storetest.DemoFiles()
	ok(t, err)
	for _, x := range files {
		if src := string(x.Source); strings.HasPrefix(src, "flow: "+couponFlow) {
			x.Source = []byte(strings.Replace(src, "approvers: {role: approver}, required: 1,", "groups: [{key: a, title: {en: A}, approvers: {role: approver}, required: 2}, {key: b, title: {en: B}, approvers: {role: approver}}],", 1))
			_, err := f.Store.Apply(t.Context(), store.System("command"), []store.File{x})
			if err == nil || !strings.Contains(err.Error(), "group b") || !strings.Contains(err.Error(), "stages[0].approval") {
				t.Errorf("%v", err)
			}
		}
	}
}

// TestRaceGroupsLastPlace: two people of one group press Approve for its last place. One
// fills it; the other is told.
func TestRaceGroupsLastPlace(t *testing.T) {
	t.Parallel()
	f := grouped(t)
	s, ctx := f.Store, t.Context()
	again(t, f, func() operation.ID {
		id := f.Receive(t, storetest.CouponEvent())[0]
		f.Approve(t, id, "ops")
		return id
	}, func(r race) {
		one, two := f.Decision(t, r.id, operation.Approve), f.Decision(t, r.id, operation.Approve)
		x, y := both(func() error { return s.Decide(ctx, f.As("lead"), one) }, func() error { return s.Decide(ctx, f.As("second"), two) })
		if (x == nil) == (y == nil) {
			t.Errorf("%v and %v", x, y)
		}
		if n := f.Count(t, "approvals WHERE operation_id = $1", string(r.id)); n != 2 || f.State(t, r.id) != operation.Ready {
			t.Errorf("%d approvals, %s", n, f.State(t, r.id))
		}
	})
}

// TestRaceGroupsBoth: the two groups press Approve at once. Both count, and one clearance
// is written.
func TestRaceGroupsBoth(t *testing.T) {
	t.Parallel()
	f := grouped(t)
	s, ctx := f.Store, t.Context()
	again(t, f, func() operation.ID { return f.Receive(t, storetest.CouponEvent())[0] }, func(r race) {
		one, two := f.Decision(t, r.id, operation.Approve), f.Decision(t, r.id, operation.Approve)
		x, y := both(func() error { return s.Decide(ctx, f.As("lead"), one) }, func() error { return s.Decide(ctx, f.As("ops"), two) })
		ok(t, x)
		ok(t, y)
		if n := f.Count(t, "clearances WHERE operation_id = $1", string(r.id)); n != 1 || f.State(t, r.id) != operation.Ready {
			t.Errorf("%d clearances, %s", n, f.State(t, r.id))
		}
	})
}

// TestRaceGroupsRevoke: a person of the first group loses the role while the second group's
// approves. Nothing is ever sent on the approval that no longer holds.
func TestRaceGroupsRevoke(t *testing.T) {
	t.Parallel()
	f := grouped(t)
	s, ctx, g := f.Store, t.Context(), store.RoleGrant{Role: operation.RoleOpsOwner}
	for range rightsRounds {
		id := f.Receive(t, storetest.CouponEvent())[0]
		f.Approve(t, id, "ops")
		form := f.Decision(t, id, operation.Approve)
		err, revoked := both(func() error { return s.Decide(ctx, f.As("lead"), form) },
			func() error { return s.RevokeRole(ctx, f.As("admin"), f.Users["ops"], g, "") })
		ok(t, revoked)
		ok(t, err)
		if f.State(t, id) == operation.PendingApproval { // the right ended first: another of the group is needed
			if next(t, f, id) != operation.RoleOpsOwner || f.Count(t, "clearances WHERE operation_id = $1", string(id)) != 0 {
				t.Errorf("asks %s", next(t, f, id))
			}
			f.Approve(t, id, "ops2")
			_, err := s.Claim(ctx, worker, id, "w")
			ok(t, err)
		} else {
			_, err := s.Claim(ctx, worker, id, "w")
			refused(t, err, operation.CodeApproverNotEntitled)
		}
		ok(t, s.GrantRole(ctx, f.As("admin"), f.Users["ops"], g, ""))
	}
}
