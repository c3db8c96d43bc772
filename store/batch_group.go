package store

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"

	"github.com/lib/pq"
)

// GroupClaimed is what one look at a batch gave.
type GroupClaimed struct {
	Dispatched []Dispatched // hold bytes to send, each once
	Refused    []GroupRefused
	// Alone are operations that are due and not for a group: another clearance than their
	// batch's, or something unusual. ClaimAndDispatch decides about them.
	Alone []operation.ID
	// Due: operations that are there already can be claimed.
	Due bool
	// Ahead: the batch's items become operations by ReleaseBatch, ahead of their claims.
	Ahead bool
	// Why nothing of the batch may be begun now; nil = it may, or nothing was due.
	Why *operation.Refusal
}

// GroupRefused is an operation that the gate refused. Closed ones were cancelled: their
// recipients were suppressed since the approval.
type GroupRefused struct {
	Operation operation.ID
	Refusal   *operation.Refusal
}

// groupRow is one operation of a group, as its statements read it.
type groupRow struct {
	opRow
	Now         time.Time     `db:"now"`
	VersionHash []byte        `db:"version_hash"`
	VerAccount  string        `db:"ver_account"`
	VerEnv      string        `db:"ver_environment"`
	Clr         itemClearance `db:"clr"`
	Body        bodyRow       `db:"body"`
	Same        string        `db:"same"`       // JSON of stageRow
	Suppressed  bool          `db:"suppressed"` // since the approval
	Att         attemptRow    `db:"att"`
	TakenBy     operation.ID  `db:"taken_by"`
	Awaited     bool          `db:"awaited"` // an operation of the same item waits for this one
}

// groupFacts are the version and the clearance of an operation l of a group. LATERAL with
// OFFSET 0 lets each be found by its key, whatever the planner thinks of the tables' sizes.
const groupFacts = `clock_timestamp() AS now, COALESCE(v.hash, '') AS version_hash, COALESCE(v.account, '') AS ver_account, COALESCE(v.environment, '') AS ver_environment,
	COALESCE(c.batch_clearance_id, '') AS "clr.batch", COALESCE(c.kind, '') AS "clr.kind", COALESCE(c.version_id, '') AS "clr.version", COALESCE(c.hash, '') AS "clr.hash", c.expires_at AS "clr.expires"`

const groupFrom = ` LEFT JOIN LATERAL (SELECT * FROM content_versions y WHERE y.id = l.version_id OFFSET 0) v ON true
	LEFT JOIN LATERAL (SELECT * FROM clearances y WHERE y.id = l.clearance_id OFFSET 0) c ON true`

// claimGroupSQL locks what is due of the batch $1, at most $2 operations, and passes over
// what others hold, and over $4. $3 names the stages whose same item each waits for.
var claimGroupSQL = `WITH again AS MATERIALIZED (SELECT ` + opColumns + ` FROM operations o WHERE ` + inBatch(operation.RetryScheduled) + ` AND o.retry_at <= clock_timestamp() AND NOT o.paused
		AND NOT o.id = ANY ($4) ORDER BY o.state, o.batch_no LIMIT $2 FOR UPDATE SKIP LOCKED),
	fresh AS MATERIALIZED (SELECT ` + opColumns + ` FROM operations o WHERE ` + inBatch(operation.Ready) + ` AND NOT o.paused
		AND NOT o.id = ANY ($4) ORDER BY o.state, o.batch_no LIMIT $2 - (SELECT count(*) FROM again) FOR UPDATE SKIP LOCKED),
	l AS (SELECT * FROM again UNION ALL SELECT * FROM fresh)
	SELECT l.*, ` + groupFacts + `, COALESCE(b.content, '') AS "body.content", COALESCE(b.request, '') AS "body.request", COALESCE(b.salt, '') AS "body.salt", COALESCE(v.credential, '') AS "body.credential",
	COALESCE(i.recipient <> '' AND ` + suppressedSQL("i.recipient", "l.effect_type", "l.destination", "clock_timestamp()") + `, false) AS suppressed, CASE WHEN cardinality(CAST($3 AS text[])) > 0 THEN COALESCE((SELECT json_agg(s.j)::text FROM (
		SELECT ` + stageRowJSON + ` AS j FROM operations s WHERE s.run_id = l.run_id AND s.stage = ANY ($3) AND s.item_key = l.item_key
		UNION ALL ` + batchRows("l.run_id", "l.item_key") + ` AND z.stage = ANY ($3)) s), '') ELSE '' END AS same
	FROM l` + groupFrom + ` LEFT JOIN LATERAL (SELECT * FROM version_bodies y WHERE y.version_id = l.version_id OFFSET 0) b ON true
	LEFT JOIN LATERAL (SELECT y.recipient FROM batch_items y WHERE y.batch_id = c.batch_id AND y.number = c.batch_number AND y.position = c.batch_no OFFSET 0) i ON true`

