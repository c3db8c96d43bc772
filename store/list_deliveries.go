package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// DeliveryRow is one receipt of a notification.
type DeliveryRow struct {
	ID           operation.DeliveryID `db:"id"`
	Source       string               `db:"source"`
	DeliveryKey  string               `db:"delivery_key"`
	Subscription string               `db:"subscription"`
	Event        operation.EventID    `db:"event_id"`
	EventKey     string               `db:"event_key"`
	Topic        string               `db:"topic"`
	Verdict      Verdict              `db:"verdict"`
	Reason       string               `db:"reason"`
	Status       int                  `db:"status"`
	SkewMillis   *int64               `db:"skew_ms"`
	ReceivedAt   time.Time            `db:"received_at"`
	Run          operation.RunID      `db:"run_id"`
	Flow         string               `db:"flow"`
	// Held is set on held deliveries, Decided once a person has decided about their event.
	Held    *HeldEvent    `db:"-"`
	Decided *HeldDecision `db:"-"`
}

const deliveryColumns = `d.id, d.source, d.delivery_key, d.subscription, COALESCE(d.event_id, '') AS event_id, COALESCE(e.event_key, '') AS event_key, COALESCE(e.topic, '') AS topic,
	d.verdict, d.reason, d.status, d.skew_ms, d.received_at, COALESCE((SELECT y.run_id FROM event_runs y WHERE y.event_id = d.event_id LIMIT 1), '') AS run_id,
	COALESCE((SELECT r.flow FROM event_runs y JOIN runs r ON r.id = y.run_id WHERE y.event_id = d.event_id LIMIT 1), '') AS flow`

// DeliveryFilter narrows the list of deliveries.
type DeliveryFilter struct {
	Source  string
	Verdict Verdict
	Cursor  string
	Limit   int // 0 = 50
}

// DeliveryList is one page of deliveries, newest first.
type DeliveryList struct {
	Rows []DeliveryRow
	Next string
	Prev string
	// Last is when each source was last heard of.
	Last []SourceHeard
}

// SourceHeard is one source's last delivery.
type SourceHeard struct {
	Source string    `db:"source"`
	At     time.Time `db:"at"`
}

// ListDeliveries lists receipts, also refused ones and why. Refused deliveries belong
// to no flow: people with a role for every flow see them, others only their flows'.
func (s *Store) ListDeliveries(ctx context.Context, viewer Actor, f DeliveryFilter) (*DeliveryList, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	limit := f.Limit
	if limit <= 0 || limit > 500 {
		limit = 50
	}
	var where []string
	var args []any
	add := func(cond string, x ...any) {
		for _, a := range x {
			args = append(args, a)
			cond = strings.Replace(cond, "?", fmt.Sprintf("$%d", len(args)), 1)
		}
		where = append(where, cond)
	}
	if f.Source != "" {
		add("d.source = ?", f.Source)
	}
	if f.Verdict != "" {
		add("d.verdict = ?", string(f.Verdict))
	}
	c, paged := decodeCursor(f.Cursor)
	order := "DESC"
	if paged && c.Back {
		order = "ASC"
		add("(d.received_at, d.id) > (?, ?)", c.At, string(c.ID))
	} else if paged {
		add("(d.received_at, d.id) < (?, ?)", c.At, string(c.ID))
	}
	q := `SELECT ` + deliveryColumns + ` FROM deliveries d LEFT JOIN events e ON e.id = d.event_id`
	if len(where) > 0 {
		q += " WHERE " + strings.Join(where, " AND ")
	}
	q += fmt.Sprintf(" ORDER BY d.received_at %s, d.id %s LIMIT %d", order, order, limit+1)
	out := &DeliveryList{}
	err = s.read(ctx, func(db *sqlx.DB) error {
		out.Rows, out.Last = nil, nil
		if err := db.SelectContext(ctx, &out.Rows, q, args...); err != nil {
			return err
		}
		return db.SelectContext(ctx, &out.Last, `SELECT s.name AS source, d.at FROM sources s JOIN LATERAL (SELECT max(received_at) AS at FROM deliveries d WHERE d.source = s.name) d ON d.at IS NOT NULL ORDER BY s.name`)
	})
	if err != nil {
		return nil, err
	}
	if err := s.heldRows(ctx, v, out.Rows); err != nil {
		return nil, err
	}
	out.page(v, limit, f.Cursor)
	return out, nil
}

func (l *DeliveryList) page(v Viewer, limit int, at string) {
	l.Rows, l.Next, l.Prev = keysetPage(l.Rows, limit, at, func(r DeliveryRow) cursor { return cursor{At: r.ReceivedAt, ID: operation.ID(r.ID)} })
	kept := l.Rows[:0]
	for _, r := range l.Rows {
		if r.seenBy(v) {
			kept = append(kept, r)
		}
	}
	l.Rows = kept
}
