package store

import (
	"context"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// RestoreBatch is a batch that was open in a restored database: rows of it may have gone out
// in the time that was lost, and would go out again.
type RestoreBatch struct {
	ID          operation.BatchID    `db:"id"`
	Title       string               `db:"title"`
	Flow        string               `db:"flow"`
	Destination string               `db:"destination"`
	Was         operation.BatchState `db:"was"`      // at the restored point
	State       operation.BatchState `db:"state"`    // now
	Included    int                  `db:"included"` // rows that are to go out
	Released    int                  `db:"released"` // rows that are operations here
	Settled     string               `db:"settled"`  // "" = open, "over" = nothing more of it can go out, "compared"
	SettledAt   *time.Time           `db:"settled_at"`
	SettledBy   string               `db:"settled_by"`
	Reason      string               `db:"reason"`
}

// goesOn are the batches of which rows can still go out.
const goesOn = `b.state NOT IN ('closed', 'rejected', 'cancelled') AND b.stopped_at IS NULL`

// listRestoredBatches lists what was open at the restored point.
func (t *tx) listRestoredBatches(restore string) error {
	_, err := t.exec(`INSERT INTO restore_batches (restore_id, batch_id, state) SELECT $1, b.id, b.state FROM batches b WHERE `+goesOn+` ON CONFLICT DO NOTHING`, restore)
	return err
}

// refreshRestoredBatches adds batches of events that were sent again, and settles those
// that are over.
func (t *tx) refreshRestoredBatches(restore string, now time.Time) error {
	if _, err := t.exec(`INSERT INTO restore_batches (restore_id, batch_id, state)
		SELECT r.id, b.id, b.state FROM restores r JOIN batches b ON b.created_at >= r.found_at JOIN event_runs e ON e.run_id = b.run_id JOIN events v ON v.id = e.event_id
		WHERE r.id = $1 AND r.ended_at IS NULL AND r.why IN ('witness_older', 'witness_checkpoint') AND `+ofLostTime+` AND `+goesOn+` ON CONFLICT DO NOTHING`, restore); err != nil {
		return err
	}
	return t.settleRestoredBatches(restore, now)
}

func (t *tx) settleRestoredBatches(restore string, now time.Time) error {
	_, err := t.exec(`UPDATE restore_batches i SET settled = 'over', settled_at = $2, settled_by = 'system' FROM batches b
		WHERE i.restore_id = $1 AND b.id = i.batch_id AND i.settled_at IS NULL AND NOT (`+goesOn+`)`, restore, now)
	return err
}

// ListRestoredBatches gives the listed batches that the viewer may see, at most limit.
func (s *Store) ListRestoredBatches(ctx context.Context, viewer Actor, restore string, open bool, limit int) ([]RestoreBatch, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	all, flows := v.seenFlows()
	var out []RestoreBatch
	err = s.read(ctx, func(q *sqlx.DB) error {
		out = nil
		return q.SelectContext(ctx, &out, `SELECT b.id, b.title, b.flow, b.destination, i.state AS was, b.state, b.included, b.released,
			COALESCE(i.settled, '') AS settled, i.settled_at, COALESCE(i.settled_by, '') AS settled_by, i.reason
			FROM restore_batches i JOIN batches b ON b.id = i.batch_id WHERE i.restore_id = $1 AND (NOT $2 OR i.settled_at IS NULL) AND ($3 OR b.flow = ANY($4)) ORDER BY b.id LIMIT $5`,
			restore, open, all, pq.Array(flows), limit)
	})
	return out, err
}

// CompareRestoredBatch records that a person compared one listed batch with its destination's
// own record. It decides nothing: a batch whose rows have gone out is stopped or cancelled.
func (s *Store) CompareRestoredBatch(ctx context.Context, a Actor, restore string, id operation.BatchID, reason string) error {
	reason, err := reasonGiven(reason)
	if err != nil {
		return err
	}
	return s.changeBatch(ctx, a, id, false, nil, func(c *batchChange) error {
		if err := c.mayBe(a, c.b.Flow, operation.RoleOpsOwner, operation.RoleAdmin); err != nil {
			return err
		}
		n, err := c.exec(`UPDATE restore_batches i SET settled = 'compared', settled_at = $3, settled_by = $4, reason = $5 FROM restores r
			WHERE r.id = i.restore_id AND r.ended_at IS NULL AND i.restore_id = $1 AND i.batch_id = $2 AND i.settled_at IS NULL`, restore, string(id), c.now, a.ID, reason)
		if err != nil {
			return err
		}
		if n == 0 {
			return errDone // settled meanwhile, or not listed
		}
		return c.note("restore_compared", reason, "restore", restore)
	})
}
