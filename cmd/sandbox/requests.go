package main

import (
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	keptRequests = 2000
	keptBody     = 64 << 10
)

// request is one request as it was received, and what was done with it.
type request struct {
	Number      int         `json:"number"`
	Destination string      `json:"destination"`
	Method      string      `json:"method"` // "SMTP" for a mail over SMTP
	Path        string      `json:"path"`   // with the query; SMTP: the recipients
	Headers     http.Header `json:"headers"`
	Body        string      `json:"body"`  // cut after 64 KiB
	Bytes       int         `json:"bytes"` // length of the whole body
	When        time.Time   `json:"when"`
	Lookup      bool        `json:"lookup,omitempty"` // it asks, and has no effect
	Fault       string      `json:"fault,omitempty"`
	Status      int         `json:"status,omitempty"` // 0 = no answer, or not yet
	Answered    string      `json:"answered"`         // in words
}

// requests is the log of everything received, oldest first.
type requests struct {
	mu      sync.Mutex
	changed *bell
	serial  int
	list    []*request
	counts  map[string]int
}

func newRequests(changed *bell) *requests {
	return &requests{changed: changed, counts: map[string]int{}}
}

// open logs a request at its arrival, so that a stalled one is visible too.
func (rs *requests) open(r request) *request {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.serial++
	r.Number = rs.serial
	r.Answered = "not yet"
	r.Headers = masked(r.Headers)
	rs.list = append(rs.list, &r)
	if len(rs.list) > keptRequests {
		rs.list = rs.list[len(rs.list)-keptRequests:]
	}
	rs.counts[r.Destination]++
	rs.changed.ring()
	return &r
}

// note changes the log entry of a request.
func (rs *requests) note(r *request, change func(*request)) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	change(r)
	rs.changed.ring()
}

// list gives the kept requests of a destination, or of all.
func (rs *requests) of(destination string) []request {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	out := []request{}
	for _, r := range rs.list {
		if destination == "" || r.Destination == destination {
			out = append(out, *r)
		}
	}
	return out
}

// count gives how many requests came, also those no longer kept.
func (rs *requests) count(destination string) int {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if destination != "" {
		return rs.counts[destination]
	}
	n := 0
	for _, c := range rs.counts {
		n += c
	}
	return n
}

func (rs *requests) clear() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.list, rs.counts = nil, map[string]int{}
	rs.changed.ring()
}

// masked hides the value of Authorization but keeps its scheme, and hides tokens that
// have a header of their own.
func masked(h http.Header) http.Header {
	out := h.Clone()
	for name := range out {
		if strings.HasSuffix(name, "-Token") {
			out.Set(name, "****")
		}
	}
	if v := out.Get("Authorization"); v != "" {
		scheme, _, _ := strings.Cut(v, " ")
		if scheme == v {
			scheme = ""
		}
		out.Set("Authorization", strings.TrimSpace(scheme+" ****"))
	}
	return out
}

func keepBody(body []byte) string {
	if len(body) > keptBody {
		body = body[:keptBody]
	}
	return string(body)
}
