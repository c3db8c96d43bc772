package store_test

import (
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestBatchNamesOpenReplacements: a batch's page names what may still have the effect in place
// of an item that had none, until that is closed.
func TestBatchNamesOpenReplacements(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "{approvers: {role: approver}, expires: 72h}")
	id := f.Batch(t, storetest.Recipients(3, nil))
	f.ApproveBatch(t, id, "lead")
	sent := took(t, f, id, 3).Dispatched
	recorded(t, f, id, confirmed(sent))
	named := func(want ...operation.ID) {
		t.Helper()
		p, err := f.Store.FindBatch(t.Context(), f.As("lead"), id)
		ok(t, err)
		if len(p.Replacing) != len(want) || p.ReplacingMore || len(want) > 0 && p.Replacing[0] != want[0] {
			t.Errorf("the page names %v, want %v", p.Replacing, want)
		}
	}
	named()
	_, err := f.Owner.Exec(`UPDATE operations SET last_dispatch = last_dispatch - interval '1 day', last_send = last_send - interval '1 day'`)
	ok(t, err)
	item := &stand{f: f, t: t, id: sent[1].Operation}
	item.dispute()
	item.notDone(false)
	named()
	p, err := f.Store.FindOperation(t.Context(), f.As("author"), item.id)
	ok(t, err)
	next, err := f.Store.Replace(t.Context(), f.As("author"), item.shown("another text"), store.Replacement{Content: p.Current().Content(), Submit: true})
	ok(t, err)
	named(next)
	f.Approve(t, next, "ops2")
	named(next)
	instead := &stand{f: f, t: t, id: next}
	instead.send()
	instead.report(effect(ref(next)))
	named()
}
