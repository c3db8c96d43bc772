package store_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"

	"github.com/jmoiron/sqlx"
)

// listed pages through a list, forwards to its end and backwards to its beginning, and
// gives what it found.
func listed(t *testing.T, f *storetest.Fixture, who string, in store.OperationFilter) (out []operation.ID) {
	t.Helper()
	var back []operation.ID
	for range 400 {
		page, err := f.Store.ListOperations(t.Context(), f.As(who), in)
		ok(t, err)
		for _, r := range page.Rows {
			out = append(out, r.ID)
		}
		if page.Next == "" {
			for prev := page.Prev; prev != ""; {
				in.Cursor = prev
				p, err := f.Store.ListOperations(t.Context(), f.As(who), in)
				ok(t, err)
				var ids []operation.ID
				for _, r := range p.Rows {
					ids = append(ids, r.ID)
				}
				back, prev = append(ids, back...), p.Prev
			}
			if !slices.Equal(back, out[:min(len(back), len(out))]) {
				t.Errorf("%+v: backwards %v, forwards %v", in, back, out)
			}
			return out
		}
		in.Cursor = page.Next
	}
	t.Fatal("the pages do not end")
	return nil
}

// TestListOperations narrows the list by source and by time, page by page, in one order.
func TestListOperations(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	var coupons []operation.ID
	for range 5 {
		coupons = append(coupons, f.Receive(t, storetest.CouponEvent())...)
		f.Receive(t, storetest.CampaignEvent())
	}
	slices.Reverse(coupons) // newest first
	source := storetest.CouponEvent().Source
	if source == storetest.CampaignEvent().Source {
		t.Fatal("both events are of one source")
	}
	list := func(in store.OperationFilter) []operation.ID { t.Helper(); return listed(t, f, "admin", in) }
	if got := list(store.OperationFilter{Source: source, Limit: 2}); !slices.Equal(got, coupons) {
		t.Errorf("of the source: %v, want %v", got, coupons)
	}
	if got := list(store.OperationFilter{Source: "nobody"}); len(got) != 0 {
		t.Errorf("of no source: %v", got)
	}
	all := list(store.OperationFilter{})
	middle := operationAt(t, f, coupons[2])
	since, before := list(store.OperationFilter{From: middle, Limit: 3}), list(store.OperationFilter{To: middle, Limit: 3})
	if !slices.Equal(append(slices.Clone(since), before...), all) || !slices.Contains(since, coupons[2]) || slices.Contains(before, coupons[2]) {
		t.Errorf("from and to: %v and %v of %v", since, before, all)
	}
	if got := list(store.OperationFilter{Source: source, From: middle, To: middle.Add(time.Microsecond)}); !slices.Equal(got, coupons[2:3]) {
		t.Errorf("one moment: %v", got)
	}
	page, err := f.Store.ListOperations(t.Context(), f.As("admin"), store.OperationFilter{Cursor: "nonsense"})
	ok(t, err)
	if !slices.ContainsFunc(page.Sources, func(n store.Named) bool { return n.Name == store.JobSource }) || !slices.ContainsFunc(page.Flows, func(n store.Named) bool { return n.Title.In("ja") != "" }) {
		t.Errorf("filters: %+v %+v", page.Sources, page.Flows)
	}
}

