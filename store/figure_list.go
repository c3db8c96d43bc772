package store

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// FigureItem is one of the things that a figure counts.
type FigureItem struct {
	At        time.Time // when it is counted
	Operation *InboxRow // nil for what comes in, and for a batch
	Batch     *BatchRow // that was decided upon as a whole
	Attempt   *FigureAttempt
	Delivery  *DeliveryRow
	Event     *FigureEvent
	Case      *FigureCase
	Took      time.Duration // of a measured time
}

// FigureAttempt is a try as the list behind a figure shows it.
type FigureAttempt struct {
	ID        operation.AttemptID `db:"id"`
	Number    int                 `db:"number"`
	Outcome   string              `db:"outcome"` // "" = it is open
	ProofText string              `db:"proof"`
}

// Code is why it ended so.
func (a FigureAttempt) Code() string {
	var p operation.Proof
	_ = json.Unmarshal([]byte(a.ProofText), &p)
	return p.Code
}

// FigureEvent is a business fact as the list behind a figure shows it.
type FigureEvent struct {
	ID     operation.EventID `db:"id"`
	Source string            `db:"source"`
	Topic  string            `db:"topic"`
	Key    string            `db:"event_key"`
	Run    operation.RunID   `db:"run_id"` // that it led to; "" = none
	Flow   string            `db:"flow"`
}

// FigureCase is a settled case as the list behind a figure shows it.
type FigureCase struct {
	ID     string `db:"id"`
	Number int64  `db:"number"` // RC-<number>
}

// FigureListQuery asks for what stands behind a number.
type FigureListQuery struct {
	FigureQuery
	Figure operation.Figure
	// Whole asks for everything that a rate is of, not only for those that were such.
	Whole  bool
	Cursor string // of FigureList.Next
	Limit  int    // 0 = 50
}

// FigureList is one page of what stands behind a number, newest first.
type FigureList struct {
	Query FigureListQuery // with its bounds as they were taken
	Value FigureValue     // the figure itself: the whole list has as many rows
	Rows  []FigureItem
	Next  string // cursor, "" = none
	Now   time.Time
}

// Size is how many rows the whole list has.
func (l *FigureList) Size() int64 {
	if l.Query.Whole && l.Query.Figure.Kind() == operation.KindRate {
		return l.Value.Of
	}
	return l.Value.N
}

// figureKeyRow is the place of a row in the list.
type figureKeyRow struct {
	At        time.Time `db:"at" json:"a"`
	Entry     int64     `db:"entry" json:"e,omitempty"`
	Item      string    `db:"item" json:"i"`
	Operation string    `db:"operation_id" json:"-"`
	Attempt   string    `db:"attempt" json:"-"`
	Secs      float64   `db:"secs" json:"-"`
}

func (k figureKeyRow) encode() string {
	b, _ := json.Marshal(k)
	return base64.RawURLEncoding.EncodeToString(b)
}

func figureCursor(s string) (k figureKeyRow, ok bool) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	return k, s != "" && err == nil && json.Unmarshal(b, &k) == nil && !k.At.IsZero()
}

// ListFigure lists exactly what a figure counts, page by page. The figure is read at the
// same moment.
func (s *Store) ListFigure(ctx context.Context, viewer Actor, q FigureListQuery) (*FigureList, error) {
	if !q.Figure.Valid() || q.Destination != "" && !q.Figure.ByDestination() {
		return nil, ErrNotFound
	}
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	if q.Limit <= 0 || q.Limit > 500 {
		q.Limit = 50
	}
	var out *FigureList
	err = s.snapshot(ctx, func(t *tx) error {
		c := scopeOf(v, q.Flow, q.Destination)
		q.Step = ""
		b, err := t.figureBoard(c, q.FigureQuery, q.Figure)
		if err != nil {
			return err
		}
		q.FigureQuery = b.Query
		out = &FigureList{Query: q, Value: b.Series[q.Figure].Total, Now: b.Now}
		keys, err := t.figureKeys(c, q, b)
		if err != nil {
			return err
		}
		if len(keys) > q.Limit {
			keys = keys[:q.Limit]
			out.Next = keys[q.Limit-1].encode()
		}
		return t.figureItems(v, out, keys)
	})
	return out, err
}

