package views

import "time"

// PathRetention is the page on which the terms of keeping are set.
const PathRetention = PathInstallation + "/retention"

// FlashRetention is what saving the terms did.
const FlashRetention = "retention.flash"

// RetentionKinds are the kinds that have a term; RetentionForever those that have none.
var (
	RetentionKinds   = []string{"contents", "attachments"}
	RetentionForever = []string{"deliveries", "evidence", "history"}
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
	Oldest     time.Time
	Newest     time.Time
	Flows      []Link
}

// retentionWords are the actions of erasing; each has a key "action.<word>".
var retentionWords = []string{"set_retention", "erase_contents", "erase_attachments"}
