package handlers_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"holdpoint/store/storetest"
)

// TestKeptForm keeps what a person sent after their session had ended for them alone,
// and nothing for who has no session on record.
func TestKeptForm(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	const pass = "a long pass phrase"
	h.SetPassword(t, "lead", pass)
	h.SetPassword(t, "second", pass)
	id := h.Receive(t, storetest.CouponEvent())[0]
	path, comment := opPath(id), "Only for my own eyes."
	end := func() {
		t.Helper()
		if _, err := h.Owner.Exec(`UPDATE sessions SET expires_at = clock_timestamp() - interval '1 hour', revoked_at = clock_timestamp() WHERE user_id IS NOT NULL`); err != nil {
			t.Fatal(err)
		}
	}
	ended := func() (*browser, *answer) {
		t.Helper()
		b := h.as(t, "lead")
		page := b.get(path).want(200)
		end()
		a := b.submit(page, "form-decide", "decision", "approve", "comment", comment).want(303)
		return b, a
	}
	signIn := func(b *browser, a *answer, who string) *answer {
		t.Helper()
		page := b.get(a.to).want(200)
		return b.follow(b.submit(page, "form-signin", "email", storetest.Email(who), "password", pass).want(303)).want(200)
	}

	t.Run("NobodyFillsTheTable", func(t *testing.T) {
		before := h.Count(t, "sessions")
		form := url.Values{"comment": {strings.Repeat("x", 1000)}}
		b := h.nobody(t)
		for range 5 {
			if a := b.post(path+"/decide", form).want(303); strings.Contains(a.to, "kept") {
				t.Fatalf("led to %s", a.to)
			}
			b.post("/sign-out", url.Values{}).want(303)
		}
		u, _ := url.Parse(h.url)
		b.http.Jar.SetCookies(u, []*http.Cookie{{Name: "holdpoint_" + u.Port(), Value: "A2345678901234567890123456", Path: "/"}})
		if a := b.post(path+"/decide", form).want(303); strings.Contains(a.to, "kept") {
			t.Fatalf("an invented session led to %s", a.to)
		}
		if n := h.Count(t, "sessions"); n != before {
			t.Errorf("%d sessions, want %d", n, before)
		}
	})
	t.Run("ItsPersonGetsItBack", func(t *testing.T) {
		b, a := ended()
		signIn(b, a, "lead").says(comment)
	})
	t.Run("NobodyElseSeesIt", func(t *testing.T) {
		b, a := ended()
		for range 2 {
			if got := signIn(b, a, "second"); strings.Contains(got.body, comment) {
				t.Fatal("another person sees what was typed")
			}
			b.post("/sign-out", url.Values{}).want(303)
		}
		if got := signIn(b, a, "lead"); strings.Contains(got.body, comment) {
			t.Error("it came back after somebody else had signed in")
		}
		if n := h.Count(t, "sessions WHERE position($1 IN encode(data, 'escape')) > 0 AND user_id IS NOT NULL AND user_id <> $2", comment, string(h.Users["lead"])); n != 0 {
			t.Error("another person's session holds it")
		}
	})
	t.Run("AfterSigningOutInAnotherTab", func(t *testing.T) {
		b := h.as(t, "lead")
		page := b.get(path).want(200)
		b.post("/sign-out", url.Values{}).want(303)
		a := b.submit(page, "form-decide", "decision", "approve", "comment", comment).want(303)
		signIn(b, a, "lead").says(comment)
	})
	t.Run("ALongOneIsNot", func(t *testing.T) {
		b := h.as(t, "lead")
		end()
		if a := b.post(path+"/decide", url.Values{"comment": {strings.Repeat("x", 70<<10)}}).want(303); strings.Contains(a.to, "kept") {
			t.Errorf("led to %s", a.to)
		}
	})
	t.Run("AtMostThirtyAnHour", func(t *testing.T) {
		b := h.as(t, "lead")
		u, _ := url.Parse(h.url)
		was := b.http.Jar.Cookies(u)
		end()
		kept := 0
		for range 40 {
			b.http.Jar.SetCookies(u, was) // an ended session may be sent again and again
			if a := b.post(path+"/decide", url.Values{"comment": {comment}}).want(303); strings.Contains(a.to, "kept") {
				kept++
			}
		}
		if kept == 0 || kept > 30 {
			t.Errorf("%d forms kept, want at most 30", kept)
		}
	})
}

// TestReturn goes on after a sign-in only to pages that a GET opens.
func TestReturn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	lead := h.as(t, "lead")
	for to, want := range map[string]string{
		"/operations?state=review": "/operations?state=review", "/flows/plain-note": "/flows/plain-note", "/sign-out": "/inbox", "/sign-in?return=/sign-in": "/inbox",
		"/operations/op_x/decide": "/inbox", "/api/v1/events": "/inbox", "//evil.example": "/inbox", "/": "/inbox", "/flows/": "/inbox"} {
		if a := lead.get("/sign-in?return=" + url.QueryEscape(to)).want(303); a.to != want {
			t.Errorf("%s: led to %s, want %s", to, a.to, want)
		}
	}
}
