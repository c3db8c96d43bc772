package operation

import (
	"slices"
	"strings"
	"time"
)

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
	// Groups asks for the approvals by groups, in place of Approvers; Required is their sum.
	Groups []Group `json:"groups,omitempty"`
}

// Selector names people: all holders of a role for the flow, or one person of it.
type Selector struct {
	Role Role   `json:"role"`
	User string `json:"user,omitempty"` // e-mail address of a named person
}

// Person is somebody who wants to decide, as they stand inside the transaction.
type Person struct {
	ID UserID
	// Natural is the account that stands for the natural person where they have several:
	// "" = this one. Separation of duties compares natural persons.
	Natural UserID
	Email   string
	Active  bool
	Roles   []Role // held for this operation's flow, now
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

// One gives the natural person: the account that stands for all of theirs.
func (p Person) One() UserID {
	if p.Natural != "" {
		return p.Natural
	}
	return p.ID
}

// Matches reports whether the selector names the person now.
func (s Selector) Matches(p Person) bool {
	return p.Has(s.Role) && (s.User == "" || strings.EqualFold(s.User, p.Email))
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

// Given is a decision on the current version, by natural persons (Person.One).
type Given struct {
	User     UserID // who acted
	Decision Decision
	For      UserID // for whom, by a delegation; "" = for themselves
	// Groups are the keys of the policy's groups in which an approval counts, as people
	// stand now; only where the policy has groups.
	Groups []string
}

// MayDecide checks the decision of a person who acts for themselves; see MayDecideAs.
func MayDecide(state State, p Policy, who Person, parties []UserID, given []Given, d Decision) *Refusal {
	return MayDecideAs(state, p, Own(who), parties, given, d)
}

// MayDecideAs checks one decision on the current version. parties are the author, the
// last editor, the submitter and whoever prompted a model; given are all decisions on
// this version, oldest first; all of them natural persons (Person.One). The same decision
// again is CodeAlreadyDecided in any state: a second click is shown the first one's
// result. One natural person counts once: who acts and who is acted for are compared with
// both of every approval that stands.
func MayDecideAs(state State, p Policy, c Capacity, parties []UserID, given []Given, d Decision) *Refusal {
	who := c.Who
	if !slices.Contains([]Decision{Approve, RequestChanges, Reject, Withdraw}, d) {
		return Refuse(CodeForbiddenMove, "decision", string(d))
	}
	if last, ok := lastOf(given, who.One(), c.Principal()); ok && last == d {
		return Refuse(CodeAlreadyDecided, "who", string(who.ID))
	}
	if d == Withdraw {
		return mayWithdraw(state, who, given)
	}
	if state != PendingApproval {
		r := Refuse(CodeForbiddenMove, "state", string(state))
		if len(given) > 0 {
			g := given[len(given)-1]
			r = Refuse(CodeForbiddenMove, "state", string(state), "who", string(g.User), "decision", string(g.Decision))
		}
		return r
	}
	if p.Grouped() {
		return mayDecideInGroups(p, c, parties, given, d)
	}
	if r := c.entitled(p.Approvers); r != nil {
		return r
	}
	if d != Approve {
		return nil
	}
	if r := c.party(parties, p.SeparateAuthor, CodeOwnContent, Responsible{Role: p.Approvers.Role}); r != nil {
		return r
	}
	return c.counted(given)
}

// mayWithdraw lets an active person take back an approval that they gave, or that was
// given for them, while it stands. After dispatch it means "no further attempt"; see
// AfterWithdraw.
func mayWithdraw(state State, who Person, given []Given) *Refusal {
	switch state {
	case PendingApproval, Waiting, Ready, RetryScheduled, InProgress, Unknown:
	default:
		return Refuse(CodeForbiddenMove, "state", string(state))
	}
	for _, g := range standing(given) {
		if g.Decision == Approve && g.has(who.One()) && who.Active {
			return nil
		}
	}
	return Refuse(CodeNotEntitled)
}

// lastOf gives a person's last decision on the version in one capacity; a withdrawal is
// the person's in any.
func lastOf(given []Given, u, principal UserID) (d Decision, ok bool) {
	for _, g := range given {
		if u != "" && g.User == u && (g.For == principal || g.Decision == Withdraw) {
			d, ok = g.Decision, true
		}
	}
	return d, ok
}

func isParty(u UserID, parties []UserID) bool { return u != "" && slices.Contains(parties, u) }

// QuorumReached reports whether the decisions given, oldest first, with the new one in
// them, make the quorum: each natural person counts once, with their last decision, in
// whatever capacity, and a rejection or a request for changes that stands prevents it.
// Where the policy has groups, every place of each must be filled; see Policy.Fill.
func QuorumReached(p Policy, given []Given) bool {
	if p.Grouped() {
		return groupsReached(p, given)
	}
	n, seen := 0, map[UserID]bool{"": true}
	for _, g := range standing(given) {
		switch g.Decision {
		case Reject, RequestChanges:
			return false
		case Approve:
			if !slices.ContainsFunc(g.people(), func(u UserID) bool { return seen[u] }) {
				n++
				for _, u := range g.people() {
					seen[u] = true
				}
			}
		}
	}
	return n >= max(p.Required, 1)
}

// MayDecideReexecution checks the second person's decision (MODEL §5): entitled, and
// never a party to the case; see MayDecideReexecutionAs.
func MayDecideReexecution(state State, approvers Selector, who Person, parties []UserID) *Refusal {
	return MayDecideReexecutionAs(state, approvers, Own(who), parties, nil)
}

// MayDecideReexecutionAs is MayDecideReexecution in any capacity: neither who acts nor who
// is acted for is a party, and one natural person counts once among the decisions given.
func MayDecideReexecutionAs(state State, approvers Selector, c Capacity, parties []UserID, given []Given) *Refusal {
	if state != ReexecutionRequested {
		return Refuse(CodeForbiddenMove, "state", string(state))
	}
	if r := c.entitled(approvers); r != nil {
		return r
	}
	if r := c.party(parties, true, CodeParty, Responsible{Role: approvers.Role}); r != nil {
		return r
	}
	return c.counted(given)
}

// Shortage says why a policy can never be satisfied by the people there are.
type Shortage struct {
	Need, Have int
	Selector   Selector
	Group      string // key of the group that comes short; "" = the policy has none
}

// CheckPolicy finds out whether enough people exist for a policy; nil = yes. A
// policy that nobody can satisfy is refused when a flow is applied. Content that people
// write needs CheckDraftedPolicy as well.
func CheckPolicy(p Policy, people []Person) *Shortage {
	return p.shortage(people, "")
}

// shortage is CheckPolicy without one natural person.
func (p Policy) shortage(people []Person, without UserID) *Shortage {
	if p.Grouped() {
		return groupShortage(p, people, without)
	}
	return shortage(p.Approvers, p.Required, people, without)
}

// CheckDraftedPolicy is CheckPolicy for a stage whose content a person writes: where
// author and approvers are kept apart, some author must leave enough approvers.
func CheckDraftedPolicy(p Policy, people []Person) *Shortage {
	worst := CheckPolicy(p, people)
	if worst != nil || !p.SeparateAuthor {
		return worst
	}
	return apart(Selector{Role: RoleAuthor}, p, people)
}

// CheckReexecutionPolicy finds out whether a re-execution can ever be approved: some
// reviewer, who answers the checklist, must leave enough approvers.
func CheckReexecutionPolicy(approvers Selector, required int, reviewer Selector, people []Person) *Shortage {
	if s := shortage(reviewer, 1, people, ""); s != nil {
		return s
	}
	return apart(reviewer, Policy{Approvers: approvers, Required: required}, people)
}

// apart finds a first person whose absence still leaves a quorum; nil = there is one,
// or nobody is a first person.
func apart(first Selector, p Policy, people []Person) *Shortage {
	var best *Shortage
	for _, who := range people {
		if !first.Matches(who) {
			continue
		}
		s := p.shortage(people, who.One())
		if s == nil {
			return nil
		}
		if best == nil || s.Have > best.Have {
			best = s
		}
	}
	return best
}

// shortage counts the people of a selector, each once, without one of them.
func shortage(sel Selector, required int, people []Person, without UserID) *Shortage {
	have := map[UserID]bool{}
	for _, who := range people {
		if sel.Matches(who) && who.One() != without {
			have[who.One()] = true
		}
	}
	if need := max(required, 1); len(have) < need {
		return &Shortage{Need: need, Have: len(have), Selector: sel}
	}
	return nil
}
