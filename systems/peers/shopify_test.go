//go:build peers

package peers

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// checked asks the reference implementation of GraphQL about requests, by Shopify's
// published schema. Each answer is the list of what is wrong.
func checked(t *testing.T, bodies ...string) [][]string {
	t.Helper()
	schema := needed(t, "HOLDPOINT_SHOPIFY_SCHEMA")
	script, err := filepath.Abs(filepath.Join("..", "..", "build", "peers", "shopify", "validate.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", script, schema)
	cmd.Stdin = strings.NewReader("[" + strings.Join(bodies, ",") + "]")
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	raw, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, complaints.String())
	}
	var out [][]string
	if err := json.Unmarshal(raw, &out); err != nil || len(out) != len(bodies) {
		t.Fatalf("%v: %s", err, raw)
	}
	return out
}

// Every document and all variables of the profile fit the schema of the version that its
// path names; and the check is one that can fail.
func TestShopifyDocumentsFitTheSchema(t *testing.T) {
	p := shipped(t, "shopify")
	if !strings.Contains(needed(t, "HOLDPOINT_SHOPIFY_SCHEMA"), "admin_2026-10") || strings.Count(string(p.Source), "/admin/api/") != strings.Count(string(p.Source), "/admin/api/2026-10/") {
		t.Fatal("the profile and the schema are of different versions")
	}
	env := at("https://shop.example")
	whole := map[string]any{
		"code": "SPRING-10", "title": "Spring", "percent_off": 10, "starts_at": "2026-12-01T00:00:00Z", "ends_at": "2026-12-31T00:00:00Z",
		"usage_limit": 100, "once_per_customer": true,
	}
	least := map[string]any{"code": "SPRING-10", "title": "Spring", "percent_off": 100, "starts_at": "2026-12-01T00:00:00Z"}
	trigger := map[string]any{"handle": "approved", "payload": map[string]any{"customer_id": 1, "tags": []any{"a"}}}
	var bodies []string
	for _, b := range []struct {
		action  string
		content map[string]any
	}{{"discount_code", whole}, {"discount_code", least}, {"flow_trigger", trigger}} {
		bodies = append(bodies, order(t, p, b.action, b.content, env, nil).Request.Body)
	}
	a, err := p.Action("discount_code")
	if err != nil {
		t.Fatal(err)
	}
	look, err := a.LookupRequest(definition.Context{Content: whole, Key: string(operationID), OperationID: string(operationID)}, env)
	if err != nil {
		t.Fatal(err)
	}
	bodies = append(bodies, look.Body)
	for i, wrong := range checked(t, bodies...) {
		if len(wrong) > 0 {
			t.Errorf("%s\n%s", bodies[i], strings.Join(wrong, "\n"))
		}
	}

	first := bodies[0]
	broken := map[string]string{
		"a field that does not exist":      strings.Replace(first, "userErrors { field", "userErrors { place", 1),
		"a variable that does not exist":   strings.Replace(first, `"usageLimit"`, `"usage_limit"`, 1),
		"a percentage that is text":        strings.Replace(first, `"percentage":0.1`, `"percentage":"ten"`, 1),
		"an argument that does not exist":  strings.Replace(first, "basicCodeDiscount:", "discount:", 1),
		"a buyer selection that is no ALL": strings.Replace(first, `"all":"ALL"`, `"all":"EVERY"`, 1),
	}
	for name, body := range broken {
		if body == first {
			t.Fatalf("%s: nothing was broken", name)
		}
		if wrong := checked(t, body)[0]; len(wrong) == 0 {
			t.Errorf("%s was accepted", name)
		}
	}
	if operation.ShowHoles(first) != first {
		t.Error("a hole is open")
	}
}
