package handlers_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
	"holdpoint/web"
)

// told is one event of a stream.
type told struct {
	ID, Kind   string
	Operations []toldOf `json:"operations"`
	Inbox      bool     `json:"inbox"`
	All        bool     `json:"all"`
	raw        string
}

type toldOf struct {
	ID       operation.ID    `json:"id"`
	Run      operation.RunID `json:"run"`
	Revision int64           `json:"revision"`
	New      bool            `json:"new"`
}

// listening is a browser's open stream.
type listening struct {
	t      *testing.T
	events chan told
	end    context.CancelFunc
	res    *http.Response
}

// listen opens the stream of changes and takes its first line.
func (b *browser) listen(query string, head ...string) *listening {
	b.t.Helper()
	l := b.open(query, head...)
	l.next("beat", "change")
	return l
}

// open opens the stream of changes as the script of a page does.
func (b *browser) open(query string, head ...string) *listening {
	b.t.Helper()
	ctx, cancel := context.WithCancel(b.t.Context())
	b.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.url+"/live"+query, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	for i := 0; i+1 < len(head); i += 2 {
		req.Header.Set(head[i], head[i+1])
	}
	client := &http.Client{Jar: b.http.Jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	l := &listening{t: b.t, events: make(chan told, 1000), end: cancel, res: res}
	if res.StatusCode != http.StatusOK {
		_ = res.Body.Close()
		close(l.events)
		return l
	}
	go l.read()
	return l
}

func (l *listening) read() {
	defer close(l.events)
	defer l.res.Body.Close()
	var e told
	for s := bufio.NewScanner(l.res.Body); s.Scan(); {
		switch name, value, _ := strings.Cut(s.Text(), ": "); name {
		case "id":
			e.ID = value
		case "event":
			e.Kind = value
		case "data":
			e.raw = value
			if err := json.Unmarshal([]byte(value), &e); err != nil {
				l.t.Errorf("event %q: %v", value, err)
			}
		case "":
			if e.Kind != "" {
				l.events <- e
			}
			e = told{}
		}
	}
}

// next is the next event of these kinds.
func (l *listening) next(kinds ...string) told {
	l.t.Helper()
	limit := time.After(20 * time.Second)
	for {
		select {
		case e, open := <-l.events:
			if !open {
				l.t.Fatalf("the stream ended before %v (status %d)", kinds, l.res.StatusCode)
			}
			if slices.Contains(kinds, e.Kind) {
				return e
			}
		case <-limit:
			l.t.Fatalf("no %v", kinds)
		}
	}
}

// about waits for word of an operation.
func (l *listening) about(id operation.ID) told {
	l.t.Helper()
	for {
		e := l.next("change")
		for _, o := range e.Operations {
			if o.ID == id {
				return e
			}
		}
	}
}

// ends waits for the end of the stream.
func (l *listening) ends(what string) {
	l.t.Helper()
	limit := time.After(20 * time.Second)
	for {
		select {
		case _, open := <-l.events:
			if !open {
				return
			}
		case <-limit:
			l.t.Fatalf("the stream goes on after %s", what)
		}
	}
}

// until gives what was told before a change that this browser may see.
func (l *listening) until(h *house, id operation.ID) (before []told) {
	l.t.Helper()
	h.Approve(l.t, id, "lead")
	for {
		e := l.next("change")
		for _, o := range e.Operations {
			if o.ID == id {
				return before
			}
		}
		before = append(before, e)
	}
}

// TestLiveTellsOverTwoServers: a decision at one server process is told to a page of
// another, with identifiers and revision only; so is what a machine does.
func TestLiveTellsOverTwoServers(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.Receive(t, storetest.CampaignEvent())[0]
	second := h.Open(t, h.AppURL)
	b := newBrowser(t, serve(t, second))
	h.session(t, b, h.Users["ops"])
	l := b.listen("")
	if got := l.res.Header; !strings.HasPrefix(got.Get("Content-Type"), "text/event-stream") || got.Get("Content-Encoding") != "" || got.Get("Cache-Control") != "no-store" {
		t.Errorf("headers %v", got)
	}
	begun := time.Now()
	lead := h.as(t, "lead")
	page := lead.get(opPath(id)).want(200)
	lead.submit(page, "form-decide", "decision", "approve").want(303)
	e := l.about(id)
	t.Logf("told after %v", time.Since(begun).Round(time.Millisecond))
	if !e.Inbox || e.All || e.Operations[0].Revision < 2 || e.Operations[0].Run == "" || e.ID == "" {
		t.Errorf("event %+v", e)
	}
	for _, word := range []string{"campaign", "crm", "Spring", "example.test"} {
		if strings.Contains(e.raw, word) {
			t.Errorf("the event tells content: %s", e.raw)
		}
	}
	more := h.Receive(t, storetest.CampaignEvent())[0] // a source's event: no person, no hint
	if e := l.about(more); !slices.ContainsFunc(e.Operations, func(o toldOf) bool { return o.ID == more && o.New }) {
		t.Errorf("event %+v", e)
	}
}

// TestLiveResumes: who comes back, to any process, is told what was missed.
func TestLiveResumes(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ids := h.Receive(t, storetest.CampaignEvent())
	b := h.as(t, "lead")
	l := b.listen("")
	h.Approve(t, ids[0], "lead")
	mark := l.about(ids[0]).ID
	l.end()
	missed := h.Receive(t, storetest.CampaignEvent())[0]
	other := newBrowser(t, serve(t, h.Open(t, h.AppURL)))
	h.session(t, other, h.Users["lead"])
	for _, way := range []struct {
		query string
		head  []string
	}{{"", []string{"Last-Event-ID", mark}}, {"?after=" + mark, nil}, {fmt.Sprintf("?at=%d", time.Now().UnixMilli()), nil}} {
		l := other.open(way.query, way.head...)
		l.about(missed)
		l.end()
	}
	if e := other.open("", "Last-Event-ID", "from another installation").next("change"); !e.All {
		t.Errorf("with a mark that is none: %+v", e)
	}
}

// TestLiveTellsOnlyWhatOneMaySee: of another flow's operations nothing is told.
func TestLiveTellsOnlyWhatOneMaySee(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.limited(t, operation.RoleApprover, "campaign-follow-up")
	b := h.nobody(t)
	h.session(t, b, h.Users["only-approver"])
	own := h.Receive(t, storetest.CampaignEvent())[0]
	l := b.listen("")
	for range 3 {
		h.Receive(t, storetest.CouponEvent())
	}
	time.Sleep(1200 * time.Millisecond) // a look of its own, so that it cannot hide in the next
	if before := l.until(h, own); len(before) > 0 {
		t.Errorf("told of what is not theirs: %+v", before)
	}
	// with a role for the other flow, it is
	if err := h.Store.GrantRole(t.Context(), h.As("admin"), h.Users["only-approver"], store.RoleGrant{Role: operation.RoleAuditor, Flow: "newsletter-coupon"}, ""); err != nil {
		t.Fatal(err)
	}
	for e := l.next("change"); !e.All; e = l.next("change") {
	}
	l.about(h.Receive(t, storetest.CouponEvent())[0])
}

// TestLiveEnds: with the session, with the account, with the server.
func TestLiveEnds(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	t.Run("SignedOut", func(t *testing.T) {
		b := h.as(t, "lead")
		l := b.listen("")
		b.post("/sign-out", nil).want(303)
		l.next("end")
		l.ends("signing out")
		if a := b.do(http.MethodGet, "/live", nil); a.status != 303 || !strings.HasPrefix(a.to, "/sign-in") {
			t.Errorf("afterwards: %d to %q", a.status, a.to)
		}
	})
	t.Run("Disabled", func(t *testing.T) {
		l := h.as(t, "author2").listen("")
		if err := h.Store.DisableUser(t.Context(), h.As("admin"), h.Users["author2"], "left"); err != nil {
			t.Fatal(err)
		}
		l.next("end")
		l.ends("the account was disabled")
	})
	t.Run("Stopped", func(t *testing.T) {
		stopping := make(chan struct{})
		url := serveOn(t, httptest.NewUnstartedServer(nil), h.Store, func(c *web.Config) { c.Stopping = stopping })
		b := newBrowser(t, url)
		h.session(t, b, h.Users["ops"])
		l := b.listen("")
		close(stopping)
		l.ends("the server stopped")
		if l := b.open(""); l.res.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("a stopping server answers %d", l.res.StatusCode)
		}
	})
}

