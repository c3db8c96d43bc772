package store

import (
	"context"
	"slices"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// Restore is a database that turned out to be an older copy, or another server: found at
// a start, reconciled by people, ended by an admin who lets the sends go on.
type Restore struct {
	ID      string     `db:"id"`
	Word    string     `db:"why"`      // one of the Mismatch constants
	Since   time.Time  `db:"since"`    // what happened from then on may be missing
	Until   time.Time  `db:"until"`    // the newest thing that is known outside the database
	Missing *int64     `db:"missing"`  // so many history entries may be missing; nil = not known
	FoundAt time.Time  `db:"found_at"` // when it was found
	EndedAt *time.Time `db:"ended_at"`
	EndedBy *string    `db:"ended_by"`
	Reason  *string    `db:"reason"` // of whoever ended it
}

// RestoreCounts say how far the reconciling is.
type RestoreCounts struct {
	All       int `db:"everything"`
	Open      int `db:"open"`      // nobody and nothing has settled them
	Unmarked  int `db:"unmarked"`  // a worker has not come to them yet
	Confirmed int `db:"confirmed"` // by evidence, or over: nothing more of them can go out
	Compared  int `db:"compared"`  // by a person
}

const restoreColumns = `id, why, since, until, missing, found_at, ended_at, ended_by, reason`

// FindRestore gives the newest restore that was found; ErrNotFound when there was none.
func (s *Store) FindRestore(ctx context.Context) (Restore, RestoreCounts, error) {
	var r Restore
	var n RestoreCounts
	err := s.read(ctx, func(q *sqlx.DB) error {
		if err := q.GetContext(ctx, &r, `SELECT `+restoreColumns+` FROM restores ORDER BY found_at DESC, id DESC LIMIT 1`); err != nil {
			return err
		}
		return q.GetContext(ctx, &n, `SELECT count(*) AS everything, count(*) FILTER (WHERE settled_at IS NULL) AS open, count(*) FILTER (WHERE marked_at IS NULL AND settled_at IS NULL) AS unmarked,
			count(*) FILTER (WHERE settled IN ('confirmed', 'not_executed', 'over')) AS confirmed, count(*) FILTER (WHERE settled = 'compared') AS compared
			FROM (SELECT settled, settled_at, marked_at FROM restore_items WHERE restore_id = $1
				UNION ALL SELECT settled, settled_at, 'epoch' FROM restore_batches WHERE restore_id = $1) x`, r.ID)
	})
	return r, n, err
}

// lossy reports that something is known to be missing, so that each open operation is to
// be compared with its destination.
func (m Mismatch) lossy() bool { return m.Word == MismatchOlder || m.Word == MismatchCheckpoint }

// openRestore notes a restored database, or adds to one that is open, and lists the
// operations that may have gone on in what was lost. It gives the restore's identifier.
func (t *tx) openRestore(m Mismatch, now time.Time) (string, error) {
	until := m.Until
	if until.Before(m.Since) {
		until = m.Since
	}
	var id string
	err := t.get(&id, `SELECT id FROM restores WHERE ended_at IS NULL FOR UPDATE`)
	switch {
	case isGone(err):
		id = newID("rst")
		err = t.one(`INSERT INTO restores (id, why, since, until, missing, line, found_at)
			VALUES ($1, $2, $3, $4, $5, GREATEST($6, (SELECT COALESCE(max(line), 1) FROM restores) + 1), $7)`, id, m.Word, m.Since, until, m.Missing, m.Line, now)
	case err == nil:
		err = t.one(`UPDATE restores SET since = LEAST(since, $2), until = GREATEST(until, $3), missing = GREATEST(missing, $4), line = GREATEST(line, $5),
			why = CASE WHEN $7 THEN $6 ELSE why END WHERE id = $1`, id, m.Since, until, m.Missing, m.Line, m.Word, m.lossy())
	}
	if err != nil || !m.lossy() {
		return id, err
	}
	if _, err = t.exec(`INSERT INTO restore_items (restore_id, operation_id, state) SELECT $1, id, state FROM operations WHERE state NOT IN `+closedStates+` ON CONFLICT DO NOTHING`, id); err != nil {
		return id, err
	}
	return id, t.listRestoredBatches(id)
}

// endRestore is part of the resume of all sends: what is listed must be reconciled.
func (t *tx) endRestore(a Actor, reason string, now time.Time) error {
	var id string
	err := t.get(&id, `SELECT id FROM restores WHERE ended_at IS NULL FOR UPDATE`)
	if isGone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := t.settleRestored(id, now); err != nil {
		return err
	}
	if err := t.settleRestoredBatches(id, now); err != nil {
		return err
	}
	var open bool
	if err := t.get(&open, `SELECT EXISTS (SELECT 1 FROM restore_items WHERE restore_id = $1 AND settled_at IS NULL) OR EXISTS (SELECT 1 FROM restore_batches WHERE restore_id = $1 AND settled_at IS NULL)`, id); err != nil {
		return err
	}
	if open {
		return operation.Refuse(operation.CodeRestoreOpen)
	}
	if reason == "" {
		return operation.Refuse(operation.CodeReasonMissing)
	}
	return t.one(`UPDATE restores SET ended_at = $2, ended_by = $3, reason = $4 WHERE id = $1`, id, now, a.ID, reason)
}

// settleRestored settles what evidence has settled since: the effect is confirmed, or a
// person showed that it did not happen.
func (t *tx) settleRestored(id string, now time.Time) error {
	_, err := t.exec(`UPDATE restore_items i SET settled = o.state, settled_at = $2, settled_by = 'system' FROM operations o
		WHERE i.restore_id = $1 AND o.id = i.operation_id AND i.settled_at IS NULL AND o.state IN ('confirmed', 'not_executed')`, id, now)
	return err
}

// restoreBatch is how many operations one call of MarkRestored marks.
const restoreBatch = 100

// MarkRestored works on the list of an open restore: it adds operations that came from
// events sent again, says in each operation's history that it is listed, plans a lookup
// where its destination has one, and settles what evidence has settled. It returns how
// many it marked; call it again until that is none.
func (s *Store) MarkRestored(ctx context.Context, a Actor) (int, error) {
	var id string
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &id, `SELECT id FROM restores WHERE ended_at IS NULL`)
	})
	if isGone(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if err := s.write(ctx, func(t *tx) error { return t.refreshRestored(id) }); err != nil {
		return 0, err
	}
	var ops []operation.ID
	err = s.read(ctx, func(q *sqlx.DB) error {
		ops = nil
		return q.SelectContext(ctx, &ops, `SELECT operation_id FROM restore_items WHERE restore_id = $1 AND marked_at IS NULL AND settled_at IS NULL ORDER BY operation_id LIMIT $2`, id, restoreBatch)
	})
	if err != nil {
		return 0, err
	}
	for i, op := range ops {
		if err := s.change(ctx, a, op, func(u *unit) error { return u.markRestored(id) }); err != nil {
			return i, err
		}
	}
	return len(ops), nil
}

