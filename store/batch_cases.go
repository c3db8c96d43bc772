package store

import (
	"context"

	"holdpoint/operation"
)

// BatchCases lists the open recovery cases of a batch's operations, by their rows in its
// list, at most limit. Those that the viewer may not know of are not found.
func (s *Store) BatchCases(ctx context.Context, viewer Actor, id operation.BatchID, limit int) ([]CaseRow, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	var out []CaseRow
	err = s.snapshot(ctx, func(t *tx) error {
		var rows []CaseRow
		if err := t.list(&rows, `SELECT `+caseColumns+` FROM recovery_cases c JOIN operations o ON o.id = c.operation_id
			WHERE o.batch_id = $1 AND o.state IN ('unknown', 'review') AND c.closed_at IS NULL ORDER BY o.batch_no LIMIT $2`, string(id), limit); err != nil {
			return err
		}
		out = nil
		for _, r := range rows {
			if v.Sees(r.Flow, r.Destination) {
				out = append(out, r)
			}
		}
		return nil
	})
	return out, err
}