// ClaimGroup takes operations of a batch that are due, at most n, and dispatches them: in
// one transaction, which is committed before anything is sent. n is how many the caller has
// free hands for: never more is claimed than is executed at once. Each is decided upon by
// the gate for itself, and has its own attempt and its own entry in its history. Those in
// except are passed over: what was refused a moment ago must not stand in the others' way.
func (s *Store) ClaimGroup(ctx context.Context, a Actor, id operation.BatchID, n int, worker string, except ...operation.ID) (GroupClaimed, error) {
	var out GroupClaimed
	g, err := s.group(ctx, a, id, func(g *group) error {
		out = GroupClaimed{}
		return g.claim(n, worker, except, &out)
	})
	if err != nil && constraint(err) && g != nil {
		return s.claimOneByOne(ctx, a, g, worker)
	}
	return out, err
}

// claimOneByOne does what a group could not: a constraint refused one of its members, and
// the others must not be lost with it.
func (s *Store) claimOneByOne(ctx context.Context, a Actor, g *group, worker string) (GroupClaimed, error) {
	var out GroupClaimed
	for _, u := range g.units {
		d, err := s.ClaimAndDispatch(ctx, a, u.op.ID, worker)
		r, no := operation.RefusalIn(err)
		switch {
		case err == nil:
			out.Dispatched = append(out.Dispatched, d)
		case no:
			out.Refused = append(out.Refused, GroupRefused{u.op.ID, r})
		default:
			s.log.Warn("an item of a batch cannot be claimed", "operation", u.op.ID, "batch", g.ID, "error", err)
			out.Refused = append(out.Refused, GroupRefused{u.op.ID, operation.Refuse(operation.CodeNotReady)})
		}
	}
	return out, nil
}

// group is one transaction about several operations of a batch.
type group struct {
	*heldBatch
	units []*unit
	mark  *operation.BatchMark // what the group came to
}

// group runs fn in a transaction that holds the batch's run, shared with other groups, and
// saves what it decided about in one statement. The last group is given also with an error.
func (s *Store) group(ctx context.Context, a Actor, id operation.BatchID, fn func(*group) error) (*group, error) {
	var g *group
	var jobs []map[string]any
	err := s.write(ctx, func(t *tx) error {
		jobs = nil
		h, err := t.lockBatch(a, id, false)
		if err != nil {
			return err
		}
		g = &group{heldBatch: h}
		if err := fn(g); err != nil {
			return err
		}
		if len(g.units) == 0 {
			return errDone
		}
		jobs, err = g.save()
		return err
	})
	if err == nil {
		s.nudgeFor(jobs)
	}
	return g, err
}

// constraint reports that the database refused what a statement wrote.
func constraint(err error) bool {
	var p *pq.Error
	return errors.As(err, &p) && strings.HasPrefix(string(p.Code), "23")
}

func (g *group) claim(n int, worker string, except []operation.ID, out *GroupClaimed) error {
	if out.Why = g.mayBegin(); out.Why != nil || n < 1 {
		return nil
	}
	var rows []groupRow
	if err := g.list(&rows, claimGroupSQL, string(g.ID), n, pq.Array(followed(g.flow, g.Stage)), pq.Array(append([]operation.ID{}, except...))); err != nil {
		return err
	}
	now := latestOf(rows)
	for i := range rows {
		u, err := g.member(&rows[i], now)
		if err != nil {
			return err
		}
		if err := g.claimOne(u, worker, rows[i].Suppressed, out); err != nil {
			return err
		}
	}
	return nil
}

