package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"time"
	"unicode/utf8"

	"holdpoint/operation"

	"github.com/alexedwards/argon2id"
	"github.com/jmoiron/sqlx"
	"golang.org/x/text/unicode/norm"
)

// hashing is argon2id with 19 MiB: see Store.hasher for how many run at once.
var hashing = &argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// The limits of a password, in characters.
const (
	MinPassword = 12
	maxPassword = 256
)

// ErrBusy is a password that was not looked at: too many are being hashed. Nothing was
// changed, and it may be tried again.
var ErrBusy = errors.New("too many passwords are being checked at this moment")

// How long the links hold that set a password, and that invite somebody.
const (
	PasswordLinkLife = 24 * time.Hour
	invitationLife   = 7 * 24 * time.Hour
)

// linkKind says what a link is for.
type linkKind string

const (
	linkPassword   linkKind = "password"
	linkInvitation linkKind = "invitation"
)

func (k linkKind) life() time.Duration {
	if k == linkInvitation {
		return invitationLife
	}
	return PasswordLinkLife
}

// PasswordLink is a one-use permission to set a password. The secret is shown once and
// not stored.
type PasswordLink struct {
	User    operation.UserID
	Secret  string
	Expires time.Time
}

func hashSecret(secret string) []byte {
	h := sha256.Sum256([]byte(secret))
	return h[:]
}

// newLink makes a link; an earlier one of the same person is void then.
func (t *tx) newLink(a Actor, id operation.UserID, now time.Time, kind linkKind) (PasswordLink, error) {
	l := PasswordLink{User: id, Secret: rand.Text(), Expires: now.Add(kind.life())}
	if err := t.voidLinks(id, now); err != nil {
		return l, err
	}
	_, err := t.exec(`INSERT INTO password_links (token_hash, user_id, expires_at, kind, created_by, created_at) VALUES ($1, $2, $3, $4, $5, $6)`,
		hashSecret(l.Secret), string(id), l.Expires, string(kind), a.ID, now)
	return l, err
}

func (t *tx) voidLinks(id operation.UserID, now time.Time) error {
	_, err := t.exec(`UPDATE password_links SET used_at = $2 WHERE user_id = $1 AND used_at IS NULL`, string(id), now)
	return err
}

// ResetPassword gives a person a new link; the old password and all sessions end now.
// One's own password is changed by ChangePassword.
func (s *Store) ResetPassword(ctx context.Context, a Actor, id operation.UserID, reason string) (PasswordLink, error) {
	var link PasswordLink
	err := s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		if err := t.mayManage(a, id, now); err != nil {
			return err
		}
		var active bool
		if err := t.get(&active, `SELECT active FROM users WHERE id = $1 FOR UPDATE`, string(id)); err != nil {
			return err
		}
		if !active {
			return &Invalid{Field: "user", Code: "user_disabled"}
		}
		if err := t.one(`UPDATE users SET password_hash = '' WHERE id = $1`, string(id)); err != nil {
			return err
		}
		if _, err := t.revokeSessions(id, now, nil); err != nil {
			return err
		}
		if link, err = t.newLink(a, id, now, linkPassword); err != nil {
			return err
		}
		return t.enter(a, now, operation.SubjectUser, string(id), "reset_password", reason)
	})
	return link, err
}

// SetPassword sets a password by a one-use link. A link that is used, too old or of a
// disabled person is ErrNotFound.
func (s *Store) SetPassword(ctx context.Context, secret, password string) (operation.UserID, error) {
	return s.SetPasswordFrom(ctx, secret, password, "")
}

// SetPasswordFrom is SetPassword for somebody at a network address: tries are counted for
// the network, and too many are *LoginLimited.
func (s *Store) SetPasswordFrom(ctx context.Context, secret, password, ip string) (operation.UserID, error) {
	// looked up before the costly hash: a guessed link costs a guesser, not us
	var u User
	err := s.tryLink(ctx, ip, func() (err error) { u, err = s.FindPasswordLink(ctx, secret); return err })
	if err != nil {
		return "", err
	}
	hash, err := s.hashPassword(ctx, password, u)
	if err != nil {
		return "", err
	}
	var id operation.UserID
	err = s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		var row struct {
			ID   operation.UserID `db:"id"`
			Name string           `db:"name"`
			Kind linkKind         `db:"kind"`
		}
		err = t.get(&row, `UPDATE password_links l SET used_at = $2 FROM users u WHERE l.token_hash = $1 AND l.used_at IS NULL AND l.expires_at > $2
			AND u.id = l.user_id AND u.active RETURNING u.id, u.name, l.kind`, hashSecret(secret), now)
		if err != nil {
			return err
		}
		id = row.ID
		return t.storePassword(Person(row.ID, row.Name, "web"), now, hash, nil, string(row.Kind))
	})
	return id, err
}

// FindPasswordLink gives whose link this is, so that the page can greet them; using it
// up takes SetPassword. ErrNotFound when it does not hold.
func (s *Store) FindPasswordLink(ctx context.Context, secret string) (User, error) {
	var id operation.UserID
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &id, `SELECT u.id FROM password_links l JOIN users u ON u.id = l.user_id WHERE l.token_hash = $1 AND l.used_at IS NULL
			AND l.expires_at > clock_timestamp() AND u.active`, hashSecret(secret))
	})
	if err != nil {
		return User{}, err
	}
	return s.FindUser(ctx, id)
}

// ChangePassword changes the acting person's own password. keep is the token hash of
// the session in use; all others end. A wrong current password counts like a failed
// sign-in.
func (s *Store) ChangePassword(ctx context.Context, a Actor, current, password, ip string, keep []byte) error {
	u, err := s.FindUser(ctx, a.UserID())
	if err != nil {
		return err
	}
	if _, err := s.VerifyPassword(ctx, u.Email, current, ip); err != nil {
		return err
	}
	hash, err := s.hashPassword(ctx, password, u)
	if err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		return t.storePassword(a, now, hash, keep, "changed")
	})
}

func (t *tx) storePassword(who Actor, now time.Time, hash string, keep []byte, how string) error {
	n, err := t.exec(`UPDATE users SET password_hash = $2 WHERE id = $1 AND active`, who.ID, hash)
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrNotFound
	}
	if _, err := t.revokeSessions(operation.UserID(who.ID), now, keep); err != nil {
		return err
	}
	return t.enter(who, now, operation.SubjectUser, who.ID, "set_password", "", "how", how)
}

// hashPassword checks and hashes a new password of a person.
func (s *Store) hashPassword(ctx context.Context, password string, of User) (string, error) {
	password = norm.NFC.String(password)
	switch n := utf8.RuneCountInString(password); {
	case n < MinPassword:
		return "", &Invalid{Field: "password", Code: "password_short", Limit: MinPassword}
	case n > maxPassword:
		return "", &Invalid{Field: "password", Code: "password_long", Limit: maxPassword}
	case namesOwner(password, of):
		return "", &Invalid{Field: "password", Code: "password_own"}
	case isCommon(password):
		return "", &Invalid{Field: "password", Code: "password_common"}
	}
	var hash string
	err := s.hashingSlot(ctx, func() (err error) {
		hash, err = argon2id.CreateHash(password, hashing)
		return err
	})
	return hash, err
}

// hashingSlot runs one costly hash; only a few run at a time, or a burst of sign-ins
// would take all memory.
func (s *Store) hashingSlot(ctx context.Context, fn func() error) error {
	wait := time.NewTimer(s.hashWait)
	defer wait.Stop()
	select {
	case s.hasher <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-wait.C:
		return ErrBusy
	}
	defer func() { <-s.hasher }()
	return fn()
}
