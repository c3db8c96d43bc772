package web

import (
	"context"
	"time"

	"holdpoint/store"
)

// run looks at the history for all listeners until nobody is left or the server stops.
// begun is closed once it knows where it begins.
func (h *hub) run(begun chan struct{}) {
	ctx, cancel := liveContext(h.stopping)
	defer cancel()
	hints := make(chan struct{}, 1)
	go h.store.Listen(ctx, func() {
		select {
		case hints <- struct{}{}:
		default: // one is waiting already
		}
	})
	r := round{h: h, checked: time.Now()}
	r.begin(ctx)
	close(begun)
	empty := time.Time{}
	tick := time.NewTicker(livePoll)
	defer tick.Stop()
	for {
		hinted := false
		select {
		case <-ctx.Done():
			h.dropAll()
			return
		case <-tick.C:
		case <-hints:
			hinted = true
		}
		if h.count() > 0 {
			empty = time.Time{}
		} else if empty.IsZero() {
			empty = time.Now()
		} else if time.Since(empty) > liveLinger && h.idle() {
			return
		}
		if empty.IsZero() {
			r.look(ctx, hinted)
		}
		select { // many hints are one
		case <-ctx.Done():
		case <-time.After(liveGap):
		}
	}
}

func (h *hub) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.open)
}

// round is what run keeps between two looks.
type round struct {
	h       *hub
	follow  *store.Follower // nil = where to begin is not known yet
	broken  bool            // the last look failed
	checked time.Time       // of sessions and roles
	hinted  bool            // a hint came since: a session may have ended
}

// begin finds the present end of the history. Without an answer of the database it is
// looked for again, and everybody is told that anything may have changed.
func (r *round) begin(ctx context.Context) {
	f, err := r.h.store.Follow(ctx)
	if err != nil {
		r.broken = true
		return
	}
	r.follow = f
	r.h.mu.Lock()
	r.h.upTo = f.Mark()
	r.h.mu.Unlock()
}

func (r *round) look(ctx context.Context, hinted bool) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if r.follow == nil {
		if r.begin(ctx); r.follow == nil {
			return
		}
	}
	n, err := r.follow.Next(ctx)
	if err != nil {
		if !r.broken && ctx.Err() == nil {
			r.h.log.Warn("open pages are not told of changes while the database is away", "err", err)
		}
		r.broken = true
		return
	}
	if r.broken {
		n.All, n.Access, r.broken = true, true, false
	}
	since := time.Since(r.checked)
	r.hinted = r.hinted || hinted
	if n.Access || since > liveRecheck || r.hinted && since > livePoll {
		r.checked, r.hinted = time.Now(), false
		r.h.recheck(ctx)
	}
	r.h.tell(n)
}
