package operation

import "slices"

// Group is one part of a policy that asks for its approvals by groups: so many natural
// persons of these people.
type Group struct {
	Key       string            `json:"key"`
	Title     map[string]string `json:"title,omitempty"` // by language
	Approvers Selector          `json:"approvers"`
	Required  int               `json:"required"`
}

// Grouped reports whether the approvals are asked for by groups. Approvers is empty then,
// and Required the sum of what the groups ask for.
func (p Policy) Grouped() bool { return len(p.Groups) > 0 }

// Selectors gives everybody whom the policy asks: the approvers, or each group's.
func (p Policy) Selectors() []Selector {
	if !p.Grouped() {
		return []Selector{p.Approvers}
	}
	out := make([]Selector, len(p.Groups))
	for i, g := range p.Groups {
		out[i] = g.Approvers
	}
	return out
}

// Roles gives the roles of everybody whom the policy asks, each once, in order.
func (p Policy) Roles() []Role {
	var out []Role
	for _, s := range p.Selectors() {
		if !slices.Contains(out, s.Role) {
			out = append(out, s.Role)
		}
	}
	return out
}

// DecidedBy gives the policy with its approvals asked of other people alone, who had no part
// in the content: for a second effect.
func (p Policy) DecidedBy(who Selector, required int) Policy {
	p.Approvers, p.Required, p.SeparateAuthor, p.Groups = who, max(required, 1), true, nil
	return p
}

// Fits gives the keys of the groups that permit the capacity now, in order.
func (c Capacity) Fits(p Policy) []string {
	var out []string
	for _, g := range p.Groups {
		if c.entitled(g.Approvers) == nil {
			out = append(out, g.Key)
		}
	}
	return out
}

// GroupsOf gives the keys of the groups in which an approval that was given before counts
// as people stand now: who holds the right themselves, or whom it was given for; by is the
// delegation that was used, zero for none. That it has ended since takes nothing away.
func (p Policy) GroupsOf(holder Person, by Delegation, flow string) []string {
	var out []string
	for _, g := range p.Groups {
		if g.Approvers.Matches(holder) && (by.ID == "" || by.Covers(g.Approvers.Role, flow)) {
			out = append(out, g.Key)
		}
	}
	return out
}

// Filled is a group with the approvals that fill its places.
type Filled struct {
	Group Group
	By    []int // places in the list that was given, oldest first
}

// Open is how many places of the group nobody fills yet.
func (f Filled) Open() int { return max(f.Group.Required-len(f.By), 0) }

// Fill gives each approval that stands a place in one of its groups, so that as many places
// as possible are filled. One natural person fills one place in all groups together; of
// two approvals with a person in common the older one counts. The same list gives the same
// places: the oldest approval stays in the first group it fits, unless that would leave a
// place open.
func (p Policy) Fill(given []Given) []Filled {
	out := make([]Filled, len(p.Groups))
	for i, g := range p.Groups {
		out[i].Group = g
	}
	for _, i := range countable(given) {
		seat(out, given, i, map[int]bool{})
	}
	for i := range out {
		slices.Sort(out[i].By)
	}
	return out
}

// countable gives the places of the approvals that stand and count in some group, without
// those that have a person in common with an older one.
func countable(given []Given) []int {
	var out []int
	stand, seen := standing(given), map[UserID]bool{"": true}
	for i, g := range given {
		if g.Decision != Approve || len(g.Groups) == 0 || !lastAlike(given, i) || !slices.ContainsFunc(stand, g.same) {
			continue
		}
		if slices.ContainsFunc(g.people(), func(u UserID) bool { return seen[u] }) {
			continue
		}
		for _, u := range g.people() {
			seen[u] = true
		}
		out = append(out, i)
	}
	return out
}

// lastAlike reports that no later decision of the list is the same again.
func lastAlike(given []Given, i int) bool {
	return !slices.ContainsFunc(given[i+1:], given[i].same)
}

// same reports the same decision of the same people.
func (g Given) same(o Given) bool {
	return g.User == o.User && g.For == o.For && g.Decision == o.Decision
}

// seat finds a place for one approval, moving others to another of their groups where
// that makes room.
func seat(all []Filled, given []Given, i int, tried map[int]bool) bool {
	for k := range all {
		f := &all[k]
		if tried[k] || !slices.Contains(given[i].Groups, f.Group.Key) {
			continue
		}
		tried[k] = true
		if f.Open() > 0 {
			f.By = append(f.By, i)
			return true
		}
		for n, other := range f.By {
			if seat(all, given, other, tried) {
				f.By[n] = i
				return true
			}
		}
	}
	return false
}

