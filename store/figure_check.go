package store

import (
	"context"
	"slices"
	"time"
)

// FigureFault is a running total that is not what the facts give.
type FigureFault struct {
	Flow, Destination string
	Part              int // 0 = counts; else cells of approval delay, time in hand, time active
	Until             time.Time
	Place             int
	Stored, Counted   int64
}

// figureFaults bounds how many faults a check names.
const figureFaults = 50

// FigureCheck is what a comparison of the running totals with the facts gave.
type FigureCheck struct {
	From, Until time.Time
	Rows        int // of running totals that were compared
	Faults      []FigureFault
	Missed      int  // settled cases that are not counted, or are and should not be
	More        bool // there are more faults than are named
}

// CheckFigures counts all facts again and compares every running total with them, at one
// moment of the record. It changes nothing. What retention has removed is not compared.
func (s *Store) CheckFigures(ctx context.Context) (FigureCheck, error) {
	var out FigureCheck
	err := s.snapshot(ctx, func(t *tx) error {
		var st figureState
		if err := t.get(&st, figureStateSQL); err != nil || st.Until == nil {
			return err
		}
		from, err := t.keptSince()
		if err != nil {
			return err
		}
		out = FigureCheck{From: from, Until: st.Until.UTC()}
		if err := t.get(&out.Missed, missedCasesSQL, out.From, out.Until); err != nil {
			return err
		}
		return t.checkTotals(&out)
	})
	return out, err
}

// missedCasesSQL counts the cases settled in [$1, $2) whose being counted is wrong.
const missedCasesSQL = `SELECT count(*) FROM recovery_cases c FULL JOIN figure_cases f ON f.case_id = c.id
	WHERE COALESCE(c.closed_at, f.closed_at) >= $1 AND COALESCE(c.closed_at, f.closed_at) < $2
	AND (f.case_id IS NOT NULL) <> EXISTS (SELECT 1 FROM case_holds x WHERE x.case_id = c.id AND c.closed_at IS NOT NULL)`

// keptSince is from when on all facts are still there; what is older and was counted
// before it was removed stands in the running totals alone.
func (t *tx) keptSince() (time.Time, error) {
	var row struct {
		First      *time.Time `db:"first"`
		Events     *time.Time `db:"events"`
		Deliveries *time.Time `db:"deliveries"`
		History    *time.Time `db:"history"`
	}
	first := func(place measure, from string) string {
		return `(SELECT CASE WHEN k.at IS NULL OR k.at > x.until THEN COALESCE(k.at, clock_timestamp()) END FROM (SELECT min(t.until) AS until FROM figure_totals t JOIN figure_series s ON s.id = t.series
			WHERE s.part = 0 AND s.flow = '*' AND s.destination = '*' AND t.totals[` + placeSQL(place) + `] > 0) x, (SELECT ` + from + `) k WHERE x.until IS NOT NULL)`
	}
	err := t.get(&row, `SELECT LEAST((SELECT min(at) FROM history), (SELECT min(received_at) FROM deliveries), (SELECT min(received_at) FROM events)) AS first,
		`+first(mEvents, "min(received_at) AS at FROM events")+` AS events, `+first(mDeliveries, "min(received_at) AS at FROM deliveries")+` AS deliveries,
		`+first(mAttempts, "min(at) AS at FROM history WHERE action IN ('claim', 'dispatch') AND subject_kind = 'operation'")+` AS history`)
	at := timeOf(row.First).UTC()
	for _, gone := range []*time.Time{row.Events, row.Deliveries, row.History} {
		if gone != nil {
			at = latest(at, quarter(gone.UTC()).Add(figureGrain))
		}
	}
	return quarter(at), err
}

// checkTotals compares stretch by stretch.
func (t *tx) checkTotals(out *FigureCheck) error {
	run, err := t.totalsAt(out.From)
	if err != nil {
		return err
	}
	for from := out.From; from.Before(out.Until); {
		to := earlier(quarter(from.Add(figureChunk)), out.Until)
		facts, err := t.factsBy(countedCasesSQL, from, to, quarters(from, to))
		if err != nil {
			return err
		}
		have, err := t.totalsBetween(from, to)
		if err != nil {
			return err
		}
		out.compare(run, quarterSums(facts, from), have)
		if out.More {
			return nil
		}
		from = to
	}
	return nil
}

