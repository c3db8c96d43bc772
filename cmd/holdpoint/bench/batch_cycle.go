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

// wholeBatch takes a batch of n items the whole way, as one process does that has so many
// hands: each outcome is known the moment after the claim.
func (b *batchBench) wholeBatch(ctx context.Context, n int) error {
	id, err := b.create(ctx, n)
	if err != nil {
		return err
	}
	if err := b.approveBatch(ctx, id); err != nil {
		return err
	}
	job := store.Job("bench")
	for done := 0; done < n; {
		k, err := b.group(ctx, job, id)
		if err != nil {
			return err
		}
		if k == 0 {
			return fmt.Errorf("%d of %d items were recorded, and no more is due", done, n)
		}
		done += k
	}
	t := time.Now()
	state, err := b.st.AdvanceBatch(ctx, job, id)
	if err == nil && state != operation.BatchClosed {
		err = fmt.Errorf("the batch is %s", state)
	}
	b.step("advance", t)
	return err
}

// group releases, claims and records one group.
func (b *batchBench) group(ctx context.Context, job store.Actor, id operation.BatchID) (int, error) {
	t := time.Now()
	c, err := b.st.ReleaseAndClaim(ctx, job, id, b.o.Hands, "bench")
	if err != nil || len(c.Dispatched) == 0 {
		return 0, err
	}
	b.step("claim", t)
	outcomes := make([]store.Outcome, len(c.Dispatched))
	for i, d := range c.Dispatched {
		outcomes[i] = store.Outcome{Operation: d.Operation, Attempt: d.Attempt, Fence: d.Fence, Result: operation.Result{Outcome: operation.OutcomeConfirmed, TargetReference: "T-" + rand.Text(),
			Proof: operation.Proof{Code: "confirmed", Phase: operation.PhaseComplete, Status: 201, Written: 400}}}
	}
	t = time.Now()
	rec, err := b.st.RecordGroup(ctx, job, id, outcomes)
	if err != nil {
		return 0, fmt.Errorf("record: %w", err)
	}
	b.step("record", t)
	b.recorded.Add(int64(len(rec)))
	for _, r := range rec {
		if r.Err != nil || r.State != operation.Confirmed {
			return 0, fmt.Errorf("record: %s, %v", r.State, r.Err)
		}
	}
	return len(rec), nil
}

// window lets the lanes work and counts the items that are recorded within the slice, which
// begins when as many are as all lanes hold at once. What a lane has begun it finishes
// afterwards, uncounted.
func (b *batchBench) window(ctx context.Context) (slice, error) {
	under := b.recorded.Load() + int64(b.o.Lanes*min(b.o.Hands, b.o.Items))
	var over atomic.Bool
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var lanes sync.WaitGroup
	for range b.o.Lanes {
		lanes.Go(func() {
			for !over.Load() && ctx.Err() == nil {
				if err := b.wholeBatch(ctx, b.o.Items); err != nil {
					fail(err)
				}
			}
		})
	}
	for ctx.Err() == nil && b.recorded.Load() < under {
		time.Sleep(time.Millisecond)
	}
	begun, used, watch := b.recorded.Load(), ownTicks(), watchCPU()
	start := time.Now()
	// One item at least: on a busy machine the slice may be over before it.
	for ctx.Err() == nil && (time.Since(start) < b.o.Slice || b.recorded.Load() == begun) {
		time.Sleep(time.Millisecond)
	}
	n := float64(b.recorded.Load() - begun)
	s := slice{perSecond: n / time.Since(start).Seconds(), foreign: watch(), cpu: (ownTicks() - used) / ticksPerSecond}
	over.Store(true)
	lanes.Wait()
	return s, context.Cause(ctx)
}

// cycle measures the items' way beside pgbench -N, slice by slice.
func (b *batchBench) cycle(ctx context.Context, ref *reference) (BatchCycle, error) {
	b.steps = map[string]time.Duration{}
	before := b.recorded.Load()
	ours, theirs, err := interleave(ctx, Options{Slices: b.o.Slices, Log: b.o.Log}, fmt.Sprintf("batch items, %d lanes of %d hands", b.o.Lanes, b.o.Hands),
		func() (slice, error) { return b.window(ctx) },
		func() (slice, error) { return ref.run(ctx, b.o.Clients, b.o.Slice, "-N") })
	c := BatchCycle{Lanes: b.o.Lanes, Hands: b.o.Hands, Clients: b.o.Clients, ItemsPerS: medianRate(ours), PgbenchTPS: medianRate(theirs), Ratio: medianRatio(ours, theirs), Kept: len(ours), Steps: map[string]float64{}}
	var perCPU []float64
	for i := range ours {
		perCPU = append(perCPU, ours[i].perSecond/max(ours[i].cpu, 0.01)/(theirs[i].perSecond/max(theirs[i].cpu, 0.01)))
		c.Foreign = max(c.Foreign, ours[i].foreign, theirs[i].foreign)
	}
	c.PerCPU = median(perCPU)
	for name, took := range b.steps {
		c.Steps[name] = took.Seconds() * 1000 / float64(max(1, b.recorded.Load()-before))
	}
	return c, err
}
