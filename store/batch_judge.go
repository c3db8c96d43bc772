package store

import (
	"context"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// JudgeBatch looks at what the newest attempts of a batch came to since it last went on, and
// pauses it when more of them are bad than its flow permits. It gives the limit that was
// passed; none is when it goes on, or is paused or stopped already.
func (s *Store) JudgeBatch(ctx context.Context, a Actor, id operation.BatchID) (operation.BatchAlarm, error) {
	alarm, revision, err := s.batchAlarm(ctx, id)
	if err != nil || alarm.Kind == "" {
		return alarm, err
	}
	why := alarm.Reason()
	paused := false
	err = s.changeBatch(ctx, a, id, true, nil, func(c *batchChange) error {
		// What somebody decided meanwhile, a pause and its end above all, is judged anew.
		if paused = c.b.Revision == revision && !c.b.Paused() && !c.b.Stopped() && c.b.State.Cleared(); !paused {
			return errDone
		}
		c.pauseBatch(why, alarm.Kind)
		return c.note("pause", why, "limit", alarm.Kind)
	})
	if err != nil || !paused {
		return operation.BatchAlarm{}, err
	}
	s.Hint()
	return alarm, nil
}

// resumedSQL is when the batch $1 last went on after a pause.
const resumedSQL = `COALESCE((SELECT max(h.at) FROM history h WHERE h.subject_kind = 'batch' AND h.subject_id = $1 AND h.action = 'resume'), '-infinity')`

// batchAlarm judges the newest marks, and the bounces of what was sent, since the batch last
// went on. It gives the revision of the batch that it looked at.
func (s *Store) batchAlarm(ctx context.Context, id operation.BatchID) (operation.BatchAlarm, int64, error) {
	var b Batch
	var marks []operation.BatchMark
	var bounced int
	limits := operation.DefaultBatchLimits
	err := s.read(ctx, func(q *sqlx.DB) error {
		marks = nil
		if err := q.GetContext(ctx, &b, `SELECT `+batchColumns+` FROM batches b WHERE b.id = $1`, string(id)); err != nil {
			return err
		}
		if b.Paused() || b.Stopped() || !b.State.Cleared() {
			return nil
		}
		f, err := s.flowVersion(ctx, q, b.Flow, b.FlowVersion)
		if err != nil {
			return err
		}
		if st, ok := stageOf(f, b.Stage); ok && st.ForEach != nil {
			limits = st.ForEach.PauseWhen
		}
		if err := q.SelectContext(ctx, &marks, `SELECT confirmed, not_started AS notstarted, unknown FROM batch_marks WHERE batch_id = $1 AND at > `+resumedSQL+` ORDER BY id DESC LIMIT $2`, string(id), limits.Last); err != nil {
			return err
		}
		return q.GetContext(ctx, &bounced, `SELECT count(*) FILTER (WHERE delivery IN ('bounced', 'complained', 'dropped') AND last_dispatch > `+resumedSQL+`) FROM (SELECT delivery, last_dispatch FROM operations
			WHERE batch_id = $1 AND state = 'confirmed' ORDER BY batch_no DESC LIMIT $2) o`, string(id), limits.Last)
	})
	if err != nil || b.Paused() || b.Stopped() || !b.State.Cleared() {
		return operation.BatchAlarm{}, b.Revision, err
	}
	return operation.JudgeWindow(marks, bounced, limits), b.Revision, nil
}

// BatchBacklog gives how many operations of a batch are ready, at most limit: whether more of
// it is to be released.
func (s *Store) BatchBacklog(ctx context.Context, id operation.BatchID, limit int) (int, error) {
	n := 0
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &n, `SELECT count(*) FROM (SELECT 1 FROM operations o WHERE `+inBatch(operation.Ready)+` LIMIT $2) o`, string(id), limit)
	})
	return n, err
}
