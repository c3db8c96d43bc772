package store

import (
	"context"
	"time"

	"holdpoint/operation"
)

// CasePage is one recovery case with everything that is known of its operation.
type CasePage struct {
	*OperationPage
	Case  CaseRow
	Times CaseTimes
	Holds []HoldRow // who had it in hand, oldest first
	// Active is how long each person's pages of it were in use.
	Active      []ActiveRow
	Corrections []CorrectionRow // oldest first
	Others      []CaseRow       // other cases of the same operation, newest first
	// Old says that the operation is in another round by now: answers and request are
	// those of the case's own round.
	Old bool
}

// HoldRow is one person's time with a case in hand.
type HoldRow struct {
	User     operation.UserID `db:"user_id"`
	Taken    time.Time        `db:"taken_at"`
	Released *time.Time       `db:"released_at"` // nil = they have it now
}

// ActiveRow is one person's active time.
type ActiveRow struct {
	User   operation.UserID `db:"user_id"`
	Millis int64            `db:"active_ms"`
	Last   time.Time        `db:"last_beat"`
}

// CorrectionRow is one correction of a clock.
type CorrectionRow struct {
	Clock  operation.CaseClock `db:"clock"`
	Delta  int64               `db:"delta_ms"`
	User   operation.UserID    `db:"user_id"`
	Reason string              `db:"reason"`
	At     time.Time           `db:"at"`
}

// FindCase reads one case whole, in one snapshot. A case of a flow that the viewer has no
// role for is not found, exactly like a missing one (FC-48).
func (s *Store) FindCase(ctx context.Context, viewer Actor, id operation.CaseID) (*CasePage, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	var p *CasePage
	err = s.snapshot(ctx, func(t *tx) error {
		p = &CasePage{OperationPage: &OperationPage{People: map[string]string{}, Waived: map[string]string{}}}
		if err := t.get(&p.Case, `SELECT `+caseColumns+` FROM recovery_cases c WHERE c.id = $1`, string(id)); err != nil {
			return err
		}
		if !v.Sees(p.Case.Flow, p.Case.Destination) {
			return ErrNotFound
		}
		u, err := t.peek(viewer, p.Case.Operation)
		if err != nil {
			return err
		}
		p.Old = p.Case.Round != u.op.CaseRound
		u.op.CaseRound = p.Case.Round
		if err := p.OperationPage.fill(u); err != nil {
			return err
		}
		return p.fillCase(u)
	})
	return p, err
}

func (p *CasePage) fillCase(u *unit) error {
	id := string(p.Case.ID)
	times, err := u.caseTimes(p.Case.ID)
	if err != nil {
		return err
	}
	p.Times = times[p.Case.ID]
	for _, read := range []struct {
		into any
		q    string
		arg  string
	}{
		{&p.Holds, `SELECT user_id, taken_at, released_at FROM case_holds WHERE case_id = $1 ORDER BY id`, id},
		{&p.Active, `SELECT user_id, active_ms, last_beat FROM case_active WHERE case_id = $1 ORDER BY first_beat, user_id`, id},
		{&p.Corrections, `SELECT clock, delta_ms, user_id, reason, at FROM case_corrections WHERE case_id = $1 ORDER BY id`, id},
		{&p.Others, `SELECT ` + caseColumns + ` FROM recovery_cases c WHERE c.operation_id = (SELECT operation_id FROM recovery_cases WHERE id = $1) AND c.id <> $1 ORDER BY c.number DESC LIMIT 50`, id},
	} {
		if err := u.list(read.into, read.q, read.arg); err != nil {
			return err
		}
	}
	var reqs []ReexecutionRow
	if err := u.list(&reqs, `SELECT id, requested_by, reason, key_generation, state, checked_at, requested_at, decided_at FROM reexecution_requests
		WHERE operation_id = $1 AND round = $2 ORDER BY requested_at DESC LIMIT 1`, string(p.ID), p.Case.Round); err != nil {
		return err
	}
	if p.Request = nil; len(reqs) > 0 {
		p.Request = &reqs[0]
	}
	ids := map[string]bool{string(p.Case.TakenBy): true}
	for _, h := range p.Holds {
		ids[string(h.User)] = true
	}
	for _, a := range p.Active {
		ids[string(a.User)] = true
	}
	for _, x := range p.Corrections {
		ids[string(x.User)] = true
	}
	if p.Request != nil {
		ids[string(p.Request.By)] = true
	}
	return u.names(ids, p.People)
}

// readOpenCase finds the open case, and who has it in hand.
func (p *OperationPage) readOpenCase(u *unit) error {
	var rows []CaseRow
	if err := u.list(&rows, `SELECT `+caseColumns+` FROM recovery_cases c WHERE c.operation_id = $1 ORDER BY c.closed_at IS NULL DESC, c.number DESC LIMIT 1`, string(p.ID)); err != nil || len(rows) == 0 {
		return err
	}
	p.LastCase = &rows[0]
	return nil
}

// OpenCase is the case that is open; nil = none is.
func (p *OperationPage) OpenCase() *CaseRow {
	if p.LastCase == nil || !p.LastCase.Open() {
		return nil
	}
	return p.LastCase
}

// SameAs reports that a form that was shown with a revision is not out of date.
func (p *OperationPage) SameAs(revision int64) bool { return p.OpenCase().Same(revision, p.Revision) }
