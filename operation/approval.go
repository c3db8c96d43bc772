package operation

import "time"

// Policy says who must approve one stage's content and how long that holds. It is
// pinned when a version is submitted.
type Policy struct {
	Approvers      Selector      `json:"approvers"`
	Required       int           `json:"required"`
	SeparateAuthor bool          `json:"separate_author"`
	Expires        time.Duration `json:"expires"` // 0 = does not expire
	Due            time.Duration `json:"due"`
	Remind         time.Duration `json:"remind"`
	EscalateRole   Role          `json:"escalate_role,omitempty"`
	EscalateAfter  time.Duration `json:"escalate_after,omitempty"`
}

// Selector names people: all holders of a role for the flow, or one person of it.
type Selector struct {
	Role Role   `json:"role"`
	User string `json:"user,omitempty"` // e-mail address of a named person
}

// Person is somebody who wants to decide, as they stand inside the transaction.
type Person struct {
	ID     UserID
	Email  string
	Active bool
	Roles  []Role // held for this operation's flow, now
}

// Has reports whether the person holds the role now.
func (p Person) Has(r Role) bool {
	for _, k := range p.Roles {
		if k == r {
			return p.Active
		}
	}
	return false
}

// Matches reports whether the selector names the person now.
func (s Selector) Matches(p Person) bool {
	return p.Has(s.Role) && (s.User == "" || s.User == p.Email)
}

// Decision is what an approver says about a version.
type Decision string

// The decisions on a content version.
const (
	Approve        Decision = "approve"
	RequestChanges Decision = "request_changes"
	Reject         Decision = "reject"
	Withdraw       Decision = "withdraw"
)

// Given is a decision that stands on the current version.
type Given struct {
	User     UserID
	Decision Decision
}

// MayDecide checks one person's decision on the current version. parties are the
// author, the last editor, the submitter and whoever prompted a model.
func MayDecide(state State, p Policy, who Person, parties []UserID, given []Given, d Decision) *Refusal {
	if d == Withdraw {
		return mayWithdraw(state, who, given)
	}
	if state != PendingApproval {
		return Refuse(CodeForbiddenMove, "state", string(state))
	}
	if !p.Approvers.Matches(who) {
		return Refuse(CodeNotEntitled, "role", string(p.Approvers.Role)).By(Responsible{Role: p.Approvers.Role})
	}
	if d == Approve && p.SeparateAuthor && isParty(who.ID, parties) {
		return Refuse(CodeOwnContent).By(Responsible{Role: p.Approvers.Role})
	}
	for _, g := range given {
		if g.User == who.ID && g.Decision == Approve && d == Approve {
			return Refuse(CodeAlreadyDecided)
		}
	}
	return nil
}

func mayWithdraw(state State, who Person, given []Given) *Refusal {
	switch state {
	case PendingApproval, Waiting, Ready, RetryScheduled, InProgress:
	default:
		return Refuse(CodeForbiddenMove, "state", string(state))
	}
	for _, g := range given {
		if g.User == who.ID && g.Decision == Approve {
			return nil
		}
	}
	return Refuse(CodeNotEntitled)
}

func isParty(u UserID, parties []UserID) bool {
	for _, p := range parties {
		if p == u && u != "" {
			return true
		}
	}
	return false
}

// QuorumReached reports whether the approvals given, with this one, make the quorum.
func QuorumReached(p Policy, given []Given) bool {
	seen := map[UserID]bool{}
	for _, g := range given {
		if g.Decision == Approve {
			seen[g.User] = true
		}
	}
	return len(seen) >= max(p.Required, 1)
}

// MayDecideReexecution checks the second person's decision (MODEL §5): entitled, and
// never a party to the case.
func MayDecideReexecution(state State, approvers Selector, who Person, parties []UserID) *Refusal {
	if state != ReexecutionRequested {
		return Refuse(CodeForbiddenMove, "state", string(state))
	}
	if !approvers.Matches(who) {
		return Refuse(CodeNotEntitled, "role", string(approvers.Role)).By(Responsible{Role: approvers.Role})
	}
	if isParty(who.ID, parties) {
		return Refuse(CodeParty).By(Responsible{Role: approvers.Role})
	}
	return nil
}

// Shortage says why a policy can never be satisfied by the people there are.
type Shortage struct {
	Need, Have int
	Selector   Selector
}

// CheckPolicy finds out whether enough people exist for a policy; nil = yes. A
// policy that nobody can satisfy is refused when a flow is applied.
func CheckPolicy(p Policy, people []Person) *Shortage {
	n := 0
	for _, who := range people {
		if p.Approvers.Matches(who) {
			n++
		}
	}
	if need := max(p.Required, 1); n < need {
		return &Shortage{Need: need, Have: n, Selector: p.Approvers}
	}
	return nil
}
