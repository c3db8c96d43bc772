package operation

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func one(s State) []StageOperation { return []StageOperation{{State: s}} }

func TestSatisfied(t *testing.T) {
	mail := func(s State, d Delivery) []StageOperation { return []StageOperation{{State: s, Delivery: d}} }
	rows := []struct {
		name               string
		s                  StageFacts
		satisfied, blocked bool
	}{
		{"confirmed", StageFacts{Operations: one(Confirmed)}, true, false},
		{"under way", StageFacts{Operations: one(Unknown)}, false, false},
		{"disputed after confirmed", StageFacts{Operations: one(Review)}, false, false},
		{"rejected", StageFacts{Operations: one(Rejected)}, false, true},
		{"cancelled", StageFacts{Operations: one(Cancelled)}, false, true},
		{"not executed", StageFacts{Operations: one(NotExecuted)}, false, true},
		{"rejected, but the owner goes on without", StageFacts{Operations: one(Rejected), GoOn: true}, true, false},
		{"no operation yet", StageFacts{}, false, false},
		{"its replacement confirmed", StageFacts{Operations: append(one(Rejected), one(Confirmed)...)}, true, false},
		{"its replacement under way", StageFacts{Operations: append(one(Rejected), one(Draft)...)}, false, false},
		{"its replacement rejected as well", StageFacts{Operations: append(one(Cancelled), one(Rejected)...)}, false, true},
		{"mail accepted is enough", StageFacts{Need: NeedAccepted, Operations: mail(Confirmed, DeliveryAccepted)}, true, false},
		{"mail accepted is not delivered", StageFacts{Need: NeedDelivered, Operations: mail(Confirmed, DeliveryAccepted)}, false, false},
		{"mail delivered", StageFacts{Need: NeedDelivered, Operations: mail(Confirmed, DeliveryDelivered)}, true, false},
		{"mail complained about was delivered", StageFacts{Need: NeedDelivered, Operations: mail(Confirmed, DeliveryComplained)}, true, false},
		{"mail bounced", StageFacts{Need: NeedDelivered, Operations: mail(Confirmed, DeliveryBounced)}, false, true},
		{"mail not sent", StageFacts{Need: NeedDelivered, Operations: mail(Rejected, "")}, false, true},
		{"fan-out, items not known yet", StageFacts{FanOut: true, Need: NeedEveryConfirmed}, false, false},
		{"fan-out, items not all known", StageFacts{FanOut: true, Need: NeedEveryConfirmed, Operations: one(Confirmed)}, false, false},
		{"fan-out of nothing", StageFacts{FanOut: true, Expanded: true, Need: NeedEveryConfirmed}, true, false},
		{"every item confirmed", StageFacts{FanOut: true, Expanded: true, Need: NeedEveryConfirmed, Operations: []StageOperation{{Item: "a", State: Confirmed}, {Item: "b", State: Confirmed}}}, true, false},
		{"one item rejected", StageFacts{FanOut: true, Expanded: true, Need: NeedEveryConfirmed, Operations: []StageOperation{{Item: "a", State: Confirmed}, {Item: "b", State: Rejected}}}, false, true},
		{"one item rejected, every item closed is enough", StageFacts{FanOut: true, Expanded: true, Need: NeedEveryClosed, Operations: []StageOperation{{Item: "a", State: Confirmed}, {Item: "b", State: Rejected}}}, true, false},
		{"one item open", StageFacts{FanOut: true, Expanded: true, Need: NeedEveryClosed, Operations: []StageOperation{{Item: "a", State: Confirmed}, {Item: "b", State: Ready}}}, false, false},
		{"an item's replacement open", StageFacts{FanOut: true, Expanded: true, Need: NeedEveryClosed, Operations: []StageOperation{{Item: "a", State: Cancelled}, {Item: "a", State: Ready}}}, false, false},
	}
	for _, r := range rows {
		if Satisfied(r.s) != r.satisfied || Blocked(r.s) != r.blocked {
			t.Errorf("%s: satisfied %v blocked %v, want %v %v", r.name, Satisfied(r.s), Blocked(r.s), r.satisfied, r.blocked)
		}
	}
}

