package chat

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slacktest"

	"holdpoint/connector/order"
)

const token = "xoxb-1234-very-secret"

func env(values map[string]string) order.Env {
	return func(name string) (string, bool) { v, ok := values[name]; return v, ok }
}

var nasty = Message{Heading: "To approve: <!channel> *bold* & <https://evil.example|you>", Lines: []string{"Campaign · CRM task", "期限 4月16日"},
	Link: "https://holdpoint.example/operations/op_1?a=1&b=2", Open: "Open the operation"}

// next waits for the next event of a kind that a reader is sent.
func next[E any](t *testing.T, rtm *slack.RTM) E {
	t.Helper()
	end := time.After(20 * time.Second)
	for {
		select {
		case e := <-rtm.IncomingEvents:
			if found, ok := e.Data.(E); ok {
				return found
			}
		case <-end:
			t.Fatal("the reader saw nothing")
		}
	}
}

func TestSlackPostsAndChangesAMessage(t *testing.T) {
	t.Parallel()
	var updated http.Header
	var form map[string][]string
	server := slacktest.NewTestServer(func(c slacktest.Customize) {
		c.Handle("/chat.update", func(w http.ResponseWriter, r *http.Request) {
			_ = r.ParseForm()
			updated, form = r.Header, r.PostForm
			_ = json.NewEncoder(w).Encode(map[string]any{"ok": true, "channel": r.PostForm.Get("channel"), "ts": r.PostForm.Get("ts")})
		})
	})
	server.Start()
	defer server.Stop()
	rtm := server.GetTestRTMInstance() // a reader of the channel, as people are
	go rtm.ManageConnection()
	defer func() { _ = rtm.Disconnect() }()
	next[*slack.ConnectedEvent](t, rtm)
	c := &Client{Env: env(map[string]string{"TOKEN": token}), Slack: server.GetAPIURL(), Local: true}
	p := Place{Kind: "slack", Channel: "C0123456789", Secret: order.Ref{Env: "TOKEN"}}
	r := c.Post(context.Background(), p, nasty)
	if !r.Sent || !strings.HasPrefix(r.Remote, "C0123456789/") {
		t.Fatalf("%+v", r)
	}
	m := next[*slack.MessageEvent](t, rtm)
	text := m.Blocks.BlockSet[0].(*slack.SectionBlock).Text.Text
	for _, bad := range []string{"<!channel>", "*bold*", "<https://evil"} {
		if strings.Contains(text, bad) || strings.Contains(m.Text, bad) {
			t.Errorf("%q keeps its meaning in %q", bad, text)
		}
	}
	if !strings.Contains(text, "<https://holdpoint.example/operations/op_1?a=1&amp;b=2|Open the operation>") || !strings.Contains(text, "期限 4月16日") {
		t.Errorf("text %q", text)
	}
	done := nasty
	done.Done = true
	if u := c.Update(context.Background(), p, r.Remote, done); !u.Sent {
		t.Fatalf("%+v", u)
	}
	if form["ts"][0] != strings.Split(r.Remote, "/")[1] || !strings.Contains(form["blocks"][0], "~To approve") || updated.Get("Authorization") != "Bearer "+token {
		t.Errorf("update %v", form)
	}
	if u := c.Update(context.Background(), Place{Kind: "teams"}, "x", done); u.Sent || !u.Permanent {
		t.Errorf("a webhook cannot change a message: %+v", u)
	}
}

// answers serves one answer after another, the last one for ever.
func answers(t *testing.T, list ...http.HandlerFunc) (url string, bodies func() []string) {
	t.Helper()
	var mu sync.Mutex
	var got []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		mu.Lock()
		n := min(len(got), len(list)-1)
		got = append(got, string(b))
		mu.Unlock()
		list[n](w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []string { mu.Lock(); defer mu.Unlock(); return append([]string(nil), got...) }
}

func say(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func hangUp(w http.ResponseWriter, _ *http.Request) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_ = c.Close()
	}
}

