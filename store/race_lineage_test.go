package store_test

import (
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestRaceOfALineage: whoever comes first, a lineage has one open operation at most that can
// go out, and one effect, or both are told of.
func TestRaceOfALineage(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	open := func(s *stand) int {
		return f.Count(t, `operations x JOIN operations o ON o.run_id = x.run_id AND o.stage = x.stage AND o.item_key = x.item_key WHERE o.id = $1 AND x.state NOT IN ('confirmed', 'rejected', 'cancelled', 'not_executed')`, string(s.id))
	}
	for range 8 {
		// Two replacements at once, of the first and of the last: one comes into being.
		all := lineage(t, f, 2)
		ok(t, f.Decide(t, all[2].id, "ops2", operation.Reject))
		l, r := both(func() error { _, err := all[0].replace(false); return err }, func() error { _, err := all[2].replace(false); return err })
		race{f: f, t: t, id: all[0].id}.oneOf(l, r)
		if n := open(all[0]); n != 1 {
			t.Errorf("%d are open", n)
		}

		// A replacement, and a dispute of what it would replace or of what stands before that.
		for i := range 2 {
			all = lineage(t, f, 2)
			ok(t, f.Decide(t, all[2].id, "ops2", operation.Reject))
			shown := all[i].shown("their list does not have it")
			l, r = both(func() error { _, err := all[2].replace(false); return err }, func() error { return f.Store.Dispute(t.Context(), f.As("ops"), shown, "") })
			ok(t, r)
			if l != nil {
				refused(t, l, operation.CodeOriginalOpen)
			}
		}

		// The last one is claimed while the first turns out to have its effect.
		all = lineage(t, f, 2)
		first, last := all[0], all[2]
		f.Approve(t, last.id, "ops2")
		l, r = both(race{f: f, t: t, id: last.id}.claim, func() error { return news["Callback"](first, ref(first.id)) })
		ok(t, r)
		if l != nil {
			refused(t, l, operation.CodeOriginalOpen)
		}
		first.settle(true)
		if l != nil {
			last.cancelledForOriginal(first.id)
		} else if s := f.State(t, last.id); s != operation.InProgress {
			t.Errorf("sent, it is %s", s)
		}
		for _, s := range all {
			race{f: f, t: t, id: s.id}.whole()
		}

		// The second person permits the first once more while the last turns out to be there.
		all = lineage(t, f, 2)
		first, last = all[0], all[2]
		f.Approve(t, last.id, "ops2")
		last.send()
		last.report(effect(ref(last.id)))
		last.dispute()
		last.notDone(false)
		first.dispute()
		first.notDone(true)
		agreed, ops2 := first.shown("agreed"), f.Fresh(t, "ops2")
		l, r = both(func() error { return f.Store.DecideReexecution(t.Context(), ops2, agreed, true) }, func() error { return news["Callback"](last, ref(last.id)) })
		ok(t, r)
		if l != nil {
			refused(t, l, operation.CodeReplacementOpen)
		}
		sent := effects(all)
		if _, err := f.Store.ClaimAndDispatch(t.Context(), store.Job("racer"), first.id, "racer"); err == nil || effects(all) != sent {
			t.Errorf("the first was sent once more: %v", err)
		}
		for _, s := range all {
			race{f: f, t: t, id: s.id}.whole()
		}
		if t.Failed() {
			return
		}
	}
}

// TestRaceOfABatchsReplacement: an item's replacement is approved while its batch is stopped,
// or the item is disputed: each holds, and what waits is not lost.
func TestRaceOfABatchsReplacement(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "{approvers: {role: approver}, expires: 72h}")
	for range 8 {
		id := f.Batch(t, storetest.Recipients(4, nil))
		f.ApproveBatch(t, id, "lead")
		sent := took(t, f, id, 2).Dispatched
		recorded(t, f, id, confirmed(sent))
		_, err := f.Owner.Exec(`UPDATE operations SET last_dispatch = last_dispatch - interval '1 day', last_send = last_send - interval '1 day' WHERE batch_id = $1`, string(id))
		ok(t, err)
		item := &stand{f: f, t: t, id: sent[0].Operation}
		item.dispute()
		item.notDone(false)
		instead, err := item.replace(false)
		ok(t, err)
		r := race{f: f, t: t, id: instead.id}
		p, err := f.Store.FindBatch(t.Context(), f.As("ops"), id)
		ok(t, err)
		stop := store.BatchShown{Batch: id, Revision: p.Revision, FormID: store.NewFormID(), Reason: "enough"}
		a, b := both(r.decide("ops2", operation.Approve), func() error { _, err := f.Store.StopBatch(t.Context(), f.As("ops"), stop); return err })
		ok(t, a)
		ok(t, b)
		shown := item.shown("a letter came back")
		a, b = both(r.claim, func() error { return f.Store.Dispute(t.Context(), f.As("ops"), shown, "") })
		ok(t, b)
		if a != nil {
			refused(t, a, operation.CodeOriginalOpen)
			item.notDone(false)
			ok(t, r.claim()) // the batch was stopped, and its replacement stands outside
		}
		for {
			n, err := f.Store.GiveUpGroup(t.Context(), runner, id, 10)
			ok(t, err)
			if n == 0 {
				break
			}
		}
		r.whole()
		verified(t, f, id)
		if t.Failed() {
			return
		}
	}
}
