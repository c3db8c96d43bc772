package store

import (
	"context"
	"time"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// InboxCounts are the numbers at the inbox's tabs, each up to CountLimit. They count
// what the lists of the same names list.
type InboxCounts struct {
	Mine    int
	Others  int `db:"others"`
	Changes int `db:"changes"`
	Done    int `db:"done"`
}

// ChangedRow is a version that was sent back, and that nobody has submitted again.
type ChangedRow struct {
	InboxRow
	By     operation.UserID
	Reason string
	At     time.Time
}

// DoneRow is an operation with the last thing that this person did to it.
type DoneRow struct {
	InboxRow
	Entry HistoryRow
}

// recentActs bounds how far the waiting-on-others list looks back in what one person
// did, recentChanges how many requests for changes are looked through.
const (
	recentActs    = "300"
	recentChanges = "200"
)

// The three lists take $1 and $2 the person's roles and flows, $3 the person, $4 whether
// they see every flow, $5 the flows that they see, and $6 how many rows.
const (
	seenSQL = ` ($4 OR o.flow = ANY($5))`
	notMine = ` NOT (EXISTS (SELECT 1 FROM ` + pairsSQL + ` WHERE` + fitSQL + ` true) AND` + mineSQL + `)`

	actsSQL = ` FROM (SELECT DISTINCT y.subject_id FROM (SELECT h.subject_id FROM history h WHERE h.actor_kind = 'person' AND h.subject_kind = 'operation' AND h.actor_id = $3
			ORDER BY h.at DESC, h.id DESC LIMIT ` + recentActs + `) y) h`

	othersSQL = actsSQL + decidedByOthers

	decidedByOthers = ` JOIN operations o ON o.id = h.subject_id
		WHERE o.next_kind <> '' AND NOT o.next_system AND o.next_kind <> 'earlier_stage' AND` + seenSQL + ` AND` + notMine

	changesSQL = ` FROM (SELECT a.id, a.version_id, a.operation_id, a.user_id, a.reason, a.decided_at FROM approvals a WHERE a.decision = 'request_changes'
			ORDER BY a.decided_at DESC, a.id DESC LIMIT ` + recentChanges + `) a
		JOIN operations o ON o.id = a.operation_id AND o.version_id = a.version_id AND o.state = 'draft'
		WHERE` + seenSQL + ` AND (a.user_id = $3 OR EXISTS (SELECT 1 FROM ` + pairsSQL + ` WHERE` + fitSQL + ` true)
			OR EXISTS (SELECT 1 FROM content_versions cv WHERE cv.id = a.version_id AND (cv.author_id = $3 OR cv.prompted_by = $3)))
		AND NOT EXISTS (SELECT 1 FROM approvals l WHERE l.version_id = a.version_id AND l.decision = 'request_changes' AND (l.decided_at, l.id) > (a.decided_at, a.id))`

	// tabsSQL counts the three lists; what the person did is read once for two of them.
	tabsSQL = `WITH acts AS MATERIALIZED (SELECT h.subject_id` + actsSQL + `)
		SELECT (SELECT count(*) FROM (SELECT 1 FROM acts h` + decidedByOthers + ` LIMIT $6) x) AS others, (SELECT count(*) FROM (SELECT 1` + changesSQL + ` LIMIT $6) x) AS changes,
		(SELECT count(*) FROM (SELECT 1 FROM acts h WHERE $4 OR EXISTS (SELECT 1 FROM operations o WHERE o.id = h.subject_id AND o.flow = ANY($5)) LIMIT $6) x) AS done`
)

func (v Viewer) tabArgs() []any {
	roles, flows := v.rolePairs()
	all, seen := v.seenFlows()
	return []any{pq.Array(roles), pq.Array(flows), string(v.Person.ID), all, pq.Array(seen), CountLimit}
}

// CountInboxTabs counts all four lists of the inbox, in one snapshot.
func (s *Store) CountInboxTabs(ctx context.Context, viewer Actor) (InboxCounts, error) {
	v, err := s.FindViewer(ctx, viewer)
	var n InboxCounts
	if err != nil || !v.Active {
		return n, err
	}
	err = s.snapshot(ctx, func(t *tx) error {
		if err := t.get(&n, tabsSQL, v.tabArgs()...); err != nil {
			return err
		}
		n.Mine, err = t.countInbox(v)
		return err
	})
	if err == nil {
		keepLook(lookOf(ctx, viewer), lookWaiting, viewer, n.Mine)
	}
	return n, err
}

// ListOthers lists what this person worked on lately and what others must decide now,
// by due time. At most CountLimit rows.
func (s *Store) ListOthers(ctx context.Context, viewer Actor) (rows []InboxRow, err error) {
	err = s.tab(ctx, viewer, func(t *tx, v Viewer, now time.Time) error {
		var ids []string
		if err := t.list(&ids, `SELECT o.id`+othersSQL+` ORDER BY o.next_at, o.id LIMIT $6`, v.tabArgs()...); err != nil {
			return err
		}
		rows, err = t.rowsOf(ids, now)
		return err
	})
	return rows, err
}

// ListChanges lists what was sent back and not submitted again: what this person sent
// back or wrote, and what they are to change by their role. Newest first, at most
// CountLimit rows.
func (s *Store) ListChanges(ctx context.Context, viewer Actor) (rows []ChangedRow, err error) {
	err = s.tab(ctx, viewer, func(t *tx, v Viewer, now time.Time) error {
		var found []struct {
			ID     string           `db:"id"`
			By     operation.UserID `db:"user_id"`
			Reason string           `db:"reason"`
			At     time.Time        `db:"decided_at"`
		}
		if err := t.list(&found, `SELECT o.id, a.user_id, a.reason, a.decided_at`+changesSQL+` ORDER BY a.decided_at DESC, a.id DESC LIMIT $6`, v.tabArgs()...); err != nil {
			return err
		}
		ids := make([]string, len(found))
		for i, r := range found {
			ids[i] = r.ID
		}
		ops, err := t.rowsOf(ids, now)
		if err != nil {
			return err
		}
		rows = nil
		for i, o := range ops {
			rows = append(rows, ChangedRow{InboxRow: o, By: found[i].By, Reason: found[i].Reason, At: found[i].At})
		}
		return nil
	})
	return rows, err
}

// DoneList is one page of what a person did.
type DoneList struct {
	Rows []DoneRow
	Next string // cursor, "" = none
}

// ListDone lists the operations on which this person has acted, each once with their
// last act, newest first. What follows from an act at the same moment is no act.
func (s *Store) ListDone(ctx context.Context, viewer Actor, at string) (list DoneList, err error) {
	err = s.tab(ctx, viewer, func(t *tx, v Viewer, now time.Time) error {
		acts, next, err := t.lastActs(v, at)
		if err != nil {
			return err
		}
		ids := make([]string, len(acts))
		for i, e := range acts {
			ids[i] = e.SubjectID
		}
		ops, err := t.rowsOf(ids, now)
		list = DoneList{Next: next}
		for i, o := range ops {
			list.Rows = append(list.Rows, DoneRow{InboxRow: o, Entry: acts[i]})
		}
		return err
	})
	return list, err
}

// actsWindow is how many entries lastActs reads at once, actsWindows how often at most: a
// page may be short where somebody acted very often on few operations.
const (
	actsWindow  = 3 * InboxShown
	actsWindows = 8
)

// lastActs reads backwards through what a person did and keeps their last act on each
// operation that they may see; next is where the following page begins, "" = nowhere.
func (t *tx) lastActs(v Viewer, at string) (acts []HistoryRow, next string, err error) {
	c, paged := decodeCursor(at)
	if !paged {
		c = cursor{At: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}
	}
	all, flows := v.seenFlows()
	for range actsWindows {
		var rows []struct {
			HistoryRow
			Last bool `db:"last"`
		}
		if err := t.list(&rows, lastActsSQL, string(v.Person.ID), storedTime(c.At), c.Entry, actsWindow, all, pq.Array(flows)); err != nil {
			return nil, "", err
		}
		for _, r := range rows {
			if len(acts) == InboxShown {
				return acts, c.encode(), nil
			}
			if c = (cursor{At: r.At, Entry: r.ID}); r.Last {
				acts = append(acts, r.HistoryRow)
			}
		}
		if len(rows) < actsWindow {
			return acts, "", nil
		}
	}
	return acts, c.encode(), nil
}

const lastActsSQL = `SELECT h.id, ` + aliased + `, EXISTS (SELECT 1 FROM operations o WHERE o.id = h.subject_id AND ($5 OR o.flow = ANY($6)))
		AND NOT EXISTS (SELECT 1 FROM history l WHERE l.subject_kind = 'operation' AND l.subject_id = h.subject_id AND l.seq >= h.seq - 8 AND (l.at > h.at OR l.at = h.at AND l.seq < h.seq)
			AND l.actor_kind = 'person' AND l.actor_id = $1) AS last
	FROM (SELECT * FROM history h WHERE h.actor_kind = 'person' AND h.subject_kind = 'operation' AND h.actor_id = $1 AND (h.at, h.id) < ($2, $3) ORDER BY h.at DESC, h.id DESC LIMIT $4) h
	ORDER BY h.at DESC, h.id DESC`

// aliased is historyColumns of h.
const aliased = `h.subject_kind, h.subject_id, h.seq, h.at, h.actor_kind, h.actor_id, h.actor_name, h.role, h.channel, h.action, h.from_state, h.to_state, h.reason, h.links, h.version_id, h.evidence_hash, h.prev_hash, h.hash, h.words_hash, h.words_salt, h.words_links, h.words_gone_at`

// tab runs fn for an active viewer, in one snapshot.
func (s *Store) tab(ctx context.Context, viewer Actor, fn func(*tx, Viewer, time.Time) error) error {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil || !v.Active {
		return err
	}
	return s.snapshot(ctx, func(t *tx) error {
		var now time.Time
		if err := t.get(&now, `SELECT clock_timestamp()`); err != nil {
			return err
		}
		return fn(t, v, now)
	})
}