func TestWhatAnswersMean(t *testing.T) {
	t.Parallel()
	type want struct {
		sent, unknown, permanent bool
		wait                     time.Duration
		code                     string
	}
	for _, c := range []struct {
		name, kind string
		answer     http.HandlerFunc
		want       want
	}{
		{"Slack: no", "slack", say(200, `{"ok":false,"error":"channel_not_found"}`), want{permanent: true, code: "channel_not_found"}},
		{"Slack: wrong token", "slack", say(200, `{"ok":false,"error":"invalid_auth"}`), want{code: "invalid_auth"}},
		{"Slack: fatal", "slack", say(200, `{"ok":false,"error":"fatal_error"}`), want{unknown: true, code: "fatal_error"}},
		{"Slack: neither", "slack", say(200, `{}`), want{unknown: true, code: CodeOddAnswer}},
		{"Slack: a page", "slack", say(200, `<html>`), want{unknown: true, code: CodeOddAnswer}},
		{"Slack: busy", "slack", say(429, `{"ok":false,"error":"ratelimited"}`, "Retry-After", "30"), want{wait: 30 * time.Second, code: CodeBusy}},
		{"Slack: cut off", "slack", hangUp, want{unknown: true, code: "no_answer"}},
		{"hook: ok", "slack_hook", say(200, "ok"), want{sent: true, code: CodePosted}},
		{"hook: empty", "slack_hook", say(200, ""), want{unknown: true, code: CodeOddAnswer}},
		{"hook: wrong", "slack_hook", say(400, "invalid_payload"), want{permanent: true, code: "status_400"}},
		{"hook: gone", "slack_hook", say(410, "channel_is_archived"), want{permanent: true, code: "status_410"}},
		{"hook: forbidden", "slack_hook", say(403, "invalid_token"), want{code: "status_403"}},
		{"hook: its fault", "slack_hook", say(500, "rollup_error"), want{unknown: true, code: "status_500"}},
		{"hook: elsewhere", "slack_hook", say(302, "", "Location", "/x"), want{code: "status_302"}},
		{"Teams: taken", "teams", say(202, ""), want{sent: true, code: CodeAccepted}},
		{"Teams: old", "teams", say(200, "1"), want{sent: true, code: CodePosted}},
		{"Teams: hidden 429", "teams", say(200, "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429 with ContextId x"), want{code: CodeBusy}},
		{"Teams: hidden 413", "teams", say(200, "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 413"), want{permanent: true, code: "status_413"}},
		{"Teams: something", "teams", say(200, "hello"), want{unknown: true, code: CodeOddAnswer}},
		{"Teams: busy", "teams", say(429, "", "Retry-After", "7200"), want{wait: time.Hour, code: CodeBusy}},
		{"Teams: asleep", "teams", say(503, ""), want{unknown: true, code: "status_503"}},
	} {
		url, bodies := answers(t, c.answer)
		secret := url
		if c.kind == "slack" {
			secret = token
		}
		client := &Client{Env: env(map[string]string{"S": secret}), Slack: url, Local: true}
		r := client.Post(context.Background(), Place{Kind: c.kind, Channel: "C0123456789", Secret: order.Ref{Env: "S"}, Local: true}, nasty)
		if got := (want{r.Sent, r.Unknown, r.Permanent, r.RetryAfter, r.Code}); got != c.want {
			t.Errorf("%s: %+v, want %+v (%s)", c.name, got, c.want, r.Detail)
		}
		if n := len(bodies()); n != 1 {
			t.Errorf("%s: %d requests", c.name, n)
		}
		if strings.Contains(r.Detail, token) || strings.Contains(r.Detail, url) {
			t.Errorf("%s: the detail shows a secret: %s", c.name, r.Detail)
		}
	}
}

func TestNothingLeavesWithoutAPlace(t *testing.T) {
	t.Parallel()
	url, bodies := answers(t, say(200, "ok"))
	ctx := context.Background()
	blocked := &Client{Env: env(map[string]string{"S": url})}
	if r := blocked.Post(ctx, Place{Kind: "teams", Secret: order.Ref{Env: "S"}}, nasty); r.Sent || r.Unknown || r.Code != "blocked_address" {
		t.Errorf("the guard: %+v", r)
	}
	if r := blocked.Post(ctx, Place{Kind: "teams", Secret: order.Ref{Env: "NONE"}}, nasty); r.Code != CodeCredential || r.Permanent {
		t.Errorf("no credential: %+v", r)
	}
	if r := blocked.Post(ctx, Place{Kind: "pigeon", Secret: order.Ref{Env: "S"}}, nasty); !r.Permanent {
		t.Errorf("no such chat: %+v", r)
	}
	away := httptest.NewServer(nil)
	away.Close()
	gone := &Client{Env: env(map[string]string{"S": away.URL})}
	if r := gone.Post(ctx, Place{Kind: "teams", Secret: order.Ref{Env: "S"}, Local: true}, nasty); r.Sent || r.Unknown || r.Permanent || r.Code != "refused_connection" {
		t.Errorf("away: %+v", r)
	}
	if n := len(bodies()); n != 0 {
		t.Errorf("%d requests left", n)
	}
}

func TestTeamsCardHasNoMarkup(t *testing.T) {
	t.Parallel()
	url, bodies := answers(t, say(202, ""))
	c := &Client{Env: env(map[string]string{"S": url})}
	if r := c.Post(context.Background(), Place{Kind: "teams", Secret: order.Ref{Env: "S"}, Local: true}, nasty); !r.Sent {
		t.Fatalf("%+v", r)
	}
	var card struct {
		Type        string
		Attachments []struct {
			ContentType string
			Content     struct {
				Body []struct {
					Type    string
					Inlines []struct{ Type, Text string }
				}
				Actions []struct{ Type, Title, URL string }
			}
		}
	}
	if err := json.Unmarshal([]byte(bodies()[0]), &card); err != nil {
		t.Fatal(err)
	}
	content := card.Attachments[0].Content
	if card.Type != "message" || content.Body[0].Inlines[0].Text != nasty.Heading || content.Actions[0] != (struct{ Type, Title, URL string }{"Action.OpenUrl", nasty.Open, nasty.Link}) {
		t.Errorf("card %s", bodies()[0])
	}
	for _, b := range content.Body {
		if b.Type != "RichTextBlock" || b.Inlines[0].Type != "TextRun" {
			t.Errorf("a block of type %s reads markup", b.Type)
		}
	}
}
