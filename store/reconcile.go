package store

import (
	"context"
	"strings"
	"time"

	"holdpoint/operation"
)

// Reference names an effect at its destination.
type Reference struct{ ID, URL string }

// ConfirmDone settles an operation as done: a person saw the effect at its destination. It
// does so in every open state, so that nothing is sent of what is there already.
func (s *Store) ConfirmDone(ctx context.Context, a Actor, sh Shown, ref Reference) error {
	return s.personVerb(ctx, a, sh, func(u *unit, who operation.Person) error {
		if r := operation.MayStateEffect(u.op.State, u.reviewer(), who); r != nil {
			return r
		}
		if err := u.workOn(); err != nil {
			return err
		}
		ref.ID = strings.TrimSpace(ref.ID)
		if ref.ID == "" {
			return operation.Refuse(operation.CodeReferenceMissing)
		}
		h, err := u.statement(sh.Reason, ref.ID, ref.URL)
		if err != nil {
			return err
		}
		if err := u.dealtWith(operation.QueueSettled); err != nil {
			return err
		}
		if err := u.confirm("person", ref.ID, ref.URL, operation.After{}, "role", string(u.reviewer().Role), "evidence_hash", h); err != nil {
			return err
		}
		return u.settleUnsettled("confirmed")
	})
}

// reconciles lets a reviewer settle the operation whose case nobody else has in hand.
func (u *unit) reconciles(who operation.Person) error {
	if r := operation.MayReconcile(u.op.State, u.reviewer(), who); r != nil {
		return r
	}
	return u.workOn()
}

// RecordDuplicate settles an operation as done more than once: confirmed, with a
// remedy open for the owner.
func (s *Store) RecordDuplicate(ctx context.Context, a Actor, sh Shown, refs []Reference) error {
	return s.personVerb(ctx, a, sh, func(u *unit, who operation.Person) error {
		if err := u.reconciles(who); err != nil {
			return err
		}
		if len(refs) < 2 || refs[0].ID == refs[1].ID {
			return operation.Refuse(operation.CodeReferenceMissing)
		}
		var h string
		for _, r := range refs {
			var err error
			if h, err = u.statement(sh.Reason, r.ID, r.URL); err != nil {
				return err
			}
		}
		u.op.Duplicate, u.op.Remedy = "confirmed", "duplicate"
		if err := u.dealtWith(operation.QueueSettled); err != nil {
			return err
		}
		if err := u.confirm("person", refs[0].ID, refs[0].URL, operation.After{}, "role", string(u.reviewer().Role), "evidence_hash", h, "duplicate", refs[1].ID); err != nil {
			return err
		}
		return u.settleUnsettled("duplicate")
	})
}

// Answers are a person's answers to checklist items.
type Answers []operation.Answer

// AnswerChecklist records answers for the current round. Where a destination offers no
// lookup, a full set of answers is the fresh check before a re-execution.
func (s *Store) AnswerChecklist(ctx context.Context, a Actor, sh Shown, answers Answers) error {
	return s.personVerb(ctx, a, sh, func(u *unit, who operation.Person) error {
		if u.op.State.Closed() || u.op.State == operation.Draft || u.op.State == operation.PendingApproval {
			return operation.Refuse(operation.CodeForbiddenMove, "state", string(u.op.State))
		}
		if !u.reviewer().Matches(who) {
			return operation.Refuse(operation.CodeNotEntitled, "role", string(u.reviewer().Role)).By(u.people(u.op).Reviewer)
		}
		if err := u.workOn(); err != nil {
			return err
		}
		return u.answer(answers)
	})
}

