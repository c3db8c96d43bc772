package store

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base32"
	"errors"
	"strings"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
	"github.com/pquerna/otp"
	"github.com/pquerna/otp/totp"
)

// ErrBadCode is a code that is wrong, too old, or was taken before: the answer does not
// say which.
var ErrBadCode = errors.New("the code is wrong or was used already")

// TOTPPeriod is how long one code of an authenticator app is shown.
const TOTPPeriod = 30 * time.Second

// totpOptions is what every authenticator app understands.
var totpOptions = totp.ValidateOpts{Period: uint(TOTPPeriod / time.Second), Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1}

var seedText = base32.StdEncoding.WithPadding(base32.NoPadding)

// StartTOTP begins to set an authenticator app up: a new seed that asks nobody for a code
// before ConfirmTOTP. Starting again replaces a seed that was not confirmed.
func (s *Store) StartTOTP(ctx context.Context, a Actor) error {
	seed := make([]byte, 20)
	_, _ = rand.Read(seed)
	sealed, err := s.seal(a.UserID(), seed)
	if err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		if err := t.changing(a, now); err != nil {
			return err
		}
		n, err := t.exec(`INSERT INTO totp_factors AS f (user_id, sealed, created_at) VALUES ($1, $2, $3)
			ON CONFLICT (user_id) DO UPDATE SET sealed = EXCLUDED.sealed, created_at = EXCLUDED.created_at, last_step = 0 WHERE f.confirmed_at IS NULL`, a.ID, sealed, now)
		if err == nil && n == 0 {
			err = &Invalid{Field: "", Code: "totp_exists"}
		}
		return err
	})
}

// FindTOTPStart gives the seed that is being set up, as base32 text. ErrNotFound when
// none is, or when it is confirmed: a seed in use is shown to nobody.
func (s *Store) FindTOTPStart(ctx context.Context, id operation.UserID) (string, error) {
	var sealed []byte
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &sealed, `SELECT sealed FROM totp_factors WHERE user_id = $1 AND confirmed_at IS NULL`, string(id))
	})
	if err != nil {
		return "", err
	}
	seed, err := s.unseal(id, sealed)
	return seedText.EncodeToString(seed), err
}

// ConfirmTOTP takes the authenticator app into use with a first code from it. It gives
// recovery codes where the person has none; they are shown once. The errors are
// ErrBadCode, *LoginLimited and ErrNotFound (nothing is being set up).
func (s *Store) ConfirmTOTP(ctx context.Context, a Actor, code, ip string) (recovery []string, err error) {
	err = s.limitedCode(ctx, a.UserID(), ip, func(t *tx, now time.Time) error {
		recovery = nil
		if err := t.takeTOTP(a.UserID(), code, now, false); err != nil {
			return err
		}
		if err := t.one(`UPDATE totp_factors SET confirmed_at = $2 WHERE user_id = $1 AND confirmed_at IS NULL`, a.ID, now); err != nil {
			return err
		}
		var have int
		if err := t.get(&have, `SELECT count(*) FROM recovery_codes WHERE user_id = $1 AND used_at IS NULL`, a.ID); err != nil {
			return err
		}
		if have == 0 {
			if recovery, err = t.newRecoveryCodes(a.UserID(), now); err != nil {
				return err
			}
		}
		return t.enter(a, now, operation.SubjectUser, a.ID, "add_totp", "")
	})
	return recovery, err
}

// RemoveTOTP takes the authenticator app away, or what was begun of it.
func (s *Store) RemoveTOTP(ctx context.Context, a Actor) error {
	return s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		if err := t.changing(a, now); err != nil {
			return err
		}
		var was *time.Time
		err = t.get(&was, `DELETE FROM totp_factors WHERE user_id = $1 RETURNING confirmed_at`, a.ID)
		if isGone(err) {
			return errDone
		}
		if err != nil || was == nil {
			return err
		}
		if err := t.dropIdleCodes(a.UserID()); err != nil {
			return err
		}
		return t.enter(a, now, operation.SubjectUser, a.ID, "remove_totp", "")
	})
}

