package web

import (
	"context"
	"net/http"
	"sync"
	"time"

	"holdpoint/operation"

	"github.com/labstack/echo/v4"
)

const (
	// uploadsAtOnce bounds how many forms with files are held in memory at once: each may
	// bring 20 MiB, as slowly as a request may come.
	uploadsAtOnce = 6
	// uploadsEach bounds how many of these may be one person's.
	uploadsEach = 2
	// uploadWait is how long a form waits for its turn.
	uploadWait = 10 * time.Second
)

// uploading gives forms with files their turn.
type uploading struct {
	mu   sync.Mutex
	all  int
	each map[operation.UserID]int
}

// enter waits for a turn, which leave ends; who waits too long is refused with 503.
func (u *uploading) enter(ctx context.Context, who operation.UserID) error {
	ctx, cancel := context.WithTimeoutCause(ctx, uploadWait, echo.NewHTTPError(http.StatusServiceUnavailable))
	defer cancel()
	look := time.NewTicker(25 * time.Millisecond)
	defer look.Stop()
	for !u.take(who) {
		select {
		case <-look.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (u *uploading) take(who operation.UserID) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.all >= uploadsAtOnce || u.each[who] >= uploadsEach {
		return false
	}
	if u.each == nil {
		u.each = map[operation.UserID]int{}
	}
	u.all++
	u.each[who]++
	return true
}

func (u *uploading) leave(who operation.UserID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.all--
	if u.each[who]--; u.each[who] == 0 {
		delete(u.each, who)
	}
}
