package views

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// InboxModel is "needs your decision".
type InboxModel struct {
	Frame
	Groups []InboxGroup // empty groups are left out
	// StillChecked is how many outcomes are unknown but still looked up
	// automatically, the next at NextCheck.
	StillChecked    int
	NextCheck       time.Time
	StillCheckedURL string
	// WithOthers is how many operations wait for other people.
	WithOthers    int
	WithOthersURL string
}

// InboxGroupKind names a group of the inbox.
type InboxGroupKind string

// The groups of the inbox, in the order in which they are shown.
const (
	GroupOverdue      InboxGroupKind = "overdue"
	GroupUnknown      InboxGroupKind = "unknown"     // unknown outcomes to settle
	GroupReexecutions InboxGroupKind = "reexecution" // re-executions to approve
	GroupHeld         InboxGroupKind = "held"        // possible duplicates to decide
	GroupApprovals    InboxGroupKind = "approval"
	GroupStages       InboxGroupKind = "stage"  // blocked runs: go on without, or stop
	GroupRemedies     InboxGroupKind = "remedy" // open work on closed operations
	GroupDrafts       InboxGroupKind = "draft"
)

// InboxGroup is one group with its rows.
type InboxGroup struct {
	Kind InboxGroupKind
	Rows []InboxRow
	Held []HeldRow // of GroupHeld, which has no other rows
	// AlsoOverdue is how many of this kind stand in the overdue group.
	AlsoOverdue int
}

// size is how many decisions of this kind wait, the overdue ones among them.
func (g InboxGroup) size() int { return len(g.Rows) + len(g.Held) + g.AlsoOverdue }

// HeldRow is an event that waits because it may be a duplicate.
type HeldRow struct {
	ID      operation.EventID
	URL     string // of the delivery's page, where it is decided
	Flows   []string
	Source  string
	Key     string // its business key
	TwinKey string // the key of the event that it resembles
	Since   time.Time
}

// InboxRow is one decision that waits.
type InboxRow struct {
	ID          operation.ID
	URL         string
	State       operation.State
	Flow        string
	Stage       string
	Title       string // one line of the content
	Version     int    // shown for approvals; 0 = not shown
	Destination string
	Attempts    int
	Since       time.Time
	Due         time.Time
	Duplicate   Duplicate
	Found       int // effects found, for a suspected duplicate
	// Note is a catalogue key: what else is to be known before it is opened ("inbox.blocked",
	// "inbox.earlier_closed"); "" = nothing.
	Note string
	// Who else may or must decide.
	OnlyYou         bool
	Also            []Who
	Given, Required int // approvals; Required 0 = not an approval
}

// Decisions counts the rows of all groups.
func (m InboxModel) Decisions() int {
	n := 0
	for _, g := range m.Groups {
		n += len(g.Rows) + len(g.Held)
	}
	return n
}

// inboxIcon gives the shape of a group's heading.
func inboxIcon(k InboxGroupKind) string {
	switch k {
	case GroupOverdue:
		return "overdue"
	case GroupUnknown:
		return string(operation.Review)
	case GroupReexecutions:
		return string(operation.ReexecutionRequested)
	case GroupHeld:
		return "duplicate"
	case GroupApprovals:
		return string(operation.PendingApproval)
	case GroupStages:
		return "stop"
	case GroupRemedies:
		return "warning"
	}
	return string(operation.Draft)
}

// alsoText says who else may or must decide.
func alsoText(p *text.Printer, r InboxRow) string {
	switch {
	case r.Required > 1:
		return p.T("inbox.given", "Given", r.Given, "Required", r.Required)
	case r.OnlyYou:
		return p.T("inbox.only_you")
	case len(r.Also) > 0:
		return p.T("inbox.or", "Who", r.Also[0].In(p))
	}
	return ""
}
