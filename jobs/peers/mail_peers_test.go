//go:build peers

package peers

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/mail"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"holdpoint/connector/chat"
	"holdpoint/connector/order"
	"holdpoint/connector/smtp"
	"holdpoint/jobs"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Run(m)) }

// mailpit is a running Mailpit.
type mailpit struct {
	api, smtp string
}

func startMailpit(t *testing.T) *mailpit {
	t.Helper()
	bin := os.Getenv("HOLDPOINT_MAILPIT")
	if bin == "" {
		t.Fatal("HOLDPOINT_MAILPIT does not name Mailpit's binary: run `make peers`")
	}
	m := &mailpit{api: free(t), smtp: free(t)}
	var log bytes.Buffer
	cmd := exec.Command(bin, "--listen", m.api, "--smtp", m.smtp, "--enable-chaos", "--disable-version-check")
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("Mailpit:\n%s", log.String())
		}
	})
	until(t, "Mailpit listens", func() bool {
		c, err := net.Dial("tcp", m.smtp)
		if err == nil {
			_ = c.Close()
		}
		resp, err2 := http.Get("http://" + m.api + "/api/v1/info")
		if err2 == nil {
			_ = resp.Body.Close()
		}
		return err == nil && err2 == nil
	})
	return m
}

func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(60 * time.Second); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it did not come to that: %s", what)
		}
	}
}

// message is one mail as Mailpit's API gives it.
type message struct {
	ID, MessageID, Subject, Text, HTML string
	To                                 []struct{ Name, Address string }
}

func (m *mailpit) get(t *testing.T, path string, into any) {
	t.Helper()
	resp, err := http.Get("http://" + m.api + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %v %s", path, resp.StatusCode, err, raw)
	}
	if b, ok := into.(*[]byte); ok {
		*b = raw
		return
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

// find gives the mails that a search finds.
func (m *mailpit) find(t *testing.T, query string) []message {
	t.Helper()
	var list struct{ Messages []message }
	m.get(t, "/api/v1/search?query="+url.QueryEscape(query), &list)
	return list.Messages
}

// chaos lets a share of the recipients be refused for now.
func (m *mailpit) chaos(t *testing.T, percent int) {
	t.Helper()
	body := fmt.Sprintf(`{"Recipient":{"ErrorCode":451,"Probability":%d}}`, percent)
	req, err := http.NewRequest(http.MethodPut, "http://"+m.api+"/api/v1/chaos", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("chaos: %v %v", err, resp)
	}
	_ = resp.Body.Close()
}

// gate is a mail server's door that tests can shut: it passes connections on, lets them
// hang, or cuts them at the final dot.
type gate struct {
	addr string
	mode atomic.Value // "open", "hang", "cut"
}

func newGate(t *testing.T, to string) *gate {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	g := &gate{addr: l.Addr().String()}
	g.mode.Store("open")
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go g.pass(c, to)
		}
	}()
	return g
}

func (g *gate) pass(c net.Conn, to string) {
	defer c.Close()
	mode := g.mode.Load().(string)
	if mode == "hang" {
		_, _ = io.Copy(io.Discard, c)
		return
	}
	out, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer out.Close()
	go func() { _, _ = io.Copy(out, c) }()
	if mode == "open" {
		_, _ = io.Copy(c, out)
		return
	}
	var said bytes.Buffer // "cut": all answers but the one to the final dot
	buf := make([]byte, 4096)
	for {
		n, err := out.Read(buf)
		if err != nil {
			return
		}
		said.Write(buf[:n])
		if bytes.Contains(said.Bytes(), []byte("queued as")) {
			return
		}
		if _, err := c.Write(buf[:n]); err != nil {
			return
		}
	}
}

