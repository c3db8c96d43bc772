package store_test

import (
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
)

// stuck leaves items of a batch as a lost wake does: approved and released, in the state
// waiting, although nothing keeps them.
func (c *chain) stuck(id operation.BatchID, items ...int) {
	c.t.Helper()
	for _, no := range items {
		op, state := c.item(id, no)
		for _, q := range []string{
			`UPDATE operations SET state = 'waiting', next_kind = 'earlier_stage', next_role = 'approver', next_user = NULL, next_system = false, revision = revision + 1 WHERE id = '` + string(op) + `'`,
			`UPDATE batch_counts SET n = n - 1 WHERE batch_id = '` + string(id) + `' AND state = '` + string(state) + `'`,
			`INSERT INTO batch_counts AS b (batch_id, state, n) VALUES ('` + string(id) + `', 'waiting', 1) ON CONFLICT (batch_id, state) DO UPDATE SET n = b.n + 1`,
		} {
			if _, err := c.Owner.Exec(q); err != nil {
				c.t.Fatal(err)
			}
		}
	}
}

func (c *chain) sweeps(want int) {
	c.t.Helper()
	n, err := c.Store.SweepStuck(c.t.Context(), store.System("job"))
	ok(c.t, err)
	if n != want {
		c.t.Errorf("the sweep let %d go, want %d", n, want)
	}
}

// sentOnce checks that every item of a batch was sent exactly once.
func (c *chain) sentOnce(id operation.BatchID, items string) {
	c.t.Helper()
	if states := batchStates(c.t, c.Fixture, id); states != "confirmed="+items {
		c.t.Error(states)
	}
	if n := c.Count(c.t, `operations o WHERE o.batch_id = $1 AND (SELECT count(*) FROM attempts a WHERE a.operation_id = o.id AND a.dispatched_at IS NOT NULL) <> 1`, string(id)); n > 0 {
		c.t.Errorf("%d items were not sent exactly once", n)
	}
	verified(c.t, c.Fixture, id)
}

// TestStuckItemsGoOn: items of a batch that wait although nothing keeps them are let go by the
// sweep, each sent exactly once; those whose own item is in doubt go on waiting, and a stopped
// batch lets nothing go.
func TestStuckItemsGoOn(t *testing.T) {
	t.Parallel()
	c := newChain(t, 5)
	s, ctx := c.Store, t.Context()
	c.releases(c.first, 5)
	outcomes := confirmed(c.claims(c.first, 1, 2, 3, 4, 5))
	outcomes[1].Result = operation.Result{Outcome: operation.OutcomeUnknown, Proof: operation.Proof{Code: "timeout"}}
	doubt, _ := c.item(c.first, 2)
	recorded(t, c.Fixture, c.first, outcomes)
	c.releases(c.second, 5)

	// items that follow their own item: 1 and 4 are not woken, that of 2 is really in doubt
	c.stuck(c.second, 1, 4)
	recorded(t, c.Fixture, c.second, confirmed(c.claims(c.second, 3, 5)))
	c.sweeps(2)
	c.sweeps(0)
	if _, state := c.item(c.second, 2); state != operation.Waiting {
		t.Fatalf("what waits for an item in doubt is %s", state)
	}
	recorded(t, c.Fixture, c.second, confirmed(c.claims(c.second, 1, 4)))
	ok(t, s.ConfirmDone(ctx, c.As("ops"), c.shownOf(doubt), store.Reference{ID: "seen-2"}))
	c.stuck(c.second, 2)
	c.claims(c.second)
	c.sweeps(1)
	recorded(t, c.Fixture, c.second, confirmed(c.claims(c.second, 2)))
	for _, id := range []operation.BatchID{c.first, c.second} {
		if state := advanced(t, c.Fixture, id); state != operation.BatchClosed {
			t.Fatalf("%s is %s", id, state)
		}
	}
	c.sentOnce(c.second, "5")

	// items that need the whole stage before, as a dispute of one of its items once left them
	c.releases(c.third, 5)
	c.stuck(c.third, 1, 2, 3)
	ok(t, s.Dispute(ctx, c.As("ops"), c.shown(c.second, 5), ""))
	c.sweeps(3)
	c.held(c.third, 1) // the gate holds it as long as the stage is not satisfied
	ok(t, s.ConfirmDone(ctx, c.As("ops"), c.shown(c.second, 5), store.Reference{ID: "again-5"}))
	recorded(t, c.Fixture, c.third, confirmed(c.claims(c.third, 1, 2, 3, 4, 5)))
	c.sweeps(0)
	c.claims(c.third)
	advanced(t, c.Fixture, c.third)
	c.sentOnce(c.third, "5")
	if state := c.State(t, c.last); state != operation.Ready {
		t.Errorf("the last is %s", state)
	}
	c.disputes()
}

