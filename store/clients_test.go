package store_test

import (
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestPerformedByClients: effects of a destination that other programs perform are
// never taken by our own jobs, and nobody is woken for them.
func TestPerformedByClients(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	files, err := storetest.DemoFiles()
	ok(t, err)
	for _, x := range files {
		if strings.Contains(string(x.Source), "\ndestination: billing\n") {
			_, err := f.Store.Apply(t.Context(), command, []store.File{{Name: x.Name, Source: []byte(strings.Replace(string(x.Source), "\ndestination: billing\n", "\ndestination: billing\nperformed_by: clients\n", 1))}})
			ok(t, err)
		}
	}
	id := f.Receive(t, storetest.InvoiceEvent())[0]
	f.Approve(t, id, "lead")
	if s := f.State(t, id); s != operation.Ready {
		t.Fatalf("state %s", s)
	}
	if n := f.Count(t, "river_job"); n != 0 {
		t.Errorf("%d wake-ups", n)
	}
	_, err = f.Store.ClaimAndDispatch(t.Context(), store.Job("test"), id, "test")
	refused(t, err, operation.CodeForClients)
	if _, err := f.Store.Claim(t.Context(), store.Actor{Kind: operation.ActorToken, ID: "tok_x", Name: "x", Channel: "api"}, id, "client"); err != nil {
		t.Error(err)
	}
}
