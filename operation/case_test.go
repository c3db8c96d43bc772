package operation

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestGateConditions: all of the conditions hold exactly when the gate lets an attempt
// start, for facts that are changed at random.
func TestGateConditions(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 1))
	bases := []func() Facts{readyFacts, unknownFacts, reexecutionFacts}
	turns := []func(*Facts){
		func(f *Facts) { f.EarlierOpen = []string{"first"} }, func(f *Facts) { f.OriginalOpen = true }, func(f *Facts) { f.OriginalDone = true }, func(f *Facts) { f.OpenAttempt = "att_9" },
		func(f *Facts) { f.PausedFlow = true }, func(f *Facts) { f.PausedAll = true }, func(f *Facts) { f.Stopped = true }, func(f *Facts) { f.Clearance = nil },
		func(f *Facts) { f.Version.Hash = hash(7) }, func(f *Facts) { f.Account = "other" }, func(f *Facts) { f.State = States[rnd.IntN(len(States))] },
		func(f *Facts) { f.AttemptsUsed = f.AttemptsMax }, func(f *Facts) { f.Disputed = true }, func(f *Facts) { f.RetryAt = t0.Add(48 * time.Hour) },
		func(f *Facts) { f.Clearance = &Clearance{ID: "clr_2"} }, func(f *Facts) { f.Stated = true },
	}
	permitted := 0
	for range 20000 {
		f := bases[rnd.IntN(len(bases))]()
		for range rnd.IntN(4) {
			turns[rnd.IntN(len(turns))](&f)
		}
		_, r := Permit(f, at1h)
		all := true
		for _, c := range GateConditions(f, at1h) {
			all = all && c.Holds()
		}
		if all != (r == nil) {
			t.Fatalf("all hold: %v; the gate says %v\n%+v\n%+v", all, r, f, GateConditions(f, at1h))
		}
		if r == nil {
			permitted++
		}
	}
	if permitted < 1000 {
		t.Errorf("only %d of the facts are permitted", permitted)
	}
}

// TestGateOfACase: while a second person is asked, everything but the permission holds.
func TestGateOfACase(t *testing.T) {
	f := reexecutionFacts()
	f.State, f.Clearance = ReexecutionRequested, nil
	n := 0
	for _, c := range GateConditions(f, at1h) {
		if c.Holds() {
			n++
		} else if c.Name != GatePermission {
			t.Errorf("%s: %v", c.Name, c.Why)
		}
	}
	if n != 4 {
		t.Errorf("%d hold, want 4 of 5", n)
	}
}

func TestBeatCounts(t *testing.T) {
	for _, x := range []struct {
		last, now     time.Time
		claimed, want time.Duration
	}{
		{time.Time{}, t0, time.Hour, 0}, {t0, t0.Add(20 * time.Second), 20 * time.Second, 20 * time.Second},
		{t0, t0.Add(5 * time.Second), 20 * time.Second, 5 * time.Second}, {t0, t0.Add(time.Hour), 15 * time.Second, 15 * time.Second},
		{t0, t0.Add(time.Hour), time.Hour, BeatCap}, {t0, t0, time.Second, 0}, {t0, t0.Add(-time.Second), time.Second, 0}, {t0, t0.Add(time.Minute), -time.Second, 0},
	} {
		if got := BeatCounts(x.last, x.now, x.claimed); got != x.want {
			t.Errorf("%v: %s, want %s", x, got, x.want)
		}
	}
}

func TestCaseNumber(t *testing.T) {
	for s, want := range map[string]int64{"RC-147": 147, " rc-147 ": 147, "147": 147, "RC-": 0, "RC-0": 0, "-3": 0, "RC-1x": 0, "": 0} {
		if n, ok := ParseCaseNumber(s); (ok && n != want) || ok != (want > 0) {
			t.Errorf("%q: %d %v", s, n, ok)
		}
	}
	if CaseNumber(147) != "RC-147" {
		t.Error(CaseNumber(147))
	}
}
