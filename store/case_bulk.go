package store

import (
	"context"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// BulkVerb is what can be done to many cases at once. An unknown outcome is never decided
// that way: cases are taken, and their destinations asked.
type BulkVerb string

// The verbs.
const (
	BulkTake   BulkVerb = "take"
	BulkLookup BulkVerb = "lookup"
)

// PickedCase is one case of a list as it was shown.
type PickedCase struct {
	ID   operation.CaseID
	From operation.UserID // who had it in hand, "" = nobody
}

// BulkResult is what became of one case of a list.
type BulkResult struct {
	CaseRow
	Code  operation.Code   `db:"code"` // "" = done
	Verb  BulkVerb         `db:"verb"`
	State operation.State  `db:"state"`
	Title string           `db:"title"`
	From  operation.UserID `db:"-"`
	At    time.Time        `db:"at"`
}

// WorkOnCases does one verb to each case of a list, each alone, and records what became
// of each: done, refused with its reason, or not tried, when an error that is no refusal
// ended it. The same form again gives the same results; what was done stays done. Cases
// that the person may not know of are left out.
func (s *Store) WorkOnCases(ctx context.Context, a Actor, form string, verb BulkVerb, list []PickedCase, reason string) error {
	known, err := s.knownCases(ctx, a, list)
	if err != nil {
		return err
	}
	if err := s.noteBulk(ctx, a, form, verb, known, operation.CodeNotTried, 0); err != nil {
		return err
	}
	for i, c := range known {
		code, err := s.workOnOne(ctx, a, verb, c, reason)
		if err != nil {
			return err
		}
		if err := s.noteBulk(ctx, a, form, verb, known[i:i+1], code, i); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) workOnOne(ctx context.Context, a Actor, verb BulkVerb, c PickedCase, reason string) (operation.Code, error) {
	var err error
	switch verb {
	case BulkTake:
		err = s.TakeCase(ctx, a, c.ID, c.From, reason)
	case BulkLookup:
		err = s.AskLookup(ctx, a, c.ID)
	default:
		return "", ErrNotFound
	}
	if r, no := operation.RefusalIn(err); no {
		return r.Code, nil
	}
	return operation.CodeOK, err
}

// knownCases keeps of a list what the person may know of, each once, in its order.
func (s *Store) knownCases(ctx context.Context, a Actor, list []PickedCase) ([]PickedCase, error) {
	var out []PickedCase
	seen := map[operation.CaseID]bool{}
	for _, c := range list {
		if len(out) == CaseListLimit || seen[c.ID] {
			continue
		}
		seen[c.ID] = true
		_, err := s.visibleCase(ctx, a, c.ID)
		if isGone(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// noteBulk records what became of some cases. What is recorded as done stays so, and a
// second sending does not turn a result back into "not tried".
func (s *Store) noteBulk(ctx context.Context, a Actor, form string, verb BulkVerb, list []PickedCase, code operation.Code, place int) error {
	return s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		for i, c := range list {
			if _, err := t.exec(`INSERT INTO case_bulk (user_id, form_id, case_id, place, verb, code, at) VALUES ($1, $2, $3, $4, $5, $6, $7)
				ON CONFLICT (user_id, form_id, case_id) DO UPDATE SET code = excluded.code, at = excluded.at WHERE case_bulk.code <> '' AND excluded.code <> 'not_tried'`,
				a.ID, form, string(c.ID), place+i, string(verb), string(code), now); err != nil {
				return err
			}
		}
		return nil
	})
}

// ListBulkResults lists what became of each case of a person's own list.
func (s *Store) ListBulkResults(ctx context.Context, a Actor, form string) ([]BulkResult, error) {
	var rows []BulkResult
	err := s.read(ctx, func(q *sqlx.DB) error {
		rows = nil
		return q.SelectContext(ctx, &rows, `SELECT `+caseColumns+`, x.code, x.verb, x.at, o.state, o.title FROM case_bulk x JOIN recovery_cases c ON c.id = x.case_id
			JOIN operations o ON o.id = c.operation_id WHERE x.user_id = $1 AND x.form_id = $2 ORDER BY x.place, c.number`, a.ID, form)
	})
	return rows, err
}
