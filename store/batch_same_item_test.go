package store_test

import (
	"fmt"
	"slices"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// chainFlow begins and ends with one operation, and fans out three times between: items of the
// second stage follow the same item of the first, those of the third wait for whole stages.
const chainFlow = `flow: chain
title: {en: Chain}
owner: {role: approver}
reviewer: {role: ops_owner}
reexecution: {approvers: {role: ops_owner}}
trigger: {source: api, topic: chain}
inputs: {type: object, required: [people], properties: {people: {type: array, items: {type: object, required: [key], properties: {key: {type: string}}}}}}
stages:
  - key: check
    destination: plain
    action: create_thing
    content: {topic: Check, text: The list is checked}
    approval: {approvers: {role: approver}}
  - key: first
    destination: plain
    action: create_thing
    for_each: {in: "${inputs.people}", key: "${item.key}"}
    content: {topic: "${item.key}", text: First}
    approval: {approvers: {role: approver}}
  - key: second
    destination: plain
    action: create_thing
    for_each: {in: "${inputs.people}", key: "${item.key}", same_item: true}
    content: {topic: "${item.key}", text: Second}
    approval: {approvers: {role: approver}}
    satisfied_by: every_item_confirmed
  - key: third
    destination: plain
    action: create_thing
    for_each: {in: "${inputs.people}", key: "${item.key}"}
    content: {topic: "${item.key}", text: Third}
    approval: {approvers: {role: approver}}
  - key: last
    destination: plain
    action: create_thing
    content: {topic: All, text: All of them are done}
    approval: {approvers: {role: approver}}
`

// chain is a run of chainFlow whose batches are approved.
type chain struct {
	*storetest.Fixture
	t                    *testing.T
	first, second, third operation.BatchID
	check, last          operation.ID
}

func newChain(t *testing.T, n int) *chain {
	f := storetest.NewFixture(t)
	_, err := f.Store.Apply(t.Context(), store.System("command"), []store.File{{Name: "chain.yaml", Source: []byte(chainFlow)}})
	ok(t, err)
	list := store.List{Name: "people.csv", Rows: func(yield func(map[string]any, error) bool) {
		for i := range n {
			if !yield(map[string]any{"key": fmt.Sprint("item-", i+1)}, nil) {
				return
			}
		}
	}}
	_, ids, err := f.Store.CreateBatchRun(t.Context(), f.As("author"), store.NewBatchRun{Flow: "chain", FormID: store.NewFormID(), Lists: map[string]store.List{"people": list}})
	ok(t, err)
	if len(ids) != 3 {
		t.Fatalf("%d batches", len(ids))
	}
	for _, id := range ids {
		f.ApproveBatch(t, id, "lead")
	}
	c := &chain{Fixture: f, t: t, first: ids[0], second: ids[1], third: ids[2]}
	for stage, op := range map[string]*operation.ID{"check": &c.check, "last": &c.last} {
		ok(t, f.Owner.QueryRow(`SELECT id FROM operations WHERE stage = $1`, stage).Scan(op))
		f.Approve(t, *op, "lead")
	}
	c.releases(c.first, 0)
	d, err := f.Store.ClaimAndDispatch(t.Context(), runner, c.check, "alone")
	ok(t, err)
	o := confirmed([]store.Dispatched{d})[0]
	_, err = f.Store.Record(t.Context(), runner, o.Attempt, o.Fence, o.Result)
	ok(t, err)
	return c
}

// item finds the operation of an item.
func (c *chain) item(id operation.BatchID, no int) (op operation.ID, state operation.State) {
	c.t.Helper()
	ok(c.t, c.Owner.QueryRow(`SELECT id, state FROM operations WHERE batch_id = $1 AND batch_no = $2`, string(id), no).Scan(&op, &state))
	return op, state
}

func (c *chain) shown(id operation.BatchID, no int) store.Shown {
	op, _ := c.item(id, no)
	return c.shownOf(op)
}

func (c *chain) shownOf(op operation.ID) store.Shown {
	var rev int64
	ok(c.t, c.Owner.QueryRow(`SELECT revision FROM operations WHERE id = $1`, string(op)).Scan(&rev))
	return store.Shown{Operation: op, Revision: rev, FormID: store.NewFormID(), Reason: "as the test wants it"}
}

// claims takes what is due of a batch and says which items that are.
func (c *chain) claims(id operation.BatchID, want ...int) []store.Dispatched {
	c.t.Helper()
	g := claimed(c.t, c.Fixture, id, 10)
	var got []int
	for _, d := range g.Dispatched {
		var no int
		ok(c.t, c.Owner.QueryRow(`SELECT batch_no FROM operations WHERE id = $1`, string(d.Operation)).Scan(&no))
		got = append(got, no)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) || len(g.Alone) > 0 {
		c.t.Fatalf("claimed %v, want %v: refused %+v, %d alone, %v", got, want, g.Refused, len(g.Alone), g.Why)
	}
	return g.Dispatched
}

func (c *chain) releases(id operation.BatchID, want int) {
	c.t.Helper()
	if n := released(c.t, c.Fixture, id); n != want {
		c.t.Fatalf("%d items were released, want %d", n, want)
	}
}

// held: no worker gets the item, neither in a group nor alone.
func (c *chain) held(id operation.BatchID, no int) {
	c.t.Helper()
	op, _ := c.item(id, no)
	if g := claimed(c.t, c.Fixture, id, 10); slices.ContainsFunc(g.Dispatched, func(d store.Dispatched) bool { return d.Operation == op }) {
		c.t.Errorf("item %d went out", no)
	}
	_, err := c.Store.ClaimAndDispatch(c.t.Context(), runner, op, "alone")
	refused(c.t, err, operation.CodeEarlierStage)
}

// TestBatchSameItem: an item follows the same item of the stage before, and nothing else; what
// is in doubt about one holds its own follower only; a stage that waits for all waits for all.
func TestBatchSameItem(t *testing.T) {
	t.Parallel()
	c := newChain(t, 5)
	s, ctx := c.Store, t.Context()

	// nothing of the first is sent, so nothing of the second comes into being
	c.releases(c.second, 0)
	c.releases(c.third, 0)
	c.releases(c.first, 5)
	c.releases(c.second, 0)
	g, err := s.ClaimGroup(ctx, runner, c.first, 3, "worker")
	ok(t, err)
	c.releases(c.second, 0) // under way is not confirmed
	outcomes := confirmed(g.Dispatched)
	outcomes[1].Result = operation.Result{Outcome: operation.OutcomeUnknown, Proof: operation.Proof{Code: "timeout"}}
	recorded(t, c.Fixture, c.first, outcomes)

	// 1 and 3 are confirmed, 2 is unknown, 4 and 5 are ready: the follower of 2 waits alone
	c.releases(c.second, 3)
	if _, state := c.item(c.second, 2); state != operation.Waiting {
		t.Errorf("the follower of an unknown item is %s", state)
	}
	// the effect of 3 is disputed: the gate lets its follower not go any more
	ok(t, s.Dispute(ctx, c.As("ops"), c.shown(c.first, 3), ""))
	one := c.claims(c.second, 1)
	c.held(c.second, 2)
	c.held(c.second, 3)
	// while the stage before both is disputed, nothing goes; that holds back no longer than it lasts
	ok(t, s.Dispute(ctx, c.As("ops"), c.shownOf(c.check), ""))
	c.held(c.first, 5)
	ok(t, s.ConfirmDone(ctx, c.As("ops"), c.shown(c.first, 2), store.Reference{ID: "seen-2"}))
	c.held(c.second, 2)
	ok(t, s.ConfirmDone(ctx, c.As("ops"), c.shownOf(c.check), store.Reference{ID: "checked"}))
	two := c.claims(c.second, 2)
	c.held(c.second, 3)
	ok(t, s.ConfirmDone(ctx, c.As("ops"), c.shown(c.first, 3), store.Reference{ID: "seen-3"}))
	three := c.claims(c.second, 3)
	recorded(t, c.Fixture, c.second, confirmed(slices.Concat(one, two, three)))
	c.releases(c.second, 0)
	c.rest()
}

// rest takes the chain to its end.
func (c *chain) rest() {
	t, s, ctx := c.t, c.Store, c.t.Context()
	recorded(t, c.Fixture, c.first, confirmed(c.claims(c.first, 4, 5)))
	if state := advanced(t, c.Fixture, c.first); state != operation.BatchClosed {
		t.Fatalf("the first is %s", state)
	}
	// four of the second are confirmed, the fifth is not: the third waits for all of them
	c.releases(c.second, 2)
	both := c.claims(c.second, 4, 5)
	recorded(t, c.Fixture, c.second, confirmed(both[:1]))
	advanced(t, c.Fixture, c.second)
	c.releases(c.third, 0)
	recorded(t, c.Fixture, c.second, confirmed(both[1:]))
	if state := advanced(t, c.Fixture, c.second); state != operation.BatchClosed {
		t.Fatalf("the second is %s", state)
	}
	c.releases(c.third, 5)

	// two of the second are disputed: nothing of the third may go until both are settled
	ok(t, s.Dispute(ctx, c.As("ops"), c.shown(c.second, 1), ""))
	ok(t, s.Dispute(ctx, c.As("ops"), c.shown(c.second, 2), ""))
	if g := claimed(t, c.Fixture, c.third, 10); len(g.Dispatched) > 0 || g.Why == nil || g.Why.Code != operation.CodeEarlierStage {
		t.Errorf("%d went out, %v", len(g.Dispatched), g.Why)
	}
	c.held(c.third, 4)
	ok(t, s.ConfirmDone(ctx, c.As("ops"), c.shown(c.second, 1), store.Reference{ID: "again-1"}))
	c.held(c.third, 1)
	ok(t, s.ConfirmDone(ctx, c.As("ops"), c.shown(c.second, 2), store.Reference{ID: "again-2"}))
	third := c.claims(c.third, 1, 2, 3, 4, 5)
	recorded(t, c.Fixture, c.third, confirmed(third[:4]))
	advanced(t, c.Fixture, c.third)
	if state := c.State(t, c.last); state != operation.Waiting {
		t.Errorf("the last is %s before all items are confirmed", state)
	}
	recorded(t, c.Fixture, c.third, confirmed(third[4:]))
	advanced(t, c.Fixture, c.third)
	if state := c.State(t, c.last); state != operation.Ready {
		t.Errorf("the last is %s after all items are confirmed", state)
	}
	for _, id := range []operation.BatchID{c.first, c.second, c.third} {
		if states := batchStates(t, c.Fixture, id); states != "confirmed=5" {
			t.Error(states)
		}
		verified(t, c.Fixture, id)
	}
	if n := c.Count(t, `(SELECT item_key FROM operations WHERE batch_id IS NOT NULL AND attempts_ever <> 1) x`); n > 0 {
		t.Errorf("%d items have not exactly one attempt", n)
	}
}
