package operation

import (
	"fmt"
	"testing"
)

// chainOf is an original and n replacements, each of the one before.
func chainOf(states ...State) Lineage {
	var l Lineage
	for i, s := range states {
		m := Member{ID: ID(fmt.Sprint("op_", i)), Number: i, State: s}
		if i > 0 {
			m.Replaces = l[i-1].ID
		}
		l = append(l, m)
	}
	return l
}

// TestLineageOfAnyLength: whoever stands anywhere before an operation holds it, and whoever
// stands anywhere after it holds another attempt of its own.
func TestLineageOfAnyLength(t *testing.T) {
	for n := 2; n <= 40; n += 19 {
		for at := range n - 1 {
			states := make([]State, n)
			for i := range states {
				states[i] = NotExecuted
			}
			states[n-1] = Ready
			l := chainOf(states...)
			last := l[n-1]
			if open, done := l.Earlier(last); open != "" || done != "" {
				t.Fatalf("%d, all closed: %q, %q", n, open, done)
			}
			for _, s := range States {
				l[at].State = s
				open, done := l.Earlier(last)
				if (open == l[at].ID) != !s.Closed() || (done == l[at].ID) != (s == Confirmed) {
					t.Errorf("%d of %d is %s: %q, %q", at, n, s, open, done)
				}
			}
			l[at].State, l[at].InDoubt = Review, true
			if doubt, done := l.Later(l[0]); at > 0 && (doubt != l[at].ID || done != "") {
				t.Errorf("%d of %d is in doubt: %q, %q", at, n, doubt, done)
			}
			l[at].State, l[at].InDoubt = Confirmed, false
			if doubt, done := l.Later(l[0]); at > 0 && (doubt != "" || done != l[at].ID) {
				t.Errorf("%d of %d has the effect: %q, %q", at, n, doubt, done)
			}
		}
	}
}

// TestLineageOfWishes: a deliberate second effect is another wish than the one before it, and
// what replaces it belongs to it.
func TestLineageOfWishes(t *testing.T) {
	l := chainOf(Confirmed, Rejected, Ready) // the second effect was refused, and is tried with other content
	l[1].Deliberate = true
	if open, done := l.Earlier(l[2]); open != "" || done != "" {
		t.Errorf("the first effect is there, and the second is wanted: %q, %q", open, done)
	}
	l[1].State = Confirmed
	if _, done := l.Earlier(l[2]); done != l[1].ID {
		t.Errorf("the second effect is there: %q", done)
	}
	l[0].State = Review
	if open, _ := l.Earlier(l[2]); open != l[0].ID {
		t.Errorf("it is open whether there was a first effect: %q", open)
	}
	if doubt, done := l.Later(l[0]); doubt != "" || done != "" {
		t.Errorf("the second effect holds the first: %q, %q", doubt, done)
	}
	o := l.Original(l[0].ID, true, false)
	if o.EffectBefore || o.EffectAfter || !o.OpenReplacement {
		t.Errorf("%+v", o)
	}

	l = chainOf(NotExecuted, Confirmed, NotExecuted)
	l[2].Replaces = l[0].ID // replaced twice
	if _, done := l.Earlier(l[2]); done != l[1].ID {
		t.Errorf("the other replacement has the effect: %q", done)
	}
	if o := l.Original(l[0].ID, false, false); !o.EffectAfter {
		t.Errorf("%+v", o)
	}
	if o := l.Original(l[2].ID, false, false); !o.EffectBefore || o.EffectAfter {
		t.Errorf("%+v", o)
	}
}

// TestLineageWithAGap: what cannot be followed to its beginning counts as open, and the walk
// ends although it would go round.
func TestLineageWithAGap(t *testing.T) {
	gap := Lineage{{ID: "op_2", Replaces: "op_1", Number: 2, State: Ready}}
	if open, _ := gap.Earlier(gap[0]); open != "op_1" {
		t.Errorf("a gap: %q", open)
	}
	round := Lineage{{ID: "op_1", Replaces: "op_2", Number: 1, State: NotExecuted}, {ID: "op_2", Replaces: "op_1", Number: 2, State: Ready}}
	if open, done := round.Earlier(round[1]); open != "op_1" || done != "" {
		t.Errorf("a circle: %q, %q", open, done)
	}
}
