package store

import (
	"fmt"
	"strings"
	"time"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// figureWindow is a stretch of time that may hold facts, and how many it holds in all if
// that is known.
type figureWindow struct {
	from, to time.Time
	n        int64
}

// figureWindows gives the quarters of an hour in [from, to) in which one of the measures
// was counted, newest first, and before them what is not counted ahead. A list reads
// those alone: it needs no longer for a rare flow than for a busy one.
func (t *tx) figureWindows(c figureScope, measures []measure, from, to, until time.Time) ([]figureWindow, error) {
	var out []figureWindow
	if to.After(until) {
		out = append(out, figureWindow{from: latest(from, until), to: to})
		to = until
	}
	if !from.Before(to) {
		return out, nil
	}
	var all []seriesRow
	if err := t.list(&all, `SELECT id, part, flow, destination FROM figure_series`); err != nil {
		return nil, err
	}
	sum, _ := c.series(all)
	part, _ := measures[0].place(0)
	var ids []int
	for _, s := range sum {
		if s.Part == part {
			ids = append(ids, s.ID)
		}
	}
	var rows []struct {
		Until time.Time `db:"until"`
		N     int64     `db:"n"`
	}
	// The row before the first says from where numbers rise.
	err := t.list(&rows, `SELECT x.until, CAST(sum(x.n - x.before) AS bigint) AS n FROM unnest(CAST($1 AS int[])) AS s(id) CROSS JOIN LATERAL (
			SELECT t.until, `+placesSQL(part, measures)+` AS n, lag(`+placesSQL(part, measures)+`, 1, CAST(0 AS bigint)) OVER (ORDER BY t.until) AS before FROM figure_totals t
			WHERE t.series = s.id AND t.until <= $3 AND t.until >= COALESCE((SELECT max(y.until) FROM figure_totals y WHERE y.series = s.id AND y.until <= $2), $2)) x
		WHERE x.until > $2 GROUP BY 1 HAVING sum(x.n - x.before) > 0 ORDER BY 1 DESC`, pq.Array(ids), from.UTC(), quarter(to.Add(figureGrain-1)))
	for _, r := range rows {
		end := r.Until.UTC()
		out = append(out, figureWindow{from: latest(from, end.Add(-figureGrain)), to: earlier(to, end), n: r.N})
	}
	return out, err
}

// placesSQL adds the places of measures in a row t of running totals; of a time all its
// cells.
func placesSQL(part int, measures []measure) string {
	if part != partCounts {
		return `(SELECT COALESCE(sum(c), 0)::bigint FROM unnest(t.totals) AS c)`
	}
	var out []string
	for _, m := range measures {
		out = append(out, "COALESCE(t.totals["+placeSQL(m)+"], 0)")
	}
	return "(" + strings.Join(out, " + ") + ")"
}

// windowsFor gives how many of the first windows are read to find some rows. Windows at
// the edges may hold fewer than is known of them.
func windowsFor(windows []figureWindow, rows int) int {
	var seen int64
	for i, w := range windows {
		if seen += w.n; seen >= int64(rows) || i == 99 {
			return i + 1
		}
	}
	return len(windows)
}

// doubtKeysNow lists the operations whose outcome is not settled now, those last that came
// into doubt first. They are told by their state.
func (t *tx) doubtKeysNow(c figureScope, q FigureListQuery, at figureKeyRow, paged bool) ([]figureKeyRow, error) {
	w := &conditions{}
	c.where(w, "o")
	w.add("o.state IN " + doubt)
	if paged {
		w.add(`(h.at, h.id) < (?, ?)`, at.At.UTC(), at.Entry)
	}
	var rows []figureKeyRow
	err := t.list(&rows, `SELECT h.at, h.id AS entry, '' AS item, o.id AS operation_id, '' AS attempt, CAST(0 AS float8) AS secs FROM operations o
		CROSS JOIN LATERAL (SELECT x.at, x.id FROM history x WHERE x.subject_kind = 'operation' AND x.subject_id = o.id AND x.to_state IN `+doubt+` AND x.from_state NOT IN `+doubt+` ORDER BY x.seq DESC LIMIT 1) h`+w.sql()+
		fmt.Sprintf(` ORDER BY h.at DESC, h.id DESC LIMIT %d`, q.Limit+1), w.args...)
	return rows, err
}

// doubtKeys lists the operations whose outcome was not settled at the end of a span that
// is over, those last that came into doubt first.
func (t *tx) doubtKeys(c figureScope, q FigureListQuery, at figureKeyRow, paged bool) ([]figureKeyRow, error) {
	w := &conditions{}
	f := entryFacts[mIntoDoubt]
	in := c.ofKinds(w, f, beginning, q.To)
	w.add(`NOT EXISTS (SELECT 1 FROM history p WHERE p.subject_kind = 'operation' AND p.subject_id = h.subject_id AND p.seq > h.seq AND p.at < ? AND p.at >= h.at AND p.from_state IN `+doubt+` AND p.to_state NOT IN `+doubt+`)`, q.To.UTC())
	if paged {
		w.add(`(h.at, h.id) < (?, ?)`, at.At.UTC(), at.Entry)
	}
	var rows []figureKeyRow
	err := t.list(&rows, `SELECT h.at, h.id AS entry, '' AS item, h.subject_id AS operation_id, '' AS attempt, CAST(0 AS float8) AS secs`+in+w.sql()+
		fmt.Sprintf(` ORDER BY h.at DESC, h.id DESC LIMIT %d`, q.Limit+1), w.args...)
	return rows, err
}

// figureItems reads what the rows of a page show.
func (t *tx) figureItems(v Viewer, out *FigureList, keys []figureKeyRow) error {
	var ops, attempts, items []string
	for _, k := range keys {
		ops, attempts, items = append(ops, k.Operation), append(attempts, k.Attempt), append(items, k.Item)
	}
	var rows []listedRow
	if err := t.list(&rows, `SELECT `+opColumns+`, o.source FROM operations o WHERE o.id = ANY($1)`, pq.Array(ops)); err != nil {
		return err
	}
	names := t.s.titler(t.ctx, t.Tx)
	byID := map[string]*InboxRow{}
	for _, r := range rows {
		row := InboxRow{OperationSummary: OperationSummary{r.opRow}, Source: r.Source}
		row.Late = row.Overdue(out.Now)
		if err := names.fill(&row); err != nil {
			return err
		}
		byID[string(row.ID)] = &row
	}
	tries, err := byKey(t, `SELECT id, number, COALESCE(outcome, '') AS outcome, COALESCE(proof, '') AS proof FROM attempts WHERE id = ANY($1)`, attempts, func(a FigureAttempt) string { return string(a.ID) })
	if err != nil {
		return err
	}
	batches, err := t.figureBatches(ops, out.Now)
	if err != nil {
		return err
	}
	deliveries, events, cases := map[string]*DeliveryRow{}, map[string]*FigureEvent{}, map[string]*FigureCase{}
	switch out.Query.Figure {
	case operation.FigureDeliveries:
		deliveries, err = byKey(t, `SELECT `+deliveryColumns+` FROM deliveries d LEFT JOIN events e ON e.id = d.event_id WHERE d.id = ANY($1)`, items, func(d DeliveryRow) string { return string(d.ID) })
	case operation.FigureEvents:
		events, err = byKey(t, figureEventsSQL, items, func(e FigureEvent) string { return string(e.ID) })
	case operation.FigureInHand, operation.FigureActive:
		cases, err = byKey(t, `SELECT id, number FROM recovery_cases WHERE id = ANY($1)`, items, func(c FigureCase) string { return c.ID })
	}
	for _, k := range keys {
		out.Rows = append(out.Rows, FigureItem{At: k.At.UTC(), Operation: byID[k.Operation], Batch: batches[k.Operation], Attempt: tries[k.Attempt], Delivery: deliveries[k.Item], Event: events[k.Item],
			Case: cases[k.Item], Took: time.Duration(k.Secs * float64(time.Second)).Round(time.Second)})
	}
	return err
}

// figureBatches reads the batches among what was counted.
func (t *tx) figureBatches(ids []string, now time.Time) (map[string]*BatchRow, error) {
	var list []Batch
	if err := t.list(&list, `SELECT `+batchColumns+` FROM batches b WHERE b.id = ANY($1)`, pq.Array(ids)); err != nil {
		return nil, err
	}
	rows, err := t.batchRows(list, now)
	out := map[string]*BatchRow{}
	for i := range rows {
		out[string(rows[i].ID)] = &rows[i]
	}
	return out, err
}

const figureEventsSQL = `SELECT e.id, e.source, e.topic, e.event_key, COALESCE(x.run_id, '') AS run_id, COALESCE(r.flow, '') AS flow FROM events e
	LEFT JOIN LATERAL (SELECT y.run_id FROM event_runs y WHERE y.event_id = e.id ORDER BY y.run_id LIMIT 1) x ON true LEFT JOIN runs r ON r.id = x.run_id WHERE e.id = ANY($1)`

// byKey reads rows by their keys.
func byKey[T any](t *tx, q string, keys []string, key func(T) string) (map[string]*T, error) {
	var rows []T
	out := map[string]*T{}
	if len(keys) == 0 {
		return out, nil
	}
	err := t.list(&rows, q, pq.Array(keys))
	for i := range rows {
		out[key(rows[i])] = &rows[i]
	}
	return out, err
}
