package store

import (
	"context"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
	"github.com/riverqueue/river"
)

// Due is an operation whose next attempt is due and which nobody has taken yet.
type Due struct {
	Operation   operation.ID `db:"id"`
	Destination string       `db:"destination"`
	Revision    int64        `db:"revision"`
}

// DueCursor is how far a sweep has looked, by due time and ID; zero is the beginning.
type DueCursor struct {
	At time.Time
	ID operation.ID
}

// dueSQL looks at one window of due system decisions. What is paused is in the window
// but not in the answer, so that many paused operations cost a bounded time and do not
// hide the others behind them. Items of a batch that goes out are left to its runner.
const dueSQL = `WITH w AS MATERIALIZED (
	SELECT o.id, o.run_id, o.flow, o.destination, o.revision, o.paused, o.state, o.retry_at, o.next_at, o.batch_id FROM operations o
	WHERE o.next_system AND o.next_at <= clock_timestamp() AND (o.next_at, o.id) > ($1, $2) ORDER BY o.next_at, o.id LIMIT $3)
SELECT w.id, w.destination, w.revision, w.next_at,
	NOT w.paused AND NOT r.held AND NOT COALESCE(f.paused, false) AND NOT d.paused AND i.paused_why = ''
	AND (w.batch_id IS NULL OR w.state = 'unknown' OR NOT EXISTS (SELECT 1 FROM batches b WHERE b.id = w.batch_id AND b.state IN ('canary', 'running')))
	AND (w.state = 'ready' AND w.next_at <= clock_timestamp() - make_interval(secs => $4)
		OR w.state IN ('retry_scheduled', 'unknown') AND COALESCE(w.retry_at <= clock_timestamp(), false)) AS wake
FROM w JOIN runs r ON r.id = w.run_id JOIN destinations d ON d.name = w.destination LEFT JOIN flows f ON f.name = w.flow CROSS JOIN installation i
ORDER BY w.next_at, w.id`

// DueOperations gives the operations of the next window whose attempt is due: ready for
// longer than grace, or a planned retry whose time has come. The returned cursor goes on
// from there; it is zero when the end was reached. It reads only.
func (s *Store) DueOperations(ctx context.Context, from DueCursor, limit int, grace time.Duration) ([]Due, DueCursor, error) {
	var rows []struct {
		Due
		NextAt time.Time `db:"next_at"`
		Wake   bool      `db:"wake"`
	}
	err := s.read(ctx, func(q *sqlx.DB) error {
		rows = nil
		return q.SelectContext(ctx, &rows, dueSQL, from.At, string(from.ID), limit, grace.Seconds())
	})
	if err != nil {
		return nil, DueCursor{}, err
	}
	var due []Due
	for _, r := range rows {
		if r.Wake {
			due = append(due, r.Due)
		}
	}
	if len(rows) < limit {
		return due, DueCursor{}, nil
	}
	last := rows[len(rows)-1]
	return due, DueCursor{last.NextAt, last.Operation}, nil
}

// rewakeEvery is how often the sweeps wake the same operation again at most.
const rewakeEvery = 10 * time.Second

// InsertWakes inserts wake-ups for what sweeps have found. The same operation is woken
// again at most every ten seconds, however many processes sweep. It returns how many
// were inserted.
func (s *Store) InsertWakes(ctx context.Context, attempts []Due, lookups []operation.ID) (int, error) {
	if len(attempts)+len(lookups) == 0 {
		return 0, nil
	}
	once := river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true, ByPeriod: rewakeEvery}}
	var params []river.InsertManyParams
	for _, d := range attempts {
		params = append(params, river.InsertManyParams{Args: ExecuteArgs(d), InsertOpts: &once})
	}
	for _, id := range lookups {
		params = append(params, river.InsertManyParams{Args: LookupArgs{Operation: id}, InsertOpts: &once})
	}
	n := 0
	err := s.write(ctx, func(t *tx) error {
		n = 0
		out, err := s.river.InsertManyTx(ctx, t.Tx.Tx, params)
		for _, r := range out {
			if !r.UniqueSkippedAsDuplicate {
				n++
			}
		}
		return err
	})
	return n, err
}
