package store

import (
	"context"
	"errors"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// ReleaseAhead is how far a batch is released ahead: how many of its items become operations
// in one transaction, how many that are ready are enough, and after how many its history
// says how far it is.
const ReleaseAhead = 250

// takeHeadSQL locks the batch $1 against other releases. due: operations of it, but for $2, can
// be claimed that are there already.
var takeHeadSQL = `SELECT b.released, b.cleared, b.number, (SELECT count(*) FROM (SELECT 1 FROM operations o WHERE ` + inBatch(operation.Ready) + ` LIMIT $3) o) AS backlog,
	EXISTS (SELECT 1 FROM operations o WHERE ` + inBatch(operation.Ready) + ` AND NOT o.paused AND NOT o.id = ANY ($2))
		OR EXISTS (SELECT 1 FROM operations o WHERE ` + inBatch(operation.RetryScheduled) + ` AND o.retry_at <= clock_timestamp() AND NOT o.paused AND NOT o.id = ANY ($2)) AS due
	FROM batches b WHERE b.id = $1 FOR NO KEY UPDATE OF b`

// inBatch is the condition that an operation o of the batch $1 is in a state, in words that only
// the index of batches knows. Another index of states would give the operations of all batches,
// and is chosen as long as the planner takes the tables for small.
func inBatch(state operation.State) string {
	return `o.batch_id = $1 AND (o.state, o.batch_no) >= ('` + string(state) + `', 0) AND (o.state, o.batch_no) <= ('` + string(state) + `', 2147483647)`
}

// takeItemsSQL reads the next items of the batch $1 with the bytes that were approved: of
// version $2, behind $3, up to $4, at most $5. $6 is their effect, $7 their destination.
var takeItemsSQL = `SELECT i.position, i.item_key, i.hash, COALESCE(b.content, '') AS "body.content", COALESCE(b.request, '') AS "body.request", COALESCE(b.salt, '') AS "body.salt",
	COALESCE((SELECT v.credential FROM batch_versions v WHERE v.batch_id = $1 AND v.number = $2), '') AS "body.credential",
	i.recipient <> '' AND ` + suppressedSQL("i.recipient", "CAST($6 AS text)", "CAST($7 AS text)", "clock_timestamp()") + ` AS suppressed
	FROM (SELECT * FROM batch_items y WHERE y.batch_id = $1 AND y.number = $2 AND y.position > $3 AND y.position <= $4 AND y.excluded = '' ORDER BY y.position LIMIT $5) i
	LEFT JOIN LATERAL (SELECT * FROM batch_bodies y WHERE y.batch_id = $1 AND y.number = $2 AND y.position = i.position OFFSET 0) b ON true ORDER BY i.position`

// takenItem is an item that is released and claimed at once.
type takenItem struct {
	releaseItem
	Body       bodyRow `db:"body"`
	Suppressed bool    `db:"suppressed"` // since the approval
}

// ReleaseAndClaim makes operations of the next items of a batch, at most n, and dispatches
// them in the same transaction, which is committed before anything is sent. Each is decided
// upon by the gate for itself, and has the version, the clearance, the attempt and the entries
// in its history that ReleaseBatch and ClaimGroup would give it one after the other. One that
// the gate does not let go is left ready, and so is what comes behind it: ClaimGroup says why.
// It begins nothing as long as operations that are there already can be claimed (Due, but for
// those in except), and nothing of a stage whose items follow those of another (Ahead).
func (s *Store) ReleaseAndClaim(ctx context.Context, a Actor, id operation.BatchID, n int, worker string, except ...operation.ID) (GroupClaimed, error) {
	var out GroupClaimed
	var jobs []map[string]any
	err := s.write(ctx, func(t *tx) error {
		out, jobs = GroupClaimed{}, nil
		h, err := t.lockBatch(a, id, false)
		if err != nil {
			return err
		}
		r := newReleasing(h)
		if err := r.take(n, worker, except, &out); err != nil {
			return err
		}
		if r.released == 0 {
			return errDone
		}
		jobs = r.w.jobs
		return nil
	})
	switch {
	case errors.Is(err, errDone):
		return out, nil
	case err != nil && constraint(err): // a release alone tells which item it is, and loses no other
		return GroupClaimed{Ahead: true, Due: true}, nil
	case err != nil:
		return GroupClaimed{}, err
	}
	s.nudgeFor(jobs)
	return out, nil
}

func (r *releasing) take(n int, worker string, except []operation.ID, out *GroupClaimed) error {
	if out.Why = r.mayBegin(); out.Why != nil {
		out.Ahead = out.Why.Code == operation.CodeForClients
		return nil
	}
	if len(followed(r.flow, r.Stage)) > 0 {
		out.Ahead, out.Due = true, true
		return nil
	}
	var head struct {
		Released, Cleared, Number, Backlog int
		Due                                bool
	}
	if err := r.get(&head, takeHeadSQL, string(r.ID), pq.Array(append([]operation.ID{}, except...)), ReleaseAhead); err != nil {
		return err
	}
	out.Due = head.Due
	if head.Due || n < 1 || head.Backlog >= ReleaseAhead || !r.mayRelease(head.Released, head.Cleared) {
		return nil
	}
	var items []takenItem
	if err := r.list(&items, takeItemsSQL, string(r.ID), head.Number, head.Released, head.Cleared, n, r.EffectType, r.Destination); err != nil {
		return err
	}
	r.released = head.Cleared // where fewer are left
	if len(items) == n {
		r.released = items[n-1].Position
	}
	for _, i := range items {
		taken, err := r.takeItem(i, worker, out)
		if err != nil {
			return err
		}
		if !taken {
			r.released, out.Due = i.Position, true
			break
		}
	}
	if err := r.write(head.Number); err != nil {
		return err
	}
	if head.Released > 0 && r.released < head.Cleared && head.Released/ReleaseAhead == r.released/ReleaseAhead {
		return nil
	}
	return r.noteRelease("")
}

// takeItem makes the operation of an item and dispatches it. taken is false when it stays
// ready.
func (r *releasing) takeItem(i takenItem, worker string, out *GroupClaimed) (taken bool, err error) {
	o, made := r.create(i.releaseItem)
	u, err := r.member(&groupRow{opRow: *o, VersionHash: i.Hash, VerAccount: r.Account, VerEnv: r.Environment, Body: i.Body,
		Clr: itemClearance{Batch: r.clearance.ID, Kind: operation.ClearContent, Version: o.VersionID, Hash: i.Hash, Expires: r.clearance.Expires}}, r.now)
	if err != nil {
		return false, err
	}
	if d, ok, err := u.takeNew(worker, i.Suppressed); err != nil {
		return false, err
	} else if ok {
		out.Dispatched = append(out.Dispatched, d)
		u.entries = append(made.entries, u.entries...)
		r.w.add(u.w)
		r.add(i.Position, u)
		return true, nil
	}
	r.add(i.Position, made)
	return false, nil
}

// takeNew claims and dispatches an operation that comes into being in this transaction; ok is
// false when the gate does not let it go. What is in memory of it is forgotten then.
func (u *unit) takeNew(worker string, suppressed bool) (d Dispatched, ok bool, err error) {
	if suppressed {
		return d, false, nil
	}
	d, refusal, err := u.dispatchJoined(worker)
	if err != nil || refusal != nil {
		return d, false, unlessRefused(err)
	}
	return d, true, u.planAlone()
}

// unlessRefused passes over what the rules refused.
func unlessRefused(err error) error {
	if _, no := operation.RefusalIn(err); no {
		return nil
	}
	return err
}
