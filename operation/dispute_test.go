package operation

import (
	"testing"
	"time"
)

// disputedFacts is an operation whose effect was disputed; nobody has settled that yet.
func disputedFacts() Facts {
	f := readyFacts()
	f.State, f.Disputed, f.AttemptsUsed, f.AttemptsEver = Review, true, 1, 1
	f.Protection.HasLookup = true
	return f
}

// Nothing but a person settles a dispute: no evidence of an effect moves it, whatever brings it.
func TestDisputedIsSettledByAPerson(t *testing.T) {
	f := disputedFacts()
	for _, s := range States {
		if evs := EffectFound(s, true); len(evs) > 0 {
			t.Errorf("disputed in %s: an effect that is found leads to %v", s, evs)
		}
	}
	for _, r := range []LookupResult{LookupOne, LookupNone, LookupMany, LookupMismatch, LookupUnreachable} {
		a := AfterLookup(f, LookupFinding{Result: r, ID: "ref_1"}, retries, at1h)
		if len(a.Events) > 0 || !a.RetryAt.IsZero() {
			t.Errorf("a lookup with %s: %+v", r, a)
		}
		if a.DuplicateSuspected != (r == LookupMany) {
			t.Errorf("a lookup with %s: a duplicate is suspected: %v", r, a.DuplicateSuspected)
		}
	}
	if a := AfterLateReport(f, Result{Outcome: OutcomeConfirmed, TargetReference: "ref_1"}, "", at1h); len(a.Events) > 0 || !a.RetryAt.IsZero() {
		t.Errorf("a late report: %+v", a)
	}
	if n := NextFor(f, People{Reviewer: Responsible{Role: RoleOpsOwner}}, Due{}, Responsible{}, time.Time{}, time.Time{}, at1h); n.Kind != DecideReconcile || n.Who.Role != RoleOpsOwner {
		t.Errorf("it is the turn of %+v", n)
	}
	if r := MayStateEffect(f.State, ops, opsR); r != nil {
		t.Errorf("the reviewer cannot say that the effect is there: %v", r)
	}
	if r := MayConfirmNotDone(f, answered(at1h.Add(23*time.Hour)), nil, at1h.Add(24*time.Hour)); r != nil {
		t.Errorf("the reviewer cannot say that it is not: %v", r)
	}
}

// Lookups of what is disputed come ever more rarely, and end with the one that finds the effect.
func TestLookupsOfADisputeEnd(t *testing.T) {
	for _, r := range []LookupResult{LookupNone, LookupMany, LookupMismatch, LookupUnreachable} {
		f, now, last := disputedFacts(), at1h, time.Duration(0)
		for n := 1; n <= 12; n++ {
			f.Misses = n - 1
			wait := AfterLookup(f, LookupFinding{Result: r}, retries, now).LookupAt.Sub(now)
			f.Misses = n // whether this lookup is counted already makes no difference but the first time
			counted := AfterLookup(f, LookupFinding{Result: r}, retries, now).LookupAt.Sub(now)
			if wait <= 0 || counted < last || counted < wait {
				t.Fatalf("%s: lookup %d after %v, counted %v, before it %v", r, n, wait, counted, last)
			}
			last = counted
		}
		if last != retries.MaxInterval {
			t.Errorf("%s: after 12 lookups the next one comes after %v, want %v", r, last, retries.MaxInterval)
		}
	}
	if a := AfterLookup(disputedFacts(), LookupFinding{Result: LookupOne, ID: "ref_1"}, retries, at1h); !a.LookupAt.IsZero() {
		t.Errorf("it was found, and is looked for again at %v", a.LookupAt)
	}
}

func TestReports(t *testing.T) {
	for kind, results := range map[string]map[string]bool{
		"lookup":      {"one": true, "none": false, "many": false, "mismatch": false, "unreachable": false},
		"callback":    {"effect": true, "accepted": true, "delivered": true, "bounced": true, "contradiction": false, "news": false},
		"late_report": {"confirmed": true, "unknown": false, "not_started": false},
		"statement":   {"": false, "one": false, "confirmed": false},
	} {
		for result, want := range results {
			if got := Reports(kind, result); got != want {
				t.Errorf("%s %s: %v", kind, result, got)
			}
		}
	}
}

// Who may begin a dispute is named whole to whoever may not; auditors are never among them.
func TestMayBeginDispute(t *testing.T) {
	for _, tt := range []struct {
		reviewer Selector
		who      Role
		asked    string // "" = they may
	}{
		{Selector{Role: RoleOpsOwner}, RoleApprover, ""}, {Selector{Role: RoleAdmin}, RoleAdmin, ""}, {Selector{Role: RoleAdmin}, RoleOpsOwner, ""},
		{Selector{Role: RoleOpsOwner}, RoleAuthor, "ops_owner approver"}, {Selector{Role: RoleAdmin}, RoleAuditor, "admin approver ops_owner"},
		{Selector{User: "kim@example.test"}, RoleAdmin, "approver ops_owner"},
	} {
		r := MayBeginDispute(tt.reviewer, Person{ID: "usr_x", Active: true, Roles: []Role{tt.who}})
		if (r == nil) != (tt.asked == "") || r != nil && (r.Code != CodeNotEntitled || r.Params["roles"] != tt.asked) {
			t.Errorf("%s where %+v reviews: %v", tt.who, tt.reviewer, r)
		}
	}
}
