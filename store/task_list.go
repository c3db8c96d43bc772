package store

import (
	"context"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// TaskRow is one improvement task.
type TaskRow struct {
	ID         operation.TaskID     `db:"id"`
	Number     int64                `db:"number"`
	Title      string               `db:"title"`
	Why        string               `db:"why"`
	OwnerID    operation.UserID     `db:"owner_id"`
	OwnerName  string               `db:"owner_name"`
	OwnerGone  bool                 `db:"owner_gone"` // the person's account is not active any more
	OwnerRole  operation.Role       `db:"owner_role"`
	Due        time.Time            `db:"due_at"`
	State      operation.TaskState  `db:"state"`
	Word       string               `db:"word"`
	ClosedAt   *time.Time           `db:"closed_at"`
	ClosedBy   string               `db:"closed_by"`
	IncidentID operation.IncidentID `db:"incident_id"`
	IncidentNo int64                `db:"incident_no"`
	LimitID    string               `db:"limit_id"`
	ReportID   string               `db:"report_id"`
	Flows      pq.StringArray       `db:"flows"` // of the incident, where it is of one
	Rev        int64                `db:"rev"`
	LastForm   string               `db:"last_form"`
	CreatedBy  string               `db:"created_by"`
	CreatedAt  time.Time            `db:"created_at"`
	UpdatedAt  time.Time            `db:"updated_at"`
	Told       int                  `db:"told_step"`
	StepAt     *time.Time           `db:"step_at"`
}

const taskColumns = `k.id, k.number, k.title, k.why, COALESCE(k.owner_id, '') AS owner_id, COALESCE((SELECT name FROM users WHERE id = k.owner_id), '') AS owner_name,
	COALESCE((SELECT NOT active FROM users WHERE id = k.owner_id), false) AS owner_gone, k.owner_role, k.due_at, k.state, k.word, k.closed_at, k.closed_by,
	COALESCE(k.incident_id, '') AS incident_id, COALESCE(i.number, 0) AS incident_no, COALESCE(k.limit_id, '') AS limit_id, COALESCE(k.report_id, '') AS report_id, COALESCE(i.flows, k.flows) AS flows,
	k.rev, k.last_form, k.created_by, k.created_at, k.updated_at, k.told_step, k.step_at`

const taskFrom = ` FROM improvement_tasks k LEFT JOIN incidents i ON i.id = k.incident_id`

// Origin says what the task follows from.
func (r TaskRow) Origin() operation.TaskOrigin {
	switch {
	case r.IncidentID != "":
		return operation.FromIncident
	case r.LimitID != "":
		return operation.FromLimit
	case r.ReportID != "":
		return operation.FromReport
	}
	return operation.FromPerson
}

// Responsible names the owner: the person, or the role where there is none.
func (r TaskRow) Responsible() string {
	if r.OwnerName != "" {
		return r.OwnerName
	}
	return string(r.OwnerRole)
}

// Late reports that it is open and past its time.
func (r TaskRow) Late(now time.Time) bool { return r.State == operation.TaskOpen && r.Due.Before(now) }

// seenBy: its owner, whoever may see one of its flows; one of no single flow is seen by
// who may see every flow.
func (r TaskRow) seenBy(v Viewer) bool {
	if r.OwnerID != "" && r.OwnerID == v.ID {
		return v.Active
	}
	if len(r.Flows) == 0 {
		return v.Sees("", "")
	}
	for _, f := range r.Flows {
		if v.Sees(f, "") {
			return true
		}
	}
	return false
}

// changedBy: its owner, whoever holds the owner's role for one of its flows, and whoever
// answers for the flow's operations.
func (r TaskRow) changedBy(v Viewer) bool {
	if r.OwnerID != "" && r.OwnerID == v.ID {
		return v.Active
	}
	flows := []string(r.Flows)
	if len(flows) == 0 {
		flows = []string{""}
	}
	for _, f := range flows {
		p := v.In(f)
		if p.Active && (p.Has(operation.RoleOpsOwner) || p.Has(operation.RoleAdmin) || r.OwnerRole != "" && p.Has(r.OwnerRole)) {
			return true
		}
	}
	return false
}

// TaskFilter narrows the list of tasks. Empty fields do not narrow.
type TaskFilter struct {
	State   operation.TaskState
	Overdue bool
	Mine    bool
	Origin  operation.TaskOrigin
	Flow    string
	// Of names one incident, limit or report whose tasks are listed.
	Of     string
	Cursor string
	Limit  int // 0 = 50
}

// TaskList is one page of tasks: open ones by their due times, then closed ones.
type TaskList struct {
	Now        time.Time
	Rows       []TaskRow
	Next, Prev string
	Open, Late int // of all that the viewer may see
}

// ListTasks lists the improvement tasks that the viewer may know of.
func (s *Store) ListTasks(ctx context.Context, viewer Actor, f TaskFilter) (*TaskList, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	if f.Limit <= 0 || f.Limit > 500 {
		f.Limit = 50
	}
	c, order := f.conditions(v)
	out := &TaskList{}
	err = s.read(ctx, func(q *sqlx.DB) error {
		out.Rows = nil
		var n struct {
			Now  time.Time `db:"now"`
			Open int       `db:"open"`
			Late int       `db:"late"`
		}
		var all conditions
		seenTasks(&all, v)
		all.add("k.state = 'open'")
		if err := q.GetContext(ctx, &n, `SELECT clock_timestamp() AS now, count(*) AS open, count(*) FILTER (WHERE k.due_at < clock_timestamp()) AS late`+taskFrom+all.sql(), all.args...); err != nil {
			return err
		}
		out.Now, out.Open, out.Late = n.Now, n.Open, n.Late
		return q.SelectContext(ctx, &out.Rows, `SELECT `+taskColumns+taskFrom+c.sql()+` ORDER BY k.state = 'open' `+order+`, k.due_at `+flip(order)+`, k.id `+flip(order)+` LIMIT `+c.arg(f.Limit+1), c.args...)
	})
	if err != nil {
		return nil, err
	}
	out.Rows, out.Next, out.Prev = keysetPage(out.Rows, f.Limit, f.Cursor, func(r TaskRow) cursor {
		at := cursor{At: r.Due, ID: operation.ID(r.ID)}
		if r.State != operation.TaskOpen {
			at.Entry = 1
		}
		return at
	})
	return out, nil
}

func flip(order string) string {
	if order == "DESC" {
		return "ASC"
	}
	return "DESC"
}

func (f TaskFilter) conditions(v Viewer) (c conditions, order string) {
	seenTasks(&c, v)
	if f.State.Valid() {
		c.add("k.state = ?", string(f.State))
	}
	if f.Overdue {
		c.add("k.state = 'open' AND k.due_at < clock_timestamp()")
	}
	if f.Mine {
		c.add("k.owner_id = ?", string(v.ID))
	}
	if f.Flow != "" {
		c.add("COALESCE(i.flows, k.flows) @> ARRAY[?]", f.Flow)
	}
	if f.Of != "" {
		c.add("(k.incident_id = ? OR k.limit_id = ? OR k.report_id = ?)", f.Of, f.Of, f.Of)
	}
	switch f.Origin {
	case operation.FromIncident, operation.FromLimit, operation.FromReport:
		c.add("k." + string(f.Origin) + "_id IS NOT NULL")
	case operation.FromPerson:
		c.add("num_nonnulls(k.incident_id, k.limit_id, k.report_id) = 0")
	}
	order = "DESC"
	if at, ok := decodeCursor(f.Cursor); ok {
		closed, cmp := at.Entry == 1, ">"
		if at.Back {
			cmp, order = "<", "ASC"
		}
		// open ones come first: in the order of the list, false = open
		c.add("(k.state <> 'open', k.due_at, k.id) "+cmp+" (?, ?, ?)", closed, storedTime(at.At), string(at.ID))
	}
	return c, order
}

// seenTasks narrows to what the viewer may know of; it says the same as seenBy.
func seenTasks(c *conditions, v Viewer) {
	all, flows := v.seenFlows()
	if all {
		return
	}
	if !v.Active {
		c.add("false")
		return
	}
	c.add("(k.owner_id = ? OR COALESCE(i.flows, k.flows) && ?)", string(v.ID), pq.Array(append([]string{}, flows...)))
}

// Task is one improvement task with its history.
type Task struct {
	TaskRow
	Now       time.Time
	MayChange bool
	ByName    string // who opened it, by name; "" = a job or the system
	ClosedWho string
	History   []HistoryRow
	Broken    int64
}

// FindTask reads a task as the viewer may see it; the same error for one that is not there
// and one of other people's flows.
func (s *Store) FindTask(ctx context.Context, viewer Actor, id operation.TaskID) (*Task, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	var k *Task
	err = s.snapshot(ctx, func(t *tx) error {
		k = &Task{}
		if err := t.get(&k.TaskRow, `SELECT `+taskColumns+taskFrom+` WHERE k.id = $1`, string(id)); err != nil {
			return err
		}
		if !k.seenBy(v) {
			return ErrNotFound
		}
		var n struct {
			Now    time.Time `db:"now"`
			By     string    `db:"by_name"`
			Closed string    `db:"closed_name"`
		}
		if err := t.get(&n, `SELECT clock_timestamp() AS now, COALESCE((SELECT name FROM users WHERE id = $1), '') AS by_name, COALESCE((SELECT name FROM users WHERE id = $2), '') AS closed_name`, k.CreatedBy, k.ClosedBy); err != nil {
			return err
		}
		k.Now, k.ByName, k.ClosedWho = n.Now, n.By, n.Closed
		k.MayChange = k.changedBy(v)
		k.History, err = t.history(operation.SubjectTask, string(id), k.CreatedAt)
		k.Broken = chainBreak(k.History)
		return err
	})
	return k, err
}

func (t *tx) readIncidentTasks(in *Incident) error {
	return t.list(&in.Tasks, `SELECT `+taskColumns+taskFrom+` WHERE k.incident_id = $1 ORDER BY k.number`, string(in.ID))
}