func (u *unit) answer(answers Answers) error {
	for _, x := range answers {
		if _, err := u.exec(`INSERT INTO checklist_answers (operation_id, round, item, yes, comment, user_id, at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			string(u.op.ID), u.op.CaseRound, string(x.Item), x.Yes, operation.Normalize(x.Comment), u.actor.ID, u.now); err != nil {
			return err
		}
		if err := u.attachAnswer(x.Item); err != nil {
			return err
		}
	}
	if len(answers) > 0 {
		u.note(u.op, "checklist", "", "role", string(u.reviewer().Role))
	}
	if u.op.RequestID == "" {
		return nil
	}
	act, err := u.profile.Action(u.op.Action)
	if err != nil || act.HasLookup() {
		return nil
	}
	if m := operation.MissingAnswers(answers, u.extraItems()); len(m) > 0 {
		return nil // only a full new set is a fresh check
	}
	_, err = u.exec(`UPDATE reexecution_requests SET checked_at = $2 WHERE id = $1`, string(u.op.RequestID), u.now)
	if u.op.State == operation.Ready {
		u.wakeUp(wakeExecute, u.op, u.now)
	}
	return err
}

func (u *unit) extraItems() []operation.ChecklistItem {
	var out []operation.ChecklistItem
	for _, c := range u.flow.ChecklistExtra {
		out = append(out, operation.ChecklistItem(c.Key))
	}
	return out
}

// roundAnswers reads the answers of the current round, oldest first.
func (u *unit) roundAnswers() ([]operation.Answer, error) {
	var rows []struct {
		Item    string    `db:"item"`
		Yes     bool      `db:"yes"`
		Comment string    `db:"comment"`
		User    string    `db:"user_id"`
		At      time.Time `db:"at"`
	}
	if err := u.list(&rows, `SELECT item, yes, comment, user_id, at FROM checklist_answers WHERE operation_id = $1 AND round = $2 ORDER BY id`, string(u.op.ID), u.op.CaseRound); err != nil {
		return nil, err
	}
	out := make([]operation.Answer, len(rows))
	for i, r := range rows {
		out[i] = operation.Answer{Item: operation.ChecklistItem(r.Item), Yes: r.Yes, Comment: r.Comment, User: operation.UserID(r.User), At: r.At}
	}
	return out, nil
}

// ConfirmNotDone records that nothing happened: checklist and evidence, after the last
// request can no longer take effect. reexecute asks for one more attempt; otherwise the
// operation is closed as not executed.
func (s *Store) ConfirmNotDone(ctx context.Context, a Actor, sh Shown, answers Answers, reexecute bool) error {
	return s.personVerb(ctx, a, sh, func(u *unit, who operation.Person) error {
		if err := u.reconciles(who); err != nil {
			return err
		}
		if err := u.answer(answers); err != nil {
			return err
		}
		f, err := u.gateFacts()
		if err != nil {
			return err
		}
		all, err := u.roundAnswers()
		if err != nil {
			return err
		}
		if r := operation.MayConfirmNotDone(f, all, u.extraItems(), u.now); r != nil {
			return r
		}
		h, err := u.statement(sh.Reason, "", "")
		if err != nil {
			return err
		}
		if u.op.State == operation.Unknown {
			if err := u.move(u.op, operation.EvEscalate, "settled by a person"); err != nil {
				return err
			}
		}
		if err := u.settleUnsettled("not_done"); err != nil {
			return err
		}
		u.op.RetryAt, u.op.Stated, u.op.Disputed = nil, u.op.Stated || u.op.EverUnproven || u.op.Disputed || u.op.Adopted, false
		u.forgetDelivery()
		u.note(u.op, "confirmed_not_done", sh.Reason, "role", string(u.reviewer().Role), "evidence_hash", h)
		if reexecute {
			return u.requestReexecution(who, sh.Reason)
		}
		if err := u.dealtWith(operation.QueueSettled); err != nil {
			return err
		}
		return u.closeNotExecuted(sh.Reason)
	})
}

// closeNotExecuted ends the operation without an effect. Lookups end too; evidence that
// comes later reopens it.
func (u *unit) closeNotExecuted(reason string) error {
	u.op.LookupAt, u.op.HoldUntil = nil, nil
	u.voidClearance()
	if err := u.move(u.op, operation.EvCloseNotExecuted, reason, "role", string(u.reviewer().Role)); err != nil {
		return err
	}
	return u.stageClosed(u.op)
}

// Hold keeps an operation in review until a date, with a reason.
func (s *Store) Hold(ctx context.Context, a Actor, sh Shown, until time.Time) error {
	return s.personVerb(ctx, a, sh, func(u *unit, who operation.Person) error {
		if err := u.reconciles(who); err != nil {
			return err
		}
		if sh.Reason == "" {
			return operation.Refuse(operation.CodeReasonMissing)
		}
		if !until.After(u.now) || until.After(u.now.AddDate(1, 0, 0)) {
			return operation.Refuse(operation.CodeDateMissing)
		}
		if u.op.State == operation.Unknown {
			if err := u.move(u.op, operation.EvEscalate, sh.Reason); err != nil {
				return err
			}
		}
		u.op.HoldUntil = timePtr(until)
		if err := u.dealtWith(operation.QueueHeld); err != nil {
			return err
		}
		return u.move(u.op, operation.EvHold, sh.Reason, "until", until.UTC().Format(time.RFC3339), "role", string(u.reviewer().Role))
	})
}

// GrantAttempts gives more attempts. It needs all attempts proven not_started and a
// clearance that still holds.
func (s *Store) GrantAttempts(ctx context.Context, a Actor, sh Shown, n int) error {
	return s.personVerb(ctx, a, sh, func(u *unit, who operation.Person) error {
		if err := u.reconciles(who); err != nil {
			return err
		}
		f, err := u.gateFacts()
		if err != nil {
			return err
		}
		if r := operation.MayGrantAttempts(f, operation.Statement{Who: who, Reviewer: u.reviewer(), Reason: sh.Reason}, n); r != nil {
			return r
		}
		if u.op.EverUnproven {
			return operation.Refuse(operation.CodeAttemptsUnsettled)
		}
		if u.op.ClearanceID == "" {
			return operation.Refuse(operation.CodeNotApproved)
		}
		if n > 20 {
			return operation.Refuse(operation.CodeAttemptLimit, "limit", "20")
		}
		u.op.AttemptsMax = u.op.AttemptsUsed + n
		u.op.HoldUntil = nil
		if err := u.dealtWith(operation.QueueSettled); err != nil {
			return err
		}
		return u.move(u.op, operation.EvGrantAttempts, sh.Reason, "role", string(u.reviewer().Role))
	})
}

// Dispute brings a closed operation back to review, with evidence against its state.
func (s *Store) Dispute(ctx context.Context, a Actor, sh Shown, link string) error {
	return s.disputeVerb(ctx, a, sh, link, func(*unit) error { return nil })
}

// disputeVerb is Dispute with what must hold besides, of one among several.
func (s *Store) disputeVerb(ctx context.Context, a Actor, sh Shown, link string, also func(*unit) error) error {
	return s.personVerb(ctx, a, sh, func(u *unit, who operation.Person) error {
		if err := also(u); err != nil {
			return err
		}
		if !u.op.State.Closed() {
			return operation.Refuse(operation.CodeForbiddenMove, "state", string(u.op.State))
		}
		if r := operation.MayBeginDispute(u.reviewer(), who); r != nil {
			if named := u.people(u.op).Reviewer; named.User != "" {
				r.Who = named
			}
			return r
		}
		h, err := u.statement(sh.Reason, "", link)
		if err != nil {
			return err
		}
		u.stopped = stopped{why: string(operation.EvDispute)}
		u.op.ConfirmedBy, u.op.EverUnproven, u.op.Remedy = "", u.op.EverUnproven || u.op.AttemptsEver > 0, ""
		u.op.Disputed = true
		u.op.CaseRound++
		if err := u.move(u.op, operation.EvDispute, sh.Reason, "evidence_hash", h); err != nil {
			return err
		}
		act, err := u.profile.Action(u.op.Action)
		if err == nil && act.HasLookup() && u.op.AttemptsEver > 0 {
			u.op.LookupAt = &u.now
		}
		return u.stageReopened()
	})
}

// AddStatement adds a person's evidence without deciding anything.
func (s *Store) AddStatement(ctx context.Context, a Actor, sh Shown, link string) error {
	return s.personVerb(ctx, a, sh, func(u *unit, who operation.Person) error {
		if len(who.Roles) == 0 || !who.Active {
			return operation.Refuse(operation.CodeNotEntitled)
		}
		h, err := u.statement(sh.Reason, "", link)
		if err != nil {
			return err
		}
		u.note(u.op, "statement", "", "evidence_hash", h)
		return nil
	})
}

// CloseRemedy records that the open work on a closed operation (duplicate, bounce) is done.
func (s *Store) CloseRemedy(ctx context.Context, a Actor, sh Shown) error {
	return s.personVerb(ctx, a, sh, func(u *unit, who operation.Person) error {
		if r := u.mayManage(who); r != nil {
			return r
		}
		if u.op.Remedy == "" || !u.op.State.Closed() {
			return operation.Refuse(operation.CodeForbiddenMove, "state", string(u.op.State))
		}
		if sh.Reason == "" {
			return operation.Refuse(operation.CodeReasonMissing)
		}
		if u.op.Remedy == RemedyBlocked {
			u.note(u.op, "left", sh.Reason)
		} else {
			u.note(u.op, "remedy_done", sh.Reason, "remedy", u.op.Remedy)
		}
		u.op.Remedy, u.op.replanned = "", true
		return nil
	})
}
