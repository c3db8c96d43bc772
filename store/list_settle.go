package store

import (
	"context"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// NextToSettle gives the most urgent operation whose unknown outcome this person may
// settle, leaving one out, and how many there are, up to CountLimit. left is 0 when
// there is none.
func (s *Store) NextToSettle(ctx context.Context, viewer Actor, except operation.ID) (o OperationSummary, left int, err error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil || !v.Active {
		return o, 0, err
	}
	roles, flows := v.rolePairs()
	const which = inboxFrom + ` AND o.next_kind = 'reconcile' AND o.id <> $4`
	args := []any{pq.Array(roles), pq.Array(flows), viewer.ID, string(except)}
	err = s.snapshot(ctx, func(t *tx) error {
		var rows []opRow
		if err := t.list(&rows, `SELECT `+opColumns+which+` ORDER BY o.next_at, o.id LIMIT 1`, args...); err != nil || len(rows) == 0 {
			return err
		}
		o = OperationSummary{rows[0]}
		return t.get(&left, `SELECT count(*) FROM (SELECT 1`+which+` LIMIT $5) x`, append(args, CountLimit)...)
	})
	return o, left, err
}
