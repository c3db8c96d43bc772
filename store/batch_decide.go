package store

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// DecideBatch records approve, request_changes, reject or withdraw about a whole version.
// With the last approval that the policy asks for, the batch's clearance is written: in the
// first phase it reaches to the end, or with a canary to the last of the first items; in the
// second to the end. Items become operations after that.
func (s *Store) DecideBatch(ctx context.Context, a Actor, d BatchDecided) error {
	if d.FormID == "" {
		return operation.Refuse(operation.CodeReasonMissing)
	}
	if a.Kind != operation.ActorPerson {
		return operation.Refuse(operation.CodeNotEntitled)
	}
	return s.changeBatch(ctx, a, d.Batch, false, nil, func(c *batchChange) error {
		if err := c.sentBefore(d); err != nil {
			return err
		}
		if d.Number != c.b.Number || d.Hash != c.hash {
			return operation.Refuse(operation.CodeStaleVersion)
		}
		if d.Phase != c.b.Phase() {
			return operation.Refuse(operation.CodeStaleRevision)
		}
		if err := c.readDecider(d); err != nil {
			return err
		}
		return c.decideBatch(d)
	})
}

// sentBefore ends a form whose key was used: errDone where it says what is on record.
func (c *batchChange) sentBefore(d BatchDecided) error {
	var same []bool
	err := c.list(&same, `SELECT batch_id = $3 AND number = $4 AND phase = $5 AND decision = $6 AND COALESCE(for_user, '') = $7 AND reason = $8 AND reason_code = $9
		AND NOT EXISTS (SELECT 1 FROM batch_approvals n WHERE n.user_id = a.user_id AND n.batch_id = a.batch_id AND n.number = a.number AND n.phase = a.phase AND n.decided_at > a.decided_at)
		FROM batch_approvals a WHERE user_id = $1 AND form_id = $2`,
		c.actor.ID, d.FormID, string(d.Batch), d.Number, string(d.Phase), string(d.Decision), string(d.For), d.Reason, d.Preset)
	switch {
	case err != nil || len(same) == 0:
		return err
	case same[0]:
		return errDone
	}
	return operation.Refuse(operation.CodeStaleRevision)
}

// batchApprovalSQL reads an approvalRow of the batch $1, version $2, phase $3.
const batchApprovalSQL = `SELECT COALESCE(v.policy, '') AS policy, COALESCE(v.submitted_by, '') AS submitted_by, v.author_id, COALESCE(v.prompted_by, '') AS prompted_by,
	COALESCE((SELECT created_by FROM api_tokens k WHERE k.id = v.author_id), '') AS owner,
	COALESCE((SELECT string_agg(CASE WHEN e.author_kind = 'person' THEN e.author_id ELSE e.prompted_by END, ',') FROM batch_versions e
		WHERE e.batch_id = v.batch_id AND (e.author_kind = 'person' OR e.prompted_by IS NOT NULL)), '') AS editors,
	COALESCE((SELECT json_agg(json_build_object('ID', a.id, 'User', a.user_id, 'For', COALESCE(a.for_user, ''), 'Decision', a.decision, 'Round', a.round, 'At', a.decided_at) ORDER BY a.decided_at, a.id)
		FROM batch_approvals a WHERE a.batch_id = v.batch_id AND a.number = v.number AND a.phase = $3)::text, '[]') AS stand, b.round
	FROM batches b JOIN batch_versions v ON v.batch_id = b.id AND v.number = $2 WHERE b.id = $1`

// readDecider reads the acting person and what stands on the version in this phase.
func (c *batchChange) readDecider(d BatchDecided) error {
	if err := c.get(&c.read.Apr, batchApprovalSQL, string(c.b.ID), c.b.Number, string(d.Phase)); err != nil {
		return err
	}
	who, err := c.person(c.actor, c.b.Flow)
	if err != nil {
		return err
	}
	c.read.Me.Email, c.read.Me.Active = who.Email, who.Active
	if err := c.get(&c.read.Me.Roles, `SELECT COALESCE(string_agg(DISTINCT role, ','), '') FROM user_roles WHERE user_id = $1 AND flow IN ('', $2)`, c.actor.ID, c.b.Flow); err != nil {
		return err
	}
	return c.readReceived()
}

