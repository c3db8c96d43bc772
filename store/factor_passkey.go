package store

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"holdpoint/operation"
)

// Passkey is one key pair of a person, on a device or in a password manager.
type Passkey struct {
	ID           string           `db:"id"` // psk_…
	UserID       operation.UserID `db:"user_id"`
	CredentialID []byte           `db:"credential_id"`
	Name         string           `db:"name"`
	Credential   string           `db:"credential"` // JSON: the whole record, as the sign-in reads it again
	ClonedAt     *time.Time       `db:"cloned_at"`  // a copy may be in use; nil = no sign of it
	CreatedAt    time.Time        `db:"created_at"`
	UsedAt       *time.Time       `db:"used_at"`
}

const passkeyColumns = `id, user_id, credential_id, name, credential, cloned_at, created_at, used_at`

// The limits of a passkey's name, and of how many one person has.
const (
	MaxPasskeyName = 60
	maxPasskeys    = 20
)

func passkeyName(name string) (string, error) {
	name = strings.TrimSpace(shown(name, 4*MaxPasskeyName))
	switch n := utf8.RuneCountInString(name); {
	case n == 0:
		return "", &Invalid{Field: "name", Code: "name_missing"}
	case n > MaxPasskeyName:
		return "", &Invalid{Field: "name", Code: "passkey_name_long", Limit: MaxPasskeyName}
	}
	return name, nil
}

// AddPasskey keeps a new passkey of the acting person.
func (s *Store) AddPasskey(ctx context.Context, a Actor, k Passkey) (string, error) {
	name, err := passkeyName(k.Name)
	if err != nil {
		return "", err
	}
	id := newID("psk")
	err = s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		if err := t.changing(a, now); err != nil {
			return err
		}
		var n int
		if err := t.get(&n, `SELECT count(*) FROM passkeys WHERE user_id = $1`, a.ID); err != nil {
			return err
		}
		if n >= maxPasskeys {
			return &Invalid{Field: "name", Code: "passkeys_many", Limit: maxPasskeys}
		}
		_, err = t.exec(`INSERT INTO passkeys (id, user_id, credential_id, name, credential, created_at) VALUES ($1, $2, $3, $4, $5, $6)`,
			id, a.ID, k.CredentialID, name, k.Credential, now)
		if violates(err, "passkeys_credential_key") {
			return &Invalid{Field: "name", Code: "passkey_known"}
		}
		if err != nil {
			return err
		}
		return t.enter(a, now, operation.SubjectUser, a.ID, "add_passkey", "", "passkey", name)
	})
	return id, err
}

// RenamePasskey gives one of the acting person's passkeys another name. One of somebody
// else is ErrNotFound.
func (s *Store) RenamePasskey(ctx context.Context, a Actor, id, name string) error {
	name, err := passkeyName(name)
	if err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		var was string
		if err := t.get(&was, `SELECT name FROM passkeys WHERE id = $1 AND user_id = $2 FOR UPDATE`, id, a.ID); err != nil {
			return err
		}
		if was == name {
			return errDone
		}
		if err := t.one(`UPDATE passkeys SET name = $2 WHERE id = $1`, id, name); err != nil {
			return err
		}
		return t.enter(a, now, operation.SubjectUser, a.ID, "rename_passkey", "", "passkey", name, "was", was)
	})
}

// RemovePasskey takes one of the acting person's passkeys away. One of somebody else is
// ErrNotFound.
func (s *Store) RemovePasskey(ctx context.Context, a Actor, id string) error {
	return s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		if err := t.changing(a, now); err != nil {
			return err
		}
		var name string
		if err := t.get(&name, `DELETE FROM passkeys WHERE id = $1 AND user_id = $2 RETURNING name`, id, a.ID); err != nil {
			return err
		}
		if err := t.dropIdleCodes(a.UserID()); err != nil {
			return err
		}
		return t.enter(a, now, operation.SubjectUser, a.ID, "remove_passkey", "", "passkey", name)
	})
}

// FindPasskeys gives an active person by their ID with all of their passkeys; a disabled
// one is ErrNotFound.
func (s *Store) FindPasskeys(ctx context.Context, id operation.UserID) (User, []Passkey, error) {
	u, err := s.FindUser(ctx, id)
	if err != nil {
		return u, nil, err
	}
	if !u.Active {
		return u, nil, ErrNotFound
	}
	f, err := s.FindFactors(ctx, id)
	return u, f.Passkeys, err
}

// UsePasskey records a sign-in by a passkey: its new record replaces the one that the
// answer was checked against. When that is no longer the stored one, another sign-in was
// faster, and this one is ErrBadCode. With cloned, the counter went back: it is recorded,
// and the answer is ErrBadCode too.
func (s *Store) UsePasskey(ctx context.Context, k Passkey, record string, cloned bool) error {
	err := s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		var name string
		if err := t.get(&name, `SELECT name FROM users WHERE id = $1 AND active FOR UPDATE`, string(k.UserID)); err != nil {
			return err
		}
		if cloned {
			n, err := t.exec(`UPDATE passkeys SET cloned_at = COALESCE(cloned_at, $2) WHERE id = $1`, k.ID, now)
			if err != nil || n == 0 {
				return err
			}
			us := System("web")
			return t.enter(us, now, operation.SubjectUser, string(k.UserID), "passkey_cloned", "", "passkey", k.Name)
		}
		n, err := t.exec(`UPDATE passkeys SET credential = $2, used_at = $3 WHERE id = $1 AND user_id = $4 AND credential = $5`, k.ID, record, now, string(k.UserID), k.Credential)
		if err == nil && n == 0 {
			err = ErrBadCode
		}
		return err
	})
	if err == nil && cloned || isGone(err) {
		return ErrBadCode
	}
	return err
}

// PutChallenge keeps what a session is asked, for a while. A new one of the same kind
// replaces it.
func (s *Store) PutChallenge(ctx context.Context, tokenHash []byte, kind string, data []byte, life time.Duration) error {
	return s.write(ctx, func(t *tx) error {
		_, err := t.exec(`INSERT INTO session_challenges (token_hash, kind, data, expires_at) VALUES ($1, $2, $3, clock_timestamp() + CAST($4 AS interval))
			ON CONFLICT (token_hash, kind) DO UPDATE SET data = EXCLUDED.data, expires_at = EXCLUDED.expires_at`, tokenHash, kind, data, life.String())
		return err
	})
}

// TakeChallenge gives what a session was asked, once. ErrNotFound when it was taken
// already, is too old, or was never there.
func (s *Store) TakeChallenge(ctx context.Context, tokenHash []byte, kind string) ([]byte, error) {
	var data []byte
	err := s.write(ctx, func(t *tx) error {
		var row struct {
			Data []byte `db:"data"`
			Live bool   `db:"live"`
		}
		if err := t.get(&row, `DELETE FROM session_challenges WHERE token_hash = $1 AND kind = $2 RETURNING data, expires_at > clock_timestamp() AS live`, tokenHash, kind); err != nil {
			return err
		}
		if data = row.Data; !row.Live {
			data = nil
		}
		return nil
	})
	if err == nil && data == nil {
		err = ErrNotFound
	}
	return data, err
}
