package store_test

import (
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store/storetest"
)

func TestBatchSpeed(t *testing.T) {
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "")
	start := time.Now()
	id := f.Batch(t, storetest.Recipients(10_000, nil))
	t.Logf("created %s in %s", id, time.Since(start))
	if s := f.BatchState(t, id); s != operation.BatchPendingApproval {
		t.Fatal(s)
	}
}
