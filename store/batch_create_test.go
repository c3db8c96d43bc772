package store_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestBatchLarge: a list of thousands is written slice by slice, and what is released of it are
// exactly the items that people decided upon.
func TestBatchLarge(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "")
	const n = 2500 // two slices and a half
	begin := time.Now()
	id := f.Batch(t, storetest.Recipients(n, nil))
	made := time.Since(begin)
	f.ApproveBatch(t, id, "lead", "second")
	decided := time.Since(begin)
	all := 0
	for {
		k, err := f.Store.ReleaseBatch(t.Context(), store.Job("runner"), id, 1000)
		ok(t, err)
		if all += k; k == 0 {
			break
		}
	}
	t.Logf("created in %s, decided after %s, released after %s", made, decided, time.Since(begin))
	if all != n || f.Count(t, "operations WHERE batch_id = $1 AND state = 'ready'", string(id)) != n {
		t.Errorf("%d released", all)
	}
	if k := f.Count(t, `operations o JOIN batch_items i ON i.batch_id = o.batch_id AND i.position = o.batch_no JOIN clearances c ON c.id = o.clearance_id JOIN content_versions v ON v.id = o.version_id
		WHERE o.batch_id = $1 AND c.hash = i.hash AND v.hash = i.hash AND c.batch_no = i.position`, string(id)); k != n {
		t.Errorf("%d of them have the clearance of their item", k)
	}
	p, err := f.Store.FindBatch(t.Context(), f.As("ops"), id)
	ok(t, err)
	if p.Counts.States[operation.Ready] != n || p.Counts.Waiting != 0 {
		t.Errorf("%+v", p.Counts)
	}
}

// TestBatchMemory: the memory for a long list does not grow with it, but for a hash and two
// keys of each entry.
func TestBatchMemory(t *testing.T) {
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "")
	var most uint64
	list := storetest.Recipients(4_000, func(i int, e map[string]any) map[string]any {
		if i%700 == 0 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
		e["note"] = strings.Repeat("x", 4000) // the whole list would be 16 MB, and twice that as it is kept
		return e
	})
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	f.Batch(t, list)
	if grown := int64(most) - int64(before.HeapAlloc); grown > 16<<20 {
		t.Errorf("%d MB more than before", grown>>20)
	}
}
