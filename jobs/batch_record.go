package jobs

import (
	"context"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
)

// record writes outcomes as they come, those of a moment together, until all attempts are
// over.
func (r *batchRun) record() {
	judged := time.Now()
	for first := range r.done {
		group := r.collect(first)
		bad := r.recordAll(group)
		for _, x := range group {
			x.place()
		}
		r.open.Add(-int32(len(group)))
		wake(r.woken)
		if bad || time.Since(judged) > batchLook {
			judged = time.Now()
			r.judge()
		}
	}
}

// collect takes the outcomes that come within a moment. It does not wait when all are there.
func (r *batchRun) collect(first recordable) []recordable {
	group := []recordable{first}
	limit := time.NewTimer(collectFor)
	defer limit.Stop()
	for len(group) < cap(r.hands) {
		if r.flying.Load() == 0 && len(r.done) == 0 {
			return group
		}
		select {
		case x, open := <-r.done:
			if !open {
				return group
			}
			group = append(group, x)
		case <-limit.C:
			return group
		}
	}
	return group
}

// recordAll writes the outcomes of a group. What the destination answered must not be lost to
// a database that is away for a moment: it is tried until it is stored or refused, or the
// leases are long over. It tells whether one was not confirmed.
func (r *batchRun) recordAll(group []recordable) (bad bool) {
	outcomes := make([]store.Outcome, len(group))
	limit := time.Duration(0)
	for i, x := range group {
		outcomes[i] = store.Outcome{Operation: x.Operation, Attempt: x.Attempt, Fence: x.Fence, Result: x.result}
		limit = max(limit, time.Until(x.DispatchedAt.Add(x.Budget)))
		bad = bad || x.result.Outcome != operation.OutcomeConfirmed
	}
	ctx, cancel := r.w.recordingTime(limit + afterLease)
	defer cancel()
	var rec []store.GroupRecorded
	err := r.w.insist(ctx, r.log.With("outcomes", len(group)), func() (err error) {
		rec, err = r.w.store.RecordGroup(ctx, r.w.actor, r.id, outcomes)
		return err
	})
	switch {
	case err == nil:
		r.recorded(group, rec)
	case decided(err): // about the group as a whole; each outcome is still to be written
		for _, x := range group {
			r.w.record(x.Dispatched, x.result)
		}
	}
	return bad
}

// recorded notes what was written, and goes on alone with what was not.
func (r *batchRun) recorded(group []recordable, rec []store.GroupRecorded) {
	late := 0
	for i, x := range rec {
		switch {
		case x.Err == nil && x.Late:
			late++
		case x.Err == nil:
		case decided(x.Err):
			r.log.Warn("outcome was refused", "operation", group[i].Operation, "attempt", group[i].Attempt, "error", x.Err)
		default:
			r.w.record(group[i].Dispatched, group[i].result)
		}
	}
	r.log.Debug("outcomes recorded", "outcomes", len(group), "late", late)
}

// judge pauses the batch when too much of it goes wrong.
func (r *batchRun) judge() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.w.stopping), lastWords)
	defer cancel()
	alarm, err := r.w.store.JudgeBatch(ctx, r.w.actor, r.id)
	switch {
	case err != nil:
		r.log.Warn("the batch could not be judged", "error", err)
	case alarm.Kind != "":
		r.log.Warn("the batch is paused by itself", "limit", alarm.Kind, "count", alarm.Count, "of", alarm.Of)
	}
}
