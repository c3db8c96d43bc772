package views

import (
	"context"
	"time"

	"holdpoint/operation"
)

// The addresses of incidents and improvement tasks.
const (
	PathIncidents = "/incidents"
	PathTasks     = "/tasks"
)

// TasksModel lists improvement tasks.
type TasksModel struct {
	Frame
	States, Origins, Flows []Option
	Overdue, Mine, Active  bool
	Open, Late             int
	Rows                   []TaskView
	Pager                  Pager
	New                    *TaskForm // nil = the viewer may open none
}

// TaskView is one improvement task.
type TaskView struct {
	ID, Number, URL string
	Title, Why      string
	Owner           Who
	OwnerGone       bool
	Role            operation.Role
	Due             time.Time
	Late            bool
	State           operation.TaskState
	Word            string
	Closed          time.Time
	ClosedBy        Who
	Origin          operation.TaskOrigin
	From            Link // what it follows from; empty URL = nothing to open
}

// TaskForm opens a task, or changes one. Field names: title, why, owner, role, due,
// reason, flow.
type TaskForm struct {
	Form
	ID            string // prefix of the fields' ids
	Title, Why    string
	People, Roles []Option
	Flows         []Option // empty = not asked
	Due, Reason   string
	Change        bool      // an open task is changed: a reason is asked for
	Now           *TaskView // what stands there now, where somebody else changed it meanwhile
}

// TaskModel is the page of one improvement task.
type TaskModel struct {
	Frame
	TaskView
	Flows     []string
	Opened    time.Time
	OpenedBy  Who
	NextTold  time.Time // when its owner is told next; zero = no more
	Edit      *TaskForm // nil = it is closed, or the viewer may not
	Close     *CloseTaskForm
	Reopen    *TaskForm
	History   HistoryModel
	MayChange bool
}

// CloseTaskForm ends a task. Field names: as, word.
type CloseTaskForm struct {
	Form
	As   operation.TaskState
	Word string
}

// taskOwnerText names a task's owner in words.
func taskOwnerText(ctx context.Context, r TaskView) string {
	if r.Owner.Name != "" && !r.OwnerGone {
		return who(ctx, r.Owner)
	}
	return t(ctx, "role."+string(r.Role))
}
