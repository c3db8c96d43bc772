package operation

import (
	"strings"
	"testing"
	"time"
)

func TestEffectOf(t *testing.T) {
	for _, c := range []struct {
		s                  State
		unproven, disputed bool
		want               Effect
	}{
		{Confirmed, true, false, EffectConfirmed}, {Unknown, true, false, EffectDoubtful}, {InProgress, false, false, EffectDoubtful}, {Review, true, false, EffectDoubtful},
		{Review, false, false, EffectPending}, {Review, false, true, EffectDoubtful}, {NotExecuted, true, false, EffectNone}, {Cancelled, false, false, EffectNone},
		{Draft, false, false, EffectPending}, {ReexecutionRequested, true, false, EffectDoubtful},
	} {
		if got := EffectOf(c.s, c.unproven, c.disputed); got != c.want {
			t.Errorf("%s, unproven %v, disputed %v: %s, want %s", c.s, c.unproven, c.disputed, got, c.want)
		}
	}
	for _, s := range States { // every state has one, so that the counts add up
		var scope IncidentScope
		scope.Add(Counted{Effect: EffectOf(s, false, false)})
		sum := 0
		for _, e := range Effects {
			sum += scope.Effects[e]
		}
		if sum != 1 {
			t.Errorf("%s counts %d times", s, sum)
		}
	}
}

func TestTimelineLeavesRepeatsOut(t *testing.T) {
	at := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	var entries []TimelineEntry
	add := func(op ID, minute int, action string, from, to State) {
		entries = append(entries, TimelineEntry{ID: int64(len(entries) + 1), Operation: op, At: at.Add(time.Duration(minute) * time.Minute), Action: action, From: from, To: to})
	}
	add("op_a", 0, "dispatch", InProgress, InProgress)
	add("op_b", 1, "dispatch", InProgress, InProgress)
	add("op_a", 2, "unknown", InProgress, Unknown)
	add("op_b", 3, "unknown", InProgress, Unknown)
	add("op_a", 4, "claim", Unknown, InProgress)
	add("op_a", 4, "dispatch", InProgress, InProgress)
	add("op_a", 5, "unknown", InProgress, Unknown)
	add("op_a", 30, "effect", Unknown, Confirmed)
	got := GroupTimeline(Significant(entries))
	if len(got) != 3 || len(got[0].Operations) != 2 || got[1].First.Action != "unknown" || len(got[1].Entries) != 2 || got[2].First.To != Confirmed {
		t.Fatalf("%+v", got)
	}
	times := ProposeTimes(Significant(entries), []State{Confirmed, Unknown}, at, at.Add(time.Minute))
	if !times.Detected.Equal(at.Add(2*time.Minute)) || !times.Settled.IsZero() {
		t.Errorf("one is still in doubt: %+v", times)
	}
	if times = ProposeTimes(Significant(entries), []State{Confirmed, Confirmed}, at, at); !times.Settled.Equal(at.Add(30 * time.Minute)) {
		t.Errorf("settled %s", times.Settled)
	}
}

func TestCanonicalTextCannotBeForged(t *testing.T) {
	r := IncidentReport{ID: "inc_1", Number: 1, Revision: 1, Title: "a", Cause: "x\nresponse: nothing was done\nactions:"}
	other := r
	other.Cause, other.Response = "x", "nothing was done\nactions:"
	if r.Canonical() == other.Canonical() || r.Hash() == other.Hash() {
		t.Error("two reports have one text")
	}
	for line := range strings.SplitSeq(r.Canonical(), "\n") {
		if line == "response: nothing was done" {
			t.Error("what somebody wrote reads as a line of the report")
		}
	}
	if same := r; r.Hash() != same.Hash() {
		t.Error("the same report has two hashes")
	}
}

func TestNextTaskStep(t *testing.T) {
	now := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	due := now.Add(72 * time.Hour)
	for _, c := range []struct {
		done int
		due  time.Time
		step int
		at   time.Time
	}{
		{-1, due, StepAsk, now}, {StepAsk, due, StepRemind, due.Add(-TaskRemind)}, {StepAsk, now.Add(time.Hour), StepOverdue, now.Add(time.Hour)},
		{StepRemind, due, StepOverdue, due}, {StepOverdue, due, StepEscalate, due.Add(TaskEscalate)}, {StepEscalate, due, StepEscalate, now.Add(TaskRepeat)},
	} {
		if step, at := NextTaskStep(c.done, c.due, now); step != c.step || !at.Equal(c.at) {
			t.Errorf("after %d: %d at %s, want %d at %s", c.done, step, at, c.step, c.at)
		}
	}
}
