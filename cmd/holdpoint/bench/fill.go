package bench

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"net/url"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/store"

	_ "github.com/lib/pq" // the superuser's connection
)

//go:embed fill/*.sql
var fillSQL embed.FS

// town is a filled database: what its pages are opened with.
type town struct {
	ops []operation.ID // operations that went through the gate one by one
	day string         // some day in the middle
}

// The shape of the filled database: a year of ten flows to five destinations from three
// sources, and people who did it.
const (
	fillFlows  = 10
	fillPeople = 20
	fillWalked = 40 // operations that went through the gate one by one
)

// town fills the database, or finds it filled by a run before.
func (h *house) town(ctx context.Context, rows int) (*town, error) {
	list, err := h.st.ListOperations(ctx, h.approver, store.OperationFilter{Flow: "bench", Limit: fillWalked})
	if err != nil {
		return nil, err
	}
	if len(list.Rows) == 0 {
		return h.fill(ctx, rows)
	}
	t := &town{day: someDay()}
	for _, r := range list.Rows {
		t.ops = append(t.ops, r.ID)
	}
	return t, nil
}

// someDay is a day in the middle of the filled year.
func someDay() string { return time.Now().AddDate(0, -5, 0).Format(time.DateOnly) }

// fill loads rows by statements over whole sets. Of the operations, 0.8 % need a
// person's decision, some more are open, and nearly all others are confirmed. Some go
// through the gate one by one, so that their pages are whole.
func (h *house) fill(ctx context.Context, rows int) (*town, error) {
	if err := h.settle(ctx); err != nil {
		return nil, err
	}
	t := &town{day: someDay()}
	db, err := sql.Open("postgres", h.superURL())
	if err != nil {
		return nil, err
	}
	defer db.Close()
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	// rows that were checked when they were thought up need no foreign keys checked, and
	// what is not whole after a crash is filled anew
	if _, err := c.ExecContext(ctx, `SET session_replication_role = replica; SET synchronous_commit = off; SET maintenance_work_mem = '512MB'; SET work_mem = '256MB'; SET temp_buffers = '256MB';
		SET max_parallel_maintenance_workers = 2; SET wal_compression = on; CREATE TEMP TABLE fill AS SELECT `+fmt.Sprint(rows)+` AS rows`); err != nil {
		return nil, err
	}
	// the log of a load would fill the disk before it is of any use, and what is loaded is
	// vacuumed at the end
	for _, q := range []string{"ALTER SYSTEM SET max_wal_size = '1GB'", "ALTER SYSTEM SET autovacuum = off", "SELECT pg_reload_conf()"} {
		if _, err := c.ExecContext(ctx, q); err != nil {
			return nil, err
		}
	}
	indexes, err := restIndexes(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"rows.sql", "people.sql", "deliveries.sql"} {
		q, err := fillSQL.ReadFile("fill/" + name)
		if err != nil {
			return nil, err
		}
		if err := h.step(ctx, c, name, string(q)); err != nil {
			return nil, err
		}
	}
	for _, q := range append(indexes, "VACUUM ANALYZE", "CHECKPOINT", "ALTER SYSTEM RESET max_wal_size", "ALTER SYSTEM RESET autovacuum", "SELECT pg_reload_conf()") {
		if err := h.step(ctx, c, q, q); err != nil {
			return nil, err
		}
	}
	return t, h.walkThrough(ctx, t)
}

// step runs one step of the load and says how long it took.
func (h *house) step(ctx context.Context, c *sql.Conn, name, q string) error {
	start := time.Now()
	if _, err := c.ExecContext(ctx, q); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	fmt.Fprintf(h.log, "%s: %.1f s\n", name, time.Since(start).Seconds())
	return nil
}

