package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRun(t *testing.T) {
	t.Run("HandsTheServerAndTheExitCodeOn", func(t *testing.T) {
		t.Setenv(testURL, "")
		out := filepath.Join(t.TempDir(), "url")
		code, err := run([]string{"run", "--", "sh", "-c", `printf %s "$` + testURL + `" >"$0"; exit 7`, out})
		if err != nil || code != 7 {
			t.Fatalf("code %d, err = %v", code, err)
		}
		url, err := os.ReadFile(out)
		if err != nil || len(url) == 0 {
			t.Errorf("url = %q, err = %v", url, err)
		}
	})
	t.Run("UsesTheServerThatIsNamed", func(t *testing.T) {
		t.Setenv(testURL, "postgres://someone@elsewhere/db")
		code, err := run([]string{"run", "--", "sh", "-c", `test "$` + testURL + `" = postgres://someone@elsewhere/db`})
		if err != nil || code != 0 {
			t.Errorf("code %d, err = %v", code, err)
		}
	})
	t.Run("ReportsASignalAsShellsDo", func(t *testing.T) {
		t.Setenv(testURL, "postgres://someone@elsewhere/db")
		if code, err := run([]string{"run", "sh", "-c", `kill -TERM $$`}); err != nil || code != 143 {
			t.Errorf("code %d, err = %v", code, err)
		}
	})
	t.Run("RefusesUnknownCommands", func(t *testing.T) {
		if code, err := run([]string{"fly", "away"}); err == nil || code != 2 {
			t.Errorf("code %d, err = %v", code, err)
		}
	})
}
