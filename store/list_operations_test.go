package store_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestListOperations narrows the list by source and by time, page by page, in one order.
func TestListOperations(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	var coupons []operation.ID
	for range 5 {
		coupons = append(coupons, f.Receive(t, storetest.CouponEvent())...)
		f.Receive(t, storetest.CampaignEvent())
	}
	slices.Reverse(coupons) // newest first
	source := storetest.CouponEvent().Source
	if source == storetest.CampaignEvent().Source {
		t.Fatal("both events are of one source")
	}
	list := func(in store.OperationFilter) (out []operation.ID) {
		t.Helper()
		for range 20 {
			page, err := f.Store.ListOperations(t.Context(), f.As("admin"), in)
			ok(t, err)
			for _, r := range page.Rows {
				out = append(out, r.ID)
			}
			if in.Cursor = page.Next; in.Cursor == "" {
				return out
			}
		}
		t.Fatal("the pages do not end")
		return nil
	}
	if got := list(store.OperationFilter{Source: source, Limit: 2}); !slices.Equal(got, coupons) {
		t.Errorf("of the source: %v, want %v", got, coupons)
	}
	if got := list(store.OperationFilter{Source: "nobody"}); len(got) != 0 {
		t.Errorf("of no source: %v", got)
	}
	all := list(store.OperationFilter{})
	middle := operationAt(t, f, coupons[2])
	since, before := list(store.OperationFilter{From: middle, Limit: 3}), list(store.OperationFilter{To: middle, Limit: 3})
	if !slices.Equal(append(slices.Clone(since), before...), all) || !slices.Contains(since, coupons[2]) || slices.Contains(before, coupons[2]) {
		t.Errorf("from and to: %v and %v of %v", since, before, all)
	}
	if got := list(store.OperationFilter{Source: source, From: middle, To: middle.Add(time.Microsecond)}); !slices.Equal(got, coupons[2:3]) {
		t.Errorf("one moment: %v", got)
	}
	page, err := f.Store.ListOperations(t.Context(), f.As("admin"), store.OperationFilter{})
	ok(t, err)
	if !slices.ContainsFunc(page.Sources, func(n store.Named) bool { return n.Name == store.JobSource }) || !slices.ContainsFunc(page.Flows, func(n store.Named) bool { return n.Title.In("ja") != "" }) {
		t.Errorf("filters: %+v %+v", page.Sources, page.Flows)
	}
}

// TestListBySourceUsesItsIndex reads what is asked for and no more.
func TestListBySourceUsesItsIndex(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.Receive(t, storetest.CouponEvent())
	c, err := f.Owner.Conn(context.Background())
	ok(t, err)
	defer c.Close()
	for _, q := range []string{`SET enable_seqscan = off`, `SET enable_sort = off`, `SET enable_bitmapscan = off`} {
		_, err := c.ExecContext(t.Context(), q)
		ok(t, err)
	}
	rows, err := c.QueryContext(t.Context(), `EXPLAIN SELECT o.id FROM operations o WHERE o.source = 'form' AND o.created_at >= now() - interval '1 day' ORDER BY o.created_at DESC, o.id DESC LIMIT 51`)
	ok(t, err)
	var plan []string
	for rows.Next() {
		var line string
		ok(t, rows.Scan(&line))
		plan = append(plan, line)
	}
	ok(t, rows.Err())
	if text := strings.Join(plan, "\n"); !strings.Contains(text, "operations_source") || strings.Contains(text, "Sort") {
		t.Errorf("plan:\n%s", text)
	}
}

func operationAt(t *testing.T, f *storetest.Fixture, id operation.ID) (at time.Time) {
	t.Helper()
	ok(t, f.Owner.QueryRow(`SELECT created_at FROM operations WHERE id = $1`, string(id)).Scan(&at))
	return at
}
