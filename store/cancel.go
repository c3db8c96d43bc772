package store

import (
	"context"

	"holdpoint/operation"
)

// Cancel withdraws an operation before anything was sent. A claim that has not been
// dispatched becomes stale. After dispatch it means "no further attempt": the outcome
// is still settled.
func (s *Store) Cancel(ctx context.Context, a Actor, sh Shown) error {
	return s.personVerb(ctx, a, sh, func(u *unit, who operation.Person) error {
		if r := u.mayManage(who); r != nil && !who.Has(u.people(u.op).Author.Role) {
			return r
		}
		if sh.Reason == "" {
			return operation.Refuse(operation.CodeReasonMissing)
		}
		return u.cancel(sh.Reason)
	})
}

func (u *unit) cancel(reason string) error {
	o := u.op
	f, err := u.gateFacts()
	if err != nil {
		return err
	}
	dispatched, err := u.openDispatched()
	if err != nil {
		return err
	}
	if r := operation.MayCancel(f, dispatched); r != nil {
		if operation.MayStop(f, dispatched) != nil {
			return r
		}
		return u.noFurtherAttempt(f, reason)
	}
	if o.OpenAttempt != "" {
		if err := u.releaseClaim(reason); err != nil {
			return err
		}
	}
	u.voidClearance()
	o.RetryAt, o.LookupAt, o.Paused = nil, nil, false
	if err := u.move(o, operation.EvCancel, reason); err != nil {
		return err
	}
	return u.stageClosed(o)
}

// GoOnWithout records the owner's decision to let a run go on although a stage was
// closed without effect. Later stages follow in the same transaction.
func (s *Store) GoOnWithout(ctx context.Context, a Actor, sh Shown) error {
	return s.personVerb(ctx, a, sh, func(u *unit, who operation.Person) error {
		if r := u.mayManage(who); r != nil {
			return r
		}
		if !u.op.State.WithoutEffect() {
			return operation.Refuse(operation.CodeForbiddenMove, "state", string(u.op.State))
		}
		if u.op.ItemKey != "" { // the stage is its batch's: see GoOnWithoutBatch
			return operation.Refuse(operation.CodeForbiddenMove, "state", string(u.op.State))
		}
		if sh.Reason == "" {
			return operation.Refuse(operation.CodeReasonMissing)
		}
		if _, err := u.exec(`INSERT INTO stage_waivers (run_id, stage, reason, waived_by, waived_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
			string(u.op.RunID), u.op.Stage, sh.Reason, u.actor.ID, u.now); err != nil {
			return err
		}
		u.note(u.op, "go_on_without", sh.Reason, "stage", u.op.Stage)
		u.op.replanned = true
		return u.stageClosed(u.op)
	})
}
