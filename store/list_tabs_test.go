package store_test

import (
	"slices"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestInboxTabs goes with one mail through writing, sending back, approval by two, and
// compares at every step the numbers at the tabs with what they list, for everybody.
func TestInboxTabs(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx := f.Store, t.Context()
	type lists struct{ others, changes, done []operation.ID }
	look := func(who string) (l lists) {
		t.Helper()
		n, err := s.CountInboxTabs(ctx, f.As(who))
		ok(t, err)
		others, err := s.ListOthers(ctx, f.As(who))
		ok(t, err)
		changes, err := s.ListChanges(ctx, f.As(who))
		ok(t, err)
		done, err := s.ListDone(ctx, f.As(who), "")
		ok(t, err)
		mine, err := s.CountInbox(ctx, f.As(who))
		ok(t, err)
		for _, r := range others {
			l.others = append(l.others, r.ID)
		}
		for _, r := range changes {
			l.changes = append(l.changes, r.ID)
		}
		for _, r := range done.Rows {
			l.done = append(l.done, r.ID)
		}
		if want := (store.InboxCounts{Mine: mine, Others: len(others), Changes: len(changes), Done: len(done.Rows)}); n != want {
			t.Errorf("%s is told %+v, and shown %+v", who, n, want)
		}
		return l
	}
	want := func(step, who string, w lists) {
		t.Helper()
		if got := look(who); !slices.Equal(got.others, w.others) || !slices.Equal(got.changes, w.changes) || !slices.Equal(got.done, w.done) {
			t.Errorf("%s: %s sees %+v, want %+v", step, who, got, w)
		}
	}
	everybody := func(step string) {
		t.Helper()
		for who := range f.Users {
			look(who)
		}
		_ = step
	}
	letter := f.Receive(t, storetest.CampaignEvent())[1]
	one := []operation.ID{letter}
	write := func(text string) {
		t.Helper()
		ok(t, s.AddVersion(ctx, f.As("author"), store.NewVersion{Operation: letter, Author: store.Author{Kind: "person", ID: string(f.Users["author"])}, Submit: true,
			Content: map[string]any{"to": "c@example.test", "subject": "Spring", "text": text}}))
	}
	everybody("new")
	want("new", "author", lists{})
	write("Dear customer")
	everybody("submitted")
	want("submitted", "author", lists{others: one, done: one})
	want("submitted", "lead", lists{})

	d := f.Decision(t, letter, operation.RequestChanges)
	d.Reason = "Say who writes"
	ok(t, s.Decide(ctx, f.As("lead"), d))
	everybody("sent back")
	want("sent back", "author", lists{changes: one, done: one})
	want("sent back", "lead", lists{others: one, changes: one, done: one})
	want("sent back", "second", lists{})
	changes, err := s.ListChanges(ctx, f.As("author"))
	ok(t, err)
	if len(changes) != 1 || changes[0].Reason != "Say who writes" || changes[0].By != f.Users["lead"] {
		t.Errorf("what should change: %+v", changes)
	}

	write("Dear customer, yours Anna")
	everybody("again")
	want("again", "author", lists{others: one, done: one})
	want("again", "lead", lists{done: one}) // it is theirs to decide now
	f.Approve(t, letter, "lead")
	everybody("half approved")
	want("half approved", "lead", lists{others: one, done: one})
	f.Approve(t, letter, "second")
	everybody("approved")
	want("approved", "lead", lists{done: one})

	for _, who := range []string{"lead", "second"} { // whoever loses their rights loses their lists
		ok(t, s.DisableUser(ctx, f.As("admin"), f.Users[who], ""))
		want("disabled", who, lists{})
	}
}

// TestListDone pages through what somebody did: each operation once, by its last act.
func TestListDone(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	var ids []operation.ID
	for range store.InboxShown + 5 {
		id := f.Receive(t, storetest.CouponEvent())[0]
		f.Approve(t, id, "lead")
		ids = append(ids, id)
	}
	ok(t, f.Decide(t, ids[0], "lead", operation.Withdraw)) // the oldest becomes the newest
	want := append([]operation.ID{ids[0]}, reversed(ids[1:])...)
	var got []operation.ID
	for at := ""; ; {
		page, err := f.Store.ListDone(t.Context(), f.As("lead"), at)
		ok(t, err)
		for _, r := range page.Rows {
			got = append(got, r.ID)
		}
		if at = page.Next; at == "" {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %d %v, want %d %v", len(got), got[:3], len(want), want[:3])
	}
	first, err := f.Store.ListDone(t.Context(), f.As("lead"), "")
	ok(t, err)
	if e := first.Rows[0].Entry; e.Action != "expire" || e.ActorID != string(f.Users["lead"]) {
		t.Errorf("the last act is %s of %s", e.Action, e.ActorID)
	}
}

func reversed(ids []operation.ID) []operation.ID {
	out := slices.Clone(ids)
	slices.Reverse(out)
	return out
}
