package operation

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var teams = []Role{RoleApprover, RoleOpsOwner, RoleAdmin}

// drawGrouped draws a policy with groups of the roles of teams; several may ask the same role.
func drawGrouped(t *rapid.T, least int) Policy {
	p := Policy{SeparateAuthor: rapid.Bool().Draw(t, "apart")}
	for i := range rapid.IntRange(least, 4).Draw(t, "groups") {
		g := Group{Key: fmt.Sprint("g", i), Approvers: Selector{Role: rapid.SampledFrom(teams).Draw(t, "role")}, Required: rapid.IntRange(1, 2).Draw(t, "required")}
		p.Groups, p.Required = append(p.Groups, g), p.Required+g.Required
	}
	return p
}

// most tries every assignment of the approvals to places and gives the most that are filled.
func most(p Policy, given []Given) int {
	left := map[string]int{}
	for _, g := range p.Groups {
		left[g.Key] = g.Required
	}
	var try func(i int) int
	try = func(i int) int {
		if i == len(given) {
			return 0
		}
		best := try(i + 1)
		for _, k := range given[i].Groups {
			if left[k] > 0 {
				left[k]--
				best = max(best, 1+try(i+1))
				left[k]++
			}
		}
		return best
	}
	return try(0)
}

// TestGroupProperties: whatever sequence of people, capacities and withdrawals comes, each
// place is filled by another natural person who is entitled for its group, no party counts,
// and the quorum is reached exactly when some assignment fills every place.
func TestGroupProperties(t *testing.T) {
	now := time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		p := drawGrouped(t, 1)
		parties := rapid.SliceOfN(rapid.SampledFrom(crew), 0, 1).Draw(t, "parties")
		var given []Given
		for range rapid.IntRange(1, 14).Draw(t, "steps") {
			c := drawCapacity(t, now)
			c.Who.Roles = rapid.SliceOfNDistinct(rapid.SampledFrom(teams), 0, 2, rapid.ID).Draw(t, "roles")
			if c.Delegated() {
				c.For.Roles = rapid.SliceOfNDistinct(rapid.SampledFrom(teams), 0, 2, rapid.ID).Draw(t, "giver's roles")
			}
			d := rapid.SampledFrom([]Decision{Approve, Approve, Approve, Withdraw}).Draw(t, "decision")
			next := Given{User: c.Who.One(), Decision: d}
			if d == Approve {
				next.For, next.Groups = c.Principal(), c.Fits(p)
			}
			before := most(p, standing(given))
			if d == Approve && QuorumReached(p, given) {
				continue // it is cleared, and waits for nobody
			}
			r := MayDecideAs(PendingApproval, p, c, parties, given, d)
			if codeOf(r) == CodeGroupFilled && most(p, append(standing(given), next)) > before {
				t.Fatalf("%v could fill a place and is refused, beside %v", next, given)
			}
			if r != nil {
				continue
			}
			given = append(given, next)
			if d != Approve {
				if most(p, standing(given)) != before-1 || QuorumReached(p, given) {
					t.Fatalf("a withdrawal opens no place: %v", given)
				}
				continue
			}
			checkPlaces(t, p, c, parties, given, before)
		}
	})
}

// checkPlaces checks what holds after each approval that the rules let in.
func checkPlaces(t *rapid.T, p Policy, c Capacity, parties []UserID, given []Given, before int) {
	if p.SeparateAuthor && !c.Delegated() && slices.Contains(parties, c.Who.One()) {
		t.Fatal("a party approves")
	}
	if len(c.Fits(p)) == 0 {
		t.Fatal("an approval from outside of every group")
	}
	if best := most(p, standing(given)); best != before+1 || QuorumReached(p, given) != (best == p.Required) {
		t.Fatalf("%d of %d places can be filled, quorum: %v", best, p.Required, QuorumReached(p, given))
	}
	n, seen := 0, map[UserID]bool{}
	for _, f := range p.Fill(given) {
		if len(f.By) > f.Group.Required {
			t.Fatalf("%d fill the %d places of %s", len(f.By), f.Group.Required, f.Group.Key)
		}
		for _, i := range f.By {
			n++
			if !slices.Contains(given[i].Groups, f.Group.Key) {
				t.Fatalf("%v fills a place of %s", given[i], f.Group.Key)
			}
			for _, u := range given[i].people() {
				if seen[u] {
					t.Fatalf("%s fills two places", u)
				}
				seen[u] = true
			}
		}
	}
	if n != len(standing(given)) {
		t.Fatalf("%d approvals stand, %d places are filled", len(standing(given)), n)
	}
}

