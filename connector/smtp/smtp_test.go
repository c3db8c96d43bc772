package smtp_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"holdpoint/connector/connectortest"
	"holdpoint/connector/order"
	"holdpoint/connector/outbound"
	"holdpoint/connector/smtp"
	"holdpoint/operation"
)

const (
	notStarted = operation.OutcomeNotStarted
	confirmed  = operation.OutcomeConfirmed
	unknown    = operation.OutcomeUnknown
)

// script plays a mail server. Each reply can be replaced; a hook runs at a moment.
type script struct {
	replies map[string]string                    // by verb; "DOT" answers the final dot, "GREETING" opens
	at      map[string]func(*connectortest.Peer) // instead of the reply
	offers  []string
}

func (s script) play(p *connectortest.Peer) {
	say := func(verb, fallback string) bool {
		if hook := s.at[verb]; hook != nil {
			hook(p)
			return false
		}
		if r, ok := s.replies[verb]; ok {
			fallback = r
		}
		p.Say(fallback + "\r\n")
		return true
	}
	if !say("GREETING", "220 ready") {
		return
	}
	for {
		line, err := p.R.ReadString('\n')
		if err != nil {
			return
		}
		p.Note("line", strings.TrimSpace(line))
		verb, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		fallback := "250 ok"
		switch verb {
		case "EHLO":
			fallback = "250 " + strings.Join(append([]string{"server.test"}, s.offers...), "\r\n250 ")
			fallback = strings.Replace(fallback, "250 ", "250-", len(s.offers))
		case "DATA":
			fallback = "354 go on"
		case "AUTH":
			fallback = "235 ok"
		case "QUIT":
			p.Say("221 bye\r\n")
			return
		}
		if !say(verb, fallback) {
			return
		}
		if verb == "DATA" && (s.replies["DATA"] == "" || strings.HasPrefix(s.replies["DATA"], "354")) {
			var mail strings.Builder
			for {
				line, err := p.R.ReadString('\n')
				if err != nil {
					return
				}
				if line == ".\r\n" {
					break
				}
				mail.WriteString(line)
			}
			p.Note("mail", mail.String())
			if !say("DOT", "250 2.0.0 Ok: queued as Q1") {
				return
			}
		}
	}
}

func sent(to ...string) order.Order {
	if len(to) == 0 {
		to = []string{"anna@customer.test"}
	}
	return order.Order{Operation: "op_1", Request: operation.Request{
		Kind: operation.RequestSMTP, From: "shop@sender.test", To: to,
		Body: "From: shop@sender.test\r\nMessage-ID: <op-1@sender.test>\r\nSubject: Hello\r\n\r\nLine one\r\n.starts with a dot\r\n..two\r\n.\r\nend\r\n",
	}}
}

