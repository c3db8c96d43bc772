package store

import (
	"context"
	"time"

	"holdpoint/operation"
)

// QueueRow is a frozen list of cases that one person settles, with exact totals: all of
// it is settled, handed on, on hold, gone otherwise, or left.
type QueueRow struct {
	ID        operation.QueueID `db:"id"`
	At        time.Time         `db:"created_at"`
	Total     int               `db:"total"`
	Settled   int               `db:"settled"`   // by its person
	Requested int               `db:"requested"` // its person asked a second one for a re-execution
	Held      int               `db:"held"`      // its person keeps it on hold
	Gone      int               `db:"gone"`      // settled otherwise, or another person's to decide by now
	Left      int               `db:"left_over"`
}

// QueueItem is one case of a queue.
type QueueItem struct {
	CaseRow
	Place  int                 `db:"place"`
	DoneAs operation.QueueDone `db:"done_as"` // "" = its person has not dealt with it
	Gone   bool                `db:"gone"`
	State  operation.State     `db:"state"`
	Title  string              `db:"title"`
}

// Left reports that it still waits for the person of the queue.
func (i QueueItem) Left() bool { return i.DoneAs == "" && !i.Gone }

// queueGone says that a case of a queue cannot be settled there any more.
const queueGone = `i.done_at IS NULL AND (c.closed_at IS NOT NULL OR o.state NOT IN ('unknown', 'review'))`

const queueColumns = `q.id, q.created_at, q.total, count(*) FILTER (WHERE i.done_as = 'settled') AS settled, count(*) FILTER (WHERE i.done_as = 'requested') AS requested,
	count(*) FILTER (WHERE i.done_as = 'held') AS held, count(*) FILTER (WHERE ` + queueGone + `) AS gone,
	count(*) FILTER (WHERE i.done_at IS NULL AND NOT (` + queueGone + `)) AS left_over`

const queueFrom = ` FROM case_queues q JOIN case_queue_items i ON i.queue_id = q.id JOIN recovery_cases c ON c.id = i.case_id JOIN operations o ON o.id = c.operation_id`

// NewQueue freezes a list of cases for a person, in its order. What they may not know of,
// and what is closed, is left out; nothing is taken or decided by it. The same form gives
// the same queue.
func (s *Store) NewQueue(ctx context.Context, a Actor, form string, list []operation.CaseID) (operation.QueueID, error) {
	picked := make([]PickedCase, len(list))
	for i, id := range list {
		picked[i].ID = id
	}
	known, err := s.knownCases(ctx, a, picked)
	if err != nil {
		return "", err
	}
	var id operation.QueueID
	err = s.write(ctx, func(t *tx) error {
		var sent []operation.QueueID
		if err := t.list(&sent, `SELECT id FROM case_queues WHERE user_id = $1 AND form_id = $2`, a.ID, form); err != nil || len(sent) > 0 {
			id = append(sent, "")[0]
			return err
		}
		id = operation.QueueID(newID("queue"))
		now, err := t.clock()
		if err != nil {
			return err
		}
		var open []operation.CaseID
		for _, c := range known {
			var is bool
			if err := t.get(&is, `SELECT closed_at IS NULL FROM recovery_cases WHERE id = $1`, string(c.ID)); err != nil {
				return err
			}
			if is {
				open = append(open, c.ID)
			}
		}
		if len(open) == 0 {
			return operation.Refuse(operation.CodeCaseClosed)
		}
		if _, err := t.exec(`INSERT INTO case_queues (id, user_id, form_id, total, created_at) VALUES ($1, $2, $3, $4, $5)`, string(id), a.ID, form, len(open), now); err != nil {
			return err
		}
		for i, c := range open {
			if _, err := t.exec(`INSERT INTO case_queue_items (queue_id, place, case_id) VALUES ($1, $2, $3)`, string(id), i+1, string(c)); err != nil {
				return err
			}
		}
		return nil
	})
	return id, err
}

// FindQueue gives a person's own queue with its cases. Another's is not found. What the
// person may not see any more is counted, not shown.
func (s *Store) FindQueue(ctx context.Context, a Actor, id operation.QueueID) (q QueueRow, items []QueueItem, err error) {
	v, err := s.FindViewer(ctx, a)
	if err != nil {
		return q, nil, err
	}
	err = s.snapshot(ctx, func(t *tx) error {
		if err := t.get(&q, `SELECT `+queueColumns+queueFrom+` WHERE q.id = $1 AND q.user_id = $2 GROUP BY q.id`, string(id), a.ID); err != nil {
			return err
		}
		var all []QueueItem
		if err := t.list(&all, `SELECT `+caseColumns+`, i.place, COALESCE(i.done_as, '') AS done_as, `+queueGone+` AS gone, o.state, o.title`+queueFrom+`
			WHERE q.id = $1 ORDER BY i.place`, string(id)); err != nil {
			return err
		}
		items = nil
		for _, x := range all {
			if v.Sees(x.Flow, x.Destination) {
				items = append(items, x)
			}
		}
		return nil
	})
	return q, items, err
}

// ListQueues lists a person's own queues in which something is left, newest first.
func (s *Store) ListQueues(ctx context.Context, a Actor) ([]QueueRow, error) {
	var rows []QueueRow
	err := s.snapshot(ctx, func(t *tx) error {
		rows = nil
		return t.list(&rows, `SELECT `+queueColumns+queueFrom+` WHERE q.id IN (SELECT id FROM case_queues WHERE user_id = $1 ORDER BY created_at DESC LIMIT 20)
			GROUP BY q.id HAVING count(*) FILTER (WHERE i.done_at IS NULL AND NOT (`+queueGone+`)) > 0 ORDER BY q.created_at DESC`, a.ID)
	})
	return rows, err
}

// NextInQueue gives the case of a queue that comes after one, going round; ok is false
// when nothing is left.
func NextInQueue(items []QueueItem, after operation.CaseID) (next QueueItem, ok bool) {
	at := -1
	for i, x := range items {
		if x.ID == after {
			at = i
		}
	}
	for i := 1; i <= len(items); i++ {
		if x := items[(at+i+len(items))%len(items)]; x.Left() && x.ID != after {
			return x, true
		}
	}
	return QueueItem{}, false
}
