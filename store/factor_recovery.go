package store

import (
	"context"
	"crypto/rand"
	"strconv"
	"strings"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// RecoveryCodes is how many codes are made at once; each opens the second factor once.
const RecoveryCodes = 10

// recoveryLength is the length of a code in base32 characters: 80 bits, not to be guessed.
const recoveryLength = 16

// NewRecoveryCodes makes ten new codes; all earlier ones are void. They are shown once.
func (s *Store) NewRecoveryCodes(ctx context.Context, a Actor) (codes []string, err error) {
	err = s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		if err := t.changing(a, now); err != nil {
			return err
		}
		var has bool
		if err := t.get(&has, `SELECT `+hasFactor+` FROM users u WHERE u.id = $1`, a.ID); err != nil {
			return err
		}
		if !has {
			return &Invalid{Field: "", Code: "factor_missing"}
		}
		if codes, err = t.newRecoveryCodes(a.UserID(), now); err != nil {
			return err
		}
		return t.enter(a, now, operation.SubjectUser, a.ID, "new_recovery_codes", "")
	})
	return codes, err
}

// newRecoveryCodes replaces a person's codes.
func (t *tx) newRecoveryCodes(id operation.UserID, now time.Time) ([]string, error) {
	if _, err := t.exec(`DELETE FROM recovery_codes WHERE user_id = $1`, string(id)); err != nil {
		return nil, err
	}
	var out []string
	for range RecoveryCodes {
		code := rand.Text()[:recoveryLength]
		if _, err := t.exec(`INSERT INTO recovery_codes (user_id, code_hash, made_at) VALUES ($1, $2, $3)`, string(id), t.s.recoveryHash(id, code), now); err != nil {
			return nil, err
		}
		out = append(out, spaced(code))
	}
	return out, nil
}

// spaced writes a code in parts that a person can copy by hand.
func spaced(code string) string {
	var parts []string
	for i := 0; i < len(code); i += 4 {
		parts = append(parts, code[i:min(i+4, len(code))])
	}
	return strings.ToLower(strings.Join(parts, "-"))
}

// takeRecovery uses a code up. The person is locked.
func (t *tx) takeRecovery(id operation.UserID, code string, now time.Time) error {
	n, err := t.exec(`UPDATE recovery_codes SET used_at = $3 WHERE user_id = $1 AND code_hash = $2 AND used_at IS NULL`, string(id), t.s.recoveryHash(id, cleanCode(code)), now)
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrBadCode
	}
	var row struct {
		Name string `db:"name"`
		Left int    `db:"left_over"`
	}
	if err := t.get(&row, `SELECT name, (SELECT count(*) FROM recovery_codes WHERE user_id = $1 AND used_at IS NULL) AS left_over FROM users WHERE id = $1`, string(id)); err != nil {
		return err
	}
	who := Person(id, row.Name, "web")
	return t.enter(who, now, operation.SubjectUser, string(id), "use_recovery_code", "", "left", strconv.Itoa(row.Left))
}

// AreRecoveryCodes reports whether all of these are unused codes of a person: what is
// shown to them now may also be saved as a file.
func (s *Store) AreRecoveryCodes(ctx context.Context, id operation.UserID, codes []string) (bool, error) {
	if len(codes) == 0 || len(codes) > RecoveryCodes {
		return false, nil
	}
	for _, code := range codes {
		var n int
		err := s.read(ctx, func(q *sqlx.DB) error {
			return q.GetContext(ctx, &n, `SELECT count(*) FROM recovery_codes WHERE user_id = $1 AND code_hash = $2 AND used_at IS NULL`, string(id), s.recoveryHash(id, cleanCode(code)))
		})
		if err != nil || n == 0 {
			return false, err
		}
	}
	return true, nil
}
