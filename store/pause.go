package store

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// InFlight is what a pause cannot stop any more: operations that a job holds. One that
// was dispatched runs to its outcome; one that was not is refused at its dispatch.
type InFlight struct {
	Count      int
	Operations []operation.ID // the first hundred
}

// PauseFlow stops further attempts of a flow: for its ops owners and admins.
func (s *Store) PauseFlow(ctx context.Context, a Actor, flow, reason string) (InFlight, error) {
	return s.pause(ctx, a, pauseOf(operation.SubjectFlow, flow), reason)
}

// ResumeFlow lets a flow go on and wakes its operations that are due.
func (s *Store) ResumeFlow(ctx context.Context, a Actor, flow, reason string) error {
	return s.resume(ctx, a, pauseOf(operation.SubjectFlow, flow), reason)
}

// PauseDestination stops further attempts at a destination: for ops owners of all
// flows, admins, and our own jobs when the destination keeps failing.
func (s *Store) PauseDestination(ctx context.Context, a Actor, destination, reason string) (InFlight, error) {
	return s.pause(ctx, a, pauseOf(operation.SubjectDestination, destination), reason)
}

// ResumeDestination lets a destination be used again and wakes its operations that are due.
func (s *Store) ResumeDestination(ctx context.Context, a Actor, destination, reason string) error {
	return s.resume(ctx, a, pauseOf(operation.SubjectDestination, destination), reason)
}

// PauseAll stops all sends of the installation: for admins, and at start when the
// database does not fit its witness.
func (s *Store) PauseAll(ctx context.Context, a Actor, reason string) (InFlight, error) {
	return s.pause(ctx, a, pauseOf(operation.SubjectSystem, systemSubject), reason)
}

// ResumeAll lets sends go on: a person has reconciled what led to the pause. After a
// restore, everything that it lists must be reconciled first, and a reason be given.
func (s *Store) ResumeAll(ctx context.Context, a Actor, reason string) error {
	return s.resume(ctx, a, pauseOf(operation.SubjectSystem, systemSubject), reason)
}

// pausing is a flow, a destination or the installation.
type pausing struct {
	kind     operation.SubjectKind
	id       string
	paused   string // reads whether it is paused, locks its row
	set      string // writes it: $1 id, $2 paused, $3 reason, $4 who, $5 when
	belongs  string // condition on operations, $1 = id
	flow     string // whose ops owners may
	roles    []operation.Role
	hasPause bool // keeps rows in pauses; the installation keeps its own columns
}

func pauseOf(kind operation.SubjectKind, id string) pausing {
	p := pausing{kind: kind, id: id, roles: []operation.Role{operation.RoleOpsOwner, operation.RoleAdmin}, hasPause: true}
	switch kind {
	case operation.SubjectFlow:
		p.flow, p.belongs = id, "flow = $1"
		p.paused = `SELECT paused FROM flows WHERE name = $1 FOR UPDATE`
		p.set = `UPDATE flows SET paused = $2 WHERE name = $1`
	case operation.SubjectDestination:
		p.belongs = "destination = $1"
		p.paused = `SELECT paused FROM destinations WHERE name = $1 FOR UPDATE`
		p.set = `UPDATE destinations SET paused = $2 WHERE name = $1`
	default:
		p.belongs, p.hasPause, p.roles = "$1 <> ''", false, []operation.Role{operation.RoleAdmin}
		p.paused = `SELECT paused_why <> '' FROM installation WHERE $1 <> '' FOR UPDATE`
		p.set = `UPDATE installation SET paused_why = CASE WHEN $2 THEN CAST($3 AS text) ELSE '' END, paused_by = CASE WHEN $2 THEN CAST($4 AS text) END,
			paused_at = CASE WHEN $2 THEN CAST($5 AS timestamptz) END WHERE $1 <> ''`
	}
	return p
}

// mayPause: people by their roles; our jobs and the command line may stop, and the
// command line may resume. Tokens never.
func (t *tx) mayPause(a Actor, p pausing, stop bool) error {
	if a.Kind == operation.ActorSystem || stop && a.Kind == operation.ActorJob {
		return nil
	}
	return t.mayBe(a, p.flow, p.roles...)
}

func reasonGiven(reason string) (string, error) {
	reason = strings.TrimSpace(storable(reason))
	if reason == "" {
		return "", operation.Refuse(operation.CodeReasonMissing)
	}
	return reason, nil
}

