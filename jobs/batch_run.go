package jobs

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
)

// How a batch is worked on.
const (
	// collectFor is how long outcomes wait for others before they are recorded together.
	collectFor = 20 * time.Millisecond
	// gatherFor is how long a claim waits for more free hands.
	gatherFor = 3 * time.Millisecond
	// batchLook is how often a batch is looked at when nothing tells of it.
	batchLook = time.Second
	// askAgain is after how long an operation is asked for again that was due and refused.
	askAgain = 5 * time.Second
)

// batches is what a worker does for batches: one loop that finds those that run, and one for
// each of them.
type batches struct {
	w     *Worker
	hands chan struct{} // attempts of batches in this process, until they are recorded
	mu    sync.Mutex
	runs  map[operation.BatchID]*batchRun
	all   sync.WaitGroup
}

// batchRun is one batch that this process works on. Others may work on it at the same time.
type batchRun struct {
	*batches
	id       operation.BatchID
	log      *slog.Logger
	woken    chan struct{}
	low      chan struct{} // few items are ready
	ahead    atomic.Bool   // items are released ahead of their claims
	done     chan recordable
	flying   atomic.Int32 // claimed, and the destination has not answered
	open     atomic.Int32 // claimed, and not recorded
	attempts sync.WaitGroup
	refused  map[operation.ID]time.Time
}

// runBatches works until the worker stops.
func (w *Worker) runBatches() {
	b := &batches{w: w, hands: make(chan struct{}, w.cfg.Effects), runs: map[operation.BatchID]*batchRun{}}
	hints := make(chan struct{}, 1)
	if !w.cfg.PollOnly {
		go w.store.Listen(w.stopping, func() { wake(hints) })
	}
	defer b.all.Wait()
	for {
		list, err := w.store.RunningBatches(w.stopping)
		if err != nil && w.stopping.Err() == nil {
			w.log.Warn("batches cannot be looked for; it is tried again", "error", err)
		}
		for _, r := range list {
			b.begin(r)
		}
		select {
		case <-w.stopping.Done():
			return
		case <-hints:
		case <-time.After(batchLook):
		}
	}
}

// wake says something to whoever listens, without waiting.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// begin starts to work on a batch, or wakes the loop that does.
func (b *batches) begin(x store.RunningBatch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r := b.runs[x.ID]; r != nil {
		wake(r.woken)
		return
	}
	r := &batchRun{batches: b, id: x.ID, log: b.w.log.With("batch", x.ID, "destination", x.Destination), woken: make(chan struct{}, 1), low: make(chan struct{}, 1),
		done: make(chan recordable, cap(b.hands)), refused: map[operation.ID]time.Time{}}
	b.runs[x.ID] = r
	b.all.Go(func() {
		r.run(x.Destination)
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.runs, x.ID)
	})
}

// run works on the batch until it is over, or until the worker stops. What was begun is
// finished and recorded before it returns.
func (r *batchRun) run(destination string) {
	var helpers sync.WaitGroup
	ctx, cancel := context.WithCancel(r.w.stopping)
	helpers.Go(func() { r.release(ctx) })
	recorded := make(chan struct{})
	go func() { r.record(); close(recorded) }()
	for ctx.Err() == nil {
		over, idle := r.step(ctx, destination)
		if over {
			break
		}
		if idle {
			r.wait(ctx)
		}
	}
	cancel()
	helpers.Wait()
	r.attempts.Wait()
	close(r.done)
	<-recorded
}

// wait waits until something happens to the batch.
func (r *batchRun) wait(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-r.woken:
	case <-time.After(batchLook):
	}
}

