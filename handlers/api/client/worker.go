package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Worker runs the loop permit – dispatch – act – report for one destination.
type Worker struct {
	Client      *Client
	Destination string
	Name        string // for people
	AtOnce      int    // how many attempts at once; 0 = 1
	// Idle is how long to wait when there is nothing to do; 0 = 1 s.
	Idle time.Duration
	// Act sends permit.Request once and says what became of it. Its context ends when
	// nothing may be sent any more. An Act that panics counts as unknown.
	Act func(ctx context.Context, p Permit) Report
	// Told is called with what each report counted as; nil = nobody wants to know.
	Told func(Claim, Recorded, error)
}

// Run works until ctx ends. Attempts in flight are finished and reported then. It only
// gives an error of a kind that waiting does not mend: a token that is refused, or a
// destination that is not found.
func (w Worker) Run(ctx context.Context) error {
	idle := w.Idle
	if idle <= 0 {
		idle = time.Second
	}
	for ctx.Err() == nil {
		n, err := w.Once(ctx)
		var p *Problem
		if errors.As(err, &p) && p.Status >= 400 && p.Status < 500 && p.Status != 409 && p.Status != 429 {
			return err
		}
		if n > 0 && err == nil {
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(idle):
		}
	}
	return nil
}

// Once claims what is permitted now, carries it out, and gives the number of attempts.
func (w Worker) Once(ctx context.Context) (int, error) {
	claims, err := w.Client.Claims(ctx, w.Destination, w.Name, max(w.AtOnce, 1))
	if err != nil {
		return 0, err
	}
	var wg sync.WaitGroup
	for _, cl := range claims {
		wg.Go(func() {
			rec, err := w.Client.Carry(context.WithoutCancel(ctx), cl, w.Act)
			if w.Told != nil {
				w.Told(cl, rec, err)
			}
		})
	}
	wg.Wait()
	return len(claims), nil
}

// Carry dispatches a claim, lets act send, and reports. A refusal of the dispatch means
// that nothing was sent and nothing needs to be reported.
func (c *Client) Carry(ctx context.Context, cl Claim, act func(context.Context, Permit) Report) (Recorded, error) {
	p, err := c.dispatchUntilTold(ctx, cl)
	if err != nil {
		return Recorded{}, err
	}
	if p.Left() <= 0 {
		// Dispatched, but not sent. Only the destination could prove that; so it is unknown.
		return c.ReportUntilTold(ctx, cl, Report{Code: "send_by_passed"})
	}
	beating, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { c.beat(beating, cl) })
	r := try(ctx, p, act)
	stop()
	wg.Wait()
	reporting, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	return c.ReportUntilTold(reporting, cl, r)
}

// dispatchUntilTold repeats a dispatch whose answer was lost, while the lease lasts:
// the same fence gets the same answer.
func (c *Client) dispatchUntilTold(ctx context.Context, cl Claim) (Permit, error) {
	ctx, cancel := context.WithDeadline(ctx, cl.LeaseUntil)
	defer cancel()
	for {
		p, err := c.Dispatch(ctx, cl, Presented{})
		var problem *Problem
		if err == nil || errors.As(err, &problem) && problem.Status < 500 {
			return p, err
		}
		select {
		case <-ctx.Done():
			return p, err
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// try runs act within the time that is left.
func try(ctx context.Context, p Permit, act func(context.Context, Permit) Report) (r Report) {
	ctx, cancel := context.WithTimeout(ctx, p.Left())
	defer cancel()
	defer func() {
		if what := recover(); what != nil {
			r = Report{Code: "panic", Excerpt: fmt.Sprint(what)}
		}
	}()
	return act(ctx, p)
}

// beat keeps the lease while act runs; it gives up silently, the gate notices.
func (c *Client) beat(ctx context.Context, cl Claim) {
	every := max(time.Until(cl.LeaseUntil)/3, time.Second)
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(every):
		}
		if _, err := c.Heartbeat(ctx, cl); err != nil {
			if _, refused := Refused(err); refused {
				return
			}
		}
	}
}