func (s *Store) pause(ctx context.Context, a Actor, p pausing, reason string) (InFlight, error) {
	reason, err := reasonGiven(reason)
	if err != nil {
		return InFlight{}, err
	}
	var flight InFlight
	err = s.write(ctx, func(t *tx) error {
		now, err := t.alone()
		if err != nil {
			return err
		}
		was, err := t.pausedNow(a, p, true)
		if err != nil {
			return err
		}
		// the gate stands still here: nothing is claimed or dispatched while we count
		if flight, err = t.inFlight(p); err != nil {
			return err
		}
		if was {
			return errDone
		}
		if err := t.setPaused(a, p, true, reason, now); err != nil {
			return err
		}
		if p.hasPause {
			if err := t.openPause(a, p.kind, p.id, reason, now); err != nil {
				return err
			}
		}
		return t.enter(a, now, p.kind, p.id, "pause", reason)
	})
	if err != nil {
		return InFlight{}, err
	}
	return flight, nil
}

func (s *Store) resume(ctx context.Context, a Actor, p pausing, reason string) error {
	var last operation.ID
	more := false
	err := s.write(ctx, func(t *tx) error {
		now, err := t.alone()
		if err != nil {
			return err
		}
		was, err := t.pausedNow(a, p, false)
		if err != nil {
			return err
		}
		if !was {
			return errDone
		}
		if p.kind == operation.SubjectSystem {
			if err := t.endRestore(a, reason, now); err != nil {
				return err
			}
		}
		if err := t.setPaused(a, p, false, "", now); err != nil {
			return err
		}
		if p.hasPause {
			if err := t.closePause(a, p.kind, p.id, reason, now); err != nil {
				return err
			}
		}
		if err := t.enter(a, now, p.kind, p.id, "resume", reason); err != nil {
			return err
		}
		last, more, err = t.wakeDue(p, "", now)
		return err
	})
	// The first wake-ups are in the resume's own transaction. The rest follow in small
	// ones, so that the gate is not held up; a wake-up missed here is found by the sweep.
	for err == nil && more {
		err = s.write(ctx, func(t *tx) error {
			now, err := t.clock()
			if err != nil {
				return err
			}
			last, more, err = t.wakeDue(p, last, now)
			return err
		})
	}
	return err
}

func (t *tx) pausedNow(a Actor, p pausing, stop bool) (bool, error) {
	if err := t.mayPause(a, p, stop); err != nil {
		return false, err
	}
	var was bool
	err := t.get(&was, p.paused, p.id)
	return was, err
}

func (t *tx) setPaused(a Actor, p pausing, paused bool, reason string, now time.Time) error {
	if p.hasPause {
		return t.one(p.set, p.id, paused)
	}
	return t.one(p.set, p.id, paused, reason, a.ID, now)
}

func (t *tx) openPause(a Actor, kind operation.SubjectKind, id, reason string, now time.Time) error {
	_, err := t.exec(`INSERT INTO pauses (subject_kind, subject_id, reason, paused_by, paused_at) VALUES ($1, $2, $3, $4, $5)`, string(kind), id, reason, a.ID, now)
	return err
}

func (t *tx) closePause(a Actor, kind operation.SubjectKind, id, reason string, now time.Time) error {
	_, err := t.exec(`UPDATE pauses SET resumed_by = $3, resumed_at = $4, resume_reason = $5 WHERE subject_kind = $1 AND subject_id = $2 AND resumed_at IS NULL`,
		string(kind), id, a.ID, now, storable(reason))
	return err
}

// wakeBatch is how many operations one transaction wakes.
const wakeBatch = 500

// wakeDue wakes the operations after one ID that may go on now or at their time. It
// gives the last one it looked at, and whether there may be more.
func (t *tx) wakeDue(p pausing, after operation.ID, now time.Time) (operation.ID, bool, error) {
	var rows []struct {
		ID       operation.ID `db:"id"`
		Dest     string       `db:"destination"`
		Revision int64        `db:"revision"`
		RetryAt  *time.Time   `db:"retry_at"`
	}
	err := t.list(&rows, `SELECT id, destination, revision, retry_at FROM operations WHERE `+p.belongs+` AND NOT paused AND id > $2
		AND (state IN ('ready', 'retry_scheduled') OR state = 'unknown' AND retry_at IS NOT NULL) ORDER BY id LIMIT $3`, p.id, string(after), wakeBatch)
	if err != nil || len(rows) == 0 {
		return after, false, err
	}
	wakes := make([]wake, len(rows))
	for i, r := range rows {
		at := now
		if r.RetryAt != nil && r.RetryAt.After(now) {
			at = *r.RetryAt
		}
		wakes[i] = wake{wakeExecute, r.ID, r.Dest, r.Revision, at}
	}
	return rows[len(rows)-1].ID, len(rows) == wakeBatch, t.s.insertWakes(t.ctx, t, wakes)
}