// ofLostTime is an event that may be one of the time that was lost: its own time says so, or
// it has none of its own, as what programs ask for by the job API: its receipt is its time.
const ofLostTime = `(v.event_time <= r.found_at OR v.event_time BETWEEN v.received_at - interval '10 milliseconds' AND v.received_at)`

// refreshRestored adds what was made since from events of the time that was lost, and
// settles what is settled.
func (t *tx) refreshRestored(id string) error {
	now, err := t.clock()
	if err != nil {
		return err
	}
	if _, err := t.exec(`INSERT INTO restore_items (restore_id, operation_id, state)
		SELECT r.id, o.id, o.state FROM restores r JOIN operations o ON o.created_at >= r.found_at JOIN event_runs e ON e.run_id = o.run_id JOIN events v ON v.id = e.event_id
		WHERE r.id = $1 AND r.ended_at IS NULL AND r.why IN ('witness_older', 'witness_checkpoint') AND `+ofLostTime+` ON CONFLICT DO NOTHING`, id); err != nil {
		return err
	}
	if err := t.settleRestored(id, now); err != nil {
		return err
	}
	return t.refreshRestoredBatches(id, now)
}

// markRestored says in the operation's history that it is to be reconciled and plans a
// lookup: what was sent in the time that was lost is found by our own reference.
func (u *unit) markRestored(restore string) error {
	o := u.op
	if !o.State.Closed() && o.State != operation.InProgress {
		if action, err := u.profile.Action(o.Action); err == nil && action.HasLookup() && (o.LookupAt == nil || o.LookupAt.After(u.now)) {
			o.LookupAt, o.replanned = &u.now, true
		}
	}
	u.note(o, "restore_listed", "", "restore", restore)
	return u.one(`UPDATE restore_items SET marked_at = $3 WHERE restore_id = $1 AND operation_id = $2 AND marked_at IS NULL AND settled_at IS NULL`, restore, string(o.ID), u.now)
}

