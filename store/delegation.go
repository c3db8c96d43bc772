package store

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// NewDelegation hands the actor's approvals to another person for a time.
type NewDelegation struct {
	To       operation.UserID
	Roles    []operation.Role
	Flows    []string // empty = every flow
	StartsAt time.Time
	EndsAt   time.Time
	Reason   string
	FormID   string // the same form twice is one delegation
}

// AddDelegation records a delegation. Rights are being changed: no decision is taken on an
// older state of them.
func (s *Store) AddDelegation(ctx context.Context, a Actor, n NewDelegation) error {
	if a.UserID() == "" {
		return operation.Refuse(operation.CodeNotEntitled)
	}
	return s.write(ctx, func(t *tx) error {
		now, err := t.alone()
		if err != nil {
			return err
		}
		var seen int
		if err := t.get(&seen, `SELECT count(*) FROM delegations WHERE from_user = $1 AND form_id = $2`, a.ID, n.FormID); err != nil || seen > 0 {
			return orDone(err)
		}
		return t.addDelegation(a, now, n)
	})
}

func (t *tx) addDelegation(a Actor, now time.Time, n NewDelegation) error {
	from, _, err := t.anyRoles(a.UserID())
	if err != nil {
		return err
	}
	to, toName, err := t.anyRoles(n.To)
	if err != nil {
		return err
	}
	d := operation.Delegation{ID: operation.DelegationID(newID("dgn")), From: from.ID, To: to.ID, Roles: n.Roles, Flows: n.Flows, StartsAt: n.StartsAt, EndsAt: n.EndsAt}
	if r := operation.MayDelegate(d, from, to, now); r != nil {
		return r
	}
	if strings.TrimSpace(n.Reason) == "" || n.FormID == "" {
		return operation.Refuse(operation.CodeReasonMissing)
	}
	for _, f := range n.Flows {
		if !flowName.MatchString(f) {
			return &Invalid{Field: "flows", Code: "flow_unknown"}
		}
	}
	roles := make([]string, len(d.Roles))
	for i, r := range d.Roles {
		roles[i] = string(r)
	}
	if _, err := t.exec(`INSERT INTO delegations (id, from_user, to_user, roles, flows, reason, starts_at, ends_at, created_by, created_at, form_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $2, $9, $10)`, string(d.ID), string(d.From), string(d.To), pq.Array(roles), pq.Array(append([]string{}, n.Flows...)),
		storable(n.Reason), d.StartsAt, d.EndsAt, now, n.FormID); err != nil {
		return err
	}
	links := []string{"delegation", string(d.ID), "granted", strings.Join(roles, ","), "flow", strings.Join(n.Flows, ", "),
		"from", d.StartsAt.UTC().Format(time.RFC3339), "until", d.EndsAt.UTC().Format(time.RFC3339)}
	if err := t.enter(a, now, operation.SubjectUser, string(d.From), "delegate", n.Reason, append(links, "to", string(d.To), "person", toName)...); err != nil {
		return err
	}
	return t.enter(a, now, operation.SubjectUser, string(d.To), "receive_delegation", n.Reason, append(links, "of", string(d.From), "person", a.Name)...)
}

// RevokeDelegation takes a delegation back at once: the giver, the receiver who hands it
// back, or an admin. Approvals that were given under it stay; each can be withdrawn.
func (s *Store) RevokeDelegation(ctx context.Context, a Actor, id operation.DelegationID, reason string) error {
	return s.write(ctx, func(t *tx) error {
		now, err := t.alone()
		if err != nil {
			return err
		}
		var d struct {
			From    operation.UserID `db:"from_user"`
			To      operation.UserID `db:"to_user"`
			Revoked bool             `db:"revoked"`
		}
		if err := t.get(&d, `SELECT from_user, to_user, revoked_at IS NOT NULL AS revoked FROM delegations WHERE id = $1 FOR UPDATE`, string(id)); err != nil {
			return err
		}
		if me := a.UserID(); me == "" || me != d.From && me != d.To {
			if err := t.mayBe(a, "", operation.RoleAdmin); err != nil {
				return ErrNotFound // like one that does not exist
			}
		}
		if d.Revoked {
			return errDone
		}
		if err := t.one(`UPDATE delegations SET revoked_at = $2, revoked_by = $3 WHERE id = $1`, string(id), now, a.ID); err != nil {
			return err
		}
		if err := t.enter(a, now, operation.SubjectUser, string(d.From), "end_delegation", reason, "delegation", string(id), "to", string(d.To)); err != nil {
			return err
		}
		return t.enter(a, now, operation.SubjectUser, string(d.To), "end_delegation", reason, "delegation", string(id), "of", string(d.From))
	})
}

