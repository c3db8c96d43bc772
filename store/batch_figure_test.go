package store_test

import (
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestBatchFigure: how long an approval took counts once for a batch, whatever its size, and
// the list behind the number names the batch.
func TestBatchFigure(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "{approvers: {role: approver}, expires: 72h}")
	id := f.Batch(t, storetest.Recipients(40, nil))
	f.ApproveBatch(t, id, "lead")
	_, err := f.Store.ReleaseBatch(t.Context(), store.Job("runner"), id, 100)
	ok(t, err)
	now := time.Now().UTC()
	q := store.FigureListQuery{Figure: operation.FigureApprovalDelay, FigureQuery: store.FigureQuery{From: now.Add(-24 * time.Hour).Truncate(time.Hour), To: now.Add(24 * time.Hour).Truncate(time.Hour), Flow: "mailing"}}
	list, err := f.Store.ListFigure(t.Context(), f.As("ops"), q)
	ok(t, err)
	if list.Value.N != 1 || len(list.Rows) != 1 || list.Rows[0].Batch == nil || list.Rows[0].Batch.ID != id || list.Rows[0].Operation != nil {
		t.Errorf("%+v, %d rows", list.Value, len(list.Rows))
	}
}