func TestRunStateOf(t *testing.T) {
	st := func(states ...State) (out []StageFacts) {
		for i, s := range states {
			out = append(out, StageFacts{Key: string(rune('a' + i)), Operations: one(s)})
		}
		return out
	}
	for _, r := range []struct {
		stages  []StageFacts
		stopped bool
		want    RunState
	}{
		{st(Confirmed, Confirmed), false, RunCompleted}, {st(Confirmed, Waiting), false, RunOpen}, {st(Rejected, Waiting), false, RunBlocked},
		{st(Confirmed, NotExecuted), false, RunBlocked}, {st(Confirmed, Confirmed), true, RunStopped}, {nil, false, RunOpen},
	} {
		if got := RunStateOf(r.stages, r.stopped); got != r.want {
			t.Errorf("%+v: %s, want %s", r.stages, got, r.want)
		}
	}
	stages := st(Confirmed, Review, Waiting)
	if got := EarlierOpen(stages, 2); !slices.Equal(got, []string{"b"}) {
		t.Errorf("got %v", got)
	}
	if got := EarlierOpen(stages, 0); len(got) > 0 {
		t.Errorf("nothing is earlier than the first stage: %v", got)
	}
}

func TestCheckReport(t *testing.T) {
	listed := []string{"refused", "exit_1"}
	rows := []struct {
		name       string
		outcome    Outcome
		code, ref  string
		dispatched bool
		want       Outcome
		refused    Code
	}{
		{"confirmed with its reference", OutcomeConfirmed, "", "crm-1", true, OutcomeConfirmed, CodeOK},
		{"confirmed without", OutcomeConfirmed, "ok", " ", true, OutcomeUnknown, CodeReferenceMissing},
		{"confirmed before dispatch", OutcomeConfirmed, "", "crm-1", false, OutcomeUnknown, CodeForbiddenMove},
		{"listed code", OutcomeNotStarted, "refused", "", true, OutcomeNotStarted, CodeOK},
		{"code that is not listed", OutcomeNotStarted, "oops", "", true, OutcomeUnknown, CodeProofNotListed},
		{"no code", OutcomeNotStarted, "", "", true, OutcomeUnknown, CodeProofNotListed},
		{"an exit code is no proof, listed or not", OutcomeNotStarted, "exit_1", "", true, OutcomeUnknown, CodeProofNotListed},
		{"nor is a signal", OutcomeNotStarted, "signal:9", "", true, OutcomeUnknown, CodeProofNotListed},
		{"unknown", OutcomeUnknown, "exit_1", "", true, OutcomeUnknown, CodeOK},
		{"anything before dispatch is not_started", OutcomeUnknown, "", "", false, OutcomeNotStarted, CodeOK},
		{"not_started before dispatch", OutcomeNotStarted, "", "", false, OutcomeNotStarted, CodeOK},
	}
	for _, r := range rows {
		got, refused := CheckReport(r.outcome, r.code, listed, r.ref, r.dispatched)
		if got != r.want || codeOf(refused) != r.refused {
			t.Errorf("%s: got %s %v, want %s %q", r.name, got, refused, r.want, r.refused)
		}
	}
	for code, want := range map[string]bool{"exit": true, "Exit-Code: 2": true, "signal:9": true, "exit_code_137": true, "exists": false, "429": false, "exit_refused": false} {
		if exitCode(code) != want {
			t.Errorf("%q is an exit code: %v", code, !want)
		}
	}
}

