package store

import (
	"context"

	"holdpoint/operation"
	"holdpoint/operation/definition"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// StartedRows tells which rows of a table would begin nothing, with the run that is there
// already: of the same row of the same file, or of the same key. It is for the preview;
// what holds is decided when the row begins.
func (s *Store) StartedRows(ctx context.Context, st Start, table *definition.Table) (map[int]operation.RunID, error) {
	byKey := map[string]int{}
	var keys []string
	for _, r := range table.Rows {
		if key := st.Key(r); key != "" {
			if _, twice := byKey[key]; !twice {
				byKey[key] = r.Number
				keys = append(keys, key)
			}
		}
	}
	var places []struct {
		Row int             `db:"row"`
		Run operation.RunID `db:"run_id"`
	}
	var events []struct {
		Key string          `db:"event_key"`
		Run operation.RunID `db:"run_id"`
	}
	err := s.read(ctx, func(q *sqlx.DB) error {
		places, events = nil, nil
		if err := q.SelectContext(ctx, &places, `SELECT row, run_id FROM start_places WHERE flow = $1 AND file_hash = $2`, st.Flow, st.Hash); err != nil {
			return err
		}
		return q.SelectContext(ctx, &events, `SELECT e.event_key, r.run_id FROM events e JOIN event_runs r ON r.event_id = e.id
			WHERE e.topic = $1 AND e.event_key = ANY($2) AND e.source = $3`, st.Flow, pq.Array(keys), st.Source)
	})
	out := map[int]operation.RunID{}
	for _, e := range events {
		out[byKey[e.Key]] = e.Run
	}
	for _, p := range places {
		out[p.Row] = p.Run
	}
	return out, err
}
