package store

import (
	"holdpoint/operation"

	"github.com/lib/pq"
)

// countBatches says of each batch where every entry of its list is.
func (t *tx) countBatches(list []Batch) (map[operation.BatchID]BatchCounts, error) {
	out := map[operation.BatchID]BatchCounts{}
	if len(list) == 0 {
		return out, nil
	}
	ids := make([]string, len(list))
	for i, b := range list {
		ids[i] = string(b.ID)
		out[b.ID] = BatchCounts{Total: b.Total, States: map[operation.State]int{}}
	}
	var states []struct {
		Batch operation.BatchID `db:"batch_id"`
		State operation.State   `db:"state"`
		N     int               `db:"n"`
	}
	if err := t.list(&states, `SELECT batch_id, state, count(*) AS n FROM operations WHERE batch_id = ANY($1) GROUP BY batch_id, state`, pq.Array(ids)); err != nil {
		return nil, err
	}
	for _, s := range states {
		out[s.Batch].States[s.State] = s.N
	}
	var left []struct {
		Batch      operation.BatchID `db:"batch_id"`
		Duplicates int               `db:"duplicates"`
		Suppressed int               `db:"suppressed"`
	}
	if err := t.list(&left, `SELECT v.batch_id, v.duplicates, v.suppressed FROM batches b JOIN batch_versions v ON v.batch_id = b.id AND v.number = b.number WHERE b.id = ANY($1)`, pq.Array(ids)); err != nil {
		return nil, err
	}
	for _, l := range left {
		c := out[l.Batch]
		c.Duplicates, c.Suppressed = l.Duplicates, l.Suppressed
		out[l.Batch] = c
	}
	for _, b := range list {
		c := out[b.ID]
		rest := b.Included - c.Operations()
		if b.Stopped() || b.State.Closed() {
			c.GivenUp = rest
		} else {
			c.Waiting = rest
		}
		out[b.ID] = c
	}
	return out, nil
}
