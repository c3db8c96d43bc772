package store

import (
	"context"
	"strconv"
	"strings"
	"time"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// HistoryFilter narrows the history over all subjects. Empty fields do not narrow, and
// all combine.
type HistoryFilter struct {
	From, To    time.Time // of when it was recorded: From counts, To does not; zero = open
	SubjectKind operation.SubjectKind
	Subject     string // exactly; needs SubjectKind
	ActorKind   operation.ActorKind
	Actor       string // a person's or a token's ID, a worker's name, exactly
	Role        operation.Role
	Channel     string
	Action      string
	Flow        string
	Destination string
	Before      operation.State // state that the entry left
	After       operation.State // state that the entry led to
	Moved       bool            // only entries that changed a state
	Cursor      string          // of HistoryList.Next or Prev
	Limit       int             // 0 = 50
}

// HistoryList is one page of the history, newest first.
type HistoryList struct {
	Rows       []FoundEntry
	Next, Prev string // cursors, "" = none
	Integrity  Integrity
}

// FoundEntry is an entry with where it belongs.
type FoundEntry struct {
	HistoryRow
	Flow        string `db:"flow"`
	Destination string `db:"destination"`
	Label       string `db:"-"` // of the subject, as people know it; "" = it has none
}

// FindHistory lists the entries that the viewer may see, by keyset: no OFFSET, no
// counting. The histories of what is shown are verified with them.
func (s *Store) FindHistory(ctx context.Context, viewer Actor, f HistoryFilter) (*HistoryList, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	if f.Limit <= 0 || f.Limit > 500 {
		f.Limit = 50
	}
	out := &HistoryList{}
	err = s.snapshot(ctx, func(t *tx) error {
		q := f.page(v)
		var rows []FoundEntry
		if q.sql != "" {
			if err := t.list(&rows, q.sql, q.args...); err != nil {
				return err
			}
		}
		out.Rows, out.Next, out.Prev = keysetPage(rows, f.Limit, f.Cursor, placeInHistory)
		if err := t.label(out.Rows); err != nil {
			return err
		}
		out.Integrity, err = t.integrity(out.Rows)
		return err
	})
	return out, err
}

func placeInHistory(e FoundEntry) cursor { return cursor{At: e.At, Entry: e.ID} }

// seesPeople reports whether the viewer may read what was recorded about people and the
// installation: administrators and auditors, as on the pages of people.
func (v Viewer) seesPeople() bool {
	return v.Active && !v.Token && (v.Has(operation.RoleAdmin) || v.Has(operation.RoleAuditor))
}

// own reports a filter for the viewer's own history, which everybody may read.
func (f HistoryFilter) own(v Viewer) bool {
	return v.Active && f.SubjectKind == operation.SubjectUser && f.Subject != "" && f.Subject == string(v.Person.ID)
}

// kinds gives the conditions on history_kinds k: what is asked for, and what the viewer
// may see. narrow = false: it is every kind.
func (f HistoryFilter) kinds(v Viewer, c *conditions) (narrow bool) {
	for _, x := range [][2]string{{"subject_kind", string(f.SubjectKind)}, {"flow", f.Flow}, {"destination", f.Destination}, {"actor_kind", string(f.actorKind())},
		{"role", string(f.Role)}, {"channel", f.Channel}, {"action", f.Action}, {"from_state", string(f.Before)}, {"to_state", string(f.After)}} {
		if x[1] != "" {
			c.add("k."+x[0]+" = ?", x[1])
		}
	}
	if f.Moved {
		c.add("k.from_state <> k.to_state")
	}
	if !f.own(v) && !v.seesPeople() {
		c.add("k.subject_kind NOT IN ('user', 'system')")
	}
	if all, flows := v.seenFlows(); !all && !f.own(v) {
		c.add("k.flow = ANY(?)", pq.Array(withoutEmpty(flows)))
	}
	if len(v.destinations) > 0 {
		c.add("k.destination = ANY(?)", pq.Array(v.destinations))
	}
	return len(c.where) > 0
}

// withoutEmpty leaves the name out that stands for what belongs to no flow.
func withoutEmpty(list []string) []string {
	out := []string{}
	for _, x := range list {
		if x != "" {
			out = append(out, x)
		}
	}
	return out
}

// actorKind is the kind that is asked for, or the one that the actor's ID tells: it
// leaves few kinds of entries to look at.
func (f HistoryFilter) actorKind() operation.ActorKind {
	switch {
	case f.ActorKind != "" || f.Actor == "":
		return f.ActorKind
	case strings.HasPrefix(f.Actor, "usr_"):
		return operation.ActorPerson
	case strings.HasPrefix(f.Actor, "tok_"):
		return operation.ActorToken
	}
	return ""
}

// historyQuery is the statement of one page with its parameters; "" = it has no rows.
type historyQuery struct {
	conditions
	sql   string
	f     HistoryFilter
	order string // DESC, or ASC for a page that is read backwards
	cmp   string // what comes after the cursor
}

// page gives the statement of one page. Which index leads is chosen here and not by the
// planner: a subject's own entries, one stretch for each kind that fits, or all by time.
func (f HistoryFilter) page(v Viewer) *historyQuery {
	q := &historyQuery{f: f, order: "DESC", cmp: "<"}
	if c, ok := decodeCursor(f.Cursor); ok && c.Back {
		q.order, q.cmp = "ASC", ">"
	}
	var kinds conditions
	narrow := f.kinds(v, &kinds)
	q.args = kinds.args
	switch {
	case f.Subject != "" && f.SubjectKind == "":
	case f.Subject != "":
		q.sql = q.ofSubject(kinds, narrow)
	case narrow || f.Actor != "":
		q.sql = q.ofKinds(kinds)
	default:
		q.sql = `SELECT h.id, h.flow, h.destination, ` + aliased + ` FROM history h` + q.times().sql() + q.cut("h")
	}
	return q
}

// cut orders and cuts a part of the statement.
func (q *historyQuery) cut(t string) string {
	return " ORDER BY " + t + ".at " + q.order + ", " + t + ".id " + q.order + " LIMIT " + strconv.Itoa(q.f.Limit+1)
}

// times gives the conditions on time and place in the list. Its parameters follow those
// that there are.
func (q *historyQuery) times() *conditions {
	c := &conditions{args: q.args}
	if !q.f.From.IsZero() {
		c.add("h.at >= ?", storedTime(q.f.From))
	}
	if !q.f.To.IsZero() {
		c.add("h.at < ?", storedTime(q.f.To))
	}
	if at, ok := decodeCursor(q.f.Cursor); ok {
		c.add("h.at "+q.cmp+"= ?", storedTime(at.At)) // alone, it tells which months hold the page
		c.add("(h.at, h.id) "+q.cmp+" (?, ?)", storedTime(at.At), at.Entry)
	}
	q.args = c.args
	return c
}

// ofSubject reads the entries of one subject, which are few.
func (q *historyQuery) ofSubject(kinds conditions, narrow bool) string {
	c := q.times()
	c.add("h.subject_kind = ?", string(q.f.SubjectKind))
	c.add("h.subject_id = ?", q.f.Subject)
	if q.f.Actor != "" {
		c.add("h.actor_id = ?", q.f.Actor)
	}
	if narrow {
		c.where = append(c.where, `h.kind IN (SELECT k.kind FROM history_kinds k`+kinds.sql()+`)`)
	}
	q.args = c.args
	return `SELECT h.id, h.flow, h.destination, ` + aliased + ` FROM (SELECT * FROM history h` + c.sql() + ` OFFSET 0) h` + q.cut("h")
}

// ofKinds takes the newest of each kind that fits. Only those kinds whose newest is among
// the page's newest can have a row on the page: of each of them a page is read, and of
// those the newest.
func (q *historyQuery) ofKinds(kinds conditions) string {
	c := q.times()
	stretch := []string{"h.kind = k.kind"}
	if q.f.Actor != "" {
		c.add("h.actor_id = ?", q.f.Actor)
	}
	q.args = c.args
	part := func(limit int) string {
		return `(SELECT h.at, h.id FROM history h` + c.sql(stretch...) + ` ORDER BY h.at ` + q.order + `, h.id ` + q.order + ` LIMIT ` + strconv.Itoa(limit) + `) h`
	}
	return `WITH k AS MATERIALIZED (SELECT k.kind FROM history_kinds k` + kinds.sql() + `),
		newest AS MATERIALIZED (SELECT k.kind FROM k CROSS JOIN LATERAL ` + part(1) + q.cut("h") + `),
		found AS MATERIALIZED (SELECT h.at, h.id FROM newest k CROSS JOIN LATERAL ` + part(q.f.Limit+1) + q.cut("h") + `)
		SELECT h.id, h.flow, h.destination, ` + aliased + ` FROM found f JOIN history h ON h.at = f.at AND h.id = f.id` + q.cut("h")
}

// HistoryActions lists the actions that the history the viewer may see knows, for a filter.
func (s *Store) HistoryActions(ctx context.Context, viewer Actor) (actions []string, err error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	var c conditions
	HistoryFilter{}.kinds(v, &c)
	err = s.snapshot(ctx, func(t *tx) error {
		return t.list(&actions, `SELECT DISTINCT k.action FROM history_kinds k`+c.sql()+` ORDER BY 1`, c.args...)
	})
	return actions, err
}
