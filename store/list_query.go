package store

import (
	"fmt"
	"strings"
	"time"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// conditions collects the conditions of a query with their parameters.
type conditions struct {
	where []string
	args  []any
}

// arg adds a parameter and gives its name.
func (c *conditions) arg(x any) string {
	c.args = append(c.args, x)
	return fmt.Sprintf("$%d", len(c.args))
}

// add adds a condition; each ? stands for the next of the values.
func (c *conditions) add(cond string, values ...any) {
	for _, x := range values {
		cond = strings.Replace(cond, "?", c.arg(x), 1)
	}
	c.where = append(c.where, cond)
}

// sql joins the conditions, with those of more, behind a WHERE.
func (c *conditions) sql(more ...string) string {
	all := append(append([]string(nil), more...), c.where...)
	if len(all) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(all, " AND ")
}

// likeText takes the meaning of LIKE's signs from what people search for.
var likeText = strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`)

// closedStates is a literal, as all states in these statements are: plans are generic,
// and a partial index is only used for a state that the plan knows.
const closedStates = "('confirmed', 'rejected', 'cancelled', 'not_executed')"

// listQuery finds one page of operations. Which index leads is chosen here and not by
// the planner, whose guess about a rare flow or an empty filter may read every row.
type listQuery struct {
	f     OperationFilter
	kind  conditions // of flow, destination and source
	rest  conditions // of state, time and place in the list
	order string     // DESC, or ASC for a page that is read backwards
}

// query gives the statement of one page with its parameters.
func (f OperationFilter) query(v Viewer) (string, []any) {
	q := &listQuery{f: f, order: "DESC"}
	q.narrow(v)
	keys := q.keys(v)
	return `SELECT ` + opColumns + `, o.source FROM (` + keys + `) k JOIN operations o ON o.id = k.id ORDER BY o.created_at ` + q.order + `, o.id ` + q.order, q.kind.args
}

// page is how each part of the statement is ordered and cut.
func (q *listQuery) page() string {
	return fmt.Sprintf(" ORDER BY o.created_at %s, o.id %s LIMIT %d", q.order, q.order, q.f.Limit+1)
}

// also adds a condition of the rest; all parameters are numbered through.
func (q *listQuery) also(cond string, values ...any) {
	for _, x := range values {
		cond = strings.Replace(cond, "?", q.kind.arg(x), 1)
	}
	q.rest.where = append(q.rest.where, cond)
}

func (q *listQuery) narrow(v Viewer) {
	f := q.f
	if all, flows := v.seenFlows(); !all {
		q.kind.add("o.flow = ANY(?)", pq.Array(flows))
	}
	if len(v.destinations) > 0 {
		q.kind.add("o.destination = ANY(?)", pq.Array(v.destinations))
	}
	for _, x := range [][2]string{{"flow", f.Flow}, {"destination", f.Destination}, {"source", f.Source}} {
		if x[1] != "" {
			q.kind.add("o."+x[0]+" = ?", x[1])
		}
	}
	switch {
	case f.State.Valid():
		q.also("o.state = '" + string(f.State) + "'")
	case f.Closed:
		q.also("o.state IN " + closedStates)
	}
	if !f.From.IsZero() {
		q.also("o.created_at >= ?", storedTime(f.From))
	}
	if !f.To.IsZero() {
		q.also("o.created_at < ?", storedTime(f.To))
	}
	if c, ok := decodeCursor(f.Cursor); ok {
		cmp := "<"
		if c.Back {
			cmp, q.order = ">", "ASC"
		}
		q.also("(o.created_at, o.id) "+cmp+" (?, ?)", storedTime(c.At), string(c.ID))
	}
}

// storedTime keeps a time within what PostgreSQL stores: an address may hold any.
func storedTime(at time.Time) time.Time {
	at = at.UTC()
	switch {
	case at.Year() < 1:
		return time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	case at.Year() > 9999:
		return time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	}
	return at
}

// keys gives the statement that finds the page's IDs.
func (q *listQuery) keys(v Viewer) string {
	f := q.f
	all, _ := v.seenFlows()
	switch {
	case strings.TrimSpace(f.Search) != "":
		return q.from(append(q.next(), q.searched())...)
	case f.Responsible != "" || f.Person != "" || f.System || f.Overdue || f.Duplicate:
		return q.fenced()
	case f.Open && !f.State.Valid():
		return q.open()
	case f.State.Valid() && f.State != operation.Confirmed:
		return q.from()
	case !all || len(q.kind.where) > 0:
		return q.kinds()
	}
	return q.from()
}

// next gives the conditions on who decides next, and on what few operations have. Roles are literals: they choose the
// stretch of the index.
func (q *listQuery) next() []string {
	f := q.f
	var out []string
	if f.Responsible.Valid() {
		out = append(out, "o.next_role = '"+string(f.Responsible)+"' AND o.next_kind <> '' AND NOT o.next_system")
	}
	if f.Person != "" {
		out = append(out, "o.next_user = "+q.kind.arg(string(f.Person))+" AND o.next_kind <> '' AND NOT o.next_system")
	}
	if f.System {
		out = append(out, "o.next_system")
	}
	if f.Overdue {
		out = append(out, "o.next_kind <> '' AND NOT o.next_system AND o.next_at < now()")
	}
	if f.Duplicate {
		out = append(out, "o.duplicate <> ''")
	}
	if f.Open && !f.State.Valid() {
		out = append(out, "o.state NOT IN "+closedStates)
	}
	return out
}

func (q *listQuery) from(more ...string) string {
	all := conditions{where: append(append([]string(nil), q.kind.where...), q.rest.where...)}
	return `SELECT o.id FROM operations o` + all.sql(more...) + q.page()
}

// fenced finds the few rows of a partial index first, and orders them then.
func (q *listQuery) fenced() string {
	all := conditions{where: append(append([]string(nil), q.kind.where...), q.rest.where...)}
	return `SELECT o.id FROM (SELECT o.id, o.created_at FROM operations o` + all.sql(q.next()...) + ` OFFSET 0) o` + q.page()
}

// open takes the newest of each open state, and the newest of those.
func (q *listQuery) open() string {
	var parts []string
	all := conditions{where: append(append([]string(nil), q.kind.where...), q.rest.where...)}
	for _, s := range operation.States {
		if !s.Closed() {
			parts = append(parts, `(SELECT o.id, o.created_at FROM operations o`+all.sql("o.state = '"+string(s)+"'")+q.page()+`)`)
		}
	}
	return `SELECT o.id FROM (` + strings.Join(parts, " UNION ALL ") + `) o` + q.page()
}

// kinds walks from one combination of flow, destination and source to the next by their
// index, takes the newest of each that fits, and the newest of those. There are few
// combinations, however many operations there are.
func (q *listQuery) kinds() string {
	start, next := "", "(o.flow, o.destination, o.source) > (g.flow, g.destination, g.source)"
	if q.f.Flow != "" { // or the last step would read every row of the flow
		flow := q.kind.arg(q.f.Flow)
		start, next = " WHERE flow = "+flow, "o.flow = "+flow+" AND (o.destination, o.source) > (g.destination, g.source)"
	}
	return `WITH RECURSIVE g AS ((SELECT flow, destination, source FROM operations` + start + ` ORDER BY flow, destination, source LIMIT 1)
		UNION ALL SELECT n.flow, n.destination, n.source FROM g CROSS JOIN LATERAL (SELECT o.flow, o.destination, o.source FROM operations o
			WHERE ` + next + ` ORDER BY o.flow, o.destination, o.source LIMIT 1) n)
		SELECT o.id FROM (SELECT o.flow, o.destination, o.source FROM g o` + q.kind.sql() + ` OFFSET 0) g CROSS JOIN LATERAL (SELECT o.id, o.created_at FROM operations o` +
		q.rest.sql("o.flow = g.flow", "o.destination = g.destination", "o.source = g.source") + q.page() + `) o` + q.page()
}

// searched finds what is searched for by each of the keys that people know. Each way has
// an index; OR over all of them would read the whole table.
func (q *listQuery) searched() string {
	x := strings.TrimSpace(q.f.Search)
	key, _, _ := strings.Cut(x, "-g") // a destination key is the operation's ID and its generation
	id, text := q.kind.arg(key), q.kind.arg(x)
	return `o.id = ANY (ARRAY(SELECT CAST(` + id + ` AS text) UNION SELECT y.operation_id FROM target_references y WHERE y.reference = ` + text + `
		UNION SELECT y.id FROM operations y WHERE y.run_id = ` + text + ` UNION SELECT y.operation_id FROM attempts y WHERE y.id = ` + text + `
		UNION SELECT y.id FROM events e JOIN event_runs z ON z.event_id = e.id JOIN operations y ON y.run_id = z.run_id WHERE e.event_key = ` + text + `))`
}
