package web_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"holdpoint/store/storetest"
	"holdpoint/web"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"
)

// TestPack: pages are packed where that tells nobody anything, and never a page that
// shows a secret.
func TestPack(t *testing.T) {
	t.Parallel()
	e := bench(t, storetest.NewFixture(t), web.Config{PublicURL: "https://hold.example", Secure: true}, io.Discard)
	long := "<!DOCTYPE html><p>" + strings.Repeat("the same again and again ", 400)
	show := func(c echo.Context) error { return web.Render(c, templ.Raw(long)) }
	g := web.Pages(e)
	g.GET("/long", show)
	g.GET("/short", func(c echo.Context) error { return web.Render(c, templ.Raw("<p>short")) })
	g.GET("/secret", func(c echo.Context) error { web.Unpacked(c); return show(c) })
	for _, x := range []struct {
		path, site, accept string
		packed             bool
	}{
		{"/long", "same-origin", "gzip, br", true},
		{"/long?q=x", "none", "gzip", true},
		{"/long", "cross-site", "gzip", true}, // a link in a mail
		{"/long?q=guess", "cross-site", "gzip", false},
		{"/long?q=guess", "same-site", "gzip", false},
		{"/long?q=guess", "", "gzip", false},
		{"/long", "same-origin", "br", false},
		{"/long", "same-origin", "gzip;q=0", false},
		{"/short", "same-origin", "gzip", false},
		{"/secret", "same-origin", "gzip", false},
	} {
		r := do(e, http.MethodGet, x.path, "Accept-Encoding", x.accept, "Sec-Fetch-Site", x.site)
		if got := r.Header.Get("Content-Encoding") == "gzip"; got != x.packed {
			t.Errorf("%s from %q with %q: packed %v", x.path, x.site, x.accept, got)
		}
		if r.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: Vary %q", x.path, r.Header.Get("Vary"))
		}
		if !x.packed {
			continue
		}
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(z); err != nil || string(body) != long {
			t.Errorf("%s unpacks to %d bytes, %v", x.path, len(body), err)
		}
	}
}
