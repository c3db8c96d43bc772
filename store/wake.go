package store

import (
	"context"
	"time"

	"holdpoint/operation"

	"github.com/riverqueue/river"
)

type wakeKind int

const (
	wakeExecute wakeKind = iota
	wakeLookup
)

type wake struct {
	kind wakeKind
	op   operation.ID
	dest string
	rev  int64
	at   time.Time
}

// ExecuteArgs wakes a worker to take one operation. It only wakes: the operation's row
// and operation.Permit decide. Revision makes each decision's wake-up a job of its own.
type ExecuteArgs struct {
	Operation   operation.ID `json:"operation"`
	Destination string       `json:"destination"`
	Revision    int64        `json:"revision"`
}

// Kind names the job.
func (ExecuteArgs) Kind() string { return "execute" }

// InsertOpts allows one try: a second one is a new decision.
func (ExecuteArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{MaxAttempts: 1, Queue: QueueEffects}
}

// LookupArgs wakes a worker to look an operation up at its destination.
type LookupArgs struct {
	Operation   operation.ID `json:"operation"`
	Destination string       `json:"destination"`
	Revision    int64        `json:"revision"`
}

// Kind names the job.
func (LookupArgs) Kind() string { return "lookup" }

// InsertOpts allows one try: the next lookup is planned in the operation's row.
func (LookupArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{MaxAttempts: 1, Queue: QueueLookups}
}

// The queues of the background jobs.
const (
	QueueEffects = "effects"
	QueueLookups = "lookups"
)

// wakeUp plans a wake-up. One that is due at once must not carry a time: the engine
// would take it for a scheduled job, which its leader looks at every five seconds only.
func (u *unit) wakeUp(kind wakeKind, o *opRow, at time.Time) {
	if !at.After(u.now) {
		at = time.Time{}
	}
	row := map[string]any{"args": map[string]any{"operation": o.ID, "destination": o.Destination, "revision": o.Revision + 1}, "scheduled_at": timeOrNil(at)}
	row["kind"], row["queue"] = ExecuteArgs{}.Kind(), QueueEffects
	if kind == wakeLookup {
		row["kind"], row["queue"] = LookupArgs{}.Kind(), QueueLookups
	}
	u.w.jobs = append(u.w.jobs, row)
}

// insertWakes inserts the wake-ups in the same transaction as the decision: none is
// lost, and none is seen before the decision is committed.
func (s *Store) insertWakes(ctx context.Context, t *tx, ws []wake) error {
	if len(ws) == 0 || s.river == nil {
		return nil
	}
	params := make([]river.InsertManyParams, len(ws))
	for i, w := range ws {
		if w.kind == wakeExecute {
			params[i].Args = ExecuteArgs{w.op, w.dest, w.rev}
		} else {
			params[i].Args = LookupArgs{w.op, w.dest, w.rev}
		}
		params[i].InsertOpts = &river.InsertOpts{ScheduledAt: w.at}
	}
	_, err := s.river.InsertManyFastTx(ctx, t.Tx.Tx, params)
	return err
}
