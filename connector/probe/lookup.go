package probe

import (
	"context"
	"time"

	"holdpoint/connector/order"
	"holdpoint/operation"
)

// looks is how often a lookup that finds nothing is asked.
const looks = 3

// lookUp asks what exists under our reference. Two effects are two, whatever the answers
// said. One effect shows that the protection holds only where the repeat was refused
// because the first exists: a lookup may return the first of several.
func (r *running) lookUp(ctx context.Context, o order.Order, refused bool) {
	l := r.meaning.Lookup
	if l == nil || l.By == "" {
		return
	}
	wait := l.Lag
	if wait > r.Patience {
		r.step("lookup", operation.ProbeUnclear, operation.Result{}, "It was not looked up: the lookup is %s behind, longer than this probe waits.", wait)
		return
	}
	var f operation.LookupFinding
	for range looks {
		if !pause(ctx, wait) {
			break
		}
		f = r.Connector.Lookup(ctx, order.Lookup{Operation: o.Operation, Action: o.Action, Key: o.Key, Content: o.Content, DispatchedAt: o.DispatchedAt})
		if f.Result != operation.LookupNone && f.Result != operation.LookupUnreachable {
			break
		}
		wait = max(l.Lag, time.Second)
	}
	res := operation.Result{Proof: f.Proof, TargetReference: f.ID}
	switch {
	case f.Result == operation.LookupMany:
		r.step("lookup", operation.ProbeBroken, res, "There is MORE THAN ONE effect under one reference of ours: %d.", len(f.Found))
	case f.Result == operation.LookupOne && refused:
		r.step("lookup", operation.ProbeHeld, res, "The repeat was refused because the effect exists, and one effect is found: %s.", f.ID)
	case f.Result == operation.LookupOne && f.ID == r.first.TargetReference:
		r.step("lookup", operation.ProbeUnclear, res, "The lookup finds the first effect and no second one.")
	default:
		r.step("lookup", operation.ProbeUnclear, res, "The lookup tells nothing (%s).", f.Result)
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
