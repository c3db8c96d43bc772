package store_test

import (
	"slices"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
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

// TestInboxFindsHaltedBatches: a batch that would go on, were it not for a pause of its flow,
// its destination or everything, is in the inbox of whoever ends that pause, and of nobody
// else. What the inbox counts is what it shows.
func TestInboxFindsHaltedBatches(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "{approvers: {role: approver}, expires: 72h}")
	s, ctx, ops, admin := f.Store, t.Context(), f.As("ops"), f.As("admin")
	going := f.Batch(t, storetest.Recipients(3, nil))
	f.ApproveBatch(t, going, "lead")
	f.Batch(t, storetest.Recipients(2, nil)) // waits for its approval: a pause changes nothing for it
	for _, r := range []operation.Role{operation.RoleOpsOwner, operation.RoleAdmin} {
		ok(t, f.Store.GrantRole(ctx, admin, f.Users["auditor"], store.RoleGrant{Role: r, Flow: "mailing"}, "of this flow"))
	}
	inbox := func(when, who string, want ...operation.BatchID) {
		t.Helper()
		rows, err := s.BatchesToDecide(ctx, f.As(who))
		ok(t, err)
		var got []operation.BatchID
		for _, r := range rows {
			if r.State == operation.BatchPendingApproval {
				continue
			}
			got = append(got, r.ID)
			if r.Turn.Kind != operation.TurnResume || r.NextKind != string(operation.DecideResume) || r.NextSince == nil || r.NextAt == nil || !r.NextAt.After(*r.NextSince) {
				t.Errorf("%s: %+v since %v", when, r.Turn, r.NextSince)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the inbox of %s shows %v, want %v", when, who, got, want)
		}
		in, err := s.ListInbox(ctx, f.As(who))
		ok(t, err)
		if n, err := s.CountInbox(ctx, f.As(who)); err != nil || n != len(rows)+len(in.Rows) {
			t.Errorf("%s: %d are counted for %s, %d shown (%v)", when, n, who, len(rows)+len(in.Rows), err)
		}
	}
	none := func(when string, who ...string) {
		t.Helper()
		for _, w := range who {
			inbox(when, w)
		}
	}
	none("nothing is paused", "ops", "admin", "lead")

	_, err := s.PauseFlow(ctx, ops, "mailing", "a wrong word")
	ok(t, err)
	inbox("the flow is paused", "ops", going)
	inbox("the flow is paused", "auditor", going)
	none("the flow is paused", "lead", "author")
	ok(t, s.ResumeFlow(ctx, ops, "mailing", "put right"))
	none("the flow goes on", "ops", "auditor")

	_, err = s.PauseDestination(ctx, ops, "mail", "an outage")
	ok(t, err)
	inbox("the destination is paused", "ops", going)
	none("the destination is paused", "auditor", "lead")
	_, err = s.PauseAll(ctx, admin, "a fire")
	ok(t, err)
	inbox("everything is paused", "admin", going)
	none("everything is paused", "ops", "lead", "auditor")
	ok(t, s.ResumeAll(ctx, admin, "put out"))
	inbox("the destination is still paused", "ops", going)

	_, err = s.PauseBatch(ctx, f.As("lead"), store.BatchShown{Batch: going, Reason: "and this one", FormID: store.NewFormID()})
	ok(t, err)
	none("the batch is paused itself", "ops")
	_, err = s.StopBatch(ctx, f.As("lead"), store.BatchShown{Batch: going, Reason: "enough", FormID: store.NewFormID()})
	ok(t, err)
	none("the batch is stopped", "ops", "lead")
}

// mostOf fails where fn reads more than so many rows of one table.
func (r *tableReads) mostOf(table string, limit int64, fn func(*store.Store) error) {
	r.t.Helper()
	if got := r.of(func(s *store.Store) { ok(r.t, fn(s)) })[table]; got > limit || got == 0 {
		r.t.Errorf("%d rows of %s are read, not at most %d", got, table, limit)
	}
}
