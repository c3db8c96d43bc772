package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// IncidentFilter narrows the list of incidents. Empty fields do not narrow.
type IncidentFilter struct {
	Flow, Destination string
	State             operation.IncidentState
	Owner             operation.UserID
	From, To          time.Time // of when it began: From counts, To does not
	Search            string    // in title, summary and cause, or INC-7
	Cursor            string
	Limit             int // 0 = 50
}

// IncidentItem is one incident of a list.
type IncidentItem struct {
	ID           operation.IncidentID    `db:"id"`
	Number       int64                   `db:"number"`
	Title        string                  `db:"title"`
	State        operation.IncidentState `db:"state"`
	Class        operation.CauseClass    `db:"cause_class"`
	Pattern      string                  `db:"pattern"`
	Library      PatternName             `db:"library"` // the pattern of the library that was chosen
	OwnerID      operation.UserID        `db:"owner_id"`
	OwnerName    string                  `db:"owner_name"`
	Flows        pq.StringArray          `db:"flows"`
	Destinations pq.StringArray          `db:"destinations"`
	BeganAt      time.Time               `db:"began_at"`
	CreatedAt    time.Time               `db:"created_at"`
	Operations   int                     `db:"operations"` // hidden ones included
	OpenTasks    int                     `db:"open_tasks"`
	LateTasks    int                     `db:"late_tasks"`
	SamePattern  bool                    `db:"same_pattern"` // of a list of similar ones: the pattern is the same
}

const incidentItemColumns = `i.id, i.number, i.title, i.state, i.cause_class, i.pattern, COALESCE(i.owner_id, '') AS owner_id, COALESCE((SELECT name FROM users WHERE id = i.owner_id), '') AS owner_name,
	i.flows, i.destinations, i.began_at, i.created_at, (SELECT count(*) FROM incident_operations p WHERE p.incident_id = i.id) AS operations,
	(SELECT count(*) FROM improvement_tasks k WHERE k.incident_id = i.id AND k.state = 'open') AS open_tasks,
	(SELECT count(*) FROM improvement_tasks k WHERE k.incident_id = i.id AND k.state = 'open' AND k.due_at < clock_timestamp()) AS late_tasks, ` + libraryColumns

// IncidentList is one page of incidents, newest first.
type IncidentList struct {
	Now        time.Time
	Rows       []IncidentItem
	Next, Prev string
}

// ListIncidents lists the incidents of whose flows the viewer may see at least one.
func (s *Store) ListIncidents(ctx context.Context, viewer Actor, f IncidentFilter) (*IncidentList, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	if f.Limit <= 0 || f.Limit > 500 {
		f.Limit = 50
	}
	c, order := f.conditions(v)
	out := &IncidentList{}
	err = s.read(ctx, func(q *sqlx.DB) error {
		out.Rows = nil
		if err := q.GetContext(ctx, &out.Now, `SELECT clock_timestamp()`); err != nil {
			return err
		}
		return q.SelectContext(ctx, &out.Rows, `SELECT `+incidentItemColumns+incidentFrom+c.sql()+` ORDER BY i.created_at `+order+`, i.id `+order+` LIMIT `+c.arg(f.Limit+1), c.args...)
	})
	if err != nil {
		return nil, err
	}
	hideLibrary(out.Rows, v)
	out.Rows, out.Next, out.Prev = keysetPage(out.Rows, f.Limit, f.Cursor, func(r IncidentItem) cursor { return cursor{At: r.CreatedAt, ID: operation.ID(r.ID)} })
	return out, nil
}

func (f IncidentFilter) conditions(v Viewer) (c conditions, order string) {
	seenIncidents(&c, v)
	if f.Flow != "" {
		c.add("i.flows @> ARRAY[?]", f.Flow)
	}
	if f.Destination != "" {
		c.add("i.destinations @> ARRAY[?]", f.Destination)
	}
	if f.State.Valid() {
		c.add("i.state = ?", string(f.State))
	}
	if f.Owner != "" {
		c.add("i.owner_id = ?", string(f.Owner))
	}
	if !f.From.IsZero() {
		c.add("i.began_at >= ?", storedTime(f.From))
	}
	if !f.To.IsZero() {
		c.add("i.began_at < ?", storedTime(f.To))
	}
	if x := strings.TrimSpace(f.Search); x != "" {
		like := "%" + likeText.Replace(x) + "%"
		c.add("('INC-' || i.number = upper(?) OR i.title ILIKE ? OR i.summary ILIKE ? OR i.cause ILIKE ? OR i.pattern ILIKE ?)", x, like, like, like, like)
	}
	order = "DESC"
	if at, ok := decodeCursor(f.Cursor); ok {
		cmp := "<"
		if at.Back {
			cmp, order = ">", "ASC"
		}
		c.add("(i.created_at, i.id) "+cmp+" (?, ?)", storedTime(at.At), string(at.ID))
	}
	return c, order
}

// hideLibrary takes the library's pattern out of incidents that the viewer may not see whole:
// it may come from a flow that is not theirs.
func hideLibrary(rows []IncidentItem, v Viewer) {
	for i, r := range rows {
		if slices.ContainsFunc(r.Flows, func(f string) bool { return !v.Sees(f, "") }) {
			rows[i].Library = PatternName{}
		}
	}
}

