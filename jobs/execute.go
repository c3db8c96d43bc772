package jobs

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"time"

	"holdpoint/connector"
	"holdpoint/operation"
	"holdpoint/store"

	"github.com/riverqueue/river"
)

type riverTx = *sql.Tx

type executeWorker struct {
	river.WorkerDefaults[store.ExecuteArgs]
	w *Worker
}

// Work is one wake-up: at most one attempt. An error is never returned for the job
// engine to repeat: what must happen next stands in the operation's row.
func (e *executeWorker) Work(ctx context.Context, job *river.Job[store.ExecuteArgs]) error {
	e.w.metrics.wake.Observe(time.Since(job.ScheduledAt).Seconds())
	return e.w.execute(ctx, job.Args.Operation, job.Args.Destination)
}

// execute takes one operation through one attempt.
func (w *Worker) execute(ctx context.Context, id operation.ID, name string) error {
	log := w.log.With("operation", id, "destination", name)
	dest, err := w.dests.find(ctx, name)
	if err != nil {
		log.Error("destination cannot be used", "error", err)
		return nil
	}
	release, ok := dest.acquire(w.stopping, max(1, w.cfg.Effects/4))
	if !ok {
		return w.later()
	}
	defer release()

	d, before, err := w.claim(ctx, id)
	if err != nil {
		w.notClaimed(log, err)
		return nil
	}
	log = log.With("attempt", d.Attempt)
	if dest, err = w.dests.at(d.Profile); err != nil {
		w.record(d, operation.Result{Outcome: operation.OutcomeNotStarted,
			Proof: operation.Proof{Code: "destination_unusable", Phase: operation.PhaseBlocked, Detail: err.Error()}})
		return nil
	}
	log.Info("sending", "action", d.Action, "number", d.Number, "kind", d.Kind)
	w.metrics.inFlight.WithLabelValues(d.Destination).Inc()
	r := dest.conn.Act(w.hard, orderOf(d, before))
	w.metrics.inFlight.WithLabelValues(d.Destination).Dec()
	w.metrics.attempted(d.Destination, r, time.Since(before))
	w.record(d, r)
	return nil
}

// claim asks the gate and commits the dispatch. Where it asks for a fresh lookup first,
// that is made and the gate asked once more. before is taken before the dispatch call,
// so that the local clock never grants more time than the database's.
func (w *Worker) claim(ctx context.Context, id operation.ID) (d store.Dispatched, before time.Time, err error) {
	for try := range 2 {
		before = time.Now()
		d, err = w.store.ClaimAndDispatch(ctx, w.actor, id, w.cfg.Name)
		if try > 0 || !refusedWith(err, operation.CodeLookupNeeded) {
			break
		}
		if err := w.lookUp(ctx, id, true); err != nil {
			return d, before, err
		}
	}
	return d, before, err
}

// orderOf is what the dispatch answer permits. Budget counts from the database's clock
// at the dispatch, which is after before.
func orderOf(d store.Dispatched, before time.Time) connector.Order {
	return connector.Order{Operation: d.Operation, Attempt: d.Attempt, Fence: d.Fence, Action: d.Action, Request: d.Request, Key: d.Key,
		Content: d.Content, DispatchedAt: d.DispatchedAt, Deadline: before.Add(d.Budget), WallDeadline: before.Round(0).Add(d.Budget)}
}

// later puts the wake-up back. A stopping worker leaves it to the others at once.
func (w *Worker) later() error {
	if w.stopping.Err() != nil {
		return river.JobSnooze(0)
	}
	return river.JobSnooze(200*time.Millisecond + rand.N(400*time.Millisecond))
}

func refusedWith(err error, code operation.Code) bool {
	r, no := operation.RefusalIn(err)
	return no && r.Code == code
}
