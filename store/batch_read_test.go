package store_test

import (
	"fmt"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// oddList has 30 entries: the 5th stands twice (as the 6th), the 10th is suppressed, and the
// 15th has no name where bad is set.
func oddList(bad bool) store.List {
	return storetest.Recipients(30, func(i int, e map[string]any) map[string]any {
		switch {
		case i == 6:
			e["email"] = "R000005@example.test"
		case i == 15 && bad:
			delete(e, "name")
		}
		return e
	})
}

func suppressed(t *testing.T, f *storetest.Fixture, address string) {
	t.Helper()
	_, err := f.Store.AddSuppressions(t.Context(), f.As("ops"), store.Suppressing{FormID: store.NewFormID()}, []store.NewSuppression{{Address: address, Reason: operation.SuppressedUnsubscribed, Scope: operation.SuppressAll}})
	ok(t, err)
}

// TestBatchVersions: what blocks approval is named by row; a new version voids approvals, keeps
// the hash of what stayed, and says what became other.
func TestBatchVersions(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "")
	suppressed(t, f, "r000010@example.test")
	s, ctx := f.Store, t.Context()
	id := f.Batch(t, oddList(true))
	p, err := s.FindBatch(ctx, f.As("lead"), id)
	ok(t, err)
	if v := p.Version; p.State != operation.BatchDraft || v.Total != 30 || v.Included != 28 || v.Duplicates != 1 || v.Suppressed != 1 || v.Problems != 1 || len(v.Hash) != 0 {
		t.Fatalf("%s %+v", p.State, v)
	}
	facts := p.Version.Facts()
	if name := facts.Place("name", true); name == nil || name.Distinct != 27 || name.Empty != 1 || name.Shortest != 8 || name.Longest != 9 || len(name.Examples) != 3 {
		t.Errorf("what is filled in: %+v", name)
	}
	if to := facts.Place("to", false); to == nil || to.Distinct != 28 || to.More || to.Empty != 0 || to.Shortest != 20 || to.Longest != 20 || facts.Place("from", false) != nil {
		t.Errorf("whom it goes to: %+v", to)
	}
	list, err := s.BatchItems(ctx, f.As("lead"), store.BatchQuery{Batch: id, Problem: true, Bodies: true})
	ok(t, err)
	if len(list.Items) != 1 || list.Items[0].Position != 15 || !strings.Contains(fmt.Sprint(list.Items[0].Problems()), "name") || !strings.Contains(list.Items[0].ItemText, "r000015") {
		t.Fatalf("%+v", list.Items)
	}
	if list, err = s.BatchItems(ctx, f.As("lead"), store.BatchQuery{Batch: id, Excluded: true}); err != nil || len(list.Items) != 2 || list.Items[0].Position != 6 || list.Items[1].Excluded != operation.ExcludedSuppressed {
		t.Fatalf("%v %+v", err, list)
	}
	revise := func(who string, r store.BatchRevision) error {
		if r.FormID == "" {
			r.FormID = store.NewFormID()
		}
		r.Batch = id
		return s.ReviseBatch(ctx, f.As(who), r)
	}
	good := oddList(false)
	refused(t, revise("auditor", store.BatchRevision{List: &good}), operation.CodeNotEntitled)
	one := store.BatchRevision{List: &good, BatchShown: store.BatchShown{Revision: p.Revision, FormID: store.NewFormID()}}
	ok(t, revise("author", one))
	ok(t, revise("author", one)) // a double click
	one.FormID = store.NewFormID()
	refused(t, revise("author", one), operation.CodeStaleRevision)
	if p, err = s.FindBatch(ctx, f.As("lead"), id); err != nil || p.State != operation.BatchPendingApproval || p.Number != 2 || p.Policy == nil {
		t.Fatalf("%v %s %d", err, p.State, p.Number)
	}
	if d := p.Version.Facts().Diff; d == nil || d.Against != 1 || d.Changed != 1 || d.Same != 27 || d.Added != 0 || d.Dropped != 0 {
		t.Errorf("%+v", d)
	}
	f.ApproveBatch(t, id, "lead")
	shown := f.BatchDecision(t, id, operation.Approve)
	ok(t, revise("author2", store.BatchRevision{Shared: map[string]string{"subject": "Spring for you, {{name}}"}}))
	refused(t, s.DecideBatch(ctx, f.As("second"), shown), operation.CodeStaleVersion)
	fewer := storetest.Recipients(31, func(i int, e map[string]any) map[string]any {
		if i == 2 || i == 6 || i == 10 {
			return nil
		}
		return e
	})
	before := hashOf(t, f, id, "r000007@example.test")
	ok(t, revise("author", store.BatchRevision{List: &fewer}))
	if hashOf(t, f, id, "r000007@example.test") != before {
		t.Error("an item that stayed the same has another hash")
	}
	if p, err = s.FindBatch(ctx, f.As("lead"), id); err != nil {
		t.Fatal(err)
	}
	if d := p.Version.Facts().Diff; d.Added != 1 || d.Dropped != 1 || d.Same != 27 || d.Changed != 0 {
		t.Errorf("%+v", d)
	}
	for diff, want := range map[string]int{store.ItemAdded: 1, store.ItemDropped: 1, store.ItemChanged: 0} {
		if list, err := s.BatchItems(ctx, f.As("lead"), store.BatchQuery{Batch: id, Diff: diff}); err != nil || len(list.Items) != want {
			t.Errorf("%s: %v %+v", diff, err, list)
		}
	}
	if p.Approved() != 0 || len(p.Versions) != 4 || !p.ChainOK || p.Version.Facts().Sum != 2800 || len(p.Parties) == 0 {
		t.Errorf("%d %d %v %+v", p.Approved(), len(p.Versions), p.ChainOK, p.Version.Facts())
	}
	// Both authors are parties; the approval of the first version counts no more.
	f.ApproveBatch(t, id, "lead", "second")
	refused(t, revise("author", store.BatchRevision{List: &good}), operation.CodeForbiddenMove)
	whole(t, s, operation.SubjectBatch, string(id))
}

