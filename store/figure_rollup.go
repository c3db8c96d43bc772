package store

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

const (
	// figureSlack is how long a fact may take from its clock to be seen, beyond what is
	// known of running transactions: those of other roles cannot be seen.
	figureSlack = 2 * time.Second
	// figureChunk is how much time is counted in one transaction.
	figureChunk = 6 * time.Hour
	// figureFor is for how long one call goes on counting when it is behind.
	figureFor = 20 * time.Second
)

// FigureProgress says how far the figures are counted ahead.
type FigureProgress struct {
	Until  time.Time // everything before is in the running totals; zero = nothing is
	Facts  int64     // how many were counted by this call
	Behind bool      // there is more that could be counted
	Busy   bool      // another process counts now
}

// CountFigures counts what is new into the running totals. It moves forward in
// transactions that each count a stretch of time and remember its end, so that a crash
// loses and doubles nothing, and of several processes one counts at a time. A stretch is
// counted only when no transaction can add to it any more.
func (s *Store) CountFigures(ctx context.Context) (FigureProgress, error) {
	var p FigureProgress
	horizon, err := s.figureHorizon(ctx)
	if err != nil {
		return p, err
	}
	for begun := time.Now(); ; {
		step, err := s.countStretch(ctx, horizon)
		if err != nil {
			return p, err
		}
		step.Facts += p.Facts
		if p = step; !p.Behind || p.Busy || time.Since(begun) > figureFor {
			return p, nil
		}
	}
}

// figureHorizon is a moment before which no running transaction can add a fact: facts take
// their time from the clock within their transaction. A transaction that has written
// nothing for five minutes only reads.
func (s *Store) figureHorizon(ctx context.Context) (time.Time, error) {
	var at time.Time
	err := s.snapshot(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		at = now.Add(-figureSlack)
		var oldest *time.Time
		err = t.get(&oldest, `SELECT min(xact_start) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
			AND (backend_xid IS NOT NULL OR xact_start > clock_timestamp() - interval '5 minutes')`)
		if oldest != nil {
			at = earlier(at, oldest.UTC())
		}
		return err
	})
	return at, err
}

// countStretch counts one stretch, in one transaction.
func (s *Store) countStretch(ctx context.Context, horizon time.Time) (FigureProgress, error) {
	var p FigureProgress
	err := s.write(ctx, func(t *tx) error {
		p = FigureProgress{}
		var states []figureState
		if err := t.list(&states, figureStateSQL+` FOR UPDATE SKIP LOCKED`); err != nil {
			return err
		}
		if len(states) == 0 {
			p.Busy = true
			return errDone
		}
		from := timeOf(states[0].Until).UTC()
		if states[0].Until == nil {
			first, err := t.firstFact()
			if err != nil {
				return err
			}
			if from = quarter(horizon); !first.IsZero() {
				from = earlier(quarter(first), from)
			}
		}
		p.Until = from
		to := earlier(horizon, from.Add(figureChunk)).Truncate(time.Microsecond)
		if !from.Before(to) {
			return errDone
		}
		n, err := t.countBetween(from, to)
		if err != nil {
			return err
		}
		p.Until, p.Facts, p.Behind = to, n, to.Before(horizon)
		return t.one(`UPDATE figure_state SET counted_until = $1, counted_at = clock_timestamp()`, to)
	})
	return p, err
}

// firstFact is when the first thing happened that a figure counts; zero = nothing has.
func (t *tx) firstFact() (time.Time, error) {
	var at *time.Time
	err := t.get(&at, `SELECT LEAST((SELECT min(at) FROM history), (SELECT min(received_at) FROM deliveries), (SELECT min(received_at) FROM events))`)
	return timeOf(at).UTC(), err
}

// countBetween adds the facts of [from, to) to the running totals.
func (t *tx) countBetween(from, to time.Time) (n int64, err error) {
	facts, err := t.facts(from, to, quarters(from, to))
	if err != nil {
		return 0, err
	}
	sums := quarterSums(facts, from)
	for _, f := range facts {
		n += f.N
	}
	if err := t.addTotals(sums); err != nil {
		return 0, err
	}
	if err := t.keepCases(from, to); err != nil {
		return 0, err
	}
	return n, t.correctCases(from, to)
}

// quarters are the bounds of quarters of an hour within (from, to).
func quarters(from, to time.Time) []time.Time {
	var out []time.Time
	for at := quarter(from).Add(figureGrain); at.Before(to); at = at.Add(figureGrain) {
		out = append(out, at)
	}
	return out
}

// seriesKey names one series.
type seriesKey struct {
	part              int
	flow, destination string
}

