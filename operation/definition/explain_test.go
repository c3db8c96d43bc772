package definition

import (
	"strings"
	"testing"
)

// explained is what the profile means for an action, a topic a line.
func explained(a *Action) string {
	var b strings.Builder
	for _, e := range Explain(a.Meaning()) {
		b.WriteString(string(e.Topic) + ": " + e.Text + "\n")
	}
	return b.String()
}

// TestExplain_Golden explains profiles that differ in what they leave open.
func TestExplain_Golden(t *testing.T) {
	const tail = "\n    request: {method: POST, path: /x}\n    outcome: [{confirmed: ${status == 200}}, {unknown: ${status == 202}}]\n"
	for name, c := range map[string]string{
		"bare":       `{}`,
		"key":        `{key: {header: Idempotency-Key, value: "{key}"}}`,
		"not-proven": `{key: {header: Idempotency-Key, value: "{key}"}, retention: 24h, proven: false, in_progress: ${status == 409}, mismatch: ${status == 422}}`,
		"overwrites": `{overwrites: true, key: {header: Idempotency-Key, value: "{key}"}, retention: 24h, proven: {on: 2026-11-20, by: two equal calls}}`,
	} {
		golden(t, "explain-"+name+".txt", explained(act(t, "    protection: "+c+tail)))
	}
	p, err := ParseProfile("p.yaml", []byte(strings.Replace(minimal, "    outcome:", "    protection: {proven: true}\n    outcome:", 1)))
	if err == nil {
		t.Errorf("proven: true without a date is taken: %+v", p.Actions)
	}
}
