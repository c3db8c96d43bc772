package views

import (
	"context"
	"strconv"
	"time"

	"holdpoint/views/text"
)

// PathRetention is the page on which the terms of keeping are set.
const PathRetention = PathInstallation + "/retention"

// What saving the terms, and erasing one operation, did.
const (
	FlashRetention = "retention.flash"
	FlashErased    = "keeping.flash"
)

// RetentionKinds are the kinds that have a term; RetentionForever those that have none.
var (
	RetentionKinds   = []string{"contents", "attachments", "evidence", "deliveries", "history"}
	RetentionForever = []string{"facts", "history"}
)

// RetentionModel are the terms, and what they take away now.
type RetentionModel struct {
	Frame
	Rows    []RetentionLine
	Form    Form
	Preview bool // the numbers are those of what was typed, which is not saved yet
}

// RetentionLine is the term of one kind.
type RetentionLine struct {
	Kind       string
	Typed      string // days; "" = for ever
	By         string
	At         time.Time // zero = never changed
	Days       int       // of the preview; 0 = for ever
	Operations int
	Batches    int // of "contents": how many lose their list, shared text and items
	Deliveries int // of "deliveries": how many lose their body
	Events     int // and how many events that started nothing
	Oldest     time.Time
	Newest     time.Time
	Of         []Link // the flows of operations and batches, or the deliveries' sources
	History    *RetentionHistory
}

// RetentionHistory is what the term of the history takes, and what it leaves.
type RetentionHistory struct {
	First   int // entries of the first format, which keep their words for ever
	Entries int // that lose their words now
	Open    int // older ones that keep them: their subject is not closed, or was touched lately
	Never   int // older ones that keep them: their subject never closes
	More    bool
	Months  []RetentionMonth
}

// RetentionMonth is how many entries of a calendar month (UTC) lose their words now.
type RetentionMonth struct {
	Month   time.Time
	Entries int
}

// goes reports that the term takes something away now.
func (r RetentionLine) goes() bool { return r.Operations+r.Batches+r.Deliveries+r.Events > 0 }

// Erasure says when and why bodies of an operation were erased.
type Erasure struct {
	At      time.Time
	By      Who
	Command bool // by the command line of the server
	Reason  string
	Days    int // of the rule that took them; 0 = somebody asked for it
}

// retentionWords are the actions of erasing; each has a key "action.<word>".
var retentionWords = []string{"set_retention", "erase_contents", "erase_attachments", "erase_evidence", "erase_deliveries", "thin_history"}

// retentionDays is the key of what the days of a kind count from.
func retentionDays(kind string) string {
	switch kind {
	case "deliveries":
		return "keeping.days_received"
	case "history":
		return "keeping_history.days"
	}
	return "retention.days"
}

// monthOf says a calendar month of UTC.
func monthOf(ctx context.Context, at time.Time) string {
	at = at.UTC()
	return text.From(ctx).T("reports.month."+strconv.Itoa(int(at.Month())), "Year", strconv.Itoa(at.Year()))
}

// retentionHint is the key of what days a kind can have, retentionMin the fewest.
func retentionHint(kind string) string {
	if kind == "history" {
		return "keeping_history.days_hint"
	}
	return "retention.days_hint"
}

func retentionMin(kind string) string {
	if kind == "history" {
		return "365"
	}
	return "30"
}
