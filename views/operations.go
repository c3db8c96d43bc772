package views

import (
	"time"

	"holdpoint/operation"
)

// OperationsModel is the list of all operations with its filters.
// Query fields (GET): q, state, flow, destination, source, responsible, from, to (days),
// duplicate (yes), after, before (keyset).
type OperationsModel struct {
	Frame
	Filter OperationsFilter
	Rows   []OperationRow
	Pager  Pager
	// MayAdopt offers the form that enters a stopped job of another system by hand.
	MayAdopt bool
}

// OperationsFilter is what the list is limited to.
type OperationsFilter struct {
	Q            string
	States       []Option // values are operation.State; labels come from the catalogues
	Flows        []Option
	Destinations []Option
	Sources      []Option
	From, To     string   // days, "2006-01-02" in the viewer's zone; both count
	Responsible  []Option // values: "me", a role, "system"; labels from the model
	Duplicate    bool
	Active       bool // some filter is set
}

// StateOptions lists all states for the filter, the given one selected.
func StateOptions(selected operation.State) []Option {
	list := make([]Option, 0, len(operation.States))
	for _, s := range operation.States {
		list = append(list, Option{Value: string(s), Selected: s == selected})
	}
	return list
}

// OperationRow is one operation of the list.
type OperationRow struct {
	ID          operation.ID
	URL         string
	State       operation.State
	ConfirmedBy ConfirmedBy
	Duplicate   Duplicate
	Overdue     bool
	Paused      bool
	Flow        string
	Stage       string
	Title       string
	Destination string
	Attempts    int
	Next        operation.DecisionKind
	Responsible Who
	Due         time.Time // zero for closed operations
	Changed     time.Time
}
