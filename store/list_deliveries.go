package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
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
	ErasedAt     *time.Time           `db:"erased_at"` // when its body was erased; nil = it was not, or none was kept
	Run          operation.RunID      `db:"run_id"`
	Flow         string               `db:"flow"`
	// Held is set on held deliveries, Decided once a person has decided about their event.
	Held    *HeldEvent    `db:"-"`
	Decided *HeldDecision `db:"-"`
}

const deliveryColumns = `d.id, d.source, d.delivery_key, d.subscription, COALESCE(d.event_id, '') AS event_id, COALESCE(e.event_key, '') AS event_key, COALESCE(e.topic, '') AS topic,
	d.verdict, d.reason, d.status, d.skew_ms, d.received_at, d.erased_at, COALESCE((SELECT y.run_id FROM event_runs y WHERE y.event_id = d.event_id LIMIT 1), '') AS run_id,
	COALESCE((SELECT r.flow FROM event_runs y JOIN runs r ON r.id = y.run_id WHERE y.event_id = d.event_id LIMIT 1), '') AS flow`

// DeliveryFilter narrows the list of deliveries. Empty fields do not narrow.
type DeliveryFilter struct {
	Source   string
	Verdict  Verdict
	From, To time.Time // of when it was received: From counts, To does not; zero = open
	Search   string    // delivery ID, delivery key, event key, exactly
	Cursor   string
	Limit    int // 0 = 50
}

// DeliveryList is one page of deliveries, newest first.
type DeliveryList struct {
	Rows []DeliveryRow
	Next string
	Prev string
}

// ListDeliveries lists receipts, also refused ones and why. Refused deliveries belong
// to no flow: people with a role for every flow see them, others only their flows'.
func (s *Store) ListDeliveries(ctx context.Context, viewer Actor, f DeliveryFilter) (*DeliveryList, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	if f.Limit <= 0 || f.Limit > 500 {
		f.Limit = 50
	}
	q, args := f.query(v)
	out := &DeliveryList{}
	err = s.read(ctx, func(db *sqlx.DB) error {
		out.Rows = nil
		return db.SelectContext(ctx, &out.Rows, q, args...)
	})
	if err != nil {
		return nil, err
	}
	if err := s.heldRows(ctx, v, out.Rows); err != nil {
		return nil, err
	}
	out.page(v, f.Limit, f.Cursor)
	return out, nil
}

// verdicts are all that a delivery can have been judged as.
var verdicts = []string{string(VerdictAccepted), string(VerdictRepeated), string(VerdictConflict), string(VerdictHeld), string(VerdictIgnored), string(VerdictRefused)}

// query gives the statement of one page. Each source and verdict is one stretch of an
// index: the newest of each that fits, and the newest of those.
func (f DeliveryFilter) query(v Viewer) (string, []any) {
	c := &conditions{}
	order := "DESC"
	if !f.From.IsZero() {
		c.add("d.received_at >= ?", storedTime(f.From))
	}
	if !f.To.IsZero() {
		c.add("d.received_at < ?", storedTime(f.To))
	}
	if at, ok := decodeCursor(f.Cursor); ok {
		cmp := "<"
		if at.Back {
			cmp, order = ">", "ASC"
		}
		c.add("(d.received_at, d.id) "+cmp+" (?, ?)", storedTime(at.At), string(at.ID))
	}
	if all, flows := v.seenFlows(); !all {
		c.add(`(EXISTS (SELECT 1 FROM event_runs y JOIN runs r ON r.id = y.run_id WHERE y.event_id = d.event_id AND r.flow = ANY(?)) OR d.verdict = 'held')`, pq.Array(flows))
	}
	page := fmt.Sprintf(" ORDER BY d.received_at %s, d.id %s LIMIT %d", order, order, f.Limit+1)
	return `SELECT ` + deliveryColumns + ` FROM (` + f.keys(c, page) + `) k JOIN deliveries d ON d.id = k.id LEFT JOIN events e ON e.id = d.event_id
		ORDER BY d.received_at ` + order + `, d.id ` + order, c.args
}

func (f DeliveryFilter) keys(c *conditions, page string) string {
	x := strings.TrimSpace(f.Search)
	if x == "" && f.Source == "" && f.Verdict == "" {
		return `SELECT d.id FROM deliveries d` + c.sql() + page
	}
	if x != "" {
		key := c.arg(x)
		more := []string{`d.id = ANY (ARRAY(SELECT CAST(` + key + ` AS text) UNION SELECT y.id FROM deliveries y WHERE y.delivery_key = ` + key + ` AND y.delivery_key <> ''
			UNION SELECT y.id FROM events e JOIN deliveries y ON y.event_id = e.id WHERE e.event_key = ` + key + `))`}
		if f.Source != "" {
			more = append(more, "d.source = "+c.arg(f.Source))
		}
		if f.Verdict != "" {
			more = append(more, "d.verdict = "+c.arg(string(f.Verdict)))
		}
		return `SELECT d.id FROM deliveries d` + c.sql(more...) + page
	}
	list, sources := verdicts, ""
	if f.Verdict != "" {
		list = []string{string(f.Verdict)}
	}
	if f.Source != "" {
		sources = `SELECT CAST(` + c.arg(f.Source) + ` AS text) AS name`
	} else {
		sources = `WITH RECURSIVE g AS ((SELECT source AS name FROM deliveries ORDER BY source LIMIT 1)
			UNION ALL SELECT n.source FROM g CROSS JOIN LATERAL (SELECT y.source FROM deliveries y WHERE y.source > g.name ORDER BY y.source LIMIT 1) n) SELECT name FROM g`
	}
	return `SELECT d.id FROM (` + sources + `) s CROSS JOIN unnest(` + c.arg(pq.Array(list)) + `::text[]) AS k(verdict)
		CROSS JOIN LATERAL (SELECT d.id, d.received_at FROM deliveries d` + c.sql("d.source = s.name", "d.verdict = k.verdict") + page + `) d` + page
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
