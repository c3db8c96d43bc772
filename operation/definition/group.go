package definition

import "holdpoint/operation"

// rawGroup is one group of a stage's approval, as written.
type rawGroup struct {
	Key       string             `json:"key"`
	Title     Text               `json:"title"`
	Approvers operation.Selector `json:"approvers"`
	Required  int                `json:"required"`
}

// groupsOf gives the groups of a policy and how many approvals they ask for together.
func groupsOf(raw []rawGroup) (groups []operation.Group, sum int) {
	for _, g := range raw {
		x := operation.Group{Key: g.Key, Title: g.Title, Approvers: g.Approvers, Required: max(1, g.Required)}
		groups, sum = append(groups, x), sum+x.Required
	}
	return groups, sum
}

// check names what is wrong with who must approve: exactly one of the two forms, keys
// that differ, and no more approvals of a named person than one.
func (a rawApproval) check(path string, p *problems) {
	one := func(at string, s operation.Selector, required int) {
		if s.User != "" && required > 1 {
			p.add(join(at, "required"), "one named person cannot give %d approvals", required)
		}
	}
	switch {
	case len(a.Groups) == 0 && a.Approvers.Role == "":
		p.add(join(path, "approvers"), "this field is missing: say approvers, or ask for the approvals by groups")
	case len(a.Groups) == 0:
		one(path, a.Approvers, a.Required)
	case a.Approvers.Role != "":
		p.add(join(path, "groups"), "either approvers or groups, not both")
	case a.Required != 0:
		p.add(join(path, "required"), "with groups, each group says how many approvals it asks for")
	}
	seen := map[string]bool{}
	for i, g := range a.Groups {
		at := item(join(path, "groups"), i)
		if seen[g.Key] {
			p.add(join(at, "key"), "two groups have the key %q", g.Key)
		}
		seen[g.Key] = true
		one(at, g.Approvers, g.Required)
	}
}
