// Package smtp hands one mail to a mail server and says what is proven about it.
//
// The line is the final dot: whatever goes wrong before it was written, the server has
// taken nothing (RFC 5321 §3.3); a refusal after it means the same (§4.2.5). A lost
// answer after it is unknown, and a mail is never handed over twice to find out.
//
// It may import operation, connector/order and connector/outbound.
package smtp

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"strings"
	"time"

	"holdpoint/connector/order"
	"holdpoint/connector/outbound"
	"holdpoint/operation"
)

// StartTLS says whether the conversation must be encrypted.
type StartTLS string

// The three ways.
const (
	TLSRequired StartTLS = "required" // no STARTTLS offered: nothing is sent
	TLSOptional StartTLS = "optional" // encrypted if offered
	TLSOff      StartTLS = "off"
)

// Config describes one mail server.
type Config struct {
	Addr     string // host:port
	StartTLS StartTLS
	Hello    string        // own name for EHLO; "" = localhost
	Auth     *Auth         // nil = no sign-in
	Timeout  time.Duration // for the whole conversation; 0 = outbound.DefaultTimeout
	Local    bool          // loopback and private networks may be reached
	Roots    *x509.CertPool
}

// Auth is a sign-in by AUTH PLAIN. Both parts are references, read at each use.
type Auth struct{ User, Password order.Ref }

// read gives the values of both references.
func (a *Auth) read(env order.Env) (user, password string, err error) {
	if user, err = a.User.Read(env); err != nil {
		return "", "", err
	}
	password, err = a.Password.Read(env)
	return user, password, err
}

// Connector is an order.Connector for one mail server.
type Connector struct {
	cfg Config
	env order.Env
}

// New gives the connector of a mail server. env is asked for the password at each use.
func New(cfg Config, env order.Env) (*Connector, error) {
	switch cfg.StartTLS {
	case TLSRequired, TLSOptional, TLSOff:
	default:
		return nil, fmt.Errorf("starttls is %q; it is required, optional or off", cfg.StartTLS)
	}
	if host, port, ok := strings.Cut(cfg.Addr, ":"); !ok || host == "" || port == "" {
		return nil, fmt.Errorf("mail server address %q is not host:port", cfg.Addr)
	}
	if cfg.Hello == "" {
		cfg.Hello = "localhost"
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = outbound.DefaultTimeout
	}
	return &Connector{cfg, env}, nil
}

// Codes of an SMTP attempt, beside those of outbound.
const (
	CodeBadMessage  = "bad_message"         // our message or its envelope cannot be sent
	CodeCredential  = "credential_missing"  // a credential's reference leads to nothing
	CodeNoTLS       = "starttls_missing"    // STARTTLS is required and not offered
	CodeAuth        = "auth_refused"        // the server refused the sign-in
	CodeAuthPlain   = "auth_without_tls"    // the password would travel in the clear
	CodeRecipient   = "recipient_refused"   // a recipient was refused; none got anything
	CodeRefused     = "refused"             // refused before or after the final dot
	CodeCutEarly    = "cut_before_end"      // the connection ended before the final dot
	CodeUnsupported = "not_supported"       // the server lacks what the message needs
	CodeOutOfStep   = "answer_out_of_step"  // the server spoke before its turn
	CodeAccepted    = "accepted"            // 250 after the final dot
	CodeNoLookup    = "no_lookup"           // SMTP has no lookup
	codeOddAnswer   = "answer_not_expected" // a reply after the dot that no rule covers
)

// Act hands the mail over at most once. Confirmed means accepted by the server, not
// delivered; the reference is the mail's own Message-ID, without angle brackets.
func (c *Connector) Act(ctx context.Context, o order.Order) operation.Result {
	start := time.Now()
	r := c.act(ctx, o)
	r.Proof.Millis = time.Since(start).Milliseconds()
	return r
}

