package systems_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// The flow that the page on Stripe shows fits the profile: every stage renders, and each
// later one waits for the reference of the first.
func TestStripeFlowOfTheDocumentation(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("..", "docs", "systems", "stripe.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(raw), "```yaml\n")
	example, _, ended := strings.Cut(rest, "```")
	if !found || !ended {
		t.Fatal("docs/systems/stripe.md shows no flow")
	}
	f, err := definition.ParseFlow("stripe-invoice.yaml", []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	inputs := map[string]any{"customer": "cus_1", "amount": 1200, "currency": "eur", "text": "Repair of the lamp"}
	var actions []string
	for i, st := range f.Stages {
		h := stripe(t, st.Action)
		content, missing, err := f.Draft(st.Key, definition.EventData{Source: "api", Key: "k", Time: time.Now()}, inputs)
		if err != nil || len(missing) > 0 {
			t.Fatalf("%s: missing %v, %v", st.Key, missing, err)
		}
		a, err := h.Profile.Action(st.Action)
		if err != nil {
			t.Fatal(err)
		}
		v, err := a.Render(content, h.Env("http://127.0.0.1:1"), time.Now())
		if err != nil {
			t.Fatalf("%s: %v", st.Key, err)
		}
		if waits := slices.Contains(v.Request.Holes(), operation.HoleTargetRef("invoice")); waits != (i > 0) {
			t.Errorf("%s: holes %v", st.Key, v.Request.Holes())
		}
		actions = append(actions, st.Action)
	}
	if got := strings.Join(actions, " "); got != "invoice_create invoice_item invoice_finalize invoice_send" || f.Stages[0].Key != "invoice" {
		t.Errorf("stages %s", got)
	}
}