// compare holds one stretch's facts against its running totals. run are the totals so
// far, which go on from what is stored: one fault is named once.
func (c *FigureCheck) compare(run map[seriesKey][]int64, came, have seriesSums) {
	keys := map[seriesKey]bool{}
	for k := range came {
		keys[k] = true
	}
	for k := range have {
		keys[k] = true
	}
	for k := range keys {
		ends := inOrder(came[k])
		for at := range have[k] {
			if _, both := came[k][at]; !both {
				ends = append(ends, at)
			}
		}
		slices.SortFunc(ends, time.Time.Compare)
		for _, at := range ends {
			counted := plusEach(run[k], came[k][at])
			stored := have[k][at]
			c.Rows++
			c.fault(k, at, stored, counted)
			if stored == nil {
				stored = counted
			}
			run[k] = stored
		}
	}
}

func (c *FigureCheck) fault(k seriesKey, at time.Time, stored, counted []int64) {
	place := func(v []int64, i int) int64 {
		if i < len(v) {
			return v[i]
		}
		return 0
	}
	for i := range max(len(stored), len(counted)) {
		if place(stored, i) == place(counted, i) {
			continue
		}
		if len(c.Faults) == figureFaults {
			c.More = true
			return
		}
		c.Faults = append(c.Faults, FigureFault{k.flow, k.destination, k.part, at, i, place(stored, i), place(counted, i)})
	}
}

// totalsAt reads the totals of all series at a moment.
func (t *tx) totalsAt(at time.Time) (map[seriesKey][]int64, error) {
	var rows []storedTotals
	err := t.list(&rows, `SELECT s.part, s.flow, s.destination, t.until, array_to_json(t.totals)::text AS totals FROM figure_series s
		CROSS JOIN LATERAL (SELECT * FROM figure_totals y WHERE y.series = s.id AND y.until <= $1 ORDER BY y.until DESC LIMIT 1) t`, at.UTC())
	out := map[seriesKey][]int64{}
	for _, r := range rows {
		if out[r.key()], err = r.numbers(); err != nil {
			return nil, err
		}
	}
	return out, err
}

// totalsBetween reads the rows of running totals that end after from, up to the quarter
// of an hour that holds to.
func (t *tx) totalsBetween(from, to time.Time) (seriesSums, error) {
	var rows []storedTotals
	err := t.list(&rows, `SELECT s.part, s.flow, s.destination, t.until, array_to_json(t.totals)::text AS totals FROM figure_series s
		JOIN figure_totals t ON t.series = s.id WHERE t.until > $1 AND t.until < $2`, from.UTC(), to.Add(figureGrain).UTC())
	out := seriesSums{}
	for _, r := range rows {
		if out[r.key()] == nil {
			out[r.key()] = map[time.Time][]int64{}
		}
		if out[r.key()][r.Until.UTC()], err = r.numbers(); err != nil {
			return nil, err
		}
	}
	return out, err
}

// RebuildFigures counts everything anew from the facts that are still there, in several
// transactions: pages stay exact meanwhile, and slower. It returns up to where it counted.
func (s *Store) RebuildFigures(ctx context.Context, told func(FigureProgress)) (FigureProgress, error) {
	err := s.write(ctx, func(t *tx) error {
		if _, err := t.exec(`SELECT 1 FROM figure_state FOR UPDATE`); err != nil {
			return err
		}
		from, err := t.keptSince()
		if err != nil {
			return err
		}
		if _, err := t.exec(`DELETE FROM figure_totals WHERE until > $1`, from); err != nil {
			return err
		}
		if _, err := t.exec(`DELETE FROM figure_cases WHERE closed_at >= $1`, from); err != nil {
			return err
		}
		return t.one(`UPDATE figure_state SET counted_until = (SELECT CASE WHEN $1 > CAST('2000-01-01' AS timestamptz) THEN $1 END)`, from)
	})
	for err == nil {
		var p FigureProgress
		if p, err = s.CountFigures(ctx); err == nil {
			told(p)
			if !p.Behind && !p.Busy {
				return p, nil
			}
		}
		if p.Busy {
			select {
			case <-ctx.Done():
				err = ctx.Err()
			case <-time.After(time.Second):
			}
		}
	}
	return FigureProgress{}, err
}
