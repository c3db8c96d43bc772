package store

import (
	"context"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// NoticeSeen is one notice in a person's own list.
type NoticeSeen struct {
	ID        operation.NoticeID   `db:"id"`
	Kind      operation.NoticeKind `db:"kind"`
	Step      int                  `db:"step"`
	Subject   string               `db:"subject"`
	Flow      string               `db:"flow"`
	Title     string               `db:"title"`
	Channel   string               `db:"channel"`
	State     string               `db:"state"` // planned, sent, unknown, failed, superseded
	Bundle    bool                 `db:"bundled"`
	Attempts  int                  `db:"attempts"`
	Planned   time.Time            `db:"planned_for"`
	Created   time.Time            `db:"created_at"`
	Sent      *time.Time           `db:"sent_at"`
	LastError string               `db:"last_error"`
	FlowTitle map[string]string    `db:"-"`
}

// noticesShown bounds a person's list.
const noticesShown = 50

// ListNotices lists the newest notices to the acting person, whatever became of them.
// What belongs to a flow that they may not see now is left out.
func (s *Store) ListNotices(ctx context.Context, a Actor) ([]NoticeSeen, error) {
	v, err := s.FindViewer(ctx, a)
	if err != nil {
		return nil, err
	}
	var rows []NoticeSeen
	err = s.read(ctx, func(q *sqlx.DB) error {
		rows = nil
		return q.SelectContext(ctx, &rows, `SELECT id, kind, step, subject, flow, title, channel, state, bundle <> '' AS bundled, attempts, planned_for, created_at, sent_at, last_error
			FROM notices WHERE user_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2`, a.ID, noticesShown)
	})
	if err != nil {
		return nil, err
	}
	out := rows[:0]
	titles := map[string]map[string]string{}
	for _, n := range rows {
		if n.Flow != "" && !v.Sees(n.Flow, "") {
			continue
		}
		if _, known := titles[n.Flow]; n.Flow != "" && !known {
			f, _, err := s.Flow(ctx, n.Flow)
			if err != nil {
				return nil, err
			}
			titles[n.Flow] = f.Title
		}
		n.FlowTitle = titles[n.Flow]
		out = append(out, n)
	}
	return out, nil
}

// WaitingNotices counts what is not sent yet, by channel: due, or tried in vain.
func (s *Store) WaitingNotices(ctx context.Context) (map[string]int, error) {
	out := map[string]int{}
	for c := range noticeQueues {
		out[c] = 0
	}
	var rows []struct {
		Channel string `db:"channel"`
		N       int    `db:"n"`
	}
	err := s.read(ctx, func(q *sqlx.DB) error {
		rows = nil
		return q.SelectContext(ctx, &rows, `SELECT channel, count(*) AS n FROM notices WHERE state IN ('planned', 'unknown') AND (planned_for <= clock_timestamp() OR attempts > 0) GROUP BY channel`)
	})
	for _, r := range rows {
		out[r.Channel] = r.N
	}
	return out, err
}

// noticesKept is how long notices are kept after they were recorded.
const noticesKept = "180 days"

// DeleteOldNotices removes notices that are over and older than half a year, some
// thousand at a time. What people decided stands in the history, not here.
func (s *Store) DeleteOldNotices(ctx context.Context) (int64, error) {
	var n int64
	err := s.write(ctx, func(t *tx) error {
		var err error
		n, err = t.exec(`DELETE FROM notices WHERE id IN (SELECT id FROM notices WHERE created_at < clock_timestamp() - CAST($1 AS interval)
			AND state NOT IN ('planned', 'unknown') AND NOT live ORDER BY created_at LIMIT 5000)`, noticesKept)
		return err
	})
	return n, err
}
