package store_test

import (
	"errors"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// became gives what became of each operation of somebody's set.
func became(t *testing.T, f *storetest.Fixture, a store.Actor, form string) map[operation.ID]operation.Code {
	t.Helper()
	rows, err := f.Store.ListTogetherResults(t.Context(), a, form)
	ok(t, err)
	out := map[operation.ID]operation.Code{}
	for _, r := range rows {
		out[r.Operation] = r.Code
	}
	return out
}

func disputable(t *testing.T, f *storetest.Fixture, a store.Actor, filter store.OperationFilter) []store.DisputeOne {
	t.Helper()
	l, err := f.Store.ListDisputable(t.Context(), a, filter)
	ok(t, err)
	var out []store.DisputeOne
	for _, r := range l.Rows {
		out = append(out, store.DisputeOne{Operation: r.ID, Revision: r.Revision})
	}
	return out
}

// FC-47: each of a set is decided alone and reported; repeating is harmless.
func TestDisputeSet(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	var all []*stand
	for range 6 {
		s := &stand{f: f, t: t, id: coupon(t, f)()}
		ways[operation.Confirmed](s)
		all = append(all, s)
	}
	ops := f.As("ops")
	list := disputable(t, f, ops, store.OperationFilter{Flow: "newsletter-coupon"})
	if len(list) != len(all) || list[0].Operation != all[5].id {
		t.Fatalf("listed %v", list)
	}
	// meanwhile: one is disputed by somebody, one changes, one is known to nobody, one is not confirmed
	all[0].must(f.Store.Dispute(t.Context(), f.As("ops2"), all[0].shown("not there"), ""))
	all[1].must(news["Callback"](all[1], "another-"+string(all[1].id)))
	open := f.Ready(t)
	list = append(list, store.DisputeOne{Operation: "op_00000000000000000000000000", Revision: 1}, store.DisputeOne{Operation: open, Revision: f.Decision(t, open, operation.Approve).Revision})
	form := store.NewFormID()
	with := store.DisputedWith{Evidence: "Their export of today has none of them.", Link: "https://there.example/export", Files: []store.Attachment{attachment(t, "export.png", pngOf(t, 3, 2))}}
	ok(t, f.Store.DisputeSet(t.Context(), ops, form, with, list))
	if n := f.Count(t, "attachments a JOIN attachment_bodies b ON b.attachment_id = a.id JOIN evidence e ON e.id = a.evidence_id WHERE e.body = $1", with.Evidence); n != len(all)-2 {
		t.Errorf("%d files are kept, want one with each that is disputed", n)
	}
	want := map[operation.ID]operation.Code{all[0].id: operation.CodeStaleRevision, all[1].id: operation.CodeStaleRevision, open: operation.CodeForbiddenMove}
	for _, s := range all[2:] {
		want[s.id] = operation.CodeOK
	}
	got := became(t, f, ops, form)
	if len(got) != len(want) {
		t.Errorf("reported %v", got)
	}
	for id, code := range want {
		if c, there := got[id]; !there || c != code {
			t.Errorf("%s became %q, want %q", id, c, code)
		}
	}
	disputed := func() int {
		return f.Count(t, `history WHERE action = 'dispute' AND actor_id = $1`, string(f.Users["ops"]))
	}
	if disputed() != 4 || f.Count(t, `evidence WHERE kind = 'statement' AND link = 'https://there.example/export'`) != 4 {
		t.Errorf("%d disputed", disputed())
	}
	// the same form again, as after a lost answer
	ok(t, f.Store.DisputeSet(t.Context(), ops, form, with, list))
	if disputed() != 4 || len(became(t, f, ops, form)) != len(want) {
		t.Error("repeating did something")
	}
	for _, s := range all {
		(&race{f: f, t: t, id: s.id}).whole()
	}
	big := with
	big.Files = []store.Attachment{attachment(t, "big.pdf", []byte(pdf[:9]+strings.Repeat(" ", 2<<20)+pdf[9:]))}
	invalid(t, f.Store.DisputeSet(t.Context(), ops, store.NewFormID(), big, make([]store.DisputeOne, store.DisputeLimit)), "dispute_files")
	if err := f.Store.DisputeSet(t.Context(), ops, store.NewFormID(), store.DisputedWith{Evidence: "x", Link: ""}, make([]store.DisputeOne, store.DisputeLimit+1)); err == nil {
		t.Error("more than the limit were taken")
	}
}

// A person disputes only what belongs to their flows: a foreign operation is like a missing
// one, and who may read but not dispute is refused alone.
func TestDisputeSetEntitlement(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s := &stand{f: f, t: t, id: coupon(t, f)()}
	ways[operation.Confirmed](s)
	one := []store.DisputeOne{{Operation: s.id, Revision: f.Decision(t, s.id, operation.Approve).Revision}}
	elsewhere := onlyFor(t, f, "elsewhere", operation.RoleOpsOwner, "plain-note")
	reader := onlyFor(t, f, "reader", operation.RoleAuthor, "newsletter-coupon")
	for _, a := range []store.Actor{elsewhere, reader} {
		if got := disputable(t, f, a, store.OperationFilter{}); len(got) != 0 {
			t.Errorf("%s is offered %v", a.Name, got)
		}
	}
	form := store.NewFormID()
	ok(t, f.Store.DisputeSet(t.Context(), elsewhere, form, store.DisputedWith{Evidence: "x", Link: ""}, one))
	if got := became(t, f, elsewhere, form); len(got) != 0 {
		t.Errorf("a foreign operation is reported: %v", got)
	}
	ok(t, f.Store.DisputeSet(t.Context(), reader, form, store.DisputedWith{Evidence: "x", Link: ""}, one))
	if got := became(t, f, reader, form); got[s.id] != operation.CodeNotEntitled {
		t.Errorf("the reader: %v", got)
	}
	if f.State(t, s.id) != operation.Confirmed {
		t.Errorf("it is %s", f.State(t, s.id))
	}
	var refusal *operation.Refusal
	if err := f.Store.Dispute(t.Context(), reader, s.shown("x"), ""); !errors.As(err, &refusal) || refusal.Code != operation.CodeNotEntitled {
		t.Errorf("alone: %v", err)
	}
}

// When an effect is disputed, later stages that are not sent yet wait again.
func TestDisputeSendsLaterStagesBack(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	ids := f.Receive(t, storetest.CampaignEvent())
	ok(t, f.Store.AddVersion(t.Context(), f.As("author"), store.NewVersion{Operation: ids[1], Submit: true, Author: author(f),
		Content: map[string]any{"to": "c@example.test", "subject": "Spring", "text": "Thank you."}}))
	s := &stand{f: f, t: t, id: ids[0]}
	f.Approve(t, ids[0], "lead")
	f.Approve(t, ids[1], "lead", "second")
	s.send()
	s.report(effect(ref(s.id)))
	if f.State(t, ids[1]) != operation.Ready {
		t.Fatalf("the mail is %s", f.State(t, ids[1]))
	}
	form := store.NewFormID()
	ok(t, f.Store.DisputeSet(t.Context(), f.As("ops"), form, store.DisputedWith{Evidence: "No such task there.", Link: ""}, disputable(t, f, f.As("ops"), store.OperationFilter{Flow: "campaign-follow-up"})))
	if f.State(t, ids[0]) != operation.Review || f.State(t, ids[1]) != operation.Waiting {
		t.Errorf("task %s, mail %s", f.State(t, ids[0]), f.State(t, ids[1]))
	}
	if _, err := f.Store.ClaimAndDispatch(t.Context(), hand, ids[1], "hand"); err == nil {
		t.Error("the mail was handed out though its task is disputed")
	}
}
