package connectortest

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// Server is a TCP or TLS server that does on each connection what a test tells it to,
// down to single bytes, and counts what arrived.
type Server struct {
	Addr  string         // "127.0.0.1:port"
	Roots *x509.CertPool // trusts the server's certificate

	mu    sync.Mutex
	conns int
	seen  []Seen
}

// Seen is one whole request that arrived.
type Seen struct {
	Method, Path string
	Header       http.Header
	Body         string
}

// Peer is the server's end of one connection.
type Peer struct {
	net.Conn
	R      *bufio.Reader
	server *Server
	raw    net.Conn
	end    <-chan struct{}
}

// StartServer serves until the test ends. play runs for each connection; the
// connection is closed when it returns. With encrypted, TLS comes first.
func StartServer(t testing.TB, encrypted bool, play func(*Peer)) *Server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cert, roots := Certificate(t)
	s := &Server{Addr: listener.Addr().String(), Roots: roots}
	end := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			raw, err := listener.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns++
			s.mu.Unlock()
			wg.Go(func() {
				defer raw.Close()
				conn := raw
				if encrypted {
					conn = tls.Server(raw, &tls.Config{Certificates: []tls.Certificate{cert}})
				}
				play(&Peer{Conn: conn, R: bufio.NewReader(conn), server: s, raw: raw, end: end})
			})
		}
	})
	t.Cleanup(func() {
		close(end)
		listener.Close()
		wg.Wait()
	})
	return s
}

// Connections is how many connections were accepted.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns
}

// Seen gives the whole requests that arrived, in order.
func (s *Server) Seen() []Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Seen(nil), s.seen...)
}

// Count is how many whole requests with this method arrived.
func (s *Server) Count(method string) int {
	n := 0
	for _, r := range s.Seen() {
		if r.Method == method {
			n++
		}
	}
	return n
}

// Read reads and counts one whole HTTP request; ok is false when the caller left.
func (p *Peer) Read() (r Seen, ok bool) {
	req, err := http.ReadRequest(p.R)
	if err != nil {
		return Seen{}, false
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return Seen{}, false
	}
	r = Seen{Method: req.Method, Path: req.URL.RequestURI(), Header: req.Header, Body: string(body)}
	p.server.note(r)
	return r, true
}

func (s *Server) note(r Seen) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, r)
}

// Note counts something that arrived as a whole and is not HTTP, such as a mail.
func (p *Peer) Note(method, body string) { p.server.note(Seen{Method: method, Body: body}) }

// Say sends exactly these bytes.
func (p *Peer) Say(s string) { _, _ = io.WriteString(p.Conn, s) }

// Reset closes the connection with a TCP reset.
func (p *Peer) Reset() {
	if tcp, ok := p.raw.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = p.raw.Close()
}

// Hold keeps the connection open and silent until the caller leaves or the test ends.
func (p *Peer) Hold() {
	left := make(chan struct{})
	go func() {
		defer close(left)
		_, _ = io.Copy(io.Discard, p.R)
	}()
	select {
	case <-left:
	case <-p.end:
		_ = p.raw.Close()
		<-left
	}
}

// ClosedAddr gives an address where nobody listens.
func ClosedAddr(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Certificate makes a certificate for loopback, and a pool that trusts it.
func Certificate(t testing.TB) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "destination.test"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}