// settle adds the flows, destinations, sources and people of the town.
func (h *house) settle(ctx context.Context) error {
	sys := store.System("command")
	read := func(name string, replace ...string) (store.File, error) {
		b, err := definitions.ReadFile(name)
		return store.File{Name: strings.Join(replace[1:2], "") + name, Source: []byte(strings.NewReplacer(replace...).Replace(string(b)))}, err
	}
	var files []store.File
	add := func(f store.File, err error) error { files = append(files, f); return err }
	for i := range 5 {
		if err := add(read("profile.yaml", "destination: bench", fmt.Sprint("destination: dest-", i), "{en: Bench}", fmt.Sprintf("{en: Destination %d}", i), "acct_bench", fmt.Sprint("acct_", i))); err != nil {
			return err
		}
	}
	for i := range 3 {
		if err := add(read("source.yaml", "source: api", fmt.Sprint("source: src-", i), "{en: Bench}", fmt.Sprintf("{en: Source %d}", i))); err != nil {
			return err
		}
	}
	for i := range fillFlows + 1 {
		name := fmt.Sprint("bench-", i)
		if i == fillFlows {
			name = "rare"
		}
		if err := add(read("flow.yaml", "flow: bench", "flow: "+name, "{en: Bench}", fmt.Sprintf("{en: Flow %d}", i), "source: api, topic: bench", fmt.Sprintf("source: src-%d, topic: topic-%d", i%3, i),
			"destination: bench", fmt.Sprint("destination: dest-", i%5))); err != nil {
			return err
		}
	}
	if _, err := h.st.Apply(ctx, sys, files); err != nil {
		return err
	}
	people := []store.NewUser{{Email: "limited@bench.test", Name: "Limited", Roles: []store.RoleGrant{{Role: operation.RoleApprover, Flow: "bench-3"}}}}
	for i := range fillPeople {
		people = append(people, store.NewUser{Email: fmt.Sprintf("person-%d@bench.test", i), Name: fmt.Sprint("Person ", i), Roles: []store.RoleGrant{{Role: operation.RoleApprover}}})
	}
	for _, u := range people {
		if _, err := h.st.AddUser(ctx, sys, u); err != nil {
			return err
		}
	}
	for i := range fillFlows + 1 { // one event of each flow is the pattern of its rows
		in := received()
		in.Source, in.Topic = fmt.Sprint("src-", i%3), fmt.Sprint("topic-", i)
		in.Data["topic"] = in.Topic
		r, err := h.st.Receive(ctx, store.System("api"), in)
		if err != nil {
			return err
		}
		if len(r.Drafted) != 1 {
			return fmt.Errorf("receive: %+v", r)
		}
	}
	return nil
}

// walkThrough makes operations of which everything is there, in several states.
func (h *house) walkThrough(ctx context.Context, t *town) error {
	for i := range fillWalked {
		d, err := h.intake(ctx)
		if err != nil {
			return err
		}
		t.ops = append(t.ops, d.Operation)
		if i%2 == 0 {
			if err := h.approve(ctx, d); err != nil {
				return err
			}
		}
	}
	return nil
}

// superURL connects to the measured database as the superuser: only they may load rows
// without checks of foreign keys.
func (h *house) superURL() string {
	admin, err := url.Parse(h.pg.AdminURL())
	if err != nil {
		panic(err) // our own server's address
	}
	owner, err := url.Parse(h.pg.OwnerURL(""))
	if err != nil {
		panic(err)
	}
	admin.Path = owner.Path
	return admin.String()
}

// filled are the tables that are filled, their partitions included.
const filled = `(SELECT COALESCE(p.relid, c.oid) FROM pg_class c LEFT JOIN LATERAL pg_partition_tree(c.oid) p ON c.relkind = 'p'
	WHERE c.relnamespace = 'public'::regnamespace AND (c.relkind = 'r' OR p.isleaf)
	AND c.relname IN ('operations', 'runs', 'events', 'event_runs', 'deliveries', 'content_versions', 'submissions', 'approvals', 'attempts', 'history'))`

// restIndexes stops the upkeep of the indexes of what is filled, those of constraints
// too, and gives the statements that make them again: an index that is built over all
// rows is built much faster, and checks what it must then.
func restIndexes(ctx context.Context, c *sql.Conn) ([]string, error) {
	if _, err := c.ExecContext(ctx, `UPDATE pg_index SET indisready = false, indisvalid = false WHERE indrelid IN `+filled); err != nil {
		return nil, err
	}
	rows, err := c.QueryContext(ctx, `SELECT 'REINDEX TABLE ' || quote_ident(relname) FROM pg_class WHERE oid IN `+filled+` ORDER BY relname`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var q string
		if err := rows.Scan(&q); err != nil {
			return nil, err
		}
		out = append(out, q)
	}
	return out, rows.Err()
}