// TestListFilters compares every filter, and chance combinations of them, with the same
// conditions written plainly, with operations in every state and all made at one of three
// moments.
func TestListFilters(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	for i, state := range operation.States {
		s := &stand{f: f, t: t, id: coupon(t, f)()}
		ways[state](s)
		if i%3 == 0 {
			f.Receive(t, storetest.CampaignEvent())
		}
	}
	exec := func(q string, args ...any) { t.Helper(); _, err := f.Owner.Exec(q, args...); ok(t, err) }
	moment := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	exec(`UPDATE operations SET created_at = CAST($1 AS timestamptz) + interval '1 day' * (n % 3) FROM (SELECT id AS x, row_number() OVER (ORDER BY id) AS n FROM operations) k WHERE id = x`, moment)
	exec(`UPDATE operations SET duplicate = 'suspected' WHERE state IN ('confirmed', 'review')`)
	exec(`UPDATE operations SET next_user = $1 WHERE state = 'draft'`, string(f.Users["author"]))
	exec(`UPDATE operations SET next_at = now() - interval '1 hour' WHERE state = 'pending_approval'`)
	f.Store.Check(t.Context())

	flows, dests, sources := column(t, f, "flow"), column(t, f, "destination"), column(t, f, "source")
	pick := func(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }
	parts := []func(*rand.Rand, *store.OperationFilter) string{
		func(r *rand.Rand, x *store.OperationFilter) string {
			x.State = operation.States[r.IntN(len(operation.States))]
			return "state = '" + string(x.State) + "'"
		},
		func(_ *rand.Rand, x *store.OperationFilter) string {
			x.Open = true
			return "state NOT IN ('confirmed', 'rejected', 'cancelled', 'not_executed')"
		},
		func(_ *rand.Rand, x *store.OperationFilter) string {
			x.Closed = true
			return "state IN ('confirmed', 'rejected', 'cancelled', 'not_executed')"
		},
		func(r *rand.Rand, x *store.OperationFilter) string {
			x.Flow = pick(r, flows)
			return "flow = '" + x.Flow + "'"
		},
		func(r *rand.Rand, x *store.OperationFilter) string {
			x.Destination = pick(r, dests)
			return "destination = '" + x.Destination + "'"
		},
		func(r *rand.Rand, x *store.OperationFilter) string {
			x.Source = pick(r, sources)
			return "source = '" + x.Source + "'"
		},
		func(_ *rand.Rand, x *store.OperationFilter) string {
			x.From = moment.AddDate(0, 0, 1)
			return "created_at >= '2026-03-02 12:00Z'"
		},
		func(_ *rand.Rand, x *store.OperationFilter) string {
			x.To = moment.AddDate(0, 0, 2)
			return "created_at < '2026-03-03 12:00Z'"
		},
		func(r *rand.Rand, x *store.OperationFilter) string {
			x.Responsible = operation.Roles[r.IntN(len(operation.Roles))]
			return "next_kind <> '' AND NOT next_system AND next_role = '" + string(x.Responsible) + "'"
		},
		func(_ *rand.Rand, x *store.OperationFilter) string {
			x.Person = f.Users["author"]
			return "next_kind <> '' AND NOT next_system AND next_user = '" + string(x.Person) + "'"
		},
		func(_ *rand.Rand, x *store.OperationFilter) string { x.System = true; return "next_system" },
		func(_ *rand.Rand, x *store.OperationFilter) string {
			x.Overdue = true
			return "next_kind <> '' AND NOT next_system AND next_at < now()"
		},
		func(_ *rand.Rand, x *store.OperationFilter) string { x.Duplicate = true; return "duplicate <> ''" },
	}
	r := rand.New(rand.NewPCG(7, 8))
	found := 0
	check := func(who, seen string, chosen ...int) {
		t.Helper()
		x, where := store.OperationFilter{Limit: 3}, []string{seen}
		for _, i := range chosen {
			where = append(where, parts[i](r, &x))
		}
		if x.State.Valid() || x.Closed && x.Open { // a state says more than open and closed
			x.Open, x.Closed = false, false
			where = slices.DeleteFunc(where, func(s string) bool { return strings.HasPrefix(s, "state NOT IN") || strings.HasPrefix(s, "state IN") })
		}
		var want []operation.ID
		ok(t, asOwner(f).Select(&want, `SELECT id FROM operations WHERE `+strings.Join(where, " AND ")+` ORDER BY created_at DESC, id DESC`))
		got := listed(t, f, who, x)
		if !slices.Equal(got, want) {
			t.Errorf("%s, %v: %v, want %v", who, where, got, want)
		}
		found += len(got)
	}
	check("admin", "true")
	for i := range parts {
		check("admin", "true", i)
	}
	for range 60 {
		check("admin", "true", r.Perm(len(parts))[:2+r.IntN(2)]...)
	}
	if found < 100 {
		t.Errorf("only %d rows in all: the filters find nothing", found)
	}
	limitedTo(t, f, operation.RoleAuditor, "campaign-follow-up")
	for range 20 {
		check("only-auditor", "flow = 'campaign-follow-up'", r.Perm(len(parts))[:r.IntN(3)]...)
	}
}

// limitedTo adds a person who holds one role for one flow alone, as only-<role>.
func limitedTo(t *testing.T, f *storetest.Fixture, role operation.Role, flow string) {
	t.Helper()
	link, err := f.Store.AddUser(t.Context(), store.System("command"), store.NewUser{Email: "only-" + string(role) + "@example.test", Name: "Only", Roles: []store.RoleGrant{{Role: role, Flow: flow}}})
	ok(t, err)
	f.Users["only-"+string(role)] = link.User
}

