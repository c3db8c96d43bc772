package operation

import "testing"

func person(id UserID, roles ...Role) Person {
	return Person{ID: id, Email: string(id) + "@example.test", Active: true, Roles: roles}
}

func TestMayDecide(t *testing.T) {
	p := Policy{Approvers: Selector{Role: RoleApprover}, Required: 1, SeparateAuthor: true}
	parties := []UserID{"usr_author", "usr_prompted"}
	gone := person("usr_b", RoleApprover)
	gone.Active = false
	rows := []struct {
		name  string
		state State
		who   Person
		given []Given
		d     Decision
		code  Code
	}{
		{"approve", PendingApproval, person("usr_b", RoleApprover), nil, Approve, CodeOK},
		{"request changes", PendingApproval, person("usr_b", RoleApprover), nil, RequestChanges, CodeOK},
		{"reject", PendingApproval, person("usr_b", RoleApprover), nil, Reject, CodeOK},
		{"no such decision", PendingApproval, person("usr_b", RoleApprover), nil, "maybe", CodeForbiddenMove},
		{"wrong role", PendingApproval, person("usr_b", RoleOpsOwner, RoleAuditor), nil, Approve, CodeNotEntitled},
		{"deactivated", PendingApproval, gone, nil, Approve, CodeNotEntitled},
		{"nobody", PendingApproval, person("", RoleApprover), nil, Approve, CodeNotEntitled},
		{"own content", PendingApproval, person("usr_author", RoleApprover), nil, Approve, CodeOwnContent},
		{"own content, as admin too", PendingApproval, person("usr_author", RoleApprover, RoleAdmin), nil, Approve, CodeOwnContent},
		{"prompted the model", PendingApproval, person("usr_prompted", RoleApprover), nil, Approve, CodeOwnContent},
		{"the author may reject own content", PendingApproval, person("usr_author", RoleApprover), nil, Reject, CodeOK},
		{"approved, then rejects", PendingApproval, person("usr_b", RoleApprover), []Given{{User: "usr_b", Decision: Approve}}, Reject, CodeOK},
		{"withdraw what was approved", Ready, person("usr_b", RoleApprover), []Given{{User: "usr_b", Decision: Approve}}, Withdraw, CodeOK},
		{"withdraw after dispatch", Unknown, person("usr_b"), []Given{{User: "usr_b", Decision: Approve}}, Withdraw, CodeOK},
		{"withdraw twice", PendingApproval, person("usr_b"), []Given{{User: "usr_b", Decision: Approve}, {User: "usr_b", Decision: Withdraw}}, Withdraw, CodeAlreadyDecided},
		{"withdraw another's approval", Ready, person("usr_c", RoleApprover), []Given{{User: "usr_b", Decision: Approve}}, Withdraw, CodeNotEntitled},
		{"withdraw when deactivated", Ready, gone, []Given{{User: "usr_b", Decision: Approve}}, Withdraw, CodeNotEntitled},
		{"withdraw in review", Review, person("usr_b"), []Given{{User: "usr_b", Decision: Approve}}, Withdraw, CodeForbiddenMove},
		{"approve again after a withdrawal", PendingApproval, person("usr_b", RoleApprover), []Given{{User: "usr_b", Decision: Approve}, {User: "usr_b", Decision: Withdraw}}, Approve, CodeOK},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			if got := codeOf(MayDecide(r.state, p, r.who, parties, r.given, r.d)); got != r.code {
				t.Errorf("got %q, want %q", got, r.code)
			}
		})
	}
	for _, s := range States {
		if got := MayDecide(s, p, person("usr_b", RoleApprover), nil, nil, Approve); (got == nil) != (s == PendingApproval) {
			t.Errorf("approve in %s: %v", s, got)
		}
	}
	open := p
	open.SeparateAuthor = false
	if got := MayDecide(PendingApproval, open, person("usr_author", RoleApprover), parties, nil, Approve); got != nil {
		t.Errorf("the policy does not keep the author apart: %v", got)
	}
}

// FC-12: a second click is told calmly that the first one counted, in any state.
func TestFieldCase12_SecondClick(t *testing.T) {
	p := Policy{Approvers: Selector{Role: RoleApprover}, Required: 1}
	for _, s := range States {
		r := MayDecide(s, p, person("usr_b", RoleApprover), nil, []Given{{User: "usr_b", Decision: Approve}}, Approve)
		if codeOf(r) != CodeAlreadyDecided || r.Params["who"] != "usr_b" {
			t.Errorf("%s: got %v", s, r)
		}
	}
}

// FC-13: the one who comes second is told who decided what; nothing flips.
func TestFieldCase13_SecondPerson(t *testing.T) {
	p := Policy{Approvers: Selector{Role: RoleApprover}, Required: 1}
	r := MayDecide(Ready, p, person("usr_c", RoleApprover), nil, []Given{{User: "usr_b", Decision: Approve}}, Reject)
	if codeOf(r) != CodeForbiddenMove || r.Params["who"] != "usr_b" || r.Params["decision"] != "approve" || r.Params["state"] != "ready" {
		t.Errorf("got %v", r)
	}
	two := Policy{Required: 2}
	if QuorumReached(two, []Given{{User: "usr_b", Decision: Approve}, {User: "usr_b", Decision: Approve}}) {
		t.Error("one person filled both places")
	}
}

