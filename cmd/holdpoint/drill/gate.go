package drill

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"holdpoint/operation"
)

// gate stands before one destination of an acceptance. Every request of the product goes
// through it, and it loses what a case wants lost: an answer after the destination has
// acted, or a request before it arrives. It counts what reached the destination.
type gate struct {
	base   string // of the destination, without a slash at the end
	server *http.Server
	url    string

	mu       sync.Mutex
	expected []expectation
	lose     map[operation.ID]*losing
	deaf     bool          // lookups are answered with 503
	hold     time.Duration // before a request with an effect is passed on
	arrivals []arrival
}

// loss is what the gate loses, once.
type loss string

const (
	loseAnswer  loss = "answer"
	loseRequest loss = "request"
)

// losing is an order to lose one request or its answer. The one who gave it may act
// between the moment at which nothing more happens at the destination and the moment at
// which the product notices.
type losing struct {
	what loss
	came chan struct{} // closed when the request came and, for an answer, the destination has acted
	on   chan struct{} // closed to let the connection break off
}

// expectation tells a request with an effect from a lookup.
type expectation struct {
	op          operation.ID
	method, uri string
}

// arrival is one request with an effect that came to the gate.
type arrival struct {
	op      operation.ID
	at      time.Time
	hash    string // hex SHA-256 of the body
	header  http.Header
	reached bool // the destination, which answered it
	status  int

	answered time.Time // when; zero = it did not reach
}

// maxPassed bounds a body that the gate passes on.
const maxPassed = 16 << 20

// openGate listens on a free port of this machine.
func openGate(base string) (*gate, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	g := &gate{base: strings.TrimRight(base, "/"), url: "http://" + l.Addr().String(), lose: map[operation.ID]*losing{}}
	g.server = &http.Server{Handler: g, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = g.server.Serve(l) }()
	return g, nil
}

func (g *gate) close() { _ = g.server.Close() }

// expect says how an operation's request looks when it comes.
func (g *gate) expect(id operation.ID, r operation.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.expected = append(g.expected, expectation{id, r.Method, strings.TrimPrefix(r.URL, g.url)})
}

// order sets what is lost of an operation's next request.
func (g *gate) order(id operation.ID, what loss) {
	l := g.orderHeld(id, what)
	close(l.on)
}

// orderHeld is order, and the connection stays open until the caller closes on.
func (g *gate) orderHeld(id operation.ID, what loss) *losing {
	l := &losing{what: what, came: make(chan struct{}), on: make(chan struct{})}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lose[id] = l
	return l
}

// breakOff closes the connection of a request without an answer, when it may be.
func (l *losing) breakOff(w http.ResponseWriter, gone context.Context) {
	close(l.came)
	select {
	case <-l.on:
	case <-gone.Done():
	}
	breakOff(w)
}

// listen lets lookups through, or answers them with 503.
func (g *gate) listen(on bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.deaf = !on
}

// slow holds each request with an effect for a while before it is passed on.
func (g *gate) slow(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hold = d
}

// calm takes back what a case ordered.
func (g *gate) calm() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lose, g.deaf, g.hold = map[operation.ID]*losing{}, false, 0
}

// of gives the requests with an effect of an operation.
func (g *gate) of(id operation.ID) []arrival {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []arrival
	for _, a := range g.arrivals {
		if a.op == id {
			out = append(out, a)
		}
	}
	return out
}

// latest is when the last request of an operation was answered by the destination, or
// came, where it gave no answer; zero = none came.
func (g *gate) latest(id operation.ID) (at time.Time) {
	for _, a := range g.of(id) {
		for _, x := range []time.Time{a.at, a.answered} {
			if x.After(at) {
				at = x
			}
		}
	}
	return at
}

// ServeHTTP passes one request on, or loses it.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxPassed))
	if err != nil {
		return
	}
	id, effect := g.whose(r, body)
	if !effect {
		g.passLookup(w, r, body)
		return
	}
	no, lost, hold := g.came(id, r, body)
	if lost != nil && lost.what == loseRequest {
		lost.breakOff(w, r.Context())
		return
	}
	time.Sleep(hold)
	resp, answer, err := g.pass(r, body)
	if err != nil {
		breakOff(w)
		return
	}
	g.mu.Lock()
	g.arrivals[no].reached, g.arrivals[no].status, g.arrivals[no].answered = true, resp.StatusCode, time.Now()
	g.mu.Unlock()
	if lost != nil {
		lost.breakOff(w, r.Context())
		return
	}
	giveBack(w, resp, answer)
}

// whose tells to which operation a request with an effect belongs: by our reference in
// it, else the newest one that is expected there.
func (g *gate) whose(r *http.Request, body []byte) (operation.ID, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var newest operation.ID
	for _, e := range g.expected {
		if e.method != r.Method || e.uri != r.URL.RequestURI() {
			continue
		}
		newest = e.op
		if bytes.Contains(body, []byte(e.op)) {
			return e.op, true
		}
		for _, values := range r.Header {
			if strings.Contains(strings.Join(values, " "), string(e.op)) {
				return e.op, true
			}
		}
	}
	return newest, newest != ""
}

func (g *gate) came(id operation.ID, r *http.Request, body []byte) (no int, lost *losing, hold time.Duration) {
	sum := sha256.Sum256(body)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.arrivals = append(g.arrivals, arrival{op: id, at: time.Now().UTC(), hash: hex.EncodeToString(sum[:]), header: r.Header.Clone()})
	lost = g.lose[id]
	delete(g.lose, id)
	return len(g.arrivals) - 1, lost, g.hold
}

func (g *gate) passLookup(w http.ResponseWriter, r *http.Request, body []byte) {
	g.mu.Lock()
	deaf := g.deaf
	g.mu.Unlock()
	if deaf {
		http.Error(w, "unavailable", http.StatusServiceUnavailable)
		return
	}
	resp, answer, err := g.pass(r, body)
	if err != nil {
		http.Error(w, "the destination cannot be reached", http.StatusBadGateway)
		return
	}
	giveBack(w, resp, answer)
}

// pass sends the request to the destination once. The answer is awaited even when the
// one who asked is gone: what the destination did must be known.
func (g *gate) pass(r *http.Request, body []byte) (*http.Response, []byte, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 30*time.Second)
	defer cancel()
	out, err := http.NewRequestWithContext(ctx, r.Method, g.base+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	out.GetBody = nil // a transport that may repeat the body would send twice (FC-23)
	out.Header = r.Header.Clone()
	out.Header.Del("Connection")
	out.Header.Set("Accept-Encoding", "identity")
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(out)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxPassed))
	return resp, answer, err
}

func giveBack(w http.ResponseWriter, resp *http.Response, answer []byte) {
	for name, values := range resp.Header {
		if name != "Connection" && name != "Transfer-Encoding" && name != "Content-Length" {
			w.Header()[name] = values
		}
	}
	w.WriteHeader(resp.StatusCode)
	_, _ = w.Write(answer)
}

// breakOff closes the connection without an answer.
func breakOff(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		conn.Close()
	}
}
