package store_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// outage makes several operations whose outcome is unknown, and lists their cases.
func outage(t *testing.T, f *storetest.Fixture, n int) (stands []*stand, ids []operation.CaseID) {
	t.Helper()
	for range n {
		s, id := unknownCase(t, f)
		stands, ids = append(stands, s), append(ids, id)
	}
	return stands, ids
}

func picked(ids []operation.CaseID) (out []store.PickedCase) {
	for _, id := range ids {
		out = append(out, store.PickedCase{ID: id})
	}
	return out
}

func bulkCodes(t *testing.T, f *storetest.Fixture, form string) map[operation.CaseID]operation.Code {
	t.Helper()
	rows, err := f.Store.ListBulkResults(t.Context(), f.As("ops"), form)
	ok(t, err)
	out := map[operation.CaseID]operation.Code{}
	for _, r := range rows {
		out[r.ID] = r.Code
	}
	return out
}

// TestFC47Cases: of a list that is taken at once each case has its own result; repeating
// it does no harm.
func TestFC47Cases(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	stands, ids := outage(t, f, 6)
	ok(t, f.Store.TakeCase(t.Context(), f.As("ops2"), ids[1], "", ""))
	ok(t, f.Store.ConfirmDone(t.Context(), f.As("ops"), stands[2].shown("seen there"), store.Reference{ID: ref(stands[2].id)}))
	ok(t, f.Store.WorkOnCases(t.Context(), f.As("ops"), "form-1", store.BulkTake, append(picked(ids), store.PickedCase{ID: "case_missing"}), ""))
	want := map[operation.CaseID]operation.Code{ids[0]: "", ids[1]: operation.CodeCaseTaken, ids[2]: operation.CodeCaseClosed, ids[3]: "", ids[4]: "", ids[5]: ""}
	got := bulkCodes(t, f, "form-1")
	for id, code := range want {
		if got[id] != code {
			t.Errorf("%s: %q, want %q", id, got[id], code)
		}
	}
	entries := f.Count(t, "history WHERE action = 'take_case'")
	ok(t, f.Store.WorkOnCases(t.Context(), f.As("ops"), "form-1", store.BulkTake, picked(ids), ""))
	if again := bulkCodes(t, f, "form-1"); fmt.Sprint(again) != fmt.Sprint(got) || f.Count(t, "history WHERE action = 'take_case'") != entries {
		t.Errorf("repeating changed something: %v", again)
	}
	// the refused one again, as it stands now, with a reason
	ok(t, f.Store.WorkOnCases(t.Context(), f.As("ops"), "form-2", store.BulkTake, []store.PickedCase{{ID: ids[1], From: f.Users["ops2"]}}, "Ona asked me to."))
	if got := bulkCodes(t, f, "form-2"); got[ids[1]] != "" {
		t.Errorf("taken over: %v", got)
	}
	// an end in the middle leaves the rest as not tried
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Store.WorkOnCases(ctx, f.As("ops"), "form-3", store.BulkTake, picked(ids), ""); err == nil {
		t.Error("a broken connection is no error")
	}
	casesFit(t, f)
}

// TestBulkLookup: many are looked up at once, and none is decided by it.
func TestBulkLookup(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	stands, ids := outage(t, f, 4)
	_, err := f.Owner.ExecContext(t.Context(), `UPDATE operations SET lookup_at = clock_timestamp() + interval '1 hour'`)
	ok(t, err)
	ok(t, f.Store.WorkOnCases(t.Context(), f.As("ops"), "form", store.BulkLookup, picked(ids), ""))
	for id, code := range bulkCodes(t, f, "form") {
		if code != "" {
			t.Errorf("%s: %s", id, code)
		}
	}
	due, err := f.Store.DueLookups(t.Context(), 100)
	ok(t, err)
	for _, s := range stands {
		if !slices.Contains(due, s.id) {
			t.Errorf("%s is not looked up", s.id)
		}
		if got := f.State(t, s.id); got.Closed() {
			t.Errorf("%s was decided: %s", s.id, got)
		}
	}
	if err := f.Store.WorkOnCases(t.Context(), f.As("ops"), "bad", "confirm", picked(ids), ""); err == nil {
		t.Error("unknown outcomes were decided at once")
	}
}

