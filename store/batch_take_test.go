package store_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

func took(t *testing.T, f *storetest.Fixture, id operation.BatchID, n int, except ...operation.ID) store.GroupClaimed {
	t.Helper()
	c, err := f.Store.ReleaseAndClaim(t.Context(), runner, id, n, "worker", except...)
	ok(t, err)
	return c
}

// own is what two batches of the same letter do not share: identifiers, times, hashes, addresses.
var own = regexp.MustCompile(`(op|run|ver|clr|bcl|att|bat|evt)_[0-9a-z]{20,}|"\d{4}-\d\d-\d\dT[^"]*"|"\\\\x[0-9a-f]+"|[0-9a-f]{64}|(one|two)\d+|"id": *\d+`)

// everyRow gives every row that a batch's operations have, without what is their own.
func everyRow(t *testing.T, f *storetest.Fixture, id operation.BatchID) []string {
	t.Helper()
	var out []string
	for _, q := range []string{
		`SELECT to_jsonb(x) - 'revision' FROM operations x WHERE batch_id = $1 ORDER BY batch_no`,
		`SELECT to_jsonb(x) FROM attempts x JOIN operations o ON o.id = x.operation_id WHERE o.batch_id = $1 ORDER BY o.batch_no, x.number`,
		`SELECT to_jsonb(x) FROM content_versions x JOIN operations o ON o.id = x.operation_id WHERE o.batch_id = $1 ORDER BY o.batch_no`,
		`SELECT to_jsonb(x) FROM version_bodies x JOIN operations o ON o.version_id = x.version_id WHERE o.batch_id = $1 ORDER BY o.batch_no`,
		`SELECT to_jsonb(x) FROM clearances x JOIN operations o ON o.id = x.operation_id WHERE o.batch_id = $1 ORDER BY o.batch_no`,
		`SELECT to_jsonb(x) - '{id,kind,hash,prev_hash}'::text[] FROM history x JOIN operations o ON o.id = x.subject_id WHERE o.batch_id = $1 ORDER BY o.batch_no, x.seq`,
		`SELECT to_jsonb(x) FROM batch_counts x WHERE batch_id = $1 AND n <> 0 ORDER BY state`,
		`SELECT to_jsonb(x) - '{next_at,id}'::text[] FROM (SELECT released, cleared, state, next_kind FROM batches WHERE id = $1) x`,
	} {
		var rows []string
		rs, err := f.Owner.QueryContext(t.Context(), q, string(id))
		ok(t, err)
		for rs.Next() {
			var r string
			ok(t, rs.Scan(&r))
			rows = append(rows, r)
		}
		ok(t, rs.Err())
		if len(rows) == 0 {
			t.Fatalf("nothing: %s", q)
		}
		for _, r := range rows {
			if strings.Contains(r, `"links": "`) { // JSON in JSON
				var m map[string]any
				ok(t, json.Unmarshal([]byte(r), &m))
				_ = json.Unmarshal([]byte(fmt.Sprint(m["links"])), &m)
				b, err := json.Marshal(m)
				ok(t, err)
				r = string(b)
			}
			out = append(out, own.ReplaceAllString(r, "…"))
		}
	}
	return out
}

// TestBatchTakenAtOnce: items that are released and claimed in one step have every row that
// they would have after a release and a claim, and go the same way from there.
func TestBatchTakenAtOnce(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "{approvers: {role: approver}, expires: 72h}")
	batch := func(name string) operation.BatchID {
		id := f.Batch(t, storetest.Recipients(5, func(i int, e map[string]any) map[string]any {
			e["email"] = fmt.Sprintf("%s%d@example.test", name, i)
			return e
		}))
		f.ApproveBatch(t, id, "lead")
		return id
	}
	steps, once := batch("one"), batch("two")
	released(t, f, steps)
	before := claimed(t, f, steps, 10)
	c := took(t, f, once, 10)
	if len(c.Dispatched) != 5 || len(before.Dispatched) != 5 || c.Due || c.Ahead || c.Why != nil {
		t.Fatalf("%+v", c)
	}
	want, got := everyRow(t, f, steps), everyRow(t, f, once)
	for i := range max(len(want), len(got)) {
		if i >= len(want) || i >= len(got) || want[i] != got[i] {
			t.Fatalf("row %d\n want %s\n got  %s", i, slices.Concat(want, make([]string, i+1))[i], slices.Concat(got, make([]string, i+1))[i])
		}
	}
	for i, d := range c.Dispatched {
		w := before.Dispatched[i]
		if d.Destination != w.Destination || d.Credential != w.Credential || d.Action != w.Action || d.Fence != w.Fence || d.Kind != w.Kind || d.Profile == nil || d.Key == "" || d.Budget <= 0 ||
			!slices.Equal(slices.Sorted(maps.Keys(d.Content)), slices.Sorted(maps.Keys(w.Content))) || d.Content["to"] != fmt.Sprintf("two%d@example.test", i) && d.Content["to"] != fmt.Sprintf("two%d@example.test", i+1) {
			t.Errorf("got %+v\n as %+v", d, w)
		}
	}
	for _, id := range []operation.BatchID{steps, once} {
		ds := before.Dispatched
		if id == once {
			ds = c.Dispatched
		}
		recorded(t, f, id, confirmed(ds))
		if s := batchStates(t, f, id); s != "confirmed=5" || advanced(t, f, id) != operation.BatchClosed {
			t.Errorf("%s: %s", id, s)
		}
		verified(t, f, id)
		whole(t, f.Store, operation.SubjectBatch, string(id))
	}
}

