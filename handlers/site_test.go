package handlers_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"holdpoint/handlers"
	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
	"holdpoint/web"

	"golang.org/x/net/html"
)

func TestMain(m *testing.M) { os.Exit(storetest.Run(m)) }

// house is a running server with its own database.
type house struct {
	*storetest.Fixture
	url string
}

func newHouse(t *testing.T) *house {
	t.Helper()
	f := storetest.NewFixture(t)
	return &house{Fixture: f, url: serve(t, f.Store)}
}

// serve starts one more server process's worth of pages on a store.
func serve(t *testing.T, st *store.Store) string {
	t.Helper()
	return serveOn(t, httptest.NewUnstartedServer(nil), st, nil)
}

// serveOn is serve on a server with settings of its own.
func serveOn(t *testing.T, srv *httptest.Server, st *store.Store, set func(*web.Config)) string {
	t.Helper()
	public := "http://" + srv.Listener.Addr().String()
	log := slog.New(slog.NewTextHandler(testWriter{t}, &slog.HandlerOptions{Level: slog.LevelError}))
	stopping := make(chan struct{})
	c := web.Config{PublicURL: public, Log: log, Store: st, Waiting: handlers.Waiting(st), Stopping: stopping}
	if set != nil {
		set(&c)
	}
	e := web.New(c)
	handlers.Register(e, handlers.Deps{Store: st, Log: log})
	srv.Config.Handler = e
	srv.Start()
	t.Cleanup(func() {
		close(stopping) // streams end, as when a process is told to stop
		srv.Close()
	})
	return public
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Helper()
	w.t.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

// browser is one person's browser without JavaScript.
type browser struct {
	t    *testing.T
	http *http.Client
	url  string
}

// nobody is a browser without a session.
func (h *house) nobody(t *testing.T) *browser {
	t.Helper()
	return newBrowser(t, h.url)
}

func newBrowser(t *testing.T, base string) *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t: t, url: base, http: &http.Client{Jar: jar, Timeout: 30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// as is a browser in which a person has signed in.
func (h *house) as(t *testing.T, short string) *browser {
	t.Helper()
	b := h.nobody(t)
	h.session(t, b, h.Users[short])
	return b
}

// session puts a signed-in session into a browser, as signing in would.
func (h *house) session(t *testing.T, b *browser, id operation.UserID) {
	t.Helper()
	token := store.NewFormID()
	sum := sha256.Sum256([]byte(token))
	err := h.Store.SaveSession(context.Background(), store.Session{TokenHash: sum[:], UserID: id, Data: []byte("{}"), Expires: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(b.url)
	if err != nil {
		t.Fatal(err)
	}
	b.http.Jar.SetCookies(u, []*http.Cookie{{Name: "holdpoint_" + u.Port(), Value: token, Path: "/"}})
}

// answer is what the server said.
type answer struct {
	t      *testing.T
	status int
	to     string // of a redirect
	header http.Header
	body   string
	doc    *html.Node
}

func (b *browser) do(method, path string, form url.Values) *answer {
	b.t.Helper()
	return b.send(method, path, form, http.Header{"Origin": {b.url}, "Sec-Fetch-Site": {"same-origin"}})
}

// postWith posts as a page would whose browser sends this header instead of its own.
func (b *browser) postWith(path string, form url.Values, name, value string) *answer {
	b.t.Helper()
	return b.send(http.MethodPost, path, form, http.Header{name: {value}})
}

func (b *browser) send(method, path string, form url.Values, head http.Header) *answer {
	b.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	req, err := http.NewRequest(method, b.url+path, body)
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Accept-Language", "en")
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for name := range head {
			req.Header.Set(name, head.Get(name))
		}
	}
	res, err := b.http.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	var from io.Reader = res.Body
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		from = io.LimitReader(from, 1) // it does not end by itself
	}
	raw, err := io.ReadAll(from)
	if err != nil {
		b.t.Fatal(err)
	}
	a := &answer{t: b.t, status: res.StatusCode, to: res.Header.Get("Location"), header: res.Header, body: string(raw)}
	if a.doc, err = html.Parse(strings.NewReader(a.body)); err != nil {
		b.t.Fatal(err)
	}
	return a
}

func (b *browser) get(path string) *answer { b.t.Helper(); return b.do(http.MethodGet, path, nil) }

func (b *browser) post(path string, form url.Values) *answer {
	b.t.Helper()
	return b.do(http.MethodPost, path, form)
}

// follow opens a page and what it redirects to.
func (b *browser) follow(a *answer) *answer {
	b.t.Helper()
	for range 5 {
		if a.to == "" {
			return a
		}
		a = b.get(a.to)
	}
	return a
}

// submit sends a form of a page with some fields set, as a browser would.
func (b *browser) submit(a *answer, testid string, set ...string) *answer {
	b.t.Helper()
	action, form := a.form(testid)
	for i := 0; i+1 < len(set); i += 2 {
		form.Set(set[i], set[i+1])
	}
	return b.post(action, form)
}

// want checks the status.
func (a *answer) want(status int) *answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("status %d, want %d\n%s", a.status, status, a.text())
	}
	return a
}

