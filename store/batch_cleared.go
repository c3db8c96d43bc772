package store

import (
	"encoding/json"
	"time"

	"holdpoint/operation"
)

// batchCleared is a clearance of a batch with its approvers as they stand now. An item's
// clearance has its own version and hash, and everything else of its batch's.
type batchCleared struct {
	ID        operation.ClearanceID
	Policy    string
	Required  int
	Expires   *time.Time
	Upto      int
	Approvers []approverRow

	groups    []operation.Group
	approvers []operation.Approver
}

// approverRow is one approver, or whom they acted for, as the statements give them.
type approverRow struct {
	User   operation.UserID
	For    operation.UserID
	Email  string
	Active bool
	Roles  string
}

// lapsed says why a batch's clearance lets nothing more of it go; nil = it holds.
func (b *batchCleared) lapsed(now time.Time) *operation.Refusal {
	c := operation.Clearance{ExpiresAt: timeOf(b.Expires), Required: b.Required, Groups: b.groups, Approvers: b.approvers}
	return c.Lapsed(now)
}

// readClearances reads what people decided about the batch.
func (c *heldBatch) readClearances() error {
	var rows []*batchCleared
	if err := json.Unmarshal([]byte(c.Clearances), &rows); err != nil {
		return err
	}
	c.cleared = map[operation.ClearanceID]*batchCleared{}
	u := &unit{tx: c.tx, actor: c.actor, op: &opRow{Flow: c.Flow}, facts: loaded{Epoch: c.Epoch}, who: c.who, flow: c.flow}
	for _, r := range rows {
		var p operation.Policy
		if err := json.Unmarshal([]byte(r.Policy), &p); err != nil {
			return err
		}
		p, err := u.presentPolicy(p)
		if err != nil {
			return err
		}
		people, err := u.persons()
		if err != nil {
			return err
		}
		if p.Grouped() {
			r.groups = p.Groups
			r.approvers, err = u.batchGroupApprovers(r.ID, p, people)
		} else {
			r.approvers = approversOf(r.Approvers, p, people)
		}
		if err != nil {
			return err
		}
		c.cleared[r.ID] = r
	}
	return nil
}

// approversOf judges approvers by the pinned policy, as they stand now.
func approversOf(rows []approverRow, p operation.Policy, people persons) []operation.Approver {
	var out []operation.Approver
	for _, a := range rows {
		who := operation.Person{ID: a.User, Email: a.Email, Active: a.Active, Roles: splitRoles(a.Roles)}
		out = append(out, operation.Approver{User: people.one(a.User), For: people.one(a.For), Entitled: p.Approvers.Matches(who)})
	}
	return out
}

// itemClearance is an item's own clearance, as groups read it.
type itemClearance struct {
	Batch   operation.ClearanceID   `db:"batch"` // "" = it does not rest on its batch's
	Kind    operation.ClearanceKind `db:"kind"`
	Version operation.VersionID     `db:"version"`
	Hash    []byte                  `db:"hash"`
	Expires *time.Time              `db:"expires"`
}

// clearance gives an item's clearance; nil = it does not rest on the batch's.
func (c *heldBatch) clearance(o *opRow, of itemClearance) (*operation.Clearance, error) {
	b := c.cleared[of.Batch]
	if b == nil || of.Kind != operation.ClearContent {
		return nil, nil
	}
	return &operation.Clearance{ID: o.ClearanceID, Kind: of.Kind, VersionID: of.Version, Hash: hash32(of.Hash), ExpiresAt: timeOf(of.Expires), Required: b.Required,
		Groups: b.groups, Approvers: b.approvers}, nil
}
