package store

import (
	"context"
	"time"

	"holdpoint/operation"
)

// FigureQuery says of which operations and which time figures are asked for.
type FigureQuery struct {
	Flow        string // "" = every flow that the viewer may see
	Destination string // "" = every destination
	// From counts, To does not. A zero To is now. Both may lie anywhere within a day.
	From, To time.Time
	Step     operation.FigureStep // of the parts; "" = one part
	Zone     *time.Location       // in whose calendar steps begin; nil = UTC
}

// FigureValue is a figure in one stretch of time.
type FigureValue struct {
	// N is how many: of a count those within the stretch, of a level those at its end, of
	// a rate those that were such, of a duration the times that were measured.
	N int64
	// Of is how many a rate's N is of.
	Of int64
	// Median and P90 are of a duration: the times that half, and nine of ten, did not
	// exceed. Zero where N is.
	Median, P90 time.Duration
}

// Rate is N of Of as a part of one; 0 of 0 is 0.
func (v FigureValue) Rate() float64 {
	if v.Of == 0 {
		return 0
	}
	return float64(v.N) / float64(v.Of)
}

// FigurePart is a figure in one step of its span.
type FigurePart struct {
	From, To time.Time
	FigureValue
}

// FigureSeries is one figure over a span.
type FigureSeries struct {
	Figure      operation.Figure
	Kind        operation.FigureKind
	Destination string // that it is narrowed to, "" = none
	From, To    time.Time
	Total       FigureValue
	Parts       []FigurePart
	// Before is the figure in the stretch of the same length right before From.
	Before FigureValue
	// Exact is false where quantiles come from cells: they are within
	// operation.DurationWithin then.
	Exact bool
	// Now is the moment of the reading, by the database's clock.
	Now time.Time
	// CountedUntil is up to where the figure was counted ahead; what came later is
	// counted at the reading. Zero = nothing is counted ahead.
	CountedUntil time.Time
}

// FindSeries gives one figure as it stands now, of what the viewer may see. It is exact:
// what is not counted ahead yet is counted at once.
func (s *Store) FindSeries(ctx context.Context, viewer Actor, f operation.Figure, q FigureQuery) (FigureSeries, error) {
	if !f.Valid() || q.Destination != "" && !f.ByDestination() {
		return FigureSeries{}, ErrNotFound
	}
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return FigureSeries{}, err
	}
	var out FigureSeries
	err = s.snapshot(ctx, func(t *tx) error {
		b, err := t.figureBoard(scopeOf(v, q.Flow, q.Destination), q, f)
		if err == nil {
			out = b.Series[f]
		}
		return err
	})
	return out, err
}

// bounds gives the moments at which the figures of a query are read: the beginning of the
// stretch before, and those of the parts.
func (q *FigureQuery) bounds(now time.Time) []time.Time {
	if q.To.IsZero() {
		q.To = now
	}
	if q.Zone == nil {
		q.Zone = time.UTC
	}
	q.From, q.To = q.From.UTC().Truncate(time.Microsecond), q.To.UTC().Truncate(time.Microsecond)
	if q.From.Before(beginning) {
		q.From = beginning
	}
	if q.To.Before(q.From) {
		q.To = q.From
	}
	parts := []time.Time{q.From, q.To}
	if q.Step.Valid() {
		parts = operation.FigureSteps(q.From, q.To, q.Step, q.Zone)
	}
	out := []time.Time{q.before()}
	for _, at := range parts {
		out = append(out, at.UTC())
	}
	return out
}

// before is where the stretch of the same length before From begins. Whole days stay
// whole days of the reader's calendar, also where clocks were changed between.
func (q *FigureQuery) before() time.Time {
	from, to := q.From.In(q.Zone), q.To.In(q.Zone)
	if operation.StepDay.Floor(from).Equal(from) {
		days := 0
		for at := from; at.Before(to) && days < 3700; at = operation.StepDay.Next(at) {
			days++
		}
		y, m, d := from.Date()
		return operation.StepDay.Floor(time.Date(y, m, d-days, 12, 0, 0, 0, q.Zone)).UTC()
	}
	return q.From.Add(-q.To.Sub(q.From))
}

// value gives a figure between two bounds of a reading.
func figureValue(f operation.Figure, came, end *tally) FigureValue {
	switch f {
	case operation.FigureUnresolved:
		return FigureValue{N: end.get(mIntoDoubt) - end.get(mOutOfDoubt)}
	case operation.FigureDestinationErrors:
		return FigureValue{N: came.get(mRefused) + came.get(mUnknown), Of: came.get(mEnded)}
	case operation.FigureDuplicateRate:
		return FigureValue{N: came.get(mDuplicates), Of: came.get(mByDestination) + came.get(mByPerson)}
	case operation.FigureReexecutionErrors:
		return FigureValue{N: came.get(mReexecutionErr), Of: came.get(mReexecutions)}
	}
	if part := durationPart(f); part != partCounts {
		v := FigureValue{Median: operation.CellQuantile(came[part], 50), P90: operation.CellQuantile(came[part], 90)}
		for _, n := range came[part] {
			v.N += n
		}
		return v
	}
	return FigureValue{N: came.get(counted[f])}
}

// counted are the figures that are one measure each.
var counted = map[operation.Figure]measure{
	operation.FigureEvents: mEvents, operation.FigureDeliveries: mDeliveries, operation.FigureAttempts: mAttempts,
	operation.FigureEffectsDestination: mByDestination, operation.FigureEffectsPerson: mByPerson, operation.FigureUnresolvedOccurred: mIntoDoubt,
	operation.FigureDuplicatesSuspected: mSuspected, operation.FigureDuplicatesConfirmed: mDuplicates, operation.FigureKeyReuse: mKeyReuse,
	operation.FigureAdopted: mAdopted,
}
