package operation_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"holdpoint/operation"
)

func count(n int64) operation.Measure { return operation.Measure{N: n} }
func rate(n, of int64) operation.Measure {
	return operation.Measure{N: n, Of: of, Rate: true}
}

func TestLimitBroken(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		l               operation.Limit
		m               operation.Measure
		broken, cleared bool
	}{
		"at the value is within":                    {operation.Limit{Side: operation.LimitOver, Value: 5}, count(5), false, true},
		"one more is over":                          {operation.Limit{Side: operation.LimitOver, Value: 5}, count(6), true, false},
		"the value is not back by the margin":       {operation.Limit{Side: operation.LimitOver, Value: 5, Margin: 2}, count(5), false, false},
		"three of five is back":                     {operation.Limit{Side: operation.LimitOver, Value: 5, Margin: 2}, count(3), false, true},
		"zero may be the limit":                     {operation.Limit{Side: operation.LimitOver}, count(1), true, false},
		"under":                                     {operation.Limit{Side: operation.LimitUnder, Value: 1}, count(0), true, false},
		"the least that is expected":                {operation.Limit{Side: operation.LimitUnder, Value: 1}, count(1), false, true},
		"back above by the margin":                  {operation.Limit{Side: operation.LimitUnder, Value: 10, Margin: 2}, count(12), false, true},
		"1 of 1 does not alarm":                     {operation.Limit{Side: operation.LimitOver, Value: 200, Least: 20}, rate(1, 1), false, true},
		"2 % of 50 is not over 2 %":                 {operation.Limit{Side: operation.LimitOver, Value: 200, Least: 20}, rate(1, 50), false, true},
		"the smallest rate over 2 % is found":       {operation.Limit{Side: operation.LimitOver, Value: 200, Least: 20}, rate(20_001, 1_000_000), true, false},
		"nothing tried breaks no rate":              {operation.Limit{Side: operation.LimitOver}, rate(0, 0), false, true},
		"nothing tried is not under a rate":         {operation.Limit{Side: operation.LimitUnder, Value: 200}, rate(0, 0), false, true},
		"a duration with few samples breaks no one": {operation.Limit{Side: operation.LimitOver, Value: 60, Least: 5}, operation.Measure{N: 600, Of: 4}, false, true},
		"a duration with enough samples does":       {operation.Limit{Side: operation.LimitOver, Value: 60, Least: 5}, operation.Measure{N: 600, Of: 5}, true, false},
	} {
		if got := x.l.Broken(x.m); got != x.broken {
			t.Errorf("%s: broken %v", name, got)
		}
		if got := x.l.Cleared(x.m); got != x.cleared {
			t.Errorf("%s: cleared %v", name, got)
		}
	}
}

// TestLimitFlaps: a figure that goes over and back about its value every minute is one
// breach with one notice, until it has stayed back for the hold.
func TestLimitFlaps(t *testing.T) {
	t.Parallel()
	l := operation.Limit{Side: operation.LimitOver, Value: 5, Margin: 1, Hold: 15 * time.Minute}
	now := time.Date(2026, 4, 14, 12, 0, 0, 0, time.UTC)
	var s operation.BreachState
	var moves []operation.LimitMove
	step := func(n int64) {
		var move operation.LimitMove
		if move, s = l.Judge(count(n), s, now); move != operation.LimitStays {
			moves = append(moves, move)
		}
		now = now.Add(time.Minute)
	}
	for range 60 {
		step(6)
		step(4)
	}
	if len(moves) != 1 || moves[0] != operation.LimitBreaks {
		t.Fatalf("flapping gives %v", moves)
	}
	for range 14 {
		step(4)
	}
	if len(moves) != 1 {
		t.Fatalf("it was back for less than the hold: %v", moves)
	}
	step(5) // within the value, not by the margin: the hold begins anew
	for range 15 {
		step(4)
	}
	if len(moves) != 1 {
		t.Fatalf("the hold did not begin anew: %v", moves)
	}
	step(4)
	if len(moves) != 2 || moves[1] != operation.LimitBack || s.Open {
		t.Fatalf("it is back: %v", moves)
	}
}

func TestLimitReminds(t *testing.T) {
	t.Parallel()
	l := operation.Limit{Side: operation.LimitOver, Value: 5, Remind: 24 * time.Hour}
	at := time.Date(2026, 4, 14, 12, 0, 0, 0, time.UTC)
	_, s := l.Judge(count(6), operation.BreachState{}, at)
	told := 0
	for m := range 3 * 24 * 60 {
		var move operation.LimitMove
		if move, s = l.Judge(count(6), s, at.Add(time.Duration(m+1)*time.Minute)); move == operation.LimitAgain {
			told++
		}
	}
	if told != 3 {
		t.Errorf("%d reminders in three days", told)
	}
}

// TestLimitHysteresis holds random walks to the rule: moves alternate, a breach begins
// only beyond the value, is over only after a whole hold of measurements back by the
// margin, and what is open at the end was not back that long.
func TestLimitHysteresis(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 11))
	breaches := 0
	for range 500 {
		l := operation.Limit{Side: operation.LimitOver, Value: 4 + r.Int64N(8), Hold: time.Duration(r.IntN(10)) * time.Minute}
		if r.IntN(2) == 0 {
			l.Side = operation.LimitUnder
		}
		l.Margin = r.Int64N(4)
		if r.IntN(2) == 0 {
			l.Remind = time.Duration(1+r.IntN(20)) * time.Minute
		}
		var s operation.BreachState
		now := time.Date(2026, 4, 14, 12, 0, 0, 0, time.UTC)
		back := -1 // minutes for which it has been back by the margin
		told := time.Time{}
		n := l.Value
		for range 200 {
			n = max(0, n+r.Int64N(5)-2)
			m := count(n)
			if l.Broken(m) && l.Cleared(m) {
				t.Fatal("broken and cleared at once")
			}
			if l.Cleared(m) {
				back++
			} else {
				back = -1
			}
			was := s
			var move operation.LimitMove
			move, s = l.Judge(m, s, now)
			switch move {
			case operation.LimitBreaks:
				breaches++
				told = now
				if was.Open || !l.Broken(m) {
					t.Fatalf("a breach begins at %d of %d", n, l.Value)
				}
			case operation.LimitBack:
				if !was.Open || time.Duration(back)*time.Minute < l.Hold {
					t.Fatalf("back after %d min of %v", back, l.Hold)
				}
			case operation.LimitAgain:
				if now.Sub(told) < l.Remind || !l.Broken(m) {
					t.Fatalf("a reminder after %v", now.Sub(told))
				}
				told = now
			case operation.LimitStays:
				if !was.Open && l.Broken(m) {
					t.Fatal("a breach is missed")
				}
				if was.Open && l.Cleared(m) && !was.WithinSince.IsZero() && now.Sub(was.WithinSince) >= l.Hold {
					t.Fatal("it stays open although it is back")
				}
			}
			now = now.Add(time.Minute)
		}
	}
	if breaches < 200 {
		t.Errorf("only %d breaches: the walks prove little", breaches)
	}
}
