package store_test

import (
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestCountInbox compares the number with the list, for everybody, step by step.
func TestCountInbox(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx := f.Store, t.Context()
	counts := map[string]int{}
	same := func(step string) {
		t.Helper()
		for who := range f.Users {
			in, err := s.ListInbox(ctx, f.As(who))
			ok(t, err)
			n, err := s.CountInbox(ctx, f.As(who))
			ok(t, err)
			if n != len(in.Rows)+len(in.Held) {
				t.Errorf("%s: %s is told %d, and shown %d operations and %d held events", step, who, n, len(in.Rows), len(in.Held))
			}
			sum := 0
			for _, x := range in.Waiting {
				sum += x
			}
			if sum != len(in.Rows) {
				t.Errorf("%s: the groups of %s say %d, and show %d", step, who, sum, len(in.Rows))
			}
			counts[who] = n
		}
	}
	want := func(who string, n int) {
		t.Helper()
		if counts[who] != n {
			t.Errorf("%s has %d waiting, want %d", who, counts[who], n)
		}
	}
	same("nothing")
	want("ops", 0)

	f.Receive(t, storetest.CouponEvent())
	letter := f.Receive(t, storetest.CampaignEvent())[1]
	f.Receive(t, storetest.NoteEvent())
	same("new")
	want("lead", 2) // the coupon and the task
	want("author", 2)

	ok(t, s.AddVersion(ctx, f.As("author"), store.NewVersion{Operation: letter, Author: store.Author{Kind: "person", ID: string(f.Users["author"])}, Submit: true,
		Content: map[string]any{"to": "c@example.test", "subject": "Spring", "text": "Dear customer"}}))
	same("submitted")
	want("lead", 3)
	f.Approve(t, letter, "lead") // one of two: theirs is done, the other's is not
	same("half approved")
	want("lead", 2)
	want("second", 3)

	// an author who may also approve does not see their own content
	ok(t, s.GrantRole(ctx, f.As("admin"), f.Users["author"], store.RoleGrant{Role: operation.RoleApprover}, ""))
	same("author approves too")
	// a role twice, for all flows and for one, counts once
	ok(t, s.GrantRole(ctx, f.As("admin"), f.Users["lead"], store.RoleGrant{Role: operation.RoleApprover, Flow: "newsletter-coupon"}, ""))
	same("role twice")
	want("lead", 2)

	_, in := twins(t, f)
	held := receive(t, f, in, store.VerdictHeld)
	same("held")
	before := counts["ops"]
	ok(t, s.DiscardHeld(ctx, f.As("ops"), held.Delivery, "form", "the same"))
	same("discarded")
	want("ops", before-1)

	ok(t, s.DisableUser(ctx, f.As("admin"), f.Users["second"], ""))
	same("disabled")
	want("second", 0)
}

// TestCountInboxInEveryState compares number and list with an operation in each state.
func TestCountInboxInEveryState(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	waiting := 0
	for _, state := range operation.States {
		s := &stand{f: f, t: t, id: coupon(t, f)()}
		ways[state](s)
		for who := range f.Users {
			in, err := f.Store.ListInbox(t.Context(), f.As(who))
			ok(t, err)
			n, err := f.Store.CountInbox(t.Context(), f.As(who))
			ok(t, err)
			if n != len(in.Rows) {
				t.Errorf("%s: %s is told %d, and shown %d", state, who, n, len(in.Rows))
			}
			waiting += n
		}
	}
	if waiting < 20 {
		t.Errorf("only %d decisions waited: the states are not there", waiting)
	}
}

// TestCountInboxStops counts no further than pages show.
func TestCountInboxStops(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	for range store.CountLimit + 3 {
		f.Receive(t, storetest.CouponEvent())
	}
	n, err := f.Store.CountInbox(t.Context(), f.As("lead"))
	ok(t, err)
	if n != store.CountLimit {
		t.Errorf("counted %d, want %d", n, store.CountLimit)
	}
	in, err := f.Store.ListInbox(t.Context(), f.As("lead"))
	ok(t, err)
	if len(in.Rows) != store.InboxShown || in.Waiting[operation.DecideApprove] != store.CountLimit {
		t.Errorf("listed %d of %v", len(in.Rows), in.Waiting)
	}
	// page by page they are all there, each once, by their due times
	seen := map[operation.ID]bool{}
	var last time.Time
	for at := ""; ; {
		page, err := f.Store.ListInboxOf(t.Context(), f.As("lead"), operation.DecideApprove, at)
		ok(t, err)
		for _, r := range page.Rows {
			if seen[r.ID] || r.NextAt.Before(last) {
				t.Errorf("%s comes twice or too late", r.ID)
			}
			seen[r.ID], last = true, *r.NextAt
		}
		if at = page.Next; at == "" {
			break
		}
	}
	if len(seen) != store.CountLimit+3 {
		t.Errorf("the pages show %d", len(seen))
	}
	none, err := f.Store.ListInboxOf(t.Context(), f.As("lead"), "earlier_stage", "")
	ok(t, err)
	if len(none.Rows) != 0 {
		t.Errorf("a kind that nobody decides: %d", len(none.Rows))
	}
}
