package store

import (
	"context"
	"errors"
	"slices"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// replacesItem is the condition that an operation r replaces the item o of a batch, or what
// replaced it.
const replacesItem = `r.run_id = o.run_id AND r.stage = o.stage AND r.item_key = o.item_key AND r.replacement > 0`

// progressSQL locks the batch $1 and tells how far it is: whether an operation of it is open,
// or a replacement of one that was closed without effect, and whether one of those has no
// confirmed replacement.
const progressSQL = `WITH l AS MATERIALIZED (SELECT * FROM batches WHERE id = $1 FOR NO KEY UPDATE)
	SELECT l.released, l.cleared, l.total, l.state, l.satisfied, EXISTS (SELECT 1 FROM operations o WHERE o.batch_id = l.id AND o.state IN ` + openStates + `) AS open,
	EXISTS (SELECT 1 FROM operations o WHERE o.batch_id = l.id AND o.state IN ('rejected', 'cancelled', 'not_executed')
		AND EXISTS (SELECT 1 FROM operations r WHERE ` + replacesItem + ` AND r.state IN ` + openStates + `)) AS replacing,
	EXISTS (SELECT 1 FROM operations o WHERE o.batch_id = l.id AND o.state IN ('rejected', 'cancelled', 'not_executed')
		AND NOT EXISTS (SELECT 1 FROM operations r WHERE ` + replacesItem + ` AND r.state = 'confirmed')) AS without
	FROM l`

// progress is how far a batch is.
type progress struct {
	Released  int                  `db:"released"`
	Cleared   int                  `db:"cleared"`
	Total     int                  `db:"total"`
	State     operation.BatchState `db:"state"`
	Satisfied bool                 `db:"satisfied"`
	Open      bool                 `db:"open"`
	Replacing bool                 `db:"replacing"`
	Without   bool                 `db:"without"`
}

// AdvanceBatch moves a batch to its next state when its operations let it: from the canary to
// people's look at it, and to its end when everything is closed. It says whether its stage
// is satisfied, gives the run its state, and lets later stages go. It gives the batch's state.
func (s *Store) AdvanceBatch(ctx context.Context, a Actor, id operation.BatchID) (operation.BatchState, error) {
	var state operation.BatchState
	var run operation.RunID
	err := s.write(ctx, func(t *tx) error {
		h, err := t.lockBatch(a, id, true)
		if err != nil {
			return err
		}
		moved, err := h.advance(h.at())
		state, run = h.State, h.RunID
		if err == nil && !moved {
			run = ""
			err = errDone
		}
		return err
	})
	if err == nil && run != "" {
		_, err = s.sweepWaiting(ctx, a, run)
		s.Hint()
	}
	return state, err
}

// sweepWaiting lets the operations of a run that wait for an earlier stage go, where it is
// satisfied now. Items of batches wait for their own item, which lets them go itself, and for
// which sweepStuckItems stands in.
func (s *Store) sweepWaiting(ctx context.Context, a Actor, run operation.RunID) (int, error) {
	var stages []string
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.SelectContext(ctx, &stages, `SELECT s.id FROM `+beside("$1", "''")+` s WHERE s.state = 'waiting'`, string(run))
	})
	n := 0
	for _, id := range stages {
		e := s.change(ctx, a, operation.ID(id), func(u *unit) error {
			f, err := u.gateFacts()
			if err != nil || u.op.State != operation.Waiting || len(f.EarlierOpen) > 0 {
				return errors.Join(err, errDone)
			}
			n++
			return u.move(u.op, operation.EvClear, "", "after", string(run))
		})
		err = errors.Join(err, e)
	}
	return n, err
}

// advance moves the batch, whose run is locked alone.
func (h *heldBatch) advance(now time.Time) (moved bool, err error) {
	var p progress
	if err := h.get(&p, progressSQL, string(h.ID)); err != nil {
		return false, err
	}
	from := h.State
	h.open = p.Open || p.Replacing
	h.State = p.next(h.Stopped())
	h.Satisfied = p.satisfied(h)
	if h.State == from && h.Satisfied == p.Satisfied {
		if h.runState() == h.RunState {
			return false, nil
		}
		return true, h.advanceRun(now)
	}
	if h.State != from && h.State.Closed() {
		h.ClosedAt = &now
	}
	u := &unit{tx: h.tx, actor: h.actor, now: now, flow: h.flow, who: h.who}
	u.planBatch(&h.Batch, nil, nil, h.State != from)
	if err := h.one(`UPDATE batches SET state = $2, satisfied = $3, closed_at = $4, next_kind = $5, next_role = $6, next_user = NULLIF($7, ''), next_system = $8, next_at = $9, next_since = $10,
		revision = revision + 1, updated_at = $11 WHERE id = $1`, string(h.ID), string(h.State), h.Satisfied, h.ClosedAt, h.NextKind, string(h.NextRole), string(h.NextUser), h.NextSystem, h.NextAt, h.NextSince, now); err != nil {
		return false, err
	}
	action := "advance"
	if h.State == from {
		action = "satisfied"
	}
	if err := h.noteBatch(h.actor, now, &h.Batch, action, from, h.State, ""); err != nil {
		return false, err
	}
	return true, h.advanceRun(now)
}

