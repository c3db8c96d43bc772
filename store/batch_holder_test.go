package store_test

import (
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
)

// next checks whose decision is recorded as the next of an operation, and that its page says
// the same.
func (c *chain) next(op operation.ID, want operation.Responsible) {
	c.t.Helper()
	var got struct {
		Role   operation.Role `db:"next_role"`
		System bool           `db:"next_system"`
	}
	ok(c.t, c.Owner.QueryRow(`SELECT next_role, next_system FROM operations WHERE id = $1 AND state = 'waiting' AND next_kind = 'earlier_stage'`, string(op)).Scan(&got.Role, &got.System))
	if got.Role != want.Role || got.System != want.System {
		c.t.Errorf("what is recorded is %+v, want %+v", got, want)
	}
	p, err := c.Store.FindOperation(c.t.Context(), c.As("lead"), op)
	ok(c.t, err)
	if p.Next().Who != want {
		c.t.Errorf("the page says %+v, want %+v", p.Next().Who, want)
	}
}

// TestWaitingItemNamesWhoSettles: an item behind the same item of an earlier stage says who
// decides about that one, whether it was released behind it or that was disputed afterwards,
// and follows when somebody else decides about it.
func TestWaitingItemNamesWhoSettles(t *testing.T) {
	t.Parallel()
	c := newChain(t, 2)
	s, ctx := c.Store, t.Context()
	reviewer, owner := operation.Responsible{Role: operation.RoleOpsOwner}, operation.Responsible{Role: operation.RoleApprover}
	c.releases(c.first, 2)
	outcomes := confirmed(c.claims(c.first, 1, 2))
	outcomes[1].Result = operation.Result{Outcome: operation.OutcomeUnknown, Proof: operation.Proof{Code: "timeout"}}
	recorded(t, c.Fixture, c.first, outcomes)
	_, state := c.item(c.first, 2)
	if state != operation.Review && state != operation.Unknown {
		t.Fatal(state)
	}

	// released behind an item in doubt
	c.releases(c.second, 2)
	second, _ := c.item(c.second, 2)
	c.next(second, reviewer)
	if p, err := s.FindBatch(ctx, c.As("lead"), c.second); err != nil || p.Turn.Kind != operation.TurnRecorded {
		t.Errorf("a batch with an item that can go says %+v, %v", p.Turn, err)
	}

	// a pause of the flow keeps both from going on, and not what is settled by people
	_, err := s.PauseFlow(ctx, c.As("ops"), "chain", "a wrong word")
	ok(t, err)
	for id, want := range map[operation.BatchID]operation.BatchTurnKind{c.first: operation.TurnRecorded, c.second: operation.TurnResume} {
		p, err := s.FindBatch(ctx, c.As("lead"), id)
		ok(t, err)
		if p.Turn.Kind == operation.TurnResume != (want == operation.TurnResume) || want == operation.TurnResume && p.Turn.Next.Who.Role != operation.RoleOpsOwner {
			t.Errorf("under a pause of the flow, the batch says %+v", p.Turn)
		}
	}
	ok(t, s.ResumeFlow(ctx, c.As("ops"), "chain", "put right"))

	// ready, and then sent back
	first, _ := c.item(c.second, 1)
	ok(t, s.Dispute(ctx, c.As("ops"), c.shown(c.first, 1), ""))
	c.next(first, reviewer)
	if p, err := s.FindBatch(ctx, c.As("lead"), c.second); err != nil || p.Turn.Kind != operation.TurnHeld || p.Turn.Next.Who != reviewer || p.Turn.Holder.Batch != c.first {
		t.Errorf("the batch says %+v, %v", p.Turn, err)
	}
	ok(t, s.ConfirmDone(ctx, c.As("ops"), c.shown(c.first, 1), store.Reference{ID: "seen-1"}))
	if _, state := c.item(c.second, 1); state != operation.Ready {
		t.Errorf("what is settled leaves %s", state)
	}

	// what waits for one operation follows as well
	list := store.List{Name: "more.csv", Rows: func(yield func(map[string]any, error) bool) { yield(map[string]any{"key": "one"}, nil) }}
	got, _, err := s.CreateBatchRun(ctx, c.As("author"), store.NewBatchRun{Flow: "chain", FormID: store.NewFormID(), Lists: map[string]store.List{"people": list}})
	ok(t, err)
	of := func(stage string) (id operation.ID) {
		t.Helper()
		ok(t, c.Owner.QueryRow(`SELECT id FROM operations WHERE run_id = $1 AND stage = $2`, string(got.Runs[0]), stage).Scan(&id))
		return id
	}
	last := of("last")
	c.Approve(t, last, "lead")
	c.next(last, owner)
	c.Approve(t, of("check"), "lead")
	c.next(last, operation.Responsible{System: true})
}
