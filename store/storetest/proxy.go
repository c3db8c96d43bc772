package storetest

import (
	"net"
	"net/url"
	"sync"
	"testing"
)

// Cut says how a connection ends.
type Cut int

const (
	// CutBefore closes both sides before the statement reaches the server: it
	// is never executed.
	CutBefore Cut = iota
	// CutAfterForward lets the server execute the statement, waits for its whole
	// answer, drops it and closes the client's side cleanly (the client reads
	// end of file).
	CutAfterForward
	// CutRST is CutAfterForward, but the client's side is reset.
	CutRST
	// CutAfterError forwards the server's ErrorResponse and closes before its
	// ReadyForQuery. A statement that does not fail passes and does not count.
	CutAfterError
)

// String names the kind for test names.
func (c Cut) String() string {
	return [...]string{"CutBefore", "CutAfterForward", "CutRST", "CutAfterError"}[c]
}

// Proxy stands between a client and PostgreSQL, reads their protocol, and cuts
// connections at statements. A statement is a simple query or one execution of
// a prepared one; BEGIN and COMMIT are statements too.
type Proxy struct {
	listener net.Listener
	target   string
	url      string

	mu         sync.Mutex
	rules      []*rule
	statements []string
	cuts       int
	conns      map[net.Conn]struct{}
	closed     bool
	running    sync.WaitGroup
}

// rule is one standing order to cut.
type rule struct {
	match func(query string) bool
	how   Cut
	times int // cuts left
}

// NewProxy starts a proxy in front of the server of targetURL and ends it, with
// every connection through it, when the test ends.
func NewProxy(t testing.TB, targetURL string) *Proxy {
	t.Helper()
	u, err := url.Parse(targetURL)
	if err != nil {
		t.Fatalf("storetest: proxy target: %v", err)
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("storetest: proxy: %v", err)
	}
	p := &Proxy{listener: l, target: u.Host, conns: map[net.Conn]struct{}{}}
	u.Host = l.Addr().String()
	q := u.Query()
	q.Set("sslmode", "disable")
	u.RawQuery = q.Encode()
	p.url = u.String()
	p.running.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

// URL is the target's address, through the proxy.
func (p *Proxy) URL() string { return p.url }

// CutOn cuts the next times statements for which match is true. match must not
// call the proxy. Earlier orders win.
func (p *Proxy) CutOn(match func(query string) bool, how Cut, times int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = append(p.rules, &rule{match: match, how: how, times: times})
}

// CutNth cuts once, at the n-th statement from now (1 is the next one), counted
// over all connections.
func (p *Proxy) CutNth(n int, how Cut) {
	p.CutOn(func(string) bool {
		n--
		return n == 0
	}, how, 1)
}

// Statements lists the statements handed to the server so far, oldest first,
// over all connections.
func (p *Proxy) Statements() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.statements...)
}

// Cuts counts the connections cut so far, so that a test can tell whether its
// point was reached.
func (p *Proxy) Cuts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cuts
}

// Reset withdraws all orders and forgets the statements and cuts seen so far.
// Connections stay open.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules, p.statements, p.cuts = nil, nil, 0
}

// decide asks the orders about a statement about to be forwarded.
func (p *Proxy) decide(query string) *rule {
	p.mu.Lock()
	defer p.mu.Unlock()
	var hit *rule
	for _, r := range p.rules {
		if r.times > 0 && r.match(query) {
			hit = r
			break
		}
	}
	if hit != nil && hit.how != CutAfterError {
		hit.times--
		p.cuts++
	}
	if hit == nil || hit.how != CutBefore {
		p.statements = append(p.statements, query)
	}
	return hit
}

// spend counts a cut that was made because the server answered with an error.
func (p *Proxy) spend(r *rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r.times--
	p.cuts++
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp4", p.target)
		if err != nil {
			client.Close()
			continue
		}
		if !p.register(client, server) {
			return
		}
		p.running.Go(func() {
			defer p.forget(client, server)
			newPipe(p, client.(*net.TCPConn), server.(*net.TCPConn)).run()
		})
	}
}

func (p *Proxy) register(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		if p.closed {
			c.Close()
			continue
		}
		p.conns[c] = struct{}{}
	}
	return !p.closed
}

func (p *Proxy) forget(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		c.Close()
		delete(p.conns, c)
	}
}

func (p *Proxy) close() {
	p.listener.Close()
	p.mu.Lock()
	p.closed = true
	for c := range p.conns {
		c.Close()
	}
	p.mu.Unlock()
	p.running.Wait()
}
