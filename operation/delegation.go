package operation

import (
	"slices"
	"time"
)

// DelegationID names a delegation: dgn_ and 26 characters.
type DelegationID string

// Delegation puts one person's approvals into another's hands for a time. It never passes
// on what the giver holds by a delegation themselves: whoever is acted for must hold the
// role on their own.
type Delegation struct {
	ID        DelegationID
	From, To  UserID
	Roles     []Role   // the giver's, in which the other may decide
	Flows     []string // empty = every flow
	StartsAt  time.Time
	EndsAt    time.Time // exclusive
	RevokedAt time.Time // zero = not taken back
}

// DelegationLimit is the longest time for which approvals can be handed on.
const DelegationLimit = 366 * 24 * time.Hour

// DelegableRoles are the roles in which approvals are given, and so can be handed on.
var DelegableRoles = []Role{RoleApprover, RoleOpsOwner, RoleAdmin}

// LiveAt reports whether the delegation has begun, is not over and was not taken back.
func (d Delegation) LiveAt(now time.Time) bool {
	return !now.Before(d.StartsAt) && now.Before(d.EndsAt) && (d.RevokedAt.IsZero() || now.Before(d.RevokedAt))
}

// Covers reports whether decisions in this role, about this flow, were handed on.
func (d Delegation) Covers(role Role, flow string) bool {
	return slices.Contains(d.Roles, role) && (len(d.Flows) == 0 || slices.Contains(d.Flows, flow))
}

// Capacity is how somebody decides: for themselves, or for another person by a delegation.
type Capacity struct {
	Who Person // who acts
	// For is the person acted for, as they stand now with the roles that they hold
	// themselves; an empty ID = nobody, the decision is their own.
	For  Person
	By   Delegation // by which they act for another
	Flow string     // of the operation
	Now  time.Time  // of the decision, by the database's clock
}

// Own is the capacity of somebody who decides for themselves.
func Own(who Person) Capacity { return Capacity{Who: who} }

// Delegated reports a decision for another person.
func (c Capacity) Delegated() bool { return c.For.ID != "" }

// People are the natural persons of the decision: who acts and who is acted for.
func (c Capacity) People() []UserID {
	if !c.Delegated() {
		return []UserID{c.Who.One()}
	}
	return []UserID{c.Who.One(), c.For.One()}
}

// Principal is the natural person acted for; "" = nobody.
func (c Capacity) Principal() UserID {
	if !c.Delegated() {
		return ""
	}
	return c.For.One()
}

// entitled says why the capacity does not permit a decision that the selector asks for;
// nil = it does. Whoever is acted for must be entitled now, by their own roles.
func (c Capacity) entitled(sel Selector) *Refusal {
	not := Refuse(CodeNotEntitled, "role", string(sel.Role)).By(Responsible{Role: sel.Role})
	switch {
	case c.Who.ID == "" || !c.Who.Active:
		return not
	case !c.Delegated():
		if !sel.Matches(c.Who) {
			return not
		}
		return nil
	case c.By.To != c.Who.ID || c.By.From != c.For.ID || c.For.One() == c.Who.One():
		return not
	case !c.By.LiveAt(c.Now) || !c.By.Covers(sel.Role, c.Flow):
		return Refuse(CodeDelegation, "role", string(sel.Role)).By(Responsible{Role: sel.Role})
	case !sel.Matches(c.For):
		return Refuse(CodeDelegatorNotEntitled, "role", string(sel.Role)).By(Responsible{Role: sel.Role})
	}
	return nil
}

// party says why a party's decision is refused; nil = nobody of it is one. For another
// person a party never decides, whatever the policy says of authors.
func (c Capacity) party(parties []UserID, apart bool, own Code, by Responsible) *Refusal {
	switch {
	case c.Delegated() && slices.ContainsFunc(c.People(), func(u UserID) bool { return isParty(u, parties) }):
		return Refuse(CodePartyFor).By(by)
	case !c.Delegated() && apart && isParty(c.Who.One(), parties):
		return Refuse(own).By(by)
	}
	return nil
}

// counted refuses an approval by or for somebody who has a part in one that stands: one
// natural person counts once, in whatever capacity.
func (c Capacity) counted(given []Given) *Refusal {
	for _, g := range standing(given) {
		for _, who := range c.People() {
			if g.has(who) {
				if !c.Delegated() && g.User == who && g.For == "" {
					return Refuse(CodeAlreadyDecided, "who", string(who))
				}
				return Refuse(CodeCountedOnce, "who", string(who))
			}
		}
	}
	return nil
}

// standing are the decisions of each person that stand: the last one of whoever acted. A
// withdrawal takes back the approval that its person gave, or that was given for them.
func standing(given []Given) []Given {
	var out []Given
	for _, g := range given {
		out = slices.DeleteFunc(out, func(o Given) bool {
			return o.User == g.User && g.User != "" || g.Decision == Withdraw && o.has(g.User)
		})
		if g.Decision != Withdraw {
			out = append(out, g)
		}
	}
	return out
}

// has reports that the person acted, or was acted for.
func (g Given) has(u UserID) bool { return u != "" && (g.User == u || g.For == u) }

// people are the natural persons of a decision that stands.
func (g Given) people() []UserID {
	if g.For == "" {
		return []UserID{g.User}
	}
	return []UserID{g.User, g.For}
}

// MayDelegate checks a delegation before it is recorded: from one active person to another
// who decides in some flow themselves, of roles that the giver holds on their own, for a
// time that is not over and not too long.
func MayDelegate(d Delegation, from, to Person, now time.Time) *Refusal {
	switch {
	case !from.Active || from.ID == "" || d.From != from.ID:
		return Refuse(CodeNotEntitled)
	case to.ID == "" || d.To != to.ID || to.One() == from.One() || !to.Active:
		return Refuse(CodeDelegate)
	case !slices.ContainsFunc(DelegableRoles, to.Has):
		return Refuse(CodeDelegate)
	case len(d.Roles) == 0:
		return Refuse(CodeReasonMissing)
	case !d.EndsAt.After(d.StartsAt) || !d.EndsAt.After(now) || d.EndsAt.Sub(d.StartsAt) > DelegationLimit:
		return Refuse(CodeDelegationTime)
	}
	for _, r := range d.Roles {
		if !slices.Contains(DelegableRoles, r) || !from.Has(r) {
			return Refuse(CodeNotEntitled, "role", string(r)).By(Responsible{Role: r})
		}
	}
	return nil
}
