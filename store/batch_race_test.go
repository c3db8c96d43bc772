package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"

	"github.com/lib/pq"
)

// TestBatchRaces: of an approval, a new version, a cancellation and a stop at the same moment,
// what is decided first holds; whatever comes of it, every entry is in one place, nothing is
// released twice, and nothing of a version that nobody approved.
func TestBatchRaces(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "{approvers: {role: approver}, expires: 72h}")
	s, ctx := f.Store, t.Context()
	for round := range 6 {
		id := f.Batch(t, storetest.Recipients(25, func(i int, e map[string]any) map[string]any {
			e["email"] = fmt.Sprintf("race%d-%d@example.test", round, i)
			return e
		}))
		approve := f.BatchDecision(t, id, operation.Approve)
		shown := func(reason string) store.BatchShown {
			return store.BatchShown{Batch: id, FormID: store.NewFormID(), Reason: reason}
		}
		other := storetest.Recipients(20, nil)
		verbs := map[string]func() error{
			"approve": func() error { return s.DecideBatch(ctx, f.As("lead"), approve) },
			"revise": func() error {
				return s.ReviseBatch(ctx, f.As("author"), store.BatchRevision{BatchShown: shown(""), List: &other})
			},
			"cancel": func() error { return s.CancelBatch(ctx, f.As("ops"), shown("no longer wanted")) },
			"stop":   func() error { _, err := s.StopBatch(ctx, f.As("ops"), shown("enough")); return err },
			"release": func() error {
				_, err := s.ReleaseBatch(ctx, store.Job("runner"), id, 10)
				return err
			},
			"again": func() error {
				_, err := s.ReleaseBatch(ctx, store.Job("other"), id, 10)
				return err
			},
		}
		got := map[string]error{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		start := make(chan struct{})
		for name, verb := range verbs {
			wg.Go(func() {
				<-start
				err := verb()
				mu.Lock()
				got[name] = err
				mu.Unlock()
			})
		}
		close(start)
		wg.Wait()
		for name, err := range got {
			var no *operation.Refusal
			if err != nil && !errors.As(err, &no) {
				t.Errorf("%s: %v", name, err)
			}
		}
		for n := 1; n > 0; {
			var err error
			n, err = s.ReleaseBatch(ctx, store.Job("runner"), id, 10)
			ok(t, err)
		}
		p, err := s.FindBatch(ctx, f.As("lead"), id)
		ok(t, err)
		if got["approve"] == nil && (got["revise"] == nil && p.Number == 2 || got["cancel"] == nil) && p.Cleared > 0 && p.State == operation.BatchCancelled && p.Counts.Operations() > 0 {
			t.Errorf("%d: %v, yet %s with %d operations", round, got, p.State, p.Counts.Operations())
		}
		if p.Number == 2 && p.Counts.Operations() > 0 {
			t.Errorf("%d: a version that nobody approved was released", round)
		}
		c := p.Counts
		if c.Total != c.Duplicates+c.Suppressed+c.Waiting+c.GivenUp+c.Operations() {
			t.Errorf("%d: %+v does not add up", round, c)
		}
		if n := f.Count(t, "(SELECT batch_no FROM operations WHERE batch_id = $1 GROUP BY batch_no HAVING count(*) > 1) x", string(id)); n > 0 {
			t.Errorf("%d: %d items were released twice", round, n)
		}
		if p.Cleared == 0 && f.Count(t, "operations WHERE batch_id = $1", string(id)) > 0 {
			t.Errorf("%d: released without a clearance", round)
		}
		whole(t, s, operation.SubjectBatch, string(id))
	}
}

