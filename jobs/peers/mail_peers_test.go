//go:build peers

package peers

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/mail"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
