package connectortest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"holdpoint/connector"
	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// demo gives the harness of a demo profile: what `make run` shows must pass too.
func demo(t *testing.T, name, action string, content map[string]any) Harness {
	t.Helper()
	file := filepath.Join("..", "..", "cmd", "holdpoint", "demo", "profiles", name+".yaml")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := definition.ParseProfile(file, raw)
	if err != nil {
		t.Fatal(err)
	}
	p.Limits.Timeout = 2 * time.Second
	return Harness{
		Profile: p, Action: action, Sandbox: name, Unguarded: name == "plain" || name == "smtp",
		Content: func(int) map[string]any { return content },
		Env: func(base string) connector.Env {
			return func(variable string) (string, bool) {
				v, ok := map[string]string{"SANDBOX_URL": base, "SANDBOX_SMTP": strings.TrimPrefix(base, "http://"), "SANDBOX_TOKEN": Secret}[variable]
				return v, ok
			}
		},
	}
}

func TestDemoProfiles(t *testing.T) {
	mail := map[string]any{"to": "anna@customer.test", "subject": "Hello", "text": "Good day."}
	for _, h := range []Harness{
		demo(t, "crm", "create_task", map[string]any{"subject": "Call C-1", "due": "2026-12-01T10:00:00Z"}),
		demo(t, "billing", "create_invoice", map[string]any{"customer": "cus_1", "amount": 1200, "currency": "eur", "description": "Goodwill"}),
		demo(t, "mail", "send", mail),
		demo(t, "plain", "create_thing", map[string]any{"topic": "A", "text": "B"}),
		demo(t, "smtp", "send", mail),
	} {
		t.Run(h.Sandbox, func(t *testing.T) {
			t.Parallel()
			Run(t, h)
		})
	}
}

// A coupon's own code finds it again; whose it is, its metadata says.
func TestDemoCouponIsFoundAgain(t *testing.T) {
	t.Parallel()
	h := demo(t, "billing", "create_coupon", map[string]any{"code": "SPRING-10", "percent_off": 10, "name": "Spring"})
	box := StartSandbox(t)
	c := h.Connect(t, box.URL, nil)
	o := h.Order(t, box.URL)
	box.Fault(t, Fault{Destination: "billing", Fault: "drop_after_execute"})
	if r := send(t, box, h, c, o); r.Outcome != unknown {
		t.Fatalf("%+v", r)
	}
	if f := ask(c, o); f.Result != operation.LookupOne || f.ID != "SPRING-10" {
		t.Errorf("lookup of our coupon: %+v", f)
	}
	other := h.Order(t, box.URL)
	if r := send(t, box, h, c, other); r.Outcome != unknown || !r.Lookup {
		t.Errorf("same code again: %+v", r)
	}
	if f := ask(c, other); f.Result != operation.LookupMismatch {
		t.Errorf("someone else's coupon: %+v", f)
	}
}
