package store

import (
	"context"
	"strings"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// SuppressionFilter narrows the suppression list. Empty fields do not narrow.
type SuppressionFilter struct {
	Search  string // beginning of an address
	Reason  operation.SuppressionReason
	Channel string // an effect type or a destination
	Lifted  bool   // those that were lifted or are over; else those that hold
	Cursor  string
	Limit   int // 0 = 50, at most 500
}

// SuppressionList is one page of the suppression list, newest first.
type SuppressionList struct {
	Now        time.Time
	Rows       []Suppression
	Next, Prev string
	Effects    []string // effect types that there are
	Places     []string // destinations
}

// ListSuppressions lists entries by keyset, newest first. A token needs the scope.
func (s *Store) ListSuppressions(ctx context.Context, viewer Actor, f SuppressionFilter) (*SuppressionList, error) {
	if err := s.maySeeSuppressions(ctx, viewer); err != nil {
		return nil, err
	}
	if f.Limit <= 0 || f.Limit > 500 {
		f.Limit = 50
	}
	out := &SuppressionList{}
	err := s.snapshot(ctx, func(t *tx) error {
		out = &SuppressionList{}
		if err := t.get(&out.Now, `SELECT clock_timestamp()`); err != nil {
			return err
		}
		known, err := t.channels()
		if err != nil {
			return err
		}
		out.Effects, out.Places = known.names[operation.SuppressEffect], known.names[operation.SuppressDestination]
		c := f.conditions()
		order := "DESC"
		if at, ok := decodeCursor(f.Cursor); ok {
			cmp := "<"
			if at.Back {
				cmp, order = ">", "ASC"
			}
			c.add("(s.created_at, s.id) "+cmp+" (?, ?)", storedTime(at.At), string(at.ID))
		}
		return t.list(&out.Rows, `SELECT `+suppressionColumns+` FROM suppressions s`+c.sql()+` ORDER BY s.created_at `+order+`, s.id `+order+` LIMIT `+c.arg(f.Limit+1), c.args...)
	})
	if err != nil {
		return nil, err
	}
	out.Rows, out.Next, out.Prev = keysetPage(out.Rows, f.Limit, f.Cursor, func(r Suppression) cursor { return cursor{At: r.CreatedAt, ID: operation.ID(r.ID)} })
	return out, nil
}

func (f SuppressionFilter) conditions() (c conditions) {
	holds := "s.lifted_at IS NULL AND (s.until_at IS NULL OR s.until_at > clock_timestamp())"
	if f.Lifted {
		holds = "NOT (" + holds + ")"
	}
	c.add(holds)
	if search := strings.ToLower(strings.TrimSpace(storable(f.Search))); search != "" {
		c.add(`s.address LIKE ? ESCAPE '\'`, likeText.Replace(search)+"%")
	}
	if f.Reason.Valid() {
		c.add("s.reason = ?", string(f.Reason))
	}
	if f.Channel != "" {
		c.add("s.channel = ?", storable(f.Channel))
	}
	return c
}

// FindSuppression reads one entry.
func (s *Store) FindSuppression(ctx context.Context, viewer Actor, id SuppressionID) (Suppression, error) {
	var out Suppression
	if err := s.maySeeSuppressions(ctx, viewer); err != nil {
		return out, err
	}
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &out, `SELECT `+suppressionColumns+` FROM suppressions s WHERE s.id = $1`, string(id))
	})
	return out, mapError(err)
}

// EachSuppression hands out every entry that a filter finds, newest first, of one snapshot,
// page by page.
func (s *Store) EachSuppression(ctx context.Context, viewer Actor, f SuppressionFilter, fn func(Suppression) error) error {
	if err := s.maySeeSuppressions(ctx, viewer); err != nil {
		return err
	}
	return s.snapshot(ctx, func(t *tx) error {
		at, id := time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC), ""
		for {
			c := f.conditions()
			c.add("(s.created_at, s.id) < (?, ?)", at, id)
			var rows []Suppression
			if err := t.list(&rows, `SELECT `+suppressionColumns+` FROM suppressions s`+c.sql()+` ORDER BY s.created_at DESC, s.id DESC LIMIT 1000`, c.args...); err != nil {
				return err
			}
			for _, r := range rows {
				if err := fn(r); err != nil {
					return err
				}
			}
			if len(rows) < 1000 {
				return nil
			}
			at, id = rows[len(rows)-1].CreatedAt, string(rows[len(rows)-1].ID)
		}
	})
}

// KnownSuppressions says how many of some rows the suppression list has already, for at least
// as long: for the preview of an import. Rows that cannot be stored are not counted.
func (s *Store) KnownSuppressions(ctx context.Context, viewer Actor, rows []NewSuppression) (known int, err error) {
	if err := s.maySeeSuppressions(ctx, viewer); err != nil {
		return 0, err
	}
	err = s.snapshot(ctx, func(t *tx) error {
		known = 0
		var now time.Time
		if err := t.get(&now, `SELECT clock_timestamp()`); err != nil {
			return err
		}
		have := map[[3]string]*time.Time{}
		for at := 0; at < len(rows); at += 1000 {
			if err := t.heldAmong(rows[at:min(at+1000, len(rows))], have); err != nil {
				return err
			}
		}
		for _, n := range rows {
			if n.check(now) != nil {
				continue
			}
			until, ok := have[[3]string{n.Address, string(n.Scope), n.Channel}]
			if ok && (until == nil || !n.Until.IsZero() && !n.Until.After(*until)) {
				known++
			}
		}
		return nil
	})
	return known, err
}

// heldAmong adds how long the list holds some rows; nil = for good.
func (t *tx) heldAmong(rows []NewSuppression, have map[[3]string]*time.Time) error {
	addresses := make([]string, len(rows))
	for i, n := range rows {
		addresses[i] = operation.NormalAddress(n.Address)
	}
	var found []Suppression
	if err := t.list(&found, `SELECT `+suppressionColumns+` FROM suppressions s WHERE s.address = ANY($1) AND s.lifted_at IS NULL`, pq.Array(addresses)); err != nil {
		return err
	}
	for _, x := range found {
		have[[3]string{x.Address, string(x.Scope), x.Channel}] = x.Until
	}
	return nil
}

func (s *Store) maySeeSuppressions(ctx context.Context, viewer Actor) error {
	if viewer.Kind == operation.ActorToken {
		for _, x := range viewer.Scopes {
			if x == ScopeSuppressions {
				return nil
			}
		}
		return notEntitled(operation.RoleAdmin)
	}
	v, err := s.FindViewer(ctx, viewer)
	if err == nil && !MaySeeSuppressions(v) {
		err = notEntitled(operation.RoleAuthor)
	}
	return err
}
