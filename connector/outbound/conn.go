package outbound

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
)

// ErrLate refuses a write after the order's deadline.
var ErrLate = errors.New("the time to send has passed")

var errSealed = errors.New("the attempt is over")

// gate lets the bytes of one attempt through and counts them. It sits above TLS, so
// what it counts are bytes of the request, not of a handshake.
type gate struct {
	late    func() bool // nil = no deadline
	over    atomic.Bool // set before the connection is closed: no further write begins
	mu      sync.Mutex  // held while a write runs
	written int64
	refused bool // a write was refused because it was late
}

// seal ends the attempt and gives what was written: no byte follows. The connection
// must be closed already, so that a write in progress returns.
func (g *gate) seal() (written int64, late bool) {
	g.over.Store(true)
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.written, g.refused
}

// gatedConn is a connection whose writes pass a gate.
type gatedConn struct {
	net.Conn
	gate *gate
}

// Write checks the deadline immediately before the bytes leave. The check comes before
// every write: a request that is cut by it cannot be executed as a whole.
func (c *gatedConn) Write(p []byte) (int, error) {
	g := c.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over.Load() {
		return 0, errSealed
	}
	if g.late != nil && g.late() {
		g.refused = true
		return 0, ErrLate
	}
	n, err := c.Conn.Write(p)
	g.written += int64(n)
	return n, err
}
