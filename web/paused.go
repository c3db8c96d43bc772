package web

import (
	"context"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
)

// pausedFor is how long an answer to "are all sends paused?" is good for: a page may
// be so late with it in another process. It is a notice only; the gate asks anew.
const pausedFor = 2 * time.Second

// pausedCache asks the record at most once per pausedFor.
type pausedCache struct {
	mu     sync.Mutex
	paused bool
	at     time.Time
}

func (f *frame) sendsPaused(ctx context.Context) bool {
	f.paused.mu.Lock()
	defer f.paused.mu.Unlock()
	if !f.paused.at.IsZero() && time.Since(f.paused.at) < pausedFor {
		return f.paused.paused
	}
	now, err := f.Store.AllPaused(ctx)
	if err != nil {
		f.Log.Warn("whether all sends are paused is not known", "err", err)
		return f.paused.paused
	}
	f.paused.paused, f.paused.at = now, time.Now()
	return now
}

// PauseChanged makes the next page of this process ask anew whether all sends are paused.
func PauseChanged(c echo.Context) {
	p := &frameOf(c).paused
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at = time.Time{}
}