func hashOf(t *testing.T, f *storetest.Fixture, id operation.BatchID, key string) (h string) {
	t.Helper()
	ok(t, f.Owner.QueryRow(`SELECT encode(i.hash, 'hex') FROM batches b JOIN batch_items i ON i.batch_id = b.id AND i.number = b.number WHERE b.id = $1 AND i.item_key = $2`, string(id), key).Scan(&h))
	return h
}

// TestBatchSharedText: a batch whose shared text is to be written is a draft; writing it makes
// it complete, for each item with its own values.
func TestBatchSharedText(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "")
	s, ctx := f.Store, t.Context()
	n := storetest.NewMailing(storetest.Recipients(3, nil))
	n.Shared = nil
	r, ids, err := s.CreateBatchRun(ctx, f.As("author"), n)
	ok(t, err)
	again, ids2, err := s.CreateBatchRun(ctx, f.As("author"), n)
	ok(t, err)
	if again.Verdict != store.VerdictRepeated || len(ids2) != 1 || ids2[0] != ids[0] || again.Runs[0] != r.Runs[0] {
		t.Fatalf("%+v", again)
	}
	n.Lists["recipients"] = storetest.Recipients(4, nil)
	if other, _, err := s.CreateBatchRun(ctx, f.As("author"), n); err != nil || other.Verdict != store.VerdictConflict {
		t.Fatalf("%+v %v", other, err)
	}
	if n := f.Count(t, "batches"); n != 1 || f.Count(t, "batch_items") != 3 {
		t.Fatalf("%d batches", n)
	}
	p, err := s.FindBatch(ctx, f.As("author"), ids[0])
	ok(t, err)
	if p.State != operation.BatchDraft || len(p.Version.Missing()) != 1 || p.Next().Kind != operation.DecideComplete {
		t.Fatalf("%s %v", p.State, p.Version.Missing())
	}
	mine, err := s.BatchesToDecide(ctx, f.As("author"))
	ok(t, err)
	if len(mine) != 1 || mine[0].ID != ids[0] {
		t.Fatalf("%+v", mine)
	}
	ok(t, s.ReviseBatch(ctx, f.As("author"), store.BatchRevision{BatchShown: store.BatchShown{Batch: ids[0], FormID: store.NewFormID()}, Shared: map[string]string{"subject": "Hello {{name}}"}}))
	picks, err := s.BatchPicks(ctx, f.As("lead"), ids[0], 0, []int{2})
	ok(t, err)
	if len(picks) != 1 || !strings.Contains(picks[0].ContentText, "Hello Person 2") {
		t.Fatalf("%+v", picks)
	}
	for who, want := range map[string]int{"author": 0, "lead": 1, "second": 1, "auditor": 0} {
		mine, err := s.BatchesToDecide(ctx, f.As(who))
		ok(t, err)
		if len(mine) != want {
			t.Errorf("%s: %d", who, len(mine))
		}
	}
	f.ApproveBatch(t, ids[0], "lead")
	if mine, err := s.BatchesToDecide(ctx, f.As("lead")); err != nil || len(mine) != 0 {
		t.Errorf("%v %+v", err, mine)
	}
	if mine, err := s.BatchesToDecide(ctx, f.As("second")); err != nil || len(mine) != 1 || mine[0].Given != 1 || mine[0].Required != 2 {
		t.Errorf("%v %+v", err, mine)
	}
	_ = mine
	all, err := s.ListBatches(ctx, f.As("ops"), store.BatchFilter{Open: true, Limit: 1})
	ok(t, err)
	if len(all.Rows) != 1 || all.Rows[0].Counts.Waiting != 3 || all.Rows[0].Title != "" || all.Rows[0].StageTitle["en"] != "Letter" { // the rows have no line in common
		t.Errorf("%+v", all.Rows)
	}
}