// claimOne decides about one member. What is unusual about it is left to be decided alone.
func (g *group) claimOne(u *unit, worker string, suppressed bool, out *GroupClaimed) error {
	id := u.op.ID
	if u.op.RequestID != "" || u.op.Unsettled > 0 || u.op.OpenAttempt != "" || u.op.Stated || u.op.Disputed {
		out.Alone = append(out.Alone, id)
		return nil
	}
	if suppressed {
		if err := u.giveUp(string(operation.CodeSuppressed), string(operation.CodeSuppressed)); err != nil {
			return err
		}
		out.Refused = append(out.Refused, GroupRefused{id, operation.Refuse(operation.CodeSuppressed)})
		g.units = append(g.units, u)
		return nil
	}
	if u.read.Clr.Batch == "" {
		out.Alone = append(out.Alone, id)
		return nil
	}
	d, refusal, err := u.dispatchJoined(worker)
	if err != nil {
		return g.leave(id, err, out)
	}
	if refusal != nil {
		out.Refused = append(out.Refused, GroupRefused{id, refusal})
		if u.op.replanned {
			g.units = append(g.units, u)
		}
		return nil
	}
	out.Dispatched = append(out.Dispatched, d)
	g.units = append(g.units, u)
	return nil
}

// dispatchJoined claims and dispatches in one decision, if the gate permits it. A refusal may
// have changed the operation (replanned); an error that is a refusal came too late for that,
// and nothing of the unit may be written then.
func (u *unit) dispatchJoined(worker string) (Dispatched, *operation.Refusal, error) {
	u.joined = true
	c, att, refusal, err := u.claim(worker)
	d := Dispatched{Claimed: c}
	if err != nil || refusal != nil {
		return d, refusal, err
	}
	f, err := u.gateFacts()
	if err != nil {
		return d, nil, err
	}
	sendBy := operation.SendBy(att.perm, att.LeaseUntil)
	req, err := u.resolve(&att, &d, f)
	if err == nil && !u.now.Before(sendBy) {
		err = operation.Refuse(operation.CodeSendByPassed)
	}
	if err != nil {
		return d, nil, err
	}
	return d, nil, u.writeDispatch(&att, &d, req, sendBy, true)
}

// leave lets an operation be decided upon alone when the rules refused it on the way. The
// row in memory is forgotten; nothing of it is written.
func (g *group) leave(id operation.ID, err error, out *GroupClaimed) error {
	if _, no := operation.RefusalIn(err); !no {
		return err
	}
	out.Alone = append(out.Alone, id)
	return nil
}

// mayBegin says what forbids every attempt of the batch at once, so that its operations need
// not be looked at.
func (g *heldBatch) mayBegin() *operation.Refusal {
	if g.profile.PerformedBy == definition.ClientsPerform {
		return operation.Refuse(operation.CodeForClients)
	}
	return g.mayGo()
}

// mayGo says what holds the batch as a whole back.
func (g *heldBatch) mayGo() *operation.Refusal {
	earlier := earlierOpen(g.flow, &opRow{Stage: g.Stage, StageNo: g.StageNo}, g.stages)
	if st := g.stage(); st.ForEach != nil && st.ForEach.SameItem {
		earlier = slices.DeleteFunc(earlier, func(key string) bool { return slices.Contains(followed(g.flow, g.Stage), key) })
	}
	switch {
	case g.RunHeld:
		return operation.Refuse(operation.CodeNotReady)
	case g.AllPaused != "":
		return operation.Refuse(operation.CodePausedAll)
	case g.FlowPaused:
		return operation.Refuse(operation.CodePausedFlow)
	case g.DestPaused:
		return operation.Refuse(operation.CodePausedDestination)
	case g.Held == batchPaused:
		return operation.Refuse(operation.CodePausedBatch)
	case g.Held == batchStopped:
		return operation.Refuse(operation.CodeBatchStopped)
	case len(earlier) > 0:
		return operation.Refuse(operation.CodeEarlierStage, "stage", earlier[0])
	}
	return nil
}

// followed names the stages whose same item the items of a stage wait for.
func followed(flow *definition.Flow, stage string) []string {
	out := []string{}
	for key := range follows(flow, stage, "any") {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}

// giveUp cancels an operation before anything of it was sent, for a reason that concerns
// its batch.
func (u *unit) giveUp(reason, cause string) error {
	u.voidClearance()
	u.op.RetryAt, u.op.LookupAt, u.op.Paused = nil, nil, false
	return u.move(u.op, operation.EvCancel, reason, "cause", cause, "batch", string(u.op.BatchID))
}

// latestOf is the clock after the last row was locked.
func latestOf(rows []groupRow) (now time.Time) {
	for _, r := range rows {
		now = latest(now, r.Now)
	}
	return now.UTC().Truncate(time.Microsecond)
}
