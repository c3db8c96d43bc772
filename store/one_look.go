package store

import (
	"context"
	"sync"

	"holdpoint/operation"
)

type lookKey struct{}

// glance is what one request has read of who looks. Every request reads it anew.
type glance struct {
	mu      sync.Mutex
	viewers map[operation.UserID]Viewer
	waiting map[operation.UserID]int
}

// OneLook gives a context in which who looks, and how much waits for them, is read once:
// a page asks for both several times. It is meant for one request that only reads; what is
// committed in it makes it read again.
func OneLook(ctx context.Context) context.Context {
	return context.WithValue(ctx, lookKey{}, &glance{viewers: map[operation.UserID]Viewer{}, waiting: map[operation.UserID]int{}})
}

// lookOf gives the request's look; nil = each read is made.
func lookOf(ctx context.Context, a Actor) *glance {
	l, _ := ctx.Value(lookKey{}).(*glance)
	if l == nil || a.Kind != operation.ActorPerson || HasCommitted(ctx) {
		return nil
	}
	return l
}

// looked gives what this request has read already; l may be nil.
func looked[T any](l *glance, of func(*glance) map[operation.UserID]T, a Actor) (x T, ok bool) {
	if l == nil {
		return x, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	x, ok = of(l)[operation.UserID(a.ID)]
	return x, ok
}

// keepLook keeps what was read for the rest of this request; l may be nil.
func keepLook[T any](l *glance, of func(*glance) map[operation.UserID]T, a Actor, x T) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	of(l)[operation.UserID(a.ID)] = x
}

func lookViewers(l *glance) map[operation.UserID]Viewer { return l.viewers }
func lookWaiting(l *glance) map[operation.UserID]int    { return l.waiting }
