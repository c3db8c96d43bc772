package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jmoiron/sqlx"
)

// nudger tells listening workers, after a commit, that a queue has work. The wake-up
// itself is a row of the decision's transaction; this is only a hint. A notification
// inside the transaction would hold PostgreSQL's one notification lock until the commit
// is on disk, and let all commits with a wake-up wait in a line. A lost hint costs the
// workers' poll interval, at most a second.
type nudger struct {
	cancel context.CancelFunc
	queues map[string]chan struct{}
	live   chan struct{} // for open pages, see Hint
}

// nudgeEvery is how close two hints for one queue may follow each other: many decisions
// in that time are one hint.
const nudgeEvery = 2 * time.Millisecond

func (s *Store) startNudger() {
	ctx, cancel := context.WithCancel(context.Background())
	s.nudges = nudger{cancel: cancel, queues: map[string]chan struct{}{}, live: make(chan struct{}, 1)}
	go s.hint(ctx)
	for _, q := range []string{QueueEffects, QueueLookups} {
		ch := make(chan struct{}, 1)
		s.nudges.queues[q] = ch
		go s.nudge(ctx, q, ch)
	}
}

func (s *Store) nudge(ctx context.Context, queue string, asked <-chan struct{}) {
	payload, _ := json.Marshal(map[string]string{"queue": queue}) // a string always encodes
	for {
		select {
		case <-ctx.Done():
			return
		case <-asked:
		}
		err := s.read(ctx, func(q *sqlx.DB) error {
			var done string
			return q.GetContext(ctx, &done, `SELECT CAST(pg_notify(concat(current_schema(), '.river_insert'), CAST(CAST($1 AS jsonb) AS text)) AS text)`, string(payload))
		})
		if err != nil && ctx.Err() == nil {
			s.log.Warn("workers were not told of new work; they poll", "queue", queue, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(nudgeEvery):
		}
	}
}

// nudgeFor hints at the queues of the jobs that a committed decision has made due.
func (s *Store) nudgeFor(jobs []map[string]any) {
	for _, j := range jobs {
		if j["scheduled_at"] != nil {
			continue
		}
		queue, _ := j["queue"].(string)
		select {
		case s.nudges.queues[queue] <- struct{}{}:
		default: // one is on its way
		}
	}
}
