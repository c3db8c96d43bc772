package store

import (
	"context"
	"errors"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// SweepExpired moves operations whose approval no longer holds: unsent ones back to
// the approvers ("Expired, not sent"), re-executions back to review. It returns how
// many it moved.
func (s *Store) SweepExpired(ctx context.Context, a Actor) (int, error) {
	return s.sweep(ctx, a, `SELECT id FROM operations WHERE expires_at <= clock_timestamp()
		AND state IN ('waiting', 'ready', 'retry_scheduled', 'unknown') ORDER BY expires_at LIMIT 500`, func(u *unit) error {
		f, err := u.gateFacts()
		if err != nil {
			return err
		}
		ev, r := operation.ExpiryDue(f, u.now)
		if r == nil {
			return errDone
		}
		if ev == "" { // unknown: lookups go on, sends do not
			u.op.ExpiresAt, u.op.RetryAt, u.op.replanned = nil, nil, true
			u.note(u.op, "approval_expired", string(r.Code))
			return nil
		}
		return u.follow(operation.After{Events: []operation.Event{ev}, LookupAt: timeOf(u.op.LookupAt), Code: r.Code}, string(r.Code), "cause", string(r.Code))
	})
}

// remedySilence is the owner's open work on a mail that was accepted and then not
// heard of again. Accepted is not delivered (FC-40).
const remedySilence = "silence"

// SweepSilence gives the owner what was accepted and not delivered in time. It returns
// how many it moved.
func (s *Store) SweepSilence(ctx context.Context, a Actor) (int, error) {
	return s.sweep(ctx, a, `SELECT id FROM operations WHERE deliver_by <= clock_timestamp() ORDER BY deliver_by LIMIT 500`, func(u *unit) error {
		o := u.op
		if o.DeliverBy == nil || u.now.Before(*o.DeliverBy) {
			return errDone
		}
		o.DeliverBy, o.replanned = nil, true
		if o.State != operation.Confirmed || o.Remedy != "" {
			return nil
		}
		o.Remedy = remedySilence
		u.note(o, remedySilence, "")
		return nil
	})
}

// SweepStuck repairs what no transaction should leave behind: an unknown operation
// without a planned step asks a person; a waiting one whose earlier stages are
// satisfied goes on, also an item of a batch. It returns how many it moved, which should be
// none.
func (s *Store) SweepStuck(ctx context.Context, a Actor) (int, error) {
	items, itemsErr := s.sweepStuckItems(ctx, a)
	n, err := s.sweepStuckAlone(ctx, a)
	return items + n, errors.Join(itemsErr, err)
}

// sweepStuckAlone is SweepStuck but for the items of batches that wait.
func (s *Store) sweepStuckAlone(ctx context.Context, a Actor) (int, error) {
	return s.sweep(ctx, a, `SELECT id FROM operations WHERE state = 'unknown' AND lookup_at IS NULL AND retry_at IS NULL
		UNION ALL SELECT o.id FROM operations o WHERE o.state = 'waiting' AND o.batch_id IS NULL AND NOT EXISTS (SELECT 1 FROM batches b
			WHERE b.run_id = o.run_id AND b.stage_no < o.stage_no AND NOT b.satisfied) AND NOT EXISTS (SELECT 1 FROM operations e
			WHERE e.run_id = o.run_id AND e.stage_no < o.stage_no AND e.batch_id IS NULL AND e.item_key = '' AND e.state <> 'confirmed') LIMIT 500`, func(u *unit) error {
		f, err := u.gateFacts()
		if err != nil {
			return err
		}
		switch {
		case u.op.State == operation.Unknown && u.op.LookupAt == nil && u.op.RetryAt == nil:
			a := operation.PlanUnknown(f, u.profile.Retry, u.now, 0)
			return u.follow(a, string(a.Code))
		case u.op.State == operation.Waiting && len(f.EarlierOpen) == 0:
			return u.move(u.op, operation.EvClear, "")
		}
		return errDone
	})
}

// sweep decides about each operation that a query names, one transaction each. One that
// cannot be decided now does not stop the others.
func (s *Store) sweep(ctx context.Context, a Actor, q string, fn func(*unit) error) (int, error) {
	return sweepEach(ctx, s, q, func(id operation.ID) (moved bool, err error) {
		err = s.change(ctx, a, id, func(u *unit) error {
			err := fn(u)
			moved = err == nil
			return err
		})
		return moved, err
	})
}

// sweepEach goes through what a query names, each in a transaction of its own, and gives how
// many moved. One that fails does not stop the others.
func sweepEach[ID any](ctx context.Context, s *Store, q string, one func(ID) (moved bool, err error)) (int, error) {
	var ids []ID
	if err := s.read(ctx, func(db *sqlx.DB) error {
		ids = nil
		return db.SelectContext(ctx, &ids, q)
	}); err != nil {
		return 0, err
	}
	return sweepIDs(ids, one)
}

func sweepIDs[ID any](ids []ID, one func(ID) (moved bool, err error)) (int, error) {
	n := 0
	var all error
	for _, id := range ids {
		moved, err := one(id)
		if err != nil {
			all = errors.Join(all, err)
		} else if moved {
			n++
		}
	}
	return n, all
}