func connect(t *testing.T, addr string, edit func(*smtp.Config)) *smtp.Connector {
	t.Helper()
	cfg := smtp.Config{Addr: addr, StartTLS: smtp.TLSOff, Local: true, Timeout: 500 * time.Millisecond}
	if edit != nil {
		edit(&cfg)
	}
	c, err := smtp.New(cfg, func(name string) (string, bool) {
		v, ok := map[string]string{"USER": "mailer", "PASS": "hush-hush-1"}[name]
		return v, ok
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The final dot divides what is proven from what is not.
func TestActClassifiesByTheFinalDot(t *testing.T) {
	t.Parallel()
	drop := func(*connectortest.Peer) {}
	hold := func(p *connectortest.Peer) { p.Hold() }
	reset := func(p *connectortest.Peer) { p.Reset() }
	cases := []struct {
		name      string
		script    script
		outcome   operation.Outcome
		permanent bool
		code      string
	}{
		{"accepted", script{}, confirmed, false, smtp.CodeAccepted},
		{"refused at the greeting", script{replies: map[string]string{"GREETING": "421 busy"}}, notStarted, false, smtp.CodeRefused},
		{"silent greeting", script{at: map[string]func(*connectortest.Peer){"GREETING": hold}}, notStarted, false, smtp.CodeCutEarly},
		{"no mail server", script{replies: map[string]string{"GREETING": "HTTP/1.1 200 OK"}}, notStarted, false, smtp.CodeOutOfStep},
		{"EHLO refused", script{replies: map[string]string{"EHLO": "550 no"}}, notStarted, true, smtp.CodeRefused},
		{"sender refused for now", script{replies: map[string]string{"MAIL": "451 later"}}, notStarted, false, smtp.CodeRefused},
		{"sender refused", script{replies: map[string]string{"MAIL": "550 never"}}, notStarted, true, smtp.CodeRefused},
		{"recipient refused for now", script{replies: map[string]string{"RCPT": "450 greylisted"}}, notStarted, false, smtp.CodeRecipient},
		{"recipient refused", script{replies: map[string]string{"RCPT": "550 no such user"}}, notStarted, true, smtp.CodeRecipient},
		{"cut at RCPT", script{at: map[string]func(*connectortest.Peer){"RCPT": drop}}, notStarted, false, smtp.CodeCutEarly},
		{"DATA refused", script{replies: map[string]string{"DATA": "554 no"}}, notStarted, true, smtp.CodeRefused},
		{"cut at DATA", script{at: map[string]func(*connectortest.Peer){"DATA": reset}}, notStarted, false, smtp.CodeCutEarly},
		{"silence at DATA", script{at: map[string]func(*connectortest.Peer){"DATA": hold}}, notStarted, false, smtp.CodeCutEarly},
		{"refused after the dot for now", script{replies: map[string]string{"DOT": "451 4.3.0 later"}}, notStarted, false, smtp.CodeRefused},
		{"refused after the dot", script{replies: map[string]string{"DOT": "554-5.7.1 spam\r\n554 really"}}, notStarted, true, smtp.CodeRefused},
		{"closed after the dot", script{at: map[string]func(*connectortest.Peer){"DOT": drop}}, unknown, false, outbound.CodeNoAnswer},
		{"reset after the dot", script{at: map[string]func(*connectortest.Peer){"DOT": reset}}, unknown, false, outbound.CodeReset},
		{"silence after the dot", script{at: map[string]func(*connectortest.Peer){"DOT": hold}}, unknown, false, outbound.CodeTimeout},
		{"half an answer after the dot", script{at: map[string]func(*connectortest.Peer){"DOT": func(p *connectortest.Peer) { p.Say("250 2.0") }}}, unknown, false, outbound.CodeNoAnswer},
		{"odd answer after the dot", script{replies: map[string]string{"DOT": "354 what"}}, unknown, false, "answer_not_expected"},
		{"no answer but noise", script{replies: map[string]string{"DOT": "okay then"}}, unknown, false, outbound.CodeNoAnswer},
		{"answer before the dot", script{replies: map[string]string{"DATA": "354 go on\r\n250 2.0.0 Ok: queued as FAKE"}}, notStarted, false, smtp.CodeOutOfStep},
		{"gave up before the dot", script{replies: map[string]string{"DATA": "354 go on\r\n421 timeout"}}, notStarted, false, smtp.CodeOutOfStep},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := connectortest.StartServer(t, false, c.script.play)
			r := connect(t, s.Addr, nil).Act(context.Background(), sent())
			if r.Outcome != c.outcome || r.Permanent != c.permanent || r.Proof.Code != c.code {
				t.Errorf("%s permanent=%v %+v; want %s permanent=%v %s", r.Outcome, r.Permanent, r.Proof, c.outcome, c.permanent, c.code)
			}
			if n := s.Count("mail"); n > 1 || n == 0 && r.Outcome != notStarted {
				t.Errorf("%d mails arrived", n)
			}
			if (r.TargetReference != "") != (c.outcome == confirmed) {
				t.Errorf("reference %q", r.TargetReference)
			}
			if s.Connections() != 1 {
				t.Errorf("%d connections", s.Connections())
			}
		})
	}
}

func TestActConfirmsWithOwnReferenceAndSendsWhatWasApproved(t *testing.T) {
	t.Parallel()
	s := connectortest.StartServer(t, false, script{}.play)
	r := connect(t, s.Addr, nil).Act(context.Background(), sent())
	if r.Outcome != confirmed || r.TargetReference != "op-1@sender.test" || !strings.Contains(r.Proof.Excerpt, "queued as Q1") || r.Proof.Status != 250 {
		t.Fatalf("%+v", r)
	}
	for _, seen := range s.Seen() {
		if seen.Method != "mail" {
			continue
		}
		undone := strings.ReplaceAll("\n"+seen.Body, "\n.", "\n")[1:]
		if undone != sent().Request.Body {
			t.Errorf("arrived %q", seen.Body)
		}
	}
}

func TestActMakesLineEndsTheProtocols(t *testing.T) {
	t.Parallel()
	s := connectortest.StartServer(t, false, script{}.play)
	o := sent()
	o.Request.Body = strings.ReplaceAll(o.Request.Body, "\r\n", "\n")
	if r := connect(t, s.Addr, nil).Act(context.Background(), o); r.Outcome != confirmed {
		t.Fatalf("%+v", r)
	}
	for _, seen := range s.Seen() {
		if seen.Method == "mail" && strings.Contains(strings.ReplaceAll(seen.Body, "\r\n", ""), "\n") {
			t.Errorf("a bare line feed left: %q", seen.Body)
		}
	}
}

// Several recipients: what only some would get is not sent to any.
func TestActNeverSendsToAPartOfTheRecipients(t *testing.T) {
	t.Parallel()
	for code, permanent := range map[string]bool{"550": true, "450": false} {
		n := 0
		s := connectortest.StartServer(t, false, func(p *connectortest.Peer) {
			p.Say("220 ready\r\n")
			for {
				line, err := p.R.ReadString('\n')
				if err != nil {
					return
				}
				p.Note("line", strings.TrimSpace(line))
				reply := "250 ok"
				if strings.HasPrefix(line, "RCPT") {
					if n++; n == 2 {
						reply = code + " not this one"
					}
				}
				p.Say(reply + "\r\n")
			}
		})
		r := connect(t, s.Addr, nil).Act(context.Background(), sent("a@x.test", "b@x.test", "c@x.test"))
		if r.Outcome != notStarted || r.Permanent != permanent || r.Proof.Code != smtp.CodeRecipient {
			t.Errorf("%s: %+v", code, r)
		}
		for _, seen := range s.Seen() {
			if seen.Body == "DATA" {
				t.Errorf("%s: DATA was said after a refused recipient", code)
			}
		}
	}
}

func TestActRefusesWhatCannotBeSentAsItIs(t *testing.T) {
	t.Parallel()
	s := connectortest.StartServer(t, false, script{}.play)
	cases := map[string]func(*operation.Request){
		"no recipient":          func(r *operation.Request) { r.To = nil },
		"line break in address": func(r *operation.Request) { r.To = []string{"a@x.test>\r\nDATA"} },
		"no sender":             func(r *operation.Request) { r.From = "" },
		"no Message-ID":         func(r *operation.Request) { r.Body = "Subject: x\r\n\r\nx" },
		"two Message-IDs":       func(r *operation.Request) { r.Body = "Message-ID: <a@b>\r\n" + r.Body },
		"bare carriage return":  func(r *operation.Request) { r.Body += "\r.\r" },
		"open hole":             func(r *operation.Request) { r.Body += operation.MarkHole("operation_id") },
		"HTTP":                  func(r *operation.Request) { r.Kind = operation.RequestHTTP },
		"needs 8BITMIME":        func(r *operation.Request) { r.Body += "zażółć" },
	}
	for name, edit := range cases {
		o := sent()
		edit(&o.Request)
		r := connect(t, s.Addr, nil).Act(context.Background(), o)
		if r.Outcome != notStarted || !r.Permanent {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if n := s.Count("mail"); n != 0 {
		t.Errorf("%d mails arrived", n)
	}
}

func TestActAsksForWhatTheMessageNeeds(t *testing.T) {
	t.Parallel()
	s := connectortest.StartServer(t, false, script{offers: []string{"8BITMIME", "SIZE 1000000"}}.play)
	o := sent()
	o.Request.Body += "zażółć\r\n"
	if r := connect(t, s.Addr, nil).Act(context.Background(), o); r.Outcome != confirmed {
		t.Fatalf("%+v", r)
	}
	if got := fmt.Sprint(s.Seen()); !strings.Contains(got, "MAIL FROM:<shop@sender.test> BODY=8BITMIME") {
		t.Errorf("said: %s", got)
	}
}

// The dot is what counts: past the time to send it is not written, however far the
// conversation has come.
func TestActDoesNotWriteTheDotTooLate(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*order.Order, time.Time){
		"monotonic": func(o *order.Order, at time.Time) { o.Deadline = at },
		"wall":      func(o *order.Order, at time.Time) { o.WallDeadline = at.Round(0) },
	} {
		s := connectortest.StartServer(t, false, script{at: map[string]func(*connectortest.Peer){"DATA": func(p *connectortest.Peer) {
			time.Sleep(150 * time.Millisecond)
			p.Say("354 go on\r\n")
			p.Hold()
		}}}.play)
		o := sent()
		set(&o, time.Now().Add(75*time.Millisecond))
		r := connect(t, s.Addr, nil).Act(context.Background(), o)
		if r.Outcome != notStarted || r.Proof.Code != outbound.CodeLate || s.Count("mail") != 0 {
			t.Errorf("%s: %+v, %d mails arrived", name, r, s.Count("mail"))
		}
	}
}

func TestActProvesThatNothingWasSent(t *testing.T) {
	t.Parallel()
	r := connect(t, connectortest.ClosedAddr(t), nil).Act(context.Background(), sent())
	if r.Outcome != notStarted || r.Proof.Code != outbound.CodeRefused {
		t.Errorf("%+v", r)
	}
	s := connectortest.StartServer(t, false, script{}.play)
	r = connect(t, s.Addr, func(c *smtp.Config) { c.Local = false }).Act(context.Background(), sent())
	if r.Outcome != notStarted || r.Proof.Code != outbound.CodeBlocked || r.Proof.Phase != operation.PhaseBlocked || s.Connections() != 0 {
		t.Errorf("%+v", r)
	}
}

func TestActEncryptsAndSignsIn(t *testing.T) {
	t.Parallel()
	auth := &smtp.Auth{User: order.Ref{Env: "USER"}, Password: order.Ref{Env: "PASS"}}
	box := connectortest.StartSandbox(t, "-smtp-starttls", "-smtp-auth")

	t.Run("required and not trusted", func(t *testing.T) {
		r := connect(t, box.SMTP, func(c *smtp.Config) { c.StartTLS, c.Auth = smtp.TLSRequired, auth }).Act(context.Background(), sent())
		if r.Outcome != notStarted || r.Proof.Code != outbound.CodeTLS {
			t.Errorf("%+v", r)
		}
	})
	t.Run("required and not offered", func(t *testing.T) {
		s := connectortest.StartServer(t, false, script{}.play)
		r := connect(t, s.Addr, func(c *smtp.Config) { c.StartTLS = smtp.TLSRequired }).Act(context.Background(), sent())
		if r.Outcome != notStarted || r.Proof.Code != smtp.CodeNoTLS || s.Count("mail") != 0 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("signed in, password never shown", func(t *testing.T) {
		plain := base64.StdEncoding.EncodeToString([]byte("\x00mailer\x00hush-hush-1"))
		for reply, want := range map[string]operation.Outcome{"235 ok": confirmed, "535 hush-hush-1 " + plain + " is wrong": notStarted} {
			s := connectortest.StartServer(t, false, script{offers: []string{"AUTH LOGIN PLAIN"}, replies: map[string]string{"AUTH": reply}}.play)
			r := connect(t, s.Addr, func(c *smtp.Config) { c.Auth = auth }).Act(context.Background(), sent())
			if r.Outcome != want || !strings.Contains(fmt.Sprint(s.Seen()), "AUTH PLAIN "+plain) {
				t.Errorf("%q: %+v", reply, r)
			}
			if shown := fmt.Sprintf("%+v", r); strings.Contains(shown, "hush-hush") || strings.Contains(shown, plain) {
				t.Errorf("the password shows: %s", shown)
			}
		}
	})
	t.Run("credential missing", func(t *testing.T) {
		r := connect(t, box.SMTP, func(c *smtp.Config) {
			c.Auth = &smtp.Auth{User: order.Ref{Env: "USER"}, Password: order.Ref{Env: "NOT_SET"}}
		}).Act(context.Background(), sent())
		if r.Outcome != notStarted || r.Proof.Code != smtp.CodeCredential {
			t.Errorf("%+v", r)
		}
	})
}

func TestLookupSaysThatItCannotBeDone(t *testing.T) {
	t.Parallel()
	if f := connect(t, "mail.test:25", nil).Lookup(context.Background(), order.Lookup{}); f.Result != operation.LookupUnreachable {
		t.Errorf("%+v", f)
	}
}
