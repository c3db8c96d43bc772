package handlers_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/systems"
	"holdpoint/views/chrometest"
)

// paused enters the pause of a graph, as its process would tell of it.
func (h *house) paused(t *testing.T) operation.ID {
	t.Helper()
	var files []store.File
	for name, read := range map[string]func() ([]byte, error){
		"profile.yaml": func() ([]byte, error) { return fs.ReadFile(systems.Profiles(), "langgraph.yaml") },
		"source.yaml":  func() ([]byte, error) { return fs.ReadFile(systems.Sources(), "langgraph.yaml") },
		"flow.yaml":    func() ([]byte, error) { return os.ReadFile("../docs/examples/langgraph/server/graph-answer.yaml") },
	} {
		raw, err := read()
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, store.File{Name: name, Source: raw})
	}
	if _, err := h.Store.Apply(t.Context(), store.System("command"), files); err != nil {
		t.Fatal(err)
	}
	rec, err := h.Store.Receive(t.Context(), store.System("api"), store.Received{Source: "langgraph", Account: "change-me", Topic: "interrupt", EventKey: "t c i", Body: []byte(`{}`), Status: 200,
		Data: map[string]any{"thread_id": "t-1", "checkpoint_id": "c-1", "assistant_id": "agent", "interrupts": []any{map[string]any{"id": "i-1", "value": map[string]any{
			"actionRequests": []any{map[string]any{"name": "send_email", "description": "Thank her; <b>no prices</b>.", "args": map[string]any{"to": "kim@example.test"}}},
			"reviewConfigs":  []any{map[string]any{"actionName": "send_email", "allowedDecisions": []any{"approve", "edit", "reject"}}}}}}}})
	if err != nil || len(rec.Operations) != 1 {
		t.Fatal(rec, err)
	}
	return rec.Operations[0]
}

// TestSystemsInABrowser: what a failed probe showed stands on the page of the destination
// and on the sheet of the flow; a paused graph says what it asks, and what a person may
// answer. On a phone.
func TestSystemsInABrowser(t *testing.T) {
	t.Parallel()
	_ = os.Setenv("LANGGRAPH_URL", "https://langgraph.example.com")
	browser := chrometest.Start(t)
	h := newHouse(t)
	probe := store.Probe{Destination: "billing", Action: "create_coupon", Account: "acct_demo", Environment: "test", ProfileHash: [32]byte{1}, Result: operation.ProbeBroken,
		Steps: []operation.ProbeStep{{Name: "again", Result: operation.ProbeBroken, Says: "Two references: co_1 and co_2.", Status: 200, Reference: "co_2"}}}
	if _, err := h.Store.AddProbe(t.Context(), store.System("command"), probe); err != nil {
		t.Fatal(err)
	}
	graph := h.paused(t)
	tab := h.signedInTab(t, browser, chrometest.Phone(), "ops")
	for path, wants := range map[string][]string{
		"/destinations/billing":                     {"Protection shown not to hold", "whatever the profile says", "Two references: co_1 and co_2."},
		"/flows/newsletter-coupon/versions/1/sheet": {"but a probe showed on", "Nothing is repeated automatically"},
		"/operations/" + string(graph):              {"send_email", "Thank her; <b>no prices</b>.", "kim@example.test"},
	} {
		tab.Get(h.url + path)
		var text string
		tab.Eval(`(document.querySelectorAll("details").forEach(d => d.open = true), document.querySelector("main").innerText)`, &text)
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q:\n%s", path, want, text)
			}
		}
		tab.Axe(path)
		tab.Narrow(path)
	}
}
