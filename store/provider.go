package store

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// ProviderClaims is what a sign-in provider says of somebody, after its signature was
// checked.
type ProviderClaims struct {
	Issuer, Subject string
	Email           string
	EmailVerified   bool
	Name            string
	// Roles follow from the provider's groups by the mapping of the installation.
	Roles []RoleGrant
}

// ProviderRefused is somebody whom the provider knows and who may not sign in here.
// Code is one of the Provider… constants.
type ProviderRefused struct{ Code string }

// Why somebody whom the provider knows may not sign in.
const (
	ProviderEmail    = "email"    // the address is missing or not verified by the provider
	ProviderDisabled = "disabled" // the account here is disabled
	ProviderOther    = "other"    // the account with this address belongs to another identity at the provider
	ProviderNoRole   = "no_role"  // neither the groups nor anybody by hand gives a role
)

// Error says so.
func (e *ProviderRefused) Error() string { return "sign-in by the provider refused: " + e.Code }

// byProvider is the actor of what follows from the provider's word.
var byProvider = Actor{Kind: operation.ActorSystem, ID: "provider", Name: "sign-in provider", Channel: "provider"}

// SignInByProvider finds the account of an identity, links one by its verified address at
// the first sign-in, or makes one where the groups give a role. The roles that follow from
// the groups become exactly those of the claims; roles given by hand stay as they are.
// Whoever is left without any role is refused, and so is a disabled account; both are
// *ProviderRefused, and what was changed in the record stands.
func (s *Store) SignInByProvider(ctx context.Context, c ProviderClaims) (User, error) {
	if id, err := s.unchangedAtProvider(ctx, c); err != nil || id != "" {
		if err != nil {
			return User{}, err
		}
		return s.FindUser(ctx, id)
	}
	var id operation.UserID
	var refused *ProviderRefused
	err := s.write(ctx, func(t *tx) error {
		refused = nil
		now, err := t.alone() // rights may change
		if err != nil {
			return err
		}
		if id, err = t.atProvider(c, now); err == nil {
			err = t.syncRoles(c, id, now)
		}
		if errors.As(err, &refused) && refused.Code == ProviderNoRole {
			return nil // what was taken away is taken away
		}
		return err
	})
	switch {
	case refused != nil:
		return User{}, refused
	case err != nil:
		return User{}, err
	}
	return s.FindUser(ctx, id)
}

// unchangedAtProvider gives the person whose sign-in changes no right, the ordinary one:
// it needs not keep the gate waiting. "" = it is not one.
func (s *Store) unchangedAtProvider(ctx context.Context, c ProviderClaims) (operation.UserID, error) {
	var id operation.UserID
	err := s.write(ctx, func(t *tx) error {
		id = ""
		var found operation.UserID
		err := t.get(&found, `SELECT p.user_id FROM provider_identities p JOIN users u ON u.id = p.user_id WHERE p.issuer = $1 AND p.subject = $2 AND u.active`, c.Issuer, c.Subject)
		if isGone(err) {
			return errDone
		}
		if err != nil {
			return err
		}
		have, err := t.providerRoles(found)
		if err != nil {
			return err
		}
		if len(without(have, c.Roles))+len(without(c.Roles, have)) > 0 {
			return errDone
		}
		var roles int
		if err := t.get(&roles, `SELECT count(*) FROM user_roles WHERE user_id = $1`, string(found)); err != nil || roles == 0 {
			return err
		}
		id = found
		return t.usedAtProvider(c)
	})
	return id, err
}

func (t *tx) usedAtProvider(c ProviderClaims) error {
	return t.one(`UPDATE provider_identities SET used_at = clock_timestamp(), email = $3 WHERE issuer = $1 AND subject = $2`, c.Issuer, c.Subject, short(c.Email, 254))
}

// atProvider gives the account of the claims: the linked one, else the one with the
// verified address, else a new one where the groups give a role.
func (t *tx) atProvider(c ProviderClaims, now time.Time) (operation.UserID, error) {
	var row struct {
		ID     operation.UserID `db:"id"`
		Active bool             `db:"active"`
	}
	err := t.get(&row, `SELECT u.id, u.active FROM provider_identities p JOIN users u ON u.id = p.user_id WHERE p.issuer = $1 AND p.subject = $2 FOR UPDATE OF u`, c.Issuer, c.Subject)
	if err == nil {
		if !row.Active {
			return "", &ProviderRefused{Code: ProviderDisabled}
		}
		return row.ID, t.usedAtProvider(c)
	}
	if !isGone(err) {
		return "", err
	}
	email, err := canonicalEmail(c.Email)
	if err != nil || !c.EmailVerified {
		return "", &ProviderRefused{Code: ProviderEmail}
	}
	err = t.get(&row, `SELECT id, active FROM users WHERE email = $1 FOR UPDATE`, email)
	switch {
	case isGone(err) && len(c.Roles) == 0:
		return "", &ProviderRefused{Code: ProviderNoRole}
	case isGone(err):
		if row.ID, err = t.newAtProvider(c, email, now); err != nil {
			return "", err
		}
	case err != nil:
		return "", err
	case !row.Active:
		return "", &ProviderRefused{Code: ProviderDisabled}
	}
	return row.ID, t.linkIdentity(c, row.ID, email, now)
}