// TestBatchTakesWhatMayGo: nothing is begun beyond the free hands, the canary, a pause, a stop,
// or before what is due already; what the gate refuses is left ready and said by a claim.
func TestBatchTakesWhatMayGo(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "{approvers: {role: approver}, expires: 72h}", "canary: 4")
	id := f.Batch(t, storetest.Recipients(10, nil))
	if c := took(t, f, id, 3); len(c.Dispatched) != 0 || f.Count(t, "operations") != 0 {
		t.Fatalf("nobody approved it: %+v", c)
	}
	f.ApproveBatch(t, id, "lead")
	if c := took(t, f, id, 0); len(c.Dispatched) != 0 {
		t.Fatalf("no hand is free: %+v", c)
	}
	first := took(t, f, id, 3)
	if len(first.Dispatched) != 3 || batchStates(t, f, id) != "in_progress=3" {
		t.Fatalf("%d of 3 were begun", len(first.Dispatched))
	}
	shown := func() store.BatchShown {
		p, err := f.Store.FindBatch(t.Context(), f.As("ops"), id)
		ok(t, err)
		return store.BatchShown{Batch: id, Revision: p.Revision, Reason: "a look", FormID: store.NewFormID()}
	}
	_, err := f.Store.PauseBatch(t.Context(), f.As("ops"), shown())
	ok(t, err)
	if c := took(t, f, id, 3); len(c.Dispatched) != 0 || c.Why == nil || c.Why.Code != operation.CodePausedBatch {
		t.Fatalf("a paused batch went on: %+v", c)
	}
	ok(t, f.Store.ResumeBatch(t.Context(), f.As("ops"), shown()))

	// one that failed provably is tried again before anything new is begun
	failed := confirmed(first.Dispatched)
	failed[0].Result = operation.Result{Outcome: operation.OutcomeNotStarted, Proof: operation.Proof{Code: "busy"}}
	recorded(t, f, id, failed)
	_, err = f.Owner.Exec(`UPDATE operations SET retry_at = now() WHERE state = 'retry_scheduled'`)
	ok(t, err)
	if c := took(t, f, id, 3); !c.Due || len(c.Dispatched) != 0 {
		t.Fatalf("new ones went before what is due: %+v", c)
	}
	again := first.Dispatched[0].Operation
	c := took(t, f, id, 3, again)
	if c.Due || len(c.Dispatched) != 1 {
		t.Fatalf("the canary has four: %+v", c)
	}
	if c := took(t, f, id, 3, again); len(c.Dispatched) != 0 || f.Count(t, "operations") != 4 {
		t.Fatalf("more than the canary was begun: %+v", c)
	}
}

// TestBatchTakesNoSuppressed: who was suppressed since the approval is left for the claim,
// which cancels it; the others go.
func TestBatchTakesNoSuppressed(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "{approvers: {role: approver}, expires: 72h}")
	id := f.Batch(t, storetest.Recipients(4, func(i int, e map[string]any) map[string]any {
		e["email"] = fmt.Sprintf("r%d@example.test", i)
		return e
	}))
	f.ApproveBatch(t, id, "lead")
	var second string
	ok(t, f.Owner.QueryRow(`SELECT recipient FROM batch_items WHERE position = 2`).Scan(&second))
	suppressed(t, f, second)
	sent := map[operation.ID]bool{}
	for range 6 {
		c := took(t, f, id, 10)
		if c.Due && len(c.Dispatched) == 0 {
			c = claimed(t, f, id, 10)
		}
		for _, d := range c.Dispatched {
			if d.Content["to"] == second || sent[d.Operation] {
				t.Errorf("%v was sent", d.Content["to"])
			}
			sent[d.Operation] = true
		}
	}
	if s := batchStates(t, f, id); s != "cancelled=1 in_progress=3" || len(sent) != 3 {
		t.Errorf("%d sent: %s", len(sent), s)
	}
	verified(t, f, id)
}

// TestBatchTakenByMany: several processes take items of one batch at once; each item is taken
// by one of them, once.
func TestBatchTakenByMany(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "{approvers: {role: approver}, expires: 72h}")
	id := f.Batch(t, storetest.Recipients(60, nil))
	f.ApproveBatch(t, id, "lead")
	var mu sync.Mutex
	var wg sync.WaitGroup
	taken := map[operation.ID]int{}
	for range 4 {
		wg.Go(func() {
			for {
				c, err := f.Store.ReleaseAndClaim(t.Context(), runner, id, 7, "worker")
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for _, d := range c.Dispatched {
					taken[d.Operation]++
				}
				mu.Unlock()
				if len(c.Dispatched) == 0 {
					return
				}
				if _, err := f.Store.RecordGroup(t.Context(), runner, id, confirmed(c.Dispatched)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	for op, n := range taken {
		if n != 1 {
			t.Errorf("%s was taken %d times", op, n)
		}
	}
	if s := batchStates(t, f, id); len(taken) != 60 || s != "confirmed=60" || f.Count(t, "attempts") != 60 || advanced(t, f, id) != operation.BatchClosed {
		t.Errorf("%d taken: %s", len(taken), s)
	}
	verified(t, f, id)
	whole(t, f.Store, operation.SubjectBatch, string(id))
}
