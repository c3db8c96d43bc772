package store

import (
	"context"
	"errors"
	"time"

	"holdpoint/operation"
)

// SilenceTitle says in one line of a language that a source is silent: the title of the
// task. The record itself speaks none.
type SilenceTitle func(i SourceState, language string) string

// silenceDue is how long the task about a silent source has.
const silenceDue = 24 * time.Hour

// SweepSilentSources opens a task for the ops owners about each source that has been
// silent for longer than its file says, and notes the end of silences. One silence is one
// task. It returns how many silences began.
func (s *Store) SweepSilentSources(ctx context.Context, title SilenceTitle) (int, error) {
	items, err := s.ListSourceStates(ctx)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, i := range items {
		var e error
		switch {
		case i.Silence != nil && (!i.Silent() || !i.SilentSince().Equal(i.Silence.Since.UTC())):
			e = s.endSilence(ctx, i.Source.Name)
		case i.Silence == nil && i.Silent():
			e = s.openSilence(ctx, i, title)
			if e == nil {
				n++
			}
		}
		err = errors.Join(err, e)
	}
	return n, err
}

func (s *Store) endSilence(ctx context.Context, source string) error {
	return s.write(ctx, func(t *tx) error {
		_, err := t.exec(`UPDATE source_silences SET ended_at = clock_timestamp() WHERE source = $1 AND ended_at IS NULL`, source)
		return err
	})
}

func (s *Store) openSilence(ctx context.Context, i SourceState, title SilenceTitle) error {
	triggered, err := s.TriggeredFlows(ctx, i.Source.Name)
	if err != nil {
		return err
	}
	var flows []string
	for _, f := range triggered {
		flows = append(flows, f.Name)
	}
	return s.write(ctx, func(t *tx) error {
		now := i.Now.UTC().Truncate(time.Microsecond)
		if _, err := t.exec(`SELECT pg_advisory_xact_lock(hashtextextended($1, 28))`, i.Source.Name); err != nil {
			return err
		}
		var there bool
		if err := t.get(&there, `SELECT EXISTS (SELECT 1 FROM source_silences WHERE source = $1 AND (ended_at IS NULL OR since = $2))`, i.Source.Name, i.SilentSince()); err != nil || there {
			return orDone(err)
		}
		var language string
		if err := t.get(&language, `SELECT COALESCE((SELECT u.locale FROM users u JOIN user_roles r ON r.user_id = u.id WHERE u.active AND r.role = $1
			GROUP BY u.locale ORDER BY count(DISTINCT u.id) DESC, u.locale LIMIT 1), '')`, string(operation.RoleOpsOwner)); err != nil {
			return err
		}
		task, err := t.addTask(System("job"), now, NewTask{Title: title(i, language), OwnerRole: operation.RoleOpsOwner, Due: now.Add(silenceDue), Flows: flows})
		if err != nil {
			return err
		}
		_, err = t.exec(`INSERT INTO source_silences (source, since, task_id, opened_at) VALUES ($1, $2, $3, $4)`, i.Source.Name, i.SilentSince(), string(task), now)
		return err
	})
}
