package store

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/netip"
	"sync"
	"time"

	"holdpoint/operation"

	"github.com/alexedwards/argon2id"
	"github.com/jmoiron/sqlx"
	"golang.org/x/text/unicode/norm"
)

// ErrBadLogin is a wrong password, an unknown or a disabled account: the answer does
// not say which.
var ErrBadLogin = errors.New("e-mail address or password is wrong")

// LoginLimited is a sign-in that was not even tried, after too many failures.
type LoginLimited struct{ Until time.Time }

// Error says until when.
func (e *LoginLimited) Error() string {
	return "too many failed sign-ins; try again after " + e.Until.UTC().Format(time.RFC3339)
}

// loginRule is one counter's back-off: so many failures are free, then each doubles
// the wait, up to a cap. Failures are forgotten after a quiet while.
type loginRule struct {
	free   int
	cap    time.Duration
	forget time.Duration
}

// An account's cap is low, so that a stranger cannot keep its owner out for long. An
// address prefix is shared by many people: it has more free failures, and its wait is
// short, since a right password has to wait for it too. Two guesses a minute from a
// whole network find no password.
var (
	accountRule = loginRule{free: 5, cap: 5 * time.Minute, forget: time.Hour}
	addressRule = loginRule{free: 30, cap: 30 * time.Second, forget: time.Hour}
)

// wait is how long after the last of n failures the next try is refused.
func (r loginRule) wait(n int) time.Duration {
	over := n - r.free
	if over < 0 {
		return 0
	}
	if over > 20 {
		return r.cap
	}
	return min(time.Second<<over, r.cap)
}

// VerifyPassword signs a person in. Tries are counted by Try, for the account. An
// account that is not there is answered as a wrong password, after the same work. The
// errors are ErrBadLogin, *LoginLimited and ErrBusy.
func (s *Store) VerifyPassword(ctx context.Context, email, password, ip string) (User, error) {
	email, err := canonicalEmail(email)
	if err != nil {
		email = "?"
	}
	var id operation.UserID
	err = s.Try(ctx, email, ip, func() (ok bool, err error) {
		id, err = s.matchPassword(ctx, email, password)
		return id != "", err
	})
	if err != nil {
		return User{}, err
	}
	return s.FindUser(ctx, id)
}

// Try runs one attempt at a proof that can be guessed: a password, a code of a second
// factor. Failures are counted in the database per account and per address prefix,
// before check runs, so that parallel guesses count too. account is any name for whose
// proof and of what kind it is: its hash is stored. A false from check is ErrBadLogin,
// too many of them are *LoginLimited, and check is not called. An error of check counts
// as no try.
func (s *Store) Try(ctx context.Context, account, ip string, check func() (bool, error)) error {
	key, address := s.loginKey(account), addressPrefix(ip)
	if err := s.countLogin(ctx, key, address); err != nil {
		return err
	}
	match, err := check()
	switch {
	case err != nil:
		if again := s.uncountTry(ctx, key, address); again != nil {
			s.log.Warn("a try that did not run stays counted", "err", again)
		}
		return err
	case !match:
		return ErrBadLogin
	}
	return s.uncountLogin(ctx, key, address)
}

// tryLink runs an attempt with a one-use link: it is counted for the network alone.
func (s *Store) tryLink(ctx context.Context, ip string, check func() error) error {
	if ip == "" {
		return check()
	}
	address := "link " + addressPrefix(ip)
	if err := s.countLogin(ctx, "", address); err != nil {
		return err
	}
	err := check()
	if isGone(err) {
		return err
	}
	return errors.Join(err, s.uncountTry(ctx, "", address))
}

