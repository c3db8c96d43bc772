package store

import (
	"context"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// PatternName is a pattern of the library by its name.
type PatternName struct {
	ID   operation.PatternID `db:"id"`
	Name string              `db:"name"`
}

// PatternsOfIncident lists the patterns of the stops of an incident's operations, as far
// as the viewer may see their flows: the most frequent first.
func (s *Store) PatternsOfIncident(ctx context.Context, viewer Actor, id operation.IncidentID) (rows []PatternName, err error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	var c conditions
	c.add("o.incident_id = ?", string(id))
	if all, flows := v.seenFlows(); !all {
		c.add("o.flow = ANY(?)", pq.Array(append([]string{}, flows...)))
	}
	err = s.read(ctx, func(q *sqlx.DB) error {
		rows = nil
		return q.SelectContext(ctx, &rows, `SELECT p.id, concat_ws(' · ', p.destination, p.code, NULLIF(p.error, '')) AS name FROM incident_operations o JOIN stops x ON x.operation_id = o.operation_id
			JOIN patterns p ON p.id = x.pattern_id`+c.sql()+` GROUP BY p.id ORDER BY count(*) DESC, p.id LIMIT 20`, c.args...)
	})
	return rows, err
}
