package store

import (
	"context"

	"holdpoint/operation"
)

// PauseBatch stops that more of a batch is begun: for whoever may (operation.MayActOnBatch),
// a token that was let in, and our own jobs. One that is paused already stays as it is. What is in flight runs to its outcome; it is given.
func (s *Store) PauseBatch(ctx context.Context, a Actor, sh BatchShown) (InFlight, error) {
	return s.haltBatch(ctx, a, operation.BatchActPause, sh, func(c *batchChange, why string) error {
		if !c.b.State.Takes(operation.BatchActPause) || c.b.Stopped() {
			return c.refuseState()
		}
		if c.b.Paused() {
			return errDone
		}
		c.pauseBatch(why, "")
		return c.note("pause", why)
	})
}

// pauseBatch notes a pause; auto is the limit that was passed, "" = a person wants it.
func (c *batchChange) pauseBatch(why, auto string) {
	c.b.PausedWhy, c.b.PausedBy, c.b.PausedAuto, c.b.PausedAt = why, c.actor.ID, auto, &c.now
	c.planBatch(&c.b, nil, nil, false)
}

// ResumeBatch lets a paused batch go on. One that is not paused stays as it is.
func (s *Store) ResumeBatch(ctx context.Context, a Actor, sh BatchShown) error {
	why, err := reasonGiven(sh.Reason)
	if err != nil {
		return err
	}
	return s.changeBatch(ctx, a, sh.Batch, true, nil, func(c *batchChange) error {
		if err := c.mayAct(operation.BatchActResume); err != nil {
			return err
		}
		if err := c.fresh(sh); err != nil {
			return err
		}
		if !c.b.State.Takes(operation.BatchActResume) || c.b.Stopped() {
			return c.refuseState()
		}
		if !c.b.Paused() {
			return errDone
		}
		c.b.PausedWhy, c.b.PausedBy, c.b.PausedAuto, c.b.PausedAt = "", "", "", nil
		c.planBatch(&c.b, nil, nil, false)
		return c.note("resume", why)
	})
}

// StopBatch gives up the unsent rest for good: what was not released never becomes an
// operation, and operations of which nothing was sent are cancelled after it
// (CancelStopped). What is in flight is still settled; it is given.
func (s *Store) StopBatch(ctx context.Context, a Actor, sh BatchShown) (InFlight, error) {
	return s.haltBatch(ctx, a, operation.BatchActStop, sh, func(c *batchChange, why string) error {
		if c.b.Stopped() {
			return errDone
		}
		if !c.b.State.Takes(operation.BatchActStop) {
			return c.refuseState()
		}
		return c.stopBatch("stop", why)
	})
}

// stopBatch gives up the rest.
func (c *batchChange) stopBatch(action, why string, links ...string) error {
	c.b.StoppedWhy, c.b.StoppedBy, c.b.StoppedAt = why, c.actor.ID, &c.now
	c.b.State, c.b.ExpiresAt = operation.BatchRunning, nil
	c.planBatch(&c.b, nil, nil, true)
	return c.note(action, why, links...)
}

// haltBatch is a pause or a stop: the gate stands still while what is in flight is counted.
// A person's holds whatever became of the batch since it was shown: a stop must not lose
// against a colleague's decision to send the rest. A program that names a revision means it.
func (s *Store) haltBatch(ctx context.Context, a Actor, act operation.BatchAct, sh BatchShown, fn func(*batchChange, string) error) (InFlight, error) {
	if a.Kind == operation.ActorPerson {
		sh.Revision = 0
	}
	why, err := reasonGiven(sh.Reason)
	if err != nil {
		return InFlight{}, err
	}
	var flight InFlight
	err = s.changeBatch(ctx, a, sh.Batch, true, nil, func(c *batchChange) error {
		if err := c.mayAct(act); err != nil {
			return err
		}
		if flight, err = c.inFlight(pausing{id: string(sh.Batch), belongs: "batch_id = $1"}); err != nil {
			return err
		}
		if err := c.fresh(sh); err != nil {
			return err
		}
		return fn(c, why)
	})
	if err != nil {
		return InFlight{}, err
	}
	return flight, nil
}

// CancelBatch withdraws a batch before it was approved: for whoever may stop it, and its
// flow's authors (operation.MayActOnBatch). What is approved is stopped.
func (s *Store) CancelBatch(ctx context.Context, a Actor, sh BatchShown) error {
	why, err := reasonGiven(sh.Reason)
	if err != nil {
		return err
	}
	return s.changeBatch(ctx, a, sh.Batch, false, nil, func(c *batchChange) error {
		if err := c.mayAct(operation.BatchActCancel); err != nil {
			return err
		}
		if err := c.fresh(sh); err != nil {
			return err
		}
		if !c.b.State.Takes(operation.BatchActCancel) {
			return c.refuseState()
		}
		c.b.State, c.b.ExpiresAt = operation.BatchCancelled, nil
		c.planBatch(&c.b, nil, nil, true)
		return c.note("cancel", why)
	})
}

// sweepBatches decides about each batch that a query names, one transaction each.
func (s *Store) sweepBatches(ctx context.Context, a Actor, q string, fn func(*batchChange) error) (int, error) {
	return sweepEach(ctx, s, q, func(id operation.BatchID) (bool, error) { return s.sweepBatch(ctx, a, id, fn) })
}

func (s *Store) sweepBatch(ctx context.Context, a Actor, id operation.BatchID, fn func(*batchChange) error) (moved bool, err error) {
	err = s.changeBatch(ctx, a, id, false, nil, func(c *batchChange) error {
		err := fn(c)
		moved = err == nil
		return err
	})
	return moved, err
}
