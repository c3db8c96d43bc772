package store

import (
	"context"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// measureLimit measures what a limit watches, as of a moment.
func (s *Store) measureLimit(ctx context.Context, l LimitSettings, asOf time.Time) (operation.Measure, error) {
	span := time.Duration(l.SpanHours) * time.Hour
	if l.Source != "" {
		return s.measureSource(ctx, l, asOf.Add(-span), asOf)
	}
	var v FigureValue
	err := s.snapshot(ctx, func(t *tx) error {
		q := FigureQuery{Flow: l.Flow, Destination: l.Destination, From: asOf.Add(-span), To: asOf}
		b, err := t.figureBoard(figureScope{everyFlow: true, flow: l.Flow, destination: l.Destination}, q, l.Figure)
		v = b.Series[l.Figure].Total
		return err
	})
	return figureMeasure(l.Figure, v), err
}

// figureMeasure gives a figure's value as a limit judges it: of durations the median.
func figureMeasure(f operation.Figure, v FigureValue) operation.Measure {
	switch f.Kind() {
	case operation.KindRate:
		return operation.Measure{N: v.N, Of: v.Of, Rate: true}
	case operation.KindDuration:
		return operation.Measure{N: int64(v.Median / time.Second), Of: v.N}
	}
	return operation.Measure{N: v.N}
}

// measureSource counts what a source delivered. Notifications that were refused prove
// nothing about the source: anybody could have sent them.
func (s *Store) measureSource(ctx context.Context, l LimitSettings, from, to time.Time) (m operation.Measure, err error) {
	err = s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &m.N, `SELECT count(*) FROM unnest(ARRAY['accepted', 'repeated', 'conflict', 'held', 'ignored']) AS v
			JOIN deliveries d ON d.source = $1 AND d.verdict = v AND d.received_at >= $2 AND d.received_at < $3`, l.Source, from, to)
	})
	return m, err
}
