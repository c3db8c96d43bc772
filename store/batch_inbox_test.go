package store_test

import (
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
)

// TestInboxFindsUnmetBatches: a batch that closed without what its stage needs is in its
// owner's inbox while something of the run waits for it, and finding it reads none of those
// that closed well.
func TestInboxFindsUnmetBatches(t *testing.T) {
	t.Parallel()
	c := newChain(t, 2)
	s, ctx := c.Store, t.Context()
	mine := func(who string) (ids []string) {
		t.Helper()
		rows, err := s.BatchesToDecide(ctx, c.As(who))
		ok(t, err)
		for _, r := range rows {
			ids = append(ids, string(r.ID))
			if r.NextAt == nil || r.Turn.Next.Who.Role != operation.RoleApprover {
				t.Errorf("%+v", r.Turn)
			}
		}
		return ids
	}
	c.releases(c.first, 2)
	ok(t, s.Cancel(ctx, c.As("ops"), c.shown(c.first, 2)))
	recorded(t, c.Fixture, c.first, confirmed(c.claims(c.first, 1)))
	same(t, "before it closes", mine("lead"))
	advanced(t, c.Fixture, c.first)
	same(t, "the owner decides about", mine("lead"), string(c.first))
	same(t, "others decide about", mine("author"))
	n, err := s.CountInbox(ctx, c.As("lead"))
	if ok(t, err); n != 1 {
		t.Errorf("the inbox counts %d", n)
	}

	// many others of that flow, closed well or without anything after them
	if _, err := c.Owner.Exec(`WITH r AS (INSERT INTO runs SELECT (jsonb_populate_record(r, jsonb_build_object('id', r.id || '_' || g, 'run_key_hash', '\x' || md5(g::text) || md5(g::text)))).*
			FROM runs r CROSS JOIN generate_series(1, 3000) g WHERE r.id = (SELECT run_id FROM batches WHERE id = $1))
		INSERT INTO batches SELECT (jsonb_populate_record(b, jsonb_build_object('id', b.id || '_' || g, 'run_id', b.run_id || '_' || g, 'satisfied', g % 2 = 0, 'clearance_id', NULL, 'cleared', 0, 'released', 0, 'stage_no', CASE WHEN g % 2 = 0 THEN b.stage_no ELSE b.stages - 1 END))).*
		FROM batches b CROSS JOIN generate_series(1, 3000) g WHERE b.id = $1`, string(c.first)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Owner.Exec(`ANALYZE batches`); err != nil {
		t.Fatal(err)
	}
	ok(t, s.Close())
	newReads(t, c.Fixture).mostOf("batches", 100, func(s *store.Store) error {
		_, err := s.CountInbox(ctx, c.As("lead"))
		return err
	})
}

// mostOf fails where fn reads more than so many rows of one table.
func (r *tableReads) mostOf(table string, limit int64, fn func(*store.Store) error) {
	r.t.Helper()
	if got := r.of(func(s *store.Store) { ok(r.t, fn(s)) })[table]; got > limit || got == 0 {
		r.t.Errorf("%d rows of %s are read, not at most %d", got, table, limit)
	}
}