func (c *Connector) act(ctx context.Context, o order.Order) operation.Result {
	m, err := parse(o.Request)
	if err != nil {
		return notStarted(CodeBadMessage, err.Error(), true)
	}
	user, password := "", ""
	if c.cfg.Auth != nil {
		if user, password, err = c.cfg.Auth.read(c.env); err != nil {
			return notStarted(CodeCredential, err.Error(), true)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	cfg := c.cfg
	if o.Request.URL != "" { // the approved place goes before the profile's present one
		if cfg.Addr, err = place(o.Request.URL); err != nil {
			return notStarted(CodeBadMessage, err.Error(), true)
		}
	}
	talk := &conversation{cfg: cfg, user: user, password: password, late: func() bool { return o.Late(time.Now()) }}
	defer talk.close()
	r := talk.deliver(ctx, m)
	r.Proof.Excerpt = outbound.Excerpt([]byte(r.Proof.Excerpt), password, plainAuth(user, password))
	return r
}

// place reads "smtp://host:port".
func place(raw string) (addr string, err error) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "smtp" || u.Hostname() == "" || u.Port() == "" || u.User != nil || u.Path != "" {
		return "", errors.New("the mail server's place is not smtp://host:port")
	}
	return u.Host, nil
}

// Lookup: SMTP cannot be asked. Bounces and a mailbox tell more, later, to a person.
func (c *Connector) Lookup(context.Context, order.Lookup) operation.LookupFinding {
	return operation.LookupFinding{Result: operation.LookupUnreachable, Proof: operation.Proof{
		Code: CodeNoLookup, Phase: operation.PhaseBlocked, Detail: "A mail server cannot be asked whether it took a mail.",
	}}
}

func notStarted(code, detail string, permanent bool) operation.Result {
	return operation.Result{
		Outcome: operation.OutcomeNotStarted, Permanent: permanent,
		Proof: operation.Proof{Code: code, Phase: operation.PhaseBlocked, Detail: detail},
	}
}

// message is a frozen mail, ready to be sent.
type message struct {
	from  string
	to    []string
	wire  []byte // CRLF, dots doubled, no final dot
	id    string // Message-ID without brackets
	eight bool   // has bytes above 127
	utf8  bool   // an address has
}

// parse checks what is frozen. Nothing is added: what the approver saw is what leaves.
// Only line ends become CRLF and leading dots are doubled, which the server undoes.
func parse(r operation.Request) (*message, error) {
	if r.Kind != operation.RequestSMTP {
		return nil, fmt.Errorf("a request of kind %q does not travel over SMTP", r.Kind)
	}
	if open := r.Holes(); len(open) > 0 {
		return nil, fmt.Errorf("the message has open holes: %s", strings.Join(open, ", "))
	}
	m := &message{from: r.From, to: r.To}
	if len(r.To) == 0 {
		return nil, errors.New("the message has no recipient")
	}
	for _, addr := range append([]string{r.From}, r.To...) {
		if addr == "" || strings.ContainsAny(addr, "<> \r\n\t\x00") || !strings.Contains(addr, "@") {
			return nil, errors.New("an address of the envelope is not valid")
		}
		m.utf8 = m.utf8 || !ascii(addr)
	}
	body := strings.ReplaceAll(r.Body, "\r\n", "\n")
	if strings.ContainsAny(body, "\r\x00") {
		return nil, errors.New("the message contains a bare carriage return or a NUL")
	}
	parsed, err := mail.ReadMessage(strings.NewReader(body))
	if err != nil {
		return nil, errors.New("the message's header cannot be read")
	}
	ids := parsed.Header["Message-Id"]
	if len(ids) != 1 {
		return nil, fmt.Errorf("the message has %d Message-ID lines; it needs exactly one", len(ids))
	}
	m.id = strings.Trim(strings.TrimSpace(ids[0]), "<>")
	if m.id == "" || strings.ContainsAny(m.id, " <>\t") {
		return nil, errors.New("the message's Message-ID is not valid")
	}
	m.eight = !ascii(body)
	m.wire = wire(body)
	return m, nil
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] > 127 {
			return false
		}
	}
	return true
}

// wire gives the bytes between DATA and the final dot.
func wire(body string) []byte {
	var b bytes.Buffer
	for line := range strings.SplitSeq(strings.TrimSuffix(body, "\n"), "\n") {
		if strings.HasPrefix(line, ".") {
			b.WriteByte('.')
		}
		b.WriteString(line)
		b.WriteString("\r\n")
	}
	return b.Bytes()
}