// matchPassword gives whose password this is; "" = nobody's.
func (s *Store) matchPassword(ctx context.Context, email, password string) (operation.UserID, error) {
	var row struct {
		ID   operation.UserID `db:"id"`
		Hash string           `db:"password_hash"`
	}
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &row, `SELECT id, password_hash FROM users WHERE email = $1 AND active AND password_hash <> ''`, email)
	})
	if err != nil && !isGone(err) {
		return "", err
	}
	hash := row.Hash
	if hash == "" {
		hash = nobody() // an unknown account costs as much time as a known one
	}
	var match bool
	err = s.hashingSlot(ctx, func() (err error) {
		match, err = argon2id.ComparePasswordAndHash(norm.NFC.String(password), hash)
		return err
	})
	if err != nil || !match {
		return "", err
	}
	return row.ID, nil
}

// nobody is the hash of a password that nobody has.
var nobody = sync.OnceValue(func() string {
	h, err := argon2id.CreateHash(NewFormID(), hashing)
	if err != nil {
		panic(err) // the parameters are constant
	}
	return h
})

// loginKey hides the address: the table of failures names nobody.
func (s *Store) loginKey(email string) string {
	m := hmac.New(sha256.New, s.secret)
	m.Write([]byte("holdpoint/login/1\x00" + email))
	return "account:" + hex.EncodeToString(m.Sum(nil)[:16])
}

// addressPrefix is the network that counts as one: /24 for IPv4, /64 for IPv6.
func addressPrefix(ip string) string {
	a, err := netip.ParseAddr(ip)
	if err != nil {
		return "address:unknown"
	}
	a = a.Unmap().WithZone("")
	bits := 64
	if a.Is4() {
		bits = 24
	}
	p, _ := a.Prefix(bits)
	return "address:" + p.String()
}

// countLogin counts a failure in advance, or refuses while a back-off runs. A refused
// try does not lengthen it.
func (s *Store) countLogin(ctx context.Context, account, address string) error {
	return s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		var until time.Time
		for _, c := range []struct {
			key  string
			rule loginRule
		}{{account, accountRule}, {address, addressRule}} {
			if c.key == "" {
				continue
			}
			var row struct {
				Failures int       `db:"failures"`
				Last     time.Time `db:"window_start"`
			}
			// the row is locked by this until the end; always account, then address
			err := t.get(&row, `INSERT INTO login_counters (key, failures, window_start) VALUES ($1, 0, $2)
				ON CONFLICT (key) DO UPDATE SET failures = login_counters.failures RETURNING failures, window_start`, c.key, now)
			if err != nil {
				return err
			}
			if now.Sub(row.Last) > c.rule.forget {
				row.Failures = 0
			}
			if end := row.Last.Add(c.rule.wait(row.Failures)); row.Failures > 0 && now.Before(end) && end.After(until) {
				until = end
			}
			if err := t.one(`UPDATE login_counters SET failures = $2, window_start = $3 WHERE key = $1`, c.key, row.Failures+1, now); err != nil {
				return err
			}
		}
		if !until.IsZero() {
			return &LoginLimited{Until: until} // rolls back: nothing is counted
		}
		return nil
	})
}

// uncountLogin forgets an account's failures after the right password, and takes back
// what this sign-in counted against its network.
func (s *Store) uncountLogin(ctx context.Context, account, address string) error {
	return s.write(ctx, func(t *tx) error {
		if _, err := t.exec(`DELETE FROM login_counters WHERE key = $1`, account); err != nil {
			return err
		}
		_, err := t.exec(`UPDATE login_counters SET failures = greatest(failures - 1, 0) WHERE key = $1`, address)
		return err
	})
}

// uncountTry takes back one try that did not run.
func (s *Store) uncountTry(ctx context.Context, account, address string) error {
	return s.write(ctx, func(t *tx) error {
		_, err := t.exec(`UPDATE login_counters SET failures = greatest(failures - 1, 0) WHERE key IN ($1, $2)`, account, address)
		return err
	})
}

// DeleteOldLoginCounters takes away counters that no longer count. It returns how many.
func (s *Store) DeleteOldLoginCounters(ctx context.Context) (int64, error) {
	var n int64
	err := s.write(ctx, func(t *tx) (err error) {
		n, err = t.exec(`DELETE FROM login_counters WHERE window_start < clock_timestamp() - interval '2 hours'`)
		return err
	})
	return n, err
}
