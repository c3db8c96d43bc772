package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"holdpoint/operation"
	"holdpoint/store"

	"github.com/labstack/echo/v4"
)

// LiveHeader marks a page's own request for the present state of what it shows. Such a
// request is nobody's use of the page: it keeps no session alive and takes no messages.
const LiveHeader = "Holdpoint-Live"

// PathLive is where open pages learn of changes.
const PathLive = "/live"

// isLive reports a request that a page makes by itself.
func isLive(r *http.Request) bool {
	return r.Header.Get(LiveHeader) != "" || r.URL.Path == PathLive
}

// How a stream behaves.
const (
	liveBeat     = 20 * time.Second // a line at least so often: proxies and browsers see that it lives
	liveWrite    = 15 * time.Second // how long one line may take to be taken
	liveRetry    = 2 * time.Second  // when a browser comes back by itself
	livePerUser  = 12               // open streams of one person in this process
	livePerServe = 2000             // of all
)

// liveEvent is what a page is told: what changed, by identifier and revision, never what
// it holds now. The page asks for itself again.
type liveEvent struct {
	Operations []liveChange `json:"operations,omitempty"`
	Inbox      bool         `json:"inbox,omitempty"` // a decision came up or went away
	All        bool         `json:"all,omitempty"`   // more may have changed
}

// liveChange is one operation that changed; without an ID, the run alone did.
type liveChange struct {
	ID       operation.ID    `json:"id,omitempty"`
	Run      operation.RunID `json:"run"`
	Revision int64           `json:"revision,omitempty"`
	New      bool            `json:"new,omitempty"`
}

// eventFor is what this viewer may know of the news.
func eventFor(n store.News, v store.Viewer) liveEvent {
	e := liveEvent{All: n.All}
	for _, c := range n.Changes {
		if c.SeenBy(v) {
			e.Inbox = e.Inbox || c.Inbox
			e.Operations = append(e.Operations, liveChange{ID: c.Operation, Run: c.Run, Revision: c.Revision, New: c.New})
		}
	}
	return e
}

func (e liveEvent) empty() bool { return !e.All && len(e.Operations) == 0 }

// Live keeps a stream of changes open for a page of the signed-in person, as server-sent
// events. It ends when the session does, when this server stops, or when the browser does
// not keep up; the browser then comes back and is told what it missed.
func Live(c echo.Context) error {
	f, v := frameOf(c), VisitOf(c)
	l, err := f.live.join(c.Request().Context(), v)
	if err != nil {
		return err
	}
	defer f.live.leave(l)
	ctrl := http.NewResponseController(c.Response())
	if err := ctrl.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // nginx: hand on every line at once
	c.Response().WriteHeader(http.StatusOK)
	s := stream{c: c, ctrl: ctrl}
	n := f.live.missed(c, l)
	if err := s.open(n.Mark, eventFor(n, l.sees())); err != nil {
		return nil // the browser went away
	}
	s.follow(l)
	return nil
}

// missed is what the page does not know yet: since the last line that the browser got,
// or since the page was made.
func (h *hub) missed(c echo.Context, l *listener) store.News {
	ctx, r := c.Request().Context(), c.Request()
	mark := r.Header.Get("Last-Event-ID")
	if mark == "" {
		mark = r.URL.Query().Get("after")
	}
	var n store.News
	var err error
	if mark != "" {
		n, err = h.store.NewsAfter(ctx, mark)
	} else {
		at := time.Now()
		if ms, bad := strconv.ParseInt(r.URL.Query().Get("at"), 10, 64); bad == nil && time.Since(time.UnixMilli(ms)) < 30*24*time.Hour {
			at = time.UnixMilli(ms)
		}
		n, err = h.store.NewsSince(ctx, at)
	}
	if err != nil {
		h.log.Warn("what a page missed is not known; it looks again", "id", RequestID(c), "err", err)
		n = store.News{All: true}
	}
	n.Mark = l.from // what came later is in the queue
	return n
}

// stream writes events to one browser.
type stream struct {
	c    echo.Context
	ctrl *http.ResponseController
}

// open says how long to wait before coming back, and what was missed.
func (s stream) open(mark string, e liveEvent) error {
	text := fmt.Sprintf("retry: %d\n\n", liveRetry.Milliseconds())
	if e.empty() {
		return s.write(text + event("beat", mark, struct{}{}))
	}
	return s.write(text + event("change", mark, e))
}

// follow hands on what the hub says until either side ends.
func (s stream) follow(l *listener) {
	beat := time.NewTicker(liveBeat)
	defer beat.Stop()
	for {
		select {
		case <-s.c.Request().Context().Done():
			return
		case <-l.gone:
			if l.why == endedAccess {
				_ = s.write(event("end", "", struct{}{}))
			}
			return
		case m := <-l.queue:
			if s.write(m) != nil {
				return
			}
		case <-beat.C:
			if s.write(event("beat", l.mark(), struct{}{})) != nil {
				return
			}
		}
	}
}

// write sends text at once. Each piece has its own deadline: the stream outlives what the
// server grants an ordinary answer, and a browser that takes nothing does not hold it.
func (s stream) write(text string) error {
	if err := s.ctrl.SetWriteDeadline(time.Now().Add(liveWrite)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := s.c.Response().Write([]byte(text)); err != nil {
		return err
	}
	return s.ctrl.Flush()
}

// event writes one event; an empty id leaves the browser's as it is.
func event(kind, id string, data any) string {
	b, err := json.Marshal(data)
	if err != nil {
		panic(err) // identifiers and numbers
	}
	text := "event: " + kind + "\ndata: " + string(b) + "\n\n"
	if id != "" {
		text = "id: " + id + "\n" + text
	}
	return text
}

// liveContext ends with the server.
func liveContext(stopping <-chan struct{}) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	if stopping != nil {
		go func() {
			select {
			case <-stopping:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	return ctx, cancel
}
