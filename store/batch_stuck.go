package store

import (
	"context"
	"errors"

	"holdpoint/operation"
	"holdpoint/operation/definition"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// What one sweep looks at and moves at most. Batches and the place from which their items are
// looked at are drawn by lot, so that those which rightly wait hide no others for long.
const (
	stuckBatches = 100
	stuckLook    = 2000 // waiting items of one batch
	stuckItems   = 500  // that it lets go, of all batches
)

// waitingBatch is a batch of which some items are in the state waiting.
type waitingBatch struct {
	ID          operation.BatchID `db:"id"`
	Flow        string            `db:"flow"`
	FlowVersion int               `db:"flow_version"`
	Stage       string            `db:"stage"`
	RunID       operation.RunID   `db:"run_id"`
	From        int               `db:"place"`
}

// stuckSQL finds waiting items of the batch $1, of the run $2, that nothing keeps waiting: in
// each stage whose same item they wait for ($3, and in $4 whether it is enough that every
// item is closed), that item came to what is needed, or the owner lets the run go on. It
// looks at $6 items from place $5 on, and gives $7 at most.
const stuckSQL = `WITH w AS ((SELECT id, item_key, batch_no FROM operations WHERE batch_id = $1 AND state = 'waiting' AND batch_no >= $5 ORDER BY batch_no LIMIT $6)
	UNION ALL (SELECT id, item_key, batch_no FROM operations WHERE batch_id = $1 AND state = 'waiting' AND batch_no < $5 ORDER BY batch_no LIMIT $6))
	SELECT w.id FROM w WHERE NOT EXISTS (SELECT 1 FROM unnest(CAST($3 AS text[]), CAST($4 AS boolean[])) AS f (stage, closed)
		WHERE NOT EXISTS (SELECT 1 FROM stage_waivers x WHERE x.run_id = $2 AND x.stage = f.stage)
		AND CASE WHEN f.closed THEN EXISTS (SELECT 1 FROM operations e WHERE e.run_id = $2 AND e.stage = f.stage AND e.item_key = w.item_key AND e.state IN ` + openStates + `)
			ELSE EXISTS (SELECT 1 FROM operations e WHERE e.run_id = $2 AND e.stage = f.stage AND e.item_key = w.item_key)
				AND NOT EXISTS (SELECT 1 FROM operations e WHERE e.run_id = $2 AND e.stage = f.stage AND e.item_key = w.item_key AND e.state = 'confirmed') END)
	ORDER BY w.batch_no LIMIT $7`

// sweepStuckItems lets items of batches go that wait although nothing keeps them: whoever let
// the stage before go did not let them go with it. The rule is the one of stageClosed; the
// gate still holds what needs a whole stage. It gives how many it moved.
func (s *Store) sweepStuckItems(ctx context.Context, a Actor) (int, error) {
	var batches []waitingBatch
	err := s.read(ctx, func(q *sqlx.DB) error {
		batches = nil
		return q.SelectContext(ctx, &batches, `SELECT b.id, b.flow, b.flow_version, b.stage, b.run_id, CAST(floor(random() * (b.total + 1)) AS int) AS place
			FROM batch_counts c JOIN batches b ON b.id = c.batch_id WHERE c.state = 'waiting' AND c.n > 0 AND b.stopped_at IS NULL ORDER BY random() LIMIT $1`, stuckBatches)
	})
	n := 0
	for _, b := range batches {
		if n == stuckItems || ctx.Err() != nil {
			break
		}
		k, e := s.sweepStuckBatch(ctx, a, b, stuckItems-n)
		n, err = n+k, errors.Join(err, e)
	}
	return n, err
}

func (s *Store) sweepStuckBatch(ctx context.Context, a Actor, b waitingBatch, limit int) (int, error) {
	var ids []operation.ID
	err := s.read(ctx, func(q *sqlx.DB) error {
		ids = nil
		f, err := s.flowVersion(ctx, q, b.Flow, b.FlowVersion)
		if err != nil {
			return err
		}
		stages, closed := followed(f, b.Stage), []bool{}
		for _, key := range stages {
			st, _ := stageOf(f, key)
			closed = append(closed, st.SatisfiedBy == definition.SatisfiedEveryClosed)
		}
		return q.SelectContext(ctx, &ids, stuckSQL, string(b.ID), string(b.RunID), pq.Array(stages), pq.Array(closed), b.From, stuckLook, limit)
	})
	if err != nil {
		return 0, err
	}
	return sweepIDs(ids, func(id operation.ID) (moved bool, err error) {
		err = s.change(ctx, a, id, func(u *unit) error {
			moved = false
			rows, err := u.stageRows()
			if err != nil || u.op.State != operation.Waiting || len(waitsFor(u.flow, u.op, rows)) > 0 {
				return errors.Join(err, errDone)
			}
			moved = true
			return u.move(u.op, operation.EvClear, "", "batch", string(b.ID))
		})
		return moved, err
	})
}
