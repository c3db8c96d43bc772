package api_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
)

var (
	curlCall = regexp.MustCompile(`curl -sS "?\$API(/[^" ]*)"?(?:[^'\n]|'[^']*')*`)
	curlBody = regexp.MustCompile(`(?s)-d '(.*?)'`)
)

// The page on batches shows calls that work as they are written, in their order.
func TestBatchesAsDocumented(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	flow, err := os.ReadFile(filepath.Join("..", "..", "cmd", "holdpoint", "demo", "flows", "spring-mailing.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(flow), ", user: lead@example.test", "", 1)
	text = strings.Replace(text, "canary: 20 ", "canary: 1 ", 1)
	if _, err := h.Store.Apply(t.Context(), store.System("command"), []store.File{{Name: "spring-mailing.yaml", Source: []byte(text)}}); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "batches.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(page), "## Batches by the API")
	part, _, _ = strings.Cut(part, "\n## ")
	tok, batch := h.token("batches"), ""
	calls := curlCall.FindAllStringSubmatch(part, -1)
	for _, m := range calls {
		path := strings.ReplaceAll(m[1], "$BATCH", batch)
		body := curlBody.FindStringSubmatch(m[0])
		if body == nil {
			h.want(h.get(path, tok), 200)
		} else if r := h.post(path, tok, body[1], "Idempotency-Key", `"spring-1"`); r.status > 201 {
			t.Errorf("%s: %d %s", path, r.status, r.raw)
		} else if batch == "" {
			batch = r.text("batch")
			h.ApproveBatch(t, operation.BatchID(batch), "lead")
		}
	}
	if len(calls) != 6 || batch == "" || h.Count(t, "batches WHERE stopped_at IS NOT NULL") != 1 {
		t.Errorf("%d calls, batch %q", len(calls), batch)
	}
}
