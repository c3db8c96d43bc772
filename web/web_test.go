package web_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"testing"

	"holdpoint/store"
	"holdpoint/store/storetest"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

func TestMain(m *testing.M) { os.Exit(storetest.Run(m)) }

// bench is a frame with three small pages: who signs in, who is there, what breaks.
func bench(t *testing.T, f *storetest.Fixture, c web.Config, log io.Writer) *echo.Echo {
	t.Helper()
	c.Store, c.Log = f.Store, slog.New(slog.NewTextHandler(log, nil))
	e := web.New(c)
	g := web.Pages(e)
	g.POST("/enter", func(c echo.Context) error {
		u, err := f.Store.FindUser(c.Request().Context(), f.Users["lead"])
		if err != nil {
			return err
		}
		if err := web.SignIn(c, u, store.ByPassword); err != nil {
			return err
		}
		return c.NoContent(http.StatusNoContent)
	})
	g.GET("/me", func(c echo.Context) error {
		if u := web.VisitOf(c).User; u != nil {
			return c.String(http.StatusOK, u.Email+" "+c.RealIP())
		}
		return c.String(http.StatusOK, "nobody "+c.RealIP())
	})
	g.GET("/panic", func(echo.Context) error { panic("secret inside") })
	g.GET("/lost", func(echo.Context) error { return &store.OutcomeUnknown{Cause: io.ErrUnexpectedEOF} })
	return e
}

func do(e *echo.Echo, method, path string, head ...string) *http.Response {
	r := httptest.NewRequest(method, "https://hold.example"+path, nil)
	for i := 0; i+1 < len(head); i += 2 {
		r.Header.Add(head[i], head[i+1])
	}
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	return w.Result()
}

func read(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestSession checks what the cookie is, that the table holds no token, that signing in
// makes a new one, and that an ended session opens nothing.
func TestSession(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	e := bench(t, f, web.Config{PublicURL: "https://hold.example", Secure: true}, io.Discard)
	first := do(e, "POST", "/enter").Cookies()
	if len(first) != 1 {
		t.Fatalf("%d cookies, want 1", len(first))
	}
	c := first[0]
	if c.Name != "__Host-holdpoint" || !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || len(c.Value) < 26 {
		t.Errorf("cookie %+v", c)
	}
	if n := f.Count(t, "sessions WHERE position(convert_to($1, 'UTF8') IN token_hash) > 0 OR position(convert_to($1, 'UTF8') IN data) > 0", c.Value); n != 0 {
		t.Error("the table holds the token")
	}
	cookie := c.Name + "=" + c.Value
	if got := read(t, do(e, "GET", "/me", "Cookie", cookie)); !strings.HasPrefix(got, "lead@example.test") {
		t.Fatalf("signed in as %q", got)
	}
	second := do(e, "POST", "/enter", "Cookie", cookie).Cookies()
	if len(second) != 1 || second[0].Value == c.Value {
		t.Fatal("signing in kept the token")
	}
	if got := read(t, do(e, "GET", "/me", "Cookie", cookie)); !strings.HasPrefix(got, "nobody") {
		t.Errorf("the old token still opens %q", got)
	}
	fresh := c.Name + "=" + second[0].Value
	if err := f.Store.DisableUser(t.Context(), f.As("admin"), f.Users["lead"], "left"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, do(e, "GET", "/me", "Cookie", fresh)); !strings.HasPrefix(got, "nobody") {
		t.Errorf("a disabled person is %q", got)
	}
}

// TestHeaders checks the policy of pages, and that errors say nothing of the inside.
func TestHeaders(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	e := bench(t, storetest.NewFixture(t), web.Config{PublicURL: "https://hold.example", Secure: true}, &log)
	r := do(e, "GET", "/panic?email=anna@customer.test", "Accept-Language", "pl")
	body := read(t, r)
	if r.StatusCode != 500 || strings.Contains(body, "secret inside") || !strings.Contains(body, r.Header.Get("X-Request-Id")) || !strings.Contains(body, `lang="pl"`) {
		t.Errorf("status %d, page %s", r.StatusCode, body)
	}
	if !strings.Contains(log.String(), "secret inside") || strings.Contains(log.String(), "anna@") {
		t.Errorf("log %s", log.String())
	}
	csp := r.Header.Get("Content-Security-Policy")
	if !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "frame-ancestors 'none'") || strings.Contains(csp, "unsafe") {
		t.Errorf("policy %q", csp)
	}
	if r.Header.Get("X-Content-Type-Options") != "nosniff" || r.Header.Get("Strict-Transport-Security") == "" || r.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("headers %v", r.Header)
	}
	if r := do(e, "GET", "/lost", "Accept-Language", "en"); r.StatusCode != 503 || !strings.Contains(read(t, r), "not known whether the change was saved") {
		t.Errorf("a lost answer: status %d", r.StatusCode)
	}
	if r := do(e, "GET", "/nowhere"); r.StatusCode != 404 {
		t.Errorf("unknown address: status %d", r.StatusCode)
	}
	if r := do(e, "POST", "/enter", "Sec-Fetch-Site", "cross-site"); r.StatusCode != 403 {
		t.Errorf("another site's form: status %d", r.StatusCode)
	}
	if r := do(e, "POST", "/enter", "Origin", "https://hold.example", "Content-Length", "0"); r.StatusCode != 204 {
		t.Errorf("our own form: status %d", r.StatusCode)
	}
}

