package store_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"unicode"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestReexecutionOfASuppressedItem: what people permit once more goes to nobody who is on the
// suppression list by then, whether they got there before the second person's decision or after.
func TestReexecutionOfASuppressedItem(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "{approvers: {role: approver}, expires: 72h}")
	id := f.Batch(t, storetest.Recipients(3, nil))
	f.ApproveBatch(t, id, "lead")
	sent := took(t, f, id, 10).Dispatched
	recorded(t, f, id, confirmed(sent))
	_, err := f.Owner.Exec(`UPDATE operations SET last_dispatch = last_dispatch - interval '1 day', last_send = last_send - interval '1 day'`) // no request can take effect any more
	ok(t, err)
	approve := func(s *stand) error {
		return f.Store.DecideReexecution(t.Context(), f.Fresh(t, "ops2"), s.shown("agreed"), true)
	}
	again := func(i int) *stand {
		s := &stand{f: f, t: t, id: sent[i].Operation}
		s.dispute()
		s.notDone(true)
		return s
	}
	suppress := func(i int) { suppressed(t, f, sent[i].Content["to"].(string)) }
	attempts := func(i int) int { return f.Count(t, "attempts WHERE operation_id = $1", string(sent[i].Operation)) }
	state := func(i int) (s operation.State) {
		ok(t, f.Owner.QueryRow(`SELECT state FROM operations WHERE id = $1`, string(sent[i].Operation)).Scan(&s))
		return s
	}

	before := again(0)
	suppress(0)
	refused(t, approve(before), operation.CodeSuppressed)
	if state(0) != operation.ReexecutionRequested {
		t.Errorf("refused, it is %s", state(0))
	}

	after := again(1)
	ok(t, approve(after))
	suppress(1)
	_, err = f.Store.ClaimAndDispatch(t.Context(), runner, sent[1].Operation, "alone")
	refused(t, err, operation.CodeSuppressed)
	if state(1) != operation.Review || attempts(1) != 1 {
		t.Errorf("suppressed after the decision, it is %s with %d attempts", state(1), attempts(1))
	}
	if p, err := f.Store.FindOperation(t.Context(), f.As("ops"), sent[1].Operation); err != nil || !p.Facts.Suppressed {
		t.Errorf("its page does not know: %v", err)
	}

	other := again(2)
	ok(t, approve(other))
	_, err = f.Store.ClaimAndDispatch(t.Context(), runner, sent[2].Operation, "alone")
	refused(t, err, operation.CodeLookupNeeded) // who is not suppressed goes on to the next condition
	verified(t, f, id)
}

// TestReplacementOfASuppressedItem: what replaces an item of a batch, or a replacement of one,
// is held to the suppression list as the item was, by the recipients of its own content.
func TestReplacementOfASuppressedItem(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "{approvers: {role: approver}, expires: 72h}")
	list := storetest.Recipients(3, nil)
	id := f.Batch(t, list)
	f.ApproveBatch(t, id, "lead")
	sent := took(t, f, id, 10).Dispatched
	recorded(t, f, id, confirmed(sent))
	_, err := f.Owner.Exec(`UPDATE operations SET last_dispatch = last_dispatch - interval '1 day', last_send = last_send - interval '1 day'`)
	ok(t, err)
	to := func(i int) string { return sent[i].Content["to"].(string) }
	item := func(i int) *stand {
		s := &stand{f: f, t: t, id: sent[i].Operation}
		s.dispute()
		s.notDone(false)
		return s
	}
	instead := func(s *stand, recipient string) *stand {
		p, err := f.Store.FindOperation(t.Context(), f.As("author"), s.id)
		ok(t, err)
		content := p.Current().Content()
		content["to"] = recipient
		next, err := f.Store.Replace(t.Context(), f.As("author"), s.shown("other content"), store.Replacement{Content: content, Submit: true})
		ok(t, err)
		return &stand{f: f, t: t, id: next}
	}

	first := instead(item(0), to(0))
	ok(t, f.Decide(t, first.id, "ops2", operation.Reject))
	second := instead(first, to(0)) // the item is two before it
	f.Approve(t, second.id, "ops2")
	suppressed(t, f, to(0))
	_, err = f.Store.ClaimAndDispatch(t.Context(), hand, second.id, "hand")
	refused(t, err, operation.CodeSuppressed)
	if s := f.State(t, second.id); s != operation.Review || f.Count(t, "attempts WHERE operation_id = $1", string(second.id)) != 0 {
		t.Errorf("suppressed, the replacement is %s", s)
	}
	if p, err := f.Store.FindOperation(t.Context(), f.As("ops"), second.id); err != nil || !p.Facts.Suppressed {
		t.Errorf("its page does not know: %v", err)
	}

	suppressed(t, f, "away@example.test")
	away := instead(item(1), "Away@Example.test") // its own recipient counts, not the item's
	f.Approve(t, away.id, "ops2")
	_, err = f.Store.ClaimAndDispatch(t.Context(), hand, away.id, "hand")
	refused(t, err, operation.CodeSuppressed)

	suppressed(t, f, to(2))
	other := instead(item(2), "new-address@example.test")
	f.Approve(t, other.id, "ops2")
	other.send()
	verified(t, f, id)
}