// FC-30: a late report under a stale fence is evidence and changes nothing else, unless
// it proves the effect.
func TestFieldCase30_LateReport(t *testing.T) {
	for _, s := range States {
		f := unknownFacts()
		f.State = s
		for _, o := range []Outcome{OutcomeUnknown, OutcomeNotStarted} {
			a := AfterLateReport(f, Result{Outcome: o, Permanent: true}, "", at1h)
			if len(a.Events) > 0 || a.DuplicateSuspected || !a.RetryAt.Equal(f.RetryAt) || !a.LookupAt.Equal(f.LookupAt) {
				t.Errorf("%s, late %s: %+v", s, o, a)
			}
		}
		a := AfterLateReport(f, Result{Outcome: OutcomeConfirmed, TargetReference: "ref_1"}, "", at1h)
		if !slices.Equal(a.Events, EffectFound(s, false)) || a.DuplicateSuspected || !a.RetryAt.IsZero() {
			t.Errorf("%s, late effect: %+v", s, a)
		}
	}
	f := unknownFacts()
	f.State = Confirmed
	if a := AfterLateReport(f, Result{Outcome: OutcomeConfirmed, TargetReference: "ref_1"}, "ref_1", at1h); a.DuplicateSuspected {
		t.Error("the same effect twice is no duplicate")
	}
	if a := AfterLateReport(f, Result{Outcome: OutcomeConfirmed, TargetReference: "ref_2"}, "ref_1", at1h); !a.DuplicateSuspected {
		t.Error("another effect is a suspected duplicate")
	}
	f.Unsettled = append(f.Unsettled, f.Unsettled[0])
	f.State = Unknown
	if a := AfterLateReport(f, Result{Outcome: OutcomeConfirmed, TargetReference: "x"}, "", at1h); !a.LookupAt.After(at1h) {
		t.Error("another attempt may also have had an effect, and nobody looks")
	}
}

func TestItemKeys(t *testing.T) {
	for _, k := range []string{"", " ", " a", "a ", "a\nb", "a\u0000", "e\u0301", strings.Repeat("x", 201), "\xff", HoleOpen} {
		if codeOf(CheckItemKey(k)) != CodeItemKey {
			t.Errorf("%q passes", k)
		}
	}
	for _, k := range []string{"a", "Kundin-ł-7", "a b", "é", "日本", strings.Repeat("x", 200)} {
		if r := CheckItemKey(k); r != nil {
			t.Errorf("%q: %v", k, r)
		}
	}
	if r := CheckItemKeys([]string{"a", "b", "a"}); codeOf(r) != CodeItemKey || r.Params["item"] != "a" {
		t.Errorf("a key used twice: %v", r)
	}
	if r := CheckItemKeys([]string{"a", ""}); r == nil {
		t.Error("an empty key passes")
	}
	if r := CheckItemKeys([]string{"a", "A"}); r != nil {
		t.Errorf("two keys are merged: %v", r)
	}
}

func TestBatchHash(t *testing.T) {
	a, b := hash(1), hash(2)
	seen := map[[32]byte]string{}
	for name, list := range map[string][][32]byte{"nothing": nil, "a": {a}, "b": {b}, "a b": {a, b}, "b a": {b, a}, "a a": {a, a}} {
		h := BatchHash(list)
		if other, ok := seen[h]; ok {
			t.Errorf("%s and %s have the same hash", name, other)
		}
		seen[h] = name
	}
	if again := BatchHash([][32]byte{a, b}); again != BatchHash([][32]byte{a, b}) {
		t.Error("the same list has two hashes")
	}
}