// says checks that the page's text has these words.
func (a *answer) says(words ...string) *answer {
	a.t.Helper()
	for _, w := range words {
		if !strings.Contains(a.text(), w) {
			a.t.Fatalf("the page does not say %q:\n%s", w, a.text())
		}
	}
	return a
}

// text is the page's text with single spaces.
func (a *answer) text() string {
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.TextNode {
			b.WriteString(n.Data + " ")
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Data != "style" && c.Data != "script" {
				walk(c)
			}
		}
	}
	walk(a.doc)
	return strings.Join(strings.Fields(b.String()), " ")
}

// has finds the element with a data-testid; nil = there is none.
func (a *answer) has(testid string) *html.Node {
	return find(a.doc, func(n *html.Node) bool { return attr(n, "data-testid") == testid })
}

func find(n *html.Node, ok func(*html.Node) bool) *html.Node {
	if n.Type == html.ElementNode && ok(n) {
		return n
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if x := find(c, ok); x != nil {
			return x
		}
	}
	return nil
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// form reads a form's address and fields as a browser without JavaScript sends them.
func (a *answer) form(testid string) (action string, fields url.Values) {
	a.t.Helper()
	f := a.has(testid)
	if f == nil {
		a.t.Fatalf("no form %s on the page (status %d):\n%s", testid, a.status, a.text())
	}
	fields = url.Values{}
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		name := attr(n, "name")
		switch {
		case n.Type != html.ElementNode || name == "":
		case n.Data == "textarea":
			if n.FirstChild != nil {
				fields.Add(name, strings.TrimPrefix(n.FirstChild.Data, "\n"))
			} else {
				fields.Add(name, "")
			}
		case n.Data == "select":
			fields.Add(name, selected(n))
		case n.Data == "input":
			t := attr(n, "type")
			checked := find(n, func(x *html.Node) bool { return hasAttr(x, "checked") }) != nil
			if (t != "radio" && t != "checkbox") || checked {
				fields.Add(name, attr(n, "value"))
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(f)
	return attr(f, "action"), fields
}

func hasAttr(n *html.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

func selected(n *html.Node) string {
	if o := find(n, func(x *html.Node) bool { return x.Data == "option" && hasAttr(x, "selected") }); o != nil {
		return attr(o, "value")
	}
	if o := find(n, func(x *html.Node) bool { return x.Data == "option" }); o != nil {
		return attr(o, "value")
	}
	return ""
}

func opPath(id operation.ID) string { return "/operations/" + string(id) }

// checks the state of an operation in the database.
func (h *house) wantState(t *testing.T, id operation.ID, want operation.State) {
	t.Helper()
	if got := h.State(t, id); got != want {
		t.Fatalf("state %s, want %s", got, want)
	}
}

func newVersion(h *house, t *testing.T, id operation.ID, who string, content map[string]any, submit bool) {
	t.Helper()
	n := store.NewVersion{Operation: id, Content: content, Author: store.Author{Kind: "person", ID: string(h.Users[who])}, Submit: submit}
	if err := h.Store.AddVersion(t.Context(), h.As(who), n); err != nil {
		t.Fatal(err)
	}
}

func mail(i int) map[string]any {
	return map[string]any{"to": fmt.Sprintf("c%d@example.test", i), "subject": "Spring", "text": "Dear customer, thank you.\nAnn"}
}

// missingText finds a sentence that no catalogue has.
func missingText(body string) string {
	_, rest, ok := strings.Cut(body, "⟦")
	if !ok {
		return ""
	}
	key, _, _ := strings.Cut(rest, "⟧")
	return key
}

func isFrame(n *html.Node) bool { return n.Data == "iframe" }
