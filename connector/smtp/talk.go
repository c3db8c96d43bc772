package smtp

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"holdpoint/connector/outbound"
	"holdpoint/operation"
)

// maxReplies is how many bytes a mail server may say in all.
const maxReplies = 1 << 20

// conversation is one connection to the mail server, for one mail.
type conversation struct {
	cfg       Config
	user      string // "" with cfg.Auth nil
	password  string
	late      func() bool
	conn      net.Conn
	in        *bufio.Reader
	stop      func() bool // ends the watch on the context
	encrypted bool
	offers    map[string]string // EHLO keywords and their parameters
	written   int64             // bytes of the message, above TLS
}

func (t *conversation) close() {
	if t.stop != nil {
		t.stop()
	}
	if t.conn != nil {
		_ = t.conn.Close()
	}
}

// deliver talks up to the final dot, then hears the answer to it.
func (t *conversation) deliver(ctx context.Context, m *message) operation.Result {
	if err := t.untilDot(ctx, m); err != nil {
		return t.nothingTaken(ctx, err)
	}
	n, err := t.conn.Write([]byte(".\r\n"))
	t.written += int64(n)
	if err != nil && n == 0 {
		return t.nothingTaken(ctx, err)
	}
	return t.afterDot(ctx, m, err)
}

// untilDot does everything that cannot have an effect. Its last step makes sure that
// the next reply is the answer to the dot, and that there is still time to send.
func (t *conversation) untilDot(ctx context.Context, m *message) error {
	steps := []func() error{
		func() error { return t.connect(ctx) },
		t.hello,
		func() error { return t.encrypt(ctx) },
		t.authenticate,
		func() error { return t.fits(m) },
		func() error { return t.envelope(m) },
		func() error { return t.message(m) },
		func() error { return t.quiet(ctx) },
	}
	for _, step := range steps {
		if t.late() {
			return outbound.ErrLate
		}
		if err := step(); err != nil {
			return err
		}
	}
	if t.late() {
		return outbound.ErrLate
	}
	return ctx.Err()
}

func (t *conversation) connect(ctx context.Context) error {
	conn, err := outbound.Dial(ctx, t.cfg.Addr, t.cfg.Local)
	if err != nil {
		return err
	}
	t.use(conn)
	// A context that ends interrupts every read and write at once.
	t.stop = context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	return t.expect(220, CodeRefused, "The mail server refused the connection")
}

func (t *conversation) use(conn net.Conn) {
	t.conn, t.in = conn, bufio.NewReader(io.LimitReader(conn, maxReplies))
}

func (t *conversation) hello() error {
	if err := t.command("EHLO " + t.cfg.Hello); err != nil {
		return err
	}
	status, text, err := t.reply()
	if err != nil {
		return err
	}
	if status != 250 {
		return refused(CodeRefused, status, text, "The mail server refused the greeting")
	}
	t.offers = map[string]string{}
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			name, rest, _ := strings.Cut(line, " ")
			t.offers[strings.ToUpper(name)] = strings.ToUpper(rest)
		}
	}
	return nil
}

func (t *conversation) encrypt(ctx context.Context) error {
	_, offered := t.offers["STARTTLS"]
	if t.cfg.StartTLS == TLSOff || t.cfg.StartTLS == TLSOptional && !offered {
		return nil
	}
	if !offered {
		return &refusal{code: CodeNoTLS, detail: "The mail server offers no encryption, and it is required.", permanent: true}
	}
	if err := t.command("STARTTLS"); err != nil {
		return err
	}
	if err := t.expect(220, CodeNoTLS, "The mail server refused to encrypt"); err != nil {
		return err
	}
	if t.in.Buffered() > 0 {
		return &refusal{code: CodeOutOfStep, detail: "The mail server spoke in the clear after it had agreed to encrypt.", permanent: true}
	}
	host, _, _ := net.SplitHostPort(t.cfg.Addr)
	secured, err := outbound.Secure(ctx, t.conn, host, t.cfg.Roots)
	if err != nil {
		return err
	}
	t.use(secured)
	t.encrypted = true
	return t.hello()
}

func (t *conversation) authenticate() error {
	if t.cfg.Auth == nil {
		return nil
	}
	if !t.encrypted && !t.cfg.Local {
		return &refusal{code: CodeAuthPlain, detail: "The password would travel unencrypted.", permanent: true}
	}
	if !strings.Contains(" "+t.offers["AUTH"]+" ", " PLAIN ") {
		return &refusal{code: CodeAuth, detail: "The mail server does not offer the sign-in PLAIN.", permanent: true}
	}
	secret := base64.StdEncoding.EncodeToString([]byte(plainAuth(t.user, t.password)))
	if err := t.command("AUTH PLAIN " + secret); err != nil {
		return err
	}
	return t.expect(235, CodeAuth, "The mail server refused the sign-in")
}

// plainAuth is what AUTH PLAIN says, before its encoding.
func plainAuth(user, password string) string { return "\x00" + user + "\x00" + password }

// fits refuses a message that the server could only take after changing it.
func (t *conversation) fits(m *message) error {
	need := ""
	switch {
	case m.utf8:
		need = "SMTPUTF8"
	case m.eight:
		need = "8BITMIME"
	}
	if _, ok := t.offers[need]; need != "" && !ok {
		return &refusal{code: CodeUnsupported, detail: "The mail server does not offer " + need + ", which this message needs.", permanent: true}
	}
	return nil
}

