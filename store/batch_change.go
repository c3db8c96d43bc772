package store

import (
	"context"
	"time"

	"holdpoint/operation"
)

// batchChange is one decision about a batch in progress. Locked are, in this order: the run,
// the gate (shared) and the batch's row; a pause or a stop takes the gate alone and no run.
// What later statements read is the newest, and stays as it is until the end.
type batchChange struct {
	*unit // its op stands for the batch where people decide, and has no ID
	b     Batch
	was   operation.BatchState
	hash  string // hex, of the current version
}

const (
	batchRowSQL = `SELECT ` + batchColumns + ` FROM batches b WHERE b.id = $1 FOR UPDATE`
	batchNowSQL = `SELECT clock_timestamp() AS now, COALESCE(pg_current_xact_id_if_assigned()::text, '') AS xid, i.epoch, COALESCE(encode(v.hash, 'hex'), '') AS hash
	FROM installation i CROSS JOIN batch_versions v WHERE v.batch_id = $1 AND v.number = $2`
)

// changeBatch is the one way by which people change a batch: lock, read, decide, write,
// commit. alone begins a new epoch, so that no gate decides on what is being changed.
func (s *Store) changeBatch(ctx context.Context, a Actor, id operation.BatchID, alone bool, before func(*tx) error, fn func(*batchChange) error) error {
	err := s.write(ctx, func(t *tx) error {
		if before != nil {
			if err := before(t); err != nil {
				return err
			}
		}
		c, err := t.lockBatchRow(a, id, alone)
		if err != nil {
			return err
		}
		if err := fn(c); err != nil {
			return err
		}
		return c.saveBatch()
	})
	if err == nil {
		s.Hint() // the runner hears it as well
	}
	return err
}

func (t *tx) lockBatchRow(a Actor, id operation.BatchID, alone bool) (*batchChange, error) {
	if alone {
		if _, err := t.alone(); err != nil {
			return nil, err
		}
	} else {
		var l struct {
			ID    operation.RunID `db:"id"`
			Gate  any             `db:"gate"`
			Plans any             `db:"plans"`
		}
		if err := t.get(&l, aloneRunSQL, string(id)); err != nil {
			return nil, err
		}
	}
	c := &batchChange{}
	if err := t.get(&c.b, batchRowSQL, string(id)); err != nil {
		return nil, err
	}
	return c, c.begin(t, a)
}

// begin reads what belongs to the batch's row.
func (c *batchChange) begin(t *tx, a Actor) error {
	var at struct {
		Now   time.Time `db:"now"`
		XID   string    `db:"xid"`
		Epoch int64     `db:"epoch"`
		Hash  string    `db:"hash"`
	}
	if err := t.get(&at, batchNowSQL, string(c.b.ID), c.b.Number); err != nil {
		return err
	}
	t.xid, c.hash, c.was = at.XID, at.Hash, c.b.State
	c.unit = &unit{tx: t, actor: a, now: at.Now.UTC().Truncate(time.Microsecond), facts: loaded{Epoch: at.Epoch}}
	if c.now.Before(c.b.UpdatedAt) {
		c.now = c.b.UpdatedAt.UTC()
	}
	c.op = &opRow{RunID: c.b.RunID, Flow: c.b.Flow, FlowVersion: c.b.FlowVersion, Stage: c.b.Stage, StageNo: c.b.StageNo, Stages: c.b.Stages, Destination: c.b.Destination, Action: c.b.Action,
		State: decidedAs(c.b.State)}
	flow, err := t.s.flowVersion(t.ctx, t.Tx, c.b.Flow, c.b.FlowVersion)
	if err != nil {
		return err
	}
	return c.named(flow, c.b.FlowVersion)
}

// decidedAs is the state of one operation in which the same may be decided.
func decidedAs(s operation.BatchState) operation.State {
	switch s {
	case operation.BatchPendingApproval, operation.BatchCanaryReview:
		return operation.PendingApproval
	}
	return operation.State(s)
}

// note writes an entry into the batch's history, with the move of its state.
func (c *batchChange) note(action, reason string, links ...string) error {
	err := c.noteBatch(c.actor, c.now, &c.b, action, c.was, c.b.State, reason, links...)
	c.was = c.b.State
	return err
}

// saveBatch writes the changed row. It has been locked: nothing else can have changed it.
func (c *batchChange) saveBatch() error {
	b := &c.b
	closes := b.State.Closed() && b.ClosedAt == nil
	if closes {
		b.ClosedAt = &c.now
	}
	if err := c.one(`UPDATE batches SET revision = revision + 1, state = $2, number = $3, total = $4, included = $5, cleared = $6, clearance_id = NULLIF($7, ''), round = $8, title = $9,
		account = $10, environment = $11, paused_why = $12, paused_by = $13, paused_auto = $14, paused_at = $15, stopped_why = $16, stopped_by = $17, stopped_at = $18,
		next_kind = $19, next_role = $20, next_user = NULLIF($21, ''), next_system = $22, next_at = $23, next_since = $24, expires_at = $25, last_form = $26, updated_at = $27, closed_at = $28
		WHERE id = $1 AND revision = $29`, string(b.ID), string(b.State), b.Number, b.Total, b.Included, b.Cleared, string(b.ClearanceID), b.Round, storedText(b.Title),
		b.Account, b.Environment, b.PausedWhy, b.PausedBy, b.PausedAuto, b.PausedAt, b.StoppedWhy, b.StoppedBy, b.StoppedAt,
		b.NextKind, string(b.NextRole), string(b.NextUser), b.NextSystem, b.NextAt, b.NextSince, b.ExpiresAt, b.LastForm, c.now, b.ClosedAt, b.Revision); err != nil || !closes {
		return err
	}
	h := &heldBatch{tx: c.tx, actor: c.actor} // the run is locked: only a pause and a stop do without, and they close nothing
	if err := c.get(&h.commonRow, commonSQL, string(b.ID)); err != nil {
		return err
	}
	if err := h.definitions(); err != nil {
		return err
	}
	return h.advanceRun(c.now)
}

// fresh refuses a form that was shown before the batch changed. errDone = it was sent before.
func (c *batchChange) fresh(sh BatchShown) error {
	if c.actor.Kind == operation.ActorPerson && sh.FormID == "" {
		return operation.Refuse(operation.CodeStaleRevision)
	}
	if sh.FormID != "" && c.b.LastForm == sh.FormID {
		return errDone
	}
	if sh.Revision != 0 && sh.Revision != c.b.Revision {
		return operation.Refuse(operation.CodeStaleRevision)
	}
	c.b.LastForm = sh.FormID
	return nil
}

// mayAct refuses a person who may not do this to the batch. A token was let in at the door.
func (c *batchChange) mayAct(act operation.BatchAct) error {
	if c.actor.Kind != operation.ActorPerson {
		return nil
	}
	who, err := c.person(c.actor, c.b.Flow)
	if err != nil {
		return err
	}
	if r := operation.MayActOnBatch(act, who, c.people(c.op), c.approverRoles()); r != nil {
		return r
	}
	return nil
}

// refuseState says that the batch's state does not permit it.
func (c *batchChange) refuseState() error {
	return operation.Refuse(operation.CodeForbiddenMove, "state", string(c.b.State))
}
