package jobs

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
)

// afterLease is how long after its lease an outcome is still offered: the sweep has
// called it unknown by then, and late evidence of an effect still settles that.
const afterLease = time.Minute

// record writes the outcome. What the destination answered must not be lost to a
// database that is away for a moment: it is tried until it is stored or refused, or
// the lease is long over. Nothing but that ends it, least of all the job's context.
func (w *Worker) record(d store.Dispatched, r operation.Result) {
	log := w.log.With("operation", d.Operation, "attempt", d.Attempt, "destination", d.Destination, "outcome", r.Outcome, "code", r.Proof.Code)
	ctx, cancel := w.recordingTime(time.Until(d.DispatchedAt.Add(d.Budget)) + afterLease)
	defer cancel()
	var rec store.Recorded
	err := w.insist(ctx, log, func() (err error) {
		rec, err = w.store.Record(ctx, w.actor, d.Attempt, d.Fence, r)
		return err
	})
	switch {
	case err == nil:
		log.Info("outcome recorded", "state", rec.State, "late", rec.Late)
	case decided(err):
		log.Warn("outcome was refused", "error", err)
	}
}

// insist tries to write outcomes until they are written or the store has decided otherwise.
// The end of ctx is told: the sweep will call unknown what was not written.
func (w *Worker) insist(ctx context.Context, log *slog.Logger, try func() error) error {
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		err := try()
		if err == nil || decided(err) {
			return err
		}
		w.metrics.recordRetries.Inc()
		select {
		case <-ctx.Done():
			log.Error("outcome could not be recorded; the sweep will call it unknown", "error", err)
			return err
		case <-time.After(wait):
			log.Warn("outcome not recorded yet", "error", err)
		}
	}
}

// decided reports that trying again would change nothing.
func decided(err error) bool {
	_, no := operation.RefusalIn(err)
	return no || errors.Is(err, store.ErrNotFound)
}

// recordingTime ends after limit or, when the worker gives up, after its last words.
func (w *Worker) recordingTime(limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), max(limit, afterLease))
	stop := context.AfterFunc(w.hard, func() { time.AfterFunc(lastWords, cancel) })
	return ctx, func() { stop(); cancel() }
}

// notClaimed says why no attempt was made. A refusal is normal: several wake-ups may
// concern one operation, and the gate permits one.
func (w *Worker) notClaimed(log *slog.Logger, err error) {
	refusal, no := operation.RefusalIn(err)
	switch {
	case no:
		w.metrics.refused.WithLabelValues(string(refusal.Code)).Inc()
		log.Debug("not permitted", "code", refusal.Code)
	case errors.Is(err, store.ErrNotFound):
		log.Debug("no such operation")
	default:
		w.metrics.refused.WithLabelValues("database").Inc()
		log.Warn("claim failed; nothing was sent", "error", err)
	}
}
