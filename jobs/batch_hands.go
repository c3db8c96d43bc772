package jobs

import (
	"context"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
)

// hand is one attempt that may run: a place in this process, which is taken until the outcome
// is recorded, and a token of the destination, which is given back with its answer.
type hand struct {
	place func()
	token func()
}

func giveBack(hands []hand) {
	for _, h := range hands {
		h.token()
		h.place()
	}
}

// gather waits for a free hand, and takes all that come free within a moment. Tokens are
// taken before the claim, so that no lease runs while an attempt waits for one.
func (r *batchRun) gather(ctx context.Context, d *destination) []hand {
	place, ok := r.place(ctx)
	if !ok {
		return nil
	}
	wait, cancel := context.WithTimeout(ctx, batchLook)
	token, err := d.limiter.Acquire(wait)
	cancel()
	if err != nil {
		place()
		return nil
	}
	hands := []hand{{place, token}}
	hands = append(hands, r.more(d)...)
	if r.flying.Load() == 0 {
		return hands
	}
	select {
	case <-ctx.Done():
	case <-time.After(gatherFor):
	}
	return append(hands, r.more(d)...)
}

// more takes the hands that are free now.
func (r *batchRun) more(d *destination) (out []hand) {
	for {
		select {
		case r.hands <- struct{}{}:
		default:
			return out
		}
		token, ok := d.limiter.TryAcquire()
		if !ok {
			<-r.hands
			return out
		}
		out = append(out, hand{func() { <-r.hands }, token})
	}
}

// place waits for a place in this process.
func (r *batchRun) place(ctx context.Context) (release func(), ok bool) {
	select {
	case r.hands <- struct{}{}:
		return func() { <-r.hands }, true
	case <-ctx.Done():
		return nil, false
	}
}

// recordable is an outcome with what is given back when it is recorded.
type recordable struct {
	store.Dispatched
	result operation.Result
	place  func()
}

// send sends what was dispatched, once. before was taken before the dispatch call.
func (r *batchRun) send(d store.Dispatched, before time.Time, h hand) {
	r.flying.Add(1)
	r.open.Add(1)
	r.attempts.Go(func() {
		result := r.act(d, before)
		h.token()
		r.flying.Add(-1)
		r.done <- recordable{d, result, h.place}
	})
}

func (r *batchRun) act(d store.Dispatched, before time.Time) operation.Result {
	w := r.w
	dest, err := w.dests.at(d.Profile)
	if err != nil {
		return operation.Result{Outcome: operation.OutcomeNotStarted, Proof: operation.Proof{Code: "destination_unusable", Phase: operation.PhaseBlocked, Detail: err.Error()}}
	}
	w.metrics.inFlight.WithLabelValues(d.Destination).Inc()
	defer w.metrics.inFlight.WithLabelValues(d.Destination).Dec()
	result := dest.conn.Act(w.hard, orderOf(d, before))
	w.metrics.attempted(d.Destination, result, time.Since(before))
	return result
}