// asOwner is the fixture's database as its owner, reading rows into structs.
func asOwner(f *storetest.Fixture) *sqlx.DB { return sqlx.NewDb(f.Owner, "postgres") }

func column(t *testing.T, f *storetest.Fixture, name string) (out []string) {
	t.Helper()
	ok(t, asOwner(f).Select(&out, `SELECT DISTINCT `+name+` FROM operations ORDER BY 1`))
	return append(out, "nothing")
}

// TestListReadsWhatItShows: no page of any filter reads many more rows than it shows, in a
// table in which the filters fit few rows, or none.
func TestListReadsWhatItShows(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.Receive(t, storetest.CouponEvent())
	f.Receive(t, storetest.CampaignEvent())
	const rows = 6000
	crowd(t, f, rows)
	_, err := f.Owner.Exec(`ANALYZE operations`)
	ok(t, err)
	v, err := f.Store.FindViewer(t.Context(), f.As("admin"))
	ok(t, err)
	filters := map[string]store.OperationFilter{"none": {}, "open": {Open: true}, "closed": {Closed: true}, "confirmed": {State: operation.Confirmed}, "rejected": {State: operation.Rejected},
		"duplicate": {Duplicate: true}, "overdue": {Overdue: true}, "system": {System: true}, "person": {Person: f.Users["lead"]}, "search": {Search: "nothing"},
		"source": {Source: "nothing"}, "day": {From: time.Now().AddDate(0, 0, -3), To: time.Now().AddDate(0, 0, -2)},
		"flow": {Flow: "newsletter-coupon"}, "no flow": {Flow: "nothing"}, "destination": {Destination: "crm"}, "no destination": {Destination: "nothing"},
		"flow and destination": {Flow: "newsletter-coupon", Destination: "mail"}, "flow and state": {Flow: "nothing", State: operation.Confirmed}, "state and source": {State: operation.Review, Source: "nothing"}}
	for _, r := range operation.Roles {
		filters["role "+string(r)] = store.OperationFilter{Responsible: r}
	}
	c, err := asOwner(f).Connx(t.Context())
	ok(t, err)
	defer c.Close()
	for _, q := range []string{`SET plan_cache_mode = force_generic_plan`} {
		_, err = c.ExecContext(t.Context(), q)
		ok(t, err)
	}
	for name, x := range filters {
		q, args := x.ListStatement(v)
		var text string
		ok(t, c.GetContext(t.Context(), &text, `EXPLAIN (ANALYZE, FORMAT JSON) `+q, args...))
		var plan []struct{ Plan planNode }
		ok(t, json.Unmarshal([]byte(text), &plan))
		if n := plan[0].Plan.read(); n > 700 {
			t.Errorf("%s: %.0f rows read\n%s", name, n, text)
		}
	}
}

// planNode is a node of a plan as EXPLAIN gives it.
type planNode struct {
	Type    string     `json:"Node Type"`
	Rows    float64    `json:"Actual Rows"`
	Loops   float64    `json:"Actual Loops"`
	Dropped float64    `json:"Rows Removed by Filter"`
	Plans   []planNode `json:"Plans"`
}

// read counts the rows that scans of tables and indexes looked at.
func (n planNode) read() float64 {
	sum := 0.0
	if strings.Contains(n.Type, "Scan") && n.Type != "CTE Scan" && n.Type != "WorkTable Scan" && n.Type != "Subquery Scan" {
		sum = (n.Rows + n.Dropped) * n.Loops
	}
	for _, p := range n.Plans {
		sum += p.read()
	}
	return sum
}