// behind are the measures whose facts stand behind a number.
func (q FigureListQuery) behind(c figureScope) []measure {
	o := of(q.Figure, c)
	switch {
	case o.narrow:
		return []measure{o.measure}
	case q.Figure == operation.FigureDestinationErrors && q.Whole:
		return []measure{mEnded}
	case q.Figure == operation.FigureDestinationErrors:
		return []measure{mRefused, mUnknown}
	case q.Figure == operation.FigureDuplicateRate && q.Whole:
		return []measure{mByDestination, mByPerson}
	case q.Figure == operation.FigureDuplicateRate:
		return []measure{mDuplicates}
	case q.Figure == operation.FigureReexecutionErrors && q.Whole:
		return []measure{mReexecutions}
	case q.Figure == operation.FigureReexecutionErrors:
		return []measure{mReexecutionErr}
	case q.Figure == operation.FigureApprovalDelay:
		return []measure{mApproval}
	case q.Figure == operation.FigureInHand:
		return []measure{mInHand}
	case q.Figure == operation.FigureActive:
		return []measure{mActive}
	}
	return []measure{counted[q.Figure]}
}

// figureKeys finds one row more than a page holds.
func (t *tx) figureKeys(c figureScope, q FigureListQuery, b *FigureBoard) ([]figureKeyRow, error) {
	at, paged := figureCursor(q.Cursor)
	if q.Figure == operation.FigureUnresolved {
		if !q.To.Before(b.Now) {
			return t.doubtKeysNow(c, q, at, paged)
		}
		return t.doubtKeys(c, q, at, paged)
	}
	to := q.To
	if paged {
		to = earlier(to, at.At.Add(time.Microsecond)) // of one moment there may be several
	}
	measures := q.behind(c)
	windows, err := t.figureWindows(c, measures, q.From, to, b.CountedUntil)
	if err != nil {
		return nil, err
	}
	var out []figureKeyRow
	for len(windows) > 0 && len(out) <= q.Limit {
		n := windowsFor(windows, q.Limit+1-len(out))
		rows, err := t.keysWithin(c, measures, windows[:n], q.Limit+1-len(out), at, paged)
		if err != nil {
			return nil, err
		}
		out, windows = append(out, rows...), windows[n:]
	}
	return out, nil
}

// keysWithin reads the newest rows of some windows, all of which are newer than what is
// left out.
func (t *tx) keysWithin(c figureScope, measures []measure, windows []figureWindow, limit int, at figureKeyRow, paged bool) ([]figureKeyRow, error) {
	w := &conditions{}
	from, to := make([]time.Time, len(windows)), make([]time.Time, len(windows))
	for i, x := range windows {
		from[i], to[i] = x.from, x.to
	}
	within := `unnest(CAST(` + w.arg(timeArray(from)) + ` AS timestamptz[]), CAST(` + w.arg(timeArray(to)) + ` AS timestamptz[])) AS w(lo, hi)`
	var parts []string
	for _, m := range measures {
		parts = append(parts, c.listed(w, m))
	}
	after := ""
	if paged {
		after = ` WHERE (x.at, x.entry, x.item) < (` + w.arg(at.At.UTC()) + `, ` + w.arg(at.Entry) + `, ` + w.arg(at.Item) + `)`
	}
	var rows []figureKeyRow
	err := t.list(&rows, `SELECT x.at, x.entry, x.item, x.operation_id, x.attempt, x.secs FROM `+within+` CROSS JOIN LATERAL (`+strings.Join(parts, " UNION ALL ")+`) x`+after+
		fmt.Sprintf(` ORDER BY x.at DESC, x.entry DESC, x.item DESC LIMIT %d`, limit), w.args...)
	return rows, err
}