func TestQuorumReached(t *testing.T) {
	b, c := Given{User: "usr_b", Decision: Approve}, Given{User: "usr_c", Decision: Approve}
	for name, r := range map[string]struct {
		need  int
		given []Given
		want  bool
	}{
		"one of one":               {1, []Given{b}, true},
		"zero means one":           {0, nil, false},
		"zero means one, given":    {0, []Given{b}, true},
		"one of two":               {2, []Given{b}, false},
		"two of two":               {2, []Given{b, c}, true},
		"withdrawn does not count": {1, []Given{b, {User: "usr_b", Decision: Withdraw}}, false},
		"a rejection stands":       {1, []Given{b, {User: "usr_c", Decision: Reject}}, false},
		"changes asked for stand":  {1, []Given{b, {User: "usr_c", Decision: RequestChanges}}, false},
		"changed their mind":       {1, []Given{{User: "usr_b", Decision: Reject}, b}, true},
		"nobody does not count":    {1, []Given{{Decision: Approve}}, false},
	} {
		if got := QuorumReached(Policy{Required: r.need}, r.given); got != r.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// FC-45: nobody is the second person of their own case, in any role; people are
// compared by their stable identity.
func TestFieldCase45_SecondDecision(t *testing.T) {
	sel := Selector{Role: RoleOpsOwner}
	parties := []UserID{"usr_r"}
	for name, c := range map[string]struct {
		who  Person
		code Code
	}{
		"another ops owner":        {person("usr_s", RoleOpsOwner), CodeOK},
		"whoever answered":         {person("usr_r", RoleOpsOwner), CodeParty},
		"whoever answered, admin":  {person("usr_r", RoleOpsOwner, RoleAdmin), CodeParty},
		"admin without the role":   {person("usr_s", RoleAdmin), CodeNotEntitled},
		"nobody":                   {person("", RoleOpsOwner), CodeNotEntitled},
		"same address, other user": {Person{ID: "usr_s", Email: "usr_r@example.test", Active: true, Roles: []Role{RoleOpsOwner}}, CodeOK},
	} {
		if got := codeOf(MayDecideReexecution(ReexecutionRequested, sel, c.who, parties)); got != c.code {
			t.Errorf("%s: got %q, want %q", name, got, c.code)
		}
	}
	for _, s := range States {
		if got := MayDecideReexecution(s, sel, person("usr_s", RoleOpsOwner), parties); (got == nil) != (s == ReexecutionRequested) {
			t.Errorf("%s: %v", s, got)
		}
	}
}

func TestSelector(t *testing.T) {
	named := Selector{Role: RoleApprover, User: "Ann@Example.test"}
	ann := Person{ID: "usr_a", Email: "ann@example.test", Active: true, Roles: []Role{RoleApprover}}
	if !named.Matches(ann) {
		t.Error("letter case of an address decides")
	}
	ann.Roles = []Role{RoleAuthor}
	if named.Matches(ann) {
		t.Error("the named person has lost the role")
	}
	if (Selector{}).Matches(ann) || (Selector{User: ann.Email}).Matches(ann) {
		t.Error("a selector without a role names somebody")
	}
}

func TestCheckPolicy(t *testing.T) {
	both := person("usr_a", RoleAuthor, RoleApprover)
	writer, approver := person("usr_w", RoleAuthor), person("usr_b", RoleApprover)
	off := person("usr_x", RoleApprover)
	off.Active = false
	two := Policy{Approvers: Selector{Role: RoleApprover}, Required: 2, SeparateAuthor: true}
	one := two
	one.Required = 1
	rows := []struct {
		name          string
		p             Policy
		people        []Person
		plain, writes bool
	}{
		{"nobody", one, nil, false, false},
		{"only a deactivated one", one, []Person{off}, false, false},
		{"one person counted twice", two, []Person{approver, approver}, false, false},
		{"two approvers", two, []Person{both, approver, writer}, true, true},
		{"the only author is one of two approvers", two, []Person{both, approver}, true, false},
		{"author and approver are one person", one, []Person{both}, true, false},
		{"author is somebody else", one, []Person{writer, approver}, true, true},
		{"no author at all: a model or a job writes", one, []Person{approver}, true, true},
	}
	for _, r := range rows {
		if got := CheckPolicy(r.p, r.people) == nil; got != r.plain {
			t.Errorf("%s: rendered content can be approved: %v", r.name, got)
		}
		if got := CheckDraftedPolicy(r.p, r.people) == nil; got != r.writes {
			t.Errorf("%s: written content can be approved: %v", r.name, got)
		}
	}
	if s := CheckPolicy(two, []Person{approver}); s == nil || s.Need != 2 || s.Have != 1 || s.Selector.Role != RoleApprover {
		t.Errorf("the shortage is not named: %+v", s)
	}
	ops := Selector{Role: RoleOpsOwner}
	if CheckReexecutionPolicy(ops, 1, ops, []Person{person("usr_r", RoleOpsOwner)}) == nil {
		t.Error("the only ops owner would give the second decision on the own case")
	}
	if s := CheckReexecutionPolicy(ops, 1, ops, []Person{person("usr_r", RoleOpsOwner), person("usr_s", RoleOpsOwner)}); s != nil {
		t.Errorf("two ops owners are enough: %+v", s)
	}
	if CheckReexecutionPolicy(ops, 1, Selector{Role: RoleAuditor}, []Person{person("usr_r", RoleOpsOwner)}) == nil {
		t.Error("nobody can review")
	}
}
