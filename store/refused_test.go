package store_test

import (
	"fmt"
	"sync"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestFieldCase45_RefusedAttemptsStay lets people try what is not theirs to decide.
func TestFieldCase45_RefusedAttemptsStay(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	s, ctx := f.Store, t.Context()
	ok(t, s.GrantRole(ctx, f.As("admin"), f.Users["author"], store.RoleGrant{Role: operation.RoleApprover}, ""))
	letter := f.Receive(t, storetest.CampaignEvent())[1]
	ok(t, s.AddVersion(ctx, f.As("author"), store.NewVersion{Operation: letter, Author: store.Author{Kind: "person", ID: string(f.Users["author"])}, Submit: true,
		Content: map[string]any{"to": "c@example.test", "subject": "Spring", "text": "Dear customer"}}))
	doubt := &stand{f: f, t: t, id: coupon(t, f)()}
	ways[operation.ReexecutionRequested](doubt)
	var asked operation.UserID
	ok(t, f.Owner.QueryRowContext(ctx, `SELECT requested_by FROM reexecution_requests WHERE operation_id = $1`, string(doubt.id)).Scan(&asked))
	for _, c := range []struct {
		who  operation.UserID
		id   operation.ID
		code operation.Code
		try  func(store.Actor) error
	}{
		{f.Users["author"], letter, operation.CodeOwnContent, func(a store.Actor) error { return s.Decide(ctx, a, f.Decision(t, letter, operation.Approve)) }},
		{f.Users["auditor"], letter, operation.CodeNotEntitled, func(a store.Actor) error { return s.Decide(ctx, a, f.Decision(t, letter, operation.Approve)) }},
		{f.Users["auditor"], doubt.id, operation.CodeNotEntitled, func(a store.Actor) error { return s.Cancel(ctx, a, doubt.shown("no")) }},
		{asked, doubt.id, operation.CodeParty, func(a store.Actor) error { return s.DecideReexecution(ctx, a, doubt.shown("mine"), true) }},
	} {
		was := entries(f, t, c.id)
		refusals := func() (n int) {
			for _, h := range whole(t, s, operation.SubjectUser, string(c.who)) {
				if h.Action == "decision_refused" && h.Links()["operation"] == string(c.id) && h.Links()["code"] == string(c.code) && h.ActorID == string(c.who) && h.Channel == "web" {
					n++
				}
			}
			return n
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { refused(t, c.try(store.Person(c.who, "somebody", "web")), c.code) })
		}
		wg.Wait()
		if n := refusals(); n != 1 {
			t.Errorf("%s: %d entries, want 1", c.code, n)
		}
		if got := entries(f, t, c.id); got != was {
			t.Errorf("%s: the operation was touched: %s, was %s", c.code, got, was)
		}
	}
	// what is only in the way now is no attempt on somebody else's right
	f.Approve(t, letter, "lead")
	refused(t, f.Decide(t, letter, "lead", operation.Approve), operation.CodeAlreadyDecided)
	gone(t, s.Decide(ctx, f.As("lead"), store.Decided{Operation: "op_none", Decision: operation.Approve, FormID: "x"}))
	if n := f.Count(t, "history WHERE action = 'decision_refused' AND subject_id = $1", string(f.Users["lead"])); n != 0 {
		t.Errorf("%d entries for a second click", n)
	}
	// a minute later the same attempt counts anew
	if _, err := f.Owner.ExecContext(ctx, `ALTER TABLE history DISABLE TRIGGER USER; UPDATE history SET at = at - interval '61 seconds' WHERE action = 'decision_refused'`); err != nil {
		t.Fatal(err)
	}
	refused(t, f.Decide(t, letter, "auditor", operation.Approve), operation.CodeNotEntitled)
	if n := f.Count(t, "history WHERE action = 'decision_refused' AND subject_id = $1 AND links::json->>'operation' = $2", string(f.Users["auditor"]), string(letter)); n != 2 {
		t.Errorf("%d entries after a minute, want 2", n)
	}
}

func entries(f *storetest.Fixture, t *testing.T, id operation.ID) string {
	t.Helper()
	return fmt.Sprint(f.Decision(t, id, operation.Approve).Revision, f.Count(t, "history WHERE subject_id = $1", string(id)))
}

// TestRefusedAttemptsDoNotFlood lets one person try on many operations.
func TestRefusedAttemptsDoNotFlood(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	for range 65 {
		id := f.Receive(t, storetest.CouponEvent())[0]
		refused(t, f.Decide(t, id, "auditor", operation.Approve), operation.CodeNotEntitled)
	}
	if n := f.Count(t, "history WHERE action = 'decision_refused'"); n != 60 {
		t.Errorf("%d entries in a minute, want 60", n)
	}
}
