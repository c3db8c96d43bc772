package operation

import "time"

// TaskID names one improvement task: "tsk_…".
type TaskID string

// TaskState says what became of an improvement task.
type TaskState string

// The states of a task. A closed one has a word: what was done, or why it is dropped.
const (
	TaskOpen    TaskState = "open"
	TaskDone    TaskState = "done"
	TaskDropped TaskState = "dropped"
)

// TaskStates lists them.
var TaskStates = []TaskState{TaskOpen, TaskDone, TaskDropped}

// Valid reports whether s is one of TaskStates.
func (s TaskState) Valid() bool { return s == TaskOpen || s == TaskDone || s == TaskDropped }

// TaskOrigin says what an improvement task follows from.
type TaskOrigin string

// The origins.
const (
	FromIncident TaskOrigin = "incident"
	FromLimit    TaskOrigin = "limit"  // a figure passed its limit
	FromReport   TaskOrigin = "report" // a review
	FromPerson   TaskOrigin = "person" // somebody thought of it
)

// TaskOrigins lists them.
var TaskOrigins = []TaskOrigin{FromIncident, FromLimit, FromReport, FromPerson}

// Valid reports whether o is one of TaskOrigins.
func (o TaskOrigin) Valid() bool {
	for _, x := range TaskOrigins {
		if o == x {
			return true
		}
	}
	return false
}

// The times at which the owner of an improvement task is told of it again.
const (
	TaskRemind   = 24 * time.Hour     // before it is due
	TaskEscalate = 3 * 24 * time.Hour // after it was due: others are told too
	TaskRepeat   = 7 * 24 * time.Hour // between two reminders of what stays overdue
)

// NextTaskStep gives the step of telling that follows done and its time; done -1 =
// nobody was told. Steps that a late look or a short time has passed over are left out,
// but never the last of them. What stays overdue is told of every TaskRepeat after now.
func NextTaskStep(done int, due, now time.Time) (step int, at time.Time) {
	switch {
	case done < StepAsk:
		return StepAsk, now
	case done < StepRemind && !now.After(due.Add(-TaskRemind)):
		return StepRemind, due.Add(-TaskRemind)
	case done < StepOverdue:
		return StepOverdue, due
	case done < StepEscalate:
		return StepEscalate, due.Add(TaskEscalate)
	}
	return StepEscalate, now.Add(TaskRepeat)
}
