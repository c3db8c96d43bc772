package views

import (
	"time"

	"holdpoint/operation"
)

// PathDisputes is where several confirmed effects are disputed together.
const PathDisputes = "/disputes"

// DisputesModel lists confirmed operations that may be disputed with one statement.
// Fields: pick, revision.<id>, evidence, files, link, filters.
type DisputesModel struct {
	Frame
	Form
	Items    []DisputeItem
	More     bool   // there are more than are listed
	Left     int    // that the filter finds and the viewer may not dispute
	All      string // address with all ticked; "" = they are
	None     string // address with none ticked
	Back     string // the list that it came from
	Filters  string // of that list
	Evidence string
	Link     string
}

// DisputeItem is one confirmed operation.
type DisputeItem struct {
	ID          operation.ID
	URL         string
	Title       string
	Flow        string
	Destination string
	Reference   Link // of the effect
	ConfirmedBy ConfirmedBy
	At          time.Time
	Revision    int64
	Picked      bool
}

// DisputeResultModel reports what became of each.
type DisputeResultModel struct {
	Frame
	Rows  []TogetherResult
	Again string
}

// Disputed counts those that are in review now because of it.
func (m DisputeResultModel) Disputed() (n int) {
	for _, r := range m.Rows {
		if r.Refusal == nil {
			n++
		}
	}
	return n
}
