package store

import (
	"context"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// Health says how the newest attempts at a destination ended. The outcomes are counted
// apart and never added up to a rate.
type Health struct {
	Attempts      int // that were looked at, HealthWindow at most
	Outcomes      map[operation.Outcome]int
	Open          int           // claimed and not ended
	Slowest       time.Duration // from dispatch to the end; 0 = none was dispatched
	LastConfirmed time.Time     // zero = none among these
	LastUnknown   time.Time
}

// HealthWindow is how many attempts Health looks at.
const HealthWindow = 100

// FindHealth looks at the newest attempts of a destination's newest operations, those of
// flows that the viewer sees, HealthWindow of each at most.
func (s *Store) FindHealth(ctx context.Context, viewer Actor, destination string) (Health, error) {
	list, err := s.ListOperations(ctx, viewer, OperationFilter{Destination: destination, Limit: HealthWindow})
	if err != nil {
		return Health{}, err
	}
	ids := make([]string, len(list.Rows))
	for i, r := range list.Rows {
		ids[i] = string(r.ID)
	}
	var rows []struct {
		Outcome *string    `db:"outcome"`
		Sent    *time.Time `db:"dispatched_at"`
		Ended   *time.Time `db:"ended_at"`
	}
	err = s.read(ctx, func(q *sqlx.DB) error {
		rows = nil
		return q.SelectContext(ctx, &rows, `SELECT outcome, dispatched_at, ended_at FROM attempts WHERE operation_id = ANY($1)
			ORDER BY claimed_at DESC, id DESC LIMIT $2`, pq.Array(ids), HealthWindow)
	})
	h := Health{Attempts: len(rows), Outcomes: map[operation.Outcome]int{}}
	for _, r := range rows {
		if r.Outcome == nil {
			h.Open++
			continue
		}
		outcome, _ := operation.ParseOutcome(*r.Outcome)
		ended := timeOf(r.Ended)
		h.Outcomes[outcome]++
		switch {
		case outcome == operation.OutcomeConfirmed && ended.After(h.LastConfirmed):
			h.LastConfirmed = ended
		case outcome == operation.OutcomeUnknown && ended.After(h.LastUnknown):
			h.LastUnknown = ended
		}
		if r.Sent != nil {
			h.Slowest = max(h.Slowest, ended.Sub(*r.Sent))
		}
	}
	return h, err
}