func (c *batchChange) decideBatch(d BatchDecided) error {
	dd := Decided{Decision: d.Decision, Reason: d.Reason, FormID: d.FormID, For: d.For, Preset: d.Preset, PresetWords: d.PresetWords}
	if d.Decision == operation.Withdraw && c.op.State != operation.PendingApproval {
		return c.refuseState() // what is cleared is paused or stopped
	}
	j, err := c.judge(dd, c.hash)
	if err != nil {
		return err
	}
	if j.expired {
		if err := c.note("expire", string(operation.CodeApprovalExpired), "cause", string(operation.CodeApprovalExpired)); err != nil {
			return err
		}
		c.b.Round = j.Round
	}
	if err := c.insertBatchApproval(d, j.row(dd)); err != nil {
		return err
	}
	links := append(j.links, "number", strconv.Itoa(c.b.Number), "phase", string(d.Phase))
	switch d.Decision {
	case operation.RequestChanges:
		return c.sendBack(dd.why(), links)
	case operation.Reject:
		return c.reject(dd.why(), links)
	case operation.Withdraw:
		c.planBatch(&c.b, &j.policy, givenOf(j.after()), false)
		return c.note("withdraw", dd.why(), links...)
	}
	if !j.reached() {
		c.planBatch(&c.b, &j.policy, givenOf(j.after()), false)
		return c.note("approve", dd.why(), links...)
	}
	return c.clearBatch(d.Phase, j.policy, j.after(), dd.why(), links)
}

func (c *batchChange) insertBatchApproval(d BatchDecided, row map[string]any) error {
	role, _ := row["role"].(operation.Role)
	id, _ := row["id"].(operation.ApprovalID)
	return c.one(`INSERT INTO batch_approvals (id, batch_id, number, hash, phase, round, decision, user_id, for_user, delegation_id, role, reason, reason_code, reason_words, form_id, decided_at)
		VALUES ($1, $2, $3, decode($4, 'hex'), $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`, string(id), string(c.b.ID), c.b.Number, c.hash, string(d.Phase), row["round"], string(d.Decision),
		c.actor.ID, row["for_user"], row["delegation_id"], string(role), storable(d.Reason), d.Preset, storable(d.PresetWords), d.FormID, c.now)
}

// sendBack gives the batch back to its author. After a canary nothing can be changed any
// more: what was approved is what went out, so the rest is approved, or stopped.
func (c *batchChange) sendBack(why string, links []string) error {
	if c.b.Cleared > 0 {
		return c.refuseState()
	}
	c.b.State = operation.BatchDraft
	c.b.Round++
	c.planBatch(&c.b, nil, nil, true)
	return c.note("request_changes", why, append(links, "decision", "request_changes")...)
}

// reject ends the batch before anything of it was released; after a canary it gives up the
// rest, which never becomes an operation.
func (c *batchChange) reject(why string, links []string) error {
	if c.b.Cleared > 0 {
		c.b.StoppedWhy, c.b.StoppedBy, c.b.StoppedAt = why, c.actor.ID, &c.now
		c.b.State = operation.BatchRunning
	} else {
		c.b.State = operation.BatchRejected
	}
	c.b.ExpiresAt = nil
	c.planBatch(&c.b, nil, nil, true)
	return c.note("reject", why, links...)
}

// clearBatch writes the batch's clearance, linked to all its approvals, and lets items go.
func (c *batchChange) clearBatch(phase operation.BatchPhase, p operation.Policy, stand []standing, why string, links []string) error {
	upto, err := c.reach(phase)
	if err != nil {
		return err
	}
	policy, err := jsonText(p)
	if err != nil {
		return err
	}
	id, expires := operation.ClearanceID(newID("clr")), expiry(p, stand)
	if err := c.one(`INSERT INTO batch_clearances (id, batch_id, number, hash, upto, required, policy, expires_at, created_at) VALUES ($1, $2, $3, decode($4, 'hex'), $5, $6, $7, $8, $9)`,
		string(id), string(c.b.ID), c.b.Number, c.hash, upto, max(p.Required, 1), policy, expires, c.now); err != nil {
		return err
	}
	for _, apr := range carrying(p, stand) {
		if err := c.one(`INSERT INTO batch_clearance_approvals (clearance_id, approval_id) VALUES ($1, $2)`, string(id), apr); err != nil {
			return err
		}
	}
	c.b.ClearanceID, c.b.Cleared, c.b.ExpiresAt = id, upto, expires
	c.b.State = operation.BatchRunning
	if upto < c.b.Total {
		c.b.State = operation.BatchCanary
	}
	c.planBatch(&c.b, nil, nil, true)
	return c.note("clear", why, append(links, "clearance", string(id), "until", strconv.Itoa(upto))...)
}

