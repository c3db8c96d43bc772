package main

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/smtp"
	"net/textproto"
	"strings"
	"syscall"
	"testing"
	"time"
)

const testMail = "From: a@example.test\r\nTo: b@example.test\r\nSubject: Hello\r\nMessage-ID: <op_1@holdpoint.test>\r\n\r\nText\r\n.dotted\r\n"

func newSMTPPeer(t *testing.T, change ...func(*config)) *peer {
	t.Helper()
	return newPeer(t, append(change, func(c *config) { c.smtpAddr = "127.0.0.1:0" })...)
}

func (p *peer) dial() *smtp.Client {
	p.t.Helper()
	c, err := smtp.Dial(p.sb.smtpAddr())
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { c.Close() })
	return c
}

// envelope brings a conversation up to DATA.
func envelope(c *smtp.Client, recipients ...string) error {
	err := c.Mail("a@example.test")
	for _, r := range recipients {
		if err == nil {
			err = c.Rcpt(r)
		}
	}
	return err
}

// deliver sends the test mail; the error is that of the final dot.
func deliver(c *smtp.Client) error {
	w, err := c.Data()
	if err != nil {
		return fmt.Errorf("at DATA: %w", err)
	}
	if _, err := io.WriteString(w, testMail); err != nil {
		return fmt.Errorf("in the mail: %w", err)
	}
	return w.Close()
}