func (t *tx) inFlight(p pausing) (f InFlight, err error) {
	if err := t.get(&f.Count, `SELECT count(*) FROM operations WHERE state = 'in_progress' AND `+p.belongs, p.id); err != nil {
		return f, err
	}
	err = t.list(&f.Operations, `SELECT id FROM operations WHERE state = 'in_progress' AND `+p.belongs+` ORDER BY id LIMIT 100`, p.id)
	return f, err
}

// PauseOperation stops further attempts of one operation. A claim that was not
// dispatched is released; after dispatch it only means that nothing follows.
func (s *Store) PauseOperation(ctx context.Context, a Actor, id operation.ID, reason string) error {
	reason, err := reasonGiven(reason)
	if err != nil {
		return err
	}
	return s.change(ctx, a, id, func(u *unit) error {
		if err := u.mayBe(a, u.op.Flow, operation.RoleOpsOwner, operation.RoleAdmin); err != nil {
			return err
		}
		if u.op.State.Closed() {
			return operation.Refuse(operation.CodeClosed)
		}
		if u.op.Paused {
			return errDone
		}
		if err := u.stopClaim(reason); err != nil {
			return err
		}
		u.op.Paused, u.op.replanned = true, true
		u.note(u.op, "pause", reason)
		return u.openPause(a, operation.SubjectOperation, string(id), reason, u.now)
	})
}

// stopClaim releases a claim that was not dispatched; a dispatched one is left to its
// worker.
func (u *unit) stopClaim(reason string) error {
	if u.op.OpenAttempt == "" {
		return nil
	}
	att, err := u.attempt(u.op.OpenAttempt)
	if err != nil {
		return err
	}
	if att.DispatchedAt != nil {
		u.op.leaseEnd = att.LeaseUntil // its next decision stays: finish, by then
		return nil
	}
	return u.releaseClaim(reason)
}

// ResumeOperation lets one operation go on, and wakes it when it is due.
func (s *Store) ResumeOperation(ctx context.Context, a Actor, id operation.ID, reason string) error {
	return s.change(ctx, a, id, func(u *unit) error {
		if err := u.mayBe(a, u.op.Flow, operation.RoleOpsOwner, operation.RoleAdmin); err != nil {
			return err
		}
		if !u.op.Paused {
			return errDone
		}
		if u.op.OpenAttempt != "" {
			att, err := u.attempt(u.op.OpenAttempt)
			if err != nil {
				return err
			}
			u.op.leaseEnd = att.LeaseUntil // its next decision stays: finish, by then
		}
		u.op.Paused, u.op.replanned = false, true
		u.note(u.op, "resume", reason)
		return u.closePause(a, operation.SubjectOperation, string(id), reason, u.now)
	})
}

// Installation is the state of the whole.
type Installation struct {
	ID     string
	Epoch  int64 // rises with every change of rights, pauses and definitions
	Paused *Pause
}

// FindInstallation gives the installation with its pause.
func (s *Store) FindInstallation(ctx context.Context) (Installation, error) {
	var row struct {
		ID    string         `db:"id"`
		Epoch int64          `db:"epoch"`
		Why   string         `db:"paused_why"`
		By    sql.NullString `db:"paused_by"`
		At    *time.Time     `db:"paused_at"`
	}
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &row, `SELECT id, epoch, paused_why, paused_by, paused_at FROM installation`)
	})
	out := Installation{ID: row.ID, Epoch: row.Epoch}
	if row.Why != "" {
		out.Paused = &Pause{By: row.By.String, At: timeOf(row.At), Reason: row.Why}
	}
	return out, err
}

// FindPause gives the pause of one operation; ErrNotFound when it is not paused.
func (s *Store) FindPause(ctx context.Context, id operation.ID) (Pause, error) {
	var p Pause
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &p, `SELECT paused_by AS by, paused_at AS at, reason FROM pauses WHERE subject_kind = 'operation' AND subject_id = $1 AND resumed_at IS NULL`, string(id))
	})
	return p, err
}