// reach is the last position that a clearance of this phase covers.
func (c *batchChange) reach(phase operation.BatchPhase) (int, error) {
	n := c.canary()
	if phase == operation.PhaseRest || n == 0 || n >= c.b.Included {
		return c.b.Total, nil
	}
	var at int
	err := c.get(&at, `SELECT position FROM batch_items WHERE batch_id = $1 AND number = $2 AND excluded = '' ORDER BY position OFFSET $3 LIMIT 1`, string(c.b.ID), c.b.Number, n-1)
	return at, err
}

// canary is how many items go out before the second decision; 0 = there is none.
func (c *batchChange) canary() int {
	if st, ok := stageOf(c.flow, c.b.Stage); ok && st.ForEach != nil {
		return st.ForEach.Canary
	}
	return 0
}

// SweepBatches moves batches whose approval no longer holds, and of which something is not
// released yet, back to their approvers: it has expired, or too few of those who gave it may
// still give it. That is looked at again when rights have changed. It returns how many.
func (s *Store) SweepBatches(ctx context.Context, a Actor) (int, error) {
	var epoch int64
	if err := s.read(ctx, func(q *sqlx.DB) error { return q.GetContext(ctx, &epoch, `SELECT epoch FROM installation`) }); err != nil {
		return 0, err
	}
	lapsed := `expires_at <= clock_timestamp()`
	if s.sweptEpoch.Load() != epoch {
		lapsed += ` OR released < cleared`
	}
	n, err := sweepEach(ctx, s, `SELECT id FROM batches WHERE state IN ('canary', 'running') AND stopped_at IS NULL AND (`+lapsed+`) ORDER BY expires_at`, func(id operation.BatchID) (bool, error) {
		if is, err := s.batchLapsed(ctx, id); err != nil || !is {
			return false, err
		}
		return s.sweepBatch(ctx, a, id, (*batchChange).lapse)
	})
	if err == nil {
		s.sweptEpoch.Store(epoch)
	}
	return n, err
}

// lapse takes the batch back to its approvers when its clearance holds no longer.
func (c *batchChange) lapse() error {
	if !c.b.State.Cleared() || c.b.Stopped() {
		return errDone
	}
	why, err := c.lapsed(c.b.ID)
	if err != nil || why == nil {
		return errors.Join(err, errDone)
	}
	c.b.ExpiresAt = nil
	if c.b.Released >= c.b.Cleared {
		return nil // what went out has clearances of its own; nothing waits here
	}
	return c.expire(why.Code)
}

// batchLapsed looks, without a lock, whether a batch's clearance may hold no longer.
func (s *Store) batchLapsed(ctx context.Context, id operation.BatchID) (lapsed bool, err error) {
	err = s.snapshot(ctx, func(t *tx) error {
		why, err := t.lapsed(id)
		lapsed = why != nil
		return err
	})
	return lapsed, err
}

// peekCommonSQL is commonSQL without a transaction ID.
var peekCommonSQL = strings.Replace(commonSQL, "pg_current_xact_id()::text", "''", 1)

// lapsed says why the clearance of a batch holds no longer; nil = it holds, or there is none.
func (t *tx) lapsed(id operation.BatchID) (*operation.Refusal, error) {
	h := &heldBatch{tx: t}
	if err := t.get(&h.commonRow, peekCommonSQL, string(id)); err != nil {
		return nil, err
	}
	if err := h.definitions(); err != nil {
		return nil, err
	}
	switch c := h.cleared[h.ClearanceID]; {
	case h.ExpiresAt != nil && !h.at().Before(*h.ExpiresAt):
		return operation.Refuse(operation.CodeApprovalExpired), nil
	case c == nil:
		return nil, nil
	default:
		return c.lapsed(h.at()), nil
	}
}

// expire asks the approvers anew: about the whole while nothing was released, else about the rest.
func (c *batchChange) expire(why operation.Code) error {
	c.b.Round++
	c.b.State = operation.BatchCanaryReview
	if c.b.Released == 0 {
		c.b.State, c.b.ClearanceID, c.b.Cleared = operation.BatchPendingApproval, "", 0
	}
	c.planBatch(&c.b, nil, nil, true)
	return c.note("expire", string(why), "cause", string(why))
}