// TestBatchConstraints: the database itself refuses to clear an item that is not in the
// approved version, one behind the position that people decided upon, and another content.
func TestBatchConstraints(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "{approvers: {role: approver}, expires: 72h}", "canary: 3")
	id := f.Batch(t, storetest.Recipients(6, nil))
	f.ApproveBatch(t, id, "lead")
	if _, err := f.Store.ReleaseBatch(t.Context(), store.Job("runner"), id, 1); err != nil {
		t.Fatal(err)
	}
	// A clearance like that of item 1, but of item no, with another hash where hash is given.
	clear := `INSERT INTO clearances (id, operation_id, version_id, hash, kind, required, policy, created_at, batch_clearance_id, batch_id, batch_number, batch_upto, batch_no)
		SELECT 'clr_other', operation_id, version_id, COALESCE($2, hash), kind, required, policy, created_at, batch_clearance_id, batch_id, $3, $4, $1 FROM clearances WHERE batch_no = 1`
	var of []byte
	ok(t, f.Owner.QueryRow(`SELECT hash FROM batch_items WHERE position = 4`).Scan(&of))
	for _, c := range []struct {
		constraint string
		sql        string
		args       []any
	}{
		{"clearances_batch_item", clear, []any{2, nil, 1, 3}},           // the hash of another item
		{"clearances_version", clear, []any{1, make([]byte, 32), 1, 3}}, // a hash of nothing
		{"clearances_batch_upto", clear, []any{4, of, 1, 3}},            // behind the canary
		{"clearances_batch", clear, []any{1, nil, 1, 6}},                // nobody cleared that far
		{"clearances_batch", clear, []any{1, nil, 2, 3}},                // another version
		{"batches_clearance", `UPDATE batches SET cleared = 6 WHERE id = $1`, []any{string(id)}},
		{"batches_counts", `UPDATE batches SET released = 4 WHERE id = $1`, []any{string(id)}},
		{"batch_versions_facts", `UPDATE batch_versions SET shared = '{}' WHERE batch_id = $1`, []any{string(id)}},
		{"batch_items_facts", `UPDATE batch_items SET hash = NULL WHERE batch_id = $1`, []any{string(id)}},
		{"batch_items_facts", `DELETE FROM batch_items WHERE batch_id = $1`, []any{string(id)}},
		{"batch_items_once", `INSERT INTO batch_items (batch_id, number, position, item_key) VALUES ($1, 1, 99, 'r000001@example.test')`, []any{string(id)}},
		{"batch_approval_people_once", `INSERT INTO batch_approvals SELECT 'apr_other', batch_id, number, hash, phase, round, decision, user_id, for_user, delegation_id, role, reason, reason_code, reason_words, 'other', decided_at
			FROM batch_approvals WHERE batch_id = $1`, []any{string(id)}},
		{"batch_approvals_version", `INSERT INTO batch_approvals SELECT 'apr_other', batch_id, number, decode(repeat('00', 32), 'hex'), phase, round, decision, user_id, for_user, delegation_id, role, reason, reason_code, reason_words, 'other', decided_at
			FROM batch_approvals WHERE batch_id = $1`, []any{string(id)}},
		{"batch_versions_complete", `INSERT INTO batch_versions SELECT batch_id, 2, hash, total, included, duplicates, suppressed, 1, missing, shared, facts, list_hash, list_name, author_kind, author_id, prompted_by, model, note, credential,
			flow_version, destination_version, NULL, NULL, created_at, NULL FROM batch_versions WHERE batch_id = $1`, []any{string(id)}},
	} {
		_, err := f.Owner.Exec(c.sql, c.args...)
		var p *pq.Error
		if !errors.As(err, &p) || p.Constraint != c.constraint {
			t.Errorf("%s: %v", c.constraint, err)
		}
	}
}

// TestBatchNotices: approvers hear of a batch once, of its first items when those are settled,
// and the owner when it paused by itself or is closed.
func TestBatchNotices(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "{approvers: {role: approver}, expires: 72h}", "canary: 1")
	s, ctx := f.Store, t.Context()
	look(t, f, byMail)
	id := f.Batch(t, storetest.Recipients(3, nil))
	look(t, f, byMail)
	const of = `WHERE n.subject LIKE 'bat\_%' AND n.state <> 'superseded'`
	same(t, "submitted", told(t, f, of), "approval.0 lead mail planned", "approval.0 second mail planned")
	f.ApproveBatch(t, id, "lead")
	if n := look(t, f, byMail); n != 0 {
		t.Errorf("%d notices of a batch that goes out", n)
	}
	_, err := s.ReleaseBatch(ctx, store.Job("runner"), id, 5)
	ok(t, err)
	owner(t, f, `UPDATE operations SET state = 'cancelled', next_kind = '' WHERE batch_id = $1`, string(id))
	_, err = s.AdvanceBatch(ctx, store.Job("runner"), id)
	ok(t, err)
	look(t, f, byMail)
	same(t, "canary", told(t, f, of+` AND n.kind = 'canary'`), "canary.0 lead mail planned", "canary.0 second mail planned")
	f.ApproveBatch(t, id, "second")
	_, err = s.PauseBatch(ctx, f.As("ops"), store.BatchShown{Batch: id, FormID: store.NewFormID(), Reason: "wait"})
	ok(t, err)
	look(t, f, byMail)
	if got := told(t, f, of+` AND n.kind = 'work'`); len(got) == 0 {
		t.Error("nobody is told of a pause")
	}
	ok(t, s.ResumeBatch(ctx, f.As("ops"), store.BatchShown{Batch: id, FormID: store.NewFormID(), Reason: "go on"}))
	_, err = s.StopBatch(ctx, f.As("ops"), store.BatchShown{Batch: id, FormID: store.NewFormID(), Reason: "enough"})
	ok(t, err)
	state, err := s.AdvanceBatch(ctx, store.Job("runner"), id)
	ok(t, err)
	look(t, f, byMail)
	if got := told(t, f, of+` AND n.kind = 'batch_closed'`); state != operation.BatchClosed || len(got) == 0 || !strings.Contains(got[0], "digest") {
		t.Errorf("%s: %v", state, got)
	}
	p, err := s.FindBatch(ctx, f.As("ops"), id)
	ok(t, err)
	if p.Counts.GivenUp != 2 || p.Counts.Waiting != 0 || !p.ChainOK {
		t.Errorf("%+v", p.Counts)
	}
	whole(t, s, operation.SubjectBatch, string(id))
}

