package store_test

import (
	"slices"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// due lists what a sweep would wake now.
func due(t *testing.T, f *storetest.Fixture) []operation.ID {
	t.Helper()
	rows, _, err := f.Store.DueOperations(t.Context(), store.DueCursor{}, 100, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ids []operation.ID
	for _, d := range rows {
		ids = append(ids, d.Operation)
	}
	return ids
}

func TestDueOperations(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	in := map[operation.State]operation.ID{}
	for _, state := range operation.States {
		s := &stand{f: f, t: t, id: coupon(t, f)()}
		ways[state](s)
		in[state] = s.id
	}
	// An unknown outcome that is looked up and not repeated: its lookup is due, no retry.
	// It must not keep the sweep from finding the others.
	if _, err := f.Owner.ExecContext(t.Context(), `UPDATE operations SET retry_at = NULL, lookup_at = clock_timestamp() - interval '1 s', next_at = clock_timestamp() - interval '1 s' WHERE id = $1`,
		string(in[operation.Unknown])); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Owner.ExecContext(t.Context(), `UPDATE operations SET retry_at = clock_timestamp(), next_at = clock_timestamp() WHERE id = $1`, string(in[operation.RetryScheduled])); err != nil {
		t.Fatal(err)
	}
	got := due(t, f)
	for state, id := range in {
		want := state == operation.Ready || state == operation.RetryScheduled
		if slices.Contains(got, id) != want {
			t.Errorf("%s: due is %v, want %v", state, !want, want)
		}
	}
}

// TestUnreachableLookupBeforeAReexecution: a lookup that does not answer plans the next
// one at a growing interval; it wakes no attempt, which would ask for it at once again.
func TestUnreachableLookupBeforeAReexecution(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	s := &stand{f: f, t: t, id: coupon(t, f)()}
	ways[operation.ReexecutionRequested](s)
	s.must(f.Store.DecideReexecution(t.Context(), f.Fresh(t, "ops2"), s.shown("one more"), true))
	r := race{f: f, t: t, id: s.id}
	look := func(result operation.LookupResult) (woken int) {
		t.Helper()
		before := f.Count(t, `river_job WHERE kind = 'execute'`)
		s.must(f.Store.RecordLookup(t.Context(), hand, s.id, time.Now(), operation.LookupFinding{Result: result}))
		return f.Count(t, `river_job WHERE kind = 'execute'`) - before
	}
	for range 3 {
		if n := look(operation.LookupUnreachable); n != 0 {
			t.Errorf("an unreachable lookup woke %d attempts", n)
		}
		if n := r.count(`operations WHERE id = $1 AND state = 'ready' AND lookup_at > clock_timestamp() + interval '400 ms'`); n != 1 {
			t.Error("the next lookup is not planned for later")
		}
		r.refused("a claim without an answered lookup", r.claim(), operation.CodeLookupNeeded)
	}
	if n := look(operation.LookupNone); n == 0 {
		t.Error("a lookup that answers does not wake the attempt that waits for it")
	}
}

// TestReviewStaysDue: lookups that find nothing put off nothing that a person must do.
func TestReviewStaysDue(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s := &stand{f: f, t: t, id: coupon(t, f)()}
	ways[operation.Review](s)
	if _, err := f.Owner.ExecContext(t.Context(), `UPDATE operations SET next_at = next_at - interval '3 hours' WHERE id = $1`, string(s.id)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s.must(f.Store.RecordLookup(t.Context(), hand, s.id, time.Now(), operation.LookupFinding{Result: operation.LookupNone}))
	}
	if n := f.Count(t, `operations WHERE id = $1 AND state = 'review' AND next_at < clock_timestamp() + interval '2 hours'`, string(s.id)); n != 1 {
		t.Error("a lookup put off the date by which a person must settle it")
	}
}
