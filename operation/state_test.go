package operation

import (
	"slices"
	"strings"
	"testing"
)

// The whole machine, written a second time by hand: state, event, where it leads.
// Everything that is not here is forbidden, and the test asserts that too.
const moves = `
draft                 submit              pending_approval
draft                 cancel              cancelled
draft                 effect              confirmed
pending_approval      edit                draft
pending_approval      reject              rejected
pending_approval      clear_to_wait       waiting
pending_approval      clear               ready
pending_approval      cancel              cancelled
pending_approval      effect              confirmed
waiting               edit                draft
waiting               clear               ready
waiting               expire              pending_approval
waiting               cancel              cancelled
waiting               effect              confirmed
ready                 edit                draft
ready                 stage_reopened      waiting
ready                 expire              pending_approval
ready                 cancel              cancelled
ready                 claim               in_progress
ready                 effect              confirmed
ready                 refused             review
ready                 refuse_reexecution  review
in_progress           cancel              cancelled
in_progress           not_started         retry_scheduled
in_progress           refused             review
in_progress           unknown             unknown
in_progress           effect              confirmed
in_progress           escalate            review
retry_scheduled       edit                draft
retry_scheduled       stage_reopened      waiting
retry_scheduled       expire              pending_approval
retry_scheduled       cancel              cancelled
retry_scheduled       claim               in_progress
retry_scheduled       refused             review
retry_scheduled       refuse_reexecution  review
retry_scheduled       effect              confirmed
unknown               claim               in_progress
unknown               effect              confirmed
unknown               escalate            review
review                effect              confirmed
review                hold                review
review                request_reexecution reexecution_requested
review                correct             draft
review                grant_attempts      ready
review                close_not_executed  not_executed
reexecution_requested approve_reexecution ready
reexecution_requested refuse_reexecution  review
reexecution_requested effect              confirmed
confirmed             dispute             review
rejected              dispute             review
cancelled             dispute             review
not_executed          dispute             review
`

func TestTransitions(t *testing.T) {
	want := map[State]map[Event]State{}
	for line := range strings.Lines(strings.TrimSpace(moves)) {
		f := strings.Fields(line)
		if want[State(f[0])] == nil {
			want[State(f[0])] = map[Event]State{}
		}
		want[State(f[0])][Event(f[1])] = State(f[2])
	}
	n := 0
	for _, s := range States {
		for _, e := range Events {
			to, ok := Next(s, e)
			wantTo, wantOK := want[s][e]
			if ok != wantOK || to != wantTo {
				t.Errorf("%s + %s: got %q %v, want %q %v", s, e, to, ok, wantTo, wantOK)
			}
			if ok {
				n++
			}
		}
		if _, ok := Next(s, "no such event"); ok {
			t.Errorf("%s: an event that does not exist moves it", s)
		}
	}
	if n != len(Transitions) {
		t.Errorf("%d moves in the table, %d reachable by state and event: a pair stands twice or a word is not listed", len(Transitions), n)
	}
}

func TestStates(t *testing.T) {
	closed := []State{Confirmed, Rejected, Cancelled, NotExecuted}
	for _, s := range States {
		if s.Closed() != slices.Contains(closed, s) {
			t.Errorf("%s: closed = %v", s, s.Closed())
		}
		if s.Closed() {
			for _, e := range Events {
				if to, ok := Next(s, e); ok && to != Review {
					t.Errorf("closed %s leads to %s; only review may follow", s, to)
				}
			}
		}
		if s.WithoutEffect() != (s.Closed() && s != Confirmed) {
			t.Errorf("%s: without effect = %v", s, s.WithoutEffect())
		}
		if !s.Valid() {
			t.Errorf("%s is not valid", s)
		}
	}
	if State("failed").Valid() || State("").Valid() {
		t.Error("a word that is no state is valid")
	}
}

func TestConfirmedIsNeverLowered(t *testing.T) {
	for _, e := range Events {
		if to, ok := Next(Confirmed, e); ok && (e != EvDispute || to != Review) {
			t.Errorf("confirmed + %s leads to %s", e, to)
		}
	}
}

func TestReachable(t *testing.T) {
	seen := map[State]bool{}
	todo := slices.Clone(Births)
	for len(todo) > 0 {
		s := todo[0]
		todo = todo[1:]
		if seen[s] {
			continue
		}
		seen[s] = true
		for _, e := range Events {
			if to, ok := Next(s, e); ok {
				todo = append(todo, to)
			}
		}
	}
	for _, s := range States {
		if !seen[s] {
			t.Errorf("no way leads to %s", s)
		}
	}
}

func TestApply(t *testing.T) {
	if to, ok := Apply(InProgress, EvNotStarted, EvExpire); !ok || to != PendingApproval {
		t.Errorf("got %s %v", to, ok)
	}
	if to, ok := Apply(InProgress, EvUnknown, EvCancel); ok || to != InProgress {
		t.Errorf("a forbidden move in the middle: got %s %v, want the state unchanged", to, ok)
	}
	if to, ok := Apply(Draft); !ok || to != Draft {
		t.Errorf("no event: got %s %v", to, ok)
	}
}

func TestLeads(t *testing.T) {
	for _, from := range States {
		for _, to := range States {
			want := slices.ContainsFunc(Transitions, func(m Transition) bool { return m.From == from && m.To == to })
			if Leads(from, to) != want {
				t.Errorf("Leads(%s, %s) = %v", from, to, !want)
			}
			if in := slices.Contains(MovePairs(), [2]State{from, to}); in != (want && from != to) {
				t.Errorf("MovePairs has (%s, %s): %v", from, to, in)
			}
		}
	}
}

func TestOutcome(t *testing.T) {
	var zero Outcome
	if zero != OutcomeUnknown || zero.String() != "unknown" || (Result{}).Outcome != OutcomeUnknown {
		t.Error("the zero outcome is not unknown")
	}
	for _, o := range []Outcome{OutcomeUnknown, OutcomeNotStarted, OutcomeConfirmed} {
		if got, ok := ParseOutcome(o.String()); !ok || got != o {
			t.Errorf("%v does not read back", o)
		}
	}
	if o, ok := ParseOutcome("failed"); ok || o != OutcomeUnknown {
		t.Error("a word that is no outcome is read")
	}
	if Outcome(7).String() != "unknown" || Outcome(-1).String() != "unknown" {
		t.Error("a value that is no outcome is not unknown")
	}
}

func TestCodes(t *testing.T) {
	seen := map[Code]bool{}
	for _, c := range Codes {
		if c == CodeOK || seen[c] {
			t.Errorf("%q is empty or stands twice", c)
		}
		seen[c] = true
	}
	r := Refuse(CodeNotDue, "at", "x", "odd").By(Responsible{Role: RoleAdmin})
	if r.Error() != `refused: not_due at="x"` || r.Params["at"] != "x" || len(r.Params) != 1 || r.Who.Role != RoleAdmin {
		t.Errorf("got %+v", r)
	}
}