func (t *tx) newAtProvider(c ProviderClaims, email string, now time.Time) (operation.UserID, error) {
	name := strings.TrimSpace(shown(c.Name, 200))
	if name == "" {
		name, _, _ = strings.Cut(email, "@")
	}
	id := operation.UserID(newID("usr"))
	if _, err := t.exec(`INSERT INTO users (id, email, name, created_at) VALUES ($1, $2, $3, $4)`, string(id), email, name, now); err != nil {
		return "", err
	}
	return id, t.enter(byProvider, now, operation.SubjectUser, string(id), "add_user", "", "email", email)
}

// linkIdentity records whose identity it is from now on. An account has one identity at a
// provider: an address that was given to somebody else there does not open it.
func (t *tx) linkIdentity(c ProviderClaims, id operation.UserID, email string, now time.Time) error {
	var n int
	if err := t.get(&n, `SELECT count(*) FROM provider_identities WHERE issuer = $1 AND user_id = $2`, c.Issuer, string(id)); err != nil {
		return err
	}
	if n > 0 {
		return &ProviderRefused{Code: ProviderOther}
	}
	if _, err := t.exec(`INSERT INTO provider_identities (issuer, subject, user_id, email, linked_at, used_at) VALUES ($1, $2, $3, $4, $5, $5)`,
		c.Issuer, c.Subject, string(id), email, now); err != nil {
		return err
	}
	return t.enter(byProvider, now, operation.SubjectUser, string(id), "link_identity", "", "issuer", c.Issuer, "email", email)
}

// syncRoles makes the roles that follow from the groups those of the claims, an entry for
// each. The last administrator of the installation keeps the role.
func (t *tx) syncRoles(c ProviderClaims, id operation.UserID, now time.Time) error {
	have, err := t.providerRoles(id)
	if err != nil {
		return err
	}
	give, take := without(c.Roles, have), without(have, c.Roles)
	for _, g := range give {
		if !g.Role.Valid() || g.Flow != "" && !flowName.MatchString(g.Flow) {
			return &Invalid{Field: "role", Code: "role_unknown"}
		}
		if _, err := t.exec(`INSERT INTO user_roles (user_id, role, flow, by_provider, granted_by, granted_at) VALUES ($1, $2, $3, true, 'provider', $4)`, string(id), string(g.Role), g.Flow, now); err != nil {
			return err
		}
		if err := t.enter(byProvider, now, operation.SubjectUser, string(id), "grant_role", "", "granted", string(g.Role), "flow", g.Flow, "by", "groups"); err != nil {
			return err
		}
	}
	for _, g := range take {
		if err := t.takeProviderRole(id, g, now); err != nil {
			return err
		}
	}
	if len(give)+len(take) > 0 {
		if _, err := t.exec(`UPDATE sessions SET rotate = true WHERE user_id = $1 AND revoked_at IS NULL`, string(id)); err != nil {
			return err
		}
	}
	var left int
	if err := t.get(&left, `SELECT count(*) FROM user_roles WHERE user_id = $1`, string(id)); err != nil {
		return err
	}
	if left > 0 {
		return nil
	}
	if _, err := t.revokeSessions(id, now, nil); err != nil {
		return err
	}
	return &ProviderRefused{Code: ProviderNoRole}
}

func (t *tx) takeProviderRole(id operation.UserID, g RoleGrant, now time.Time) error {
	if g.Role == operation.RoleAdmin && g.Flow == "" {
		var others int
		if err := t.get(&others, `SELECT count(*) FROM user_roles r JOIN users u ON u.id = r.user_id WHERE u.active AND r.role = 'admin' AND r.flow = ''
			AND NOT (r.user_id = $1 AND r.by_provider)`, string(id)); err != nil {
			return err
		}
		if others == 0 {
			t.s.log.Warn("the provider's groups no longer name an administrator: the last one keeps the role", "user", string(id))
			return nil
		}
	}
	if err := t.one(`DELETE FROM user_roles WHERE user_id = $1 AND role = $2 AND flow = $3 AND by_provider`, string(id), string(g.Role), g.Flow); err != nil {
		return err
	}
	return t.enter(byProvider, now, operation.SubjectUser, string(id), "revoke_role", "", "granted", string(g.Role), "flow", g.Flow, "by", "groups")
}

