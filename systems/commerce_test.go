package systems_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"holdpoint/connector"
	"holdpoint/connector/connectortest"
	"holdpoint/systems"
)

// profile reads one of the profiles as it ships.
func profile(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := fs.ReadFile(systems.Profiles(), name+".yaml")
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// commerce gives the harness of an action of a profile whose stand-in the sandbox plays
// under the same name; urlVariable is where the profile looks for the address.
func commerce(t testing.TB, name, urlVariable, action string, content func(n int) map[string]any) connectortest.Harness {
	h := connectortest.Of(t, profile(t, name), name, action, urlVariable, content)
	h.Profile.Local = true // only so far as the sandbox has no TLS
	h.Env = func(base string) connector.Env {
		return func(variable string) (string, bool) {
			switch variable {
			case urlVariable:
				return base + "/" + name, true
			case "HUBSPOT_PORTAL":
				return "1234567", true
			}
			return connectortest.Secret, true
		}
	}
	return h
}

func stripe(t testing.TB, action string) connectortest.Harness {
	contents := map[string]func(n int) map[string]any{
		"invoice_create": func(n int) map[string]any {
			return map[string]any{"customer": "cus_1", "currency": "eur", "description": fmt.Sprint("Goodwill ", n), "days_until_due": 14}
		},
		"invoice_item": func(n int) map[string]any {
			return map[string]any{"customer": "cus_1", "currency": "eur", "description": fmt.Sprint("Item ", n), "amount": 1200 + n}
		},
		"invoice_finalize": func(int) map[string]any { return map[string]any{} },
		"invoice_send":     func(int) map[string]any { return map[string]any{} },
		"coupon": func(n int) map[string]any {
			return map[string]any{"id": fmt.Sprint("SPRING-", n), "percent_off": 10, "name": "Spring"}
		},
		"promotion_code": func(n int) map[string]any { return map[string]any{"code": fmt.Sprint("Spring", n), "coupon": "base"} },
	}
	h := commerce(t, "stripe", "STRIPE_URL", action, contents[action])
	h.Prepare = func(t testing.TB, base string) map[string]string { return prepareStripe(t, base, action) }
	return h
}

func shopify(t testing.TB, action string) connectortest.Harness {
	content := func(n int) map[string]any {
		return map[string]any{"code": fmt.Sprint("SPRING-", n), "title": "Spring", "percent_off": 15, "starts_at": "2026-12-01T00:00:00Z"}
	}
	if action == "flow_trigger" {
		content = func(n int) map[string]any {
			return map[string]any{"handle": "approved", "payload": map[string]any{"customer_id": fmt.Sprint(n)}}
		}
	}
	h := commerce(t, "shopify", "SHOPIFY_URL", action, content)
	h.Unguarded = true // what protects a code is the code itself, and it cannot be switched off
	return h
}

func hubspot(t testing.TB, action string) connectortest.Harness {
	h := commerce(t, "hubspot", "HUBSPOT_URL", action, func(n int) map[string]any {
		content := map[string]any{"subject": fmt.Sprint("Call customer ", n), "due": "2026-12-01T10:00:00Z", "note": "About the winter campaign"}
		if action != "task" {
			content["contact"] = "201"
		}
		return content
	})
	if h.Unguarded = action == "task_plain"; h.Unguarded {
		h.Prepare = searchAtOnce
	}
	return h
}

// searchAtOnce lets HubSpot's search see everything: the matrix asks without waiting.
func searchAtOnce(t testing.TB, base string) map[string]string {
	if connectortest.IsSandbox(base) {
		(&connectortest.Sandbox{URL: base}).Settings(t, "hubspot", map[string]time.Duration{"index_lag": 0})
	}
	return nil
}

func salesforce(t testing.TB) connectortest.Harness {
	return commerce(t, "salesforce", "SALESFORCE_URL", "task", func(n int) map[string]any {
		return map[string]any{"subject": fmt.Sprint("Call customer ", n), "due_date": "2026-12-01"}
	})
}

// generic points the profile of one's own HTTP API at the sandbox's CRM.
func generic(t testing.TB) connectortest.Harness {
	h := commerce(t, "generic", "CRM_URL", "create_task", func(n int) map[string]any {
		return map[string]any{"subject": fmt.Sprint("Call customer ", n)}
	})
	h.Sandbox = "crm"
	h.Env = func(base string) connector.Env {
		return func(variable string) (string, bool) {
			if variable == "CRM_URL" {
				return base + "/crm", true
			}
			return connectortest.Secret, true
		}
	}
	return h
}

// harnesses are all effects of the profiles of commerce and CRM.
func harnesses(t testing.TB) map[string]connectortest.Harness {
	out := map[string]connectortest.Harness{"salesforce task": salesforce(t), "generic create_task": generic(t)}
	for _, action := range []string{"invoice_create", "invoice_item", "invoice_finalize", "invoice_send", "coupon", "promotion_code"} {
		out["stripe "+action] = stripe(t, action)
	}
	for _, action := range []string{"discount_code", "flow_trigger"} {
		out["shopify "+action] = shopify(t, action)
	}
	for _, action := range []string{"task", "task_for_contact", "task_plain"} {
		out["hubspot "+action] = hubspot(t, action)
	}
	return out
}

// Every fault of the wire and of the sandbox, at every effect, against the ledger.
func TestEveryEffectUnderEveryFault(t *testing.T) {
	for name, h := range harnesses(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			connectortest.Run(t, h)
		})
	}
}

// Every action of these profiles is among those that are tested.
func TestEveryActionIsTested(t *testing.T) {
	tested := map[string]bool{}
	for _, h := range harnesses(t) {
		tested[h.Profile.Destination+" "+h.Action] = true
	}
	for _, h := range harnesses(t) {
		for action := range h.Profile.Actions {
			if !tested[h.Profile.Destination+" "+action] {
				t.Errorf("%s %s has no test", h.Profile.Destination, action)
			}
		}
	}
}

// What is not proven on one's own account is no protection: the files ship without.
func TestNothingShipsProven(t *testing.T) {
	for name, h := range harnesses(t) {
		a, err := h.Profile.Action(h.Action)
		if err != nil {
			t.Fatal(err)
		}
		if p := a.Protection(); p.Proven {
			t.Errorf("%s ships with a proven protection", name)
		}
		if strings.Contains(string(h.Profile.Source), "local: true") {
			t.Errorf("%s ships without the guard against private addresses", name)
		}
	}
}
