package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// What a request is for. A fault meets effects unless it says otherwise, so
// that a lookup in between does not use it up.
const (
	onEffect = "effect"
	onLookup = "lookup"
	onAny    = "any"
	onRcpt   = "rcpt" // SMTP: status_before_execute answers RCPT
	onData   = "data" // SMTP: status_before_execute answers the final dot
)

// faultOrder is the body of POST /_control/faults.
type faultOrder struct {
	Destination string          `json:"destination"`
	Fault       string          `json:"fault"`
	Times       *int            `json:"times,omitempty"` // default 1; 0 = until reset
	Match       string          `json:"match,omitempty"`
	On          string          `json:"on,omitempty"`
	Delay       *duration       `json:"delay,omitempty"`
	Status      int             `json:"status,omitempty"`
	Body        json.RawMessage `json:"body,omitempty"` // text is sent as it is, other JSON as JSON
	Location    string          `json:"location,omitempty"`
}

// fault is an injected fault with its defaults filled in.
type fault struct {
	ID          int      `json:"id"`
	Destination string   `json:"destination"`
	Fault       string   `json:"fault"`
	Times       int      `json:"times"` // 0 = until reset
	Used        int      `json:"used"`
	Match       string   `json:"match,omitempty"`
	On          string   `json:"on"`
	Delay       duration `json:"delay"`
	Status      int      `json:"status,omitempty"`
	Body        string   `json:"body,omitempty"`
	Location    string   `json:"location,omitempty"`

	point   faultPoint
	hasBody bool
}

var headerMatch = regexp.MustCompile(`^([A-Za-z0-9-]+): ?(.+)$`)

// newFault checks an order and fills in the defaults of its kind.
func newFault(o faultOrder) (fault, error) {
	if err := checkDestination(o.Destination); err != nil {
		return fault{}, err
	}
	kind, ok := faultKindOf(o.Fault)
	if !ok {
		return fault{}, fmt.Errorf("fault %q is not known; it is one of %s", o.Fault, strings.Join(faultNames(), ", "))
	}
	if !slices.Contains(kind.places(), o.Destination) {
		return fault{}, fmt.Errorf("%s does not know the fault %s; it belongs to %s", o.Destination, o.Fault, strings.Join(kind.places(), ", "))
	}
	f := fault{
		Destination: o.Destination, Fault: o.Fault, Times: 1, Match: o.Match, On: o.On,
		Delay: duration{kind.delay}, Status: kind.status, Location: o.Location, point: kind.point,
	}
	if o.Times != nil {
		f.Times = *o.Times
	}
	if o.Delay != nil {
		f.Delay = *o.Delay
	}
	if o.Status != 0 {
		f.Status = o.Status
	}
	if len(o.Body) > 0 && string(o.Body) != "null" {
		f.hasBody = true
		if err := json.Unmarshal(o.Body, &f.Body); err != nil {
			f.Body = string(o.Body)
		}
	}
	if err := f.settleOn(kind); err != nil {
		return fault{}, err
	}
	return f, f.check()
}

// settleOn fills in and checks which requests the fault meets.
func (f *fault) settleOn(kind faultKind) error {
	smtpStatus := f.Destination == destSMTP && f.Fault == faultStatusBefore
	allowed := []string{onEffect, onLookup, onAny}
	switch {
	case kind.lookups:
		allowed = []string{onLookup}
	case smtpStatus:
		if f.Status == kind.status {
			f.Status = 451
		}
		allowed = []string{onRcpt, onData}
	case f.Destination == destSMTP, f.Fault == faultIgnoreIdempotency:
		allowed = []string{onEffect}
	}
	if f.On == "" {
		f.On = allowed[0]
		if smtpStatus && !slices.Contains([]int{450, 451, 550, 551, 553}, f.Status) {
			f.On = onData
		}
	}
	if !slices.Contains(allowed, f.On) {
		return fmt.Errorf("on %q does not fit %s at %s; it may be %s", f.On, f.Fault, f.Destination, strings.Join(allowed, ", "))
	}
	return nil
}