// seriesSums is how much came to each series, by the end of its quarter of an hour.
type seriesSums map[seriesKey]map[time.Time][]int64

// quarterSums adds facts up by series and quarter of an hour; stretches are those of
// quarters after from.
func quarterSums(facts []fact, from time.Time) seriesSums {
	sums := seriesSums{}
	for _, f := range facts {
		part, place := f.Measure.place(f.Cell)
		end := quarter(from).Add(time.Duration(f.Stretch+1) * figureGrain)
		keys := []seriesKey{{part, f.Flow, f.Destination}}
		if f.Flow != everyFlow && f.Destination != "" {
			keys = append(keys, seriesKey{part, everyFlow, f.Destination}, seriesKey{part, everyFlow, everyFlow})
		}
		for _, k := range keys {
			if sums[k] == nil {
				sums[k] = map[time.Time][]int64{}
			}
			if sums[k][end] == nil {
				sums[k][end] = make([]int64, partLen(part))
			}
			sums[k][end][place] += f.N
		}
	}
	return sums
}

// totalRow is one row of running totals as it is written.
type totalRow struct {
	Series int       `json:"s"`
	Until  time.Time `json:"u"`
	Totals []int64   `json:"t"`
}

// addTotals lets running totals grow. Nothing after the last row of a series is older.
func (t *tx) addTotals(sums seriesSums) error {
	if len(sums) == 0 {
		return nil
	}
	last, err := t.lastTotals(sums)
	if err != nil {
		return err
	}
	var rows []totalRow
	for k, byEnd := range sums {
		s := last[k]
		run := s.Totals
		for _, end := range inOrder(byEnd) {
			run = plusEach(run, byEnd[end])
			rows = append(rows, totalRow{s.Series, end, run})
		}
	}
	js, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	_, err = t.exec(`INSERT INTO figure_totals (series, until, totals) SELECT x.s, x.u, x.t FROM jsonb_to_recordset(CAST($1 AS jsonb)) AS x(s int, u timestamptz, t bigint[])
		ON CONFLICT ON CONSTRAINT figure_totals_key DO UPDATE SET totals = EXCLUDED.totals`, string(js))
	return err
}

// lastTotals reads the last totals of each series, and makes those that are new.
func (t *tx) lastTotals(sums seriesSums) (map[seriesKey]totalRow, error) {
	type named struct {
		Part int    `json:"p"`
		Flow string `json:"f"`
		Dest string `json:"d"`
	}
	var names []named
	for k := range sums {
		names = append(names, named{k.part, k.flow, k.destination})
	}
	slices.SortFunc(names, func(a, b named) int {
		return cmp.Or(a.Part-b.Part, strings.Compare(a.Flow, b.Flow), strings.Compare(a.Dest, b.Dest))
	})
	js, err := json.Marshal(names)
	if err != nil {
		return nil, err
	}
	const keys = `jsonb_to_recordset(CAST($1 AS jsonb)) AS x(p smallint, f text, d text)`
	if _, err := t.exec(`INSERT INTO figure_series (part, flow, destination) SELECT x.p, x.f, x.d FROM `+keys+`
		WHERE NOT EXISTS (SELECT 1 FROM figure_series s WHERE s.part = x.p AND s.flow = x.f AND s.destination = x.d)`, string(js)); err != nil {
		return nil, err
	}
	var rows []struct {
		seriesRow
		Totals []byte `db:"totals"`
	}
	err = t.list(&rows, `SELECT s.id, s.part, s.flow, s.destination, COALESCE(array_to_json(t.totals)::text, '') AS totals FROM `+keys+`
		JOIN figure_series s ON s.part = x.p AND s.flow = x.f AND s.destination = x.d
		LEFT JOIN LATERAL (SELECT y.totals FROM figure_totals y WHERE y.series = s.id ORDER BY y.until DESC LIMIT 1) t ON true`, string(js))
	out := map[seriesKey]totalRow{}
	for _, r := range rows {
		row := totalRow{Series: r.ID}
		if len(r.Totals) > 0 {
			if err := json.Unmarshal(r.Totals, &row.Totals); err != nil {
				return nil, err
			}
		}
		out[seriesKey{r.Part, r.Flow, r.Destination}] = row
	}
	return out, err
}

// plusEach adds two rows of numbers; places that one lacks are zero.
func plusEach(a, b []int64) []int64 {
	out := make([]int64, max(len(a), len(b)))
	copy(out, a)
	for i, n := range b {
		out[i] += n
	}
	return out
}

func inOrder(m map[time.Time][]int64) []time.Time {
	out := make([]time.Time, 0, len(m))
	for at := range m {
		out = append(out, at)
	}
	slices.SortFunc(out, time.Time.Compare)
	return out
}
