package views

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// InboxModel is one tab of the inbox. Query fields (GET): tab, group, after (keyset).
type InboxModel struct {
	Frame
	Tab    InboxTab
	Counts InboxCounts
	Groups []InboxGroup // of TabMine and TabOthers; empty groups are left out
	// Batches wait for the viewer's decision, each as a whole; of TabMine.
	Batches []BatchLine
	// Only is the one group that is shown, page by page; "" = all, each from its beginning.
	Only    InboxGroupKind
	Changes []ChangedRow // of TabChanges
	Done    []DoneRow    // of TabDone
	// First leads back to the beginning of a list and Next to its next page; "" = none.
	First, Next string
	// StillChecked is how many outcomes are unknown but still looked up
	// automatically, the next at NextCheck.
	StillChecked    int
	NextCheck       time.Time
	StillCheckedURL string
}

// InboxTab names a tab of the inbox.
type InboxTab string

// The tabs of the inbox, in their order.
const (
	TabMine    InboxTab = "mine"    // needs the viewer's decision
	TabOthers  InboxTab = "others"  // the viewer worked on it, and others decide now
	TabChanges InboxTab = "changes" // sent back, and not submitted again
	TabDone    InboxTab = "done"    // what the viewer did
)

// InboxTabs lists them.
var InboxTabs = []InboxTab{TabMine, TabOthers, TabChanges, TabDone}

// InboxCounts are the numbers at the tabs. More than MaxWaiting are shown as "more than
// that".
type InboxCounts struct{ Mine, Others, Changes, Done int }

// Of gives the number at one tab.
func (c InboxCounts) Of(t InboxTab) int {
	switch t {
	case TabOthers:
		return c.Others
	case TabChanges:
		return c.Changes
	case TabDone:
		return c.Done
	}
	return c.Mine
}

// URL is the tab's address.
func (t InboxTab) URL() string {
	if t == TabMine {
		return PathInbox
	}
	return PathInbox + "?tab=" + string(t)
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
	GroupPaused       InboxGroupKind = "paused" // paused by this person or their role
	GroupRemedies     InboxGroupKind = "remedy" // open work on closed operations
	GroupDrafts       InboxGroupKind = "draft"
	GroupWaiting      InboxGroupKind = "waiting" // others decide: the rest of TabOthers
)

// InboxGroup is one group with its rows.
type InboxGroup struct {
	Kind InboxGroupKind
	Rows []InboxRow
	Held []HeldRow // of GroupHeld, which has no other rows
	// AlsoOverdue is how many of this kind stand in the overdue group.
	AlsoOverdue int
	// Total is how many decisions of this kind wait, the overdue ones among them; more than
	// MaxWaiting are shown as "more than that".
	Total int
	// MoreURL leads to all of them where only the first are shown; "" = these are all.
	MoreURL string
	Rest    bool // a later page: how many there are is not said
	// Together offers to review approvals of one flow and stage at once.
	Together []Together
}

// Together leads to the page on which approvals of one flow and stage are reviewed
// together.
type Together struct {
	Stage string
	N     int
	URL   string
}

// here is how many of the group stand outside of the overdue group.
func (g InboxGroup) here() int { return max(g.Total-g.AlsoOverdue, len(g.Rows)+len(g.Held)) }

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
	Revision    int64
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
	Late        bool
	Duplicate   Duplicate
	Found       int // effects found, for a suspected duplicate
	// Note is a catalogue key: what else is to be known before it is opened ("inbox.blocked",
	// "inbox.earlier_closed"); "" = nothing.
	Note string
	// Who else may or must decide.
	OnlyYou         bool
	Also            []Who
	Given, Required int // approvals; Required 0 = not an approval
	// For is whose decision it would be, by a delegation; "" = the viewer's own.
	For string
}

// ChangedRow is a version that was sent back.
type ChangedRow struct {
	InboxRow
	By     Who
	Reason string
	At     time.Time
}

// DoneRow is an operation with the last thing that the viewer did to it.
type DoneRow struct {
	InboxRow
	Act         HistoryLine
	ConfirmedBy ConfirmedBy
}

// rowID is the row's place on the page, by which it is found again.
func rowID(id string) string { return "row-" + id }

// upTo writes a number that was counted no further than pages show.
func upTo(p *text.Printer, n int) string { return waitingText(p, n) }

// tally says in words how many decisions of a group wait.
func tally(p *text.Printer, g InboxGroup) string {
	if g.Total > MaxWaiting {
		return p.T("inbox.tally_many", "What", p.T("inbox.group."+string(g.Kind)), "N", MaxWaiting)
	}
	return p.N("inbox.tally."+string(g.Kind), g.Total)
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
	case GroupPaused:
		return "paused"
	case GroupWaiting:
		return "person"
	case GroupRemedies:
		return "warning"
	}
	return string(operation.Draft)
}

// alsoText says who else may or must decide.
func alsoText(p *text.Printer, r InboxRow) string {
	switch {
	case r.For != "":
		return p.T("inbox.for", "Who", r.For)
	case r.Required > 1:
		return p.T("inbox.given", "Given", r.Given, "Required", r.Required)
	case r.OnlyYou:
		return p.T("inbox.only_you")
	case len(r.Also) > 0:
		return p.T("inbox.or", "Who", r.Also[0].In(p))
	}
	return ""
}

// decidesText says who must decide, as rows of the other tabs do.
func decidesText(p *text.Printer, r InboxRow) string {
	switch {
	case r.OnlyYou:
		return p.T("who.you")
	case len(r.Also) == 0:
		return ""
	case r.Required > 1:
		return p.T("inbox.given_by", "Given", r.Given, "Required", r.Required, "Who", r.Also[0].In(p))
	}
	return r.Also[0].In(p)
}

// groupCount is how many decisions stand in a group, and how many of its kind are overdue.
func groupCount(p *text.Printer, g InboxGroup) string {
	if g.AlsoOverdue > 0 {
		return p.T("inbox.also_overdue", "N", upTo(p, g.here()), "Late", upTo(p, g.AlsoOverdue))
	}
	return upTo(p, g.here())
}
