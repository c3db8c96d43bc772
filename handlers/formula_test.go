package handlers

import (
	"strings"
	"testing"
)

// TestGuarded guards what spreadsheets may take for a formula, and nothing else.
func TestGuarded(t *testing.T) {
	t.Parallel()
	for _, cell := range []string{"=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1+1", "＋1", "－1+2", "＠SUM(A1)", "-", "+", "=", "-A1", "--1", "+48 600 700 800x",
		" =1+1", "\u00a0=1", "\u200b=1", "\ufeff=1", "\u202e=1", "=HYPERLINK(\"http://x\")", "-1-1", "+1E+2+3", "−1+1"} {
		if got := guarded(cell); got != "'"+cell {
			t.Errorf("%q became %q", cell, got)
		}
	}
	for _, cell := range []string{"", "0", "-1", "+1", "-12.50", "-1,234.56", "+1e5", "-1.5E-7", "48.00", "-.5", "text", "a=b", "10482", "'=1", "2026-11-29T10:00:00Z", "（＝）", "日本", "שלום"} {
		if got := guarded(cell); got != cell {
			t.Errorf("%q became %q", cell, got)
		}
	}
}

// FuzzGuarded: no cell begins as a formula does, unless it is a number, and guarding
// takes nothing away.
func FuzzGuarded(f *testing.F) {
	for _, s := range []string{"=1", "-1", "-1+1", "＝", " \t=", "\u200b@x", "x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, cell string) {
		got := guarded(cell)
		if strings.TrimPrefix(got, "'") != cell && got != cell {
			t.Errorf("%q became %q", cell, got)
		}
		if got == "" || !strings.ContainsAny(got[:1], "=+-@\t\r\n") {
			return
		}
		if strings.ContainsAny(got[:1], "=@\t\r\n") || strings.Trim(got[1:], "0123456789.,eE+-") != "" {
			t.Errorf("%q stays %q", cell, got)
		}
	})
}
