package store

import (
	"slices"
	"strings"
	"time"

	"github.com/lib/pq"
)

// figureGrain is how finely running totals are kept. Every zone's days begin on a multiple
// of it, those with three quarters of an hour included.
const figureGrain = 15 * time.Minute

// seriesRow is one series of running totals.
type seriesRow struct {
	ID          int    `db:"id"`
	Part        int    `db:"part"`
	Flow        string `db:"flow"`
	Destination string `db:"destination"`
}

// figureScope is what of the figures a viewer asks for and may see.
type figureScope struct {
	everyFlow    bool     // the viewer sees every flow
	flows        []string // those they see otherwise
	destinations []string // those a token is limited to; empty = all
	flow         string   // "" = all they may see
	destination  string   // "" = all they may see
}

func scopeOf(v Viewer, flow, destination string) figureScope {
	all, flows := v.seenFlows()
	return figureScope{everyFlow: all, flows: flows, destinations: v.destinations, flow: flow, destination: destination}
}

// whole reports that nothing is narrowed by flow: the totals over all flows are read.
func (c figureScope) whole() bool { return c.everyFlow && c.flow == "" && len(c.destinations) == 0 }

// sees reports whether one of the flows of a set is asked for and may be seen.
func (c figureScope) sees(set string) bool {
	for flow := range strings.SplitSeq(set, ",") {
		if (c.flow == "" || c.flow == flow) && (c.everyFlow || slices.Contains(c.flows, flow)) {
			return true
		}
	}
	return false
}

func (c figureScope) takesDestination(d string) bool {
	return (c.destination == "" || c.destination == d) && (len(c.destinations) == 0 || d == "" || slices.Contains(c.destinations, d))
}

// takes reports whether facts of this flow and destination belong to the scope.
func (c figureScope) takes(flow, destination string) bool {
	if flow == everyFlow {
		return c.whole() && c.destination == ""
	}
	return c.sees(flow) && c.takesDestination(destination)
}

// series picks the series whose sum is the scope, and those of each destination in it.
func (c figureScope) series(all []seriesRow) (sum, each []seriesRow) {
	for _, s := range all {
		if c.whole() {
			switch {
			case s.Flow == everyFlow && s.Destination == everyFlow:
				if c.destination == "" {
					sum = append(sum, s)
				}
			case s.Flow == everyFlow && c.takesDestination(s.Destination):
				each = append(each, s)
				if c.destination != "" {
					sum = append(sum, s)
				}
			}
		} else if s.Flow != everyFlow && c.takes(s.Flow, s.Destination) {
			sum = append(sum, s)
			if s.Destination != "" {
				each = append(each, s)
			}
		}
	}
	return sum, each
}

// figureReading is what had been counted before each of some moments.
type figureReading struct {
	Now          time.Time
	CountedUntil time.Time // zero = nothing is counted ahead
	bounds       []time.Time
	sum          []tally            // at each bound
	each         map[string][]tally // by destination
}

type figureState struct {
	Until *time.Time `db:"counted_until"`
	At    *time.Time `db:"counted_at"`
	Now   time.Time  `db:"now"`
}

const figureStateSQL = `SELECT counted_until, counted_at, clock_timestamp() AS now FROM figure_state`

// readFigures reads what had been counted before each bound: running totals up to where
// they are counted, and the facts themselves for the rest. Bounds are in order. each says
// whether destinations are read one by one as well.
func (t *tx) readFigures(c figureScope, bounds []time.Time, each bool) (*figureReading, error) {
	var st figureState
	if err := t.get(&st, figureStateSQL); err != nil {
		return nil, err
	}
	r := &figureReading{Now: st.Now.UTC(), CountedUntil: timeOf(st.Until).UTC(), bounds: bounds, sum: make([]tally, len(bounds)), each: map[string][]tally{}}
	if st.Until == nil {
		r.CountedUntil = time.Time{}
	}
	if err := t.readTotals(r, c, each); err != nil {
		return nil, err
	}
	return r, t.readRest(r, c, each)
}

