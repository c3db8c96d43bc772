package store

import (
	"context"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// RunningBatch is a batch that a runner has to look after.
type RunningBatch struct {
	ID          operation.BatchID `db:"id"`
	Destination string            `db:"destination"`
	Stopped     bool              `db:"stopped"`
	Paused      bool              `db:"paused"`
}

// RunningBatches lists the batches whose items go out, or are given up. It reads only.
func (s *Store) RunningBatches(ctx context.Context) ([]RunningBatch, error) {
	var rows []RunningBatch
	err := s.read(ctx, func(q *sqlx.DB) error {
		rows = nil
		return q.SelectContext(ctx, &rows, `SELECT id, destination, stopped_at IS NOT NULL AS stopped, paused_at IS NOT NULL AS paused FROM batches
			WHERE state IN ('canary', 'running') OR state = 'canary_review' AND stopped_at IS NOT NULL ORDER BY id`)
	})
	return rows, err
}

// giveUpSQL locks operations of the stopped batch $1 of which nothing was sent, at most $2.
var giveUpSQL = `WITH l AS MATERIALIZED (SELECT ` + opColumns + ` FROM operations o WHERE o.batch_id = $1 AND o.state IN ('ready', 'retry_scheduled', 'waiting', 'pending_approval', 'draft')
		AND o.unsettled = 0 AND NOT o.stated AND NOT o.disputed AND o.request_id IS NULL ORDER BY o.batch_no LIMIT $2 FOR UPDATE SKIP LOCKED)
	SELECT l.*, ` + groupFacts + ` FROM l` + groupFrom

// GiveUpGroup cancels operations of a stopped batch that were released and of which nothing
// was sent, at most n, in one transaction. It gives how many it cancelled.
func (s *Store) GiveUpGroup(ctx context.Context, a Actor, id operation.BatchID, n int) (int, error) {
	cancelled := 0
	_, err := s.group(ctx, a, id, func(g *group) error {
		cancelled = 0
		if !g.Stopped() {
			return nil
		}
		var rows []groupRow
		if err := g.list(&rows, giveUpSQL, string(g.ID), n); err != nil {
			return err
		}
		now := latestOf(rows)
		for i := range rows {
			u, err := g.member(&rows[i], now)
			if err != nil {
				return err
			}
			if err := u.giveUp(g.StoppedWhy, string(operation.CodeBatchStopped)); err != nil {
				return err
			}
			g.units = append(g.units, u)
			cancelled++
		}
		return nil
	})
	return cancelled, err
}
