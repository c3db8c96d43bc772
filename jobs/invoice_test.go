package jobs

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"holdpoint/connector/connectortest"
	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/systems"
)

// stripeFiles are the profile that ships and the flow of its page, for the sandbox.
func (w *world) stripeFiles() []store.File {
	w.t.Helper()
	profile, err := fs.ReadFile(systems.Profiles(), "stripe.yaml")
	if err != nil {
		w.t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("..", "docs", "systems", "stripe.md"))
	if err != nil {
		w.t.Fatal(err)
	}
	_, flow, _ := strings.Cut(string(page), "```yaml\n")
	flow, _, _ = strings.Cut(flow, "```")
	edit := func(s string, pairs ...string) []byte {
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(s, pairs[i]) {
				w.t.Fatalf("the file holds no %q", pairs[i])
			}
		}
		return []byte(strings.NewReplacer(pairs...).Replace(s))
	}
	return []store.File{
		{Name: "stripe.yaml", Source: edit(string(profile), `base_url: ${env("STRIPE_URL")}`, "base_url: "+w.box.URL+"/stripe\nlocal: true",
			"env: STRIPE_API_KEY", "env: HOLDPOINT_TEST_TOKEN", "settle_after: 2m", "settle_after: 100ms", "lag: 1m", "lag: 50ms", "timeout: 30s", "timeout: 5s")},
		{Name: "flow.yaml", Source: edit(flow, "{source: api, topic: invoice.requested}", "{source: test}", "{role: ops_owner}, required: 1, expires", "{role: approver}, required: 1, expires")},
	}
}

// An invoice in four stages: all are approved before anything is sent, every answer but
// the last is lost, and each effect comes once, about the invoice of the first stage.
func TestInvoiceInFourStagesThoughAnswersAreLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "2s")
	if _, err := w.store.Apply(context.Background(), store.System("command"), w.stripeFiles()); err != nil {
		t.Fatalf("apply: %v", err)
	}
	r, err := w.store.Receive(context.Background(), store.System("api"), store.Received{Source: "test", Account: "test", Topic: "t", EventKey: "invoice",
		DeliveryKey: "invoice", Body: []byte("{}"), Status: 202, Flow: "stripe-invoice", RunKey: "invoice", Author: store.Author{Kind: "token", ID: "tok_test"},
		Data: map[string]any{"customer": "cus_1", "amount": 1200, "currency": "eur", "text": "Repair of the lamp"}})
	if err != nil || len(r.Operations) != 4 {
		t.Fatalf("receive: %v %+v", err, r)
	}
	for _, id := range r.Operations {
		w.approve(id)
	}
	if n := len(w.box.Ledger(t, "stripe", "")); n != 0 {
		t.Fatalf("%d effects before a worker ran", n)
	}
	w.box.Fault(t, connectortest.Fault{Destination: "stripe", Fault: "drop_after_execute", Times: 3})
	w.work()
	invoice := ""
	for i, id := range r.Operations {
		s := w.untilState(id, operation.Confirmed)
		if len(s.Attempts) != 1 || i < 3 && (s.Attempts[0] != "unknown" || len(s.Lookups) == 0) {
			t.Errorf("stage %d: %+v", i+1, s)
		}
		w.effects("stripe", id, 1)
		switch i {
		case 0:
			invoice = s.Reference
		case 2, 3:
			if s.Reference != invoice {
				t.Errorf("stage %d is about %s, not %s", i+1, s.Reference, invoice)
			}
		}
	}
	if n := w.posts("stripe"); n != 4 {
		t.Errorf("%d requests for four attempts", n)
	}
	all := w.box.Ledger(t, "stripe", "")
	if len(all) != 4 || all[1].Fields["invoice"] != invoice || all[3].Fields["status"] != "open" {
		t.Errorf("ledger %+v", all)
	}
}