// readTotals reads the running totals at each bound, or the last ones where it lies
// beyond what is counted.
func (t *tx) readTotals(r *figureReading, c figureScope, each bool) error {
	var all []seriesRow
	if err := t.list(&all, `SELECT id, part, flow, destination FROM figure_series`); err != nil {
		return err
	}
	sum, parts := c.series(all)
	inSum, inEach := map[int]seriesRow{}, map[int]seriesRow{}
	var ids []int
	for _, s := range sum {
		inSum[s.ID] = s
		ids = append(ids, s.ID)
	}
	for _, s := range parts {
		if each && s.Part == partCounts {
			inEach[s.ID] = s
			if _, known := inSum[s.ID]; !known {
				ids = append(ids, s.ID)
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var rows []struct {
		Series int           `db:"series"`
		Bound  int           `db:"bound"`
		Totals pq.Int64Array `db:"totals"`
	}
	err := t.list(&rows, totalsSQL, pq.Array(ids), r.floors())
	for _, row := range rows {
		if s, ok := inSum[row.Series]; ok {
			for i, n := range row.Totals {
				r.sum[row.Bound-1].add(s.Part, i, n)
			}
		}
		if s, ok := inEach[row.Series]; ok {
			for i, n := range row.Totals {
				r.destination(s.Destination)[row.Bound-1].add(s.Part, i, n)
			}
		}
	}
	return err
}

// totalsSQL finds the newest totals of each of the series $1 at each of the moments $2:
// one step of the key for each.
const totalsSQL = `SELECT s.id AS series, b.n AS bound, t.totals FROM unnest(CAST($1 AS int[])) AS s(id) CROSS JOIN unnest(CAST($2 AS timestamptz[])) WITH ORDINALITY AS b(at, n)
	CROSS JOIN LATERAL (SELECT totals FROM figure_totals t WHERE t.series = s.id AND t.until <= b.at ORDER BY t.until DESC LIMIT 1) t`

// floors are the moments at which totals are read: the last quarter of an hour, or the
// last totals of all.
func (r *figureReading) floors() any {
	out := make([]string, len(r.bounds))
	for i, b := range r.bounds {
		out[i] = "infinity"
		if !b.After(r.CountedUntil) {
			out[i] = quarter(b).Format(time.RFC3339)
		}
	}
	return pq.Array(out)
}

func quarter(at time.Time) time.Time { return at.UTC().Truncate(figureGrain) }

func (r *figureReading) destination(name string) []tally {
	if r.each[name] == nil {
		r.each[name] = make([]tally, len(r.bounds))
	}
	return r.each[name]
}

// readRest adds the facts that are in no total: those after what is counted, and those
// between the last quarter of an hour and a bound within it.
func (t *tx) readRest(r *figureReading, c figureScope, each bool) error {
	if len(r.bounds) == 0 {
		return nil
	}
	for i, b := range r.bounds {
		if b.After(r.CountedUntil) || quarter(b).Equal(b) {
			continue
		}
		facts, err := t.facts(quarter(b), b, nil)
		if err != nil {
			return err
		}
		for _, f := range facts {
			r.add(c, f, i, i+1, each)
		}
	}
	facts, err := t.facts(latest(r.CountedUntil, beginning), r.bounds[len(r.bounds)-1], r.bounds)
	for _, f := range facts {
		r.add(c, f, f.Stretch, len(r.bounds), each)
	}
	return err
}

// beginning is before every fact.
var beginning = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// add counts a fact at the bounds from i to before j.
func (r *figureReading) add(c figureScope, f fact, i, j int, each bool) {
	part, place := f.Measure.place(f.Cell)
	if c.takes(f.Flow, f.Destination) {
		for k := i; k < j; k++ {
			r.sum[k].add(part, place, f.N)
		}
	}
	if each && part == partCounts && f.Flow != everyFlow && f.Destination != "" && c.takes(f.Flow, f.Destination) {
		d := r.destination(f.Destination)
		for k := i; k < j; k++ {
			d[k].add(part, place, f.N)
		}
	}
}
