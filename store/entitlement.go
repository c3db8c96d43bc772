package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// Entitlement is a role that a person holds, and since when.
type Entitlement struct {
	RoleGrant
	ByProvider bool      // it follows from the sign-in provider's groups: nobody takes it by hand
	GrantedBy  string    // operation.UserID, or "system" from the command line and the provider
	GrantedAt  time.Time // of roles older than this record: when it began
}

// ListEntitlements gives a person's roles, those for every flow first.
func (s *Store) ListEntitlements(ctx context.Context, id operation.UserID) ([]Entitlement, error) {
	var rows []entitlementRow
	err := s.read(ctx, func(q *sqlx.DB) error {
		rows = nil
		return q.SelectContext(ctx, &rows, entitlementSQL, string(id))
	})
	return entitlements(rows), err
}

const entitlementSQL = `SELECT role, flow, by_provider, granted_by, granted_at FROM user_roles WHERE user_id = $1 ORDER BY flow, role, by_provider`

type entitlementRow struct {
	Role       operation.Role `db:"role"`
	Flow       string         `db:"flow"`
	ByProvider bool           `db:"by_provider"`
	By         string         `db:"granted_by"`
	At         time.Time      `db:"granted_at"`
}

func entitlements(rows []entitlementRow) []Entitlement {
	out := make([]Entitlement, len(rows))
	for i, r := range rows {
		out[i] = Entitlement{RoleGrant: RoleGrant{Role: r.Role, Flow: r.Flow}, ByProvider: r.ByProvider, GrantedBy: r.By, GrantedAt: r.At}
	}
	return out
}

// SetRoles makes the roles that a person was given by hand exactly those of want. was is
// what the form was shown with: when somebody else has changed them since, nothing is
// done. Each role given or taken is an entry of its own with the reason. It returns how
// many there were.
func (s *Store) SetRoles(ctx context.Context, a Actor, id operation.UserID, was, want []RoleGrant, reason string) (int, error) {
	if reason = strings.TrimSpace(reason); reason == "" {
		return 0, &Invalid{Field: "reason", Code: "reason_missing"}
	}
	changed := 0
	err := s.changeRole(ctx, a, id, func(t *tx, now time.Time) error {
		changed = 0
		have, err := t.handGiven(id)
		if err != nil {
			return err
		}
		take, give := without(have, want), without(want, have)
		if len(take)+len(give) == 0 {
			return errDone
		}
		if len(without(have, was))+len(without(was, have)) > 0 {
			return &Invalid{Field: "", Code: "roles_changed"}
		}
		if err := t.named("roles", "flow_unknown", `SELECT count(*) FROM flows WHERE name = ANY ($1)`, flowsOf(give)); err != nil {
			return err
		}
		for _, g := range give {
			if err := t.grant(a, now, id, g, reason); err != nil {
				return err
			}
		}
		for _, g := range take {
			if err := t.revoke(a, now, id, g, reason); err != nil {
				return err
			}
		}
		changed = len(take) + len(give)
		return nil
	})
	return changed, err
}

func (t *tx) handGiven(id operation.UserID) ([]RoleGrant, error) {
	var rows []entitlementRow
	if err := t.list(&rows, entitlementSQL, string(id)); err != nil {
		return nil, err
	}
	var out []RoleGrant
	for _, e := range entitlements(rows) {
		if !e.ByProvider {
			out = append(out, e.RoleGrant)
		}
	}
	return out, nil
}

// without gives what of a list is not in another, each once.
func without(list, other []RoleGrant) []RoleGrant {
	var out []RoleGrant
	for _, g := range list {
		if !slices.Contains(other, g) && !slices.Contains(out, g) {
			out = append(out, g)
		}
	}
	return out
}

func flowsOf(list []RoleGrant) []string {
	var out []string
	for _, g := range list {
		if g.Flow != "" && !slices.Contains(out, g.Flow) {
			out = append(out, g.Flow)
		}
	}
	return out
}