// seenIncidents narrows to what the viewer may know of.
func seenIncidents(c *conditions, v Viewer) {
	if all, flows := v.seenFlows(); !all {
		c.add("i.flows && ?", pq.Array(append([]string{}, flows...)))
	}
}

// similarLimit bounds how many earlier incidents a page shows.
const similarLimit = 5

// similarIncidents finds earlier incidents of the same pattern, else of the same class of
// cause at one of the same destinations.
func (t *tx) similarIncidents(in *Incident, v Viewer) (rows []IncidentItem, err error) {
	var c conditions
	seenIncidents(&c, v)
	c.add("i.created_at < ?", in.CreatedAt)
	same := "(" + c.arg(string(in.PatternID)) + " <> '' AND i.pattern_id = " + c.arg(string(in.PatternID)) + " OR " + c.arg(in.Pattern) + " <> '' AND lower(i.pattern) = lower(" + c.arg(in.Pattern) + "))"
	c.add("("+same+" OR i.cause_class = ? AND i.cause_class <> '' AND i.destinations && ?)", string(in.Class), pq.Array([]string(in.Destinations)))
	err = t.list(&rows, `SELECT `+incidentItemColumns+`, `+same+` AS same_pattern`+incidentFrom+c.sql()+` ORDER BY same_pattern DESC, i.created_at DESC, i.id LIMIT `+c.arg(similarLimit), c.args...)
	hideLibrary(rows, v)
	return rows, err
}

// IncidentsOf lists the incidents that an operation is part of, newest first, as far as
// the viewer may know of them.
func (s *Store) IncidentsOf(ctx context.Context, viewer Actor, id operation.ID) (rows []IncidentItem, err error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	var c conditions
	seenIncidents(&c, v)
	c.add("i.id IN (SELECT p.incident_id FROM incident_operations p WHERE p.operation_id = ?)", string(id))
	err = s.read(ctx, func(q *sqlx.DB) error {
		rows = nil
		return q.SelectContext(ctx, &rows, `SELECT `+incidentItemColumns+incidentFrom+c.sql()+` ORDER BY i.created_at DESC, i.id`, c.args...)
	})
	hideLibrary(rows, v)
	return rows, err
}

// IncidentPick is what an incident would be about: exactly these operations.
type IncidentPick struct {
	Rows    []InboxRow
	Missing int      // of those asked for: not there, or not to be seen by the viewer
	Unknown []string // their names, as they were asked for; ten at most
	// May: the viewer works on at least one of their flows.
	May bool
	// Known are the incidents that some of them are part of already.
	Known []IncidentItem
}

// PickForIncident reads the operations that are to be taken into an incident. Names of
// recovery cases stand for their operations.
func (s *Store) PickForIncident(ctx context.Context, viewer Actor, ids []operation.ID) (*IncidentPick, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	if len(ids) > IncidentLimit {
		return nil, &Invalid{Field: "operation", Code: "incident_many", Limit: IncidentLimit}
	}
	var rows []opRow
	out := &IncidentPick{}
	err = s.read(ctx, func(q *sqlx.DB) error {
		rows, out.Known = nil, nil
		if err := q.SelectContext(ctx, &rows, `SELECT `+opColumns+` FROM operations o WHERE o.id = ANY($1) OR o.id IN (SELECT c.operation_id FROM recovery_cases c WHERE c.id = ANY($1)) ORDER BY o.created_at, o.id`, pq.Array(texts(ids))); err != nil {
			return err
		}
		var c conditions
		seenIncidents(&c, v)
		c.add("i.id IN (SELECT p.incident_id FROM incident_operations p WHERE p.operation_id = ANY(?))", pq.Array(opIDs(rows)))
		return q.SelectContext(ctx, &out.Known, `SELECT `+incidentItemColumns+incidentFrom+c.sql()+` ORDER BY i.created_at DESC, i.id LIMIT 20`, c.args...)
	})
	if err != nil {
		return nil, err
	}
	hideLibrary(out.Known, v)
	names := s.titler(ctx, s.db)
	for _, r := range rows {
		if !v.Sees(r.Flow, r.Destination) {
			continue
		}
		out.May = out.May || operation.MayWriteIncident(v.In(r.Flow))
		row := InboxRow{OperationSummary: OperationSummary{r}}
		if err := names.fill(&row); err != nil {
			return nil, err
		}
		out.Rows = append(out.Rows, row)
	}
	out.Missing = max(len(ids)-len(out.Rows), 0)
	return out, s.nameUnknown(ctx, out, ids)
}

// nameUnknown names those asked for that stand for no operation of the list.
func (s *Store) nameUnknown(ctx context.Context, out *IncidentPick, ids []operation.ID) error {
	if out.Missing == 0 {
		return nil
	}
	found := make([]string, len(out.Rows))
	for i, r := range out.Rows {
		found[i] = string(r.ID)
	}
	return s.read(ctx, func(q *sqlx.DB) error {
		out.Unknown = nil
		return q.SelectContext(ctx, &out.Unknown, `SELECT x FROM unnest(CAST($1 AS text[])) AS x WHERE x <> ALL($2) AND NOT EXISTS (SELECT 1 FROM recovery_cases c WHERE c.id = x AND c.operation_id = ANY($2)) ORDER BY x LIMIT 10`,
			pq.Array(texts(ids)), pq.Array(found))
	})
}

func opIDs(rows []opRow) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = string(r.ID)
	}
	return out
}
