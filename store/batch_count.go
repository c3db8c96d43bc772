package store

import (
	"cmp"
	"slices"

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
	if err := t.list(&states, `SELECT batch_id, state, n FROM batch_counts WHERE batch_id = ANY($1) AND n <> 0`, pq.Array(ids)); err != nil {
		return nil, err
	}
	for _, s := range states {
		out[s.Batch].States[s.State] = s.N
	}
	var left []struct {
		Batch      operation.BatchID `db:"batch_id"`
		Duplicates int               `db:"duplicates"`
		Suppressed int               `db:"suppressed"`
		Problems   int               `db:"problems"`
	}
	if err := t.list(&left, `SELECT v.batch_id, v.duplicates, v.suppressed, v.problems FROM batches b JOIN batch_versions v ON v.batch_id = b.id AND v.number = b.number WHERE b.id = ANY($1)`, pq.Array(ids)); err != nil {
		return nil, err
	}
	for _, l := range left {
		c := out[l.Batch]
		c.Duplicates, c.Suppressed, c.Problems = l.Duplicates, l.Suppressed, l.Problems
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

// countPart adds to the counts of batches. The rows stand in one order, so that groups which
// change the same ones wait for each other and never in a ring.
const countPart = `INSERT INTO batch_counts AS c (batch_id, state, n) SELECT batch_id, state, n FROM jsonb_to_recordset(?) AS x(batch_id text, state text, n bigint)
	WHERE EXISTS (SELECT 1 FROM op) ON CONFLICT (batch_id, state) DO UPDATE SET n = c.n + EXCLUDED.n`

// batchMoves gives what the operations' moves since they were read add to the counts of their
// batches.
func batchMoves(ops ...*opRow) []map[string]any {
	type place struct {
		batch operation.BatchID
		state operation.State
	}
	sums := map[place]int{}
	for _, o := range ops {
		if o.BatchID != "" && o.State != o.was {
			sums[place{o.BatchID, o.was}]--
			sums[place{o.BatchID, o.State}]++
		}
	}
	var out []map[string]any
	for p, n := range sums {
		if n != 0 {
			out = append(out, map[string]any{"batch_id": p.batch, "state": p.state, "n": n})
		}
	}
	slices.SortFunc(out, func(a, b map[string]any) int {
		return cmp.Or(cmp.Compare(a["batch_id"].(operation.BatchID), b["batch_id"].(operation.BatchID)), cmp.Compare(a["state"].(operation.State), b["state"].(operation.State)))
	})
	return out
}

func opsOf(units []*unit) []*opRow {
	out := make([]*opRow, len(units))
	for i, u := range units {
		out[i] = u.op
	}
	return out
}