func TestNextFor(t *testing.T) {
	who := People{Author: Responsible{Role: RoleAuthor}, Approvers: Responsible{Role: RoleApprover}, Reviewer: Responsible{Role: RoleOpsOwner},
		Reexecute: Responsible{User: "usr_s"}, Owner: Responsible{User: "usr_o"}, PausedBy: Responsible{User: "usr_p"}}
	stage, sys := Responsible{Role: RoleApprover}, Responsible{System: true}
	lease, hold := at1h.Add(time.Minute), at1h.Add(48*time.Hour)
	rows := []struct {
		state State
		turn  func(*Facts)
		want  NextDecision
	}{
		{Draft, nil, NextDecision{DecideComplete, who.Author, at1h.Add(24 * time.Hour)}},
		{PendingApproval, nil, NextDecision{DecideApprove, who.Approvers, at1h.Add(4 * time.Hour)}},
		{Waiting, nil, NextDecision{DecideStage, stage, at1h.Add(4 * time.Hour)}},
		{Ready, nil, NextDecision{DecideTake, sys, at1h}},
		{Ready, func(f *Facts) { f.PausedFlow = true }, NextDecision{DecideResume, who.PausedBy, at1h.Add(4 * time.Hour)}},
		{RetryScheduled, func(f *Facts) { f.RetryAt = lease }, NextDecision{DecideTry, sys, lease}},
		{RetryScheduled, func(f *Facts) { f.PausedOperation = true }, NextDecision{DecideResume, who.PausedBy, at1h.Add(4 * time.Hour)}},
		{InProgress, nil, NextDecision{DecideFinish, sys, lease}},
		{Unknown, func(f *Facts) { f.RetryAt, f.LookupAt = hold, lease }, NextDecision{DecideCheck, sys, lease}},
		{Unknown, func(f *Facts) { f.RetryAt, f.PausedAll = lease, true }, NextDecision{DecideCheck, sys, lease}},
		{Review, nil, NextDecision{DecideReconcile, who.Reviewer, hold}},
		{ReexecutionRequested, nil, NextDecision{DecideReexecution, who.Reexecute, at1h.Add(4 * time.Hour)}},
		{Confirmed, nil, NextDecision{}}, {Rejected, nil, NextDecision{}}, {Cancelled, nil, NextDecision{}}, {NotExecuted, nil, NextDecision{}},
	}
	for _, r := range rows {
		if got := NextFor(inState(r.state, r.turn), who, Due{}, stage, hold, lease, at1h); got != r.want {
			t.Errorf("%s: got %+v, want %+v", r.state, got, r.want)
		}
	}
	if got := NextFor(inState(Review, func(f *Facts) { f.ReviewDue = lease }), who, Due{}, stage, t0, lease, at1h); !got.At.Equal(lease) {
		t.Errorf("a review's date moves: %v", got.At)
	}
	if got := NextFor(inState(Waiting, nil), who, Due{}, Responsible{}, hold, lease, at1h); got.Who != who.Owner {
		t.Errorf("nobody named: got %+v, want the owner", got.Who)
	}
	if got := NextFor(inState(Review, nil), People{}, Due{}, stage, hold, lease, at1h); got.Who.Role != RoleAdmin {
		t.Errorf("nobody at all: got %+v, want admin", got.Who)
	}
	if got := RemedyFor(People{}, Due{}, at1h); got.Kind != DecideRemedy || got.Who.Role != RoleAdmin || !got.At.After(at1h) {
		t.Errorf("remedy: %+v", got)
	}
}

func TestStandIn(t *testing.T) {
	ann, own := person("usr_a", RoleApprover), person("usr_o", RoleAuthor)
	gone := ann
	gone.Active = false
	owner := Responsible{User: "usr_o", Role: RoleAuthor}
	for name, r := range map[string]struct {
		people []Person
		want   Responsible
	}{
		"there":                   {[]Person{ann, own}, Responsible{User: "usr_a"}},
		"gone, role held":         {[]Person{gone, person("usr_b", RoleApprover), own}, Responsible{Role: RoleApprover}},
		"gone, role empty":        {[]Person{gone, own}, owner},
		"gone, owner gone":        {[]Person{gone, person("usr_x", RoleAuthor)}, Responsible{Role: RoleAuthor}},
		"gone, nobody but admins": {[]Person{gone, person("usr_z", RoleAdmin)}, Responsible{Role: RoleAdmin}},
	} {
		if got := StandIn(Responsible{User: "usr_a"}, RoleApprover, owner, r.people); got != r.want {
			t.Errorf("%s: got %+v, want %+v", name, got, r.want)
		}
	}
	if got := StandIn(Responsible{System: true}, "", owner, nil); !got.System {
		t.Error("the system needs no stand-in")
	}
}
