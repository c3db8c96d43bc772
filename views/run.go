package views

import (
	"time"

	"holdpoint/operation"
)

// RunModel is the page of one run: its stages as a track, what a resume would do,
// the event and its deliveries.
type RunModel struct {
	Frame
	ID          operation.RunID
	Title       string
	Flow        Link
	FlowVersion int
	Key         string // the run key's shown form (a hash)
	State       operation.RunState
	StartedAt   time.Time
	EndedAt     time.Time // zero = not ended
	Owner       Who
	Stages      []RunStage
	Event       EventView
	MoreEvents  []EventView // others that led to the same run
	Deliveries  []DeliveryRow
	Inputs      []Field // what the event gave
	Missing     []string
}

// StageMark says what a resume would do with a stage.
type StageMark string

// The marks of a stage.
const (
	MarkKept    StageMark = "kept"    // confirmed (or gone on without): never runs again
	MarkNext    StageMark = "next"    // will be sent, or is under way
	MarkBlocked StageMark = "blocked" // something stands in the way
	MarkLater   StageMark = "later"   // waits for an earlier stage
)

// RunStage is one stage of a run.
type RunStage struct {
	Number      int
	Key         string
	Title       string
	Operation   operation.ID // "" = not created
	URL         string
	State       operation.State
	Mark        StageMark
	Why         Say    // why it is blocked or waits
	Version     int    // approved version that would be sent; 0 = none
	Hash        string // its hash, hex
	Destination string
	DestURL     string
	ConfirmedBy ConfirmedBy
	// Preview says what becomes of the stage when the run goes on.
	Preview     Say
	Next        operation.DecisionKind // of an operation that is not closed
	Batch       *BatchStanding         // of a stage that fans out; nil = State says it
	Counts      BatchCounts            // of a batch
	Turn        BatchTurn              // of a batch
	Responsible Who
	Due         time.Time
	Overdue     bool
	Reference   *Reference // of a kept stage
	WentOn      *Signature // the owner's "go on without it"
	GoOn        *GoOnForm  // nil = not offered
	GoOnURL     string     // where the run goes on without a batch; "" = not offered
	ReplaceURL  string     // where it is replaced; "" = not offered
	LeaveURL    string     // where it is left as it is; "" = not offered
}

// GoOnForm lets the owner go on without a stage that closed without effect.
// Fields: reason, confirm (yes).
type GoOnForm struct {
	Form
	Stage  string
	Reason string
}

// EventView is the business fact behind a run.
type EventView struct {
	ID      operation.EventID
	Source  string
	Account string
	Topic   string
	Key     string
	At      time.Time
	// Payload is the body as it came; "" when it was erased or may not be shown.
	Payload  string
	Erased   bool
	Conflict bool // the same identity came with another payload
}

// keyText shows a run key: whole, or as people compare hashes.
func keyText(key string) string {
	if len(key) == 64 {
		return shortHash(key)
	}
	return key
}

// runIcon gives the shape of a run's state.
func runIcon(s operation.RunState) string {
	switch s {
	case operation.RunBlocked:
		return "stop"
	case operation.RunCompleted:
		return string(operation.Confirmed)
	case operation.RunStopped:
		return string(operation.Cancelled)
	}
	return string(operation.InProgress)
}
