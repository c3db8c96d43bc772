package jobs

import (
	"context"
	"errors"
	"fmt"

	"holdpoint/connector"
	"holdpoint/operation"
	"holdpoint/store"

	"github.com/riverqueue/river"
)

type lookupWorker struct {
	river.WorkerDefaults[store.LookupArgs]
	w *Worker
}

// Work makes at most one lookup. The next one is planned in the operation's row.
func (l *lookupWorker) Work(ctx context.Context, job *river.Job[store.LookupArgs]) error {
	w, id := l.w, job.Args.Operation
	err := w.lookUpInTurn(ctx, id)
	_, no := operation.RefusalIn(err)
	var snooze *river.JobSnoozeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &snooze):
		return err
	case no, errors.Is(err, store.ErrNotFound):
		w.log.Debug("lookup not recorded", "operation", id, "reason", err)
	default:
		w.log.Warn("lookup failed; the sweep will plan it again", "operation", id, "error", err)
	}
	return nil
}

// lookUpInTurn waits for a token of the destination first.
func (w *Worker) lookUpInTurn(ctx context.Context, id operation.ID) error {
	o, err := w.store.FindLookup(ctx, id)
	if err != nil || !isDue(o) {
		return err
	}
	dest, err := w.dests.at(o.Profile)
	if err != nil {
		return err
	}
	release, ok := dest.acquire(w.stopping, max(1, w.cfg.Lookups/4))
	if !ok {
		return w.later()
	}
	defer release()
	return w.lookUp(ctx, id, false)
}

// isDue: several wake-ups may concern one planned lookup, and one too many would count
// as a miss of its own.
func isDue(o store.LookupOrder) bool { return !o.DueAt.IsZero() && !o.Now.Before(o.DueAt) }

// lookUp asks the destination and records what it found. With force it does so although
// none is planned. The caller holds a token of the destination.
func (w *Worker) lookUp(ctx context.Context, id operation.ID, force bool) error {
	o, err := w.store.FindLookup(ctx, id)
	if err != nil || !force && !isDue(o) {
		return err
	}
	action, err := o.Profile.Action(o.Action)
	if err != nil {
		return err
	}
	if !action.HasLookup() {
		return fmt.Errorf("action %s/%s has no lookup", o.Destination, o.Action)
	}
	dest, err := w.dests.at(o.Profile)
	if err != nil {
		return err
	}
	found := dest.conn.Lookup(w.hard, connector.LookupOrder{Operation: id, Action: o.Action, Key: o.Key, Content: o.Content, DispatchedAt: o.DispatchedAt})
	if w.hard.Err() != nil && found.Result == operation.LookupUnreachable {
		return w.hard.Err() // we broke it off: that says nothing about the destination
	}
	w.metrics.lookups.WithLabelValues(o.Destination, string(found.Result)).Inc()
	if err := w.store.RecordLookup(context.WithoutCancel(ctx), w.actor, id, o.Now, found); err != nil {
		return err
	}
	w.log.Info("looked up", "operation", id, "destination", o.Destination, "result", found.Result, "code", found.Proof.Code)
	return nil
}
