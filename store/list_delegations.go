package store

import (
	"context"
	"encoding/json"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// DelegationRow is one delegation as lists show it.
type DelegationRow struct {
	ID        operation.DelegationID `db:"id"`
	From      operation.UserID       `db:"from_user"`
	To        operation.UserID       `db:"to_user"`
	FromName  string                 `db:"from_name"`
	ToName    string                 `db:"to_name"`
	RolesText string                 `db:"roles"`
	FlowsText string                 `db:"flows"`
	Reason    string                 `db:"reason"`
	StartsAt  time.Time              `db:"starts_at"`
	EndsAt    time.Time              `db:"ends_at"`
	RevokedAt *time.Time             `db:"revoked_at"`
	RevokedBy string                 `db:"revoked_by"` // name
	Used      int                    `db:"used"`       // decisions given under it
	Now       time.Time              `db:"now"`
	FromOK    bool                   `db:"from_active"`
}

// Roles lists the roles that were handed on.
func (d DelegationRow) Roles() []operation.Role { return splitRoles(d.RolesText) }

// Flows lists the flows; none = every flow.
func (d DelegationRow) Flows() []string {
	var out []string
	_ = json.Unmarshal([]byte(d.FlowsText), &out)
	return out
}

// Live reports whether decisions can be taken under it now.
func (d DelegationRow) Live() bool {
	return operation.Delegation{StartsAt: d.StartsAt, EndsAt: d.EndsAt, RevokedAt: timeOf(d.RevokedAt)}.LiveAt(d.Now) && d.FromOK
}

// Over reports that it ended or was taken back.
func (d DelegationRow) Over() bool { return d.RevokedAt != nil || !d.Now.Before(d.EndsAt) }

const delegationSelect = `SELECT g.id, g.from_user, g.to_user, f.name AS from_name, p.name AS to_name, array_to_string(g.roles, ',') AS roles, to_json(g.flows)::text AS flows,
	g.reason, g.starts_at, g.ends_at, g.revoked_at, COALESCE(b.name, '') AS revoked_by, f.active AS from_active, clock_timestamp() AS now,
	(SELECT count(*) FROM approvals a WHERE a.delegation_id = g.id) AS used
	FROM delegations g JOIN users f ON f.id = g.from_user JOIN users p ON p.id = g.to_user LEFT JOIN users b ON b.id = g.revoked_by`

// delegationLimit bounds a list of delegations.
const delegationLimit = 200

// ListDelegations lists the delegations that a person gave or received, newest first; id
// "" = those of everybody.
func (s *Store) ListDelegations(ctx context.Context, id operation.UserID) ([]DelegationRow, error) {
	var rows []DelegationRow
	err := s.read(ctx, func(q *sqlx.DB) error {
		rows = nil
		return q.SelectContext(ctx, &rows, delegationSelect+` WHERE $1 = '' OR $1 IN (g.from_user, g.to_user) ORDER BY g.created_at DESC, g.id LIMIT $2`, string(id), delegationLimit)
	})
	return rows, err
}

// Colleague is somebody to whom approvals can be handed.
type Colleague struct {
	ID    operation.UserID `db:"id"`
	Name  string           `db:"name"`
	Email string           `db:"email"`
}

// ListColleagues lists the active people who decide in some flow, without the person
// themselves and their other accounts.
func (s *Store) ListColleagues(ctx context.Context, id operation.UserID) ([]Colleague, error) {
	var rows []Colleague
	err := s.read(ctx, func(q *sqlx.DB) error {
		rows = nil
		return q.SelectContext(ctx, &rows, `SELECT u.id, u.name, u.email FROM users u JOIN users me ON me.id = $1 WHERE u.active
			AND COALESCE(u.same_as, u.id) <> COALESCE(me.same_as, me.id)
			AND EXISTS (SELECT 1 FROM user_roles r WHERE r.user_id = u.id AND r.role IN ('approver', 'ops_owner', 'admin')) ORDER BY lower(u.name), u.id`, string(id))
	})
	return rows, err
}

// ActsFor is a live delegation to somebody, as it stands in one flow.
type ActsFor struct {
	operation.Capacity
	Name string // of the person acted for
}

// ListReceived gives the capacities that a person has for others in one flow now. It is
// for pages; decisions read theirs in their transaction.
func (s *Store) ListReceived(ctx context.Context, who operation.Person, flow string) ([]ActsFor, error) {
	var row struct {
		Received string    `db:"received"`
		Now      time.Time `db:"now"`
	}
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &row, `SELECT `+receivedBy("$1", "$2")+` AS received, clock_timestamp() AS now`, string(who.ID), flow)
	})
	if err != nil {
		return nil, err
	}
	var rows []receivedRow
	if err := json.Unmarshal([]byte(row.Received), &rows); err != nil {
		return nil, err
	}
	var out []ActsFor
	for _, r := range rows {
		if c := r.capacity(who, flow, row.Now); c.By.LiveAt(row.Now) {
			out = append(out, ActsFor{Capacity: c, Name: r.Name})
		}
	}
	return out, nil
}
