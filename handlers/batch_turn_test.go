package handlers_test

import (
	"fmt"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
)

// twoLists has a stage of which every item must be confirmed before any of the next goes out.
const twoLists = `flow: two-lists
title: {en: Two lists}
owner: {role: approver}
reviewer: {role: ops_owner}
reexecution: {approvers: {role: ops_owner}}
trigger: {source: api, topic: two-lists}
inputs: {type: object, required: [people], properties: {people: {type: array, items: {type: object, required: [key], properties: {key: {type: string}}}}}}
stages:
  - key: tasks
    title: {en: Tasks}
    destination: plain
    action: create_thing
    for_each: {in: "${inputs.people}", key: "${item.key}"}
    content: {topic: "${item.key}", text: First}
    approval: {approvers: {role: approver}}
    satisfied_by: every_item_confirmed
  - key: notes
    title: {en: Notes}
    destination: plain
    action: create_thing
    for_each: {in: "${inputs.people}", key: "${item.key}"}
    content: {topic: "${item.key}", text: Second}
    approval: {approvers: {role: approver}}
`

// TestBatchSaysWhoseTurn takes a batch through what may hold it: an earlier stage under way,
// with a dispute, closed without all that it needs; then the owner goes on without that stage.
func TestBatchSaysWhoseTurn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s, ctx, job := h.Store, t.Context(), store.Job("runner")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.Apply(ctx, store.System("command"), []store.File{{Name: "two.yaml", Source: []byte(twoLists)}})
	must(err)
	list := store.List{Name: "people.csv", Rows: func(yield func(map[string]any, error) bool) {
		for i := range 3 {
			if !yield(map[string]any{"key": fmt.Sprint("item-", i+1)}, nil) {
				return
			}
		}
	}}
	_, ids, err := s.CreateBatchRun(ctx, h.As("author"), store.NewBatchRun{Flow: "two-lists", FormID: store.NewFormID(), Lists: map[string]store.List{"people": list}})
	must(err)
	for _, id := range ids {
		h.ApproveBatch(t, id, "lead")
	}
	tasks, notes := "/batches/"+string(ids[0]), "/batches/"+string(ids[1])
	lead := h.as(t, "lead")
	says := func(path, next, responsible string, more ...string) *answer {
		t.Helper()
		page := lead.get(path).want(200).says(more...)
		for testid, want := range map[string]string{"next": next, "responsible": responsible} {
			if got := (&answer{doc: page.has(testid)}).text(); !strings.Contains(got, want) {
				t.Errorf("%s: %s is %q, want %q", path, testid, got, want)
			}
		}
		return page
	}
	turn := func(no int) operation.NextDecision {
		t.Helper()
		p, err := s.FindBatch(ctx, h.As("lead"), ids[no])
		must(err)
		return p.Turn.Next
	}

	// An item that comes to nothing, and two that are disputed afterwards.
	_, err = s.ReleaseBatch(ctx, job, ids[0], 100)
	must(err)
	says(notes, "Settle the earlier stage", "system", "Held by an earlier stage", "is still under way")
	c, err := s.ClaimGroup(ctx, job, ids[0], 2, "worker")
	must(err)
	var out []store.Outcome
	for i, d := range c.Dispatched {
		out = append(out, store.Outcome{Operation: d.Operation, Attempt: d.Attempt, Fence: d.Fence,
			Result: operation.Result{Outcome: operation.OutcomeConfirmed, TargetReference: fmt.Sprint("thing-", i), Proof: operation.Proof{Code: "accepted", Phase: operation.PhaseComplete, Status: 200}}})
	}
	_, err = s.RecordGroup(ctx, job, ids[0], out)
	must(err)
	shown := func(id operation.ID) store.Shown {
		t.Helper()
		p, err := s.FindOperation(ctx, h.As("ops"), id)
		must(err)
		return store.Shown{Operation: id, Revision: p.Revision, FormID: store.NewFormID(), Reason: "as the test wants it"}
	}
	var third operation.ID
	must(h.Owner.QueryRow(`SELECT id FROM operations WHERE batch_id = $1 AND state = 'ready'`, string(ids[0])).Scan(&third))
	disputed := c.Dispatched[0].Operation
	must(s.Dispute(ctx, h.As("ops"), shown(disputed), ""))
	must(s.Cancel(ctx, h.As("lead"), shown(third)))

	// Only an outcome of the first is left: a reviewer's turn, there and for what it holds.
	says(tasks, "Settle 1 outcome", "ops owner", "1 outcome is to be settled by a person")
	held := says(notes, "Settle the earlier stage", "ops owner", "1 outcome is to be settled there")
	if held.has("held-by") == nil || attr(held.has("held-by"), "href") != tasks || strings.Contains(held.body, "Goes on by itself") {
		t.Error("the held batch does not lead to the stage that holds it")
	}
	if n := turn(1); n.Kind != operation.DecideStage || n.Who.Role != operation.RoleOpsOwner {
		t.Errorf("of the held batch is said: %+v", n)
	}

	// It closes without all that its stage needs: the owner's turn, and a form for it.
	must(s.ConfirmDone(ctx, h.As("ops"), shown(disputed), store.Reference{ID: "thing-0"}))
	if state, err := s.AdvanceBatch(ctx, job, ids[0]); err != nil || state != operation.BatchClosed {
		t.Fatal(state, err)
	}
	says(notes, "Settle the earlier stage", "pprover", "it closed, but did not come to what it needs")
	page := says(tasks, "Say how the run goes on", "pprover", "The stages after it wait")
	if n := turn(0); n.Kind != operation.DecideRemedy || n.Who.Role != operation.RoleApprover {
		t.Errorf("of the closed batch is said: %+v", n)
	}
	p, err := s.FindBatch(ctx, h.As("lead"), ids[0])
	must(err)
	if run := lead.get("/runs/" + string(p.RunID)).want(200); attr(run.has("stage-go-on"), "href") != tasks+"/go_on" {
		t.Error("the run's page does not lead to the decision")
	}
	for who, may := range map[string]bool{"lead": true, "ops": true, "admin": true, "author": false, "auditor": false} {
		b := h.as(t, who)
		if got := b.get(tasks + "/go_on").status; (got == 200) != may || !may && b.get(tasks).want(200).has("do-batch_go_on") != nil {
			t.Errorf("%s: the form answers %d", who, got)
		}
	}

	// A dispute of the closed one is said where it is closed, and whose it is.
	must(s.Dispute(ctx, h.As("ops"), shown(disputed), ""))
	if again := says(tasks, "Settle 1 outcome", "ops owner", "In review again", "1 outcome was disputed"); strings.Contains(again.text(), "Nothing; it is closed") || strings.Contains(again.text(), "Every item that went out is settled") {
		t.Error("a closed batch with a disputed item says that nothing is to be done")
	}
	must(s.ConfirmDone(ctx, h.As("ops"), shown(disputed), store.Reference{ID: "thing-0"}))

	if page.has("do-batch_go_on") == nil {
		t.Fatal("the owner is not offered to go on")
	}
	form := lead.get(tasks + "/go_on").want(200)
	lead.submit(form, "form-go_on", "reason", "Not needed.").want(422)
	lead.follow(lead.submit(form, "form-go_on", "reason", "Not needed.", "confirm", "yes").want(303)).says("Recorded: the run goes on without this stage.", "Not needed.", "Nothing; it is closed")
	says(notes, "Goes on by itself", "system")
	if n, err := s.ReleaseBatch(ctx, job, ids[1], 100); n != 3 || err != nil {
		t.Errorf("%d items of the held batch were released: %v", n, err)
	}
	lead.follow(lead.get(tasks + "/go_on")).says("There is nothing to decide")
}