// listed gives the facts of a measure within the window w.
func (c figureScope) listed(w *conditions, m measure) string {
	own := &conditions{args: w.args}
	defer func() { w.args = own.args }()
	if f, ok := entryFacts[m]; ok {
		own.add(strings.ReplaceAll(f.subjects()+" AND "+f.kind, "K.", "k."))
		c.where(own, "k")
		if f.more != "" {
			own.add(f.more)
		}
		secs := "0.0"
		if f.secs != "" {
			secs = f.secs
		}
		return `SELECT h.at, h.id AS entry, '' AS item, h.subject_id AS operation_id, COALESCE(CAST(h.links AS jsonb) ->> 'attempt', '') AS attempt, CAST(` + secs + ` AS float8) AS secs
			FROM history_kinds k CROSS JOIN LATERAL ` + inWindow("history h", "h.at", "h.kind = k.kind") + ` h` + own.sql()
	}
	switch m {
	case mEvents:
		return `SELECT e.received_at AS at, CAST(0 AS bigint) AS entry, e.id AS item, '' AS operation_id, '' AS attempt, CAST(0 AS float8) AS secs FROM ` + inWindow("events e", "e.received_at") + ` e` + own.sql()
	case mDeliveries, mBrought:
		from := inWindow("deliveries d", "d.received_at") + " d"
		if m == mBrought {
			from += reached
			own.add("fs.flows IS NOT NULL AND " + afterStart)
			c.reaching(own)
		}
		return `SELECT d.received_at AS at, CAST(0 AS bigint) AS entry, d.id AS item, '' AS operation_id, '' AS attempt, CAST(0 AS float8) AS secs FROM ` + from + own.sql()
	case mReached:
		return c.listedReached(own)
	case mInHand, mActive:
		col := map[measure]string{mInHand: "t.in_hand", mActive: "t.active"}[m]
		own.add("t.holds > 0")
		c.where(own, "c")
		return `SELECT c.closed_at AS at, CAST(0 AS bigint) AS entry, c.id AS item, c.operation_id, '' AS attempt, CAST(GREATEST(` + col + `, 0) / 1000 AS float8) AS secs FROM ` + inWindow("recovery_cases c", "c.closed_at") + ` c` + caseTimes + own.sql()
	}
	at, such := "a.ended_at", ""
	switch m {
	case mKeyReuse:
		at, such = "a.dispatched_at", sentAgain
	case mEnded:
		such = "a.dispatched_at IS NOT NULL AND a.outcome IS NOT NULL"
	case mRefused:
		such = "a.dispatched_at IS NOT NULL AND a.outcome IN ('not_started', 'unknown') AND a.outcome = 'not_started'"
	case mUnknown:
		such = "a.dispatched_at IS NOT NULL AND a.outcome IN ('not_started', 'unknown') AND a.outcome = 'unknown'"
	}
	c.where(own, "o")
	return `SELECT ` + at + ` AS at, CAST(0 AS bigint) AS entry, a.id AS item, a.operation_id, a.id AS attempt, CAST(0 AS float8) AS secs FROM ` + inWindow("attempts a", at, such) + ` a JOIN operations o ON o.id = a.operation_id` + own.sql()
}

// inWindow gives the rows of a table within the window w. OFFSET 0 keeps the planner from
// joining all windows at once, for which it would read the whole table: each window is a
// short stretch of an index by time.
func inWindow(table, at string, such ...string) string {
	where := at + " >= w.lo AND " + at + " < w.hi"
	for _, s := range such {
		where += " AND " + s
	}
	return `(SELECT * FROM ` + table + ` WHERE ` + where + ` OFFSET 0)`
}

// reaching narrows events to those that reached a flow of the scope.
func (c figureScope) reaching(w *conditions) {
	if c.flow != "" {
		w.add("? = ANY(string_to_array(fs.flows, ','))", c.flow)
	}
	if !c.everyFlow {
		w.add("string_to_array(fs.flows, ',') && CAST(? AS text[])", pq.Array(c.flows))
	}
}

// listedReached gives the events that reached the scope's flows within the window w:
// with a delivery, or by a person's release.
func (c figureScope) listedReached(own *conditions) string {
	own.add("fs.flows IS NOT NULL")
	c.reaching(own)
	return `SELECT d.received_at AS at, CAST(0 AS bigint) AS entry, d.event_id AS item, '' AS operation_id, '' AS attempt, CAST(0 AS float8) AS secs FROM ` + inWindow("deliveries d", "d.received_at") + ` d` + reached +
		own.sql(firstStart) + `
		UNION ALL SELECT hd.decided_at, CAST(0 AS bigint), hd.event_id, '', '', CAST(0 AS float8) FROM held_decisions hd
		CROSS JOIN LATERAL (SELECT string_agg(DISTINCT r.flow, ',' ORDER BY r.flow) AS flows FROM event_runs x JOIN runs r ON r.id = x.run_id WHERE x.event_id = hd.event_id) fs` +
		own.sql("hd.decision = 'release'", "hd.decided_at >= w.lo AND hd.decided_at < w.hi")
}
