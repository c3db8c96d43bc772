package operation

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// crew is who takes part in the properties below.
var crew = []UserID{"usr_a", "usr_b", "usr_c", "usr_d"}

// drawCapacity draws somebody who decides, mostly as the rules permit it.
func drawCapacity(t *rapid.T, now time.Time) Capacity {
	one := func(label string) Person {
		p := person(rapid.SampledFrom(crew).Draw(t, label), RoleApprover)
		p.Active = rapid.IntRange(0, 9).Draw(t, label+" gone") > 0
		if rapid.IntRange(0, 9).Draw(t, label+" without role") == 0 {
			p.Roles = []Role{RoleAuditor}
		}
		if rapid.IntRange(0, 9).Draw(t, label+" second account") == 0 {
			p.ID, p.Natural = p.ID+"_2", p.ID
		}
		return p
	}
	c := Own(one("who"))
	if rapid.Bool().Draw(t, "for another") {
		c.For, c.Flow, c.Now = one("for"), "f", now
		c.By = Delegation{ID: "dgn_1", From: c.For.ID, To: c.Who.ID, Roles: []Role{rapid.SampledFrom([]Role{RoleApprover, RoleApprover, RoleOpsOwner}).Draw(t, "role")},
			StartsAt: now.Add(time.Duration(rapid.IntRange(-2, 1).Draw(t, "start")) * time.Hour), EndsAt: now.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "end")) * time.Hour)}
		if rapid.Bool().Draw(t, "one flow") {
			c.By.Flows = []string{rapid.SampledFrom([]string{"f", "g"}).Draw(t, "flow")}
		}
		if rapid.IntRange(0, 5).Draw(t, "revoked") == 0 {
			c.By.RevokedAt = now.Add(-time.Minute)
		}
	}
	return c
}

// TestDelegationProperties: whatever sequence of people, capacities and withdrawals comes,
// no natural person counts twice, no party counts, and everybody counted was entitled.
func TestDelegationProperties(t *testing.T) {
	now := time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		p := Policy{Approvers: Selector{Role: RoleApprover}, Required: rapid.IntRange(1, 3).Draw(t, "required"), SeparateAuthor: rapid.Bool().Draw(t, "apart")}
		parties := rapid.SliceOfN(rapid.SampledFrom(crew), 0, 2).Draw(t, "parties")
		var given []Given
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			c := drawCapacity(t, now)
			d := rapid.SampledFrom([]Decision{Approve, Approve, Approve, Withdraw}).Draw(t, "decision")
			if MayDecideAs(PendingApproval, p, c, parties, given, d) != nil {
				continue
			}
			if d == Approve {
				checkPermitted(t, p, c, parties, now)
			}
			given = append(given, Given{User: c.Who.One(), Decision: d, For: map[bool]UserID{true: c.Principal()}[d == Approve]})
		}
		seen, n := map[UserID]bool{}, 0
		for _, g := range standing(given) {
			n++
			for _, u := range g.people() {
				if seen[u] {
					t.Fatalf("%s counts twice in %v", u, given)
				}
				seen[u] = true
			}
		}
		if QuorumReached(p, given) != (n >= p.Required) {
			t.Fatalf("%d approvals stand, quorum of %d: %v", n, p.Required, QuorumReached(p, given))
		}
	})
}

func checkPermitted(t *rapid.T, p Policy, c Capacity, parties []UserID, now time.Time) {
	switch {
	case !c.Who.Active:
		t.Fatal("somebody who is gone approves")
	case !c.Delegated():
		if !c.Who.Has(RoleApprover) || p.SeparateAuthor && slices.Contains(parties, c.Who.One()) {
			t.Fatalf("%v approves with parties %v", c.Who, parties)
		}
		return
	case !c.By.LiveAt(now) || !c.By.Covers(RoleApprover, "f"):
		t.Fatalf("a delegation that does not hold is used: %+v", c.By)
	case !c.For.Has(RoleApprover):
		t.Fatal("for somebody who may not approve")
	case c.Who.One() == c.For.One():
		t.Fatal("for oneself")
	}
	for _, u := range c.People() {
		if slices.Contains(parties, u) {
			t.Fatalf("a party decides through a delegation: %v of %v", u, parties)
		}
	}
}

