package outbound

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpguts"

	"holdpoint/operation"
)

// UserAgent is how this program names itself.
const UserAgent = "holdpoint"

// Limits on an answer.
const (
	DefaultTimeout = 30 * time.Second
	DefaultBody    = 256 << 10 // bytes
	headerLimit    = 64 << 10  // bytes
)

// Call is one request that is sent at most once.
type Call struct {
	Request   operation.Request // resolved; no credentials
	Authorize func(http.Header) // adds the credential right before sending; nil = none
	// Sign signs the request as it will leave, all its headers set; nil = no signature.
	// It may add headers and must not read the body: that is Request.Body.
	Sign      func(*http.Request) error
	Late      func() bool    // whether the time to send has passed; nil = no limit
	Timeout   time.Duration  // from the dial to the last byte of the answer; 0 = DefaultTimeout
	BodyLimit int64          // bytes of the answer's body; 0 = DefaultBody
	Local     bool           // loopback and private networks may be reached
	Roots     *x509.CertPool // nil = the system's
}

// Answer is what came back, as far as it came.
type Answer struct {
	Phase     operation.Phase
	Written   int64 // bytes of the request, above TLS; final: none follows
	Status    int   // 0 = no status was read
	Header    http.Header
	Body      []byte // what was read of it
	Truncated bool   // the body is longer than the limit
	Code      string // why it is not complete, one of the Code constants; "" = whole answer
	Detail    string // the same for people; no secrets, no addresses with a query
	Took      time.Duration
}

// Sent reports whether any byte of the request left. If not, nothing can have been
// executed.
func (a Answer) Sent() bool { return a.Written > 0 }

// Whole reports whether status, headers and the whole body were read.
func (a Answer) Whole() bool { return a.Code == "" && a.Phase == operation.PhaseComplete }

// Do sends the call's request once, on a connection of its own, and reads the answer.
// It never follows a redirect and never sends again, whatever happens.
func Do(ctx context.Context, c Call) Answer {
	start := time.Now()
	a := c.do(ctx)
	a.Took = time.Since(start)
	return a
}

func (c Call) do(ctx context.Context) Answer {
	timeout := c.Timeout
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := c.build(ctx)
	if err != nil {
		return Answer{Phase: operation.PhaseBlocked, Code: CodeBadRequest, Detail: err.Error()}
	}
	if c.Late != nil && c.Late() {
		return Answer{Phase: operation.PhaseBlocked, Code: CodeLate, Detail: "The time to send had passed before the connection was opened."}
	}
	try := &attempt{call: c, ctx: ctx, gate: gate{late: c.Late}}
	tr := try.transport()
	resp, err := tr.RoundTrip(req)
	if err != nil {
		return try.failed(err)
	}
	defer tr.CloseIdleConnections()
	defer resp.Body.Close()
	a := Answer{Phase: operation.PhaseAnswered, Status: resp.StatusCode, Header: resp.Header}
	c.readBody(resp, &a)
	_ = resp.Body.Close()
	try.close()
	a.Written, _ = try.gate.seal()
	if a.Written == 0 {
		return Answer{Phase: operation.PhaseConnecting, Code: CodeNotConnected,
			Detail: "The destination answered before a byte of the request was written; that answer is not one to our request."}
	}
	return a
}

// build makes the HTTP request. GetBody stays nil and the transport is used once, so
// that no layer can send it a second time.
func (c Call) build(ctx context.Context) (*http.Request, error) {
	r := c.Request
	u, err := url.Parse(r.URL)
	switch {
	case r.Kind != operation.RequestHTTP:
		return nil, fmt.Errorf("a request of kind %q does not travel over HTTP", r.Kind)
	case err != nil:
		return nil, errors.New("the request's URL cannot be read")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, errors.New("the request's URL is not an http or https address")
	case u.User != nil:
		return nil, errors.New("the request's URL contains credentials")
	case len(r.Holes()) > 0:
		return nil, fmt.Errorf("the request has open holes: %s", strings.Join(r.Holes(), ", "))
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, r.URL, bytes.NewReader([]byte(r.Body)))
	if err != nil {
		return nil, errors.New("the request's method or URL is not valid")
	}
	req.GetBody = nil
	if r.Body == "" {
		req.Body, req.ContentLength = http.NoBody, 0
	}
	req.Header.Set("User-Agent", UserAgent)
	req.Header.Set("Accept-Encoding", "identity")
	own := map[string]bool{}
	for _, h := range r.Header {
		if err := addHeader(req, h, own); err != nil {
			return nil, err
		}
	}
	if c.Authorize != nil {
		c.Authorize(req.Header)
	}
	if c.Sign != nil {
		if err := c.Sign(req); err != nil {
			return nil, fmt.Errorf("the request cannot be signed: %w", err)
		}
	}
	return req, nil
}

