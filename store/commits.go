package store

import (
	"context"
	"sync/atomic"
)

type commitsKey struct{}

// WatchCommits gives a context for which it is noted that a transaction was committed:
// a page that fails afterwards must not say that nothing was changed.
func WatchCommits(ctx context.Context) context.Context {
	return context.WithValue(ctx, commitsKey{}, new(atomic.Bool))
}

// HasCommitted reports whether a transaction was committed since WatchCommits.
func HasCommitted(ctx context.Context) bool {
	b, ok := ctx.Value(commitsKey{}).(*atomic.Bool)
	return ok && b.Load()
}

func noteCommit(ctx context.Context) {
	if b, ok := ctx.Value(commitsKey{}).(*atomic.Bool); ok {
		b.Store(true)
	}
}