// house is a fixture whose people are told, with a Teams place for one flow.
type house struct {
	*storetest.Fixture
	pit   *mailpit
	gate  *gate
	cards chan string
	cfg   jobs.Notify
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{Fixture: storetest.NewFixture(t), pit: startMailpit(t), cards: make(chan string, 1000)}
	h.gate = newGate(t, h.pit.smtp)
	teams := newTeams(t, h.cards)
	files, err := storetest.DemoFiles()
	if err != nil {
		t.Fatal(err)
	}
	for i := range files {
		if files[i].Name == "newsletter-coupon.yaml" {
			files[i].Source = append(bytes.TrimSpace(files[i].Source), []byte("\nnotify:\n  places: [{teams: {url: {env: TEAMS}}, local: true}]\n")...)
		}
	}
	if _, err := h.Store.Apply(t.Context(), store.System("command"), files); err != nil {
		t.Fatal(err)
	}
	server, err := smtp.FromURL("smtp://" + h.gate.addr + "?starttls=off")
	if err != nil {
		t.Fatal(err)
	}
	h.cfg = jobs.Notify{PublicURL: "https://holdpoint.shop.example", Every: 50 * time.Millisecond,
		Mail: &jobs.Mail{Server: server, From: mail.Address{Name: "Holdpoint", Address: "holdpoint@shop.example"}},
		Chat: &chat.Client{Env: order.Env(func(name string) (string, bool) { return teams, name == "TEAMS" })}}
	return h
}

func newTeams(t *testing.T, cards chan<- string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusAccepted)
		cards <- string(b)
	})}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	return "http://" + l.Addr().String()
}

func (h *house) start(t *testing.T) *jobs.Worker {
	t.Helper()
	w, err := jobs.New(jobs.Config{Store: h.Store, Log: slog.New(slog.DiscardHandler), Notify: &h.cfg, PollOnly: true, Poll: 100 * time.Millisecond, StopTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Stop(context.Background()) })
	return w
}

// again makes what waits for its next try due now, as time would.
func (h *house) again(t *testing.T) {
	t.Helper()
	if _, err := h.Owner.Exec(`UPDATE notices SET planned_for = now() - interval '1 second' WHERE state IN ('planned', 'unknown') AND lease_until IS NULL AND attempts > 0`); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Store.WakeNotices(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
}

func (h *house) card(t *testing.T) time.Duration {
	t.Helper()
	begin := time.Now()
	select {
	case <-h.cards:
	case <-time.After(30 * time.Second):
		t.Fatal("no Teams card")
	}
	return time.Since(begin)
}

func (h *house) speaks(t *testing.T, short, locale, zone string) {
	t.Helper()
	if err := h.Store.SetPlace(t.Context(), h.As(short), locale, zone); err != nil {
		t.Fatal(err)
	}
}

// TestMailpitReadsTheMail sends one notice to a Japanese and a Polish reader and reads
// it back by Mailpit's API.
func TestMailpitReadsTheMail(t *testing.T) {
	h := newHouse(t)
	h.speaks(t, "lead", "ja", "Asia/Tokyo")
	h.speaks(t, "second", "pl", "Europe/Warsaw")
	h.start(t)
	op := h.Receive(t, storetest.CouponEvent())[0]
	until(t, "two mails", func() bool { return len(h.pit.find(t, "is:unread")) == 2 })
	for address, want := range map[string]string{"lead@example.test": "承認依頼：", "second@example.test": "Do zatwierdzenia: "} {
		found := h.pit.find(t, "to:"+address)
		if len(found) != 1 || !strings.HasPrefix(found[0].Subject, want) {
			t.Fatalf("%s: %+v", address, found)
		}
		var m message
		h.pit.get(t, "/api/v1/message/"+found[0].ID, &m)
		link := "https://holdpoint.shop.example/operations/" + string(op)
		if !strings.Contains(m.Text, link) || !strings.Contains(m.HTML, `href="`+link+`"`) || !strings.Contains(m.HTML, "<html lang=") {
			t.Errorf("%s: text %q html %q", address, m.Text, m.HTML)
		}
		var headers map[string][]string
		h.pit.get(t, "/api/v1/message/"+found[0].ID+"/headers", &headers)
		for name, value := range map[string]string{"Auto-Submitted": "auto-generated", "List-Id": "Holdpoint <notices.shop.example>", "References": "<" + string(op) + "@shop.example>",
			"List-Unsubscribe": "<https://holdpoint.shop.example/account/notifications>"} {
			if len(headers[name]) != 1 || headers[name][0] != value {
				t.Errorf("%s %s: %q", address, name, headers[name])
			}
		}
		if again := h.pit.find(t, "message-id:"+m.MessageID); len(again) != 1 {
			t.Errorf("Message-ID %q finds %d mails", m.MessageID, len(again))
		}
		var raw []byte
		h.pit.get(t, "/api/v1/message/"+found[0].ID+"/raw", &raw)
		for line := range bytes.SplitSeq(raw, []byte("\r\n")) {
			if len(line) > 998 {
				t.Errorf("a line has %d bytes", len(line))
			}
		}
	}
}

// TestOutagesOfTheMailServer: it refuses for now, hangs, is cut at the final dot. No
// notice is lost, and Teams is as fast as ever.
func TestOutagesOfTheMailServer(t *testing.T) {
	for _, outage := range []string{"refuses", "hangs", "cuts at the final dot"} {
		t.Run(outage, func(t *testing.T) {
			h := newHouse(t)
			switch outage {
			case "refuses":
				h.pit.chaos(t, 100)
			case "hangs":
				h.gate.mode.Store("hang")
			default:
				h.gate.mode.Store("cut")
			}
			h.start(t)
			h.Receive(t, storetest.CouponEvent())
			took := h.card(t)
			t.Logf("the Teams card took %s while the mail server %s", took.Round(time.Millisecond), outage)
			if took > 10*time.Second {
				t.Errorf("Teams waited %s for the mail server", took)
			}
			until(t, "both mails were tried", func() bool { return h.Count(t, "notices WHERE channel = 'mail' AND attempts > 0") == 2 })
			if outage == "refuses" {
				h.pit.chaos(t, 0)
			}
			h.gate.mode.Store("open")
			until(t, "both mails are recorded as sent", func() bool {
				h.again(t)
				return h.Count(t, "notices WHERE channel = 'mail' AND state = 'sent'") == 2
			})
			byID := map[string]bool{}
			for _, m := range h.pit.find(t, "subject:approve") {
				byID[m.MessageID] = true
			}
			if len(byID) != 2 {
				t.Errorf("%d different messages for two notices: a repeat has the same Message-ID", len(byID))
			}
		})
	}
}

// work starts the product's own worker as a process.
func (h *house) work(t *testing.T) *exec.Cmd {
	t.Helper()
	bin := os.Getenv("HOLDPOINT_TEST_BINARY")
	if bin == "" {
		t.Fatal("HOLDPOINT_TEST_BINARY does not name the program: run `make peers`")
	}
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	if err := os.WriteFile(key, []byte(base64.StdEncoding.EncodeToString(storetest.Secret)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "work")
	cmd.Env = append(os.Environ(), "DATABASE_URL="+h.AppURL, "HOLDPOINT_DATA="+dir, "HOLDPOINT_KEY_FILE="+key, "HOLDPOINT_METRICS_ADDR=off",
		"HOLDPOINT_PUBLIC_URL=https://holdpoint.shop.example", "HOLDPOINT_SMTP_URL=smtp://"+h.gate.addr+"?starttls=off", "HOLDPOINT_MAIL_FROM=Holdpoint <holdpoint@shop.example>")
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("holdpoint work:\n%s", log.String())
		}
	})
	return cmd
}