// TestBatchErase: what a closed batch holds of people goes by its term; the hashes, the counts
// and the history stay.
func TestBatchErase(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "{approvers: {role: approver}, expires: 72h}")
	s, ctx := f.Store, t.Context()
	id := f.Batch(t, storetest.Recipients(4, nil))
	refused(t, s.EraseBatch(ctx, store.System("command"), id, "asked for"), operation.CodeForbiddenMove)
	f.ApproveBatch(t, id, "lead")
	_, err := s.ReleaseBatch(ctx, store.Job("runner"), id, 2)
	ok(t, err)
	_, err = s.StopBatch(ctx, f.As("ops"), store.BatchShown{Batch: id, FormID: store.NewFormID(), Reason: "enough"})
	ok(t, err)
	refused(t, s.EraseBatch(ctx, store.System("command"), id, "asked for"), operation.CodeForbiddenMove)
	_, err = s.GiveUpGroup(ctx, store.Job("runner"), id, 10)
	ok(t, err)
	if state, err := s.AdvanceBatch(ctx, store.Job("runner"), id); err != nil || state != operation.BatchClosed {
		t.Fatal(state, err)
	}
	var one string
	ok(t, f.Owner.QueryRow(`SELECT id FROM operations WHERE batch_id = $1 AND batch_no = 1`, string(id)).Scan(&one))
	went, err := s.EraseOperation(ctx, store.System("command"), operation.ID(one), "asked for")
	if ok(t, err); !slices.Equal(went, []store.RetentionKind{store.RetainContents}) || f.Count(t, "history WHERE subject_id = $1 AND action LIKE 'erase%'", one) != 1 {
		t.Errorf("erased %v of an operation with nothing but contents", went)
	}
	if n := f.Count(t, "batch_bodies WHERE batch_id = $1 AND position = 1", string(id)); n != 0 {
		t.Error("the item of an erased operation keeps its body")
	}
	if n := f.Count(t, "batch_bodies WHERE batch_id = $1", string(id)); n != 3 {
		t.Errorf("%d bodies are left", n)
	}
	goes := func(want int) {
		t.Helper()
		rows, err := s.FindRetention(ctx, f.As("auditor"), map[store.RetentionKind]int{store.RetainContents: 90})
		ok(t, err)
		if p := rows[0].Preview; p.Batches != want || p.Operations != 0 || (want == 1) != (p.Oldest != nil && slices.Equal(p.Names(), []string{"mailing"})) {
			t.Errorf("the preview: %+v, want %d", p, want)
		}
	}
	goes(0)
	owner(t, f, `UPDATE batches SET closed_at = now() - interval '100 days' WHERE id = $1`, string(id))
	owner(t, f, `UPDATE retention_settings SET days = 90 WHERE kind = 'contents'`)
	goes(1)
	if _, err := s.SweepRetention(ctx, store.Job("sweep")); err != nil {
		t.Fatal(err)
	}
	goes(0)
	if f.Count(t, "batch_bodies WHERE batch_id = $1", string(id)) != 0 || f.Count(t, "batch_items WHERE batch_id = $1 AND recipient = '' AND hash IS NOT NULL", string(id)) != 4 ||
		f.Count(t, "batch_versions WHERE batch_id = $1 AND shared = '{}' AND erased_at IS NOT NULL AND hash IS NOT NULL", string(id)) != 1 {
		t.Error("something is left, or too much went")
	}
	whole(t, s, operation.SubjectBatch, string(id))
	p, err := s.FindBatch(ctx, f.As("ops"), id)
	ok(t, err)
	if p.Counts.Operations() != 2 || p.Counts.GivenUp != 2 || p.Version.Erased == nil {
		t.Errorf("%+v", p.Counts)
	}
}
