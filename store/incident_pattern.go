package store

import (
	"context"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// PatternName is a pattern of the library by what it is known by: where, in which phase,
// and the normalised error.
type PatternName struct {
	ID          operation.PatternID  `db:"id"` // "" = none
	Destination string               `db:"destination"`
	Phase       operation.CausePhase `db:"phase"`
	Code        string               `db:"code"`
	Status      int                  `db:"status"` // 0 = none
	Error       string               `db:"error"`
}

// incidentFrom reads incidents, each with the pattern of the library that was chosen as its
// cause; libraryColumns are that pattern's.
const (
	incidentFrom   = ` FROM incidents i LEFT JOIN patterns lp ON lp.id = i.pattern_id`
	libraryColumns = `COALESCE(lp.id, '') AS "library.id", COALESCE(lp.destination, '') AS "library.destination", COALESCE(lp.phase, '') AS "library.phase", COALESCE(lp.code, '') AS "library.code",
	COALESCE(lp.status, 0) AS "library.status", COALESCE(lp.error, '') AS "library.error"`
)

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
		return q.SelectContext(ctx, &rows, `SELECT p.id, p.destination, p.phase, p.code, p.status, p.error FROM incident_operations o JOIN stops x ON x.operation_id = o.operation_id
			JOIN patterns p ON p.id = x.pattern_id`+c.sql()+` GROUP BY p.id ORDER BY count(*) DESC, p.id LIMIT 20`, c.args...)
	})
	return rows, err
}
