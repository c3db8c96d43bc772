package definition

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"holdpoint/operation"
)

// maxRecipients is the most recipients of one mail. One effect has one recipient as a
// rule; a hand-over with several can be accepted in part.
const maxRecipients = 50

// mailForm is a compiled mail of an SMTP action.
type mailForm struct {
	to, replyTo, subject, text, html template
	headers                          object
}

type rawMail struct {
	To      expression     `json:"to"`
	ReplyTo expression     `json:"reply_to"`
	Subject expression     `json:"subject"`
	Text    expression     `json:"text"`
	HTML    expression     `json:"html"`
	Headers map[string]any `json:"headers"`
}

// compile prepares a mail. Holes can stand in the profile's own header values only.
func (r *rawMail) compile(path string, p *problems) *mailForm {
	m := &mailForm{
		to:      compileValue(scopeRequest, r.To, join(path, "to"), p),
		replyTo: compileValue(scopeRequest, r.ReplyTo, join(path, "reply_to"), p),
		subject: compileValue(scopeRequest, r.Subject, join(path, "subject"), p),
		text:    compileValue(scopeRequest, r.Text, join(path, "text"), p),
		html:    compileValue(scopeRequest, r.HTML, join(path, "html"), p),
	}
	m.headers, _ = compileTree(scopeRequest, map[string]any(r.Headers), join(path, "headers"), operation.DeclareHoles, p).(object)
	return m
}

// render gives the whole message with a frozen Date, boundary and Message-ID; an error
// of the content is a *ContentError. The
// Message-ID is "<{operation_id}@domain>": it stays the same over all attempts.
func (m *mailForm) render(s *SMTP, base string, vars map[string]any, now time.Time) (operation.Request, error) {
	out := operation.Request{Kind: operation.RequestSMTP, URL: base}
	from, err := address(s.From)
	if err != nil {
		return out, fmt.Errorf("from: %w", err)
	}
	to, err := addresses(m.to, vars)
	if err != nil {
		return out, contentFault("mail.to", m.to, err)
	}
	subject, err := oneLineText(m.subject, vars)
	if err != nil {
		return out, contentFault("mail.subject", m.subject, err)
	}
	h := &mailHeader{}
	h.add("Date", now.UTC().Format("Mon, 02 Jan 2006 15:04:05 +0000"))
	h.add("From", writeAddress(from))
	var names []string
	for _, a := range to {
		out.To = append(out.To, a.Address)
		names = append(names, writeAddress(a))
	}
	h.add("To", strings.Join(names, ",\r\n "))
	if m.replyTo != nil {
		reply, err := addresses(m.replyTo, vars)
		switch {
		case err == nil:
			h.add("Reply-To", writeAddress(reply[0]))
		case !errors.Is(err, errAbsent):
			return out, contentFault("mail.reply_to", m.replyTo, err)
		}
	}
	h.add("Subject", EncodeWords(subject))
	h.add("Message-ID", "<"+operation.MarkHole(operation.HoleOperationID)+"@"+s.MessageIDDomain+">")
	if err := m.extraHeaders(h, vars); err != nil {
		return out, err
	}
	out.From = from.Address
	out.Body, err = m.body(h, vars)
	return out, err
}

// mailHeader collects header lines in order.
type mailHeader struct{ lines []string }

func (h *mailHeader) add(name, value string) { h.lines = append(h.lines, name+": "+value) }

// extraHeaders adds the profile's own headers. A value with a hole is plain ASCII
// around it, since an encoded word could not be filled.
func (m *mailForm) extraHeaders(h *mailHeader, vars map[string]any) error {
	for _, name := range m.headers.names {
		ps, err := m.headers.of[name].pieces(vars)
		if err != nil {
			return contentFault("mail.headers."+name, m.headers.of[name], err)
		}
		v := joinPieces(ps)
		bare := strings.NewReplacer(operation.HoleOpen, "", operation.HoleClose, "").Replace(v)
		switch {
		case hasControl(v):
			return contentFault("mail.headers."+name, m.headers.of[name], errHeaderValue)
		case bare == v:
			v = EncodeWords(v)
		case !isASCII(bare) || len(bare) > 400:
			return contentFault("mail.headers."+name, m.headers.of[name], errors.New("around a hole the value must be short ASCII"))
		}
		h.add(textproto.CanonicalMIMEHeaderKey(name), v)
	}
	return nil
}