// TestGroupQuorumAnyDecisions holds for any decisions, also those that the rules would never
// have let in, and the gate counts as the quorum does.
func TestGroupQuorumAnyDecisions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawGrouped(t, 1)
		keys := make([]string, len(p.Groups))
		for i, g := range p.Groups {
			keys[i] = g.Key
		}
		given := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Given {
			return Given{User: rapid.SampledFrom(crew).Draw(t, "user"), Decision: Approve, For: rapid.SampledFrom([]UserID{"", "", "", "usr_e", "usr_f"}).Draw(t, "for"),
				Groups: rapid.SliceOfNDistinct(rapid.SampledFrom(keys), 0, len(keys), rapid.ID).Draw(t, "groups")}
		}), 0, 7).Draw(t, "given")
		var once []Given // who counts: nobody twice, the older approval first
		for _, i := range countable(given) {
			once = append(once, given[i])
		}
		people := map[UserID]bool{}
		for _, g := range once {
			for _, u := range g.people() {
				if people[u] {
					t.Fatalf("%s counts twice in %v", u, once)
				}
				people[u] = true
			}
		}
		reached := QuorumReached(p, given)
		if reached != (most(p, once) == p.Required) {
			t.Fatalf("quorum %v of %v with %v", reached, p.Groups, given)
		}
		if filled := filledOf(p.Fill(given)); filled != most(p, once) {
			t.Fatalf("%d places are filled, %d can be", filled, most(p, once))
		}
		if fmt.Sprint(p.Fill(given)) != fmt.Sprint(p.Fill(slices.Clone(given))) {
			t.Fatal("the same decisions fill other places")
		}
		var list []Approver
		for _, g := range once {
			list = append(list, Approver{User: g.User, For: g.For, Entitled: len(g.Groups) > 0, Groups: g.Groups})
		}
		f := Facts{Version: VersionFacts{ID: "ver", Hash: [32]byte{1}}, Clearance: &Clearance{ID: "clr", VersionID: "ver", Hash: [32]byte{1}, Required: p.Required, Groups: p.Groups, Approvers: list}}
		if (permitClearance(f, time.Now()) == nil) != reached {
			t.Fatalf("quorum %v, the gate says %v", reached, permitClearance(f, time.Now()))
		}
		if len(list) > 0 && reached {
			f.Clearance.Approvers[rapid.IntRange(0, len(list)-1).Draw(t, "gone")].Entitled = false
			if len(list) == p.Required && permitClearance(f, time.Now()) == nil {
				t.Fatal("the gate lets it pass without one of its people")
			}
		}
	})
}

// TestOneGroupIsTheOldRule: one group permits, refuses and counts as its approvers alone do.
func TestOneGroupIsTheOldRule(t *testing.T) {
	now := time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		old := Policy{Approvers: Selector{Role: RoleApprover}, Required: rapid.IntRange(1, 3).Draw(t, "required"), SeparateAuthor: rapid.Bool().Draw(t, "apart")}
		grouped := Policy{Required: old.Required, SeparateAuthor: old.SeparateAuthor, Groups: []Group{{Key: "all", Approvers: old.Approvers, Required: old.Required}}}
		parties := rapid.SliceOfN(rapid.SampledFrom(crew), 0, 2).Draw(t, "parties")
		var given []Given
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			c := drawCapacity(t, now)
			d := rapid.SampledFrom([]Decision{Approve, Approve, Approve, Withdraw, Reject, RequestChanges}).Draw(t, "decision")
			was, is := codeOf(MayDecideAs(PendingApproval, old, c, parties, given, d)), codeOf(MayDecideAs(PendingApproval, grouped, c, parties, given, d))
			if was != is {
				t.Fatalf("%s: was %q, is %q", d, was, is)
			}
			if was != "" || is != "" || d == Reject || d == RequestChanges {
				continue
			}
			next := Given{User: c.Who.One(), Decision: d}
			if d == Approve {
				next.For, next.Groups = c.Principal(), c.Fits(grouped)
			}
			given = append(given, next)
			if QuorumReached(old, given) != QuorumReached(grouped, given) {
				t.Fatalf("quorum differs for %v", given)
			}
		}
	})
}