func (t *tx) providerRoles(id operation.UserID) ([]RoleGrant, error) {
	var rows []struct {
		Role operation.Role `db:"role"`
		Flow string         `db:"flow"`
	}
	err := t.list(&rows, `SELECT role, flow FROM user_roles WHERE user_id = $1 AND by_provider ORDER BY flow, role`, string(id))
	out := make([]RoleGrant, len(rows))
	for i, r := range rows {
		out[i] = RoleGrant{Role: r.Role, Flow: r.Flow}
	}
	return out, err
}

// IsIdentityOf reports whether an identity at a provider is this person's, for confirming
// who they are.
func (s *Store) IsIdentityOf(ctx context.Context, issuer, subject string, id operation.UserID) (bool, error) {
	var n int
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &n, `SELECT count(*) FROM provider_identities WHERE issuer = $1 AND subject = $2 AND user_id = $3`, issuer, subject, string(id))
	})
	return n == 1, err
}

// HasIdentity reports whether a person can prove themselves at a provider.
func (s *Store) HasIdentity(ctx context.Context, issuer string, id operation.UserID) (bool, error) {
	var n int
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &n, `SELECT count(*) FROM provider_identities WHERE issuer = $1 AND user_id = $2`, issuer, string(id))
	})
	return n == 1, err
}

// NoteBreakGlass records that somebody signed in past the provider, with a local account
// that is kept for the time when the provider is away: at the person and at the installation.
func (s *Store) NoteBreakGlass(ctx context.Context, u User, ip string) error {
	return s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		a := u.Actor("web")
		if err := t.enter(a, now, operation.SubjectUser, string(u.ID), "break_glass", "", "ip", short(ip, 64)); err != nil {
			return err
		}
		return t.enter(a, now, operation.SubjectSystem, systemSubject, "break_glass", "", "user", string(u.ID), "ip", short(ip, 64))
	})
}

// BreakGlass is one sign-in past the provider.
type BreakGlass struct {
	User operation.UserID `db:"actor_id"`
	Name string           `db:"actor_name"`
	At   time.Time        `db:"at"`
}

// ListBreakGlass gives the newest sign-ins past the provider.
func (s *Store) ListBreakGlass(ctx context.Context, n int) ([]BreakGlass, error) {
	var out []BreakGlass
	err := s.read(ctx, func(q *sqlx.DB) error {
		out = nil
		return q.SelectContext(ctx, &out, `SELECT actor_id, actor_name, at FROM history WHERE subject_kind = 'system' AND subject_id = $1 AND action = 'break_glass' ORDER BY seq DESC LIMIT $2`, systemSubject, n)
	})
	return out, err
}

// Identity is who a person is at a provider.
type Identity struct {
	Issuer   string    `db:"issuer"`
	Subject  string    `db:"subject"`
	Email    string    `db:"email"`
	LinkedAt time.Time `db:"linked_at"`
	UsedAt   time.Time `db:"used_at"`
}

// ListIdentities gives a person's identities, the one used last first.
func (s *Store) ListIdentities(ctx context.Context, id operation.UserID) ([]Identity, error) {
	var out []Identity
	err := s.read(ctx, func(q *sqlx.DB) error {
		out = nil
		return q.SelectContext(ctx, &out, `SELECT issuer, subject, email, linked_at, used_at FROM provider_identities WHERE user_id = $1 ORDER BY used_at DESC, issuer`, string(id))
	})
	return out, err
}

// UnlinkIdentity takes a person's identity at a provider away, with the roles that follow
// from its groups: an address that moved to another identity there can be linked anew.
func (s *Store) UnlinkIdentity(ctx context.Context, a Actor, id operation.UserID, issuer, reason string) error {
	return s.changeRole(ctx, a, id, func(t *tx, now time.Time) error {
		n, err := t.exec(`DELETE FROM provider_identities WHERE user_id = $1 AND issuer = $2`, string(id), issuer)
		if err != nil {
			return err
		}
		if n == 0 {
			return errDone
		}
		have, err := t.providerRoles(id)
		if err != nil {
			return err
		}
		for _, g := range slices.Clone(have) {
			if err := t.takeProviderRole(id, g, now); err != nil {
				return err
			}
		}
		if _, err := t.revokeSessions(id, now, nil); err != nil {
			return err
		}
		return t.enter(a, now, operation.SubjectUser, string(id), "unlink_identity", reason, "issuer", issuer)
	})
}