// body joins the header and the parts. The boundary follows from the parts, so that
// the same content gives the same bytes.
func (m *mailForm) body(h *mailHeader, vars map[string]any) (string, error) {
	text, err := bodyText(m.text, vars)
	if err != nil {
		return "", contentFault("mail.text", m.text, err)
	}
	if strings.TrimSpace(text) == "" {
		return "", contentFault("mail.text", m.text, errors.New("there is no text"))
	}
	h.add("MIME-Version", "1.0")
	plainPart := part("text/plain", text)
	if m.html == nil {
		return strings.Join(h.lines, "\r\n") + "\r\n" + plainPart, nil
	}
	html, err := bodyText(m.html, vars)
	if errors.Is(err, errAbsent) {
		return strings.Join(h.lines, "\r\n") + "\r\n" + plainPart, nil
	}
	if err != nil {
		return "", contentFault("mail.html", m.html, err)
	}
	htmlPart := part("text/html", html)
	sum := sha256.Sum256([]byte(plainPart + "\x00" + htmlPart))
	boundary := "=_" + hex.EncodeToString(sum[:16])
	h.add("Content-Type", `multipart/alternative; boundary="`+boundary+`"`)
	return strings.Join(h.lines, "\r\n") + "\r\n\r\n" +
		"--" + boundary + "\r\n" + plainPart + "\r\n--" + boundary + "\r\n" + htmlPart + "\r\n--" + boundary + "--\r\n", nil
}

// part writes one part, header and body, as quoted-printable.
func part(kind, text string) string {
	var b strings.Builder
	b.WriteString("Content-Type: " + kind + "; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n")
	w := quotedprintable.NewWriter(&b)
	_, _ = w.Write([]byte(text)) // a strings.Builder does not fail
	_ = w.Close()
	if !strings.HasSuffix(b.String(), "\r\n") {
		b.WriteString("\r\n")
	}
	return b.String()
}

func bodyText(t template, vars map[string]any) (string, error) {
	ps, err := t.pieces(vars)
	if err != nil {
		return "", err
	}
	s := joinPieces(ps)
	if strings.ContainsRune(s, 0) {
		return "", errors.New("it holds a NUL character")
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s), nil
}

func oneLineText(t template, vars map[string]any) (string, error) {
	ps, err := t.pieces(vars)
	if err != nil {
		return "", err
	}
	s := joinPieces(ps)
	switch {
	case strings.TrimSpace(s) == "":
		return "", errors.New("there is no text")
	case hasControl(s):
		return "", errors.New("it must be one line without control characters")
	case len(s) > 2000:
		return "", errors.New("it is longer than 2000 bytes")
	}
	return s, nil
}

var safeAddress = regexp.MustCompile(`^[A-Za-z0-9!#$%&'*+/=?^_{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_{|}~-]+)*@[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)

// address reads one mail address. Quoted or non-ASCII address parts are refused: not
// every server agrees on what they mean.
func address(s string) (*mail.Address, error) {
	if hasControl(s) {
		return nil, errors.New("an address holds a line end or another control character")
	}
	a, err := mail.ParseAddress(s)
	if err != nil || !safeAddress.MatchString(a.Address) || len(a.Address) > 254 || len(a.Name) > 200 || hasControl(a.Name) {
		return nil, fmt.Errorf("%q is not a mail address that can be used", s)
	}
	return a, nil
}

// addresses evaluates to one address or a list of them.
func addresses(t template, vars map[string]any) ([]*mail.Address, error) {
	v, err := t.render(vars)
	if err != nil {
		return nil, err
	}
	entries, ok := v.([]any)
	if !ok {
		entries = []any{v}
	}
	if len(entries) == 0 || len(entries) > maxRecipients {
		return nil, fmt.Errorf("a mail has 1 to %d recipients, not %d", maxRecipients, len(entries))
	}
	var out []*mail.Address
	seen := map[string]bool{}
	for _, e := range entries {
		s, err := textOf(e)
		if err != nil {
			return nil, err
		}
		a, err := address(s)
		if err != nil {
			return nil, err
		}
		if seen[strings.ToLower(a.Address)] {
			return nil, fmt.Errorf("%s is named twice", a.Address)
		}
		seen[strings.ToLower(a.Address)] = true
		out = append(out, a)
	}
	return out, nil
}

func writeAddress(a *mail.Address) string {
	switch {
	case a.Name == "":
		return "<" + a.Address + ">"
	case !isASCII(a.Name) || strings.Contains(a.Name, "=?"):
		return EncodeWords(a.Name) + " <" + a.Address + ">"
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(a.Name) + `" <` + a.Address + ">"
}

// EncodeWords writes a header text. What is not short plain ASCII, or could be read
// as an encoded word, becomes RFC 2047 encoded words, folded.
func EncodeWords(s string) string {
	if isASCII(s) && !strings.Contains(s, "=?") && len(s) <= 76 && s == strings.TrimSpace(s) {
		return s
	}
	var words []string
	for s != "" {
		n := min(len(s), 42)
		for n < len(s) && !utf8.RuneStart(s[n]) {
			n--
		}
		words = append(words, "=?UTF-8?B?"+base64.StdEncoding.EncodeToString([]byte(s[:n]))+"?=")
		s = s[n:]
	}
	return strings.Join(words, "\r\n ")
}
