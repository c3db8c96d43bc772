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

// of gives the pause other than its own that is to be ended first for the batch to go on.
func (h halts) of(b Batch) (by halting, at time.Time, halted bool) {
	for _, by = range []halting{{kind: operation.SubjectSystem}, {operation.SubjectFlow, b.Flow}, {operation.SubjectDestination, b.Destination}} {
		if at, halted = h[by]; halted {
			return by, at, true
		}
	}
	return halting{}, time.Time{}, false
}

// turn says who lets the batch go on, and until when they should; no kind = it is not halted
// by a pause other than its own. Administrators end a pause of everything. That one and a
// destination's are no flow's.
func (h halts) turn(b Batch, due operation.Due) operation.BatchTurn {
	by, at, ok := h.of(b)
	if !ok {
		return operation.BatchTurn{}
	}
	t := operation.BatchTurn{Kind: operation.TurnResume, Since: at, AllFlows: by.kind != operation.SubjectFlow,
		Next: operation.NextDecision{Kind: operation.DecideResume, Who: operation.Responsible{Role: operation.RoleOpsOwner}, At: at.Add(due.Review)}}
	if by.kind == operation.SubjectSystem {
		t.Next.Who.Role = operation.RoleAdmin
	}
	return t
}

// batchesHaltedSQL finds the batches that would release or send, were it not for a pause of
// their flow, of their destination or of everything.
var batchesHaltedSQL = `SELECT ` + batchColumns + ` FROM batches b WHERE b.state IN ('canary', 'running') AND b.paused_at IS NULL AND b.stopped_at IS NULL AND ($1 OR b.flow = ANY($2))
	AND (EXISTS (SELECT 1 FROM installation WHERE paused_why <> '') OR EXISTS (SELECT 1 FROM pauses p WHERE p.resumed_at IS NULL
		AND (p.subject_kind = 'flow' AND p.subject_id = b.flow OR p.subject_kind = 'destination' AND p.subject_id = b.destination)))
	ORDER BY b.created_at, b.id LIMIT $3`

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