// envelope names sender and recipients. One refused recipient ends the attempt for
// all: a mail that only some get is neither done nor not done.
func (t *conversation) envelope(m *message) error {
	line := "MAIL FROM:<" + m.from + ">"
	if m.eight {
		line += " BODY=8BITMIME"
	}
	if m.utf8 {
		line += " SMTPUTF8"
	}
	if err := t.command(line); err != nil {
		return err
	}
	if err := t.expect(250, CodeRefused, "The mail server refused the sender"); err != nil {
		return err
	}
	var first *refusal
	no := 0
	for _, to := range m.to {
		if err := t.command("RCPT TO:<" + to + ">"); err != nil {
			return err
		}
		status, text, err := t.reply()
		switch {
		case err != nil:
			return err
		case status == 250 || status == 251:
			continue
		}
		no++
		r := refused(CodeRecipient, status, text, "")
		if first == nil || r.permanent && !first.permanent {
			first = r
		}
	}
	if first == nil {
		return nil
	}
	first.detail = fmt.Sprintf("The mail server refused %d of %d recipients; the mail was not sent to any.", no, len(m.to))
	_ = t.command("RSET")
	return first
}

func (t *conversation) message(m *message) error {
	if err := t.command("DATA"); err != nil {
		return err
	}
	if err := t.expect(354, CodeRefused, "The mail server refused to take the message"); err != nil {
		return err
	}
	n, err := t.conn.Write(m.wire)
	t.written += int64(n)
	return err
}

// quiet makes sure that nothing has been said since 354: the answer to the dot must
// not be one that was given before it.
func (t *conversation) quiet(ctx context.Context) error {
	if t.in.Buffered() == 0 {
		end, _ := ctx.Deadline()
		_ = t.conn.SetReadDeadline(time.Now().Add(time.Millisecond))
		_, err := t.in.Peek(1)
		_ = t.conn.SetReadDeadline(end)
		if ctx.Err() != nil { // its interrupt may have been overwritten
			return ctx.Err()
		}
		var ne net.Error
		switch {
		case errors.As(err, &ne) && ne.Timeout():
			return nil
		case err != nil:
			return err
		}
	}
	status, text, err := t.reply()
	if err != nil {
		return err
	}
	r := refused(CodeOutOfStep, status, text, "The mail server spoke before the message was complete")
	r.permanent = status >= 500
	return r
}

// afterDot classifies what came after the final dot left.
func (t *conversation) afterDot(ctx context.Context, m *message, writeErr error) operation.Result {
	p := operation.Proof{Phase: operation.PhaseSent, Written: t.written}
	unknown := func(code, detail string) operation.Result {
		p.Code, p.Detail = code, detail
		return operation.Result{Proof: p}
	}
	status, text, err := 0, "", writeErr
	if err == nil {
		status, text, err = t.reply()
	}
	if err != nil {
		return unknown(lost(ctx, err))
	}
	p.Phase, p.Status, p.Excerpt = operation.PhaseComplete, status, fmt.Sprintf("%d %s", status, text)
	switch {
	case status == 250:
		_ = t.command("QUIT")
		p.Code, p.Detail = CodeAccepted, "The mail server took responsibility for the mail. That is not delivery."
		return operation.Result{Outcome: operation.OutcomeConfirmed, Proof: p, TargetReference: m.id}
	case status >= 400 && status <= 599:
		p.Code, p.Detail = CodeRefused, "The mail server refused the message as a whole."
		return operation.Result{Outcome: operation.OutcomeNotStarted, Proof: p, Permanent: status >= 500}
	}
	return unknown(codeOddAnswer, "The mail server's answer to the message is not one that is documented.")
}

// lost names why no answer to the dot came.
func lost(ctx context.Context, err error) (code, detail string) {
	var ne net.Error
	switch {
	case ctx.Err() != nil, errors.As(err, &ne) && ne.Timeout():
		return outbound.CodeTimeout, "The whole mail was sent; no answer came in time."
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return outbound.CodeReset, "The whole mail was sent; the connection was reset before an answer came."
	}
	return outbound.CodeNoAnswer, "The whole mail was sent; the connection ended without a readable answer."
}

// nothingTaken classifies a failure before the final dot: provably not started.
func (t *conversation) nothingTaken(ctx context.Context, err error) operation.Result {
	r := operation.Result{Outcome: operation.OutcomeNotStarted}
	p := &r.Proof
	p.Phase, p.Written = operation.PhaseConnecting, t.written
	if t.written > 0 {
		p.Phase = operation.PhaseSent
	}
	var no *refusal
	switch {
	case errors.As(err, &no):
		p.Code, p.Status, p.Detail, r.Permanent = no.code, no.status, no.detail, no.permanent
		if no.status > 0 {
			p.Excerpt = fmt.Sprintf("%d %s", no.status, no.text)
		}
		_ = t.command("QUIT")
	case errors.Is(err, outbound.ErrLate):
		p.Code, p.Detail = outbound.CodeLate, "The time to send had passed before the mail was complete."
	case t.conn == nil:
		p.Code, p.Detail = outbound.Explain(err)
		if p.Code == outbound.CodeBlocked {
			p.Phase = operation.PhaseBlocked
		}
	case errors.Is(err, errNoReply):
		p.Code, p.Detail = CodeOutOfStep, "What answers there does not speak SMTP."
	case !t.encrypted && isTLS(err):
		p.Code, p.Detail = outbound.Explain(err)
	case ctx.Err() != nil:
		p.Code, p.Detail = CodeCutEarly, "The mail server was too slow; the mail was not complete yet."
	default:
		p.Code, p.Detail = CodeCutEarly, "The connection ended before the mail was complete."
	}
	return r
}

func isTLS(err error) bool {
	code, _ := outbound.Explain(err)
	return code == outbound.CodeTLS
}
