package store

import (
	"context"
	"errors"
	"time"

	"holdpoint/operation"
)

// Recorded says what a report changed.
type Recorded struct {
	Operation operation.ID
	State     operation.State
	Late      bool // the fence was stale: kept as evidence only
}

// Record writes an attempt's outcome, guarded by its fence. A late report is evidence:
// it never permits a send, but an effect that it proves confirms the operation.
func (s *Store) Record(ctx context.Context, a Actor, id operation.AttemptID, fence int64, r operation.Result) (Recorded, error) {
	var out Recorded
	r.TargetReference = clean(r.TargetReference)
	err := s.changeBy(ctx, a, attemptSQL, func(u *unit) error {
		var err error
		att := u.read.Att
		u.taken = map[string]operation.ID{r.TargetReference: u.read.TakenBy}
		out.Operation = u.op.ID
		out.Late = att.Fence != fence || att.Outcome != nil || u.op.OpenAttempt != id
		if out.Late {
			err = u.lateReport(att, r)
		} else {
			err = u.record(att, r)
		}
		out.State = u.op.State
		return err
	}, string(id), r.TargetReference)
	return out, err
}

// record ends the open attempt and follows the rules to the next state.
func (u *unit) record(att attemptRow, r operation.Result) error {
	if r.Outcome != operation.OutcomeNotStarted && att.DispatchedAt == nil {
		return operation.Refuse(operation.CodeStaleFence, "attempt", string(att.ID))
	}
	o := u.op
	u.stopped = stopped{attempt: att.Number, result: &r}
	if err := u.endAttempt(att, r); err != nil {
		return err
	}
	if r.Outcome == operation.OutcomeUnknown {
		o.Unsettled++
	}
	o.EverUnproven = o.EverUnproven || r.Outcome != operation.OutcomeNotStarted
	o.StoredError = o.StoredError || r.Replayed && r.Outcome != operation.OutcomeConfirmed
	if att.DispatchedAt != nil {
		o.LastSend = timePtr(latest(timeOf(o.LastSend), earlier(att.LeaseUntil, u.now)))
	}
	o.OpenAttempt, o.Misses = "", 0
	f, err := u.gateFacts()
	if err != nil {
		return err
	}
	if r.Outcome == operation.OutcomeUnknown {
		f.Unsettled = append(f.Unsettled, operation.UnsettledAttempt{ID: att.ID, Key: att.Key, Account: att.Account, Protected: att.Protected,
			DispatchedAt: timeOf(att.DispatchedAt), LeaseEnd: earlier(att.LeaseUntil, u.now), ResolvedHash: hash32(att.ResolvedHash)})
	}
	f.OpenAttempt = ""
	if f.Clearance != nil && f.Clearance.Kind == operation.ClearReexecution {
		f.Clearance.Spent = att.DispatchedAt != nil
	}
	a := operation.AfterResult(f, r, att.Kind, u.profile.Retry, u.now)
	links := []string{"attempt", string(att.ID), "code", r.Proof.Code}
	if r.Outcome == operation.OutcomeConfirmed {
		taken, err := u.takenBy(r.TargetReference)
		if err != nil {
			return err
		}
		if taken != "" {
			return u.referenceTaken(taken, r.TargetReference, links)
		}
		return u.confirm("destination", r.TargetReference, r.TargetURL, a, links...)
	}
	if att.Kind == operation.AttemptReexecution {
		return u.reexecutionEnded(a, r, att, links)
	}
	return u.follow(a, r.Proof.Code, links...)
}

