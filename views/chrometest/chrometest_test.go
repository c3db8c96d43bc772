package chrometest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// darkOnly can be read by day only.
const darkOnly = `<!DOCTYPE html><html lang="en"><head><title>Dark</title><style>p { color: #222; background: #fff; transition: all .2s }
@media (prefers-color-scheme: dark) { p { color: #333; background: #222 } }</style></head><body><main><h1>Dark</h1><p>words</p></main></body></html>`

// bad is a page with one fault of each kind.
const bad = `<!DOCTYPE html><html lang="en"><head><title>Bad</title></head><body><main><h1>Bad</h1>
<p style="color:#ddd;background:#fff">pale</p><img src="/picture"><div style="width:3000px">wide</div>
<script src="/throws"></script></main></body></html>`

// TestFaultsAreSeen shows that the checks can fail: each finds what is wrong with a page.
func TestFaultsAreSeen(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/throws":
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, `console.error('said so'); fetch('http://holdpoint.invalid/'); throw new Error('thrown')`)
		case "/dark":
			fmt.Fprint(w, darkOnly)
		case "/policy":
			w.Header().Set("Content-Security-Policy", "default-src 'none'")
			fmt.Fprint(w, `<!DOCTYPE html><html lang="en"><title>P</title><script>document.title = 'ran'</script></html>`)
		default:
			fmt.Fprint(w, bad)
		}
	}))
	t.Cleanup(srv.Close)
	tab := Start(t).Tab(t, Phone())
	tab.Get(srv.URL + "/bad")
	wantOne(t, "axe", tab.Violations(ColoursOnly), "color-contrast")
	wantOne(t, "axe", tab.Violations(ButContrast), "image-alt")
	if all := strings.Join(tab.Violations(ButContrast), "\n"); strings.Contains(all, "color-contrast") || !strings.Contains(all, "image-alt") {
		t.Errorf("without contrast: %s", all)
	}
	wantOne(t, "width", tab.Wide(), "wide")
	wantOne(t, "faults", tab.Faults(), "thrown")
	wantOne(t, "faults", tab.Faults(), "said so")
	wantOne(t, "faults", tab.Faults(), "another host: http://holdpoint.invalid/")
	tab.Get(srv.URL + "/policy")
	wantOne(t, "faults", tab.Faults(), "Content Security Policy")
	if r := tab.Requests(); len(r) < 3 || r[0].Bytes == 0 {
		t.Errorf("requests of the page: %+v", r)
	}
	tab.Get(srv.URL + "/dark")
	if found := tab.Violations(ColoursOnly); len(found) > 0 {
		t.Errorf("by day: %q", found)
	}
	tab.Show(Look{Dark: true})
	wantOne(t, "axe in the dark", tab.Violations(ColoursOnly), "color-contrast")
	wantOne(t, "new colours in the dark", tab.NewColours(), "color-contrast")
	if again := tab.NewColours(); len(again) > 0 {
		t.Errorf("colours that were seen: %q", again)
	}
	tab.Show(Look{})
	if found := tab.NewColours(); len(found) > 0 {
		t.Errorf("new colours by day: %q", found)
	}
	tab.Allow(".")
	if f := tab.Faults(); len(f) > 0 {
		t.Errorf("allowed faults are still told: %v", f)
	}
}

func wantOne(t *testing.T, what string, list []string, part string) {
	t.Helper()
	if !slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, part) }) {
		t.Errorf("%s: nothing says %q: %q", what, part, list)
	}
}
