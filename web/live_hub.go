package web

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"holdpoint/operation"
	"holdpoint/store"

	"github.com/labstack/echo/v4"
)

// hub tells the open pages of this process what has changed. While anybody listens, it
// looks at the history once a second, and at once when a process says that a person has
// decided something; while nobody does, it asks nothing.
type hub struct {
	store    *store.Store
	log      *slog.Logger
	stopping <-chan struct{}
	perUser  int
	limit    int

	mu      sync.Mutex
	open    map[*listener]struct{}
	running bool
	begun   chan struct{} // closed once the run under way knows where it begins
	upTo    string        // mark of the last look
}

// listener is one open stream. Its queue is bounded: who does not keep up is let go, and
// comes back.
type listener struct {
	session []byte
	viewer  store.Viewer
	from    string // mark at which it joined
	queue   chan string
	gone    chan struct{}
	why     ended
	hub     *hub
}

// ended says why a stream was let go.
type ended int

const (
	endedSlow   ended = iota // or the server stops
	endedAccess              // the session ended, or the person is not active
)

// Rhythm of the hub.
const (
	liveQueue   = 16
	livePoll    = time.Second
	liveGap     = 250 * time.Millisecond // between two looks
	liveRecheck = 10 * time.Second       // sessions and roles are read again at least so often
	liveLinger  = 5 * time.Second        // without a listener: a browser that changes pages is back soon
)

func newHub(c Config) *hub {
	return &hub{store: c.Store, log: c.Log, stopping: c.Stopping, perUser: livePerUser, limit: livePerServe, open: map[*listener]struct{}{}}
}

// join adds the stream of a visit. Too many are refused with 429 or 503.
func (h *hub) join(ctx context.Context, v *Visit) (*listener, error) {
	l := &listener{session: v.TokenHash(), queue: make(chan string, liveQueue), gone: make(chan struct{}), hub: h}
	holding, err := h.store.ListHolding(ctx, [][]byte{l.session})
	if err != nil {
		return nil, err
	}
	viewer, ok := holding[string(l.session)]
	if !ok {
		return nil, echo.NewHTTPError(http.StatusForbidden)
	}
	l.viewer = viewer
	begun, err := h.add(l)
	if err != nil {
		return nil, err
	}
	select {
	case <-begun:
	case <-ctx.Done():
	}
	l.from = l.mark()
	return l, nil
}

func (h *hub) add(l *listener) (begun <-chan struct{}, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-h.stopping:
		return nil, echo.NewHTTPError(http.StatusServiceUnavailable)
	default:
	}
	if len(h.open) >= h.limit {
		return nil, echo.NewHTTPError(http.StatusServiceUnavailable)
	}
	own := 0
	for o := range h.open {
		if o.viewer.ID == l.viewer.ID {
			own++
		}
	}
	if own >= h.perUser {
		return nil, echo.NewHTTPError(http.StatusTooManyRequests)
	}
	h.open[l] = struct{}{}
	if !h.running {
		h.running, h.begun = true, make(chan struct{})
		go h.run(h.begun)
	}
	return h.begun, nil
}

// leave takes a stream out.
func (h *hub) leave(l *listener) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.open, l)
}

// drop lets a stream go; the caller holds the lock.
func (h *hub) drop(l *listener, why ended) {
	if _, ok := h.open[l]; ok {
		delete(h.open, l)
		l.why = why
		close(l.gone)
	}
}

// mark is up to where the stream's viewer has been told.
func (l *listener) mark() string {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	return l.hub.upTo
}

// sees is who looks, as they stand now.
func (l *listener) sees() store.Viewer {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	return l.viewer
}

// idle reports that nobody listens, and if so ends the run.
func (h *hub) idle() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.open) > 0 {
		return false
	}
	h.running, h.upTo = false, ""
	return true
}

// tell hands news to everybody who may know of them.
func (h *hub) tell(n store.News) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.upTo = n.Mark
	for l := range h.open {
		e := eventFor(n, l.viewer)
		if e.empty() {
			continue
		}
		select {
		case l.queue <- event("change", n.Mark, e):
		default:
			h.drop(l, endedSlow)
		}
	}
}

// recheck reads sessions and roles of all listeners again, in one query. Who is no longer
// signed in is let go; who may see other things now is told to look again.
func (h *hub) recheck(ctx context.Context) {
	h.mu.Lock()
	var hashes [][]byte
	for l := range h.open {
		hashes = append(hashes, l.session)
	}
	h.mu.Unlock()
	holding, err := h.store.ListHolding(ctx, hashes)
	if err != nil {
		h.log.Warn("sessions behind open pages not read", "err", err)
		return // what a page then asks for is checked by itself
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for l := range h.open {
		v, ok := holding[string(l.session)]
		switch {
		case !ok && asked(hashes, l.session):
			h.drop(l, endedAccess)
		case ok && !sameRights(v, l.viewer):
			l.viewer = v
			select {
			case l.queue <- event("change", "", liveEvent{All: true}):
			default:
				h.drop(l, endedSlow)
			}
		}
	}
}

func asked(hashes [][]byte, session []byte) bool {
	for _, x := range hashes {
		if string(x) == string(session) {
			return true
		}
	}
	return false
}

func sameRights(a, b store.Viewer) bool {
	if len(a.Flows) != len(b.Flows) {
		return false
	}
	for flow, roles := range a.Flows {
		if !sameRoles(roles, b.Flows[flow]) {
			return false
		}
	}
	return true
}

func sameRoles(a, b []operation.Role) bool {
	seen := map[operation.Role]bool{}
	for _, r := range a {
		seen[r] = true
	}
	for _, r := range b {
		if !seen[r] {
			return false
		}
	}
	return len(a) == len(b)
}

// dropAll lets everybody go.
func (h *hub) dropAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for l := range h.open {
		h.drop(l, endedSlow)
	}
	h.running, h.upTo = false, ""
}
