package store

import (
	"context"
	"errors"
	"time"

	"holdpoint/operation"
)

// ReexecutionExpires is how long an approved re-execution may wait for its one attempt.
const ReexecutionExpires = 24 * time.Hour

// RequestReexecution asks for one more attempt after it was shown that nothing happened.
func (s *Store) RequestReexecution(ctx context.Context, a Actor, sh Shown) error {
	return s.personVerb(ctx, a, sh, func(u *unit, who operation.Person) error {
		if err := u.reconciles(who); err != nil {
			return err
		}
		all, err := u.roundAnswers()
		if err != nil {
			return err
		}
		if m := operation.MissingAnswers(all, u.extraItems()); len(m) > 0 {
			return operation.Refuse(operation.CodeChecklist, "item", string(m[0]))
		}
		return u.requestReexecution(who, sh.Reason)
	})
}

func (u *unit) requestReexecution(who operation.Person, reason string) error {
	o := u.op
	if reason == "" {
		return operation.Refuse(operation.CodeReasonMissing)
	}
	if len(u.facts.VersionHash) == 0 {
		return operation.Refuse(operation.CodeContentMissing, "field", "content")
	}
	f, err := u.gateFacts()
	if err != nil {
		return err
	}
	if r := operation.MayRequestReexecution(f, operation.Statement{Who: who, Reviewer: u.reviewer(), Reason: reason}); r != nil {
		return r
	}
	gen := operation.NextGeneration(o.KeyGeneration, f.Protection, f.KeyFirst, o.StoredError, u.now)
	id := operation.RequestID(newID("req"))
	var checked *time.Time
	if !f.Protection.HasLookup {
		checked = &u.now // the checklist was answered for this request
	}
	if _, err := u.exec(`INSERT INTO reexecution_requests (id, operation_id, round, requested_by, reason, key_generation, state, checked_at, requested_at)
		VALUES ($1, $2, $3, $4, $5, $6, 'requested', $7, $8)`, string(id), string(o.ID), o.CaseRound, u.actor.ID, reason, gen, checked, u.now); err != nil {
		return err
	}
	o.RequestID, o.HoldUntil = id, nil
	if err := u.dealtWith(operation.QueueRequested); err != nil {
		return err
	}
	return u.move(o, operation.EvRequestReexecution, reason, "request", string(id), "role", string(u.reviewer().Role))
}

// caseParties are all natural persons of a case: who wrote, prompted or submitted
// content, and who answered the checklist or asked in its current round (MODEL §5). A
// round ends with the re-execution that came of it, or with a dispute. A replacement
// looks at every round of whatever stands before it in its lineage.
func (u *unit) caseParties(op operation.ID, everyRound bool) ([]operation.UserID, error) {
	var ids []operation.UserID
	err := u.list(&ids, `SELECT a.user_id FROM checklist_answers a JOIN operations o ON o.id = a.operation_id WHERE o.id = $1 AND ($2 OR a.round = o.case_round)
		UNION SELECT q.requested_by FROM reexecution_requests q JOIN operations o ON o.id = q.operation_id WHERE o.id = $1 AND ($2 OR q.round = o.case_round)
		UNION SELECT author_id FROM content_versions WHERE operation_id = $1 AND author_kind = 'person'
		UNION SELECT prompted_by FROM content_versions WHERE operation_id = $1 AND prompted_by IS NOT NULL
		UNION SELECT s.submitted_by FROM submissions s JOIN content_versions v ON v.id = s.version_id WHERE v.operation_id = $1`, string(op), everyRound)
	if err != nil {
		return nil, err
	}
	people, err := u.persons()
	return people.all(ids), err
}

