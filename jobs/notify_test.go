package jobs

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"holdpoint/connector/chat"
	"holdpoint/connector/connectortest"
	"holdpoint/connector/order"
	"holdpoint/store"

	"github.com/slack-go/slack/slacktest"
)

// hook is a webhook of a chat. seen gives what it was sent.
type hook struct {
	*httptest.Server
	seen chan string
}

func newHook(t testing.TB) *hook {
	h := &hook{seen: make(chan string, 1000)}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusAccepted)
		h.seen <- string(b)
	}))
	t.Cleanup(func() { h.CloseClientConnections(); h.Close() })
	return h
}

// told is a world whose people are told.
type told struct {
	*world
	notify Notify
	teams  *hook
	slack  *slacktest.Server
	posts  chan map[string]string // chat.postMessage and chat.update, as they came
}

// newTold gives the flow to-crm a place at Slack and one at Teams.
func newTold(t *testing.T) *told {
	w := newWorld(t, "2s")
	x := &told{world: w, teams: newHook(t), posts: make(chan map[string]string, 1000)}
	x.slack = slacktest.NewTestServer(func(c slacktest.Customize) {
		for _, method := range []string{"/chat.postMessage", "/chat.update"} {
			c.Handle(method, func(rw http.ResponseWriter, r *http.Request) {
				_ = r.ParseForm()
				p := map[string]string{"method": method}
				for k := range r.PostForm {
					p[k] = r.PostForm.Get(k)
				}
				if p["ts"] == "" {
					p["ts"] = time.Now().Format("150405.000000")
				}
				x.posts <- p
				_ = json.NewEncoder(rw).Encode(map[string]any{"ok": true, "channel": p["channel"], "ts": p["ts"]})
			})
		}
	})
	x.slack.Start()
	t.Cleanup(x.slack.Stop)
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"TOKEN": "xoxb-secret", "TEAMS": x.teams.URL}[name]
		return v, ok
	}
	x.notify = Notify{PublicURL: "https://holdpoint.shop.example", Mail: mailAt(t, w.box.SMTP), Every: 50 * time.Millisecond,
		Chat: &chat.Client{Env: env, Slack: x.slack.GetAPIURL(), Local: true}, SlackToken: order.Ref{Env: "TOKEN"}}
	places := "\nnotify:\n  language: pl\n  places:\n    - slack: {channel: C0123456789}\n    - teams: {url: {env: TEAMS}}\n      local: true\n"
	if _, err := w.store.Apply(t.Context(), store.System("command"), []store.File{{Name: "crm.yaml",
		Source: []byte(fmt.Sprintf(strings.TrimSpace(flow), "crm", "create_task", content["crm"]) + places)}}); err != nil {
		t.Fatal(err)
	}
	return x
}

func (x *told) start(t *testing.T) *Worker {
	t.Helper()
	w, err := New(Config{Store: x.store, Log: quiet(t), Notify: &x.notify, PollOnly: true, Poll: 50 * time.Millisecond, Sweep: 50 * time.Millisecond, StopTimeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Stop(t.Context()) })
	return w
}

// mails waits until the mail server holds n messages.
func (x *told) mails(t *testing.T, n int) []connectortest.Effect {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		got := x.box.Ledger(t, "smtp", "")
		if len(got) >= n {
			return got
		}
		if time.Now().After(end) {
			t.Fatalf("the mail server holds %d mails, want %d\n%s", len(got), n, x.notices(t))
		}
	}
}

func (x *told) notices(t *testing.T) string {
	t.Helper()
	rows, err := x.db.Query(`SELECT kind || ' ' || channel || ' ' || state || ' ' || attempts || ' ' || last_error FROM notices ORDER BY id`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return strings.Join(out, "\n")
}

func receive[T any](t *testing.T, ch <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(30 * time.Second):
		t.Fatalf("%s did not come", what)
	}
	panic("unreachable")
}

