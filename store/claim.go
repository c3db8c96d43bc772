package store

import (
	"context"
	"strconv"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// Claimed is an attempt that a worker holds under a lease. It has nothing to send yet.
type Claimed struct {
	Attempt    operation.AttemptID
	Operation  operation.ID
	Fence      int64
	Kind       operation.AttemptKind
	Number     int
	LeaseUntil time.Time
	LeaseCap   time.Time
}

// Dispatched is the only answer that holds bytes to send.
type Dispatched struct {
	Claimed
	Request      operation.Request // resolved: exactly the bytes that may leave, once
	Key          string
	Credential   string // the name of the credential to use
	SendBy       time.Time
	Budget       time.Duration // SendBy minus the database's now: for a client's own clock
	Destination  string
	Action       string
	Version      operation.VersionID
	Content      map[string]any
	DispatchedAt time.Time
	Profile      *definition.Profile // the destination's profile, for built-in connectors
}

// Claim takes an operation for one attempt if the gate permits it. A refusal that
// makes the operation fall back (approval expired, protection over) is carried out in
// the same transaction.
func (s *Store) Claim(ctx context.Context, a Actor, id operation.ID, worker string) (Claimed, error) {
	var c Claimed
	err := s.decideGate(ctx, a, lockSQL, id, func(u *unit) (*operation.Refusal, error) {
		var r *operation.Refusal
		var err error
		c, _, r, err = u.claim(worker)
		return r, err
	})
	return c, err
}

// ClaimAndDispatch does both in one transaction, for the built-in jobs.
func (s *Store) ClaimAndDispatch(ctx context.Context, a Actor, id operation.ID, worker string) (Dispatched, error) {
	var d Dispatched
	err := s.decideGate(ctx, a, claimSQL, id, func(u *unit) (*operation.Refusal, error) {
		if u.profile.PerformedBy == definition.ClientsPerform {
			return operation.Refuse(operation.CodeForClients), nil
		}
		c, att, r, err := u.claim(worker)
		if r != nil || err != nil {
			return r, err
		}
		d = Dispatched{Claimed: c}
		return u.dispatch(&att, &d, true)
	})
	return d, err
}

// decideGate runs a gate verb whose refusal may still change the operation: the change
// is committed, then the refusal is returned.
func (s *Store) decideGate(ctx context.Context, a Actor, q string, id operation.ID, fn func(*unit) (*operation.Refusal, error)) error {
	var refusal *operation.Refusal
	err := s.changeBy(ctx, a, q, func(u *unit) error {
		var err error
		if refusal, err = fn(u); err != nil {
			return err
		}
		if refusal != nil && !u.op.replanned {
			return refusal
		}
		return nil
	}, string(id))
	if err == nil && refusal != nil {
		return refusal
	}
	return err
}

// attemptRow is the attempt that a unit works with.
type attemptRow struct {
	ID           operation.AttemptID   `db:"id"`
	Operation    operation.ID          `db:"operation_id"`
	Number       int                   `db:"number"`
	Fence        int64                 `db:"fence"`
	Kind         operation.AttemptKind `db:"kind"`
	Version      operation.VersionID   `db:"version_id"`
	Clearance    operation.ClearanceID `db:"clearance_id"`
	DestVersion  int                   `db:"destination_version"`
	Account      string                `db:"account"`
	Key          string                `db:"key"`
	Protected    bool                  `db:"protected"`
	ClaimedBy    string                `db:"claimed_by"`
	ClaimedAt    time.Time             `db:"claimed_at"`
	LeaseUntil   time.Time             `db:"lease_until"`
	LeaseCap     time.Time             `db:"lease_cap"`
	SendBy       *time.Time            `db:"send_by"`
	DispatchedAt *time.Time            `db:"dispatched_at"`
	Resolved     *string               `db:"resolved"`
	ResolvedHash []byte                `db:"resolved_hash"`
	Outcome      *string               `db:"outcome"`

	perm  operation.Permission
	isNew bool
	from  operation.State // before the claim, where it has no entry of its own
	links []string        // of the claim
}

const attemptColumns = `id, operation_id, number, fence, kind, version_id, clearance_id, destination_version, account, key, protected, claimed_by,
	claimed_at, lease_until, lease_cap, send_by, dispatched_at, resolved, resolved_hash, outcome`

func (u *unit) claim(worker string) (Claimed, attemptRow, *operation.Refusal, error) {
	if u.facts.RunHeld {
		return Claimed{}, attemptRow{}, operation.Refuse(operation.CodeNotReady), nil
	}
	f, err := u.gateFacts()
	if err != nil {
		if r, no := operation.RefusalIn(err); no {
			return Claimed{}, attemptRow{}, r, nil
		}
		return Claimed{}, attemptRow{}, nil, err
	}
	perm, refusal := operation.Permit(f, u.now)
	if refusal != nil {
		return Claimed{}, attemptRow{}, refusal, u.fallBack(f, refusal)
	}
	o := u.op
	lease, leaseCap := u.profile.Lease, u.profile.LeaseCap
	o.Fence++
	o.AttemptsEver++
	a := attemptRow{ID: operation.AttemptID(newID("att")), Operation: o.ID, Number: o.AttemptsEver, Fence: o.Fence, Kind: perm.Kind, Version: o.VersionID,
		Clearance: o.ClearanceID, DestVersion: u.facts.DestVersion, Account: u.facts.DestAccount, Key: f.Key,
		Protected: f.Protection.Key && f.Protection.Proven && f.Protection.Retention > 0, ClaimedBy: u.actor.ID, ClaimedAt: u.now,
		LeaseUntil: u.now.Add(lease), LeaseCap: u.now.Add(leaseCap), perm: perm, isNew: true}
	if perm.Kind != operation.AttemptReexecution {
		o.AttemptsUsed++
	}
	o.OpenAttempt, o.leaseEnd = a.ID, a.LeaseUntil
	a.links = []string{"attempt", string(a.ID), "kind", string(perm.Kind), "worker", worker, "profile", strconv.Itoa(u.facts.DestVersion)}
	if u.joined {
		a.from, o.State = o.State, operation.InProgress
	} else if err := u.move(o, operation.EvClaim, "", a.links...); err != nil {
		return Claimed{}, a, nil, err
	}
	u.insertAttempt(a, worker, f.Clearance.Kind)
	return claimedOf(a), a, nil, nil
}

func claimedOf(a attemptRow) Claimed {
	return Claimed{Attempt: a.ID, Operation: a.Operation, Fence: a.Fence, Kind: a.Kind, Number: a.Number, LeaseUntil: a.LeaseUntil, LeaseCap: a.LeaseCap}
}

func (u *unit) insertAttempt(a attemptRow, worker string, kind operation.ClearanceKind) {
	var counted *int
	if a.Kind != operation.AttemptReexecution {
		counted = &u.op.AttemptsUsed
	}
	u.w.attempts = append(u.w.attempts, newAttempt{ID: a.ID, Operation: a.Operation, Number: a.Number, Fence: a.Fence, Kind: a.Kind, Counted: counted,
		Cap: u.op.AttemptsMax, Version: a.Version, Clearance: a.Clearance, ClearanceKind: kind, DestVersion: a.DestVersion, Account: a.Account,
		Key: a.Key, KeyGeneration: u.op.KeyGeneration, Protected: a.Protected, Worker: worker, ClaimedBy: a.ClaimedBy, ClaimedAt: a.ClaimedAt,
		LeaseUntil: a.LeaseUntil, LeaseCap: a.LeaseCap})
}

// fallBack carries out what a refusal means for the operation's state: an expired or
// no longer entitled approval sends it back to the approvers ("Expired, not sent"); an
// unknown outcome that nothing protects any more goes to a person.
func (u *unit) fallBack(f operation.Facts, r *operation.Refusal) error {
	a := operation.AfterRefusal(f, r, u.profile.Retry, u.now)
	if len(a.Events) == 0 || a.Events[0] == operation.EvStageReopened && len(keepWaiting(u.flow, u.op, f.EarlierOpen)) == 0 {
		return nil
	}
	code := r.Code
	if a.Code != "" {
		code = a.Code
	}
	if err := u.follow(a, string(code), "cause", string(code)); err != nil || u.op.State != operation.Cancelled {
		return err
	}
	return u.stageClosed(u.op)
}