// DecideReexecution is the second person's decision, with the whole checklist before
// their eyes. Approval permits exactly one attempt, with its own expiry.
func (s *Store) DecideReexecution(ctx context.Context, a Actor, sh Shown, approve bool) error {
	return s.decideReexecution(ctx, a, sh, func(u *unit, as operation.Capacity, given []operation.Given) error {
		if !approve {
			return u.refuseReexecution(sh, as)
		}
		if err := u.maySendOnceMore(); err != nil {
			return err
		}
		return u.approveReexecution(sh, u.flow.Reexecution.Approvers, as, given)
	})
}

// decideReexecution runs a second person's decision: by whoever is no party to the case
// and has lately proved who they are. Who has the case in hand does not matter to it.
func (s *Store) decideReexecution(ctx context.Context, a Actor, sh Shown, fn func(*unit, operation.Capacity, []operation.Given) error) error {
	return s.personVerb(ctx, a, sh, func(u *unit, who operation.Person) error {
		parties, err := u.caseParties(u.op.ID, false)
		if err != nil {
			return err
		}
		sel := u.flow.Reexecution.Approvers
		if err := u.readReceived(); err != nil {
			return err
		}
		as, err := u.capacity(who, sh.For, sel.Role)
		if err != nil {
			return err
		}
		given, err := u.requestGiven()
		if err != nil {
			return err
		}
		if r := operation.MayDecideReexecutionAs(u.op.State, sel, as, parties, given); r != nil {
			return r
		}
		if err := u.confirmed(a, u.now); err != nil {
			return err
		}
		if sh.Reason == "" {
			return operation.Refuse(operation.CodeReasonMissing)
		}
		return fn(u, as, given)
	})
}

// WithdrawRequest takes an open request for a re-execution back to review. Any reviewer
// may: it permits nothing, and nobody is left waiting for a second person that the case
// no longer has.
func (s *Store) WithdrawRequest(ctx context.Context, a Actor, sh Shown) error {
	return s.personVerb(ctx, a, sh, func(u *unit, who operation.Person) error {
		if u.op.State != operation.ReexecutionRequested {
			return operation.Refuse(operation.CodeForbiddenMove, "state", string(u.op.State))
		}
		if !u.reviewer().Matches(who) {
			return operation.Refuse(operation.CodeNotEntitled, "role", string(u.reviewer().Role)).By(u.people(u.op).Reviewer)
		}
		if sh.Reason == "" {
			return operation.Refuse(operation.CodeReasonMissing)
		}
		if err := u.workOn(); err != nil {
			return err
		}
		if err := u.endRequest("void"); err != nil {
			return err
		}
		u.voidClearance()
		return u.move(u.op, operation.EvRefuseReexecution, sh.Reason, "cause", "withdrawn", "role", string(u.reviewer().Role))
	})
}

// AskEvidence sends a request for a re-execution back to whoever asked, because what they
// brought is not enough to decide on: the second person says what is missing. The case
// stays in the hands of whoever has it; nothing is sent.
func (s *Store) AskEvidence(ctx context.Context, a Actor, sh Shown) error {
	return s.decideReexecution(ctx, a, sh, func(u *unit, as operation.Capacity, _ []operation.Given) error {
		var by operation.UserID
		if err := u.get(&by, `SELECT requested_by FROM reexecution_requests WHERE id = $1`, string(u.op.RequestID)); err != nil {
			return err
		}
		return u.refuseReexecution(sh, as, "cause", "more_evidence", "asked_of", string(by))
	})
}

func (u *unit) refuseReexecution(sh Shown, as operation.Capacity, links ...string) error {
	if err := u.insertReexecutionDecision(newID("apr"), "refuse", sh, as); err != nil {
		return err
	}
	if err := u.endRequest("refused"); err != nil {
		return err
	}
	u.voidClearance()
	return u.move(u.op, operation.EvRefuseReexecution, sh.Reason, append(append(u.onBehalf(as), "role", string(u.flow.Reexecution.Approvers.Role)), links...)...)
}

