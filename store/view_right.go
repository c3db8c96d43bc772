package store

import (
	"context"
	"slices"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// Viewer is a person (or token) as they stand now, for reading. Decisions read their
// rights again inside the transaction.
type Viewer struct {
	operation.Person
	Name  string
	Flows map[string][]operation.Role // roles by flow; "" = every flow
	Token bool
	// Lent are the roles in which they decide for others by delegations that are live now.
	Lent []LentRole
	// allowed flows and destinations of a token, empty = all
	flows, destinations []string
}

// LentRole is a role of somebody else that was handed to the viewer for a time.
type LentRole struct {
	For  operation.UserID `db:"from_user"`
	Name string           `db:"name"`
	Role operation.Role   `db:"role"`
	Flow string           `db:"flow"` // "" = every flow
}

// lentSQL reads the roles that were handed to a person and that the giver holds now.
const lentSQL = `SELECT DISTINCT g.from_user, p.name, r.role, x.flow FROM delegations g JOIN users p ON p.id = g.from_user AND p.active
	JOIN user_roles r ON r.user_id = g.from_user AND r.role = ANY (g.roles)
	CROSS JOIN LATERAL (SELECT r.flow WHERE g.flows = '{}' UNION SELECT f FROM unnest(g.flows) AS f WHERE r.flow IN ('', f)) AS x(flow)
	WHERE g.to_user = $1 AND g.revoked_at IS NULL AND g.starts_at <= clock_timestamp() AND g.ends_at > clock_timestamp() ORDER BY 1, 3, 4`

// FindViewer reads who looks.
func (s *Store) FindViewer(ctx context.Context, a Actor) (Viewer, error) {
	v := Viewer{Flows: map[string][]operation.Role{}, Name: a.Name}
	if a.Kind != operation.ActorPerson {
		v.Token, v.flows, v.destinations = true, a.Flows, a.Destinations
		return v, nil
	}
	err := s.read(ctx, func(q *sqlx.DB) error {
		var who struct {
			Email string           `db:"email"`
			Same  operation.UserID `db:"same_as"`
		}
		if err := q.GetContext(ctx, &who, `SELECT email, COALESCE(same_as, '') AS same_as FROM users WHERE id = $1`, a.ID); err != nil {
			return err
		}
		v.Person.Email, v.Person.Natural = who.Email, who.Same
		var rows []struct {
			Role   operation.Role `db:"role"`
			Flow   string         `db:"flow"`
			Active bool           `db:"active"`
			Name   string         `db:"name"`
		}
		if err := q.SelectContext(ctx, &rows, `SELECT r.role, r.flow, u.active, u.name FROM user_roles r JOIN users u ON u.id = r.user_id WHERE u.id = $1`, a.ID); err != nil {
			return err
		}
		v.Person.ID = operation.UserID(a.ID)
		for _, r := range rows {
			v.Active, v.Name = r.Active, r.Name
			v.Flows[r.Flow] = append(v.Flows[r.Flow], r.Role)
		}
		return nil
	})
	v.Roles = v.Flows[""]
	if err == nil {
		err = s.read(ctx, func(q *sqlx.DB) error { v.Lent = nil; return q.SelectContext(ctx, &v.Lent, lentSQL, a.ID) })
	}
	return v, err
}

// In gives the viewer as a person with the roles that they hold for one flow.
func (v Viewer) In(flow string) operation.Person {
	p := v.Person
	p.Roles = slices.Concat(v.Flows[""], v.Flows[flow])
	return p
}

// Sees reports whether the viewer may know of operations of this flow and destination.
// Any role for the flow is enough to read it.
func (v Viewer) Sees(flow, destination string) bool {
	if v.Token {
		return (len(v.flows) == 0 || slices.Contains(v.flows, flow)) && (len(v.destinations) == 0 || slices.Contains(v.destinations, destination))
	}
	return v.Active && (len(v.Flows[""])+len(v.Flows[flow]) > 0 || slices.ContainsFunc(v.Lent, func(l LentRole) bool { return l.Flow == "" || l.Flow == flow }))
}

// seenFlows gives the flows for a WHERE clause: all = every flow.
func (v Viewer) seenFlows() (all bool, flows []string) {
	if v.Token {
		return len(v.flows) == 0, v.flows
	}
	if !v.Active {
		return false, nil
	}
	for f := range v.Flows {
		flows = append(flows, f)
	}
	all = len(v.Flows[""]) > 0
	for _, l := range v.Lent {
		all, flows = all || l.Flow == "", append(flows, l.Flow)
	}
	return all, flows
}
