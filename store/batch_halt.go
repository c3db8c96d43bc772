package store

import (
	"time"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// halts are the pauses that batches do not hold themselves, since when each is in force.
type halts map[halting]time.Time

// halting is a flow, a destination, or with the kind alone the whole installation.
type halting struct {
	kind operation.SubjectKind
	id   string
}

// haltsOf reads which of the flows and destinations of the batches are paused, and whether
// all sends are.
func (t *tx) haltsOf(list []Batch) (halts, error) {
	var flows, destinations []string
	for _, b := range list {
		flows, destinations = append(flows, b.Flow), append(destinations, b.Destination)
	}
	var rows []struct {
		Kind operation.SubjectKind `db:"subject_kind"`
		ID   string                `db:"subject_id"`
		At   time.Time             `db:"paused_at"`
	}
	err := t.list(&rows, `SELECT subject_kind, subject_id, paused_at FROM pauses WHERE resumed_at IS NULL AND
		(subject_kind = 'flow' AND subject_id = ANY($1) OR subject_kind = 'destination' AND subject_id = ANY($2))
		UNION ALL SELECT $3, '', paused_at FROM installation WHERE paused_why <> ''`, pq.Array(flows), pq.Array(destinations), string(operation.SubjectSystem))
	out := halts{}
	for _, r := range rows {
		out[halting{r.Kind, r.ID}] = r.At
	}
	return out, err
}

// next says who lets the batch go on, and until when they should; no kind = it is not halted
// by a pause other than its own. Administrators end a pause of everything.
func (h halts) next(b Batch, due operation.Due) operation.NextDecision {
	n := operation.NextDecision{Kind: operation.DecideResume, Who: operation.Responsible{Role: operation.RoleOpsOwner}}
	at, ok := h[halting{kind: operation.SubjectSystem}]
	if ok {
		n.Who.Role = operation.RoleAdmin
	} else if at, ok = h[halting{operation.SubjectFlow, b.Flow}]; !ok {
		at, ok = h[halting{operation.SubjectDestination, b.Destination}]
	}
	if !ok {
		return operation.NextDecision{}
	}
	n.At = at.Add(due.Review)
	return n
}

// toRelease is how many of a batch's items are cleared and were not released yet. Behind a
// canary the rest is not cleared.
func toRelease(canary int, b Batch, n BatchCounts) int {
	switch {
	case b.Released >= b.Cleared:
		return 0
	case b.Cleared < b.Total:
		return max(min(canary, b.Included)-n.Operations(), 0)
	}
	return n.Waiting
}
