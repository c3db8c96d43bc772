package store

import (
	"context"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// caseVerb runs what a person does to a case alone. A case that they may not know of is
// not found, like a missing one (FC-48).
func (s *Store) caseVerb(ctx context.Context, a Actor, id operation.CaseID, fn func(*unit, operation.Person, *CaseRow) error) error {
	c, err := s.visibleCase(ctx, a, id)
	if err != nil {
		return err
	}
	return s.change(ctx, a, c.Operation, func(u *unit) error {
		who, err := u.person(a, u.op.Flow)
		if err != nil {
			return err
		}
		if err := u.get(c, `SELECT `+caseColumns+` FROM recovery_cases c WHERE c.id = $1`, string(id)); err != nil {
			return err
		}
		if err := fn(u, who, c); err != nil {
			return err
		}
		return u.aside(c)
	})
}

// visibleCase reads a case that the viewer may know of.
func (s *Store) visibleCase(ctx context.Context, viewer Actor, id operation.CaseID) (*CaseRow, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	c := &CaseRow{}
	err = s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, c, `SELECT `+caseColumns+` FROM recovery_cases c WHERE c.id = $1`, string(id))
	})
	if err == nil && !v.Sees(c.Flow, c.Destination) {
		err = ErrNotFound
	}
	return c, err
}

// TakeCase puts a case into a person's hands, so that nobody else works on it unknowingly.
// from is who had it in hand when they saw it, "" = nobody: from another one than that it
// is not taken. Taking it from somebody needs a reason. Taking one's own again changes
// nothing.
func (s *Store) TakeCase(ctx context.Context, a Actor, id operation.CaseID, from operation.UserID, reason string) error {
	return s.caseVerb(ctx, a, id, func(u *unit, who operation.Person, c *CaseRow) error {
		h := c.Hold()
		if h.TakenBy == who.ID && !h.Closed {
			return errDone
		}
		if h.TakenBy != "" && h.TakenBy != from {
			return operation.MayWorkOnCase(h, who.ID)
		}
		if r := operation.MayTakeCase(h, u.reviewer(), who, reason); r != nil {
			return r
		}
		return u.takeCase(c, reason)
	})
}

// ReleaseCase gives a case out of a person's own hands.
func (s *Store) ReleaseCase(ctx context.Context, a Actor, id operation.CaseID) error {
	return s.caseVerb(ctx, a, id, func(u *unit, who operation.Person, c *CaseRow) error {
		if r := operation.MayReleaseCase(c.Hold(), who.ID); r != nil {
			return r
		}
		if _, err := u.exec(`UPDATE recovery_cases SET taken_by = NULL, taken_at = NULL, changed_at = $2 WHERE id = $1`, string(c.ID), u.now); err != nil {
			return err
		}
		u.note(u.op, "release_case", "", "case", string(c.ID), "role", string(u.reviewer().Role))
		return nil
	})
}

// AskLookup plans a lookup at once. It decides nothing, so it does not ask who has the
// case in hand; a lookup that is due already is not planned twice.
func (s *Store) AskLookup(ctx context.Context, a Actor, id operation.CaseID) error {
	return s.caseVerb(ctx, a, id, func(u *unit, who operation.Person, c *CaseRow) error {
		if r := operation.MayAskLookup(c.Hold(), u.reviewer(), who); r != nil {
			return r
		}
		act, err := u.profile.Action(u.op.Action)
		if err != nil || !act.HasLookup() || u.op.AttemptsEver == 0 {
			return operation.Refuse(operation.CodeNoLookup)
		}
		if u.op.LookupAt != nil && !u.op.LookupAt.After(u.now) {
			return errDone
		}
		u.op.LookupAt = &u.now
		u.wakeUp(wakeLookup, u.op, u.now)
		u.note(u.op, "ask_lookup", "", "case", string(c.ID), "role", string(u.reviewer().Role))
		return nil
	})
}
