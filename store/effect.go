package store

import (
	"crypto/sha256"
	"time"

	"holdpoint/operation"
)

// takenBy gives the other operation that has this target reference, "" = none.
func (u *unit) takenBy(ref string) (operation.ID, error) {
	if ref == "" {
		return "", nil
	}
	if _, known := u.taken[ref]; known {
		return u.otherThanThis(ref), nil
	}
	var op operation.ID
	err := u.get(&op, `SELECT COALESCE((SELECT operation_id FROM target_references WHERE account = $1 AND effect_type = $2 AND reference = $3), '')`,
		u.op.Account, u.op.EffectType, ref)
	if u.taken == nil {
		u.taken = map[string]operation.ID{}
	}
	u.taken[ref] = op
	return u.otherThanThis(ref), err
}

// otherThanThis gives who has a reference, unless it is this operation.
func (u *unit) otherThanThis(ref string) operation.ID {
	if op := u.taken[ref]; op != u.op.ID {
		return op
	}
	return ""
}

// confirm closes the operation: the effect exists. Pending requests and claims that
// were not dispatched are void, the next stage may go.
func (u *unit) confirm(by, ref, link string, a operation.After, links ...string) error {
	o := u.op
	if ref != "" {
		taken, err := u.takenBy(ref)
		if err != nil {
			return err
		}
		if taken != "" {
			return operation.Refuse(operation.CodeReferenceTaken, "reference", ref, "operation", string(taken))
		}
		if u.taken[ref] == "" {
			u.w.targets = append(u.w.targets, newTarget{Account: o.Account, EffectType: o.EffectType, Reference: ref, Operation: o.ID, URL: link, At: u.now})
			u.taken[ref] = o.ID
		}
	}
	if o.OpenAttempt != "" {
		if err := u.endOpenAttempt(); err != nil {
			return err
		}
	}
	if err := u.endRequest("void"); err != nil {
		return err
	}
	o.TargetReference, o.TargetURL, o.ConfirmedBy, o.Disputed = ref, link, by, false
	o.RetryAt, o.HoldUntil, o.LookupAt, o.ExpiresAt = nil, nil, timePtr(a.LookupAt), nil
	if isMail(o.EffectType) && o.Delivery == "" {
		o.Delivery = "accepted"
	}
	if o.State != operation.Confirmed && operation.DeliveryDelivered.Further(operation.Delivery(o.Delivery)) {
		u.awaitNews()
	}
	links = append(links, "reference", ref, "by", by)
	if o.State == operation.Confirmed {
		u.note(o, "more_evidence", "", links...)
	} else if err := u.move(o, operation.EvEffect, "", links...); err != nil {
		return err
	}
	if err := u.oneEffect(); err != nil {
		return err
	}
	return u.stageClosed(o)
}

// lateReport keeps a report whose fence is stale as evidence. An effect that it proves
// confirms any open state and reopens one that was closed without effect.
func (u *unit) lateReport(att attemptRow, r operation.Result) error {
	body, err := jsonText(r)
	if err != nil {
		return err
	}
	h := sha256.Sum256([]byte(body))
	u.addEvidence(att.ID, "late_report", r.Outcome.String(), r.TargetReference, r.TargetURL, body)
	u.note(u.op, "late_report", r.Proof.Code, "attempt", string(att.ID), "outcome", r.Outcome.String(), "reference", r.TargetReference, "evidence_hash", hexOf(h[:]))
	if r.Outcome != operation.OutcomeConfirmed {
		return nil
	}
	return u.effectFound("destination", r.TargetReference, r.TargetURL, timeOf(att.DispatchedAt), "attempt", string(att.ID), "evidence_hash", hexOf(h[:]))
}

// effectFound is evidence of an effect arriving in any state (MODEL §4). sent is when the
// request that it answers was dispatched; zero = it does not say. The caller has recorded the
// evidence: of a disputed operation that is all, since a person settles it.
func (u *unit) effectFound(by, ref, link string, sent time.Time, links ...string) error {
	o := u.op
	if taken, err := u.takenBy(ref); err != nil || taken != "" {
		if err == nil {
			u.note(o, "candidate", "reference belongs to another operation", append(links, "candidate", ref, "other", string(taken))...)
		}
		return err
	}
	if err := u.noteContradiction(operation.Told{Reference: ref, Sent: sent}, links...); err != nil {
		return err
	}
	if o.State == operation.Confirmed {
		if ref != "" && o.TargetReference != "" && ref != o.TargetReference {
			o.Duplicate, o.Remedy, o.replanned = suspected(o.Duplicate), "duplicate", true
			u.note(o, "duplicate_suspected", "", append(links, "reference", ref)...)
		}
		return nil
	}
	switch evs := operation.EffectFound(o.State, o.Disputed); {
	case len(evs) == 0:
		return nil
	case evs[0] == operation.EvDispute:
		return u.reopen(append(links, "reference", ref)...)
	}
	// the effect answers the open question of the attempts
	if err := u.confirm(by, ref, link, operation.After{}, links...); err != nil {
		return err
	}
	return u.settleUnsettled("confirmed")
}

// reopen brings an operation that was closed without an effect back to review, since there
// is one.
func (u *unit) reopen(links ...string) error {
	o := u.op
	o.Disputed, o.CaseRound, o.Remedy = true, o.CaseRound+1, ""
	u.stopped = stopped{why: operation.WhyLateEffect}
	if err := u.move(o, operation.EvDispute, "evidence of an effect", links...); err != nil {
		return err
	}
	return u.stageReopened()
}

func suspected(have string) string {
	if have == "confirmed" {
		return have
	}
	return "suspected"
}

func (u *unit) addEvidence(att operation.AttemptID, kind, result, ref, link, body string) (id string) {
	h := sha256.Sum256([]byte(body))
	id = newID("evi")
	u.w.evidence = append(u.w.evidence, newEvidence{ID: id, Operation: u.op.ID, Attempt: att, Kind: kind, Result: result, Reference: ref,
		Link: link, Body: body, GivenBy: u.actor.ID, Hash: hexOf(h[:]), At: u.now})
	return id
}