// TestQueue: a frozen list keeps its cases and its totals, whatever happens to them.
func TestQueue(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	stands, ids := outage(t, f, 7)
	q, err := f.Store.NewQueue(t.Context(), f.As("ops"), "form", append(ids[:6:6], ids[0]))
	ok(t, err)
	if again, err := f.Store.NewQueue(t.Context(), f.As("ops"), "form", ids); err != nil || again != q {
		t.Errorf("the same form made %s, %v", again, err)
	}
	sums := func() store.QueueRow {
		t.Helper()
		row, items, err := f.Store.FindQueue(t.Context(), f.As("ops"), q)
		ok(t, err)
		if row.Total != 6 || len(items) != 6 || row.Settled+row.Requested+row.Held+row.Gone+row.Left != row.Total {
			t.Fatalf("the totals do not add up: %+v", row)
		}
		return row
	}
	if s := sums(); s.Left != 6 {
		t.Errorf("%+v", s)
	}
	ok(t, f.Store.ConfirmDone(t.Context(), f.As("ops"), stands[0].shown("seen there"), store.Reference{ID: ref(stands[0].id)}))
	stands[1].notDone(true)
	stands[2].notDone(false)
	ok(t, f.Store.Hold(t.Context(), f.As("ops"), stands[3].shown("they look"), time.Now().Add(time.Hour)))
	ok(t, f.Store.ConfirmDone(t.Context(), f.As("ops2"), stands[4].shown("seen there"), store.Reference{ID: ref(stands[4].id)}))
	ok(t, f.Store.ConfirmDone(t.Context(), f.As("ops"), stands[6].shown("seen there"), store.Reference{ID: ref(stands[6].id)})) // not of the list
	s := sums()
	if s.Settled != 2 || s.Requested != 1 || s.Held != 1 || s.Gone != 1 || s.Left != 1 {
		t.Errorf("%+v", s)
	}
	_, items, err := f.Store.FindQueue(t.Context(), f.As("ops"), q)
	ok(t, err)
	if next, is := store.NextInQueue(items, ids[5]); is {
		t.Errorf("after the last one comes %s", next.ID)
	}
	if next, is := store.NextInQueue(items, ids[0]); !is || next.ID != ids[5] {
		t.Errorf("next is %v", next.ID)
	}
	if open, err := f.Store.ListQueues(t.Context(), f.As("ops")); err != nil || len(open) != 1 || open[0] != s {
		t.Errorf("%+v, %v", open, err)
	}
	if _, _, err := f.Store.FindQueue(t.Context(), f.As("ops2"), q); err == nil {
		t.Error("another person sees the list")
	}
}

// TestListCases: pages, filters and counts agree.
func TestListCases(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	stands, ids := outage(t, f, 9)
	ok(t, f.Store.TakeCase(t.Context(), f.As("ops"), ids[0], "", ""))
	ok(t, f.Store.TakeCase(t.Context(), f.As("ops2"), ids[1], "", ""))
	ok(t, f.Store.ConfirmDone(t.Context(), f.As("ops"), stands[8].shown("seen there"), store.Reference{ID: ref(stands[8].id)}))
	for _, x := range []struct {
		f    store.CaseFilter
		want int
	}{
		{store.CaseFilter{}, 8}, {store.CaseFilter{Closed: true}, 1}, {store.CaseFilter{Mine: true}, 1}, {store.CaseFilter{Untaken: true}, 6},
		{store.CaseFilter{Flow: stands[0].flow()}, 8}, {store.CaseFilter{Flow: "none"}, 0}, {store.CaseFilter{Destination: "none"}, 0},
		{store.CaseFilter{Before: time.Now().Add(-time.Hour)}, 0}, {store.CaseFilter{Before: time.Now().Add(time.Hour)}, 8},
	} {
		seen := map[operation.CaseID]bool{}
		x.f.Limit = 3
		for {
			list, err := f.Store.ListCases(t.Context(), f.As("ops"), x.f)
			ok(t, err)
			if list.Total != x.want {
				t.Fatalf("%+v: %d, want %d", x.f, list.Total, x.want)
			}
			for _, r := range list.Rows {
				if seen[r.Case.ID] || r.Op.ID != r.Case.Operation {
					t.Fatalf("%+v: %s twice or with another operation", x.f, r.Case.ID)
				}
				seen[r.Case.ID] = true
			}
			if x.f.Cursor = list.Next; x.f.Cursor == "" {
				break
			}
		}
		if len(seen) != x.want {
			t.Errorf("%+v: %d rows of %d", x.f, len(seen), x.want)
		}
	}
}

// flow is the name of the operation's flow.
func (s *stand) flow() string {
	p, err := s.f.Store.FindOperation(s.t.Context(), s.f.As("ops"), s.id)
	s.must(err)
	return p.Flow
}
