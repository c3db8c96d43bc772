package jobs

import (
	"context"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"holdpoint/connector/connectortest"
	"holdpoint/operation"
	"holdpoint/store"
)

// listFlow fans out over a list: one effect at %[1]s for each item. %[4]s are more lines of
// for_each.
const listFlow = `
flow: list-%[1]s
title: {en: List to %[1]s}
owner: {role: approver}
reviewer: {role: ops_owner}
reexecution: {approvers: {role: ops_owner}, required: 1}
trigger: {source: test, topic: list-%[1]s}
inputs: {type: object, required: [items], properties: {items: {type: array, items: {type: object}}}}
on_missing_data: draft
stages:
  - key: effect
    destination: %[1]s
    action: %[2]s
    for_each:
      in: ${inputs.items}
      key: ${item.key}
      pause_when: {%[4]s}
    content: {%[3]s: "${item.name}"}
    approval: {approvers: {role: approver}, required: 1, separate_author: true, expires: 72h}
    attempts: {max: 5}
failure: "-"
`

// Limits that let a batch go on whatever happens.
const neverPause = `last: 100, errors: 100%, unknown: 100%, bounced: 100%`

// batch makes a batch of n items for a destination and approves it.
func (w *world) batch(destination string, n int, pause string) operation.BatchID {
	w.t.Helper()
	ctx := context.Background()
	actions := map[string]string{"crm": "create_task", "billing": "create_invoice", "plain": "create_thing"}
	src := fmt.Appendf(nil, listFlow, destination, actions[destination], content[destination], pause)
	if _, err := w.store.Apply(ctx, store.System("command"), []store.File{{Name: "list.yaml", Source: src}}); err != nil {
		w.t.Fatal(err)
	}
	list := store.List{Name: "list.csv", Rows: func(yield func(map[string]any, error) bool) {
		for i := range n {
			if !yield(map[string]any{"key": fmt.Sprintf("item-%06d", i+1), "name": fmt.Sprintf("Item %d", i+1)}, nil) {
				return
			}
		}
	}}
	_, ids, err := w.store.CreateBatchRun(ctx, store.System("api"), store.NewBatchRun{Flow: "list-" + destination, RunKey: fmt.Sprint("list-", w.serial.Add(1)),
		Lists: map[string]store.List{"items": list}, Author: store.Author{Kind: "token", ID: "tok_test"}})
	if err != nil || len(ids) != 1 {
		w.t.Fatalf("batch: %v %v", ids, err)
	}
	var number int
	var revision int64
	var hash []byte
	if err := w.db.QueryRow(`SELECT b.number, b.revision, v.hash FROM batches b JOIN batch_versions v ON v.batch_id = b.id AND v.number = b.number WHERE b.id = $1`, string(ids[0])).Scan(&number, &revision, &hash); err != nil {
		w.t.Fatal(err)
	}
	err = w.store.DecideBatch(ctx, w.lead, store.BatchDecided{Batch: ids[0], Number: number, Hash: hex.EncodeToString(hash), Revision: revision, Phase: operation.PhaseFirst, Decision: operation.Approve, FormID: "form-" + string(ids[0])})
	if err != nil {
		w.t.Fatalf("approve the batch: %v", err)
	}
	return ids[0]
}

// batchIs waits until a batch is in a state.
func (w *world) batchIs(id operation.BatchID, what, condition string, limit time.Duration) {
	w.t.Helper()
	end := time.Now().Add(limit)
	for {
		var ok bool
		var counts string
		if err := w.db.QueryRow(`SELECT (`+condition+`), state || ' released ' || released || ' paused ' || paused_auto || ': ' || (SELECT COALESCE(string_agg(s.state || '=' || n, ' '), '') FROM (SELECT o.state, count(*) AS n FROM operations o WHERE o.batch_id = b.id GROUP BY 1) s)
			FROM batches b WHERE id = $1`, string(id)).Scan(&ok, &counts); err == nil && ok {
			return
		}
		if time.Now().After(end) {
			w.t.Fatalf("the batch is not %s after %s: %s", what, limit, counts)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// itemsOf are the operations of a batch with their states.
func (w *world) itemsOf(id operation.BatchID) map[operation.ID]operation.State {
	w.t.Helper()
	rows, err := w.db.Query(`SELECT id, state FROM operations WHERE batch_id = $1`, string(id))
	if err != nil {
		w.t.Fatal(err)
	}
	defer rows.Close()
	out := map[operation.ID]operation.State{}
	for rows.Next() {
		var op operation.ID
		var state operation.State
		if err := rows.Scan(&op, &state); err != nil {
			w.t.Fatal(err)
		}
		out[op] = state
	}
	return out
}

// effectsOf counts the effects at a destination by the operations that asked for them.
func (w *world) effectsOf(destination string) map[operation.ID]int {
	out := map[operation.ID]int{}
	for _, e := range w.box.Ledger(w.t, destination, "") {
		out[operation.ID(e.Reference)]++
	}
	return out
}

// Two processes work on one batch: each item goes out once, and the batch ends.
func TestBatchIsWorkedOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "10s")
	w.work()
	w.work()
	id := w.batch("crm", 120, neverPause)
	w.batchIs(id, "closed", "state = 'closed' AND satisfied", 30*time.Second)
	items, effects := w.itemsOf(id), w.effectsOf("crm")
	if len(items) != 120 || len(effects) != 120 {
		t.Errorf("%d operations, %d effects", len(items), len(effects))
	}
	for op, state := range items {
		if state != operation.Confirmed || effects[op] != 1 {
			t.Errorf("%s is %s with %d effects", op, state, effects[op])
		}
	}
	if n := w.posts("crm"); n != 120 {
		t.Errorf("%d requests", n)
	}
}

// A batch in which too much goes wrong pauses by itself, and goes on when a person lets it.
func TestBatchPausesByItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "10s")
	w.box.Fault(t, connectortest.Fault{Destination: "plain", Fault: "status_before_execute", Status: 401, Times: connectortest.Forever})
	w.work()
	id := w.batch("plain", 100, "last: 20, errors: 20%, unknown: 100%, bounced: 100%")
	w.batchIs(id, "paused", "paused_auto = 'errors'", 20*time.Second)
}
