package store

import (
	"context"
	"time"

	"holdpoint/operation"
)

// refusedPerMinute bounds how many refused attempts of one person a minute keeps.
const refusedPerMinute = 60

// noteRefused records in the person's own history that they tried to decide what is not
// theirs to decide (FC-45, FC-48): the same refusal once a minute, so that nobody can fill
// the history by clicking. It is a transaction of its own: the refused one left nothing,
// and the operation is not touched. A failure is logged, the refusal stands anyway.
func (s *Store) noteRefused(ctx context.Context, a Actor, id operation.ID, err error) {
	r, no := operation.RefusalIn(err)
	if a.UserID() == "" || !no {
		return
	}
	switch r.Code {
	case operation.CodeOwnContent, operation.CodeParty, operation.CodeNotEntitled, operation.CodePartyFor, operation.CodeCountedOnce,
		operation.CodeDelegation, operation.CodeDelegatorNotEntitled:
	default:
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := s.write(ctx, func(t *tx) error { return t.enterRefused(a, id, r.Code) }); err != nil {
		s.log.Warn("refused attempt not recorded", "operation", string(id), "person", a.ID, "code", string(r.Code), "error", err)
	}
}

func (t *tx) enterRefused(a Actor, id operation.ID, code operation.Code) error {
	// whoever locks the head of the history counts alone
	var seq int64
	if err := t.get(&seq, `SELECT chain_seq FROM users WHERE id = $1 FOR UPDATE`, a.ID); err != nil {
		return err
	}
	now, err := t.clock()
	if err != nil {
		return err
	}
	var n struct {
		Same int `db:"same"`
		All  int `db:"n"`
	}
	err = t.get(&n, `SELECT count(*) AS n, count(*) FILTER (WHERE links::json->>'operation' = $4 AND links::json->>'code' = $5) AS same
		FROM history WHERE subject_kind = 'user' AND subject_id = $1 AND seq > $2 AND action = 'decision_refused' AND at > $3`,
		a.ID, seq-2*refusedPerMinute, now.Add(-time.Minute), string(id), string(code))
	if err != nil {
		return err
	}
	if n.Same > 0 || n.All >= refusedPerMinute {
		return errDone
	}
	return t.enter(a, now, operation.SubjectUser, a.ID, "decision_refused", "", "operation", string(id), "code", string(code))
}
