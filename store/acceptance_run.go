package store

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"holdpoint/operation"
)

// ErrAcceptanceLost is a run that another worker's sweep has ended, or that nobody knows.
// Whoever runs it stops.
var ErrAcceptanceLost = errors.New("the acceptance is no longer run by this worker")

// ClaimAcceptance gives the next run that waits to one worker, for the time of a lease;
// ErrNotFound when none waits.
func (s *Store) ClaimAcceptance(ctx context.Context, worker string, lease time.Duration) (plan operation.AcceptancePlan, err error) {
	var waiting bool
	if err := s.db.GetContext(ctx, &waiting, `SELECT EXISTS (SELECT 1 FROM acceptance_runs WHERE state = 'waiting')`); err != nil || !waiting {
		if err == nil {
			err = ErrNotFound
		}
		return plan, mapError(err)
	}
	err = s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		var id operation.AcceptanceID
		if err := t.get(&id, `SELECT id FROM acceptance_runs WHERE state = 'waiting' ORDER BY requested_at LIMIT 1 FOR UPDATE SKIP LOCKED`); err != nil {
			return err
		}
		r, err := t.lockAcceptance(id)
		if err != nil {
			return err
		}
		if plan, err = t.acceptancePlan(r); err != nil {
			return err
		}
		if err := t.one(`UPDATE acceptance_runs SET state = 'running', worker = $2, started_at = $3, lease_until = $4 WHERE id = $1 AND state = 'waiting'`,
			string(id), worker, now, now.Add(lease)); err != nil {
			return err
		}
		return t.enter(Job(worker), now, operation.SubjectAcceptance, string(id), "start_acceptance", "")
	})
	return plan, err
}

// KeepAcceptance says that the run goes on, and which cases have ended. cancelled says
// that a person asked to break it off. ErrAcceptanceLost when the lease ran out.
func (s *Store) KeepAcceptance(ctx context.Context, id operation.AcceptanceID, worker string, lease time.Duration, ended []operation.AcceptanceCase) (cancelled bool, err error) {
	raw, err := json.Marshal(ended)
	if err != nil {
		return false, err
	}
	err = s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		r, err := t.heldAcceptance(id, worker)
		if err != nil {
			return err
		}
		cancelled = r.CancelBy != ""
		return t.one(`UPDATE acceptance_runs SET lease_until = $2, progress = $3 WHERE id = $1`, string(id), now.Add(lease), string(raw))
	})
	return cancelled, err
}

func (t *tx) heldAcceptance(id operation.AcceptanceID, worker string) (acceptanceRow, error) {
	r, err := t.lockAcceptance(id)
	if isGone(err) || err == nil && (r.State != operation.AcceptanceRunning || r.Worker != worker) {
		return r, ErrAcceptanceLost
	}
	return r, err
}

// EndAcceptance keeps the sheet of a run: passed only when the sheet is about exactly
// this run and all six cases passed. A sheet about anything else makes the run broken.
func (s *Store) EndAcceptance(ctx context.Context, id operation.AcceptanceID, worker string, sheet operation.AcceptanceSheet) error {
	text, hash, err := sheet.Encode()
	if err != nil {
		return err
	}
	raw, err := hex.DecodeString(hash)
	if err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		r, err := t.heldAcceptance(id, worker)
		if err != nil {
			return err
		}
		plan, err := t.acceptancePlan(r)
		if err != nil {
			return err
		}
		if !sheet.Fits(plan) {
			return t.endAcceptance(Job(worker), now, id, operation.AcceptanceBroken, "the sheet is about another run")
		}
		state := operation.AcceptanceFailed
		if sheet.Passed() {
			state = operation.AcceptancePassed
		}
		if err := t.one(`UPDATE acceptance_runs SET state = $2, ended_at = $3, lease_until = NULL, sheet = $4, sheet_hash = $5 WHERE id = $1`,
			string(id), string(state), now, text, raw); err != nil {
			return err
		}
		return t.enter(Job(worker), now, operation.SubjectAcceptance, string(id), "end_acceptance", "", "result", string(state), "evidence_hash", hash)
	})
}

// BreakAcceptance ends a run that has no sheet: broken off by a person, or not runnable.
func (s *Store) BreakAcceptance(ctx context.Context, id operation.AcceptanceID, worker string, state operation.AcceptanceState, why string) error {
	return s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		if _, err := t.heldAcceptance(id, worker); err != nil {
			return err
		}
		return t.endAcceptance(Job(worker), now, id, state, why)
	})
}

func (t *tx) endAcceptance(a Actor, now time.Time, id operation.AcceptanceID, state operation.AcceptanceState, why string) error {
	why = shown(storable(why), 2000)
	if err := t.one(`UPDATE acceptance_runs SET state = $2, ended_at = $3, lease_until = NULL, failure = $4 WHERE id = $1`, string(id), string(state), now, why); err != nil {
		return err
	}
	return t.enter(a, now, operation.SubjectAcceptance, string(id), "end_acceptance", why, "result", string(state))
}

// SweepAcceptances ends runs whose worker was lost: interrupted, never passed. It gives
// how many.
func (s *Store) SweepAcceptances(ctx context.Context, a Actor) (int, error) {
	var ids []operation.AcceptanceID
	if err := s.db.SelectContext(ctx, &ids, `SELECT id FROM acceptance_runs WHERE state = 'running' AND lease_until < clock_timestamp() ORDER BY id LIMIT 50`); err != nil {
		return 0, mapError(err)
	}
	n := 0
	for _, id := range ids {
		err := s.write(ctx, func(t *tx) error {
			now, err := t.clock()
			if err != nil {
				return err
			}
			var over bool
			err = t.get(&over, `SELECT state = 'running' AND lease_until < $2 FROM acceptance_runs WHERE id = $1 FOR UPDATE`, string(id), now)
			if err != nil || !over {
				return errors.Join(err, errDone)
			}
			n++
			return t.endAcceptance(a, now, id, operation.AcceptanceInterrupted, "")
		})
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