func TestPeopleAreToldByMailAndChat(t *testing.T) {
	t.Parallel()
	x := newTold(t)
	x.start(t)
	id := x.draft("crm")
	post := receive(t, x.posts, "the Slack message")
	if post["method"] != "/chat.postMessage" || post["channel"] != "C0123456789" || !strings.Contains(post["blocks"], "/operations/"+string(id)) || !strings.Contains(post["text"], "Do zatwierdzenia") {
		t.Errorf("Slack got %v", post)
	}
	card := receive(t, x.teams.seen, "the Teams card")
	if !strings.Contains(card, "Action.OpenUrl") || !strings.Contains(card, string(id)) {
		t.Errorf("Teams got %s", card)
	}
	mails := x.mails(t, 1)
	if to := mails[0].Fields["to"]; !strings.Contains(toText(to), "lead@example.test") {
		t.Errorf("mail %v", mails[0].Fields)
	}
	// decided elsewhere: the message at Slack says so
	x.approve(id)
	update := receive(t, x.posts, "the change of the Slack message")
	if update["method"] != "/chat.update" || update["ts"] != post["ts"] || !strings.Contains(update["blocks"], "~") || strings.Contains(update["blocks"], "operacja czeka") {
		t.Errorf("Slack got %v", update)
	}
}

func toText(v any) string { b, _ := json.Marshal(v); return string(b) }

// TestOutageOfAChatDelaysNothingElse: Slack hangs, then refuses, then asks to wait. Mail
// and Teams are as fast as before, and when Slack is back, all of it arrives.
func TestOutageOfAChatDelaysNothingElse(t *testing.T) {
	t.Parallel()
	x := newTold(t)
	var mu sync.Mutex
	back, asked := false, 0
	var posted []string
	release := make(chan struct{})
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		mu.Lock()
		ok, n := back, len(posted)
		asked++
		turn := asked % 3
		if ok {
			posted = append(posted, r.PostForm.Get("blocks"))
		}
		mu.Unlock()
		switch {
		case ok:
			_ = json.NewEncoder(w).Encode(map[string]any{"ok": true, "channel": r.PostForm.Get("channel"), "ts": strconv.Itoa(n)})
		case turn == 2:
			w.WriteHeader(http.StatusInternalServerError)
		case turn == 0:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		default: // hangs
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}
	}))
	t.Cleanup(func() { proxy.CloseClientConnections(); proxy.Close() })
	x.notify.Chat.Slack = proxy.URL
	x.start(t)
	begin := time.Now()
	const n = 4
	for range n {
		x.draft("crm")
	}
	for range n {
		receive(t, x.teams.seen, "a Teams card during the outage")
	}
	x.mails(t, n)
	took := time.Since(begin)
	t.Logf("mail and Teams took %s while Slack was away", took.Round(time.Millisecond))
	if took > 9*time.Second { // a hanging chat takes ten seconds for each try
		t.Errorf("mail and Teams waited for Slack: %s", took)
	}
	for end := time.Now().Add(60 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		mu.Lock()
		away := asked >= 3 // it hung, refused and asked to wait
		back = away
		if mu.Unlock(); away {
			break
		}
		if time.Now().After(end) {
			t.Fatal("Slack is not asked")
		}
	}
	close(release)
	for end := time.Now().Add(60 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		// what waits for its next try is tried now
		if _, err := x.db.Exec(`UPDATE notices SET planned_for = now() - interval '1 second' WHERE channel = 'slack' AND state IN ('planned', 'unknown') AND lease_until IS NULL`); err != nil {
			t.Fatal(err)
		}
		if _, err := x.store.WakeNotices(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		got := len(posted)
		mu.Unlock()
		if got >= n {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d of %d messages arrived after the outage:\n%s", got, n, x.notices(t))
		}
	}
}

// TestOutageOfMailLosesNothing: the mail server is away, then answers "later".
func TestOutageOfMailLosesNothing(t *testing.T) {
	t.Parallel()
	x := newTold(t)
	x.box.Fault(t, connectortest.Fault{Destination: "smtp", Fault: "status_before_execute", Status: 451, Times: 3})
	x.start(t)
	for range 3 {
		x.draft("crm")
	}
	for range 3 {
		receive(t, x.teams.seen, "a Teams card")
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		var tried int
		if err := x.db.QueryRow(`SELECT count(*) FROM notices WHERE channel = 'mail' AND attempts > 0`).Scan(&tried); err != nil {
			t.Fatal(err)
		}
		if tried >= 3 || time.Now().After(end) {
			break
		}
	}
	if _, err := x.db.Exec(`UPDATE notices SET planned_for = now() - interval '1 second' WHERE channel = 'mail' AND state IN ('planned', 'unknown') AND lease_until IS NULL`); err != nil {
		t.Fatal(err)
	}
	if _, err := x.store.WakeNotices(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if got := x.mails(t, 3); len(got) != 3 {
		t.Errorf("%d mails for 3 notices", len(got))
	}
}
