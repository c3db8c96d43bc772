package jobs

import (
	"context"
	"math/rand/v2"
	"time"

	"holdpoint/store"

	"github.com/riverqueue/river"
)

// window and windows bound what one sweep reads.
const (
	window  = 500
	windows = 4
)

// sweepAll runs until the worker stops. Every process sweeps: what a sweep writes is
// guarded, so two at once do no harm, and none has to wait until a leader that was
// killed is missed (docs/decisions/0003).
func (w *Worker) sweepAll() {
	var from store.DueCursor
	for n := 0; ; n++ {
		pause := w.cfg.Sweep*9/10 + rand.N(w.cfg.Sweep/5+1)
		select {
		case <-w.stopping.Done():
			return
		case <-time.After(pause):
		}
		ctx, cancel := context.WithTimeout(w.stopping, time.Minute)
		w.sweepLeases(ctx)
		w.markRestored(ctx)
		from = w.sweepDue(ctx, from)
		w.sweepNews(ctx, n)
		if n%expiryEvery == 0 {
			w.sweepExpired(ctx)
		}
		cancel()
	}
}

// expiryEvery is how many sweeps pass between two looks at expiry dates. The gate looks
// at them at every claim; the sweep only brings them before people in time.
const expiryEvery = 10

// sweepExpired sends back what people must approve anew, and repairs what got stuck.
func (w *Worker) sweepExpired(ctx context.Context) {
	n, err := w.store.SweepExpired(ctx, store.System("job"))
	w.swept("approval", n, err)
	n, err = w.store.SweepBatches(ctx, store.System("job"))
	w.swept("batch_approval", n, err)
	n, err = w.store.SweepSilence(ctx, store.System("job"))
	w.swept("silence", n, err)
	n, err = w.store.SweepStarts(ctx)
	w.swept("start", n, err)
	n, err = w.store.SweepLists(ctx)
	w.swept("list", n, err)
	n, err = w.store.SweepStuck(ctx, store.System("job"))
	w.swept("stuck", n, err)
}

// sweepNews ties what destinations told before its operation was known.
func (w *Worker) sweepNews(ctx context.Context, round int) {
	n, err := w.store.SweepNews(ctx, store.System("job"), round%(30*expiryEvery) == 0)
	w.swept("news", n, err)
	if round%expiryEvery == 0 {
		n, err = w.store.SweepNewsTerm(ctx, store.System("job"))
		w.swept("news_term", n, err)
	}
}

// sweepLeases ends attempts whose lease has run out.
func (w *Worker) sweepLeases(ctx context.Context) {
	n, err := w.store.SweepLeases(ctx, store.System("job"))
	w.swept("lease", n, err)
}

// sweepDue wakes what is due and may have lost its wake-up: a worker died with it, or
// it was planned for later.
func (w *Worker) sweepDue(ctx context.Context, from store.DueCursor) store.DueCursor {
	for range windows {
		due, next, err := w.store.DueOperations(ctx, from, window, w.cfg.Sweep)
		n := 0
		if err == nil {
			n, err = w.store.InsertWakes(ctx, due, nil)
		}
		w.swept("attempt", n, err)
		if from = next; err != nil || from == (store.DueCursor{}) {
			break
		}
	}
	ids, err := w.store.DueLookups(ctx, window)
	n := 0
	if err == nil {
		n, err = w.store.InsertWakes(ctx, nil, ids)
	}
	w.swept("lookup", n, err)
	return from
}

func (w *Worker) swept(what string, n int, err error) {
	w.metrics.swept.WithLabelValues(what).Add(float64(n))
	failures := w.metrics.sweepFailures.WithLabelValues(what) // there from the first look on: an alarm sees the first failure too
	if n > 0 {
		w.log.Info("swept", "kind", what, "count", n)
	}
	if err != nil && w.stopping.Err() == nil {
		failures.Inc()
		w.log.Warn("sweep failed; it is tried again", "kind", what, "error", err)
	}
}

const queueHousekeep = "housekeeping"

// housekeepArgs wakes the one process that removes expired sessions, sign-in counters and old sign-ins, and makes
// the partitions of the coming months.
type housekeepArgs struct{}

// Kind names the job.
func (housekeepArgs) Kind() string { return "housekeep" }

func housekeeping() []*river.PeriodicJob {
	make := func() (river.JobArgs, *river.InsertOpts) {
		return housekeepArgs{}, &river.InsertOpts{Queue: queueHousekeep, MaxAttempts: 1}
	}
	return []*river.PeriodicJob{river.NewPeriodicJob(river.PeriodicInterval(10*time.Minute), make, &river.PeriodicJobOpts{RunOnStart: true})}
}

type housekeepWorker struct {
	river.WorkerDefaults[housekeepArgs]
	w *Worker
}

// Work removes what can no longer be used.
func (h *housekeepWorker) Work(ctx context.Context, _ *river.Job[housekeepArgs]) error {
	sessions, err := h.w.store.DeleteExpiredSessions(ctx)
	h.w.swept("session", int(sessions), err)
	parts, err := h.w.store.AddPartitions(ctx)
	h.w.swept("partition", parts, err)
	counters, err := h.w.store.DeleteOldLoginCounters(ctx)
	h.w.swept("sign_in_counter", int(counters), err)
	notices, err := h.w.store.DeleteOldNotices(ctx)
	h.w.swept("old_notice", int(notices), err)
	erased, err := h.w.store.SweepRetention(ctx, store.System("job"))
	h.w.swept("erased", erased, err)
	signIns, err := h.w.store.DeleteOldSignIns(ctx)
	h.w.swept("sign_in", int(signIns), err)
	return nil
}
