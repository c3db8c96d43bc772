package store

import (
	"slices"
	"strings"
	"time"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// exactTimesUpTo is how many times are read one by one for exact quantiles. Of more, the
// cells tell.
const exactTimesUpTo = 1000

// timed is one measured time.
type timed struct {
	At   time.Time `db:"at"`
	Secs float64   `db:"secs"`
}

// where adds the conditions of the scope on columns flow and destination of a row.
func (c figureScope) where(w *conditions, row string) {
	if !c.everyFlow {
		w.add(row+".flow = ANY(?)", pq.Array(c.flows))
	}
	if c.flow != "" {
		w.add(row+".flow = ?", c.flow)
	}
	if len(c.destinations) > 0 {
		w.add(row+".destination = ANY(?)", pq.Array(c.destinations))
	}
	if c.destination != "" {
		w.add(row+".destination = ?", c.destination)
	}
}

// ofKinds gives the entries, called h, of the kinds that a measure counts in [from, to).
func (c figureScope) ofKinds(w *conditions, f entryFact, from, to time.Time) string {
	w.add(strings.ReplaceAll(f.subjects()+" AND "+f.kind, "K.", "k."))
	c.where(w, "k")
	return ` FROM history_kinds k CROSS JOIN LATERAL (SELECT * FROM history h WHERE h.kind = k.kind AND h.at >= ` + w.arg(from.UTC()) + ` AND h.at < ` + w.arg(to.UTC()) + `) h`
}

// exactTimes replaces the quantiles of a series that come from cells by exact ones where
// few times were measured, from the beginning of the stretch before.
func (t *tx) exactTimes(c figureScope, s *FigureSeries, before time.Time) error {
	n := s.Total.N + s.Before.N
	if s.Exact = n <= exactTimesUpTo; !s.Exact || n == 0 {
		return nil
	}
	w := &conditions{}
	var q string
	if s.Figure == operation.FigureApprovalDelay {
		f := entryFacts[mApproval]
		from := c.ofKinds(w, f, before, s.To)
		q = `SELECT h.at, ` + f.secs + ` AS secs` + from + w.sql()
	} else {
		col := map[operation.Figure]string{operation.FigureInHand: "t.in_hand", operation.FigureActive: "t.active"}[s.Figure]
		w.add("c.closed_at >= ? AND c.closed_at < ? AND t.holds > 0", before.UTC(), s.To.UTC())
		c.where(w, "c")
		q = `SELECT c.closed_at AS at, CAST(GREATEST(` + col + `, 0) / 1000 AS float8) AS secs FROM recovery_cases c` + caseTimes + w.sql()
	}
	var rows []timed
	if err := t.list(&rows, q, w.args...); err != nil {
		return err
	}
	s.quantiles(rows)
	return nil
}

// quantiles puts the exact quantiles into the values of a series.
func (s *FigureSeries) quantiles(rows []timed) {
	within := func(from, to time.Time) []float64 {
		var out []float64
		for _, r := range rows {
			if !r.At.Before(from) && r.At.Before(to) {
				out = append(out, r.Secs)
			}
		}
		return out
	}
	s.Total.quantiles(within(s.From, s.To))
	s.Before.quantiles(within(beginning, s.From))
	for i := range s.Parts {
		p := &s.Parts[i]
		p.quantiles(within(p.From, p.To))
	}
}

// quantiles puts the quantiles of some seconds into a value.
func (v *FigureValue) quantiles(secs []float64) {
	v.N, v.Median, v.P90 = int64(len(secs)), 0, 0
	if len(secs) == 0 {
		return
	}
	slices.Sort(secs)
	at := func(percent int) time.Duration {
		return time.Duration(secs[operation.QuantileRank(v.N, percent)-1] * float64(time.Second)).Round(time.Second)
	}
	v.Median, v.P90 = at(50), at(90)
}
