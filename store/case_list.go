package store

import (
	"context"
	"time"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// CaseFilter narrows the list of cases. Empty fields do not narrow.
type CaseFilter struct {
	Closed      bool // the closed ones; false = the open ones
	Mine        bool // those that the viewer has in hand
	Untaken     bool // those that nobody has in hand
	ToSettle    bool // those whose outcome a person can settle now
	Flow        string
	Destination string
	Before      time.Time           // opened before; zero = any
	Number      int64               // one case by its number, 0 = any
	Pattern     operation.PatternID // those whose operation stopped so in their round
	Cursor      string              // of CaseList.Next or Prev
	Limit       int                 // 0 = CaseListLimit
}

// CaseListLimit bounds a page of cases, and so what is worked on at once.
const CaseListLimit = 200

// CaseLine is one case of a list with its operation.
type CaseLine struct {
	Case CaseRow
	Op   InboxRow
	Time CaseTimes
}

// CaseList is one page of cases: the open ones oldest first, the closed ones newest first.
type CaseList struct {
	Now        time.Time
	Rows       []CaseLine
	Total      int // exactly how many the filter finds
	Next, Prev string
	// Flows and Destinations are what the viewer may filter by.
	Flows, Destinations []Named
	People              map[string]string // who has one in hand
}

// where gives the conditions of a filter for what a viewer may see.
func (f CaseFilter) where(v Viewer, viewer Actor) conditions {
	var q conditions
	if f.Closed {
		q.add("c.closed_at IS NOT NULL")
	} else {
		q.add("c.closed_at IS NULL")
	}
	if all, flows := v.seenFlows(); !all {
		q.add("c.flow = ANY(?)", pq.Array(flows))
	}
	if len(v.destinations) > 0 {
		q.add("c.destination = ANY(?)", pq.Array(v.destinations))
	}
	if f.Flow != "" {
		q.add("c.flow = ?", f.Flow)
	}
	if f.Destination != "" {
		q.add("c.destination = ?", f.Destination)
	}
	if f.Mine {
		q.add("c.taken_by = ?", viewer.ID)
	}
	if f.Untaken {
		q.add("c.taken_by IS NULL")
	}
	if f.ToSettle {
		q.add("EXISTS (SELECT 1 FROM operations o WHERE o.id = c.operation_id AND o.state IN ('unknown', 'review'))")
	}
	if !f.Before.IsZero() {
		q.add("c.opened_at < ?", storedTime(f.Before))
	}
	if f.Pattern != "" {
		q.add("EXISTS (SELECT 1 FROM stops s WHERE s.pattern_id = ? AND s.operation_id = c.operation_id AND s.round = c.round)", string(f.Pattern))
	}
	if f.Number > 0 {
		q.add("c.number = ?", f.Number)
	}
	return q
}

// ListCases lists the cases that the viewer may see, by keyset, and counts them exactly.
func (s *Store) ListCases(ctx context.Context, viewer Actor, f CaseFilter) (*CaseList, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	if f.Limit <= 0 || f.Limit > CaseListLimit {
		f.Limit = CaseListLimit
	}
	out := &CaseList{}
	err = s.snapshot(ctx, func(t *tx) error {
		*out = CaseList{People: map[string]string{}}
		return t.casePage(out, v, viewer, f)
	})
	if err != nil {
		return nil, err
	}
	names := &OperationList{}
	err = s.filterNames(ctx, v, names)
	out.Flows, out.Destinations = names.Flows, names.Destinations
	return out, err
}

func (t *tx) casePage(out *CaseList, v Viewer, viewer Actor, f CaseFilter) error {
	var err error
	if out.Now, err = t.clock(); err != nil {
		return err
	}
	q := f.where(v, viewer)
	if err := t.get(&out.Total, `SELECT count(*) FROM recovery_cases c`+q.sql(), q.args...); err != nil {
		return err
	}
	order, after, before := "ASC", ">", "<"
	if f.Closed {
		order, after, before = "DESC", "<", ">"
	}
	if c, ok := decodeCursor(f.Cursor); ok {
		if c.Back {
			after = before
			order = map[string]string{"ASC": "DESC", "DESC": "ASC"}[order]
		}
		q.add("c.number "+after+" ?", c.Entry)
	}
	var rows []CaseRow
	if err := t.list(&rows, `SELECT `+caseColumns+` FROM recovery_cases c`+q.sql()+` ORDER BY c.number `+order+` LIMIT `+q.arg(f.Limit+1), q.args...); err != nil {
		return err
	}
	rows, out.Next, out.Prev = keysetPage(rows, f.Limit, f.Cursor, func(r CaseRow) cursor { return cursor{Entry: r.Number} })
	out.Rows, err = t.caseLines(rows, out.Now)
	if err != nil {
		return err
	}
	ids := map[string]bool{}
	for _, r := range rows {
		ids[string(r.TakenBy)] = true
	}
	for _, r := range out.Rows {
		ids[string(r.Op.NextUser)] = true
	}
	return t.names(ids, out.People)
}

// caseLines reads the operations of some cases, in their order.
func (t *tx) caseLines(rows []CaseRow, now time.Time) ([]CaseLine, error) {
	ops, cases := make([]string, len(rows)), make([]operation.CaseID, len(rows))
	for i, r := range rows {
		ops[i], cases[i] = string(r.Operation), r.ID
	}
	lines, err := t.rowsOf(ops, now)
	if err != nil || len(lines) != len(rows) {
		return nil, err
	}
	times, err := t.caseTimes(cases...)
	out := make([]CaseLine, len(rows))
	for i, r := range rows {
		out[i] = CaseLine{r, lines[i], times[r.ID]}
	}
	return out, err
}
