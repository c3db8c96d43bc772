package store

import (
	"context"
	"regexp"
	"time"

	"holdpoint/operation"
)

// RoleGrant is a role for one flow, or for all of them.
type RoleGrant struct {
	Role operation.Role
	Flow string // "" = every flow
}

// GrantRole gives a person a role. What they hold already stays.
func (s *Store) GrantRole(ctx context.Context, a Actor, id operation.UserID, g RoleGrant, reason string) error {
	return s.changeRole(ctx, a, id, func(t *tx, now time.Time) error {
		var n int
		err := t.get(&n, `SELECT count(*) FROM user_roles WHERE user_id = $1 AND role = $2 AND flow = $3 AND NOT by_provider`, string(id), string(g.Role), g.Flow)
		if err == nil && n > 0 {
			return errDone
		}
		if err != nil {
			return err
		}
		return t.grant(a, now, id, g, reason)
	})
}

// RevokeRole takes a role away. It counts at once: roles are read in the transaction
// that decides, and approvals given under it are checked again at the gate. The last
// active admin keeps theirs.
func (s *Store) RevokeRole(ctx context.Context, a Actor, id operation.UserID, g RoleGrant, reason string) error {
	return s.changeRole(ctx, a, id, func(t *tx, now time.Time) error {
		return t.revoke(a, now, id, g, reason)
	})
}

// revoke takes a role that was given by hand; errDone when it is not there.
func (t *tx) revoke(a Actor, now time.Time, id operation.UserID, g RoleGrant, reason string) error {
	n, err := t.exec(`DELETE FROM user_roles WHERE user_id = $1 AND role = $2 AND flow = $3 AND NOT by_provider`, string(id), string(g.Role), g.Flow)
	if violates(err, "users_last_admin") {
		return &Invalid{Field: "role", Code: "last_admin"}
	}
	if err != nil {
		return err
	}
	if n == 0 {
		return errDone
	}
	return t.enter(a, now, operation.SubjectUser, string(id), "revoke_role", reason, "granted", string(g.Role), "flow", g.Flow)
}

func (s *Store) changeRole(ctx context.Context, a Actor, id operation.UserID, fn func(*tx, time.Time) error) error {
	return s.write(ctx, func(t *tx) error {
		now, err := t.alone()
		if err != nil {
			return err
		}
		if err := t.mayManage(a, id, now); err != nil {
			return err
		}
		var found string
		if err := t.get(&found, `SELECT id FROM users WHERE id = $1 FOR UPDATE`, string(id)); err != nil {
			return err
		}
		if err := fn(t, now); err != nil {
			return err
		}
		// whoever holds a token from before gets a new one with the next request
		_, err = t.exec(`UPDATE sessions SET rotate = true WHERE user_id = $1 AND revoked_at IS NULL`, string(id))
		return err
	})
}

// mayManage lets pass who may change this person's access: an admin whose session has
// proved them lately, never the person themselves, by no account of theirs.
func (t *tx) mayManage(a Actor, id operation.UserID, now time.Time) error {
	if err := t.mayAdmin(a); err != nil {
		return err
	}
	if me := a.UserID(); me != "" {
		people, err := t.readPersons()
		if err != nil {
			return err
		}
		if people.one(me) == people.one(id) {
			return &Invalid{Field: "user", Code: "own_access"}
		}
	}
	return t.managing(a, now)
}

// mayAdd lets pass who may make accounts and tokens, and end tokens.
func (t *tx) mayAdd(a Actor, now time.Time) error {
	if err := t.mayAdmin(a); err != nil {
		return err
	}
	return t.managing(a, now)
}

// managing asks a person in a browser for a fresh proof before access is changed.
func (t *tx) managing(a Actor, now time.Time) error {
	if a.Session == nil {
		return nil
	}
	return t.confirmed(a, now)
}

var flowName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}$`)

func (t *tx) grant(a Actor, now time.Time, id operation.UserID, g RoleGrant, reason ...string) error {
	if !g.Role.Valid() {
		return &Invalid{Field: "role", Code: "role_unknown"}
	}
	// the flow need not be there yet: whoever decides in it must exist before it is applied
	if g.Flow != "" && !flowName.MatchString(g.Flow) {
		return &Invalid{Field: "flow", Code: "flow_unknown"}
	}
	if _, err := t.exec(`INSERT INTO user_roles (user_id, role, flow, granted_by, granted_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
		string(id), string(g.Role), g.Flow, a.ID, now); err != nil {
		return err
	}
	return t.enter(a, now, operation.SubjectUser, string(id), "grant_role", joinOr(reason, ""), "granted", string(g.Role), "flow", g.Flow)
}

// peopleOf reads every active person with the roles they hold for a flow.
func (t *tx) peopleOf(flow string) ([]operation.Person, error) {
	var rows []struct {
		ID    operation.UserID `db:"id"`
		Same  operation.UserID `db:"same_as"`
		Email string           `db:"email"`
		Roles string           `db:"roles"`
	}
	err := t.list(&rows, `SELECT u.id, COALESCE(u.same_as, '') AS same_as, u.email, string_agg(DISTINCT r.role, ',') AS roles FROM users u JOIN user_roles r ON r.user_id = u.id
		WHERE u.active AND r.flow IN ('', $1) GROUP BY u.id, u.email ORDER BY u.id`, flow)
	if err != nil {
		return nil, err
	}
	out := make([]operation.Person, len(rows))
	for i, r := range rows {
		out[i] = operation.Person{ID: r.ID, Natural: r.Same, Email: r.Email, Active: true, Roles: splitRoles(r.Roles)}
	}
	return out, nil
}
