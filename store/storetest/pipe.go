package storetest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"time"
)

// pipe is one client's connection through the proxy. Two goroutines read the
// two directions of PostgreSQL's protocol 3.0: after the start-up packet every
// message is one type byte, a length and a body.
type pipe struct {
	proxy          *Proxy
	client, server *net.TCPConn
	prepared       map[string]string // statement name → text
	portals        map[string]string // portal name → text

	mu       sync.Mutex
	asked    int   // rounds the client has begun: start-up, simple queries, Syncs
	answered int   // rounds the server has ended with ReadyForQuery
	armed    *rule // the cut that waits for an answer …
	armedAt  int   // … to this round
}

func newPipe(p *Proxy, client, server *net.TCPConn) *pipe {
	return &pipe{proxy: p, client: client, server: server,
		prepared: map[string]string{}, portals: map[string]string{}, asked: 1}
}

// run returns when both directions have ended. Once the server's side is over,
// the client is told by end of file and gets a second to leave.
func (c *pipe) run() {
	var back sync.WaitGroup
	back.Go(func() {
		c.fromServer()
		c.server.Close()
		c.client.CloseWrite()
		c.client.SetReadDeadline(time.Now().Add(time.Second))
	})
	in := bufio.NewReader(c.client)
	c.fromClient(in)
	c.server.Close()
	back.Wait()
	io.Copy(io.Discard, in) // unread bytes would turn the end of file into a reset
}

func (c *pipe) fromClient(in *bufio.Reader) {
	if !c.startUp(in) {
		return
	}
	for {
		kind, raw, err := readMessage(in)
		if err != nil {
			return
		}
		query, executes := c.understand(kind, raw[5:])
		if executes {
			if hit := c.proxy.decide(query); hit != nil {
				if hit.how == CutBefore {
					return
				}
				c.arm(hit)
			}
		}
		if kind == 'Q' || kind == 'S' {
			c.mu.Lock()
			c.asked++
			c.mu.Unlock()
		}
		if _, err := c.server.Write(raw); err != nil {
			return
		}
	}
}

// arm orders the other direction to cut at the answer to the current round.
func (c *pipe) arm(r *rule) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.armed == nil {
		c.armed, c.armedAt = r, c.asked+1
	}
}

// startUp passes the packets before the first typed message. A request for
// encryption is declined, as a server without certificates would.
func (c *pipe) startUp(in *bufio.Reader) bool {
	const sslRequest, gssRequest, cancelRequest = 80877103, 80877104, 80877102
	for {
		head, err := in.Peek(8)
		if err != nil {
			return false
		}
		packet := make([]byte, binary.BigEndian.Uint32(head))
		code := binary.BigEndian.Uint32(head[4:])
		if _, err := io.ReadFull(in, packet); err != nil {
			return false
		}
		if code == sslRequest || code == gssRequest {
			if _, err := c.client.Write([]byte{'N'}); err != nil {
				return false
			}
			continue
		}
		if _, err := c.server.Write(packet); err != nil {
			return false
		}
		if code == cancelRequest {
			io.Copy(io.Discard, in) // until the server has closed
			return false
		}
		return true
	}
}

// understand tells whether a message executes a statement, and which.
func (c *pipe) understand(kind byte, body []byte) (query string, executes bool) {
	switch kind {
	case 'Q':
		text, _ := cString(body)
		return text, true
	case 'P': // Parse: name, text
		name, rest := cString(body)
		c.prepared[name], _ = cString(rest)
	case 'B': // Bind: portal, statement
		portal, rest := cString(body)
		name, _ := cString(rest)
		c.portals[portal] = c.prepared[name]
	case 'E': // Execute: portal
		portal, _ := cString(body)
		return c.portals[portal], true
	}
	return "", false
}

func (c *pipe) fromServer() {
	in := bufio.NewReader(c.server)
	for {
		kind, raw, err := readMessage(in)
		if err != nil {
			return
		}
		cut := c.cut()
		if cut == nil || cut.how == CutAfterError {
			if _, err := c.client.Write(raw); err != nil {
				return
			}
		}
		if kind == 'Z' {
			c.mu.Lock()
			c.answered++
			c.mu.Unlock()
		}
		if cut == nil {
			continue
		}
		if cut.how == CutAfterError && kind == 'E' {
			c.proxy.spend(cut)
			return
		}
		if kind != 'Z' {
			continue
		}
		switch cut.how {
		case CutAfterForward:
			return
		case CutRST:
			c.client.SetLinger(0)
			c.client.Close()
			return
		case CutAfterError: // it did not fail
			c.mu.Lock()
			c.armed = nil
			c.mu.Unlock()
		}
	}
}

// cut returns the cut that applies to the message being read: the armed one
// once all earlier rounds are answered.
func (c *pipe) cut() *rule {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.armed != nil && c.answered+1 == c.armedAt {
		return c.armed
	}
	return nil
}

// readMessage reads one typed message whole; raw starts with type and length.
func readMessage(in *bufio.Reader) (kind byte, raw []byte, err error) {
	head, err := in.Peek(5)
	if err != nil {
		return 0, nil, err
	}
	raw = make([]byte, 1+binary.BigEndian.Uint32(head[1:]))
	if len(raw) < 5 {
		return 0, nil, io.ErrUnexpectedEOF
	}
	_, err = io.ReadFull(in, raw)
	return raw[0], raw, err
}

// cString splits off a zero-terminated string.
func cString(b []byte) (string, []byte) {
	i := bytes.IndexByte(b, 0)
	if i < 0 {
		return string(b), nil
	}
	return string(b[:i]), b[i+1:]
}
