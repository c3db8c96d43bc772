package store

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"holdpoint/operation"
)

// TaskShown is what a form about a task was shown with.
type TaskShown struct {
	ID     operation.TaskID
	Rev    int64
	FormID string // the same form twice is one change
}

// OpenTask opens a task for a person: they must work on one of its flows, or for every
// flow where it names none. One of an incident follows the rules of the incident.
func (s *Store) OpenTask(ctx context.Context, a Actor, n NewTask) (operation.TaskID, error) {
	if err := n.check(); err != nil {
		return "", err
	}
	if n.Incident != "" || n.FormID == "" {
		return "", operation.Refuse(operation.CodeStaleRevision) // AddIncidentTask is for those
	}
	var id operation.TaskID
	err := s.write(ctx, func(t *tx) error {
		v, err := t.viewer(a)
		if err != nil {
			return err
		}
		if err := t.get(&id, `SELECT COALESCE((SELECT id FROM improvement_tasks WHERE created_by = $1 AND form_id = $2), '')`, a.ID, n.FormID); err != nil || id != "" {
			return orDone(err)
		}
		flows := n.Flows
		if len(flows) == 0 {
			flows = []string{""}
		}
		for _, f := range flows {
			if !v.Sees(f, "") {
				return ErrNotFound
			}
			if !operation.MayWriteIncident(v.In(f)) {
				return notEntitled(operation.RoleOpsOwner)
			}
		}
		now, err := t.clock()
		if err != nil {
			return err
		}
		id, err = t.addTask(a, now, n)
		return err
	})
	return id, err
}

// AddIncidentTask opens a task that an incident asks for.
func (s *Store) AddIncidentTask(ctx context.Context, a Actor, sh IncidentShown, n NewTask) error {
	n.Incident, n.FormID, n.Flows = string(sh.ID), "", nil
	if err := n.check(); err != nil {
		return err
	}
	return s.changeIncident(ctx, a, sh, operation.IncidentOpen, func(c *incidentChange) error {
		id, err := c.addTask(a, c.now, n)
		if err != nil {
			return err
		}
		return c.note("add_task", "", "task", string(id), "title", n.Title)
	})
}

// taskChange is one change of a task in progress; its row is locked.
type taskChange struct {
	*tx
	actor Actor
	who   Viewer
	now   time.Time
	row   TaskRow
}

func (s *Store) changeTask(ctx context.Context, a Actor, sh TaskShown, fn func(*taskChange) error) error {
	return s.write(ctx, func(t *tx) error {
		v, err := t.viewer(a)
		if err != nil {
			return err
		}
		c := &taskChange{tx: t, actor: a, who: v}
		if err := t.get(&c.row, `SELECT `+taskColumns+taskFrom+` WHERE k.id = $1 FOR UPDATE OF k`, string(sh.ID)); err != nil {
			return err
		}
		if !c.row.seenBy(v) {
			return ErrNotFound
		}
		if !c.row.changedBy(v) {
			return notEntitled(operation.RoleOpsOwner)
		}
		if sh.FormID != "" && c.row.LastForm == sh.FormID {
			return errDone
		}
		if sh.FormID == "" || sh.Rev != c.row.Rev {
			return ErrChanged
		}
		if c.now, err = t.clock(); err != nil {
			return err
		}
		if c.now.Before(c.row.UpdatedAt) {
			c.now = c.row.UpdatedAt.UTC()
		}
		if err := fn(c); err != nil {
			return err
		}
		return t.one(`UPDATE improvement_tasks SET rev = rev + 1, updated_at = $2, last_form = $3 WHERE id = $1 AND rev = $4`, string(sh.ID), c.now, sh.FormID, sh.Rev)
	})
}

// TaskEdit is what can be changed of an open task.
type TaskEdit struct {
	Title, Why string
	Owner      operation.UserID
	OwnerRole  operation.Role
	Due        time.Time
	Reason     string // needed when the owner or the due time changes
}

