package store

import (
	"context"
	"encoding/base64"
	"encoding/json"
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
	Closed      bool // every state that is closed
	Flow        string
	Destination string
	Source      string         // of the event that started the run
	From, To    time.Time      // of when it was made: From counts, To does not; zero = open
	Responsible operation.Role // whose decision is next, by role
	Person      operation.UserID
	System      bool // what the system does next
	Overdue     bool
	Duplicate   bool
	Search      string // operation ID, attempt ID, run ID, event key, target reference, destination key, exactly
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
	// People are those whose decisions the list can be narrowed to, by name; at most
	// peopleLimit.
	People []PersonName
}

// PersonName is an active person by name.
type PersonName struct {
	ID   operation.UserID `db:"id"`
	Name string           `db:"name"`
}

// peopleLimit bounds how many people a filter offers.
const peopleLimit = 200

// Named is a definition by its name and the title that people know it by.
type Named struct {
	Name  string
	Title definition.Text
}

// JobSource is the source of runs that a client of the job API started itself.
const JobSource = "job-api"

// cursor is a place in a list: a time with an ID, or the number of an entry.
type cursor struct {
	At    time.Time
	ID    operation.ID
	Entry int64 `json:",omitempty"`
	Back  bool
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
	if f.Limit <= 0 || f.Limit > 500 {
		f.Limit = 50
	}
	out, err := s.operationsPage(ctx, v, f)
	if err != nil {
		return nil, err
	}
	return out, s.filterNames(ctx, v, out)
}

// EachOperation hands out everything that a filter finds, newest first, one after the
// other. It reads page by page, so that a long list needs no more memory than a short one.
func (s *Store) EachOperation(ctx context.Context, viewer Actor, f OperationFilter, fn func(InboxRow) error) error {
	f.Cursor, f.Limit = "", 500
	for {
		v, err := s.readViewer(ctx, viewer) // rights that are taken away meanwhile end the list
		if err != nil {
			return err
		}
		page, err := s.operationsPage(ctx, v, f)
		if err != nil {
			return err
		}
		for _, r := range page.Rows {
			if err := fn(r); err != nil {
				return err
			}
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			return nil
		}
	}
}

// listedRow is an operation with the source of the event that started its run.
type listedRow struct {
	opRow
	Source string `db:"source"`
}

func (s *Store) operationsPage(ctx context.Context, v Viewer, f OperationFilter) (*OperationList, error) {
	q, args := f.query(v)
	out := &OperationList{}
	var rows []listedRow
	err := s.read(ctx, func(db *sqlx.DB) error {
		rows = nil
		if err := db.GetContext(ctx, &out.Now, `SELECT clock_timestamp()`); err != nil {
			return err
		}
		return db.SelectContext(ctx, &rows, q, args...)
	})
	if err != nil {
		return nil, err
	}
	rows, out.Next, out.Prev = keysetPage(rows, f.Limit, f.Cursor, func(r listedRow) cursor { return cursor{At: r.CreatedAt, ID: r.ID} })
	names := s.titler(ctx, s.db)
	for _, r := range rows {
		row := InboxRow{OperationSummary: OperationSummary{r.opRow}, Source: r.Source}
		row.Late = row.Overdue(out.Now)
		if err := names.fill(&row); err != nil {
			return nil, err
		}
		out.Rows = append(out.Rows, row)
	}
	return out, nil
}

// FilterNames gives what the viewer may filter the list by; it has no rows.
func (s *Store) FilterNames(ctx context.Context, viewer Actor) (*OperationList, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	out := &OperationList{}
	return out, s.filterNames(ctx, v, out)
}

// filterNames lists the flows, destinations and sources that the viewer may filter by.
func (s *Store) filterNames(ctx context.Context, v Viewer, out *OperationList) error {
	var flows, dests []struct {
		Name    string `db:"name"`
		Version int    `db:"version"`
	}
	err := s.read(ctx, func(db *sqlx.DB) error {
		flows, dests, out.People = nil, nil, nil
		all, seen := v.seenFlows()
		if err := db.SelectContext(ctx, &flows, `SELECT name, version FROM flows WHERE $1 OR name = ANY($2) ORDER BY name`, all, pq.Array(seen)); err != nil {
			return err
		}
		if err := db.SelectContext(ctx, &out.People, `SELECT id, name FROM users WHERE active ORDER BY name, id LIMIT $1`, peopleLimit); err != nil {
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