// CompareRestored records that a person compared one listed operation with its
// destination's own record, and what they found. It decides nothing about the operation:
// an effect that was found is stated on the operation's page, with evidence.
func (s *Store) CompareRestored(ctx context.Context, a Actor, restore string, id operation.ID, reason string) error {
	reason, err := reasonGiven(reason)
	if err != nil {
		return err
	}
	return s.change(ctx, a, id, func(u *unit) error {
		if err := u.mayBe(a, u.op.Flow, operation.RoleOpsOwner, operation.RoleAdmin); err != nil {
			return err
		}
		n, err := u.exec(`UPDATE restore_items i SET settled = 'compared', settled_at = $3, settled_by = $4, reason = $5 FROM restores r
			WHERE r.id = i.restore_id AND r.ended_at IS NULL AND i.restore_id = $1 AND i.operation_id = $2 AND i.settled_at IS NULL`, restore, string(id), u.now, a.ID, reason)
		if err != nil {
			return err
		}
		if n == 0 {
			return errDone // settled meanwhile, or not listed
		}
		u.note(u.op, "restore_compared", reason, "restore", restore)
		return nil
	})
}

// CompareAllRestored does the same for all listed operations of one destination whose
// outcome is not in doubt: their log was compared as a whole. Operations in doubt are
// compared one by one. It returns how many were recorded.
func (s *Store) CompareAllRestored(ctx context.Context, a Actor, restore, destination, reason string) (int, error) {
	if _, err := reasonGiven(reason); err != nil {
		return 0, err
	}
	v, err := s.FindViewer(ctx, a)
	if err != nil {
		return 0, err
	}
	var ops []struct {
		ID   operation.ID `db:"id"`
		Flow string       `db:"flow"`
	}
	err = s.read(ctx, func(q *sqlx.DB) error {
		ops = nil
		return q.SelectContext(ctx, &ops, `SELECT o.id, o.flow FROM restore_items i JOIN operations o ON o.id = i.operation_id
			WHERE i.restore_id = $1 AND i.settled_at IS NULL AND o.destination = $2 AND o.state NOT IN ('unknown', 'in_progress', 'review', 'reexecution_requested')
			AND i.state NOT IN ('unknown', 'in_progress') ORDER BY o.id`, restore, destination)
	})
	n := 0
	for _, o := range ops {
		who := v.In(o.Flow)
		if err == nil && slices.ContainsFunc([]operation.Role{operation.RoleOpsOwner, operation.RoleAdmin}, who.Has) {
			if err = s.CompareRestored(ctx, a, restore, o.ID, reason); err == nil {
				n++
			}
		}
	}
	if err == nil && n == 0 && len(ops) > 0 {
		return 0, operation.Refuse(operation.CodeNotEntitled, "role", string(operation.RoleOpsOwner)).By(operation.Responsible{Role: operation.RoleOpsOwner})
	}
	return n, err
}
