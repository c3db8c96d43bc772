//go:build peers

package graphs

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"holdpoint/store"
)

// graphsDir is where the example was installed: its folder, with node_modules.
const graphsDir = "HOLDPOINT_GRAPHS"

func exampleFiles(t *testing.T, patterns ...string) (files []store.File) {
	t.Helper()
	for _, p := range patterns {
		names, err := filepath.Glob(filepath.Join(root(t), p))
		if err != nil || len(names) == 0 {
			t.Fatalf("no %s: %v", p, err)
		}
		for _, n := range names {
			src, err := os.ReadFile(n)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, store.File{Name: filepath.Base(n), Source: src})
		}
	}
	return files
}

// checkpoints gives the database of the fixture to LangGraph's checkpointer.
func (w *world) checkpoints(t *testing.T) string {
	t.Helper()
	u, err := url.Parse(w.OwnerURL)
	if err != nil {
		t.Fatal(err)
	}
	u.RawQuery = "sslmode=disable"
	return "CHECKPOINT_URL=" + u.String()
}

// TestFC19 runs graphs of the real LangGraph with its PostgreSQL checkpointer: nodes run
// again, at once, from old checkpoints, after a crash, after an error. The sandbox's ledger
// holds one effect of each operation, and nothing else.
func TestFC19(t *testing.T) {
	w := newWorld(t, exampleFiles(t, "docs/examples/langgraph/definitions/*.yaml")...)
	out := w.node(t, os.Getenv(graphsDir), []string{w.checkpoints(t)}, "--test", "--test-reporter=tap", "test/effects.test.js")
	if !strings.Contains(out, "# fail 0\n") || !strings.Contains(out, "# skipped 0\n") {
		t.Errorf("not every test ran:\n%s", out)
	}
	for _, destination := range []string{"crm", "mail"} {
		all := w.box.Ledger(t, destination, "")
		seen := map[string]int{}
		for _, e := range all {
			if seen[e.Reference]++; e.Reference == "" || seen[e.Reference] > 1 {
				t.Errorf("%s: %d effects of %q", destination, seen[e.Reference], e.Reference)
			}
		}
		if len(all) == 0 {
			t.Errorf("nothing was done at %s", destination)
		}
	}
	if n := w.Count(t, "operations o WHERE state = 'confirmed' AND destination IN ('partner', 'mail')"); n != len(w.box.Ledger(t, "crm", ""))+len(w.box.Ledger(t, "mail", "")) {
		t.Errorf("%d operations are confirmed, and the ledger holds another number of effects", n)
	}
}
