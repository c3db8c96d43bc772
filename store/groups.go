package store

import (
	"slices"
	"strings"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// holderRow is whose right an approval carries, as they stand now: who gave it, or whom it
// was given for.
type holderRow struct {
	ID      operation.ApprovalID   `db:"id"`
	User    operation.UserID       `db:"user_id"`
	For     operation.UserID       `db:"for_user"`
	Email   string                 `db:"email"`
	Active  bool                   `db:"active"` // both, where it was given for another
	Roles   string                 `db:"roles"`
	By      operation.DelegationID `db:"by"`
	Granted pq.StringArray         `db:"granted"`
	Flows   pq.StringArray         `db:"flows"`
}

const holdersSQL = `SELECT a.id, a.user_id, COALESCE(a.for_user, '') AS for_user, u.email, u.active AND (a.for_user IS NULL OR (SELECT b.active FROM users b WHERE b.id = a.user_id)) AS active,
	COALESCE((SELECT string_agg(DISTINCT r.role, ',') FROM user_roles r WHERE r.user_id = u.id AND r.flow IN ('', $2)), '') AS roles,
	COALESCE(a.delegation_id, '') AS by, COALESCE(g.roles, '{}') AS granted, COALESCE(g.flows, '{}') AS flows
	FROM approvals a JOIN users u ON u.id = COALESCE(a.for_user, a.user_id) LEFT JOIN delegations g ON g.id = a.delegation_id`

// batchHoldersSQL is holdersSQL for approvals of a batch.
var batchHoldersSQL = strings.Replace(holdersSQL, "FROM approvals a", "FROM batch_approvals a", 1)

// groupsIn gives the groups in which the approval counts now.
func (h holderRow) groupsIn(p operation.Policy, flow string) []string {
	who := operation.Person{ID: h.User, Email: h.Email, Active: h.Active, Roles: splitRoles(h.Roles)}
	by := operation.Delegation{ID: h.By, Flows: h.Flows}
	for _, r := range h.Granted {
		by.Roles = append(by.Roles, operation.Role(r))
	}
	return p.GroupsOf(who, by, flow)
}

// presentPolicy resolves the named people of a pinned policy; see present.
func (u *unit) presentPolicy(p operation.Policy) (operation.Policy, error) {
	var err error
	if p.Approvers, err = u.present(p.Approvers); err != nil {
		return p, err
	}
	p.Groups = slices.Clone(p.Groups)
	for i := range p.Groups {
		if p.Groups[i].Approvers, err = u.present(p.Groups[i].Approvers); err != nil {
			return p, err
		}
	}
	return p, nil
}

// fitGroups finds the groups in which each approval that stands counts now. It reads
// nothing where the policy has no groups.
func (u *unit) fitGroups(p operation.Policy, stand []standing) error {
	if !p.Grouped() || len(stand) == 0 {
		return nil
	}
	ids := make([]string, len(stand))
	for i, g := range stand {
		ids[i] = string(g.ID)
	}
	var rows []holderRow
	q := holdersSQL
	if u.op.ID == "" { // it stands for a batch
		q = batchHoldersSQL
	}
	if err := u.list(&rows, q+` WHERE a.id = ANY($1)`, pq.Array(ids), u.op.Flow); err != nil {
		return err
	}
	for _, h := range rows {
		for i := range stand {
			if stand[i].ID == h.ID {
				stand[i].groups = h.groupsIn(p, u.op.Flow)
			}
		}
	}
	return nil
}

// groupApprovers gives the people of a clearance, oldest approval first, with the groups in
// which each counts now.
func (u *unit) groupApprovers(id operation.ClearanceID, p operation.Policy, people persons) ([]operation.Approver, error) {
	var rows []holderRow
	if err := u.list(&rows, holdersSQL+` JOIN clearance_approvals c ON c.approval_id = a.id WHERE c.clearance_id = $1 ORDER BY a.decided_at, a.id`, string(id), u.op.Flow); err != nil {
		return nil, err
	}
	return u.groupsOf(rows, p, people), nil
}

// batchGroupApprovers is groupApprovers of a batch's clearance.
func (u *unit) batchGroupApprovers(id operation.ClearanceID, p operation.Policy, people persons) ([]operation.Approver, error) {
	var rows []holderRow
	if err := u.list(&rows, batchHoldersSQL+` JOIN batch_clearance_approvals c ON c.approval_id = a.id WHERE c.clearance_id = $1 ORDER BY a.decided_at, a.id`, string(id), u.op.Flow); err != nil {
		return nil, err
	}
	return u.groupsOf(rows, p, people), nil
}

func (u *unit) groupsOf(rows []holderRow, p operation.Policy, people persons) []operation.Approver {
	out := make([]operation.Approver, len(rows))
	for i, h := range rows {
		groups := h.groupsIn(p, u.op.Flow)
		out[i] = operation.Approver{User: people.one(h.User), For: people.one(h.For), Entitled: len(groups) > 0, Groups: groups}
	}
	return out
}

// capacityFor gives the capacity of a decision. Where approvals are asked for by groups, it
// is the first of the acting person's delegations that permits it for any of them.
func (u *unit) capacityFor(who operation.Person, d Decided, p operation.Policy, parties []operation.UserID, given []operation.Given) (c operation.Capacity, err error) {
	for _, role := range p.Roles() {
		if c, err = u.capacity(who, d.For, role); err != nil {
			return c, err
		}
		if operation.MayDecideAs(u.op.State, p, c, parties, given, d.Decision) == nil {
			return c, nil
		}
	}
	return c, nil
}

// roleIn gives the role in which somebody decides and, of a policy with groups, the key of
// the group whose place an approval fills.
func roleIn(p operation.Policy, stand []standing, mine standing) (role operation.Role, group string) {
	if !p.Grouped() {
		return p.Approvers.Role, ""
	}
	if g, ok := p.PlaceOf(givenOf(append(slices.Clone(stand), mine))); ok {
		return g.Approvers.Role, g.Key
	}
	for _, g := range p.Groups {
		if slices.Contains(mine.groups, g.Key) {
			return g.Approvers.Role, ""
		}
	}
	return p.Roles()[0], ""
}

// askNext names who decides next on content that waits for groups: the first group with an
// open place. Since when it waits, and until when, stays as it is.
func (u *unit) askNext(p operation.Policy, stand []standing) {
	if !p.Grouped() || u.op.State != operation.PendingApproval {
		return
	}
	by := responsible(p.Asks(givenOf(stand)), u.who)
	u.op.NextRole, u.op.NextUser = by.Role, by.User
}

// approverRoles gives the roles in which the operation's content is approved.
func (u *unit) approverRoles() []operation.Role {
	if st, ok := stageOf(u.flow, u.op.Stage); ok {
		return st.Approval.Roles()
	}
	return nil
}
