package store

import (
	"context"
	"encoding/json"
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

// viewerSQL reads who somebody is, with their roles and those that were lent to them.
const viewerSQL = `SELECT u.email, COALESCE(u.same_as, '') AS same_as, u.active, u.name,
	COALESCE((SELECT json_agg(json_build_object('Role', r.role, 'Flow', r.flow)) FROM user_roles r WHERE r.user_id = u.id), '[]')::text AS roles,
	COALESCE((SELECT json_agg(json_build_object('For', l.from_user, 'Name', l.name, 'Role', l.role, 'Flow', l.flow)) FROM (` + lentSQL + `) l), '[]')::text AS lent
	FROM users u WHERE u.id = $1`

// FindViewer reads who looks, once in a request (OneLook).
func (s *Store) FindViewer(ctx context.Context, a Actor) (Viewer, error) {
	l := lookOf(ctx, a)
	if v, ok := looked(l, lookViewers, a); ok {
		return v, nil
	}
	v, err := s.readViewer(ctx, a)
	if err == nil {
		keepLook(l, lookViewers, a, v)
	}
	return v, err
}

// readViewer reads who looks at this moment.
func (s *Store) readViewer(ctx context.Context, a Actor) (Viewer, error) {
	v := Viewer{Flows: map[string][]operation.Role{}, Name: a.Name}
	if a.Kind != operation.ActorPerson {
		v.Token, v.flows, v.destinations = true, a.Flows, a.Destinations
		return v, nil
	}
	var who viewerRow
	if err := s.read(ctx, func(q *sqlx.DB) error { return q.GetContext(ctx, &who, viewerSQL, a.ID) }); err != nil {
		return v, err
	}
	return v, v.take(a, who)
}

// viewer reads who acts, inside the transaction.
func (t *tx) viewer(a Actor) (Viewer, error) {
	v := Viewer{Flows: map[string][]operation.Role{}, Name: a.Name}
	if a.Kind != operation.ActorPerson {
		return v, operation.Refuse(operation.CodeNotEntitled)
	}
	var who viewerRow
	if err := t.get(&who, viewerSQL, a.ID); err != nil {
		return v, err
	}
	return v, v.take(a, who)
}

// viewerRow is what viewerSQL reads.
type viewerRow struct {
	Email  string           `db:"email"`
	Same   operation.UserID `db:"same_as"`
	Active bool             `db:"active"`
	Name   string           `db:"name"`
	Roles  string           `db:"roles"`
	Lent   string           `db:"lent"`
}

func (v *Viewer) take(a Actor, who viewerRow) error {
	v.Person.ID, v.Person.Email, v.Person.Natural = operation.UserID(a.ID), who.Email, who.Same
	var roles []RoleGrant
	if err := json.Unmarshal([]byte(who.Roles), &roles); err != nil {
		return err
	}
	for _, r := range roles {
		v.Active, v.Name = who.Active, who.Name
		v.Flows[r.Flow] = append(v.Flows[r.Flow], r.Role)
	}
	v.Roles = v.Flows[""]
	return json.Unmarshal([]byte(who.Lent), &v.Lent)
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