func addHeader(req *http.Request, h operation.Header, own map[string]bool) error {
	name := http.CanonicalHeaderKey(h.Name)
	if !httpguts.ValidHeaderFieldName(h.Name) || !httpguts.ValidHeaderFieldValue(h.Value) {
		return fmt.Errorf("header %q is not valid", h.Name)
	}
	switch name {
	case "Host":
		req.Host = h.Value
		return nil
	case "Connection", "Transfer-Encoding", "Trailer", "Upgrade", "Te", "Expect", "Content-Length":
		return fmt.Errorf("header %s belongs to the connection, not to the request", name)
	}
	if !own[name] {
		req.Header.Del(name)
		own[name] = true
	}
	req.Header.Add(name, h.Value)
	return nil
}

// attempt is one use of one connection.
type attempt struct {
	call  Call
	ctx   context.Context
	gate  gate
	dials atomic.Int32
	conn  atomic.Pointer[gatedConn]
}

// transport is fresh for every attempt: no connection is re-used, none is kept, no
// proxy, HTTP/1.1 only. HTTP/2 has repeats of its own.
func (t *attempt) transport() *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:                  nil,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: headerLimit,
		MaxConnsPerHost:        1,
		Protocols:              protocols,
		DialContext: func(_ context.Context, _, addr string) (net.Conn, error) {
			return t.dial(addr, false)
		},
		DialTLSContext: func(_ context.Context, _, addr string) (net.Conn, error) {
			return t.dial(addr, true)
		},
	}
}

// dial opens the one connection of the attempt and does the TLS handshake itself, so
// that the gate sits above it.
func (t *attempt) dial(addr string, secure bool) (net.Conn, error) {
	if t.dials.Add(1) > 1 {
		return nil, errors.New("the attempt has had its connection")
	}
	conn, err := Dial(t.ctx, addr, t.call.Local)
	if err != nil {
		return nil, err
	}
	if secure {
		host, _, _ := net.SplitHostPort(addr)
		secured, err := Secure(t.ctx, conn, host, t.call.Roots)
		if err != nil {
			_ = conn.Close()
			return nil, err
		}
		conn = secured
	}
	g := &gatedConn{Conn: conn, gate: &t.gate}
	t.conn.Store(g)
	return g, nil
}

// close ends the connection, so that a write in progress returns.
func (t *attempt) close() {
	t.gate.over.Store(true)
	if c := t.conn.Load(); c != nil {
		_ = c.Close()
	}
}

// failed gives the answer of an attempt without a status. It reads the count only
// after the connection is closed and the gate sealed: what it says is final.
func (t *attempt) failed(err error) Answer {
	t.close()
	written, late := t.gate.seal()
	a := Answer{Written: written, Phase: operation.PhaseSent}
	if written == 0 {
		a.Phase = operation.PhaseConnecting
	}
	a.Code, a.Detail = explain(err, written > 0)
	if late {
		a.Code, a.Detail = CodeLate, "The time to send had passed."
	}
	if errors.Is(err, ErrBlocked) {
		a.Phase = operation.PhaseBlocked
	}
	return a
}

// readBody reads the answer's body up to the limit. Status and headers are kept
// whatever becomes of it.
func (c Call) readBody(resp *http.Response, a *Answer) {
	limit := c.BodyLimit
	if limit <= 0 {
		limit = DefaultBody
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err == nil {
		body, err = c.decode(resp.Header, body, limit)
	}
	if int64(len(body)) > limit {
		body, a.Truncated = body[:limit], true
	}
	a.Body = body
	switch {
	case a.Truncated:
		a.Code, a.Detail = CodeBodyLimit, fmt.Sprintf("The answer's body is longer than %d bytes.", limit)
	case err != nil:
		a.Code, a.Detail = explainBody(err)
	default:
		a.Phase = operation.PhaseComplete
	}
}

var errEncoding = errors.New("the answer's body has an encoding that was not asked for")

// decode undoes gzip if the request itself asked for it.
func (c Call) decode(h http.Header, body []byte, limit int64) ([]byte, error) {
	coding := strings.ToLower(strings.TrimSpace(h.Get("Content-Encoding")))
	if coding == "" || coding == "identity" || len(body) == 0 {
		return body, nil
	}
	if coding != "gzip" || !c.asksForGzip() || int64(len(body)) > limit {
		return body, errEncoding
	}
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("gzip: %w", io.ErrUnexpectedEOF)
	}
	plain, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return plain, fmt.Errorf("gzip: %w", io.ErrUnexpectedEOF)
	}
	return plain, nil
}

func (c Call) asksForGzip() bool {
	for _, h := range c.Request.Header {
		if strings.EqualFold(h.Name, "Accept-Encoding") && strings.Contains(strings.ToLower(h.Value), "gzip") {
			return true
		}
	}
	return false
}
