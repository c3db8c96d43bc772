package store

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// OperationFilter narrows the list of operations. Empty fields do not narrow.
type OperationFilter struct {
	State       operation.State
	Open        bool // every state that is not closed
	Flow        string
	Destination string
	Source      string    // of the event that started the run
	From, To    time.Time // of when it was made: From counts, To does not; zero = open
	Responsible operation.Role
	Overdue     bool
	Duplicate   bool
	Search      string // operation ID, event key, target reference, destination key, exactly
	Cursor      string // of OperationList.Next or Prev
	Limit       int    // 0 = 50
}

// OperationList is one page of operations, newest first.
type OperationList struct {
	Now        time.Time
	Rows       []InboxRow
	Next, Prev string // cursors, "" = none
	// Flows, Destinations and Sources are what the viewer may filter by.
	Flows, Destinations, Sources []Named
}

// Named is a definition by its name and the title that people know it by.
type Named struct {
	Name  string
	Title definition.Text
}

// JobSource is the source of runs that a client of the job API started itself.
const JobSource = "job-api"

type cursor struct {
	At   time.Time
	ID   operation.ID
	Back bool
}

func (c cursor) encode() string {
	b, _ := json.Marshal(c)
	return base64.RawURLEncoding.EncodeToString(b)
}

func decodeCursor(s string) (c cursor, ok bool) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if s == "" || err != nil || json.Unmarshal(b, &c) != nil {
		return cursor{}, false
	}
	return c, true
}

// ListOperations lists what the viewer may see, by keyset: no OFFSET, no counting.
func (s *Store) ListOperations(ctx context.Context, viewer Actor, f OperationFilter) (*OperationList, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	limit := f.Limit
	if limit <= 0 || limit > 500 {
		limit = 50
	}
	q, args := f.query(v, limit)
	out := &OperationList{}
	var rows []opRow
	err = s.read(ctx, func(db *sqlx.DB) error {
		rows = nil
		if err := db.GetContext(ctx, &out.Now, `SELECT clock_timestamp()`); err != nil {
			return err
		}
		return db.SelectContext(ctx, &rows, q, args...)
	})
	if err != nil {
		return nil, err
	}
	rows, out.Next, out.Prev = keysetPage(rows, limit, f.Cursor, func(r opRow) cursor { return cursor{At: r.CreatedAt, ID: r.ID} })
	names := s.titler(ctx, s.db)
	for _, r := range rows {
		row := InboxRow{OperationSummary: OperationSummary{r}}
		row.Late = row.Overdue(out.Now)
		if err := names.fill(&row); err != nil {
			return nil, err
		}
		out.Rows = append(out.Rows, row)
	}
	return out, s.filterNames(ctx, v, out)
}

func (f OperationFilter) query(v Viewer, limit int) (string, []any) {
	var where []string
	var args []any
	add := func(cond string, vals ...any) {
		for _, x := range vals {
			args = append(args, x)
			cond = strings.Replace(cond, "?", fmt.Sprintf("$%d", len(args)), 1)
		}
		where = append(where, cond)
	}
	if all, flows := v.seenFlows(); !all {
		add("o.flow = ANY(?)", pq.Array(flows))
	}
	if len(v.destinations) > 0 {
		add("o.destination = ANY(?)", pq.Array(v.destinations))
	}
	if f.State.Valid() {
		// A literal, not a parameter: plans are generic, and a partial index is only used
		// for a state that the plan knows.
		where = append(where, "o.state = '"+string(f.State)+"'")
	}
	if f.Open {
		where = append(where, "o.state NOT IN ('confirmed', 'rejected', 'cancelled', 'not_executed')")
	}
	if f.Flow != "" {
		add("o.flow = ?", f.Flow)
	}
	if f.Destination != "" {
		add("o.destination = ?", f.Destination)
	}
	if f.Source != "" {
		add("o.source = ?", f.Source)
	}
	if !f.From.IsZero() {
		add("o.created_at >= ?", f.From.UTC())
	}
	if !f.To.IsZero() {
		add("o.created_at < ?", f.To.UTC())
	}
	if f.Responsible != "" {
		add("o.next_role = ? AND o.next_kind <> '' AND NOT o.next_system", string(f.Responsible))
	}
	if f.Overdue {
		where = append(where, "o.next_kind <> '' AND NOT o.next_system AND o.next_at < clock_timestamp()")
	}
	if f.Duplicate {
		where = append(where, "o.duplicate <> ''")
	}
	if x := strings.TrimSpace(f.Search); x != "" {
		key, _, _ := strings.Cut(x, "-g") // a destination key is the operation's ID and its generation
		// Each way has an index; OR over all of them would read the whole table.
		add(`o.id = ANY (ARRAY(SELECT CAST(? AS text) UNION SELECT y.id FROM operations y WHERE y.target_reference = ?
			UNION SELECT y.id FROM operations y WHERE y.run_id = ?
			UNION SELECT y.id FROM events e JOIN event_runs z ON z.event_id = e.id JOIN operations y ON y.run_id = z.run_id WHERE e.event_key = ?))`, key, x, x, x)
	}
	order := "DESC"
	if c, ok := decodeCursor(f.Cursor); ok {
		cmp := "<"
		if c.Back {
			cmp, order = ">", "ASC"
		}
		add("(o.created_at, o.id) "+cmp+" (?, ?)", c.At, string(c.ID))
	}
	q := `SELECT ` + opColumns + ` FROM operations o`
	if len(where) > 0 {
		q += " WHERE " + strings.Join(where, " AND ")
	}
	return q + fmt.Sprintf(" ORDER BY o.created_at %s, o.id %s LIMIT %d", order, order, limit+1), args
}

// filterNames lists the flows, destinations and sources that the viewer may filter by.
func (s *Store) filterNames(ctx context.Context, v Viewer, out *OperationList) error {
	var flows, dests []struct {
		Name    string `db:"name"`
		Version int    `db:"version"`
	}
	err := s.read(ctx, func(db *sqlx.DB) error {
		flows, dests = nil, nil
		all, seen := v.seenFlows()
		if err := db.SelectContext(ctx, &flows, `SELECT name, version FROM flows WHERE $1 OR name = ANY($2) ORDER BY name`, all, pq.Array(seen)); err != nil {
			return err
		}
		return db.SelectContext(ctx, &dests, `SELECT name, version FROM destinations ORDER BY name`)
	})
	if err != nil {
		return err
	}
	for _, r := range flows {
		f, err := s.flowVersion(ctx, s.db, r.Name, r.Version)
		if err != nil {
			return mapError(err)
		}
		out.Flows = append(out.Flows, Named{r.Name, f.Title})
	}
	for _, r := range dests {
		p, err := s.profileVersion(ctx, s.db, r.Name, r.Version)
		if err != nil {
			return mapError(err)
		}
		out.Destinations = append(out.Destinations, Named{r.Name, p.Title})
	}
	out.Sources, err = s.SourceNames(ctx)
	return err
}

// SourceNames lists all sources by name, the job API among them; that one's title is
// left to the catalogues.
func (s *Store) SourceNames(ctx context.Context) ([]Named, error) {
	all, err := s.ListSources(ctx)
	out := []Named{{Name: JobSource}}
	for _, src := range all {
		out = append(out, Named{src.Name, src.Title})
	}
	return out, err
}
