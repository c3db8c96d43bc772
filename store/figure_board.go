package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"holdpoint/operation"
)

// FigureBoard is all figures of a span, read at one moment.
type FigureBoard struct {
	Query  FigureQuery // with its bounds as they were taken
	Series map[operation.Figure]FigureSeries
	// Errors are the error rates of each destination, by name.
	Errors       []FigureSeries
	Now          time.Time
	CountedUntil time.Time
}

// FindFigureBoard reads all figures of what the viewer may see.
func (s *Store) FindFigureBoard(ctx context.Context, viewer Actor, q FigureQuery) (*FigureBoard, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	var out *FigureBoard
	err = s.snapshot(ctx, func(t *tx) error {
		var err error
		out, err = t.figureBoard(scopeOf(v, q.Flow, q.Destination), q, operation.Figures...)
		return err
	})
	return out, err
}

func (t *tx) figureBoard(c figureScope, q FigureQuery, figures ...operation.Figure) (*FigureBoard, error) {
	now, err := t.clock()
	if err != nil {
		return nil, err
	}
	bounds := q.bounds(now)
	r, err := t.readFigures(c, bounds, slices.Contains(figures, operation.FigureDestinationErrors))
	if err != nil {
		return nil, err
	}
	b := &FigureBoard{Query: q, Series: map[operation.Figure]FigureSeries{}, Now: now, CountedUntil: r.CountedUntil}
	for _, f := range figures {
		if q.Destination != "" && !f.ByDestination() {
			continue
		}
		series := r.series(of(f, c), r.sum)
		series.Figure, series.Destination = f, q.Destination
		if f.Kind() == operation.KindDuration {
			if err := t.exactTimes(c, &series, bounds[0]); err != nil {
				return nil, err
			}
		}
		b.Series[f] = series
	}
	for name, at := range r.each {
		series := r.series(figureOf{f: operation.FigureDestinationErrors}, at)
		series.Destination = name
		b.Errors = append(b.Errors, series)
	}
	slices.SortFunc(b.Errors, func(x, y FigureSeries) int { return strings.Compare(x.Destination, y.Destination) })
	return b, nil
}

// figureOf is a figure as one scope counts it.
type figureOf struct {
	f       operation.Figure
	measure measure // in place of the usual one, with narrow
	narrow  bool
}

// of says how a scope counts a figure: what came in, in a narrowed one, by what reached
// its flows.
func of(f operation.Figure, c figureScope) figureOf {
	switch {
	case c.whole():
	case f == operation.FigureEvents:
		return figureOf{f, mReached, true}
	case f == operation.FigureDeliveries:
		return figureOf{f, mBrought, true}
	}
	return figureOf{f: f}
}

func (o figureOf) value(came, end *tally) FigureValue {
	if o.narrow {
		return FigureValue{N: came.get(o.measure)}
	}
	return figureValue(o.f, came, end)
}

// series makes the values of one figure out of what had been counted at the bounds: the
// first is that of the stretch before.
func (r *figureReading) series(o figureOf, at []tally) FigureSeries {
	last := len(r.bounds) - 1
	came, earlier := between(&at[1], &at[last]), between(&at[0], &at[1])
	out := FigureSeries{Figure: o.f, Kind: o.f.Kind(), From: r.bounds[1], To: r.bounds[last], Total: o.value(&came, &at[last]), Before: o.value(&earlier, &at[1]),
		Exact: true, Now: r.Now, CountedUntil: r.CountedUntil}
	for i := 1; i < last; i++ {
		part := between(&at[i], &at[i+1])
		out.Parts = append(out.Parts, FigurePart{From: r.bounds[i], To: r.bounds[i+1], FigureValue: o.value(&part, &at[i+1])})
	}
	return out
}