// disputes disputes two items of the last batch, when nothing but the last stage is unsent: it
// waits again, whatever the destination says, until a person has settled both.
func (c *chain) disputes() {
	c.t.Helper()
	satisfied := func(want int, state operation.State) {
		c.t.Helper()
		if n := c.Count(c.t, `batches WHERE id = $1 AND satisfied AND state = 'closed'`, string(c.third)); n != want || c.State(c.t, c.last) != state {
			c.t.Errorf("the stage is satisfied: %v, and the last is %s; want %s", n == 1, c.State(c.t, c.last), state)
		}
	}
	ctx := c.t.Context()
	for _, no := range []int{1, 2} {
		ok(c.t, c.Store.Dispute(ctx, c.As("ops"), c.shown(c.third, no), ""))
		op, _ := c.item(c.third, no)
		ok(c.t, c.Store.RecordLookup(ctx, runner, op, time.Now(), operation.LookupFinding{Result: operation.LookupOne, ID: "found-" + string(op)}))
		satisfied(0, operation.Waiting)
	}
	c.sweeps(0)
	ok(c.t, c.Store.ConfirmDone(ctx, c.As("ops"), c.shown(c.third, 1), store.Reference{ID: "really-1"}))
	satisfied(0, operation.Waiting)
	ok(c.t, c.Store.ConfirmDone(ctx, c.As("ops"), c.shown(c.third, 2), store.Reference{ID: "really-2"}))
	satisfied(1, operation.Ready)
	c.sweeps(0)
}

// TestStuckItemsOfAStoppedBatch: what was given up is not let go any more.
func TestStuckItemsOfAStoppedBatch(t *testing.T) {
	t.Parallel()
	c := newChain(t, 2)
	c.releases(c.first, 2)
	c.stuck(c.first, 1, 2)
	_, err := c.Store.StopBatch(t.Context(), c.As("ops"), store.BatchShown{Batch: c.first, FormID: store.NewFormID(), Reason: "enough"})
	ok(t, err)
	c.sweeps(0)
	if n, err := c.Store.GiveUpGroup(t.Context(), runner, c.first, 10); n != 2 || err != nil {
		t.Errorf("%d were given up, %v", n, err)
	}
}

// TestDisputedReplacementOfAnItem: the stage of a batch is not satisfied while the replacement
// of one of its items is disputed.
func TestDisputedReplacementOfAnItem(t *testing.T) {
	t.Parallel()
	c := newChain(t, 2)
	s, ctx := c.Store, t.Context()
	c.releases(c.first, 2)
	ok(t, s.Cancel(ctx, c.As("ops"), c.shown(c.first, 2)))
	recorded(t, c.Fixture, c.first, confirmed(c.claims(c.first, 1)))
	advanced(t, c.Fixture, c.first)
	satisfied := func(want bool) {
		t.Helper()
		if n := c.Count(t, `batches WHERE id = $1 AND satisfied`, string(c.first)); (n == 1) != want {
			t.Errorf("the stage is satisfied: %v, want %v", n == 1, want)
		}
	}
	satisfied(false)
	new, err := s.Replace(ctx, c.As("lead"), c.shown(c.first, 2), store.Replacement{Content: map[string]any{"topic": "item-2", "text": "First"}, Submit: true})
	ok(t, err)
	c.Approve(t, new, "second")
	d, err := s.ClaimAndDispatch(ctx, runner, new, "alone")
	ok(t, err)
	o := confirmed([]store.Dispatched{d})[0]
	_, err = s.Record(ctx, runner, o.Attempt, o.Fence, o.Result)
	ok(t, err)
	satisfied(true)
	ok(t, s.Dispute(ctx, c.As("ops"), c.shownOf(new), ""))
	satisfied(false)
	ok(t, s.RecordLookup(ctx, runner, new, time.Now(), operation.LookupFinding{Result: operation.LookupOne, ID: o.Result.TargetReference}))
	satisfied(false)
	ok(t, s.ConfirmDone(ctx, c.As("ops"), c.shownOf(new), store.Reference{ID: "really"}))
	satisfied(true)
	verified(t, c.Fixture, c.first)
}
