package store_test

import (
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestInboxForAnother: what was handed to somebody stands in their inbox with whose it is,
// counts there, and is offered as the next one; what they may decide themselves is their own.
func TestInboxForAnother(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx := f.Store, t.Context()
	one, two := f.Receive(t, storetest.CouponEvent())[0], f.Receive(t, storetest.CouponEvent())[0]
	mail := twoSigned(t, f) // by author; its first stage waits too
	before, err := s.CountInbox(ctx, f.As("ops"))
	ok(t, err)
	handOn(t, f, "lead", "ops", operation.RoleApprover)
	in, err := s.ListInbox(ctx, f.As("ops"))
	ok(t, err)
	found := map[operation.ID]string{}
	for _, r := range in.Rows {
		found[r.ID] = r.For
	}
	for _, id := range []operation.ID{one, two, mail} {
		if found[id] != "Lea Lead" {
			t.Errorf("%s stands there for %q", id, found[id])
		}
	}
	after, err := s.CountInbox(ctx, f.As("ops"))
	ok(t, err)
	if after != len(in.Rows) || after != before+4 {
		t.Errorf("counted %d, before %d, listed %d", after, before, len(in.Rows))
	}
	next, err := s.NextInInbox(ctx, f.As("ops"), one)
	ok(t, err)
	if next == nil || next.ID == one {
		t.Errorf("next after %s: %+v", one, next)
	}
	ok(t, decideFor(t, f, mail, "ops", "lead", operation.Approve))
	for _, who := range []string{"ops", "lead"} { // neither of the two is asked again
		in, err := s.ListInbox(ctx, f.As(who))
		ok(t, err)
		for _, r := range in.Rows {
			if r.ID == mail {
				t.Errorf("%s is asked again", who)
			}
		}
	}
	handOn(t, f, "second", "lead", operation.RoleApprover)
	in, err = s.ListInbox(ctx, f.As("lead"))
	ok(t, err)
	for _, r := range in.Rows {
		if r.For != "" {
			t.Errorf("%s is lead's own and stands there for %s", r.ID, r.For)
		}
	}
	if none, err := s.NextInInbox(ctx, f.As("auditor"), ""); err != nil || none != nil {
		t.Errorf("an auditor's next: %+v, %v", none, err)
	}
}

// TestInboxAsksAgain: an approval that was taken back, or that ran out, asks its person again.
func TestInboxAsksAgain(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx := f.Store, t.Context()
	asked := func(id operation.ID) (found bool) {
		t.Helper()
		in, err := s.ListInbox(ctx, f.As("lead"))
		ok(t, err)
		for _, r := range in.Rows {
			found = found || r.ID == id
		}
		return found
	}
	mail := twoSigned(t, f)
	ok(t, f.Decide(t, mail, "lead", operation.Approve))
	if asked(mail) {
		t.Error("asked again after approving")
	}
	ok(t, f.Decide(t, mail, "lead", operation.Withdraw))
	if !asked(mail) {
		t.Error("not asked again after taking it back")
	}
	id := f.Ready(t)
	for _, q := range []string{`ALTER TABLE clearances DISABLE TRIGGER USER`, `UPDATE clearances SET expires_at = clock_timestamp() - interval '1 second'`,
		`ALTER TABLE clearances ENABLE TRIGGER USER`, `UPDATE operations SET expires_at = clock_timestamp() - interval '1 second' WHERE expires_at IS NOT NULL`} {
		_, err := f.Owner.Exec(q)
		ok(t, err)
	}
	_, err := s.SweepExpired(ctx, store.Job("sweep"))
	ok(t, err)
	if !asked(id) {
		t.Error("not asked again after the approval ran out")
	}
}