// TestRealIP believes X-Forwarded-For from trusted proxies only.
func TestRealIP(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	for _, c := range []struct {
		trusted []netip.Prefix
		want    string
	}{{nil, "192.0.2.1"}, {[]netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, "203.0.113.7"}, {[]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, "192.0.2.1"}} {
		e := bench(t, f, web.Config{PublicURL: "http://hold.example", TrustedProxies: c.trusted}, io.Discard)
		if got := read(t, do(e, "GET", "/me", "X-Forwarded-For", "198.51.100.9, 203.0.113.7")); got != "nobody "+c.want {
			t.Errorf("trusted %v: %q, want %s", c.trusted, got, c.want)
		}
	}
}

// TestLocalPath keeps a way back inside.
func TestLocalPath(t *testing.T) {
	for raw, want := range map[string]string{"/operations/op_1?view=changes": "/operations/op_1?view=changes", "": "/inbox", "//evil.example": "/inbox", `/\evil.example`: "/inbox",
		"https://evil.example/": "/inbox", "/%2f/evil": "/%2f/evil", "javascript:alert(1)": "/inbox", "/a\r\nSet-Cookie: x": "/inbox"} {
		if got := web.LocalPath(raw, "/inbox"); got != want {
			t.Errorf("%s: %q, want %q", url.QueryEscape(raw), got, want)
		}
	}
}

// TestDatabaseAway answers that nothing was decided, and when to come again, while the
// database is away; where something was decided before, the page does not say so.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	proxy := storetest.NewProxy(t, f.AppURL)
	near := *f
	near.Store = f.Open(t, proxy.URL())
	e := bench(t, &near, web.Config{PublicURL: "https://hold.example", Secure: true}, io.Discard)
	away := func(c echo.Context) error {
		proxy.CutOn(func(string) bool { return true }, storetest.CutBefore, 1000)
		_, err := near.Store.FindUser(c.Request().Context(), f.Users["lead"])
		return err
	}
	g := web.Pages(e)
	g.POST("/before", away)
	g.POST("/after", func(c echo.Context) error {
		if err := near.Store.SetPlace(c.Request().Context(), f.As("lead"), "en", "UTC"); err != nil {
			return err
		}
		return away(c)
	})
	for path, want := range map[string]string{"/before": "Nothing was decided", "/after": "not known whether the change was saved"} {
		proxy.Reset()
		r := do(e, "POST", path, "Accept-Language", "en")
		if body := read(t, r); r.StatusCode != 503 || r.Header.Get("Retry-After") == "" || !strings.Contains(body, want) {
			t.Errorf("%s: status %d, %v, page %s", path, r.StatusCode, r.Header, body)
		}
	}
	session := do(e, "GET", "/me", "Accept-Language", "en", "Cookie", "__Host-holdpoint=A2345678901234567890123456")
	if body := read(t, session); session.StatusCode != 503 || !strings.Contains(body, "Nothing was decided") {
		t.Errorf("a session that cannot be read: status %d, page %s", session.StatusCode, body)
	}
}
