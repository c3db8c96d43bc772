//go:build peers

package graphs

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestJavaScriptClient runs the tests of clients/js against a real server.
func TestJavaScriptClient(t *testing.T) {
	w := newWorld(t)
	w.ApplyMailing(t, "")
	out := w.node(t, filepath.Join(root(t), "clients/js"), nil, "--test", "--test-reporter=tap", "test/")
	if !strings.Contains(out, "# fail 0\n") || !strings.Contains(out, "# skipped 0\n") {
		t.Errorf("not every test ran:\n%s", out)
	}
}
