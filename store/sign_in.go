package store

import (
	"context"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// SignInKind says how somebody proved who they are.
type SignInKind string

// The kinds of proof of a sign-in.
const (
	ByPassword SignInKind = "password"
	ByCode     SignInKind = "code"     // a password, then a code of an app
	ByRecovery SignInKind = "recovery" // a password, then a recovery code
	ByPasskey  SignInKind = "passkey"
	ByProvider SignInKind = "provider"
)

// SignInKinds lists every kind.
var SignInKinds = []SignInKind{ByPassword, ByCode, ByRecovery, ByPasskey, ByProvider}

// SignIn is one sign-in to an account, or a try that failed.
type SignIn struct {
	At    time.Time  `db:"at"`
	How   SignInKind `db:"how"` // of a failed try: what was wrong
	OK    bool       `db:"ok"`
	IP    string     `db:"ip"`
	Agent string     `db:"agent"`
}

// NoteSignIn records that a person has signed in.
func (s *Store) NoteSignIn(ctx context.Context, u User, how SignInKind, ip, agent string) error {
	return s.noteSignIn(ctx, u.Email, u.ID, how, ip, agent)
}

// NoteFailedSignIn records a failed try at an account, whether there is one or not.
func (s *Store) NoteFailedSignIn(ctx context.Context, email string, how SignInKind, ip, agent string) error {
	if clean, err := canonicalEmail(email); err == nil {
		email = clean
	} else {
		email = "?"
	}
	return s.noteSignIn(ctx, email, "", how, ip, agent)
}

func (s *Store) noteSignIn(ctx context.Context, email string, id operation.UserID, how SignInKind, ip, agent string) error {
	return s.write(ctx, func(t *tx) error {
		_, err := t.exec(`INSERT INTO sign_ins (account, user_id, how, ip, agent, at) VALUES ($1, NULLIF($2, ''), $3, $4, $5, clock_timestamp())`,
			s.loginKey(email), string(id), string(how), short(shown(ip, 64), 64), shown(agent, 300))
		return err
	})
}

// ListSignIns gives the newest sign-ins and failed tries of a person's account.
func (s *Store) ListSignIns(ctx context.Context, u User, limit int) ([]SignIn, error) {
	var out []SignIn
	err := s.read(ctx, func(q *sqlx.DB) error {
		out = nil
		return q.SelectContext(ctx, &out, `SELECT at, how, user_id IS NOT NULL AS ok, ip, agent FROM sign_ins WHERE account = $1 ORDER BY at DESC, id DESC LIMIT $2`,
			s.loginKey(u.Email), limit)
	})
	return out, err
}

// DeleteOldSignIns takes away what is older than 90 days. It returns how many.
func (s *Store) DeleteOldSignIns(ctx context.Context) (int64, error) {
	var n int64
	err := s.write(ctx, func(t *tx) (err error) {
		n, err = t.exec(`DELETE FROM sign_ins WHERE at < clock_timestamp() - interval '90 days'`)
		return err
	})
	return n, err
}