// TestKilledWorkerLosesNoMail: a worker is killed while its mails hang. When its lease
// has ended, another one sends the same messages.
func TestKilledWorkerLosesNoMail(t *testing.T) {
	h := newHouse(t)
	h.gate.mode.Store("hang")
	first := h.work(t)
	h.Receive(t, storetest.CouponEvent())
	until(t, "both mails are on their way", func() bool {
		return h.Count(t, "notices WHERE channel = 'mail' AND state = 'planned' AND lease_until > now()") == 2
	})
	if err := first.Process.Kill(); err != nil { // SIGKILL
		t.Fatal(err)
	}
	h.gate.mode.Store("open")
	h.work(t)
	until(t, "both mails are sent", func() bool {
		// time passes: the lease ends, the sweep finds what has no job
		if _, err := h.Owner.Exec(`UPDATE notices SET lease_until = now(), planned_for = now() - interval '1 minute' WHERE state = 'planned' AND attempts = 1`); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Store.WakeNotices(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		return h.Count(t, "notices WHERE channel = 'mail' AND state = 'sent'") == 2
	})
	rows, err := h.Owner.Query(`SELECT message_id FROM notices WHERE channel = 'mail'`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		if found := h.pit.find(t, "message-id:"+id); len(found) != 1 {
			t.Errorf("%d mails with the Message-ID %s", len(found), id)
		}
	}
}