// TestGroupShortage: a flow is refused exactly when no assignment of its people fills all.
func TestGroupShortage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawGrouped(t, 2)
		var people []Person
		var given []Given
		for _, id := range crew[:rapid.IntRange(0, len(crew)).Draw(t, "people")] {
			who := person(id, rapid.SliceOfNDistinct(rapid.SampledFrom(teams), 0, 2, rapid.ID).Draw(t, "roles")...)
			people = append(people, who)
			given = append(given, Given{User: id, Decision: Approve, Groups: p.GroupsOf(who, Delegation{}, "")})
		}
		s := CheckPolicy(p, people)
		if (s == nil) != (most(p, given) == p.Required) {
			t.Fatalf("%+v with %v", s, given)
		}
		if s != nil && (s.Group == "" || s.Have >= s.Need) {
			t.Fatalf("%+v", s)
		}
	})
	p := Policy{SeparateAuthor: true, Required: 2, Groups: []Group{{Key: "a", Approvers: Selector{Role: RoleApprover}, Required: 1}, {Key: "b", Approvers: Selector{Role: RoleOpsOwner}, Required: 1}}}
	two := []Person{person("usr_a", RoleApprover, RoleAuthor), person("usr_b", RoleOpsOwner)}
	if CheckPolicy(p, two) != nil || CheckDraftedPolicy(p, two) == nil {
		t.Error("the author is the only approver, and it is not said")
	}
}

// TestGroupRefusals: who cannot approve is told why, and who can.
func TestGroupRefusals(t *testing.T) {
	p := Policy{SeparateAuthor: true, Required: 2, Groups: []Group{{Key: "contact", Approvers: Selector{Role: RoleApprover}, Required: 1}, {Key: "compliance", Approvers: Selector{Role: RoleOpsOwner}, Required: 1}}}
	given := []Given{{User: "usr_a", Decision: Approve, Groups: []string{"contact"}}}
	for name, r := range map[string]struct {
		who  Person
		d    Decision
		code Code
		by   Role
	}{
		"filled":            {person("usr_b", RoleApprover), Approve, CodeGroupFilled, RoleOpsOwner},
		"filled, rejects":   {person("usr_b", RoleApprover), Reject, CodeOK, ""},
		"no member":         {person("usr_b", RoleAdmin), Approve, CodeNotEntitled, RoleOpsOwner},
		"no member rejects": {person("usr_b", RoleAdmin), Reject, CodeNotEntitled, RoleOpsOwner},
		"wrote it":          {person("usr_w", RoleOpsOwner), Approve, CodeOwnContent, RoleOpsOwner},
		"the open group":    {person("usr_b", RoleOpsOwner), Approve, CodeOK, ""},
		"both groups":       {person("usr_b", RoleOpsOwner, RoleApprover), Approve, CodeOK, ""},
		"again":             {person("usr_a", RoleApprover, RoleOpsOwner), Approve, CodeAlreadyDecided, ""},
	} {
		got := MayDecide(PendingApproval, p, r.who, []UserID{"usr_w"}, given, r.d)
		if codeOf(got) != r.code || got != nil && got.Who.Role != r.by {
			t.Errorf("%s: %v", name, got)
		}
	}
	// one who fits both gives way to one who fits only the first
	both := []Given{{User: "usr_a", Decision: Approve, Groups: []string{"contact", "compliance"}}}
	if r := MayDecide(PendingApproval, p, person("usr_b", RoleApprover), nil, both, Approve); r != nil || p.Asks(both).Role != RoleOpsOwner {
		t.Errorf("%v, asks %v", r, p.Asks(both))
	}
	if p.Asks(nil).Role != RoleApprover || p.Asks(given).Role != RoleOpsOwner {
		t.Error("the next decision is not the first group's with an open place")
	}
}

// TestPolicyWithoutGroupsIsWrittenAsBefore: what was submitted before groups were known
// reads and writes as it stood.
func TestPolicyWithoutGroupsIsWrittenAsBefore(t *testing.T) {
	const stored = `{"approvers":{"role":"approver"},"required":2,"separate_author":true,"expires":259200000000000,"due":14400000000000,"remind":0}`
	var p Policy
	if err := json.Unmarshal([]byte(stored), &p); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(p)
	if err != nil || string(raw) != stored || p.Grouped() {
		t.Errorf("%s, %v", raw, err)
	}
	given := []Given{{User: "usr_a", Decision: Approve}, {User: "usr_b", Decision: Approve}}
	if QuorumReached(p, given[:1]) || !QuorumReached(p, given) {
		t.Error("the old rule changed")
	}
}