// TestQuorumNeverCountsTwice holds for any decisions, also those that the rules would
// never have let in.
func TestQuorumNeverCountsTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		given := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Given {
			return Given{User: rapid.SampledFrom(crew).Draw(t, "user"), Decision: Approve, For: rapid.SampledFrom(append([]UserID{""}, crew...)).Draw(t, "for")}
		}), 0, 8).Draw(t, "given")
		people := map[UserID]bool{}
		for _, g := range given {
			people[g.User], people[g.For] = true, true
		}
		delete(people, "")
		if required := len(people) + 1; QuorumReached(Policy{Required: required}, given) {
			t.Fatalf("%d people make a quorum of %d: %v", len(people), required, given)
		}
		var list []Approver
		for _, g := range given {
			list = append(list, Approver{User: g.User, For: g.For, Entitled: true})
		}
		f := Facts{Version: VersionFacts{ID: "ver", Hash: [32]byte{1}}, Clearance: &Clearance{ID: "clr", VersionID: "ver", Hash: [32]byte{1}, Required: len(people) + 1, Approvers: list}}
		if permitClearance(f, time.Now()) == nil {
			t.Fatalf("the gate counts more than %d people in %v", len(people), list)
		}
	})
}

// TestDelegationIsNotTransitive: whoever holds a role only by a delegation hands nothing on.
func TestDelegationIsNotTransitive(t *testing.T) {
	now := time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)
	p := Policy{Approvers: Selector{Role: RoleApprover}, Required: 1}
	middle, last := person("usr_b", RoleOpsOwner), person("usr_c", RoleOpsOwner) // b approves for a, and not on their own
	by := Delegation{ID: "dgn_2", From: middle.ID, To: last.ID, Roles: []Role{RoleApprover}, StartsAt: now.Add(-time.Hour), EndsAt: now.Add(time.Hour)}
	c := Capacity{Who: last, For: middle, By: by, Flow: "f", Now: now}
	if got := codeOf(MayDecideAs(PendingApproval, p, c, nil, nil, Approve)); got != CodeDelegatorNotEntitled {
		t.Errorf("got %q", got)
	}
	if got := codeOf(MayDelegate(by, middle, last, now)); got != CodeNotEntitled {
		t.Errorf("handed on: %q", got)
	}
}

func TestMayDecideAs(t *testing.T) {
	now := time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)
	p := Policy{Approvers: Selector{Role: RoleApprover}, Required: 2}
	a, b := person("usr_a", RoleApprover), person("usr_b", RoleApprover)
	c := Capacity{Who: b, For: a, Flow: "f", Now: now,
		By: Delegation{ID: "dgn_1", From: a.ID, To: b.ID, Roles: []Role{RoleApprover}, StartsAt: now, EndsAt: now.Add(time.Hour)}}
	with := func(change func(*Capacity)) Capacity { x := c; change(&x); return x }
	forA := Given{User: "usr_b", Decision: Approve, For: "usr_a"}
	for name, r := range map[string]struct {
		c       Capacity
		parties []UserID
		given   []Given
		d       Decision
		code    Code
	}{
		"from its first moment":              {c, nil, nil, Approve, CodeOK},
		"not at its end":                     {with(func(c *Capacity) { c.Now = now.Add(time.Hour) }), nil, nil, Approve, CodeDelegation},
		"not before":                         {with(func(c *Capacity) { c.Now = now.Add(-time.Nanosecond) }), nil, nil, Reject, CodeDelegation},
		"not in another flow":                {with(func(c *Capacity) { c.By.Flows = []string{"g"} }), nil, nil, Approve, CodeDelegation},
		"somebody else's delegation":         {with(func(c *Capacity) { c.By.To = "usr_c" }), nil, nil, Approve, CodeNotEntitled},
		"the person acted for is gone":       {with(func(c *Capacity) { c.For.Active = false }), nil, nil, Approve, CodeDelegatorNotEntitled},
		"who acts is gone":                   {with(func(c *Capacity) { c.Who.Active = false }), nil, nil, Approve, CodeNotEntitled},
		"who acts is a party":                {c, []UserID{"usr_b"}, nil, Approve, CodePartyFor},
		"the person acted for is a party":    {c, []UserID{"usr_a"}, nil, Approve, CodePartyFor},
		"a party may still refuse":           {c, []UserID{"usr_a"}, nil, Reject, CodeOK},
		"own, then for another":              {c, nil, []Given{{User: "usr_b", Decision: Approve}}, Approve, CodeCountedOnce},
		"the person acted for has approved":  {c, nil, []Given{{User: "usr_a", Decision: Approve}}, Approve, CodeCountedOnce},
		"for another, then own":              {Own(b), nil, []Given{forA}, Approve, CodeCountedOnce},
		"the person acted for comes back":    {Own(a), nil, []Given{forA}, Approve, CodeCountedOnce},
		"twice":                              {c, nil, []Given{forA}, Approve, CodeAlreadyDecided},
		"who acted takes it back":            {Own(b), nil, []Given{forA}, Withdraw, CodeOK},
		"the person acted for takes it back": {Own(a), nil, []Given{forA}, Withdraw, CodeOK},
		"taken back, then own":               {Own(a), nil, []Given{forA, {User: "usr_b", Decision: Withdraw}}, Approve, CodeOK},
	} {
		if got := codeOf(MayDecideAs(PendingApproval, p, r.c, r.parties, r.given, r.d)); got != r.code {
			t.Errorf("%s: %q, want %q", name, got, r.code)
		}
	}
	for name, r := range map[string]struct {
		parties []UserID
		given   []Given
		code    Code
	}{"free": {nil, nil, CodeOK}, "a party acted for": {[]UserID{"usr_a"}, nil, CodePartyFor}, "counts already": {nil, []Given{{User: "usr_a", Decision: Approve}}, CodeCountedOnce}} {
		if got := codeOf(MayDecideReexecutionAs(ReexecutionRequested, p.Approvers, c, r.parties, r.given)); got != r.code {
			t.Errorf("re-execution, %s: %q, want %q", name, got, r.code)
		}
	}
}

