package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

const maxBody = 1 << 20

// answer is what a destination says to a request.
type answer struct {
	status   int
	header   http.Header
	body     []byte
	began    bool // execution began: the answer may be stored under a key
	replayed bool // it is a stored answer
}

func jsonAnswer(status int, v any) answer {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return answer{status: http.StatusInternalServerError, body: []byte(err.Error())}
	}
	return answer{status: status, header: http.Header{"Content-Type": {"application/json"}}, body: b.Bytes()}
}

// executed marks an answer as one given after execution began.
func executed(a answer) answer {
	a.began = true
	return a
}

func (a answer) with(name, value string) answer {
	a.header = a.header.Clone()
	if a.header == nil {
		a.header = http.Header{}
	}
	a.header.Set(name, value)
	return a
}

// call is one request to a destination on its way through faults and rules.
type call struct {
	sandbox     *sandbox
	system      system
	destination string
	request     *http.Request
	body        []byte
	key         string // Idempotency-Key as sent
	fault       *fault // nil = behaves
	ignoreKey   bool
	slow        time.Duration
	entry       *request
}

func (c *call) now() time.Time { return c.sandbox.clock.now() }

// execute makes the effect, late if the fault says so. The caller leaving does
// not stop it; a reset or the end of the program does.
func (c *call) execute(do func() answer) answer {
	if c.slow > 0 && !c.sandbox.sleepByClock(c.slow) {
		panic(http.ErrAbortHandler)
	}
	return do()
}

// distort replaces the answer of an executed request by the error of a
// status_after_execute fault.
func (c *call) distort(a answer) answer {
	if c.fault == nil || c.fault.Fault != faultStatusAfter {
		return a
	}
	out := c.faultAnswer(c.system.failure(c.fault.Status, "The server met an error. The effect may or may not exist."))
	out.began, out.replayed = a.began, a.replayed
	return out
}

// faultAnswer puts the fault's own status, body and location into a.
func (c *call) faultAnswer(a answer) answer {
	a.status = c.fault.Status
	if c.fault.hasBody {
		a.body = []byte(c.fault.Body)
	}
	if c.fault.Location != "" {
		a = a.with("Location", c.fault.Location)
	}
	return a
}

// api is how a destination speaks where faults and rules need its own words.
type api struct {
	failure func(status int, message string) answer
}

// endpoint wraps a destination's handler: it logs, reads, checks the key,
// applies the faults and answers.
func (s *sandbox) endpoint(destination, on string, handle func(*call) answer) http.HandlerFunc {
	played, known := systemOf(destination)
	if !known {
		panic("no system " + destination)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		c := &call{sandbox: s, system: played, destination: destination, request: r, key: r.Header.Get("Idempotency-Key")}
		c.entry = s.requests.open(request{
			Destination: destination, Method: r.Method, Path: r.URL.RequestURI(), Headers: r.Header, When: s.clock.now(),
			Lookup: on == onLookup,
		})
		t := faultTarget{on: on, path: r.URL.RequestURI(), header: r.Header}
		if c.fault = s.faults.takeConnect(destination, t); c.fault != nil {
			c.refuse(w)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		c.body = body
		if played.purpose != nil {
			t.on = played.purpose(body)
		}
		s.requests.note(c.entry, func(e *request) { e.Body, e.Bytes, e.Lookup = keepBody(body), len(body), t.on == onLookup })
		if err != nil {
			c.send(w, c.system.failure(http.StatusRequestEntityTooLarge, "The body could not be read, or is larger than 1 MiB."))
			return
		}
		if !c.system.admits(r) {
			c.send(w, c.system.failure(http.StatusUnauthorized, "The API key is missing or wrong."))
			return
		}
		t.body, t.read = body, true
		c.takeFaults(t)
		if c.fault != nil && c.fault.point != pointAfter {
			c.before(w)
			return
		}
		c.after(w, c.distort(handle(c)))
	}
}

// takeFaults decides which faults this request meets.
func (c *call) takeFaults(t faultTarget) {
	s := c.sandbox
	c.fault = s.faults.take(c.destination, t, nil)
	c.ignoreKey = s.faults.takeModifier(c.destination, faultIgnoreIdempotency, t) != nil
	if f := s.faults.takeModifier(c.destination, faultSlow, t); f != nil {
		c.slow = f.Delay.Duration
	}
	name := ""
	switch {
	case c.fault != nil:
		name = c.fault.Fault
	case c.ignoreKey:
		name = faultIgnoreIdempotency
	case c.slow > 0:
		name = faultSlow
	}
	s.requests.note(c.entry, func(e *request) { e.Fault = name })
}

// searchLag is how long effects stay hidden from this search: the setting, or
// an index_lag fault if that is longer.
func (c *call) searchLag() time.Duration {
	lag := c.sandbox.settings.of(c.destination).IndexLag.Duration
	t := faultTarget{on: onLookup, path: c.request.URL.RequestURI(), header: c.request.Header, body: c.body, read: true}
	if f := c.sandbox.faults.takeModifier(c.destination, faultIndexLag, t); f != nil {
		c.sandbox.requests.note(c.entry, func(e *request) { e.Fault = faultIndexLag })
		lag = max(lag, f.Delay.Duration)
	}
	return lag
}

// refuse resets the connection.
func (c *call) refuse(w http.ResponseWriter) {
	c.close("no answer: connection reset before the body was read")
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	resetConn(conn)
}

func resetConn(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // the close below then resets
	}
	_ = conn.Close()
}

