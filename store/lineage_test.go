package store_test

import (
	"errors"
	"fmt"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"

	"github.com/lib/pq"
)

// replace makes a replacement with the same content.
func (s *stand) replace(deliberate bool) (*stand, error) {
	s.t.Helper()
	p, err := s.f.Store.FindOperation(s.t.Context(), s.f.As("author"), s.id)
	ok(s.t, err)
	id, err := s.f.Store.Replace(s.t.Context(), s.f.As("author"), s.shown("once more"), store.Replacement{Content: p.Current().Content(), Deliberate: deliberate, Submit: true})
	return &stand{f: s.f, t: s.t, id: id}, err
}

// lineage is a coupon that was sent and settled as not done, with n replacements, each of the
// one before, all but the last refused.
func lineage(t *testing.T, f *storetest.Fixture, n int) []*stand {
	t.Helper()
	all := []*stand{{f: f, t: t, id: coupon(t, f)()}}
	ways[operation.Confirmed](all[0])
	all[0].dispute()
	all[0].notDone(false)
	for i := range n {
		next, err := all[i].replace(false)
		ok(t, err)
		if i < n-1 {
			ok(t, f.Decide(t, next.id, "ops2", operation.Reject))
		}
		all = append(all, next)
	}
	return all
}

// effects counts the attempts by which an effect can have come about, of a whole lineage.
func effects(all []*stand) (n int) {
	for _, s := range all {
		n += s.f.Count(s.t, "attempts WHERE operation_id = $1 AND dispatched_at IS NOT NULL", string(s.id))
	}
	return n
}

// TestLineage: whatever stands anywhere before a replacement holds it as its own original
// does, and nobody gets the effect twice.
func TestLineage(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	for n := 2; n <= 3; n++ {
		for _, done := range []bool{true, false} {
			t.Run(fmt.Sprint(n, done), func(t *testing.T) {
				all := lineage(t, f, n)
				first, last := all[0], all[n]
				f.Approve(t, last.id, "ops2")
				r := race{f: f, t: t, id: last.id}
				if r.count(`operations WHERE id = $1 AND next_kind = 'take'`) != 1 {
					t.Error("all before it are closed, and it waits")
				}
				first.must(news["Callback"](first, ref(first.id)))
				if r.count(`operations WHERE id = $1 AND state = 'ready' AND next_kind = 'original' AND next_system`) != 1 {
					t.Error("it does not wait for the first of its lineage")
				}
				_, err := f.Store.Claim(t.Context(), hand, last.id, "hand")
				refused(t, err, operation.CodeOriginalOpen)
				woken := r.count(`river_job WHERE kind = 'execute' AND args->>'operation' = $1`)
				first.settle(done)
				if done {
					last.cancelledForOriginal(first.id)
				} else {
					if r.count(`operations WHERE id = $1 AND next_kind = 'take'`) != 1 || r.count(`river_job WHERE kind = 'execute' AND args->>'operation' = $1`) != woken+1 {
						t.Error("it may go now, and no job is woken")
					}
					last.send()
					last.report(effect(ref(last.id)))
				}
				if got, want := effects(all), map[bool]int{true: 1, false: 2}[done]; got != want { // the first attempt had none, as people say
					t.Errorf("%d attempts were sent, want %d", got, want)
				}
				r.whole()
			})
		}
	}
	t.Run("dispatched meanwhile", func(t *testing.T) {
		all := lineage(t, f, 2)
		f.Approve(t, all[2].id, "ops2")
		c, err := f.Store.Claim(t.Context(), hand, all[2].id, "hand")
		ok(t, err)
		all[0].must(news["Callback"](all[0], ref(all[0].id)))
		all[0].settle(true)
		_, err = f.Store.Dispatch(t.Context(), hand, c.Attempt, c.Fence)
		refused(t, err, operation.CodeOriginalConfirmed)
		all[2].cancelledForOriginal(all[0].id)
		if effects(all) != 1 {
			t.Errorf("%d attempts were sent", effects(all))
		}
	})
	t.Run("one in the middle", func(t *testing.T) { // that was never sent, and is there all the same
		all := lineage(t, f, 3)
		f.Approve(t, all[3].id, "ops2")
		all[1].dispute()
		_, err := f.Store.Claim(t.Context(), hand, all[3].id, "hand")
		refused(t, err, operation.CodeOriginalOpen)
		all[1].settle(true)
		all[3].cancelledForOriginal(all[1].id)
	})
}

// TestLineageNeedsASecondPerson: what was ever sent in a lineage makes its replacements second
// effects, and its people parties, however far before it stands.
func TestLineageNeedsASecondPerson(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	all := lineage(t, f, 3)
	last := all[3].id
	refused(t, f.Decide(t, last, "lead", operation.Approve), operation.CodeNotEntitled)
	refused(t, f.Decide(t, last, "ops", operation.Approve), operation.CodeOwnContent) // answered the first one's checklist
	f.Approve(t, last, "ops2")
	if f.State(t, last) != operation.Ready {
		t.Errorf("it is %s", f.State(t, last))
	}

	unsent := &stand{f: f, t: t, id: coupon(t, f)()}
	ok(t, f.Decide(t, unsent.id, "lead", operation.Reject))
	for range 2 {
		next, err := unsent.replace(false)
		ok(t, err)
		ok(t, f.Decide(t, next.id, "lead", operation.Reject)) // nothing was ever sent: one approver decides
		unsent = next
	}
}