// TestSuppressionsStoredBefore: entries with characters that nobody sees, from before those
// were taken out, hold again: one for each address and channel, since when the earliest held
// and for its reason. What was there stays to be read.
func TestSuppressionsStoredBefore(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	_, err := f.Owner.Exec(`ALTER TABLE suppressions DROP CONSTRAINT suppressions_visible`)
	ok(t, err)
	n := 0
	old := func(address, reason, since, until string) {
		n++
		_, err := f.Owner.Exec(`INSERT INTO suppressions (id, address, scope, reason, note, since, until_at, source, added_kind, added_by, created_at, updated_at)
			VALUES ($1, $2, 'all', $3, 'note ' || $1, CAST($4 AS timestamptz), CAST(NULLIF($5, '') AS timestamptz), 'person', 'person', 'usr_x', now(), now())`, fmt.Sprint("sup_old", n), address, reason, since, until)
		ok(t, err)
	}
	old("alone\u200b@example.test", "complaint", "2025-03-01", "")
	old("twice@example.test", "manual", "2025-05-01", "2099-01-01")
	old("\ufefftwice@example.test", "unsubscribed", "2025-04-01", "2098-01-01")
	old("tw\u00adice@example.test", "hard_bounce", "2024-04-01", "2024-06-01") // over
	old("later@example.test", "manual", "2025-01-01", "2098-01-01")
	old("later@example.test\u2060", "hard_bounce", "2025-02-01", "")
	old("e\u0301va@example.test", "complaint", "2025-02-01", "")
	old("\u200d\u3164", "manual", "2025-02-01", "")
	old("plain@example.test", "manual", "2025-01-01", "")
	for range 2 { // a second time there is nothing to do
		_, err = f.Owner.Exec(`SELECT renew_suppressions()`)
		ok(t, err)
	}
	_, err = f.Owner.Exec(`ALTER TABLE suppressions ADD CONSTRAINT suppressions_visible CHECK (lifted_at IS NOT NULL OR address = visible_address(address))`)
	ok(t, err)

	got, err := f.Store.SuppressedAmong(t.Context(), "email", "mail", []string{"alone@example.test", "twi\u200bce@example.test", "later@example.test", "éva@example.test", "plain@example.test"})
	ok(t, err)
	want := map[string]operation.SuppressionReason{"alone@example.test": "complaint", "twice@example.test": "unsubscribed", "later@example.test": "manual", "éva@example.test": "complaint", "plain@example.test": "manual"}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, where := range []string{
		`address = 'alone@example.test' AND since = '2025-03-01' AND until_at IS NULL AND note = 'note sup_old1' AND lifted_at IS NULL AND revision = 1`,
		`id = 'sup_old2' AND since = '2025-04-01' AND until_at = '2099-01-01' AND note = 'note sup_old3' AND lifted_at IS NULL AND revision = 2`,
		`id = 'sup_old5' AND since = '2025-01-01' AND until_at IS NULL AND lifted_at IS NULL`,
		`id = 'sup_old9' AND lifted_at IS NULL AND revision = 1`,
		`id = 'sup_old8' AND lifted_why = 'The address had no visible character.'`,
	} {
		if f.Count(t, `suppressions WHERE `+where) != 1 {
			t.Errorf("not so: %s", where)
		}
	}
	if k := f.Count(t, `suppressions WHERE lifted_at IS NOT NULL AND lifted_by = 'upgrade' AND address <> visible_address(address)`); k != 6 {
		t.Errorf("%d entries as they were stored, want 6", k)
	}
	page, err := f.Store.ListSuppressions(t.Context(), f.As("admin"), store.SuppressionFilter{Search: "alone"})
	if err != nil || len(page.Rows) == 0 {
		t.Errorf("%+v, %v", page, err)
	}

	// The same characters as operation.NormalAddress takes out, and in the gate's question too.
	var b strings.Builder
	for r := range unicode.MaxRune {
		if unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			b.WriteRune(r)
		}
	}
	var hit, letters bool
	var rest string
	ok(t, f.Owner.QueryRow(`SELECT visible_address($1), is_suppressed($2, 'email', 'mail', now()), visible_address($3) = $3`, "a"+b.String()+"b", "x@y.test, al\u200bone@example.test", "ąßя日本\u00a0-+._").Scan(&rest, &hit, &letters))
	if rest != "ab" || !hit || !letters {
		t.Errorf("left over: %q; asked with one: %v; letters stay: %v", rest, hit, letters)
	}
}

// TestItemIsNotWrittenAnew: an item keeps the content that was approved with its list. Other
// content is a replacement, with an approval and recipients of its own.
func TestItemIsNotWrittenAnew(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "{approvers: {role: approver}, expires: 72h}")
	id := f.Batch(t, storetest.Recipients(2, nil))
	f.ApproveBatch(t, id, "lead")
	sent := took(t, f, id, 2).Dispatched
	_, err := f.Store.Record(t.Context(), runner, sent[0].Attempt, sent[0].Fence, throttled)
	ok(t, err)
	item := &stand{f: f, t: t, id: sent[0].Operation}
	p, err := f.Store.FindOperation(t.Context(), f.As("author"), item.id)
	ok(t, err)
	content := p.Current().Content()
	content["to"] = "new@example.test"
	anew := store.NewVersion{Operation: item.id, Revision: p.Revision, Author: author(f), Content: content, Submit: true}
	refused(t, f.Store.AddVersion(t.Context(), f.As("author"), anew), operation.CodeItemOfList)
	if got := f.State(t, item.id); got != operation.RetryScheduled {
		t.Errorf("it is %s", got)
	}
	ok(t, f.Store.Cancel(t.Context(), f.As("ops"), item.shown("another address")))
	next, err := f.Store.Replace(t.Context(), f.As("author"), item.shown("another address"), store.Replacement{Content: content, Submit: true})
	ok(t, err)
	p, err = f.Store.FindOperation(t.Context(), f.As("author"), next)
	ok(t, err)
	if p.BatchID != "" || p.State != operation.PendingApproval {
		t.Errorf("the replacement is %s, of batch %q", p.State, p.BatchID)
	}
}