// EditTask changes title, reason, owner or due time. A new owner or due time needs a
// reason; whoever it concerns is told anew.
func (s *Store) EditTask(ctx context.Context, a Actor, sh TaskShown, e TaskEdit) error {
	n := NewTask{Title: e.Title, Why: e.Why, Owner: e.Owner, OwnerRole: e.OwnerRole, Due: e.Due}
	if err := n.check(); err != nil {
		return err
	}
	n.Due = storedTime(n.Due).Truncate(time.Microsecond)
	return s.changeTask(ctx, a, sh, func(c *taskChange) error {
		r := c.row
		if r.State != operation.TaskOpen {
			return ErrChanged
		}
		moved, delayed := r.moves(n)
		switch {
		case !moved && !delayed && n.Title == r.Title && n.Why == r.Why:
			return errDone
		case (moved || delayed) && strings.TrimSpace(e.Reason) == "":
			return &Invalid{Field: "reason", Code: "reason_missing"}
		}
		if n.Owner != "" && n.Owner != r.OwnerID {
			if err := c.taskOwner(n.Owner); err != nil {
				return err
			}
		}
		if err := c.one(`UPDATE improvement_tasks SET title = $2, why = $3, owner_id = $4, owner_role = $5, due_at = $6 WHERE id = $1`,
			string(r.ID), n.Title, n.Why, nilIfEmpty(string(n.Owner)), string(n.OwnerRole), n.Due); err != nil {
			return err
		}
		if moved || delayed {
			step := r.Told // what was said of the old time is said again of the new one
			if moved {
				step = -1
			} else if step > operation.StepAsk {
				step = operation.StepAsk
			}
			if err := c.planTask(step, n.Due); err != nil {
				return err
			}
		}
		return c.note("edit_task", e.Reason, n.links(r)...)
	})
}

// Moves reports that a task would have another owner or another due time, which needs a reason.
func (r TaskRow) Moves(n NewTask) bool {
	moved, delayed := r.moves(n)
	return moved || delayed
}

func (r TaskRow) moves(n NewTask) (owner, due bool) {
	return n.Owner != r.OwnerID || n.OwnerRole != r.OwnerRole, !storedTime(n.Due).Truncate(time.Microsecond).Equal(r.Due)
}

// links are those of an entry about an edit: what was, and what is.
func (n NewTask) links(r TaskRow) []string {
	var out []string
	for _, x := range [][3]string{{"title", r.Title, n.Title}, {"why", r.Why, n.Why}, {"owner", string(r.OwnerID), string(n.Owner)}, {"owner_role", string(r.OwnerRole), string(n.OwnerRole)},
		{"due", stampText(r.Due), stampText(n.Due)}} {
		if x[1] != x[2] {
			out = append(out, x[0]+"_was", dashed(x[1]), x[0], dashed(x[2]))
		}
	}
	return out
}

// planTask plans when the owner is told next.
func (c *taskChange) planTask(told int, due time.Time) error {
	_, at := operation.NextTaskStep(told, due, c.now)
	return c.one(`UPDATE improvement_tasks SET told_step = $2, step_at = $3 WHERE id = $1`, string(c.row.ID), told, at)
}

func (c *taskChange) note(action, reason string, links ...string) error {
	return c.enter(c.actor, c.now, operation.SubjectTask, string(c.row.ID), action, reason, links...)
}

// CloseTask ends a task as done or dropped, with a word on it.
func (s *Store) CloseTask(ctx context.Context, a Actor, sh TaskShown, as operation.TaskState, word string) error {
	word = storable(strings.TrimSpace(word))
	switch {
	case as != operation.TaskDone && as != operation.TaskDropped:
		return &Invalid{Field: "as", Code: "text_missing"}
	case word == "":
		return &Invalid{Field: "word", Code: "text_missing"}
	case utf8.RuneCountInString(word) > TaskTextLimit:
		return &Invalid{Field: "word", Code: "text_long", Limit: TaskTextLimit}
	}
	return s.changeTask(ctx, a, sh, func(c *taskChange) error {
		if c.row.State != operation.TaskOpen {
			return ErrChanged
		}
		if err := c.one(`UPDATE improvement_tasks SET state = $2, word = $3, closed_at = $4, closed_by = $5, step_at = NULL WHERE id = $1`, string(c.row.ID), string(as), word, c.now, a.ID); err != nil {
			return err
		}
		return c.note(map[operation.TaskState]string{operation.TaskDone: "finish_task", operation.TaskDropped: "drop_task"}[as], word)
	})
}

// ReopenTask opens a closed task again, with a reason and a new due time.
func (s *Store) ReopenTask(ctx context.Context, a Actor, sh TaskShown, due time.Time, reason string) error {
	if reason = strings.TrimSpace(reason); reason == "" {
		return &Invalid{Field: "reason", Code: "reason_missing"}
	}
	if due.IsZero() {
		return &Invalid{Field: "due", Code: "due_missing"}
	}
	due = storedTime(due).Truncate(time.Microsecond)
	return s.changeTask(ctx, a, sh, func(c *taskChange) error {
		if c.row.State == operation.TaskOpen {
			return ErrChanged
		}
		if err := c.one(`UPDATE improvement_tasks SET state = 'open', word = '', closed_at = NULL, closed_by = '', due_at = $2 WHERE id = $1`, string(c.row.ID), due); err != nil {
			return err
		}
		if err := c.planTask(-1, due); err != nil {
			return err
		}
		return c.note("reopen_task", reason, "due", stampText(due), "word_was", c.row.Word)
	})
}