// TestReplacedOnce: a lineage has one open operation at most, and no replacement where the
// effect is there already.
func TestReplacedOnce(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	all := lineage(t, f, 2)
	for _, s := range all[:2] {
		_, err := s.replace(false)
		refused(t, err, operation.CodeOriginalOpen)
	}
	last := all[2]
	f.Approve(t, last.id, "ops2")
	last.send()
	last.report(effect(ref(last.id)))
	for _, s := range all[:2] {
		_, err := s.replace(false)
		refused(t, err, operation.CodeReplacementConfirmed)
	}
	second, err := last.replace(true)
	ok(t, err)
	ok(t, f.Decide(t, second.id, "ops2", operation.Reject))
	third, err := second.replace(false) // the second effect, with other content
	ok(t, err)
	f.Approve(t, third.id, "ops2")
	third.send()

	var e *pq.Error
	for _, bad := range []string{
		`UPDATE operations SET replaces = $2 WHERE id = $1`,
		`UPDATE operations SET replacement = replacement + 7 WHERE id = $1 AND id <> $2`,
		`INSERT INTO operations SELECT (jsonb_populate_record(o, jsonb_build_object('id', $2 || 'x', 'replacement', 1, 'item_key', 'other'))).* FROM operations o WHERE id = $1`,
		`INSERT INTO operations SELECT (jsonb_populate_record(o, jsonb_build_object('id', $2 || 'x', 'replacement', o.replacement - 1, 'replaces', o.id))).* FROM operations o WHERE id = $1`,
	} {
		if _, err := f.Owner.Exec(bad, string(second.id), string(third.id)); !errors.As(err, &e) || e.Constraint != "operations_lineage" {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestReplacedIsNotRepeated: what was replaced is not sent once more where the replacement has
// the effect, or may have it; and two effects are told of.
func TestReplacedIsNotRepeated(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	approve := func(s *stand) error {
		return f.Store.DecideReexecution(t.Context(), f.Fresh(t, "ops2"), s.shown("agreed"), true)
	}
	request := func(s *stand) error {
		return f.Store.ConfirmNotDone(t.Context(), f.As("ops"), s.shown("nothing there"), s.answers(), true)
	}
	done := func() []*stand {
		all := lineage(t, f, 2)
		f.Approve(t, all[2].id, "ops2")
		all[2].send()
		all[2].report(effect(ref(all[2].id)))
		return all
	}

	all := done()
	all[0].dispute()
	refused(t, request(all[0]), operation.CodeReplacementConfirmed)
	all[2].dispute()
	refused(t, request(all[0]), operation.CodeReplacementOpen)
	all[2].notDone(false)
	all[0].must(request(all[0])) // nobody has the effect now
	all[2].must(news["Callback"](all[2], ref(all[2].id)))
	refused(t, approve(all[0]), operation.CodeReplacementOpen)
	all[2].settle(true)
	refused(t, approve(all[0]), operation.CodeReplacementConfirmed)
	if s := f.State(t, all[0].id); s != operation.ReexecutionRequested {
		t.Errorf("refused, it is %s", s)
	}
	p, err := f.Store.FindOperation(t.Context(), f.As("ops"), all[0].id)
	ok(t, err)
	if !p.Facts.ReplacementDone || p.Facts.OriginalDone {
		t.Errorf("its page does not know: %+v", p.Facts)
	}

	all = done() // permitted, and then the replacement turns out to be in doubt, and to be there
	all[2].dispute()
	all[2].notDone(false)
	all[0].dispute()
	all[0].must(request(all[0]))
	all[0].must(approve(all[0]))
	all[2].must(news["Callback"](all[2], ref(all[2].id)))
	_, err = f.Store.ClaimAndDispatch(t.Context(), hand, all[0].id, "hand")
	refused(t, err, operation.CodeReplacementOpen)
	sent := effects(all)
	all[2].settle(true)
	_, err = f.Store.ClaimAndDispatch(t.Context(), hand, all[0].id, "hand")
	refused(t, err, operation.CodeReplacementConfirmed)
	if s := f.State(t, all[0].id); s != operation.Review || effects(all) != sent {
		t.Errorf("it is %s, and %d more attempts were sent", s, effects(all)-sent)
	}

	all = done() // the first has its effect, and one more attempt of the last is asked for
	all[2].dispute()
	all[2].must(request(all[2]))
	all[0].must(news["Callback"](all[0], ref(all[0].id)))
	all[0].settle(true)
	refused(t, approve(all[2]), operation.CodeOriginalConfirmed)
	all[2].must(f.Store.DecideReexecution(t.Context(), f.Fresh(t, "ops2"), all[2].shown("it is there"), false))
	refused(t, request(all[2]), operation.CodeOriginalConfirmed)
	if p, err = f.Store.FindOperation(t.Context(), f.As("ops"), all[2].id); err != nil || operation.WhyAsked(p.Facts, p.Now).Code != operation.CodeOriginalConfirmed {
		t.Errorf("its page does not say why: %v", err)
	}

	all = done() // both are there
	all[0].must(news["Callback"](all[0], ref(all[0].id)))
	all[0].settle(true)
	if f.Count(t, `operations WHERE id = $1 AND duplicate = 'suspected' AND remedy = 'duplicate' AND next_kind = 'remedy'`, string(all[0].id)) != 1 ||
		f.Count(t, `history WHERE subject_id = $1 AND action = 'duplicate_suspected' AND links::json->>'other' = $2`, string(all[0].id), string(all[2].id)) != 1 {
		t.Error("two effects, and nobody is told")
	}
}
