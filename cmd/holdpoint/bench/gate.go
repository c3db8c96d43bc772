package bench

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
)

// slice is what one timed slice gave.
type slice struct {
	perSecond float64
	latencies []time.Duration // of whole cycles
	foreign   float64         // share of the CPU that others used
	cpu       float64         // seconds of the CPU that this process and all below it used
}

// timed runs step in n workers for a time and counts how often it came to its end.
func timed(ctx context.Context, n int, d time.Duration, step func(ctx context.Context) error) (slice, error) {
	watch, used := watchCPU(), ownTicks()
	var done atomic.Int64
	var wg sync.WaitGroup
	lat := make([][]time.Duration, n)
	errs := make(chan error, n)
	start := time.Now()
	end := start.Add(d)
	for i := range n {
		wg.Go(func() {
			// Once at least: on a busy machine the time may be over before the first step.
			for first := true; (first || time.Now().Before(end)) && ctx.Err() == nil; first = false {
				t := time.Now()
				if err := step(ctx); err != nil {
					errs <- err
					return
				}
				lat[i] = append(lat[i], time.Since(t))
				done.Add(1)
			}
		})
	}
	wg.Wait()
	took := time.Since(start)
	s := slice{perSecond: float64(done.Load()) / took.Seconds(), foreign: watch(), cpu: (ownTicks() - used) / ticksPerSecond}
	for _, l := range lat {
		s.latencies = append(s.latencies, l...)
	}
	select {
	case err := <-errs:
		return s, err
	default:
		return s, ctx.Err()
	}
}

func received() store.Received {
	key := rand.Text()
	body := fmt.Sprintf(`{"id":"%s","customer":"customer-%s","topic":"bench"}`, key, key[:8])
	return store.Received{Source: "api", Account: "bench", Topic: "bench", EventKey: key, DeliveryKey: key, Body: []byte(body),
		Data: map[string]any{"id": key, "customer": "customer-" + key[:8], "topic": "bench"}, Status: 202}
}

// intake is one event with its run and operation.
func (h *house) intake(ctx context.Context) (store.Drafted, error) {
	r, err := h.st.Receive(ctx, store.System("api"), received())
	if err != nil {
		return store.Drafted{}, fmt.Errorf("receive: %w", err)
	}
	if len(r.Drafted) != 1 || r.Drafted[0].Hash == "" {
		return store.Drafted{}, fmt.Errorf("receive: %+v", r)
	}
	return r.Drafted[0], nil
}

func (h *house) approve(ctx context.Context, d store.Drafted) error {
	err := h.st.Decide(ctx, h.approver, store.Decided{Operation: d.Operation, Version: d.Version, Hash: d.Hash, Revision: 1, Decision: operation.Approve, FormID: rand.Text()})
	if err != nil {
		return fmt.Errorf("approve: %w", err)
	}
	return nil
}

// cycle is the full gate cycle: create, approve, claim and dispatch, record.
func (h *house) cycle(ctx context.Context) error {
	d, err := h.intake(ctx)
	if err != nil {
		return err
	}
	if err := h.approve(ctx, d); err != nil {
		return err
	}
	job := store.Job("bench")
	a, err := h.st.ClaimAndDispatch(ctx, job, d.Operation, "bench")
	if err != nil {
		return fmt.Errorf("claim: %w", err)
	}
	r := operation.Result{Outcome: operation.OutcomeConfirmed, TargetReference: "T-" + rand.Text(), Proof: operation.Proof{Code: "confirmed", Phase: operation.PhaseComplete, Status: 201, Written: 400}}
	rec, err := h.st.Record(ctx, job, a.Attempt, a.Fence, r)
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	if rec.State != operation.Confirmed {
		return fmt.Errorf("record: state %s", rec.State)
	}
	return nil
}
