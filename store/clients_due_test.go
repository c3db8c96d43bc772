package store_test

import (
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store/storetest"
)

// TestClientsTakeInTheirOwnTime: an operation that another program performs is not
// overdue the moment it is approved.
func TestClientsTakeInTheirOwnTime(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	in := storetest.NoteEvent()
	in.Topic, in.Data = "partner.task", map[string]any{"subject": "Pack the boxes"}
	id := f.Receive(t, in)[0]
	f.Approve(t, id, "lead")
	o, err := f.Store.FindAPIOperation(t.Context(), id)
	ok(t, err)
	if o.State != operation.Ready || o.Next.Kind != operation.DecideTake || time.Until(o.Next.At) < 3*time.Hour || o.Overdue {
		t.Errorf("%s, overdue %t, next %+v", o.State, o.Overdue, o.Next)
	}
}
