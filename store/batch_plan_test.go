package store_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"

	"github.com/jmoiron/sqlx"
)

// tableReads counts, by table, the rows and index entries that sessions have read since the
// last count. It asks PostgreSQL's own statistics, so every statement is in it as it was
// planned, with its triggers and constraints.
type tableReads struct {
	t    *testing.T
	f    *storetest.Fixture
	conn *sqlx.Conn
	was  map[string]int64
}

// counted is what the sessions call themselves whose reads are counted.
const counted = "counted"

func newReads(t *testing.T, f *storetest.Fixture) *tableReads {
	c, err := asOwner(f).Connx(t.Context())
	ok(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return &tableReads{t: t, f: f, conn: c}
}

func (r *tableReads) open() *store.Store {
	r.t.Helper()
	u, err := url.Parse(r.f.AppURL)
	ok(r.t, err)
	q := u.Query()
	q.Set("application_name", counted)
	u.RawQuery = q.Encode()
	s, err := store.Open(r.t.Context(), store.Config{URL: u.String(), Secret: storetest.Secret})
	ok(r.t, err)
	return s
}

// of gives what fn reads through a store of its own.
func (r *tableReads) of(fn func(*store.Store)) map[string]int64 {
	r.t.Helper()
	return r.through(r.open(), fn)
}

// through gives what fn reads through s, whose sessions report when they end with it.
func (r *tableReads) through(s *store.Store, fn func(*store.Store)) map[string]int64 {
	r.t.Helper()
	r.was = r.now()
	fn(s)
	ok(r.t, s.Close())
	r.gone("")
	out := map[string]int64{}
	for table, n := range r.now() {
		if n > r.was[table] {
			out[table] = n - r.was[table]
		}
	}
	return out
}

// gone waits until no sessions of stores are left but those of the application that stays.
func (r *tableReads) gone(stays string) {
	r.t.Helper()
	for limit, n := time.Now().Add(20*time.Second), 1; n > 0; {
		ok(r.t, r.conn.GetContext(r.t.Context(), &n, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND usename <> current_user AND application_name <> $1`, stays))
		if time.Now().After(limit) {
			r.t.Fatalf("%d sessions do not end", n)
		}
	}
}

func (r *tableReads) now() map[string]int64 {
	r.t.Helper()
	var rows []struct {
		Table string `db:"table"`
		N     int64  `db:"n"`
	}
	ok(r.t, r.conn.SelectContext(r.t.Context(), &rows, `SELECT CASE WHEN s.relname ~ '^(history|evidence|deliveries)_' THEN split_part(s.relname, '_', 1) ELSE s.relname END AS table,
		sum(s.seq_tup_read + COALESCE((SELECT sum(i.idx_tup_read) FROM pg_stat_user_indexes i WHERE i.relid = s.relid), 0))::bigint AS n FROM pg_stat_user_tables s GROUP BY 1`))
	out := map[string]int64{}
	for _, x := range rows {
		out[x.Table] = x.N
	}
	return out
}

// growing are the tables that grow with batches.
var growing = []string{"operations", "batch_items", "batch_bodies", "batch_marks", "content_versions", "version_bodies", "clearances", "attempts", "target_references", "evidence", "batches", "runs"}

// most fails where fn reads more than so many rows of a growing table.
func (r *tableReads) most(what string, limit int64, fn func(*store.Store) error) {
	r.t.Helper()
	r.within(what, limit, r.of(func(s *store.Store) { ok(r.t, fn(s)) }))
}

func (r *tableReads) within(what string, limit int64, got map[string]int64) {
	r.t.Helper()
	for _, table := range growing {
		if got[table] > limit {
			r.t.Errorf("%s reads %d rows of %s, not at most %d", what, got[table], table, limit)
		}
	}
	if got["batches"] == 0 && got["operations"] == 0 {
		r.t.Errorf("%s reads nothing: %v", what, got)
	}
}

// TestBatchReadsItsOwnRows: what works on a part of a batch reads that part, and what shows a
// batch reads no more than that batch, beside another one that is larger: in tables whose
// sizes the planner does not know yet, and in those that it knows.
func TestBatchReadsItsOwnRows(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "{approvers: {role: approver}, expires: 72h}")
	const items, group, page = 700, 20, 51
	mailingOf := func(name string, n, release int) operation.BatchID {
		id := f.Batch(t, storetest.Recipients(n, func(i int, e map[string]any) map[string]any {
			e["email"] = fmt.Sprintf("%s%06d@example.test", name, i)
			return e
		}))
		f.ApproveBatch(t, id, "lead")
		_, err := f.Store.ReleaseBatch(t.Context(), runner, id, release)
		ok(t, err)
		return id
	}
	other, id, fresh := mailingOf("other", 1500, 1000), mailingOf("own", items, 500), mailingOf("fresh", items, 0)
	ok(t, f.Store.Close()) // what its sessions read counts before
	r, ctx, lead := newReads(t, f), t.Context(), f.As("lead")
	for _, round := range []string{"no statistics: ", "statistics: "} {
		var c store.GroupClaimed
		r.most(round+"a release with its claim", 4*group, func(s *store.Store) (err error) {
			c, err = s.ReleaseAndClaim(ctx, runner, fresh, group, "w")
			return err
		})
		if len(c.Dispatched) != group {
			t.Fatalf("%d released and claimed", len(c.Dispatched))
		}
		r.most(round+"their record", 8*group, func(s *store.Store) error {
			_, err := s.RecordGroup(ctx, runner, fresh, confirmed(c.Dispatched))
			return err
		})
		r.most(round+"a release", 4*group, func(s *store.Store) error { _, err := s.ReleaseBatch(ctx, runner, id, group); return err })
		r.most(round+"a claim", 4*group, func(s *store.Store) (err error) { c, err = s.ClaimGroup(ctx, runner, id, group, "w"); return err })
		if len(c.Dispatched) != group {
			t.Fatalf("%d claimed", len(c.Dispatched))
		}
		r.most(round+"a record", 8*group, func(s *store.Store) error {
			recorded := confirmed(c.Dispatched)
			_, err := s.RecordGroup(ctx, runner, id, recorded)
			return err
		})
		r.most(round+"the look for more", 2*page, func(s *store.Store) error { _, err := s.BatchBacklog(ctx, id, page); return err })
		r.most(round+"the judge", 4*group, func(s *store.Store) error { _, err := s.JudgeBatch(ctx, runner, id); return err })
		r.most(round+"the advance", items, func(s *store.Store) error { _, err := s.AdvanceBatch(ctx, runner, id); return err })
		r.most(round+"the batch's page", items, func(s *store.Store) error { _, err := s.FindBatch(ctx, lead, id); return err })
		for name, q := range map[string]store.BatchQuery{"first": {}, "back": {Before: items}, "ready": {State: operation.Ready, After: 100}, "confirmed": {State: operation.Confirmed},
			"bounced": {Bounced: true}, "waiting": {Waiting: true}, "problem": {Problem: true}, "bodies": {Bodies: true, After: 200}} {
			q.Batch = id
			r.most(round+"the page "+name, 3*page, func(s *store.Store) error { _, err := s.BatchItems(ctx, lead, q); return err })
		}
		for name, q := range map[string]store.BatchQuery{"open": {Open: true}, "search": {Search: "nobody"}} {
			q.Batch = id
			r.most(round+"the page "+name, items, func(s *store.Store) error { _, err := s.BatchItems(ctx, lead, q); return err })
		}
		r.most(round+"some rows", items, func(s *store.Store) error { _, err := s.BatchPicks(ctx, lead, id, 0, []int{1, 9, 600}); return err })
		_, err := r.conn.ExecContext(ctx, `ANALYZE`)
		ok(t, err)
		// These tables are small: reading one whole would be right, which it is not in those that they stand for.
		_, err = r.conn.ExecContext(ctx, `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET enable_seqscan = off', current_database()); END $$`)
		ok(t, err)
	}
	if f.Count(t, "operations WHERE batch_id = $1", string(other)) != 1000 {
		t.Error("the other batch is not there")
	}
}

// TestBatchPlansOfYoungTables: a session keeps the plans that it made while the tables were
// nearly empty, and reads no more than its group when they have grown.
func TestBatchPlansOfYoungTables(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "{approvers: {role: approver}, expires: 72h}")
	r, ctx := newReads(t, f), t.Context()
	s := r.open()
	const group = 10
	mailing := func(name string, n int) operation.BatchID {
		id := f.Batch(t, storetest.Recipients(n, func(i int, e map[string]any) map[string]any {
			e["email"] = fmt.Sprintf("%s%04d@example.test", name, i)
			return e
		}))
		f.ApproveBatch(t, id, "lead")
		return id
	}
	cycle := func(id operation.BatchID) {
		c, err := s.ReleaseAndClaim(ctx, runner, id, group, "w")
		ok(t, err)
		_, err = s.RecordGroup(ctx, runner, id, confirmed(c.Dispatched))
		ok(t, err)
		_, err = s.ReleaseBatch(ctx, runner, id, group)
		ok(t, err)
		d, err := s.ClaimGroup(ctx, runner, id, group, "w")
		ok(t, err)
		_, err = s.RecordGroup(ctx, runner, id, confirmed(d.Dispatched))
		ok(t, err)
		if len(c.Dispatched) != group || len(d.Dispatched) != group {
			t.Fatalf("%d and %d were claimed", len(c.Dispatched), len(d.Dispatched))
		}
	}
	cycle(mailing("young", 2*group))
	_, err := f.Store.ReleaseBatch(ctx, runner, mailing("old", 1200), 1000)
	ok(t, err)
	id := mailing("own", 2*group)
	ok(t, f.Store.Close()) // what its sessions read counts before
	r.gone(counted)
	r.within("a group", 60*group, r.through(s, func(*store.Store) { cycle(id) }))
}

// TestGroupPlansFindByKey: a session's plan for the rows of a group leads by their keys, however
// few rows there were when it was made. An index whose later columns hold the key would be read
// whole for each of them.
func TestGroupPlansFindByKey(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "{approvers: {role: approver}, expires: 72h}")
	c, err := asOwner(f).Connx(t.Context())
	ok(t, err)
	defer c.Close()
	wrong := regexp.MustCompile(`(Index|Bitmap Index) .*Scan (using|on) (operations_newest|operations_open_state|operations_batch_state|operations_kind|attempts_one_open)|Seq Scan on (operations|attempts|content_versions|clearances)|hashed SubPlan`)
	for i, items := range []int{0, 20, 200, 600} {
		if items > 0 {
			id := f.Batch(t, storetest.Recipients(items, func(n int, e map[string]any) map[string]any {
				e["email"] = fmt.Sprintf("p%d-%04d@example.test", i, n)
				return e
			}))
			f.ApproveBatch(t, id, "lead")
			_, err := f.Store.ReleaseBatch(t.Context(), runner, id, items)
			ok(t, err)
		}
		for _, q := range []string{`SET plan_cache_mode = force_generic_plan`, `BEGIN`, `SELECT ` + store.GroupStatements.Plans,
			`PREPARE record (text[], text, text, text[]) AS ` + store.GroupStatements.Record} {
			_, err := c.ExecContext(t.Context(), q)
			ok(t, err)
		}
		var lines []string
		ok(t, c.SelectContext(t.Context(), &lines, `EXPLAIN EXECUTE record ('{a,b}', 'bat', '{}', '{}')`))
		for _, line := range lines {
			if wrong.MatchString(line) {
				t.Errorf("with %d more operations: %s\n%s", items, line, strings.Join(lines, "\n"))
			}
		}
		for _, q := range []string{`ROLLBACK`, `DEALLOCATE record`} {
			_, err := c.ExecContext(t.Context(), q)
			ok(t, err)
		}
	}
}
