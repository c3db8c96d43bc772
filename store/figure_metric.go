package store

import (
	"context"
	"maps"
	"slices"
	"time"

	"holdpoint/operation"
)

// FigureTotals are the figures since the first fact, as counters that only rise.
type FigureTotals struct {
	CountedUntil time.Time // zero = nothing is counted ahead
	Rows         []FigureTotal
}

// FigureTotal is what was counted for one flow and destination; both are "" for what came
// in, and "*" where there are too many of them to be told apart.
type FigureTotal struct {
	Flow, Destination string
	Counts            map[string]int64             // by their words in docs/figures.md
	Unresolved        int64                        // operations in doubt now
	Times             map[operation.Figure][]int64 // cells of operation.DurationBounds
}

// figureCounts are the words of what is counted, by measure.
var figureCounts = map[string]measure{
	"events": mEvents, "deliveries": mDeliveries, "attempts": mAttempts, "attempts_ended": mEnded, "attempts_refused": mRefused, "attempts_unknown": mUnknown,
	"effects_destination": mByDestination, "effects_person": mByPerson, "unresolved_occurred": mIntoDoubt, "duplicates_suspected": mSuspected,
	"duplicates_confirmed": mDuplicates, "reexecutions": mReexecutions, "reexecution_errors": mReexecutionErr, "key_reuse": mKeyReuse, "adopted": mAdopted,
}

// FigureWords are the words under which FigureTotal counts, in their order.
func FigureWords() []string { return slices.Sorted(maps.Keys(figureCounts)) }

// figurePairs bounds how many flows and destinations are told apart.
const figurePairs = 200

// FindFigureTotals reads the figures of every flow and destination since the first fact,
// as they stand now.
func (s *Store) FindFigureTotals(ctx context.Context) (FigureTotals, error) {
	var out FigureTotals
	err := s.snapshot(ctx, func(t *tx) error {
		out = FigureTotals{}
		var st figureState
		if err := t.get(&st, figureStateSQL); err != nil {
			return err
		}
		out.CountedUntil = timeOf(st.Until).UTC()
		sums, err := t.pairTallies(st)
		if err != nil {
			return err
		}
		for k, sum := range sums {
			out.Rows = append(out.Rows, figureTotal(k, sum))
		}
		return nil
	})
	return out, err
}

// pairTallies adds up running totals and what is not counted ahead, by flow and destination.
func (t *tx) pairTallies(st figureState) (map[[2]string]*tally, error) {
	var rows []storedTotals
	if err := t.list(&rows, `SELECT s.part, s.flow, s.destination, t.until, array_to_json(t.totals)::text AS totals FROM figure_series s
		CROSS JOIN LATERAL (SELECT * FROM figure_totals y WHERE y.series = s.id ORDER BY y.until DESC LIMIT 1) t`); err != nil {
		return nil, err
	}
	facts, err := t.facts(latest(timeOf(st.Until), beginning), st.Now, nil)
	if err != nil {
		return nil, err
	}
	pairs := map[[2]string]bool{}
	for _, r := range rows {
		if r.Flow != everyFlow && r.Destination != "" {
			pairs[[2]string{r.Flow, r.Destination}] = true
		}
	}
	apart := len(pairs) <= figurePairs
	sums := map[[2]string]*tally{}
	at := func(flow, destination string) *tally {
		k := [2]string{flow, destination}
		switch {
		case flow == everyFlow:
			k = [2]string{}
		case !apart:
			k = [2]string{everyFlow, everyFlow}
		}
		if sums[k] == nil {
			sums[k] = &tally{}
		}
		return sums[k]
	}
	for _, r := range rows {
		incoming := r.Flow == everyFlow && r.Destination == everyFlow && r.Part == partCounts
		if r.Destination == "" || r.Flow == everyFlow && !incoming {
			continue
		}
		numbers, err := r.numbers()
		if err != nil {
			return nil, err
		}
		for i, n := range numbers {
			if !incoming || measure(i) == mEvents || measure(i) == mDeliveries {
				at(r.Flow, r.Destination).add(r.Part, i, n)
			}
		}
	}
	for _, f := range facts {
		if f.Destination != "" {
			part, place := f.Measure.place(f.Cell)
			at(f.Flow, f.Destination).add(part, place, f.N)
		}
	}
	return sums, nil
}

func figureTotal(k [2]string, sum *tally) FigureTotal {
	out := FigureTotal{Flow: k[0], Destination: k[1], Counts: map[string]int64{}, Unresolved: sum.get(mIntoDoubt) - sum.get(mOutOfDoubt), Times: map[operation.Figure][]int64{}}
	for word, m := range figureCounts {
		if incoming := m == mEvents || m == mDeliveries; incoming == (k == [2]string{}) {
			out.Counts[word] = sum.get(m)
		}
	}
	if k == [2]string{} {
		return out
	}
	for _, f := range []operation.Figure{operation.FigureApprovalDelay, operation.FigureInHand, operation.FigureActive} {
		out.Times[f] = make([]int64, partLen(durationPart(f)))
		copy(out.Times[f], sum[durationPart(f)])
	}
	return out
}