func TestMayDelegate(t *testing.T) {
	now := time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)
	a, b := person("usr_a", RoleApprover), person("usr_b", RoleOpsOwner)
	good := Delegation{From: a.ID, To: b.ID, Roles: []Role{RoleApprover}, StartsAt: now, EndsAt: now.Add(time.Hour)}
	gone, audit, same := b, person("usr_b", RoleAuditor, RoleAuthor), b
	gone.Active, same.Natural = false, a.ID
	for name, r := range map[string]struct {
		to     Person
		change func(*Delegation)
		code   Code
	}{
		"good":               {b, func(*Delegation) {}, CodeOK},
		"to somebody gone":   {gone, func(*Delegation) {}, CodeDelegate},
		"to an auditor":      {audit, func(*Delegation) {}, CodeDelegate},
		"to oneself":         {same, func(*Delegation) {}, CodeDelegate},
		"no role":            {b, func(d *Delegation) { d.Roles = nil }, CodeReasonMissing},
		"a role not held":    {b, func(d *Delegation) { d.Roles = []Role{RoleAdmin} }, CodeNotEntitled},
		"not to be lent":     {b, func(d *Delegation) { d.Roles = []Role{RoleAuthor} }, CodeNotEntitled},
		"over":               {b, func(d *Delegation) { d.StartsAt, d.EndsAt = now.Add(-2*time.Hour), now }, CodeDelegationTime},
		"ends first":         {b, func(d *Delegation) { d.StartsAt = d.EndsAt }, CodeDelegationTime},
		"longer than a year": {b, func(d *Delegation) { d.EndsAt = now.Add(DelegationLimit + time.Second) }, CodeDelegationTime},
	} {
		d := good
		r.change(&d)
		if got := codeOf(MayDelegate(d, a, r.to, now)); got != r.code {
			t.Errorf("%s: %q, want %q", name, got, r.code)
		}
	}
}

// TestMayDecideTogether: a list never decides what needs its own page.
func TestMayDecideTogether(t *testing.T) {
	for _, s := range States {
		got := MayDecideTogether(Together{State: s}, Approve)
		if want := s == Unknown || s == Review || s == ReexecutionRequested; (got != nil) != want {
			t.Errorf("%s: %v", s, got)
		}
	}
	for name, f := range map[string]Together{"unsettled": {State: PendingApproval, Unsettled: 1}, "a request": {State: PendingApproval, Request: true}, "a second effect": {State: PendingApproval, Second: true}, "a suppressed recipient": {State: PendingApproval, Suppressed: true}} {
		if got := codeOf(MayDecideTogether(f, Approve)); got != CodeAlone {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, d := range []Decision{Reject, RequestChanges, Withdraw} {
		if got := codeOf(MayDecideTogether(Together{State: PendingApproval}, d)); got != CodeAlone {
			t.Errorf("%s: %q", d, got)
		}
	}
}
