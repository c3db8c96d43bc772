package store

import (
	"context"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// RestoreItem is one operation that is to be compared with its destination.
type RestoreItem struct {
	ID          operation.ID    `db:"id"`
	Title       string          `db:"title"`
	Flow        string          `db:"flow"`
	Destination string          `db:"destination"`
	Was         operation.State `db:"was"`   // at the restored point
	State       operation.State `db:"state"` // now
	Marked      bool            `db:"marked"`
	LastLookup  string          `db:"last_lookup"` // result of a lookup since the restore; "" = none yet
	LookedUp    *time.Time      `db:"looked_up"`
	HasLookup   bool            `db:"-"`       // its destination can be asked
	Settled     string          `db:"settled"` // "" = open
	SettledAt   *time.Time      `db:"settled_at"`
	SettledBy   string          `db:"settled_by"`
	Reason      string          `db:"reason"`
}

// RestoreFilter chooses a page of the list.
type RestoreFilter struct {
	Open  bool         // what is not reconciled only
	After operation.ID // keyset: go on behind this one
	Limit int
}

// ListRestored gives a page of the listed operations that the viewer may see, and whether
// there are more.
func (s *Store) ListRestored(ctx context.Context, viewer Actor, restore string, f RestoreFilter) ([]RestoreItem, bool, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, false, err
	}
	all, flows := v.seenFlows()
	var items []RestoreItem
	err = s.read(ctx, func(q *sqlx.DB) error {
		items = nil
		return q.SelectContext(ctx, &items, `SELECT o.id, o.title, o.flow, o.destination, i.state AS was, o.state, i.marked_at IS NOT NULL AS marked,
			CASE WHEN o.last_lookup_at >= r.found_at THEN COALESCE(o.last_lookup, '') ELSE '' END AS last_lookup, CASE WHEN o.last_lookup_at >= r.found_at THEN o.last_lookup_at END AS looked_up,
			COALESCE(i.settled, '') AS settled, i.settled_at, COALESCE(i.settled_by, '') AS settled_by, i.reason
			FROM restore_items i JOIN restores r ON r.id = i.restore_id JOIN operations o ON o.id = i.operation_id
			WHERE i.restore_id = $1 AND i.operation_id > $2 AND (NOT $3 OR i.settled_at IS NULL) AND ($4 OR o.flow = ANY($5)) ORDER BY i.operation_id LIMIT $6`,
			restore, string(f.After), f.Open, all, pq.Array(flows), f.Limit+1)
	})
	if err != nil {
		return nil, false, err
	}
	more := len(items) > f.Limit
	return items[:min(len(items), f.Limit)], more, nil
}

// RestorePlace counts what is open at one destination.
type RestorePlace struct {
	Destination string `db:"destination"`
	Open        int    `db:"open"`
	InDoubt     int    `db:"in_doubt"` // of them, to be compared one by one
}

// ListRestorePlaces gives the destinations with open operations of a restore.
func (s *Store) ListRestorePlaces(ctx context.Context, viewer Actor, restore string) ([]RestorePlace, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	all, flows := v.seenFlows()
	var out []RestorePlace
	err = s.read(ctx, func(q *sqlx.DB) error {
		out = nil
		return q.SelectContext(ctx, &out, `SELECT o.destination, count(*) AS open, count(*) FILTER (WHERE o.state IN ('unknown', 'in_progress', 'review', 'reexecution_requested')
			OR i.state IN ('unknown', 'in_progress')) AS in_doubt FROM restore_items i JOIN operations o ON o.id = i.operation_id
			WHERE i.restore_id = $1 AND i.settled_at IS NULL AND ($2 OR o.flow = ANY($3)) GROUP BY o.destination ORDER BY o.destination`, restore, all, pq.Array(flows))
	})
	return out, err
}

// RestoreSource is a source whose events of the lost time are to be sent again.
type RestoreSource struct {
	Source  string     `db:"source"`
	Newest  *time.Time `db:"newest"`   // when its newest event in this database was received before the restore was found
	SentNew int        `db:"sent_new"` // events received since whose time lies before the restore, or that have none
}

// ListRestoreSources gives the sources with the newest event that the restored database
// knows of: what came after it is missing until the source sends it again.
func (s *Store) ListRestoreSources(ctx context.Context, restore string) ([]RestoreSource, error) {
	var out []RestoreSource
	err := s.read(ctx, func(q *sqlx.DB) error {
		out = nil
		return q.SelectContext(ctx, &out, `SELECT s.name AS source,
			(SELECT max(d.received_at) FROM deliveries d WHERE d.source = s.name AND d.verdict = 'accepted' AND d.received_at < r.found_at) AS newest,
			(SELECT count(DISTINCT v.id) FROM deliveries d JOIN events v ON v.id = d.event_id WHERE d.source = s.name AND d.verdict = 'accepted' AND d.received_at >= r.found_at AND `+ofLostTime+`) AS sent_new
			FROM restores r CROSS JOIN sources s WHERE r.id = $1 ORDER BY s.name`, restore)
	})
	return out, err
}

// InDoubt reports that the operation is to be compared alone: something may be under way,
// or its outcome was not known.
func (i RestoreItem) InDoubt() bool {
	for _, s := range []operation.State{i.Was, i.State} {
		switch s {
		case operation.Unknown, operation.InProgress:
			return true
		}
	}
	return i.State == operation.Review || i.State == operation.ReexecutionRequested
}

// RestoredInDoubt is InDoubt of one listed operation; ErrNotFound = it is not listed.
func (s *Store) RestoredInDoubt(ctx context.Context, restore string, id operation.ID) (bool, error) {
	var i RestoreItem
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &i, `SELECT i.state AS was, o.state FROM restore_items i JOIN operations o ON o.id = i.operation_id WHERE i.restore_id = $1 AND i.operation_id = $2`, restore, string(id))
	})
	return i.InDoubt(), err
}