// filledOf counts the places that are filled.
func filledOf(all []Filled) int {
	n := 0
	for _, f := range all {
		n += len(f.By)
	}
	return n
}

// Asks names whom the policy asks next: of the groups the first one with an open place.
func (p Policy) Asks(given []Given) Selector {
	if !p.Grouped() {
		return p.Approvers
	}
	for _, f := range p.Fill(given) {
		if f.Open() > 0 {
			return f.Group.Approvers
		}
	}
	return p.Groups[0].Approvers
}

// PlaceOf gives the group that the last approval of the list fills; ok is false when it
// fills none.
func (p Policy) PlaceOf(given []Given) (g Group, ok bool) {
	for _, f := range p.Fill(given) {
		if slices.Contains(f.By, len(given)-1) {
			return f.Group, true
		}
	}
	return Group{}, false
}

// mayDecideInGroups checks a decision where approvals are asked for by groups. Content may
// be refused by a member of any group; it is approved by who can fill a place still open.
// Where all are filled and nothing was cleared – a right came back after the last approval –
// any member's approval completes it.
func mayDecideInGroups(p Policy, c Capacity, parties []UserID, given []Given, d Decision) *Refusal {
	fits, asks := c.Fits(p), p.Asks(given)
	if len(fits) == 0 {
		return c.noGroup(p, asks)
	}
	if d != Approve {
		return nil
	}
	if r := c.party(parties, p.SeparateAuthor, CodeOwnContent, Responsible{Role: asks.Role}); r != nil {
		return r
	}
	if r := c.counted(given); r != nil {
		return r
	}
	next := Given{User: c.Who.One(), Decision: Approve, For: c.Principal(), Groups: fits}
	if !groupsReached(p, given) && filledOf(p.Fill(append(slices.Clone(given), next))) == filledOf(p.Fill(given)) {
		return Refuse(CodeGroupFilled, "role", string(asks.Role)).By(Responsible{Role: asks.Role})
	}
	return nil
}

// noGroup says why the capacity belongs to no group: what stands in the way of a
// delegation before the missing role.
func (c Capacity) noGroup(p Policy, asks Selector) *Refusal {
	why := c.entitled(asks)
	for _, g := range p.Groups {
		if r := c.entitled(g.Approvers); why == nil || why.Code == CodeNotEntitled && r.Code != CodeNotEntitled || why.Code == CodeDelegation && r.Code == CodeDelegatorNotEntitled {
			why = r
		}
	}
	return why
}

// groupsReached reports that every place of every group is filled, and that nothing stands
// against it.
func groupsReached(p Policy, given []Given) bool {
	for _, g := range standing(given) {
		if g.Decision != Approve {
			return false
		}
	}
	for _, f := range p.Fill(given) {
		if f.Open() > 0 {
			return false
		}
	}
	return true
}

// groupsHold reports whether the people of a clearance, as they stand now, fill every place
// that its groups ask for.
func groupsHold(c *Clearance) bool {
	var given []Given
	for _, a := range c.Approvers {
		if a.Entitled && !a.Party {
			given = append(given, Given{User: a.User, Decision: Approve, For: a.For, Groups: a.Groups})
		}
	}
	return groupsReached(Policy{Groups: c.Groups}, given)
}

// groupShortage finds the first group whose places these people, without one of them, can
// never fill; nil = they can fill all.
func groupShortage(p Policy, people []Person, without UserID) *Shortage {
	fits, order := map[UserID][]string{}, []UserID{}
	for _, who := range people {
		one := who.One()
		if one == "" || one == without {
			continue
		}
		for _, k := range p.GroupsOf(who, Delegation{}, "") {
			if fits[one] == nil {
				order = append(order, one)
			}
			if !slices.Contains(fits[one], k) {
				fits[one] = append(fits[one], k)
			}
		}
	}
	given := make([]Given, len(order))
	for i, u := range order {
		given[i] = Given{User: u, Decision: Approve, Groups: fits[u]}
	}
	for _, f := range p.Fill(given) {
		if f.Open() > 0 {
			return &Shortage{Need: f.Group.Required, Have: len(f.By), Selector: f.Group.Approvers, Group: f.Group.Key}
		}
	}
	return nil
}
