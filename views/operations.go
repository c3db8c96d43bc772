package views

import (
	"time"

	"holdpoint/operation"
)

// OperationsModel is the list of all operations with its filters.
// Query fields (GET): q, state (a state, "open" or "closed"), flow, destination, source,
// responsible, from, to (days), duplicate, overdue (yes), view, after, before (keyset).
type OperationsModel struct {
	Frame
	Filter OperationsFilter
	Rows   []OperationRow
	Pager  Pager
	// Views are the saved views to choose from, ViewsURL where they are edited and these
	// filters are saved, ExportURL the same list as CSV.
	Views               []SavedView
	ViewsURL, ExportURL string
	// IncidentURL opens an incident over what the list shows; "" = the viewer may not, or nothing narrows it.
	IncidentURL string
	// DisputeURL is where confirmed ones among these are disputed together; "" = the viewer may not.
	DisputeURL string
	// MayAdopt offers the form that enters a stopped job of another system by hand.
	MayAdopt bool
}

// OperationsFilter is what the list is limited to.
type OperationsFilter struct {
	Q            string
	States       []Option // values are operation.State, StateOpen and StateClosed; labels come from the catalogues
	Flows        []Option
	Destinations []Option
	Sources      []Option
	From, To     string   // days, "2006-01-02" in the viewer's zone; both count
	Responsible  []Option // values: "me", a role, "system"; labels from the model
	Duplicate    bool
	Overdue      bool
	Active       bool // some filter is set
}

// What the filter of states offers besides the states.
const (
	StateOpen   operation.State = "open"   // every state that is not closed
	StateClosed operation.State = "closed" // every state that is
)

// StateOptions lists open, closed and all states for the filter, the given one selected.
func StateOptions(selected operation.State) []Option {
	list := []Option{{Value: string(StateOpen), Selected: selected == StateOpen}, {Value: string(StateClosed), Selected: selected == StateClosed}}
	for _, s := range operation.States {
		list = append(list, Option{Value: string(s), Selected: s == selected})
	}
	return list
}

// OperationRow is one operation of the list.
type OperationRow struct {
	ID          operation.ID
	Revision    int64
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