func (u *unit) insertReexecutionDecision(id, decision string, sh Shown, as operation.Capacity) error {
	_, err := u.exec(`INSERT INTO approvals (id, operation_id, version_id, hash, request_id, decision, user_id, role, reason, form_id, decided_at, for_user, delegation_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, NULLIF($12, ''), NULLIF($13, ''))`, id, string(u.op.ID), string(u.op.VersionID), u.facts.VersionHash, string(u.op.RequestID),
		decision, u.actor.ID, string(u.flow.Reexecution.Approvers.Role), sh.Reason, sh.FormID, u.now,
		string(as.For.ID), string(as.By.ID))
	return err
}

// requestGiven are the approvals of the open request, by natural persons.
func (u *unit) requestGiven() ([]operation.Given, error) {
	var rows []struct {
		User operation.UserID `db:"user_id"`
		For  operation.UserID `db:"for_user"`
	}
	if err := u.list(&rows, `SELECT user_id, COALESCE(for_user, '') AS for_user FROM approvals WHERE request_id = $1 AND decision = 'approve' ORDER BY decided_at, id`, string(u.op.RequestID)); err != nil {
		return nil, err
	}
	people, err := u.persons()
	given := make([]operation.Given, len(rows))
	for i, r := range rows {
		given[i] = operation.Given{User: people.one(r.User), Decision: operation.Approve, For: people.one(r.For)}
	}
	return given, err
}

func (u *unit) approveReexecution(sh Shown, sel operation.Selector, as operation.Capacity, given []operation.Given) error {
	o := u.op
	id := newID("apr")
	if err := u.insertReexecutionDecision(id, "approve", sh, as); err != nil {
		return err
	}
	var ids []string
	if err := u.list(&ids, `SELECT id FROM approvals WHERE request_id = $1 AND decision = 'approve' ORDER BY decided_at`, string(o.RequestID)); err != nil {
		return err
	}
	required := max(u.flow.Reexecution.Required, 1)
	given = append(given, operation.Given{User: as.Who.One(), Decision: operation.Approve, For: as.Principal()})
	links := append([]string{"approval", id, "request", string(o.RequestID), "role", string(sel.Role), versionHash, hexOf(u.facts.VersionHash)}, u.onBehalf(as)...)
	if !operation.QuorumReached(operation.Policy{Required: required}, given) {
		u.note(o, "approve", sh.Reason, links...)
		return nil
	}
	clr := operation.ClearanceID(newID("clr"))
	policy, err1 := jsonText(operation.Policy{Approvers: sel, Required: required, SeparateAuthor: true, Expires: ReexecutionExpires})
	list, err2 := jsonText(ids)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	expires := u.now.Add(ReexecutionExpires)
	if _, err := u.exec(`WITH c AS (INSERT INTO clearances (id, operation_id, version_id, hash, kind, request_id, required, policy, expires_at, created_at)
		VALUES ($1, $2, $3, $4, 'reexecution', $5, $6, $7, $8, $9) RETURNING id)
		INSERT INTO clearance_approvals (clearance_id, approval_id) SELECT c.id, x FROM c, jsonb_array_elements_text(CAST($10 AS jsonb)) AS x`,
		string(clr), string(o.ID), string(o.VersionID), u.facts.VersionHash, string(o.RequestID), required, policy, expires, u.now, list); err != nil {
		return err
	}
	var gen int
	if err := u.get(&gen, `UPDATE reexecution_requests SET state = 'approved', decided_at = $2 WHERE id = $1 AND state = 'requested' RETURNING key_generation`, string(o.RequestID), u.now); err != nil {
		return err
	}
	if gen > o.KeyGeneration {
		o.KeyGeneration, o.KeyFirst, o.StoredError, o.KeyAnswered = gen, nil, false, false
	}
	o.ClearanceID, o.ExpiresAt = clr, &expires
	return u.move(o, operation.EvApproveReexecution, sh.Reason, append(links, "clearance", string(clr))...)
}