func (f *fault) check() error {
	_, matchesBody := f.bodyMatch()
	switch {
	case f.Times < 0:
		return fmt.Errorf("times is %d; give 1 or more, or 0 for \"until reset\"", f.Times)
	case f.Destination != destSMTP && f.Status != 0 && (f.Status < 200 || f.Status > 599):
		return fmt.Errorf("status %d is not an HTTP answer between 200 and 599", f.Status)
	case f.Destination == destSMTP && f.Status != 0 && (f.Status < 400 || f.Status > 599):
		return fmt.Errorf("status %d is not an SMTP refusal between 400 and 599", f.Status)
	case f.Fault == faultRedirect && (f.Status < 300 || f.Status > 399):
		return fmt.Errorf("a redirect has a status between 301 and 308, not %d", f.Status)
	case f.Destination == destSMTP && f.Match != "" && !strings.HasPrefix(f.Match, "/") && (f.Fault == faultDropBefore || f.On == onRcpt):
		return fmt.Errorf("%s at smtp happens before the mail is read, so it can match a recipient (\"/name@example.test\") only, not %q", f.Fault, f.Match)
	case f.Fault == faultRefuse && f.Destination == destSMTP && f.Match != "":
		return fmt.Errorf("refuse at smtp happens before anything is read, so it cannot match on %q", f.Match)
	case f.Fault == faultRefuse && matchesBody:
		return fmt.Errorf("refuse happens before the body is read, so it can match a path (\"/…\") or a header (\"Name: value\"), not %q in the body", f.Match)
	}
	return nil
}

// bodyMatch tells whether the match needs the body, and what to look for.
func (f *fault) bodyMatch() (string, bool) {
	if f.Match == "" || strings.HasPrefix(f.Match, "/") || headerMatch.MatchString(f.Match) {
		return "", false
	}
	return f.Match, true
}

// request is what a fault can match on.
type faultTarget struct {
	on     string // onEffect or onLookup
	path   string // with query; SMTP: the recipients
	header http.Header
	body   []byte
	read   bool // the body is known
}

// fits tells whether the fault meets this request; sure is false while the
// answer depends on a body that was not read yet.
func (f *fault) fits(destination string, t faultTarget) (fits, sure bool) {
	if f.Destination != destination || f.On != onAny && f.On != t.on {
		return false, true
	}
	if want, needsBody := f.bodyMatch(); needsBody {
		return t.read && bytes.Contains(t.body, []byte(want)), t.read
	}
	if strings.HasPrefix(f.Match, "/") {
		return strings.HasPrefix(t.path, f.Match), true
	}
	if m := headerMatch.FindStringSubmatch(f.Match); m != nil {
		return slices.Contains(t.header.Values(m[1]), strings.TrimSpace(m[2])), true
	}
	return true, true
}

// faults are the injected faults, used in the order of their injection.
type faults struct {
	mu     sync.Mutex
	serial int
	list   []*fault
}

func (fs *faults) inject(f fault) fault {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.serial++
	f.ID = fs.serial
	fs.list = append(fs.list, &f)
	return f
}

// takeConnect gives the refuse fault whose turn it is, before the body is read.
// A fault in front of it that still waits for a body keeps its turn.
func (fs *faults) takeConnect(destination string, t faultTarget) *fault {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, f := range fs.list {
		if f.point == pointModifier {
			continue
		}
		fits, sure := f.fits(destination, t)
		if !sure || fits && f.point != pointConnect {
			return nil
		}
		if fits {
			return fs.use(f)
		}
	}
	return nil
}

// take gives the first fault that is no modifier and that want accepts.
func (fs *faults) take(destination string, t faultTarget, want func(*fault) bool) *fault {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, f := range fs.list {
		if f.point == pointModifier {
			continue
		}
		if fits, _ := f.fits(destination, t); fits {
			if want != nil && !want(f) {
				return nil
			}
			return fs.use(f)
		}
	}
	return nil
}

// takeModifier gives the first fault of this modifying kind.
func (fs *faults) takeModifier(destination, name string, t faultTarget) *fault {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, f := range fs.list {
		if f.Fault != name {
			continue
		}
		if fits, _ := f.fits(destination, t); fits {
			return fs.use(f)
		}
	}
	return nil
}

// use counts one use and drops the fault when it was the last. The lock is held.
func (fs *faults) use(f *fault) *fault {
	f.Used++
	if f.Times > 0 && f.Used >= f.Times {
		fs.list = slices.DeleteFunc(fs.list, func(x *fault) bool { return x == f })
	}
	taken := *f
	return &taken
}

// all gives the faults that still wait.
func (fs *faults) all() []fault {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	out := make([]fault, len(fs.list))
	for i, f := range fs.list {
		out[i] = *f
	}
	return out
}

// clear drops the faults of a destination (empty: of all) or the one with this ID (0: any).
func (fs *faults) clear(destination string, id int) int {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	before := len(fs.list)
	fs.list = slices.DeleteFunc(fs.list, func(f *fault) bool {
		return (destination == "" || f.Destination == destination) && (id == 0 || f.ID == id)
	})
	return before - len(fs.list)
}