func TestSMTP(t *testing.T) {
	t.Parallel()

	t.Run("Accepts", func(t *testing.T) {
		t.Parallel()
		p := newSMTPPeer(t)
		c := p.dial()
		if err := errors.Join(envelope(c, "b@example.test", "c@example.test"), deliver(c)); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(envelope(c, "b@example.test"), deliver(c), c.Quit()); err != nil {
			t.Fatal("a second mail in one conversation:", err)
		}
		for _, reference := range []string{"op_1@holdpoint.test", "op_1"} {
			p.wantEffects(destSMTP, reference, 2)
		}
		e := p.effects(destSMTP, "op_1")[0]
		if e.Fields["subject"] != "Hello" || e.Fields["message_id"] != "<op_1@holdpoint.test>" || len(e.Fields["to"].([]any)) != 2 {
			t.Fatalf("%+v", e)
		}
		entry := p.sb.requests.of(destSMTP)[0]
		if !strings.Contains(entry.Body, "\n.dotted") || entry.Status != 250 || entry.Path != "/b@example.test,c@example.test" {
			t.Fatalf("%+v", entry)
		}
	})

	t.Run("AnswersWithTheQueueID", func(t *testing.T) {
		t.Parallel()
		p := newSMTPPeer(t)
		conn, err := textproto.Dial("tcp", p.sb.smtpAddr())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for _, step := range []struct {
			say  string
			code int
		}{{"", 220}, {"RCPT TO:<b@example.test>", 503}, {"DATA", 503}, {"MAIL FROM:<a@example.test>", 503}, {"NONSENSE", 502}, {"EHLO me", 250},
			{"MAIL FROM:a", 501}, {"MAIL FROM:<a@example.test> SIZE=10", 250}, {"RCPT TO:<>", 501}, {"RCPT TO:<b@example.test>", 250}, {"DATA", 354}} {
			if step.say != "" {
				if err := conn.PrintfLine("%s", step.say); err != nil {
					t.Fatal(err)
				}
			}
			if _, _, err := conn.ReadResponse(step.code); err != nil {
				t.Fatalf("%q: %v", step.say, err)
			}
		}
		if err := conn.PrintfLine("Subject: x\r\n\r\nno id\r\n."); err != nil {
			t.Fatal(err)
		}
		_, words, err := conn.ReadResponse(250)
		id := p.effects(destSMTP, "")[0].ID
		if err != nil || words != "2.0.0 Ok: queued as "+id {
			t.Fatal(words, err)
		}
	})

	t.Run("StartTLSAndAuth", func(t *testing.T) {
		t.Parallel()
		p := newSMTPPeer(t, func(c *config) { c.smtpTLS, c.smtpAuth = true, true })
		c := p.dial()
		if ok, _ := c.Extension("AUTH"); ok {
			t.Fatal("AUTH is offered before TLS")
		}
		if err := c.StartTLS(&tls.Config{InsecureSkipVerify: true}); err != nil {
			t.Fatal(err)
		}
		if err := envelope(c, "b@example.test"); err == nil || !strings.HasPrefix(err.Error(), "530") {
			t.Fatal(err)
		}
		if err := c.Auth(smtp.PlainAuth("", "me", "wrong", "127.0.0.1")); err == nil {
			t.Fatal("the wrong password was taken")
		}
		c = p.dial()
		if err := c.StartTLS(&tls.Config{InsecureSkipVerify: true}); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(c.Auth(smtp.PlainAuth("", "me", "secret", "127.0.0.1")), envelope(c, "b@example.test"), deliver(c)); err != nil {
			t.Fatal(err)
		}
		if e := p.effects(destSMTP, "op_1")[0]; e.Fields["tls"] != true || e.Fields["user"] != "me" {
			t.Fatalf("%+v", e)
		}
	})

	t.Run("LeavingBeforeTheDotAcceptsNothing", func(t *testing.T) {
		t.Parallel()
		p := newSMTPPeer(t)
		c := p.dial()
		if err := envelope(c, "b@example.test"); err != nil {
			t.Fatal(err)
		}
		w, err := c.Data()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, testMail); err != nil {
			t.Fatal(err)
		}
		c.Text.W.Flush()
		c.Close()
		for range 200 {
			if p.sb.requests.of(destSMTP)[0].Answered != "not yet" {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		if words := p.sb.requests.of(destSMTP)[0].Answered; !strings.Contains(words, "before the final dot") {
			t.Fatal(words)
		}
		p.wantEffects(destSMTP, "", 0)
	})
}

// TestMailText: a person reads a mail's text and follows its links on the sandbox's page.
func TestMailText(t *testing.T) {
	t.Parallel()
	const letter = "Subject: =?utf-8?q?Do_zatwierdzenia?=\r\nMIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n" +
		"--b\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n" +
		"Pr=C3=B3ba: http://127.0.0.1:7300/opera=\r\ntions/op_1 \"x\"\r\n" +
		"--b\r\nContent-Type: text/html\r\n\r\n<p>no</p>\r\n--b--\r\n"
	if got, want := mailText([]byte(letter)), "Próba: http://127.0.0.1:7300/operations/op_1 \"x\""; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
	p := newSMTPPeer(t)
	c := p.dial()
	if err := envelope(c, "b@example.test"); err != nil {
		t.Fatal(err)
	}
	w, err := c.Data()
	if err == nil {
		_, err = io.WriteString(w, letter)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	e := p.sb.ledger.list(destSMTP, "")[0]
	if e.Fields["subject"] != "Do zatwierdzenia" {
		t.Errorf("subject %q", e.Fields["subject"])
	}
	rec := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/smtp/view/"+e.ID, nil)
	r.SetPathValue("id", e.ID)
	p.sb.showEffect(destSMTP)(rec, r)
	if want := `<a href="http://127.0.0.1:7300/operations/op_1" rel="noreferrer">`; !strings.Contains(rec.Body.String(), want) {
		t.Errorf("the page lacks %s:\n%s", want, rec.Body)
	}
}

func TestSMTPFaults(t *testing.T) {
	t.Parallel()

	t.Run("refuse", func(t *testing.T) {
		t.Parallel()
		p := newSMTPPeer(t)
		p.control("faults", `{"destination":"smtp","fault":"refuse"}`)
		conn, err := net.Dial("tcp", p.sb.smtpAddr())
		if err == nil {
			defer conn.Close()
			_, err = bufio.NewReader(conn).ReadString('\n')
		}
		if !errors.Is(err, syscall.ECONNRESET) {
			t.Fatalf("%v, want a reset before the greeting", err)
		}
		if c := p.dial(); c.Noop() != nil {
			t.Fatal("the fault was not used up")
		}
	})

	for name, c := range map[string]struct {
		fault   string
		at      string // where the error must appear: rcpt, data, dot, or nowhere
		says    string
		effects int
	}{
		"drop_before_execute":  {`"fault":"drop_before_execute"`, "data", "EOF", 0},
		"drop_before/match":    {`"fault":"drop_before_execute","match":"/b@"`, "data", "EOF", 0},
		"drop_before/other":    {`"fault":"drop_before_execute","match":"/c@"`, "", "", 1},
		"status at RCPT":       {`"fault":"status_before_execute","status":550`, "rcpt", "550", 0},
		"status after the dot": {`"fault":"status_before_execute","status":452`, "dot", "452", 0},
		"status where told":    {`"fault":"status_before_execute","status":550,"on":"data","match":"dotted"`, "dot", "550", 0},
		"status default":       {`"fault":"status_before_execute"`, "rcpt", "451", 0},
		"drop_after_execute":   {`"fault":"drop_after_execute"`, "dot", "EOF", 1},
		"stall_after_execute":  {`"fault":"stall_after_execute","delay":"50ms"`, "dot", "EOF", 1},
		"matched by header":    {`"fault":"drop_after_execute","match":"Subject: Hello"`, "dot", "EOF", 1},
		"not matched":          {`"fault":"drop_after_execute","match":"op_2"`, "", "", 1},
		"slow":                 {`"fault":"slow","delay":"30ms"`, "", "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newSMTPPeer(t)
			p.control("faults", `{"destination":"smtp",`+c.fault+`}`)
			client := p.dial()
			at, err := "rcpt", envelope(client, "b@example.test")
			if err == nil {
				at, err = "dot", deliver(client)
			}
			if err != nil && strings.HasPrefix(err.Error(), "at DATA") {
				at = "data"
			}
			if err == nil {
				at = ""
			}
			if at != c.at || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Fatalf("failed at %q with %v, want %q with %q", at, err, c.at, c.says)
			}
			p.wantEffects(destSMTP, "op_1", c.effects)
		})
	}

	t.Run("OneRecipientOfTwoIsRefused", func(t *testing.T) {
		t.Parallel()
		p := newSMTPPeer(t)
		p.control("faults", `{"destination":"smtp","fault":"status_before_execute","status":550,"match":"/c@example.test"}`)
		c := p.dial()
		if err := envelope(c, "b@example.test"); err != nil {
			t.Fatal(err)
		}
		if err := c.Rcpt("c@example.test"); err == nil {
			t.Fatal("taken")
		}
		if err := deliver(c); err != nil {
			t.Fatal(err)
		}
		if to := p.effects(destSMTP, "op_1")[0].Fields["to"].([]any); len(to) != 1 || to[0] != "b@example.test" {
			t.Fatal(to)
		}
	})

	t.Run("StallEndsWhenTheCallerLeaves", func(t *testing.T) {
		t.Parallel()
		p := newSMTPPeer(t)
		p.control("faults", `{"destination":"smtp","fault":"stall_after_execute","delay":"1h"}`)
		c := p.dial()
		if err := envelope(c, "b@example.test"); err != nil {
			t.Fatal(err)
		}
		go func() { _ = deliver(c) }()
		p.get("/_control/wait?destination=smtp&effects=1")
		c.Close()
		ended := make(chan struct{})
		go func() {
			for range 200 {
				p.sb.smtp.mu.Lock()
				n := len(p.sb.smtp.conns)
				p.sb.smtp.mu.Unlock()
				if n == 0 {
					close(ended)
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
		}()
		select {
		case <-ended:
		case <-time.After(4 * time.Second):
			t.Fatal("the conversation is still held")
		}
	})
}
