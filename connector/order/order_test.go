package order

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestLateLooksAtBothClocks(t *testing.T) {
	t.Parallel()
	now := time.Now()
	cases := map[string]struct {
		o    Order
		late bool
	}{
		"no deadline":           {Order{}, false},
		"both ahead":            {Order{Deadline: now.Add(time.Second), WallDeadline: now.Add(time.Second).Round(0)}, false},
		"monotonic reached":     {Order{Deadline: now, WallDeadline: now.Add(time.Second).Round(0)}, true},
		"wall reached":          {Order{Deadline: now.Add(time.Second), WallDeadline: now.Round(0)}, true},
		"only wall, not yet":    {Order{WallDeadline: now.Add(time.Nanosecond).Round(0)}, false},
		"only monotonic, gone":  {Order{Deadline: now.Add(-time.Nanosecond)}, true},
		"wall in another place": {Order{WallDeadline: now.Add(time.Minute).In(time.FixedZone("x", -7*3600)).Round(0)}, false},
	}
	for name, c := range cases {
		if c.o.Late(now) != c.late {
			t.Errorf("%s: late %v", name, !c.late)
		}
	}
}

func TestRefReadsAtEveryUseAndNeverShowsTheValue(t *testing.T) {
	t.Parallel()
	env := map[string]string{"A": "value", "EMPTY": "", "TWO": "hush\nhush"}
	look := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	file := filepath.Join(t.TempDir(), "secret")
	write := func(s string) {
		if err := os.WriteFile(file, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read := func(r Ref) string {
		v, err := r.Read(look)
		if err != nil {
			if strings.Contains(err.Error(), "hush") {
				t.Errorf("the error shows the value: %v", err)
			}
			return "refused"
		}
		return v
	}
	for r, want := range map[Ref]string{{Env: "A"}: "value", {Env: "NONE"}: "refused", {Env: "EMPTY"}: "refused", {Env: "TWO"}: "refused", {}: "refused", {File: file + ".gone"}: "refused"} {
		if got := read(r); got != want {
			t.Errorf("%+v: %q, want %q", r, got, want)
		}
	}
	for content, want := range map[string]string{"one\n": "one", "two\r\n": "two", " three ": " three ", "hush\nhush\n": "refused", "": "refused", "\n": "refused", strings.Repeat("x", maxSecret+1): "refused"} {
		write(content)
		if got := read(Ref{File: file}); got != want {
			t.Errorf("file %.10q: %.10q, want %q", content, got, want)
		}
	}
}