// VerifyCode takes a code of the authenticator app or a recovery code as a person's
// second factor, once: the step of the code is advanced in the transaction that accepts
// it, so that of two sign-ins with the same code one is refused. It says which it was:
// ByCode or ByRecovery. The errors are ErrBadCode and *LoginLimited.
func (s *Store) VerifyCode(ctx context.Context, id operation.UserID, code, ip string) (how SignInKind, err error) {
	err = s.limitedCode(ctx, id, ip, func(t *tx, now time.Time) error {
		if how = ByCode; isTOTP(code) {
			return t.takeTOTP(id, code, now, true)
		}
		how = ByRecovery
		return t.takeRecovery(id, code, now)
	})
	return how, err
}

// limitedCode runs one try with a code, counted in the database before it is looked at:
// parallel guesses count too.
func (s *Store) limitedCode(ctx context.Context, id operation.UserID, ip string, fn func(*tx, time.Time) error) error {
	err := s.Try(ctx, "factor\x00"+string(id), ip, func() (bool, error) {
		err := s.tryCode(ctx, id, fn)
		return err == nil, wrongCode(err)
	})
	if errors.Is(err, ErrBadLogin) {
		return ErrBadCode
	}
	return err
}

// wrongCode leaves out the error that counts as a failed try.
func wrongCode(err error) error {
	if errors.Is(err, ErrBadCode) {
		return nil
	}
	return err
}

func (s *Store) tryCode(ctx context.Context, id operation.UserID, fn func(*tx, time.Time) error) error {
	return s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		var active bool
		if err := t.get(&active, `SELECT active FROM users WHERE id = $1 FOR UPDATE`, string(id)); err != nil {
			return err
		}
		if !active {
			return ErrBadCode
		}
		return fn(t, now)
	})
}

// cleanCode takes out what people type between the parts of a code.
func cleanCode(code string) string {
	return strings.ToUpper(strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' || r == '\u00a0' || r == '\u3000' {
			return -1
		}
		if r >= '０' && r <= '９' { // full-width digits of a Japanese keyboard
			return r - '０' + '0'
		}
		return r
	}, strings.TrimSpace(code)))
}

func isTOTP(code string) bool {
	code = cleanCode(code)
	return len(code) == 6 && strings.Trim(code, "0123456789") == ""
}

// takeTOTP accepts a code of the current step or of the one before or after it, if its
// step is newer than that of the last code that was accepted. The person is locked.
func (t *tx) takeTOTP(id operation.UserID, code string, now time.Time, confirmed bool) error {
	var row struct {
		Sealed []byte `db:"sealed"`
		Last   int64  `db:"last_step"`
	}
	err := t.get(&row, `SELECT sealed, last_step FROM totp_factors WHERE user_id = $1 AND (confirmed_at IS NOT NULL) = $2 FOR UPDATE`, string(id), confirmed)
	if isGone(err) && confirmed {
		return ErrBadCode
	}
	if err != nil {
		return err
	}
	seed, err := t.s.unseal(id, row.Sealed)
	if err != nil {
		return err
	}
	step, err := stepOf(seed, cleanCode(code), now, row.Last)
	if err != nil {
		return err
	}
	return t.one(`UPDATE totp_factors SET last_step = $2 WHERE user_id = $1 AND last_step < $2`, string(id), step)
}

// stepOf finds the step that a code belongs to.
func stepOf(seed []byte, code string, now time.Time, last int64) (int64, error) {
	current := now.Unix() / int64(TOTPPeriod/time.Second)
	for _, step := range []int64{current, current - 1, current + 1} {
		want, err := totp.GenerateCodeCustom(seedText.EncodeToString(seed), time.Unix(step*int64(TOTPPeriod/time.Second), 0), totpOptions)
		if err != nil {
			return 0, errors.New("no code can be made from the seed")
		}
		if subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 && step > last {
			return step, nil
		}
	}
	return 0, ErrBadCode
}
