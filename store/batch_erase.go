package store

import (
	"context"
	"strconv"
	"strings"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// EraseBatch takes all that a closed batch holds of people away: entries, contents, shared
// text, recipients, in all versions. Its operations have bodies of their own. For a reason
// that an admin gives who proved lately who they are, or the command line.
func (s *Store) EraseBatch(ctx context.Context, a Actor, id operation.BatchID, reason string) error {
	reason, err := reasonGiven(reason)
	if err != nil {
		return err
	}
	return s.changeBatch(ctx, a, id, false, nil, func(c *batchChange) error {
		if err := c.mayAdmin(a); err != nil {
			return err
		}
		if err := c.confirmed(a, c.now); err != nil {
			return err
		}
		return c.erase(reason, 0)
	})
}

// erase takes the bodies away and records it. days is the rule's, 0 = a person asked for it.
func (c *batchChange) erase(reason string, days int) error {
	var gone int
	if err := c.get(&gone, `SELECT erase_batch($1, $2)`, string(c.b.ID), c.now); err != nil {
		if violates(err, "bodies_kept") {
			return c.refuseState()
		}
		return err
	}
	if gone == 0 && c.b.Title == "" {
		return errDone
	}
	c.b.Title = ""
	rule := ""
	if days > 0 {
		rule = strconv.Itoa(days)
	}
	return c.note("erase_contents", reason, "rows", strconv.Itoa(gone), "days", rule)
}

// retainedBatchesSQL gives the batches whose contents have lain for $1 days: closed, nothing
// open about their operations, and with something to erase.
const retainedBatchesSQL = ` FROM batches b WHERE b.state IN ('closed', 'rejected', 'cancelled') AND b.closed_at < clock_timestamp() - make_interval(days => $1)
	AND EXISTS (SELECT 1 FROM batch_versions v WHERE v.batch_id = b.id AND v.erased_at IS NULL)
	AND NOT EXISTS (SELECT 1 FROM operations o WHERE o.batch_id = b.id AND (o.state NOT IN ` + closedStates + ` OR o.remedy <> '' OR o.disputed
		OR EXISTS (SELECT 1 FROM recovery_cases c WHERE c.operation_id = o.id AND c.closed_at IS NULL)))`

// batchesPreviewSQL counts the batches that a term of $1 days would take the contents of.
const batchesPreviewSQL = `SELECT count(*) AS batches, min(b.closed_at) AS oldest, max(b.closed_at) AS newest, COALESCE(string_agg(DISTINCT b.flow, ','), '') AS names` + retainedBatchesSQL

// sweepBatchContents erases the contents of batches that have lain for their term, a few at a
// time, and gives how many it erased.
func (s *Store) sweepBatchContents(ctx context.Context, a Actor) (int, error) {
	var days int
	var ids []string
	err := s.read(ctx, func(db *sqlx.DB) error {
		ids = nil
		if err := db.GetContext(ctx, &days, `SELECT COALESCE(days, 0) FROM retention_settings WHERE kind = 'contents'`); err != nil || days == 0 {
			return err
		}
		return db.SelectContext(ctx, &ids, `SELECT b.id`+retainedBatchesSQL+` ORDER BY b.closed_at LIMIT 20`, days)
	})
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return s.sweepBatches(ctx, a, `SELECT id FROM batches WHERE id IN ('`+strings.Join(ids, "','")+`')`, func(c *batchChange) error {
		if !c.b.State.Closed() {
			return errDone
		}
		return c.erase(keptForTerm, days)
	})
}
