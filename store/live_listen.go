package store

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// liveChannel is where processes are told that people have decided something. The
// notification holds nothing: what has changed is read from the history.
const liveChannel = "holdpoint_live"

// liveEvery is how close two notifications of one process may follow each other. Many
// decisions in that time are one: bulk steps and a busy gate pay for ten a second.
const liveEvery = 100 * time.Millisecond

// Hint tells all processes with open pages that a person has decided something, or that
// sessions have ended. It follows the commit: inside the transaction it would let all
// commits wait in a line. A lost hint costs a page the interval of the poll.
func (s *Store) Hint() {
	select {
	case s.nudges.live <- struct{}{}:
	default: // one is on its way
	}
}

// hint sends what Hint asked for.
func (s *Store) hint(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.nudges.live:
		}
		err := s.read(ctx, func(q *sqlx.DB) error {
			var done string
			return q.GetContext(ctx, &done, `SELECT CAST(pg_notify('`+liveChannel+`', '') AS text)`)
		})
		if err != nil && ctx.Err() == nil {
			s.log.Warn("open pages were not told of a change; they learn of it by the poll", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(liveEvery):
		}
	}
}

// pingEvery finds a listening connection that is dead without a word.
const pingEvery = 45 * time.Second

// Listen calls hinted for each hint of any process, and after the listening connection
// was lost and made again: what was said meanwhile was not heard. hinted must return at
// once. It ends with the context.
func (s *Store) Listen(ctx context.Context, hinted func()) {
	l := pq.NewListener(s.url, 200*time.Millisecond, 15*time.Second, func(e pq.ListenerEventType, err error) {
		if err != nil && ctx.Err() == nil {
			s.log.Warn("pages are told of changes by the poll until the database can be listened to", "error", err)
		}
	})
	go func() { // Listen and Ping may wait for the server without an end: nothing waits for them
		_ = l.Listen(liveChannel) // it goes on by itself after a failure
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-time.After(pingEvery):
				_ = l.Ping()
			}
		}
	}()
	defer func() { go func() { _ = l.Close() }() }()
	for {
		select {
		case <-ctx.Done():
			return
		case _, open := <-l.NotificationChannel(): // nil after a lost connection
			if !open {
				return
			}
			hinted()
		}
	}
}
