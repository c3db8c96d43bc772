package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// Dispatch asks the gate again and hands out the resolved bytes. Only its committed
// answer permits a send; the same fence gets the same answer again. A refusal releases
// the claim: nothing was sent, provably.
func (s *Store) Dispatch(ctx context.Context, a Actor, id operation.AttemptID, fence int64) (Dispatched, error) {
	op, err := s.operationOf(ctx, id)
	if err != nil {
		return Dispatched{}, err
	}
	var d Dispatched
	err = s.decideGate(ctx, a, claimSQL, op, func(u *unit) (*operation.Refusal, error) {
		att, err := u.attempt(id)
		if err != nil {
			return nil, err
		}
		if att.Fence != fence || att.Outcome != nil || u.op.OpenAttempt != id || att.ClaimedBy != a.ID {
			return operation.Refuse(operation.CodeStaleFence, "attempt", string(id)), nil
		}
		d = Dispatched{Claimed: claimedOf(att)}
		if att.DispatchedAt != nil {
			return nil, errors.Join(u.repeatAnswer(att, &d), errDone)
		}
		return u.dispatch(&att, &d, false)
	})
	return d, err
}

func (s *Store) operationOf(ctx context.Context, id operation.AttemptID) (operation.ID, error) {
	var op operation.ID
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &op, `SELECT operation_id FROM attempts WHERE id = $1`, string(id))
	})
	return op, err
}

func (u *unit) attempt(id operation.AttemptID) (attemptRow, error) {
	var a attemptRow
	err := u.get(&a, `SELECT `+attemptColumns+` FROM attempts WHERE id = $1 FOR UPDATE`, string(id))
	return a, err
}

func (u *unit) dispatch(a *attemptRow, d *Dispatched, sameTx bool) (*operation.Refusal, error) {
	f, err := u.gateFacts()
	if err != nil {
		return nil, err
	}
	perm := a.perm
	var refusal *operation.Refusal
	if !sameTx {
		perm, refusal = operation.PermitDispatch(f, a.ID, u.now, a.LeaseUntil)
	}
	sendBy := operation.SendBy(perm, a.LeaseUntil)
	if refusal == nil && !u.now.Before(sendBy) {
		refusal = operation.Refuse(operation.CodeSendByPassed, "at", sendBy.UTC().Format(time.RFC3339))
	}
	if refusal != nil {
		return refusal, u.dispatchRefused(refusal)
	}
	req, err := u.resolve(a, d, f)
	if err != nil {
		return nil, err
	}
	return nil, u.writeDispatch(a, d, req, sendBy, sameTx)
}

// dispatchRefused ends the claim; nothing was sent. Then the refusal takes its course.
func (u *unit) dispatchRefused(r *operation.Refusal) error {
	if r.Code == operation.CodeStaleFence {
		return nil
	}
	if err := u.releaseClaim(string(r.Code)); err != nil {
		return err
	}
	f, err := u.gateFacts()
	if err != nil {
		return err
	}
	return u.fallBack(f, r)
}

// resolve fills the holes of the cleared version. The version is hashed again from its
// stored bytes: nothing leaves whose bytes are not the approved ones (I2). A protected
// retry re-uses the resolved bytes of the first request.
func (u *unit) resolve(a *attemptRow, d *Dispatched, f operation.Facts) (operation.Request, error) {
	var req operation.Request
	row := u.read.Body
	if a.Version != u.op.VersionID || row.Request == "" {
		return req, operation.Refuse(operation.CodeHashMismatch)
	}
	if err := json.Unmarshal([]byte(row.Request), &req); err != nil {
		return req, err
	}
	v := operation.Version{Content: json.RawMessage(row.Content), Request: req, Destination: u.op.Destination, Action: u.op.Action,
		Account: f.Version.Account, Environment: f.Version.Environment, Credential: row.Credential}
	h, err := v.Hash(row.Salt)
	if err != nil || !bytes.Equal(h[:], u.facts.VersionHash) {
		return req, operation.Refuse(operation.CodeHashMismatch)
	}
	d.Credential = row.Credential
	if err := json.Unmarshal([]byte(row.Content), &d.Content); err != nil {
		return req, err
	}
	if a.Kind == operation.AttemptProtected {
		return u.firstBytes(f)
	}
	values := map[string]string{operation.HoleOperationID: string(u.op.ID), operation.HoleKey: a.Key}
	stages, err := u.otherStages()
	if err != nil {
		return req, err
	}
	for _, s := range stages {
		if s.State == operation.Confirmed && s.Reference != "" {
			values[operation.HoleTargetRef(s.Stage)] = s.Reference
		}
	}
	out, err := req.Resolve(values)
	if err != nil {
		return out, operation.Refuse(operation.CodeContentMissing, "field", err.Error())
	}
	return out, nil
}