// next gives the state that follows from how far the operations are. A batch that was stopped
// while people looked at its canary ends as well.
func (p progress) next(stopped bool) operation.BatchState {
	n := operation.BatchProgress{State: p.State, Total: p.Total, Cleared: p.Cleared, Released: p.Released, Stopped: stopped}
	if p.Open {
		n.Open = 1
	}
	if stopped && p.State == operation.BatchCanaryReview {
		n.State = operation.BatchCanary
		if p.Open {
			return p.State
		}
	}
	return operation.NextBatch(n)
}

// satisfied judges the stage's rule over all items. What was given up with a stop is closed,
// and not confirmed.
func (p progress) satisfied(h *heldBatch) bool {
	if h.State != operation.BatchClosed || p.Open || p.Replacing {
		return false
	}
	if needOf(h.stage()) == operation.NeedEveryClosed {
		return true
	}
	return p.Released >= p.Total && !p.Without
}

// advanceRun gives the run the state that follows from its stages. Its revision rises in any
// case: whoever read that the stage is open decides again.
func (h *heldBatch) advanceRun(now time.Time) error {
	state := h.runState()
	u := &unit{tx: h.tx, actor: h.actor, now: now, op: &opRow{RunID: h.RunID}, facts: loaded{RunState: h.RunState, RunSeq: h.RunSeq, RunHash: h.RunHash}}
	u.writeRun(state)
	if err := h.writeHistory(u.entries, placed{string(h.RunID): place{flow: h.Flow}}); err != nil {
		return err
	}
	row := u.w.runs[0]
	return h.one(`UPDATE runs SET rev = rev + 1, state = $2, chain_seq = $3, chain_hash = decode($4, 'hex') WHERE id = $1`, string(h.RunID), state, row["seq"], row["head"])
}

// runState follows from the run's stages, with this batch as it is now.
func (h *heldBatch) runState() string {
	rows := slices.Clone(h.stages)
	for i := range rows {
		if rows[i].Batch == h.ID {
			rows[i].State = h.standing()
		}
	}
	return string(operation.RunStateOf(stageFacts(h.flow, seenBy(h.flow, "", "", rows)), h.RunState == string(operation.RunStopped)))
}

// standing is the batch as one row of its run.
func (h *heldBatch) standing() operation.State {
	switch {
	case h.Satisfied:
		return operation.Confirmed
	case h.State == operation.BatchRejected:
		return operation.Rejected
	case h.State == operation.BatchCancelled:
		return operation.Cancelled
	case h.State == operation.BatchClosed && !h.open:
		return operation.NotExecuted
	}
	return operation.InProgress
}

// follows reports that something of a later stage is open.
func (h *heldBatch) follows(r stageRow) bool { return r.No > h.StageNo && !r.State.Closed() }

// settleBatch follows an item, or a replacement of one, that was closed after its batch was:
// the stage may be satisfied now. It gives the run whose later stages may go then.
func (u *unit) settleBatch() (operation.RunID, error) {
	o := u.op
	if o.ItemKey == "" || o.BatchID == "" && o.Replacement == 0 || o.State == o.was || !o.State.Closed() {
		return "", nil
	}
	var id operation.BatchID
	err := u.get(&id, `SELECT COALESCE((SELECT b.id FROM batches b WHERE b.run_id = $1 AND b.stage = $2 AND b.state = 'closed' AND NOT b.satisfied), '')`, string(o.RunID), o.Stage)
	if err != nil || id == "" {
		return "", err
	}
	h := &heldBatch{tx: u.tx, actor: u.actor}
	if err := u.get(&h.commonRow, commonSQL, string(id)); err != nil {
		return "", err
	}
	if err := h.definitions(); err != nil {
		return "", err
	}
	if moved, err := h.advance(u.now); err != nil || !moved {
		return "", err
	}
	return o.RunID, nil
}

// GoOnWithoutBatch records the owner's decision to let a run go on although not every item of
// a batch came to what its stage needs. The batch must be closed, or rejected, or cancelled.
func (s *Store) GoOnWithoutBatch(ctx context.Context, a Actor, sh BatchShown) error {
	var run operation.RunID
	err := s.write(ctx, func(t *tx) error {
		run = ""
		h, err := t.lockBatch(a, sh.Batch, true)
		if err != nil {
			return err
		}
		if err := t.mayBe(a, h.Flow, h.flow.Owner.Role, h.flow.Reviewer.Role, operation.RoleOpsOwner, operation.RoleAdmin); err != nil {
			return err
		}
		switch {
		case !h.State.Closed() || h.Satisfied:
			return operation.Refuse(operation.CodeForbiddenMove, "state", string(h.State))
		case !slices.ContainsFunc(h.stages, h.follows):
			return operation.Refuse(operation.CodeNothingFollows)
		case sh.Reason == "":
			return operation.Refuse(operation.CodeReasonMissing)
		}
		n, err := t.exec(`INSERT INTO stage_waivers (run_id, stage, reason, waived_by, waived_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`, string(h.RunID), h.Stage, storable(sh.Reason), a.ID, h.at())
		if err != nil || n == 0 {
			return errors.Join(err, errDone)
		}
		run = h.RunID
		if err := h.noteBatch(a, h.at(), &h.Batch, "go_on_without", h.State, h.State, sh.Reason); err != nil {
			return err
		}
		for i := range h.stages {
			h.stages[i].Waived = h.stages[i].Waived || h.stages[i].Stage == h.Stage
		}
		return h.advanceRun(h.at())
	})
	if err == nil && run != "" {
		_, err = s.sweepWaiting(ctx, a, run)
		s.Hint()
	}
	return err
}
