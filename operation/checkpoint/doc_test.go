package checkpoint

import (
	"os"
	"testing"
)

func readDoc(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../../docs/history-format.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