// crowd multiplies the operations there are into many confirmed ones, with one in a
// hundred in other states.
func crowd(t *testing.T, f *storetest.Fixture, rows int) {
	t.Helper()
	var names []string
	ok(t, asOwner(f).Select(&names, `SELECT column_name FROM information_schema.columns WHERE table_name = 'operations' AND column_name NOT IN
		('id', 'item_key', 'state', 'created_at', 'confirmed_by', 'next_kind', 'next_role', 'next_user', 'next_system', 'next_at', 'duplicate')`))
	same := strings.Join(names, ", ")
	_, err := f.Owner.Exec(fmt.Sprintf(`INSERT INTO operations (%s, id, item_key, state, created_at, confirmed_by, next_kind, next_role, next_user, next_system, next_at, duplicate)
		SELECT %s, 'op_' || lpad(g::text, 26, '0'), g::text, CASE WHEN rare THEN (ARRAY['review', 'rejected', 'unknown'])[1 + g / 100 %% 3] ELSE 'confirmed' END,
			now() - interval '1 minute' * g, CASE WHEN NOT rare THEN 'destination' END,
			CASE WHEN NOT rare OR g / 100 %% 3 = 1 THEN '' WHEN g / 100 %% 3 = 0 THEN 'reconcile' ELSE 'check' END,
			CASE WHEN rare AND g / 100 %% 3 = 0 THEN 'ops_owner' ELSE '' END, NULL, rare AND g / 100 %% 3 = 2, CASE WHEN rare THEN now() - interval '1 hour' END, CASE WHEN g %% 900 = 0 THEN 'suspected' ELSE '' END
		FROM (SELECT g, g %% 100 = 0 AS rare FROM generate_series(1, %d) g) g JOIN (SELECT o.*, row_number() OVER (ORDER BY o.id) AS n, count(*) OVER () AS total FROM operations o) o ON o.n = 1 + g.g %% o.total`, same, prefixed(names), rows))
	ok(t, err)
}

func prefixed(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = "o." + n
	}
	return strings.Join(out, ", ")
}

func operationAt(t *testing.T, f *storetest.Fixture, id operation.ID) (at time.Time) {
	t.Helper()
	ok(t, f.Owner.QueryRow(`SELECT created_at FROM operations WHERE id = $1`, string(id)).Scan(&at))
	return at
}

// TestSearch finds an operation by each key that people have in their hands, and only
// where they may see it.
func TestSearch(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	event := storetest.CouponEvent()
	id := f.Receive(t, event)[0]
	f.Receive(t, storetest.CouponEvent())
	f.Approve(t, id, "lead")
	a, err := f.Store.ClaimAndDispatch(t.Context(), store.Job("test"), id, "test")
	ok(t, err)
	_, err = f.Store.Record(t.Context(), store.Job("test"), a.Attempt, a.Fence, operation.Result{Outcome: operation.OutcomeConfirmed, TargetReference: "T-77", Proof: operation.Proof{Code: "confirmed", Phase: operation.PhaseComplete, Status: 201, Written: 10}})
	ok(t, err)
	p, err := f.Store.FindOperation(t.Context(), f.As("admin"), id)
	ok(t, err)
	limitedTo(t, f, operation.RoleAuditor, "campaign-follow-up")
	for what, key := range map[string]string{"operation": string(id), "event key": event.EventKey, "target reference": "T-77", "destination key": p.Attempts[0].Key, "attempt": string(a.Attempt), "run": string(p.RunID), "with spaces": "  T-77 "} {
		if got := listed(t, f, "admin", store.OperationFilter{Search: key}); !slices.Equal(got, []operation.ID{id}) {
			t.Errorf("%s %q: %v", what, key, got)
		}
		if got := listed(t, f, "only-auditor", store.OperationFilter{Search: key}); len(got) != 0 {
			t.Errorf("%s %q shows a foreign operation: %v", what, key, got)
		}
	}
	for _, key := range []string{"T-7", "%", strings.Repeat("x", 5000), "op_' OR '1'='1"} {
		if got := listed(t, f, "admin", store.OperationFilter{Search: key}); len(got) != 0 {
			t.Errorf("%.20q: %v", key, got)
		}
	}
	if got := listed(t, f, "admin", store.OperationFilter{Search: "T-77", State: operation.Draft}); len(got) != 0 {
		t.Errorf("search beside another state: %v", got)
	}
}

// TestEachOperation hands out the list whole, and stops when it is told to.
func TestEachOperation(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.Receive(t, storetest.CouponEvent())
	crowd(t, f, 1200)
	var got []operation.ID
	ok(t, f.Store.EachOperation(t.Context(), f.As("admin"), store.OperationFilter{Closed: true, Cursor: "x", Limit: 1}, func(r store.InboxRow) error { got = append(got, r.ID); return nil }))
	if want := listed(t, f, "admin", store.OperationFilter{Closed: true, Limit: 500}); !slices.Equal(got, want) || len(got) < 1100 {
		t.Errorf("%d rows, want %d", len(got), len(want))
	}
	n := 0
	err := f.Store.EachOperation(t.Context(), f.As("admin"), store.OperationFilter{}, func(store.InboxRow) error {
		if n++; n == 3 {
			return store.ErrNotFound
		}
		return nil
	})
	if err != store.ErrNotFound || n != 3 {
		t.Errorf("stopped after %d: %v", n, err)
	}
}
