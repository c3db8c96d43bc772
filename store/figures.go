package store

import (
	"context"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// Figures are the open counts that an alarm may watch. Each is exact and comes from a
// partial index over what is open.
type Figures struct {
	Open    map[operation.State]int // operations that are not closed, by state; 0 where there is none
	Overdue map[string]int          // next decisions past their time, by who owes them: person, system
	Paused  map[string]int          // pauses in force, by scope: all, flow, destination, operation
}

// FindFigures counts what is open, overdue and paused.
func (s *Store) FindFigures(ctx context.Context) (Figures, error) {
	f := Figures{Open: map[operation.State]int{}, Overdue: map[string]int{"person": 0, "system": 0}, Paused: map[string]int{"all": 0, "flow": 0, "destination": 0, "operation": 0}}
	for _, st := range operation.States {
		if !st.Closed() {
			f.Open[st] = 0
		}
	}
	type count struct {
		Key string `db:"key"`
		N   int    `db:"n"`
	}
	var open, overdue, paused []count
	err := s.read(ctx, func(q *sqlx.DB) error {
		open, overdue, paused = nil, nil, nil
		if err := q.SelectContext(ctx, &open, `SELECT state AS key, count(*) AS n FROM operations
			WHERE state NOT IN `+closedStates+` GROUP BY state`); err != nil {
			return err
		}
		if err := q.SelectContext(ctx, &overdue, `SELECT 'person' AS key, count(*) AS n FROM operations WHERE next_kind <> '' AND NOT next_system AND next_at < now()
			UNION ALL SELECT 'system', count(*) FROM operations WHERE next_system AND next_at < now()`); err != nil {
			return err
		}
		return q.SelectContext(ctx, &paused, `SELECT subject_kind AS key, count(*) AS n FROM pauses WHERE resumed_at IS NULL GROUP BY subject_kind
			UNION ALL SELECT 'all', count(*) FROM installation WHERE paused_why <> ''`)
	})
	for _, c := range open {
		f.Open[operation.State(c.Key)] = c.N
	}
	for _, c := range overdue {
		f.Overdue[c.Key] = c.N
	}
	for _, c := range paused {
		f.Paused[c.Key] = c.N
	}
	return f, err
}

// AllPaused reports whether all sends are paused.
func (s *Store) AllPaused(ctx context.Context) (bool, error) {
	var paused bool
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &paused, `SELECT paused_why <> '' FROM installation`)
	})
	return paused, err
}
