package connector

import (
	"context"

	"golang.org/x/time/rate"
)

// Limiter holds back how many attempts one process makes at one destination: at once,
// and per time. Take a token before the claim, so that no attempt waits while its lease
// runs.
type Limiter struct {
	slots chan struct{}
	rate  *rate.Limiter
}

// NewLimiter gives a limiter. concurrency 0 means one at a time; perSecond 0 means no
// limit per time. burst is how many may start together after a pause, at least 1.
func NewLimiter(concurrency int, perSecond float64, burst int) *Limiter {
	l := &Limiter{slots: make(chan struct{}, max(concurrency, 1))}
	if perSecond > 0 {
		l.rate = rate.NewLimiter(rate.Limit(perSecond), max(burst, 1))
	}
	return l
}

// Acquire waits for a slot and a token. release gives the slot back and may be called
// any number of times. The error is the context's, or says that its deadline comes
// before the next token.
func (l *Limiter) Acquire(ctx context.Context) (release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case l.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if l.rate != nil {
		if err := l.rate.Wait(ctx); err != nil {
			<-l.slots
			return nil, err
		}
	}
	return l.releaser(), nil
}

// TryAcquire is Acquire without waiting; ok is false when it would have to wait.
func (l *Limiter) TryAcquire() (release func(), ok bool) {
	select {
	case l.slots <- struct{}{}:
	default:
		return nil, false
	}
	if l.rate != nil && !l.rate.Allow() {
		<-l.slots
		return nil, false
	}
	return l.releaser(), true
}

func (l *Limiter) releaser() func() {
	given := make(chan struct{}, 1)
	given <- struct{}{}
	return func() {
		select {
		case <-given:
			<-l.slots
		default:
		}
	}
}
