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
)

// fill loads rows by statements over whole sets. Of the operations, 0.8 % need a
// person's decision, some more are open, and nearly all others are confirmed. Some go
// through the gate one by one, so that their pages are whole.
func (h *house) fill(ctx context.Context, rows int) (*town, error) {
	if err := h.settle(ctx); err != nil {
		return nil, err
	}
	t := &town{day: time.Now().AddDate(0, -5, 0).Format(time.DateOnly)}
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
	// rows that were checked when they were thought up need no foreign keys checked
	if _, err := c.ExecContext(ctx, `SET session_replication_role = replica; SET synchronous_commit = off; SET maintenance_work_mem = '512MB'; SET work_mem = '128MB'; CREATE TEMP TABLE fill AS SELECT `+fmt.Sprint(rows)+` AS rows`); err != nil {
		return nil, err
	}
	indexes, err := h.dropIndexes(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"rows.sql", "people.sql", "deliveries.sql"} {
		q, err := fillSQL.ReadFile("fill/" + name)
		if err != nil {
			return nil, err
		}
		start := time.Now()
		if _, err := c.ExecContext(ctx, string(q)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(h.log, "%s: %.0f s\n", name, time.Since(start).Seconds())
	}
	start := time.Now()
	for _, q := range append(indexes, "VACUUM ANALYZE") {
		if _, err := c.ExecContext(ctx, q); err != nil {
			return nil, fmt.Errorf("%s: %w", q, err)
		}
	}
	fmt.Fprintf(h.log, "%d indexes, statistics: %.0f s\n", len(indexes), time.Since(start).Seconds())
	return t, h.walkThrough(ctx, t)
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
	for i := range 40 {
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

// dropIndexes drops the indexes that back no constraint, and gives the statements that
// make them again: one that is built over all rows is built much faster.
func (h *house) dropIndexes(ctx context.Context, c *sql.Conn) ([]string, error) {
	rows, err := c.QueryContext(ctx, `SELECT i.indexname, i.indexdef FROM pg_indexes i WHERE i.schemaname = 'public'
		AND i.tablename IN ('operations', 'runs', 'events', 'event_runs', 'deliveries', 'content_versions', 'submissions', 'approvals', 'history')
		AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = (quote_ident(i.indexname))::regclass)`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names, defs []string
	for rows.Next() {
		var name, def string
		if err := rows.Scan(&name, &def); err != nil {
			return nil, err
		}
		names, defs = append(names, name), append(defs, def)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for _, n := range names {
		if _, err := c.ExecContext(ctx, `DROP INDEX `+n); err != nil {
			return nil, err
		}
	}
	return defs, nil
}