// TestLiveIsBounded: a person has so many streams at most, and closing makes room.
func TestLiveIsBounded(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	b := h.as(t, "lead")
	var open []*listening
	for range 40 {
		l := b.open("")
		if l.res.StatusCode == http.StatusTooManyRequests {
			break
		}
		open = append(open, l)
	}
	if len(open) < 6 || len(open) >= 40 {
		t.Fatalf("%d streams of one person", len(open))
	}
	h.as(t, "ops").listen("") // others are not kept out
	for _, l := range open {
		l.end()
	}
	for limit := time.Now().Add(10 * time.Second); ; {
		if l := b.open(""); l.res.StatusCode == http.StatusOK {
			return
		}
		if time.Now().After(limit) {
			t.Fatal("closed streams still count")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// TestLiveOutlivesTheServersDeadlines: a stream goes on where an ordinary answer is cut.
func TestLiveOutlivesTheServersDeadlines(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	srv := httptest.NewUnstartedServer(nil)
	srv.Config.ReadTimeout, srv.Config.WriteTimeout = time.Second, time.Second
	url := serveOn(t, srv, h.Store, nil)
	b := newBrowser(t, url)
	h.session(t, b, h.Users["lead"])
	l := b.listen("")
	time.Sleep(2500 * time.Millisecond) // longer than both
	l.about(h.Receive(t, storetest.CampaignEvent())[0])
}

// TestLiveKeepsNoSessionAlive: what an open page asks by itself is nobody's use of it.
func TestLiveKeepsNoSessionAlive(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	b := h.as(t, "lead")
	ends := func() (at time.Time) {
		if err := h.Owner.QueryRow(`SELECT max(expires_at) FROM sessions`).Scan(&at); err != nil {
			t.Fatal(err)
		}
		return at
	}
	before := ends()
	b.listen("").end()
	req, err := http.NewRequest(http.MethodGet, b.url+"/inbox", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(web.LiveHeader, "1")
	res, err := b.http.Do(req)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatal(res, err)
	}
	_ = res.Body.Close()
	if !ends().Equal(before) {
		t.Error("what a page asks by itself made the session live longer")
	}
	b.get("/inbox").want(200)
	if !ends().After(before) {
		t.Error("a person's use did not")
	}
}
