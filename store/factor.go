package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// Factors is what a person can prove themselves with besides a password.
type Factors struct {
	TOTPSince time.Time // when the authenticator app was set up; zero = none
	Recovery  int       // recovery codes that are not used up
	Passkeys  []Passkey // oldest first
}

// Any reports whether there is a second factor. Recovery codes alone are none.
func (f Factors) Any() bool { return !f.TOTPSince.IsZero() || len(f.Passkeys) > 0 }

// FindFactors gives a person's second factors.
func (s *Store) FindFactors(ctx context.Context, id operation.UserID) (Factors, error) {
	var f Factors
	err := s.read(ctx, func(q *sqlx.DB) error {
		f = Factors{}
		var row struct {
			Since    *time.Time `db:"since"`
			Recovery int        `db:"recovery"`
		}
		if err := q.GetContext(ctx, &row, `SELECT (SELECT confirmed_at FROM totp_factors WHERE user_id = $1) AS since,
			(SELECT count(*) FROM recovery_codes WHERE user_id = $1 AND used_at IS NULL) AS recovery`, string(id)); err != nil {
			return err
		}
		f.TOTPSince, f.Recovery = timeOf(row.Since), row.Recovery
		return q.SelectContext(ctx, &f.Passkeys, `SELECT `+passkeyColumns+` FROM passkeys WHERE user_id = $1 ORDER BY created_at, id`, string(id))
	})
	return f, err
}

// hasFactor and needsFactor are what User tells of the person u: whether they have a
// second factor, and whether one of their roles must have one.
const (
	hasFactor = `(EXISTS (SELECT 1 FROM totp_factors x WHERE x.user_id = u.id AND x.confirmed_at IS NOT NULL)
	OR EXISTS (SELECT 1 FROM passkeys x WHERE x.user_id = u.id))`
	needsFactor = `EXISTS (SELECT 1 FROM user_roles x CROSS JOIN installation i WHERE x.user_id = u.id AND x.role = ANY (i.factor_roles))`
)

// FactorRoles gives the roles whose holders must have a second factor.
func (s *Store) FactorRoles(ctx context.Context) ([]operation.Role, error) {
	var list pq.StringArray
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &list, `SELECT factor_roles FROM installation`)
	})
	out := make([]operation.Role, len(list))
	for i, r := range list {
		out[i] = operation.Role(r)
	}
	return out, err
}

// SetFactorRoles says which roles must have a second factor. Whoever holds one and has
// none is led to set one up, and can do nothing else until then. Only an admin may.
func (s *Store) SetFactorRoles(ctx context.Context, a Actor, roles []operation.Role, reason string) error {
	var list pq.StringArray
	for _, r := range operation.Roles {
		if slices.Contains(roles, r) {
			list = append(list, string(r))
		}
	}
	for _, r := range roles {
		if !r.Valid() {
			return &Invalid{Field: "role", Code: "role_unknown"}
		}
	}
	if list == nil {
		list = pq.StringArray{}
	}
	if reason = strings.TrimSpace(reason); reason == "" {
		return &Invalid{Field: "reason", Code: "reason_missing"}
	}
	return s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		if err := t.mayAdd(a, now); err != nil {
			return err
		}
		var was pq.StringArray
		if err := t.get(&was, `SELECT factor_roles FROM installation FOR UPDATE`); err != nil {
			return err
		}
		if slices.Equal(was, list) {
			return errDone
		}
		if err := t.one(`UPDATE installation SET factor_roles = $1`, list); err != nil {
			return err
		}
		return t.enter(a, now, operation.SubjectSystem, systemSubject, "set_factor_roles", reason, "roles", strings.Join(list, ","), "was", strings.Join(was, ","))
	})
}

// ResetFactors takes all second factors of a person away, who has lost them: their
// sessions end, and they set new ones up at the next sign-in. Only another admin or the
// command line may, never the person by this path.
func (s *Store) ResetFactors(ctx context.Context, a Actor, id operation.UserID, reason string) error {
	return s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		if err := t.mayManage(a, id, now); err != nil {
			return err
		}
		if err := t.lockUser(id); err != nil {
			return err
		}
		n, err := t.dropFactors(id)
		if err != nil {
			return err
		}
		if n == 0 {
			return errDone
		}
		if _, err := t.revokeSessions(id, now, nil); err != nil {
			return err
		}
		return t.enter(a, now, operation.SubjectUser, string(id), "reset_factors", reason)
	})
}

// dropFactors deletes everything that a person proves themselves with besides a password.
func (t *tx) dropFactors(id operation.UserID) (n int64, err error) {
	for _, q := range []string{`DELETE FROM totp_factors WHERE user_id = $1`, `DELETE FROM recovery_codes WHERE user_id = $1`, `DELETE FROM passkeys WHERE user_id = $1`} {
		k, err := t.exec(q, string(id))
		if err != nil {
			return 0, err
		}
		n += k
	}
	return n, nil
}

// changing locks the acting person for a change of their own factors. In a browser they
// must have proved lately who they are: whoever finds it open adds and removes nothing.
func (t *tx) changing(a Actor, now time.Time) error {
	if err := t.managing(a, now); err != nil {
		return err
	}
	return t.lockUser(a.UserID())
}

// lockUser locks a person's row: whoever changes the factors of one person does so one
// after the other.
func (t *tx) lockUser(id operation.UserID) error {
	var found string
	return t.get(&found, `SELECT id FROM users WHERE id = $1 FOR UPDATE`, string(id))
}

// dropIdleCodes deletes the recovery codes of a person who has no second factor left.
func (t *tx) dropIdleCodes(id operation.UserID) error {
	_, err := t.exec(`DELETE FROM recovery_codes c USING users u WHERE u.id = $1 AND c.user_id = u.id AND NOT `+hasFactor, string(id))
	return err
}
