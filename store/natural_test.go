package store_test

import (
	"errors"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// link records two of the fixture's people as one natural person.
func link(t *testing.T, f *storetest.Fixture, id, same string) {
	t.Helper()
	ok(t, f.Store.LinkPerson(t.Context(), store.System("command"), f.Users[id], f.Users[same], "one person, two accounts"))
}

func refusedAs(t *testing.T, err error, code operation.Code) {
	t.Helper()
	var r *operation.Refusal
	if !errors.As(err, &r) || r.Code != code {
		t.Fatalf("err = %v, want refusal %s", err, code)
	}
}

func invalidAs(t *testing.T, err error, code string) {
	t.Helper()
	var i *store.Invalid
	if !errors.As(err, &i) || i.Code != code {
		t.Fatalf("err = %v, want invalid %s", err, code)
	}
}

// TestFieldCase45_TwoAccountsOfOnePerson: an approver whose second account wrote the
// content is its author, and two accounts make no quorum.
func TestFieldCase45_TwoAccountsOfOnePerson(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	mail := func() operation.ID {
		ids := f.Receive(t, storetest.CampaignEvent())
		n := store.NewVersion{Operation: ids[1], Content: map[string]any{"to": "c1@example.test", "subject": "Spring", "text": "Dear customer"},
			Author: store.Author{Kind: "person", ID: string(f.Users["author"])}, Submit: true}
		ok(t, f.Store.AddVersion(t.Context(), f.As("author"), n))
		return ids[1]
	}

	t.Run("own content", func(t *testing.T) {
		id := mail()
		link(t, f, "lead", "author")
		refusedAs(t, f.Decide(t, id, "lead", operation.Approve), operation.CodeOwnContent)
		page, err := f.Store.FindOperation(t.Context(), f.As("lead"), id)
		ok(t, err)
		v, err := f.Store.FindViewer(t.Context(), f.As("lead"))
		ok(t, err)
		r := operation.MayDecide(page.State, *page.Policy, v.In(page.Flow), page.Parties, page.Given(), operation.Approve)
		if r == nil || r.Code != operation.CodeOwnContent {
			t.Errorf("the page would offer the button: %v", r)
		}
		ok(t, f.Store.UnlinkPerson(t.Context(), store.System("command"), f.Users["lead"], "they are two"))
		ok(t, f.Decide(t, id, "lead", operation.Approve))
	})
	t.Run("quorum", func(t *testing.T) {
		id := mail()
		ok(t, f.Decide(t, id, "lead", operation.Approve))
		link(t, f, "second", "lead")
		refusedAs(t, f.Decide(t, id, "second", operation.Approve), operation.CodeAlreadyDecided)
		if s := f.State(t, id); s != operation.PendingApproval {
			t.Errorf("state %s after one person's two accounts", s)
		}
		ok(t, f.Store.UnlinkPerson(t.Context(), store.System("command"), f.Users["second"], "they are two"))
	})
	t.Run("at the gate", func(t *testing.T) {
		id := mail()
		task := f.Ready(t) // keeps the first stage out of it
		_ = task
		f.Approve(t, id, "lead", "second")
		link(t, f, "second", "lead") // found out after both had approved
		first := f.Count(t, "operations WHERE id = $1 AND state = 'waiting'", string(id))
		if first != 1 {
			t.Fatal("the mail does not wait for its task")
		}
		page, err := f.Store.FindOperation(t.Context(), f.As("ops"), id)
		ok(t, err)
		if got := len(page.Given()); got != 2 || page.Given()[0].User != page.Given()[1].User {
			t.Errorf("given = %v, want two decisions of one person", page.Given())
		}
		ok(t, f.Store.UnlinkPerson(t.Context(), store.System("command"), f.Users["second"], "they are two"))
	})
}

// TestGateCountsPersons: a clearance of two accounts is worth nothing once they turn out
// to be one person.
func TestGateCountsPersons(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	id := f.Ready(t)
	_, err := f.Owner.Exec(`ALTER TABLE clearances DISABLE TRIGGER clearances_append_only; UPDATE clearances SET required = 2;
		ALTER TABLE clearances ENABLE TRIGGER clearances_append_only;
		ALTER TABLE approvals DISABLE TRIGGER approvals_append_only`)
	ok(t, err)
	_, err = f.Owner.Exec(`INSERT INTO approvals (id, operation_id, version_id, hash, decision, user_id, role, reason, round, form_id, decided_at)
		SELECT 'apr_second', operation_id, version_id, hash, decision, $1, role, reason, round, 'f-second', decided_at FROM approvals`, string(f.Users["second"]))
	ok(t, err)
	_, err = f.Owner.Exec(`INSERT INTO clearance_approvals (clearance_id, approval_id) SELECT id, 'apr_second' FROM clearances`)
	ok(t, err)
	link(t, f, "second", "lead")
	_, err = f.Store.ClaimAndDispatch(t.Context(), worker, id, "w")
	refusedAs(t, err, operation.CodeApproverNotEntitled)
}

func TestLinkPerson(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	ctx, admin := t.Context(), f.As("admin")
	refusedAs(t, f.Store.LinkPerson(ctx, f.As("lead"), f.Users["ops"], f.Users["ops2"], "x"), operation.CodeNotEntitled)
	invalidAs(t, f.Store.LinkPerson(ctx, admin, f.Users["ops"], f.Users["ops"], "x"), "same_account")
	invalidAs(t, f.Store.LinkPerson(ctx, admin, f.Users["admin"], f.Users["ops"], "x"), "own_access")
	invalidAs(t, f.Store.LinkPerson(ctx, admin, f.Users["ops"], f.Users["admin"], "x"), "own_access")
	ok(t, f.Store.LinkPerson(ctx, admin, f.Users["ops2"], f.Users["ops"], "one person"))
	ok(t, f.Store.LinkPerson(ctx, admin, f.Users["lead"], f.Users["ops2"], "the same"))
	if n := f.Count(t, "users WHERE same_as = $1", string(f.Users["ops"])); n != 2 {
		t.Errorf("%d accounts name the first, want both: links are one level deep", n)
	}
	invalidAs(t, f.Store.LinkPerson(ctx, admin, f.Users["ops"], f.Users["author"], "x"), "person_has_accounts")
	ok(t, f.Store.LinkPerson(ctx, admin, f.Users["ops2"], f.Users["ops"], "again"))
	if n := f.Count(t, "history WHERE action = 'link_person' AND subject_id = $1", string(f.Users["ops2"])); n != 1 {
		t.Errorf("%d entries, want 1: the same again is nothing new", n)
	}
	ok(t, f.Store.UnlinkPerson(ctx, admin, f.Users["ops2"], "two after all"))
	if n := f.Count(t, "history WHERE action = 'unlink_person'"); n != 1 {
		t.Errorf("%d entries of unlinking", n)
	}
}
