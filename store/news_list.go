package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// NewsItem is one piece of news from a destination.
type NewsItem struct{ newsRow }

// NewsFilter narrows the list of news. Empty fields do not narrow.
type NewsFilter struct {
	State       NewsState // "" = waiting
	Destination string
	Kind        operation.NewsKind
	Search      string // its ID, its key, a reference or an operation's ID, exactly
	Cursor      string
	Limit       int // 0 = 50
}

// NewsList is one page of news, newest first.
type NewsList struct {
	Rows    []NewsItem
	Next    string
	Prev    string
	Waiting int // how much waits in all; CountedNews = so many or more
}

// CountedNews is how far waiting news is counted.
const CountedNews = 1000

// ListNews lists news by what became of it. Without an operation it belongs to no flow, so
// it is for people with a role for every flow; others get an empty list.
func (s *Store) ListNews(ctx context.Context, viewer Actor, f NewsFilter) (*NewsList, error) {
	v, err := s.FindViewer(ctx, viewer)
	out := &NewsList{}
	if err != nil || !v.seesNews() {
		return out, err
	}
	if f.Limit <= 0 || f.Limit > 500 {
		f.Limit = 50
	}
	q, args := f.query()
	err = s.read(ctx, func(db *sqlx.DB) error {
		out.Rows = nil
		if err := db.SelectContext(ctx, &out.Rows, q, args...); err != nil {
			return err
		}
		return db.GetContext(ctx, &out.Waiting, `SELECT count(*) FROM (SELECT 1 FROM news WHERE state = 'waiting' LIMIT $1) n`, CountedNews)
	})
	out.Rows, out.Next, out.Prev = keysetPage(out.Rows, f.Limit, f.Cursor, func(r NewsItem) cursor { return cursor{At: r.ReceivedAt, ID: operation.ID(r.ID)} })
	return out, err
}

func (v Viewer) seesNews() bool { return !v.Token && v.Active && len(v.Flows[""]) > 0 }

func (f NewsFilter) query() (string, []any) {
	c := &conditions{}
	order := "DESC"
	state := f.State
	if state == "" {
		state = NewsWaiting
	}
	c.add("n.state = ?", string(state))
	if f.Destination != "" {
		c.add("n.destination = ?", f.Destination)
	}
	if f.Kind != "" {
		c.add("n.kind = ?", string(f.Kind))
	}
	if x := strings.TrimSpace(f.Search); x != "" {
		c.add("? IN (n.id, n.news_key, n.reference, n.names)", x)
	}
	if at, ok := decodeCursor(f.Cursor); ok {
		cmp := "<"
		if at.Back {
			cmp, order = ">", "ASC"
		}
		c.add("(n.received_at, n.id) "+cmp+" (?, ?)", storedTime(at.At), string(at.ID))
	}
	return `SELECT ` + newsColumns + ` FROM news n` + c.sql() + fmt.Sprintf(" ORDER BY n.received_at %s, n.id %s LIMIT %d", order, order, f.Limit+1), c.args
}

// FindNews gives one piece of news. Tied news is for whoever sees its operation, other for
// people with a role for every flow.
func (s *Store) FindNews(ctx context.Context, viewer Actor, id NewsID) (*NewsItem, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	if !v.seesNews() {
		return nil, ErrNotFound
	}
	var n NewsItem
	err = s.read(ctx, func(db *sqlx.DB) error {
		return db.GetContext(ctx, &n, `SELECT `+newsColumns+` FROM news n WHERE n.id = $1`, string(id))
	})
	return &n, err
}

// shownNews bounds how much news of one operation a page shows.
const shownNews = 100

// NewsOf gives what a destination told about an operation, in the order in which it
// happened by the destination's clock; the newest hundred. Whether the viewer may see the
// operation is not asked here.
func (s *Store) NewsOf(ctx context.Context, id operation.ID) ([]NewsItem, error) {
	var out []NewsItem
	err := s.read(ctx, func(db *sqlx.DB) error {
		out = nil
		return db.SelectContext(ctx, &out, `SELECT * FROM (SELECT `+newsColumns+` FROM news n WHERE n.operation_id = $1 ORDER BY n.received_at DESC LIMIT $2) n
			ORDER BY COALESCE(n.happened_at, n.received_at), n.received_at, n.id`, string(id), shownNews)
	})
	return out, err
}

// CallbackHealth says how the callbacks of one destination come in.
type CallbackHealth struct {
	Last    time.Time // of the newest news; zero = none ever came
	Waiting int       // up to CountedNews
	Refused []RefusedCallback
}

// FindCallbackHealth reads when the destination last told something, how much waits for its
// operation, and the newest refusals.
func (s *Store) FindCallbackHealth(ctx context.Context, destination string) (CallbackHealth, error) {
	var row struct {
		Last    *time.Time `db:"last"`
		Waiting int        `db:"waiting"`
	}
	var out CallbackHealth
	err := s.read(ctx, func(db *sqlx.DB) error {
		out.Refused = nil
		if err := db.GetContext(ctx, &row, `SELECT (SELECT received_at FROM news WHERE destination = $1 ORDER BY received_at DESC LIMIT 1) AS last,
			(SELECT count(*) FROM (SELECT 1 FROM news WHERE destination = $1 AND state = 'waiting' LIMIT $2) n) AS waiting`, destination, CountedNews); err != nil {
			return err
		}
		return db.SelectContext(ctx, &out.Refused, `SELECT code, detail, status, size, skew_ms, at FROM callback_refusals WHERE destination = $1 ORDER BY at DESC, id DESC LIMIT 10`, destination)
	})
	out.Last, out.Waiting = timeOf(row.Last), row.Waiting
	return out, err
}
