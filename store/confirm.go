package store

import (
	"context"
	"errors"
	"time"

	"holdpoint/operation"
)

// DefaultConfirmAfter is how old the proof of the person behind a session may be for
// decisions about re-executions and for changes of access.
const DefaultConfirmAfter = 10 * time.Minute

// ErrConfirm is a decision for which the person must first confirm who they are.
// Nothing was decided.
var ErrConfirm = errors.New("confirm who you are first")

// ConfirmAfter is how old the proof of the person behind a session may be.
func (s *Store) ConfirmAfter() time.Duration { return s.confirm }

// confirmed lets pass a person in a browser whose session has proved them lately; the
// session is locked until the end. Whoever is not in a browser has no session to prove.
func (t *tx) confirmed(a Actor, now time.Time) error {
	if a.Kind != operation.ActorPerson || a.Channel != "web" {
		return nil
	}
	var at time.Time
	err := t.get(&at, `SELECT authenticated_at FROM sessions WHERE token_hash = $1 AND user_id = $2
		AND (revoked_at IS NULL OR revoked_at > $3) AND expires_at > $3 FOR SHARE`, orEmpty(a.Session), a.ID, now)
	if isGone(err) || err == nil && now.Sub(at) > t.s.confirm {
		return ErrConfirm
	}
	return err
}

// ConfirmPassword checks the password of a person who is signed in. The errors are
// ErrBadLogin, *LoginLimited and ErrBusy, as at the sign-in, and the tries count there too.
func (s *Store) ConfirmPassword(ctx context.Context, a Actor, password, ip string) error {
	u, err := s.FindUser(ctx, a.UserID())
	if err != nil {
		return err
	}
	_, err = s.VerifyPassword(ctx, u.Email, password, ip)
	return err
}

func orEmpty(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
