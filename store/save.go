package store

import (
	"encoding/json"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// saveSQL writes a changed operation and its history entries in one statement. It is
// guarded by the revision that was locked and by the epoch of rights, pauses and
// definitions that was read: zero rows means "decide again".
const saveSQL = `WITH op AS (UPDATE operations SET revision = revision + 1, state = $4, version_id = NULLIF($5, ''), version_no = $6,
	clearance_id = NULLIF($7, ''), attempts_used = $8, attempts_max = $9, attempts_ever = $10, fence = $11, open_attempt = NULLIF($12, ''),
	unsettled = $13, ever_unproven = $14, key_generation = $15, key_first = $16, stored_error = $17, retry_at = $18, lookup_at = $19,
	misses = $20, last_lookup = NULLIF($21, ''), last_lookup_at = $22, request_id = NULLIF($23, ''), case_round = $24,
	next_kind = $25, next_role = $26, next_user = NULLIF($27, ''), next_system = $28, next_at = $29, next_since = $30,
	hold_until = $31, expires_at = $32, paused = $33, target_reference = NULLIF($34, ''), target_url = NULLIF($35, ''),
	confirmed_by = NULLIF($36, ''), duplicate = $37, delivery = $38, remedy = $39, chain_seq = $40, chain_hash = $41, updated_at = $42,
	title = $43, account = $44, environment = $45,
	key_answered = $47, last_send = $48, stated = $49, disputed = $50, stopped = $51, last_dispatch = $52, deliver_by = $53
	WHERE id = $2 AND revision = $3 AND (SELECT epoch FROM installation) = $46 RETURNING id)`

// saveTail adds the history; parts of writes may stand between. The result is 1 when
// the guard held and everything found its row.
const saveTail = `,
h AS (` + historyInto + ` WHERE EXISTS (SELECT 1 FROM op))
SELECT (SELECT count(*) FROM op)`

// save writes everything that the decision changed: the operation, its siblings, the
// run, the history, the wake-ups.
func (u *unit) save() error {
	changed := u.changedSiblings()
	if err := u.planRun(len(changed) > 0); err != nil {
		return err
	}
	if err := u.plan(u.op); err != nil {
		return err
	}
	if err := u.planFollowers(); err != nil {
		return err
	}
	changed = u.changedSiblings()
	for _, o := range changed {
		if err := u.plan(o); err != nil {
			return err
		}
	}
	for _, o := range changed {
		if err := u.saveRow(o, "[]", writes{}); err != nil {
			return err
		}
	}
	u.noteStop()
	js, err := u.encodeEntries(u.entries, u.places())
	if err != nil {
		return err
	}
	return u.saveRow(u.op, js, u.w)
}

func (u *unit) changedSiblings() []*opRow {
	var out []*opRow
	for _, o := range u.siblings {
		if o.replanned {
			out = append(out, o)
		}
	}
	return out
}

// saveParams is how many parameters saveSQL has; those of the parts follow.
const saveParams = 53

func (u *unit) saveRow(o *opRow, entries string, w writes) error {
	w.counts = batchMoves(o)
	ctes, tail, more, err := w.statement(saveParams + 1)
	if err != nil {
		return err
	}
	args := []any{entries, string(o.ID), o.Revision, string(o.State), string(o.VersionID), o.VersionNo, string(o.ClearanceID),
		o.AttemptsUsed, o.AttemptsMax, o.AttemptsEver, o.Fence, string(o.OpenAttempt), o.Unsettled, o.EverUnproven, o.KeyGeneration,
		o.KeyFirst, o.StoredError, o.RetryAt, o.LookupAt, o.Misses, o.LastLookup, o.LastLookupAt, string(o.RequestID), o.CaseRound,
		o.NextKind, string(o.NextRole), string(o.NextUser), o.NextSystem, o.NextAt, o.NextSince, o.HoldUntil, o.ExpiresAt, o.Paused,
		o.TargetReference, o.TargetURL, o.ConfirmedBy, o.Duplicate, o.Delivery, o.Remedy, o.ChainSeq, o.ChainHash, o.UpdatedAt,
		o.Title, o.Account, o.Environment, u.facts.Epoch, o.KeyAnswered, o.LastSend, o.Stated, o.Disputed, o.Stopped, o.LastDispatch, o.DeliverBy}
	var n int
	err = u.get(&n, saveSQL+ctes+saveTail+tail, append(args, more...)...)
	if violates(err, "target_references_key") {
		return errAgain // somebody else has just taken the reference: read again, then decide
	}
	if err == nil && n != 1 {
		err = errAgain
	}
	return err
}

// plan gives the operation its one next decision (MODEL §2) when its state changed.
func (u *unit) plan(o *opRow) error {
	if !o.replanned {
		return nil
	}
	who, due := u.people(o), u.due(o)
	if o.State == operation.PendingApproval && o.Replaces != "" {
		var p operation.Policy
		var raw string
		if err := u.get(&raw, `SELECT policy FROM submissions WHERE version_id = $1`, string(o.VersionID)); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(raw), &p); err != nil {
			return err
		}
		sel, err := u.present(p.Asks(nil))
		if err != nil {
			return err
		}
		who.Approvers = responsible(sel, u.who)
	}
	f := operation.Facts{State: o.State, RetryAt: timeOf(o.RetryAt), LookupAt: timeOf(o.LookupAt), PausedOperation: o.Paused}
	var err error
	if f.OriginalOpen, err = u.originalOpen(o); err != nil {
		return err
	}
	if o.State == operation.Review && o.was == operation.Review && o.NextKind == string(operation.DecideReconcile) {
		f.ReviewDue = timeOf(o.NextAt) // what is learnt meanwhile, a lookup's miss above all, puts nothing off
	}
	holder, err := u.stageOwner(o)
	if err != nil {
		return err
	}
	d := operation.NextFor(f, who, due, holder, timeOf(o.HoldUntil), o.leaseEnd, u.now)
	o.asleep = o.asleep || d.Kind == operation.DecideOriginal // whoever settles that one wakes it
	if d.Kind == operation.DecideTake && u.clientsPerform(o) {
		d.At = u.now.Add(due.Review) // another program comes for it in its own time
	}
	if o.State.Closed() && o.Remedy != "" {
		d = operation.RemedyFor(who, due, u.now)
	}
	if string(d.Kind) != o.NextKind || o.State != o.was {
		o.NextSince = &u.now
	}
	o.NextKind, o.NextRole, o.NextUser, o.NextSystem = string(d.Kind), d.Who.Role, d.Who.User, d.Who.System
	o.NextAt = timePtr(d.At)
	u.planWake(o)
	return nil
}

// clientsPerform reports that other programs carry the operation out, not our own jobs.
func (u *unit) clientsPerform(o *opRow) bool {
	return o.Destination == u.op.Destination && u.profile.PerformedBy == definition.ClientsPerform
}

// planWake wakes the worker that carries out the next automatic step.
func (u *unit) planWake(o *opRow) {
	switch {
	case o.Paused || o.asleep || u.clientsPerform(o):
	case o.BatchID != "" && o.RequestID == "" && (o.State == operation.Ready || o.State == operation.RetryScheduled): // its batch's runner looks for it
	case o.State == operation.Ready:
		u.wakeUp(wakeExecute, o, u.now)
	case o.State == operation.RetryScheduled:
		u.wakeUp(wakeExecute, o, timeOf(o.RetryAt))
	case o.State == operation.Unknown && o.RetryAt != nil:
		u.wakeUp(wakeExecute, o, *o.RetryAt)
	}
	if o.LookupAt != nil && o.State != operation.InProgress {
		u.wakeUp(wakeLookup, o, *o.LookupAt)
	}
}

func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

func timePtr(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Microsecond)
	return &t
}