// reexecutionEnded: the one attempt is used up by its dispatch; one that ended before
// it may be taken again.
func (u *unit) reexecutionEnded(a operation.After, r operation.Result, att attemptRow, links []string) error {
	if err := u.follow(a, r.Proof.Code, links...); err != nil {
		return err
	}
	if att.DispatchedAt == nil {
		return nil
	}
	u.voidClearance()
	u.op.CaseRound++ // what follows is a case of its own, with its own answers
	return u.endRequest("done")
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// referenceTaken: another operation has this effect already. It is only a candidate
// for a person (MODEL §1, target reference).
func (u *unit) referenceTaken(taken operation.ID, ref string, links []string) error {
	u.op.Unsettled++
	u.stopped.result, u.stopped.why = nil, string(operation.CodeReferenceTaken)
	return u.follow(operation.After{Events: []operation.Event{operation.EvUnknown, operation.EvEscalate}, Code: operation.CodeReferenceTaken},
		"reference "+ref+" belongs to "+string(taken), append(links, "candidate", ref, "other", string(taken))...)
}

func (u *unit) endAttempt(att attemptRow, r operation.Result) error {
	proof, err := jsonText(r.Proof)
	if err != nil {
		return err
	}
	outcome := r.Outcome.String()
	if r.Outcome == operation.OutcomeConfirmed {
		taken, err := u.takenBy(r.TargetReference)
		if err != nil {
			return err
		}
		if taken != "" {
			outcome = operation.OutcomeUnknown.String()
		}
	}
	u.w.ends = append(u.w.ends, attemptEnd{ID: att.ID, Fence: att.Fence, Outcome: outcome, Proof: proof, Permanent: r.Permanent, EndedAt: u.now})
	return nil
}

// follow applies the events that the rules gave, in order, and plans the next steps.
// An event that takes the clearance's ground away voids it, and the open request with it.
func (u *unit) follow(a operation.After, reason string, links ...string) error {
	o := u.op
	o.RetryAt, o.LookupAt = timePtr(a.RetryAt), timePtr(a.LookupAt)
	o.KeyAnswered = o.KeyAnswered || a.KeyAnswered
	if a.DuplicateSuspected {
		o.Duplicate = suspected(o.Duplicate)
	}
	for i, ev := range a.Events {
		why := reason
		if i > 0 && a.Code != "" {
			why = string(a.Code)
		}
		if err := u.move(o, ev, why, links...); err != nil {
			return err
		}
		switch ev {
		case operation.EvExpire, operation.EvRefuseReexecution:
			if err := u.submitItem(); err != nil {
				return err
			}
			if err := u.endRequest("void"); err != nil {
				return err
			}
			u.voidClearance()
		case operation.EvDispute:
			o.Disputed = true
		case operation.EvCancel:
			u.voidClearance()
		}
	}
	o.replanned = true
	return nil
}

// settleUnsettled marks every unknown attempt as settled: by a lookup that found the
// one effect, or by a person. Facts are kept; only the question is closed.
func (u *unit) settleUnsettled(how string) error {
	if u.op.Unsettled == 0 {
		return nil
	}
	now := u.now
	for i := range u.w.ends {
		if end := &u.w.ends[i]; end.Outcome == operation.OutcomeUnknown.String() {
			end.Settled, end.SettledAt = &how, &now
		}
	}
	_, err := u.exec(`UPDATE attempts SET settled = $2, settled_at = $3 WHERE operation_id = $1 AND outcome = 'unknown' AND settled IS NULL`, string(u.op.ID), how, u.now)
	u.op.Unsettled = 0
	return err
}

// endOpenAttempt closes an attempt that is open while something else decides: not
// dispatched = not_started, provably; dispatched = unknown.
func (u *unit) endOpenAttempt() error {
	att, err := u.attempt(u.op.OpenAttempt)
	if err != nil {
		return err
	}
	r := operation.LeaseEnded(att.DispatchedAt != nil)
	r.Proof.Code = "superseded"
	if err := u.endAttempt(att, r); err != nil {
		return err
	}
	if r.Outcome == operation.OutcomeUnknown {
		u.op.Unsettled++
		u.op.EverUnproven = true
	}
	u.op.OpenAttempt = ""
	return nil
}

// releaseClaim ends a claim that was not dispatched, because a person or the gate
// stopped it. The try is given back: nothing was tried.
func (u *unit) releaseClaim(reason string) error {
	o := u.op
	att, err := u.attempt(o.OpenAttempt)
	if err != nil {
		return err
	}
	if att.DispatchedAt != nil {
		return operation.Refuse(operation.CodeDispatched, "attempt", string(att.ID))
	}
	r := operation.Result{Outcome: operation.OutcomeNotStarted, Proof: operation.Proof{Code: "released", Phase: operation.PhaseBlocked, Detail: reason}}
	if err := u.endAttempt(att, r); err != nil {
		return err
	}
	o.OpenAttempt = ""
	if att.Kind != operation.AttemptReexecution {
		o.AttemptsUsed--
	}
	ev := operation.EvNotStarted
	if o.Unsettled > 0 {
		ev = operation.EvUnknown
	}
	o.RetryAt = &u.now
	return u.move(o, ev, reason, "attempt", string(att.ID))
}

// endRequest closes the open re-execution request, if there is one.
func (u *unit) endRequest(state string) error {
	if u.op.RequestID == "" {
		return nil
	}
	_, err := u.exec(`UPDATE reexecution_requests SET state = $2, final_check_at = CASE WHEN $2 = 'done' THEN CAST($3 AS timestamptz) ELSE final_check_at END
		WHERE id = $1 AND state IN ('requested', 'approved')`, string(u.op.RequestID), state, u.now)
	u.op.RequestID = ""
	return err
}

// SweepLeases ends every attempt whose lease has run out: not dispatched = not_started,
// dispatched = unknown. It touches only open attempts; a result that came first stands.
// It returns how many it ended.
func (s *Store) SweepLeases(ctx context.Context, a Actor) (int, error) {
	var due []struct {
		Attempt operation.AttemptID `db:"id"`
		Op      operation.ID        `db:"operation_id"`
	}
	err := s.db.SelectContext(ctx, &due, `SELECT id, operation_id FROM attempts WHERE outcome IS NULL AND lease_until < clock_timestamp() ORDER BY lease_until LIMIT 500`)
	if err != nil {
		return 0, mapError(err)
	}
	n := 0
	var all error // one that cannot be decided now must not keep the others open
	for _, d := range due {
		ended := false
		err := s.change(ctx, a, d.Op, func(u *unit) error {
			att, err := u.attempt(d.Attempt)
			if err != nil {
				return err
			}
			ended = att.Outcome == nil && u.op.OpenAttempt == d.Attempt && !u.now.Before(att.LeaseUntil.Add(leaseGrace))
			if !ended {
				return errDone
			}
			return u.record(att, operation.LeaseEnded(att.DispatchedAt != nil))
		})
		if err != nil {
			all = errors.Join(all, err)
		} else if ended {
			n++
		}
	}
	return n, all
}

// leaseGrace gives a worker that answers right at its lease's end the time to report.
const leaseGrace = 250 * time.Millisecond