// firstBytes gives the stored resolved bytes of the unsettled attempts; all must be identical.
func (u *unit) firstBytes(f operation.Facts) (req operation.Request, err error) {
	var stored sql.NullString
	un := f.Unsettled
	if err := u.get(&stored, `SELECT resolved FROM attempts WHERE id = $1`, string(un[0].ID)); err != nil {
		return req, err
	}
	if !stored.Valid {
		return req, operation.Refuse(operation.CodeContentDiffers)
	}
	if err := json.Unmarshal([]byte(stored.String), &req); err != nil {
		return req, err
	}
	h, err := req.Hash()
	if err != nil {
		return req, err
	}
	if r := operation.CheckResolved(f, h); r != nil {
		return req, r
	}
	return req, nil
}

func (u *unit) writeDispatch(a *attemptRow, d *Dispatched, req operation.Request, sendBy time.Time, sameTx bool) error {
	h, err := req.Hash()
	if err != nil {
		return err
	}
	text, err := jsonText(req)
	if err != nil {
		return err
	}
	if sameTx {
		row, now, hash := &u.w.attempts[len(u.w.attempts)-1], u.now, hexOf(h[:])
		row.DispatchedAt, row.SendBy, row.Resolved, row.ResolvedHash = &now, &sendBy, &text, &hash
	} else if err := u.one(`UPDATE attempts SET dispatched_at = $2, send_by = $3, resolved = $4, resolved_hash = $5 WHERE id = $1 AND fence = $6 AND outcome IS NULL AND dispatched_at IS NULL`,
		string(a.ID), u.now, sendBy, text, h[:], a.Fence); err != nil {
		return err
	}
	if u.op.KeyFirst == nil {
		u.op.KeyFirst = &u.now
	}
	u.op.LastDispatch = &u.now
	u.op.leaseEnd, u.op.replanned = a.LeaseUntil, true
	if u.joined {
		u.enter(u.op, "dispatch", a.from, operation.InProgress, "", append(a.links, "request", hexOf(h[:]))...)
	} else {
		u.note(u.op, "dispatch", "", "attempt", string(a.ID), "request", hexOf(h[:]))
	}
	d.Request, d.Key, d.SendBy, d.Budget = req, a.Key, sendBy, sendBy.Sub(u.now)
	d.DispatchedAt = u.now
	u.describe(a, d)
	return nil
}

func (u *unit) describe(a *attemptRow, d *Dispatched) {
	d.Destination, d.Action, d.Version, d.Profile = u.op.Destination, u.op.Action, a.Version, u.profile
}

// repeatAnswer gives the dispatch answer of this fence once more.
func (u *unit) repeatAnswer(a attemptRow, d *Dispatched) error {
	if a.Resolved == nil {
		return operation.Refuse(operation.CodeStaleFence)
	}
	if err := json.Unmarshal([]byte(*a.Resolved), &d.Request); err != nil {
		return err
	}
	var row struct {
		Content string `db:"content"`
		Cred    string `db:"credential"`
	}
	if err := u.get(&row, `SELECT b.content, v.credential FROM version_bodies b JOIN content_versions v ON v.id = b.version_id WHERE b.version_id = $1`, string(a.Version)); err != nil {
		return err
	}
	d.Key, d.SendBy, d.DispatchedAt, d.Credential = a.Key, *a.SendBy, *a.DispatchedAt, row.Cred
	d.Budget = a.SendBy.Sub(u.now)
	u.describe(&a, d)
	return json.Unmarshal([]byte(row.Content), &d.Content)
}

// Heartbeat extends the lease of an attempt, up to its absolute cap.
func (s *Store) Heartbeat(ctx context.Context, a Actor, id operation.AttemptID, fence int64) (time.Time, error) {
	op, err := s.operationOf(ctx, id)
	if err != nil {
		return time.Time{}, err
	}
	var until time.Time
	err = s.change(ctx, a, op, func(u *unit) error {
		att, err := u.attempt(id)
		if err != nil {
			return err
		}
		if att.Fence != fence || att.Outcome != nil || u.op.OpenAttempt != id || att.ClaimedBy != a.ID || !u.now.Before(att.LeaseUntil) {
			return operation.Refuse(operation.CodeStaleFence, "attempt", string(id))
		}
		until = u.now.Add(u.profile.Lease)
		if until.After(att.LeaseCap) {
			until = att.LeaseCap
		}
		if !until.After(att.LeaseUntil) {
			return operation.Refuse(operation.CodeLeaseCap, "at", att.LeaseCap.UTC().Format(time.RFC3339))
		}
		u.op.leaseEnd, u.op.replanned = until, true
		return u.one(`UPDATE attempts SET lease_until = $2 WHERE id = $1 AND outcome IS NULL`, string(id), until)
	})
	return until, err
}
