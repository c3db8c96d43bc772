package store

import (
	"strings"
	"time"
	"unicode/utf8"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// Lengths of a task's texts, in characters.
const (
	TaskTitleLimit = 200
	TaskTextLimit  = 4000
)

// NewTask is an improvement task to be opened. It has an owner, a role, or both: the
// role takes over when the person is gone.
type NewTask struct {
	Title     string
	Why       string // what and why; may be empty
	Owner     operation.UserID
	OwnerRole operation.Role
	Due       time.Time
	// What it follows from: at most one of them.
	Incident, Limit, Report string
	// Flows are those whose people may see it; empty = it belongs to no single flow, and is
	// seen by who may see every flow. A task of an incident is seen by who sees the incident.
	Flows  []string
	FormID string // the same form twice is one task; "" = not from a form
}

func (n *NewTask) check() error {
	n.Title, n.Why = shown(strings.TrimSpace(n.Title), TaskTitleLimit*4), storable(strings.TrimSpace(n.Why))
	if faults := n.Faults(); len(faults) > 0 {
		return faults[0]
	}
	return nil
}

// Faults are all that is wrong with the fields of a task, one of each field, in the order of
// its form. That a person is gone is found when it is written.
func (n *NewTask) Faults() []*Invalid {
	var out []*Invalid
	title := strings.TrimSpace(n.Title)
	switch {
	case title == "":
		out = append(out, &Invalid{Field: "title", Code: "text_missing"})
	case utf8.RuneCountInString(title) > TaskTitleLimit:
		out = append(out, &Invalid{Field: "title", Code: "text_long", Limit: TaskTitleLimit})
	}
	if utf8.RuneCountInString(strings.TrimSpace(n.Why)) > TaskTextLimit {
		out = append(out, &Invalid{Field: "why", Code: "text_long", Limit: TaskTextLimit})
	}
	if n.Owner == "" && n.OwnerRole == "" || n.OwnerRole != "" && !n.OwnerRole.Valid() {
		out = append(out, &Invalid{Field: "owner", Code: "owner_missing"})
	}
	if n.Due.IsZero() {
		out = append(out, &Invalid{Field: "due", Code: "due_missing"})
	}
	return out
}

// addTask opens an improvement task, in the transaction of what it follows from. Rights
// are the caller's affair.
func (t *tx) addTask(a Actor, now time.Time, n NewTask) (operation.TaskID, error) {
	if err := n.check(); err != nil {
		return "", err
	}
	if n.Owner != "" {
		if err := t.taskOwner(n.Owner); err != nil {
			return "", err
		}
	}
	id := operation.TaskID(newID("tsk"))
	_, err := t.exec(`INSERT INTO improvement_tasks (id, title, why, owner_id, owner_role, due_at, incident_id, limit_id, report_id, flows, form_id, created_by, created_at, updated_at, step_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13, $13)`, string(id), n.Title, n.Why, nilIfEmpty(string(n.Owner)), string(n.OwnerRole), storedTime(n.Due),
		nilIfEmpty(n.Incident), nilIfEmpty(n.Limit), nilIfEmpty(n.Report), pq.Array(append([]string{}, n.Flows...)), nilIfEmpty(n.FormID), a.ID, now)
	if err != nil {
		return "", err
	}
	return id, t.enter(a, now, operation.SubjectTask, string(id), "open_task", n.Why, "title", n.Title, "owner", string(n.Owner), "owner_role", string(n.OwnerRole),
		"due", n.Due.UTC().Format(time.RFC3339), "incident", n.Incident, "limit", n.Limit, "report", n.Report, "flow", strings.Join(n.Flows, ", "))
}

// taskOwner lets an active person be the owner.
func (t *tx) taskOwner(id operation.UserID) error {
	var n int
	if err := t.get(&n, `SELECT count(*) FROM users WHERE id = $1 AND active`, string(id)); err != nil {
		return err
	}
	if n == 0 {
		return &Invalid{Field: "owner", Code: "owner_gone"}
	}
	return nil
}
