package store

import "holdpoint/operation"

// ReplacingShown is how many open replacements of its items a batch names at most.
const ReplacingShown = 20

// replacingSQL finds the open replacements of those items of the batch $1 that were closed
// without effect, at most $2.
var replacingSQL = `SELECT x.id FROM operations o CROSS JOIN LATERAL (SELECT r.id FROM operations r WHERE ` + replacesItem + ` AND r.state IN ` + openStates + ` OFFSET 0) x WHERE o.batch_id = $1 AND o.state IN ('rejected', 'cancelled', 'not_executed') LIMIT $2`

// readReplacing finds out what may still have the effect in place of items of the batch: its
// stage is not judged before those replacements are closed.
func (p *BatchPage) readReplacing(c *batchChange) error {
	if p.Released == 0 || p.Satisfied {
		return nil
	}
	var ids []operation.ID
	if err := c.list(&ids, replacingSQL, string(p.ID), ReplacingShown+1); err != nil {
		return err
	}
	p.Replacing, p.ReplacingMore = ids, len(ids) > ReplacingShown
	if p.ReplacingMore {
		p.Replacing = ids[:ReplacingShown]
	}
	return nil
}