// before plays a fault that lets nothing happen.
func (c *call) before(w http.ResponseWriter) {
	words := c.system.failure
	switch c.fault.Fault {
	case faultRefuse:
		c.refuse(w)
	case faultDropBefore:
		c.close("no answer: connection closed, nothing was executed")
		panic(http.ErrAbortHandler)
	case faultStatusBefore:
		c.send(w, c.faultAnswer(words(c.fault.Status, "The service cannot take the request now. Nothing was executed.")))
	case faultRetryAfter:
		a := c.faultAnswer(words(c.fault.Status, "Too many requests."))
		seconds := (c.fault.Delay.Duration + time.Second - 1) / time.Second
		c.send(w, a.with("Retry-After", strconv.Itoa(int(seconds))))
	case faultRedirect:
		a := answer{header: http.Header{"Location": {"http://" + c.request.Host + "/elsewhere/" + c.destination}}}
		c.send(w, c.faultAnswer(a))
	case faultHTML200:
		a := answer{header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}}
		a.body = []byte("<!doctype html><title>Sign in</title><h1>Sign in</h1><p>Your session has ended.</p>\n")
		c.send(w, c.faultAnswer(a))
	case faultErrorIn200:
		c.send(w, c.faultAnswer(jsonAnswer(http.StatusOK, map[string]any{"ok": false, "error": "not_saved"})))
	}
}

// after gives the answer of an executed request, spoiled if a fault says so.
func (c *call) after(w http.ResponseWriter, a answer) {
	if c.fault == nil || c.fault.Fault == faultStatusAfter {
		c.send(w, a)
		return
	}
	switch c.fault.Fault {
	case faultDropAfter:
		c.close("no answer: connection closed after the effect")
		panic(http.ErrAbortHandler)
	case faultStallAfter:
		c.close("no answer: held open after the effect")
		c.sandbox.sleep(c.fault.Delay.Duration, c.request.Context().Done())
		panic(http.ErrAbortHandler)
	case faultEmptyBody:
		a.body = nil
		if c.fault.Status != 0 {
			a.status = c.fault.Status
		}
		if c.fault.Location != "" {
			a = a.with("Location", c.fault.Location)
		}
		c.send(w, a)
	case faultCutBody:
		c.cut(w, a)
	}
}

// cut announces the whole body, sends half of it and closes, after the fault's
// delay if it has one.
func (c *call) cut(w http.ResponseWriter, a answer) {
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	c.sandbox.requests.note(c.entry, func(e *request) {
		e.Status, e.Answered = a.status, fmt.Sprintf("%d, the body cut in the middle", a.status)
	})
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body[:len(a.body)/2])
	_ = http.NewResponseController(w).Flush()
	if d := c.fault.Delay.Duration; d > 0 {
		c.sandbox.sleep(d, c.request.Context().Done())
	}
	panic(http.ErrAbortHandler)
}

// close logs that no answer is given.
func (c *call) close(words string) {
	c.sandbox.requests.note(c.entry, func(e *request) { e.Fault, e.Answered = c.fault.Fault, words })
}

// send logs and writes a complete answer.
func (c *call) send(w http.ResponseWriter, a answer) {
	words := strconv.Itoa(a.status) + " " + http.StatusText(a.status)
	if a.replayed {
		words += ", stored answer replayed"
	}
	c.sandbox.requests.note(c.entry, func(e *request) { e.Status, e.Answered = a.status, words })
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.status)
	if bodyAllowed(a.status) {
		_, _ = w.Write(a.body)
	}
}

func bodyAllowed(status int) bool {
	return status >= 200 && status != http.StatusNoContent && status != http.StatusNotModified
}