// step takes free hands, claims as many operations, and lets them go. over: nothing is left to
// do for a runner. idle: nothing was due.
func (r *batchRun) step(ctx context.Context, destination string) (over, idle bool) {
	dest, err := r.w.dests.find(ctx, destination)
	if err != nil {
		r.log.Error("destination cannot be used", "error", err)
		return false, true
	}
	free := r.gather(ctx, dest)
	if len(free) == 0 {
		return false, ctx.Err() == nil && len(r.hands) < cap(r.hands)
	}
	before := time.Now()
	c, err := r.claim(ctx, len(free))
	if err != nil {
		giveBack(free)
		if ctx.Err() == nil {
			r.log.Warn("no group could be claimed; nothing was sent", "error", err)
		}
		return false, true
	}
	if len(c.Dispatched) > 0 {
		r.log.Debug("group claimed", "operations", len(c.Dispatched), "hands", len(free))
	}
	for i, d := range c.Dispatched {
		r.send(d, before, free[i])
	}
	giveBack(free[len(c.Dispatched):])
	r.noteRefused(c)
	for _, id := range c.Alone {
		r.attempts.Go(func() { _ = r.w.execute(ctx, id, destination) })
	}
	if len(c.Dispatched) < len(free) {
		wake(r.low)
	}
	if len(c.Dispatched) > 0 {
		return false, false
	}
	return r.finished(ctx, c.Why), true
}

// claim takes what is due: operations that are there already, or else the next items.
func (r *batchRun) claim(ctx context.Context, n int) (store.GroupClaimed, error) {
	except := r.passedOver()
	c, err := r.w.store.ReleaseAndClaim(ctx, r.w.actor, r.id, n, r.w.cfg.Name, except...)
	if err != nil {
		return c, err
	}
	r.ahead.Store(c.Ahead)
	if !c.Due || len(c.Dispatched) > 0 {
		return c, nil
	}
	return r.w.store.ClaimGroup(ctx, r.w.actor, r.id, n, r.w.cfg.Name, except...)
}

// finished moves the batch on when nothing of it is due, and tells whether it needs a runner
// no more.
func (r *batchRun) finished(ctx context.Context, why *operation.Refusal) bool {
	if why != nil && why.Code == operation.CodeBatchStopped {
		for ctx.Err() == nil {
			n, err := r.w.store.GiveUpGroup(ctx, r.w.actor, r.id, store.ReleaseAhead)
			if err != nil {
				r.log.Warn("the rest of a stopped batch is not cancelled yet", "error", err)
			}
			if n == 0 || err != nil {
				break
			}
		}
	}
	if r.open.Load() > 0 {
		return false
	}
	state, err := r.w.store.AdvanceBatch(ctx, r.w.actor, r.id)
	switch {
	case err != nil:
		if ctx.Err() == nil {
			r.log.Warn("the batch is not moved on yet", "error", err)
		}
		return false
	case state.Cleared():
		return false
	}
	r.log.Info("the batch needs no worker", "state", state)
	return true
}

// release keeps some items ready ahead of the workers, where they do not release what they
// claim.
func (r *batchRun) release(ctx context.Context) {
	for ctx.Err() == nil {
		released, err := 0, error(nil)
		if r.ahead.Load() {
			released, err = r.releaseAhead(ctx)
		}
		if err != nil && ctx.Err() == nil {
			r.log.Warn("no items could be released; it is tried again", "error", err)
		}
		if released > 0 {
			wake(r.woken)
			continue
		}
		select {
		case <-ctx.Done():
		case <-r.low:
		case <-time.After(batchLook / 4):
		}
	}
}

func (r *batchRun) releaseAhead(ctx context.Context) (int, error) {
	n, err := r.w.store.BatchBacklog(ctx, r.id, store.ReleaseAhead)
	if err != nil || n >= store.ReleaseAhead {
		return 0, err
	}
	return r.w.store.ReleaseBatch(ctx, r.w.actor, r.id, store.ReleaseAhead)
}

// passedOver are the operations that were refused a moment ago.
func (r *batchRun) passedOver() []operation.ID {
	var out []operation.ID
	for id, at := range r.refused {
		if time.Since(at) > askAgain {
			delete(r.refused, id)
			continue
		}
		out = append(out, id)
	}
	return out
}

func (r *batchRun) noteRefused(c store.GroupClaimed) {
	for _, x := range c.Refused {
		r.w.metrics.refused.WithLabelValues(string(x.Refusal.Code)).Inc()
		r.refused[x.Operation] = time.Now()
	}
	for _, id := range c.Alone {
		r.refused[id] = time.Now()
	}
}
