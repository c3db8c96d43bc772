// Package order holds the words that jobs and destinations share: what one dispatch
// answer permits (Order), what one lookup asks (Lookup), and where the value of a named
// credential comes from (Env, Ref). It does nothing on its own.
//
// It may import operation only.
package order

import (
	"context"
	"time"

	"holdpoint/operation"
)

// Order is what the dispatch answer permits: exactly these bytes, once, before the
// deadline.
type Order struct {
	Operation    operation.ID
	Attempt      operation.AttemptID
	Fence        int64
	Action       string            // of the destination's profile
	Request      operation.Request // resolved: no hole is open any more
	Key          string            // the idempotency key inside Request, "" = none
	Content      map[string]any    // approved content, for the profile's outcome rules
	DispatchedAt time.Time         // database clock, when dispatch was committed
	Deadline     time.Time         // send_by on the local monotonic clock; zero = none
	WallDeadline time.Time         // send_by on the local wall clock; zero = none
}

// Lookup asks a destination whether the effect of an operation exists, by our own
// reference.
type Lookup struct {
	Operation    operation.ID
	Action       string
	Key          string
	Content      map[string]any
	DispatchedAt time.Time // last dispatch, database clock
}

// Connector reaches one destination. Neither method returns an error: what went wrong
// is part of what is known, and it is classified. Neither repeats anything.
type Connector interface {
	// Act sends the order's request at most once and classifies what came back.
	Act(ctx context.Context, o Order) operation.Result
	// Lookup asks once. It never has an effect.
	Lookup(ctx context.Context, o Lookup) operation.LookupFinding
}

// Late reports whether now is past one of the two clocks of the order's send_by. The
// monotonic clock cannot be set back by hand; the wall clock also counts the time in
// which the machine or the process slept.
func (o Order) Late(now time.Time) bool {
	if !o.Deadline.IsZero() && !now.Before(o.Deadline) {
		return true
	}
	return !o.WallDeadline.IsZero() && !now.Round(0).Before(o.WallDeadline.Round(0))
}
