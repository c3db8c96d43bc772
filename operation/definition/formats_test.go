package definition

import (
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// The two files in testdata are the worked examples of docs/formats.md, with bare
// expressions in flow style as people write them.

func TestFlow(t *testing.T) {
	f, err := ParseFlow("flow.yaml", read(t, "testdata/flow.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	ev := EventData{Source: "shopify-flow", Account: "a", Topic: "campaign-request", Key: "run-1", ActionRunID: "run-1",
		Time: time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)}
	if k, err := f.Key(ev); err != nil || k != "run-1" {
		t.Fatalf("key %q, %v", k, err)
	}
	inputs := map[string]any{"customer_ref": "C-1", "email": "kim@example.test", "campaign": "winter"}
	got, missing, err := f.Draft("crm-task", ev, inputs)
	if err != nil || len(missing) > 0 {
		t.Fatalf("missing %v, %v", missing, err)
	}
	if got["subject"] != "Call C-1" || got["due"] != "2026-12-01T10:00:00Z" {
		t.Fatalf("content %v", got)
	}
	got, missing, err = f.Draft("email", ev, map[string]any{"email": "not an address"})
	if err != nil || strings.Join(missing, " ") != "subject text to" || len(got) != 0 {
		t.Fatalf("content %v, missing %v, %v", got, missing, err)
	}
}

func TestBillingProfile(t *testing.T) {
	p, err := ParseProfile("billing.yaml", read(t, "testdata/billing.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := p.Action("create_invoice")
	if err != nil {
		t.Fatal(err)
	}
	v, err := a.Render(map[string]any{"customer": "cus 1&x=y"}, func(n string) (string, bool) { return "https://billing.example", n == "BILLING_URL" }, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := operation.ShowHoles(v.Request.Body), "customer=cus+1%26x%3Dy&metadata[operation_id]=%EE%80%80operation_id%EE%80%81"; got != want {
		t.Fatalf("body\n%s\n%s", got, want)
	}
	in := Context{Content: map[string]any{"customer": "cus_1"}, Key: "op_1"}
	r := a.Classify(in, Answer{Status: 200, Header: http.Header{}, Body: []byte(`{"id":"in_1"}`)})
	if r.Outcome != operation.OutcomeConfirmed || r.TargetReference != "in_1" || r.TargetURL != "https://billing.example/invoices/in_1" {
		t.Fatalf("%+v", r)
	}
	f := a.ReadLookup(in, Answer{Status: 200, Body: []byte(`{"data":[{"request":{"idempotency_key":"op_1"},"data":{"object":{"id":"in_1","customer":"cus_1"}}},{"request":{"idempotency_key":null}}]}`)})
	if f.Result != operation.LookupOne || f.ID != "in_1" {
		t.Fatalf("%+v", f)
	}
	t.Log(explained(a))
}