// anyRoles reads a person with the roles that they hold for any flow.
func (t *tx) anyRoles(id operation.UserID) (operation.Person, string, error) {
	var row struct {
		personRow
		Same operation.UserID `db:"same"`
		Name string           `db:"name"`
	}
	err := t.get(&row, `SELECT u.email, u.name, u.active, COALESCE(u.same_as, '') AS same, COALESCE((SELECT string_agg(DISTINCT role, ',') FROM user_roles WHERE user_id = u.id), '') AS roles
		FROM users u WHERE u.id = $1`, string(id))
	return operation.Person{ID: id, Natural: row.Same, Email: row.Email, Active: row.Active, Roles: splitRoles(row.Roles)}, row.Name, err
}

func orDone(err error) error {
	if err != nil {
		return err
	}
	return errDone
}

// receivedRow is one delegation to a person, with its giver as they stand now in one flow.
type receivedRow struct {
	ID      operation.DelegationID
	User    operation.UserID
	Natural operation.UserID
	Name    string
	Email   string
	Active  bool
	Roles   string // the giver's own for the flow
	Granted []operation.Role
	Flows   []string
	Start   time.Time
	End     time.Time
}

// receivedBy is the SQL that reads the delegations to a person, as JSON: those that were
// not taken back and did not end long ago. What is over is refused by the rule, which says so.
func receivedBy(user, flow string) string {
	return `COALESCE((SELECT json_agg(json_build_object('ID', g.id, 'User', g.from_user, 'Natural', COALESCE(p.same_as, ''), 'Name', p.name, 'Email', p.email, 'Active', p.active,
		'Roles', COALESCE((SELECT string_agg(DISTINCT pr.role, ',') FROM user_roles pr WHERE pr.user_id = p.id AND pr.flow IN ('', ` + flow + `)), ''),
		'Granted', g.roles, 'Flows', g.flows, 'Start', g.starts_at, 'End', g.ends_at) ORDER BY g.starts_at, g.id)
		FROM delegations g JOIN users p ON p.id = g.from_user WHERE g.to_user = ` + user + ` AND g.revoked_at IS NULL AND g.ends_at > clock_timestamp() - interval '7 days')::text, '[]')`
}

func (r receivedRow) capacity(who operation.Person, flow string, now time.Time) operation.Capacity {
	return operation.Capacity{Who: who, Flow: flow, Now: now,
		For: operation.Person{ID: r.User, Natural: r.Natural, Email: r.Email, Active: r.Active, Roles: splitRoles(r.Roles)},
		By:  operation.Delegation{ID: r.ID, From: r.User, To: who.ID, Roles: r.Granted, Flows: r.Flows, StartsAt: r.Start, EndsAt: r.End}}
}

// capacityOf gives the capacity in which somebody decides for another: by a delegation
// that is live and covers the role, else by any that there is, which the rule refuses.
func capacityOf(received string, who operation.Person, forUser operation.UserID, role operation.Role, flow string, now time.Time) (operation.Capacity, string, error) {
	if forUser == "" {
		return operation.Own(who), "", nil
	}
	var rows []receivedRow
	if received != "" {
		if err := json.Unmarshal([]byte(received), &rows); err != nil {
			return operation.Capacity{}, "", err
		}
	}
	var found *receivedRow
	for i, r := range rows {
		if r.User != forUser {
			continue
		}
		if c := r.capacity(who, flow, now); c.By.LiveAt(now) && c.By.Covers(role, flow) {
			return c, r.Name, nil
		}
		found = &rows[i]
	}
	if found == nil {
		return operation.Capacity{}, "", operation.Refuse(operation.CodeDelegation, "role", string(role)).By(operation.Responsible{Role: role})
	}
	return found.capacity(who, flow, now), found.Name, nil
}

// capacity gives the capacity of the acting person, read in this transaction.
func (u *unit) capacity(who operation.Person, forUser operation.UserID, role operation.Role) (operation.Capacity, error) {
	c, name, err := capacityOf(u.read.Me.Received, who, forUser, role, u.op.Flow, u.now)
	u.forName = name
	return c, err
}

// readReceived reads the delegations to the acting person where the locking statement
// did not.
func (u *unit) readReceived() error {
	return u.get(&u.read.Me.Received, `SELECT `+receivedBy("$1", "$2"), u.actor.ID, u.op.Flow)
}

// onBehalf are the links of an entry about a decision for another person.
func (u *unit) onBehalf(c operation.Capacity) []string {
	if !c.Delegated() {
		return nil
	}
	return []string{"for", string(c.For.ID), "for_name", u.forName, "delegation", string(c.By.ID)}
}

// maxPreset bounds the code of a preset reason, in bytes.
const maxPreset = 60

func nilIfEmpty(s string) any {
	if s == "" {
		return nil
	}
	return s
}
