package jobs

import (
	"context"
	"errors"
	"sync"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
)

// Rehearse runs the six cases of a plan in an installation of its own, and tells of each
// case that ended. The error says that it could not be run.
type Rehearse func(ctx context.Context, plan operation.AcceptancePlan, ended func(operation.AcceptanceCase)) (operation.AcceptanceSheet, error)

// The time of an acceptance: its whole length, and how long a silent worker keeps it.
const (
	acceptanceLimit = 15 * time.Minute
	acceptanceLease = 20 * time.Second
	acceptanceBeat  = 2 * time.Second
)

// acceptances runs what people ask for, one run at a time, until the worker stops.
func (w *Worker) acceptances() {
	for {
		select {
		case <-w.stopping.Done():
			return
		case <-time.After(acceptanceBeat / 2):
		}
		n, err := w.store.SweepAcceptances(w.stopping, store.System("job"))
		w.swept("acceptance", n, err)
		plan, err := w.store.ClaimAcceptance(w.stopping, w.cfg.Name, acceptanceLease)
		switch {
		case err == nil:
			w.accept(plan)
		case !errors.Is(err, store.ErrNotFound) && w.stopping.Err() == nil:
			w.log.Warn("no acceptance could be claimed; it is tried again", "error", err)
		}
	}
}

// accept runs one acceptance. A worker that stops breaks it off: what is not finished is
// interrupted, never passed.
func (w *Worker) accept(plan operation.AcceptancePlan) {
	log := w.log.With("acceptance", plan.ID, "flow", plan.Flow.Name)
	log.Info("acceptance begins")
	ctx, cancel := context.WithTimeout(w.stopping, acceptanceLimit)
	defer cancel()
	k := &keeping{w: w, plan: plan, end: cancel}
	var beat sync.WaitGroup
	over := make(chan struct{})
	beat.Go(func() { k.beat(over) })
	sheet, err := w.cfg.Rehearse(ctx, plan, k.add)
	close(over)
	beat.Wait()
	if err := k.finish(ctx, sheet, err); err != nil && !errors.Is(err, store.ErrAcceptanceLost) {
		log.Error("the end of the acceptance could not be kept", "error", err)
		return
	}
	log.Info("acceptance ended")
}

// keeping holds a run while it goes on.
type keeping struct {
	w    *Worker
	plan operation.AcceptancePlan
	end  context.CancelFunc

	mu        sync.Mutex
	cases     []operation.AcceptanceCase
	cancelled bool
	lost      bool
}

func (k *keeping) add(c operation.AcceptanceCase) {
	k.mu.Lock()
	k.cases = append(k.cases, c)
	k.mu.Unlock()
	k.keep()
}

// beat renews the lease until the run is over.
func (k *keeping) beat(over <-chan struct{}) {
	for {
		select {
		case <-over:
			return
		case <-time.After(acceptanceBeat):
			k.keep()
		}
	}
}

func (k *keeping) keep() {
	k.mu.Lock()
	defer k.mu.Unlock()
	cancelled, err := k.w.store.KeepAcceptance(k.w.hard, k.plan.ID, k.w.cfg.Name, acceptanceLease, k.cases)
	switch {
	case errors.Is(err, store.ErrAcceptanceLost):
		k.lost = true
		k.end()
	case err != nil:
		k.w.log.Warn("the acceptance's lease could not be renewed", "acceptance", k.plan.ID, "error", err)
	case cancelled:
		k.cancelled = true
		k.end()
	}
}

// finish keeps what came of the run.
func (k *keeping) finish(run context.Context, sheet operation.AcceptanceSheet, err error) error {
	ctx, cancel := context.WithTimeout(context.Background(), lastWords)
	defer cancel()
	k.mu.Lock()
	defer k.mu.Unlock()
	id, me := k.plan.ID, k.w.cfg.Name
	switch {
	case k.lost:
		return store.ErrAcceptanceLost
	case k.cancelled:
		return k.w.store.BreakAcceptance(ctx, id, me, operation.AcceptanceCancelled, "")
	case k.w.stopping.Err() != nil:
		return k.w.store.BreakAcceptance(ctx, id, me, operation.AcceptanceInterrupted, "")
	case run.Err() != nil:
		return k.w.store.BreakAcceptance(ctx, id, me, operation.AcceptanceBroken, "it took longer than "+acceptanceLimit.String())
	case err != nil:
		return k.w.store.BreakAcceptance(ctx, id, me, operation.AcceptanceBroken, err.Error())
	}
	return k.w.store.EndAcceptance(ctx, id, me, sheet)
}
