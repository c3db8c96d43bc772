package views

import (
	"time"

	"holdpoint/operation"
)

// PathPatterns is the library of patterns.
const PathPatterns = "/patterns"

// FlashPatternSaved says that what was written about a pattern is kept.
const FlashPatternSaved = "flash.pattern_saved"

// PatternsModel is the library.
// Query fields (GET): flow, destination, class, phase, after, before (keyset).
type PatternsModel struct {
	Frame
	Flows, Destinations, Classes, Phases []Option
	Active                               bool // some filter is set
	Rows                                 []PatternRow
	Pager                                Pager
}

// PatternRow is one pattern of the list.
type PatternRow struct {
	PatternView
	Times  int
	LastAt time.Time
	Open   int
	Ended  operation.Endings // of the newest
}

// PatternView is one kind of stop.
type PatternView struct {
	ID          operation.PatternID
	URL         string
	Destination Link
	Phase       operation.CausePhase
	Class       operation.CauseClass // that counts
	OwnClass    operation.CauseClass // a person's; "" = the rules'
	RuleClass   operation.CauseClass
	Code        string
	Status      int // 0 = none
	Error       string
	Note        string
	Runbook     string // Markdown
	FirstAt     time.Time
}

// PatternModel is one pattern's page.
type PatternModel struct {
	Frame
	Pattern PatternView
	Times   int
	LastAt  time.Time
	Ended   operation.Endings
	Window  int // how many operations Ended counts
	Flows   []PatternFlow
	Open    []PatternCase
	Closed  []PatternCase
	Edit    *PatternForm // nil = the viewer may not write
	History HistoryModel
}

// PatternFlow is how often one flow stopped so.
type PatternFlow struct {
	Link
	Times int
	Only  bool // the page is limited to it
}

// PatternForm writes about a pattern. Fields: note, runbook, class ("" = by the rules), reason.
type PatternForm struct {
	Form
	Note, Runbook, Reason string
	Class                 operation.CauseClass
}

// patternPlaces are the fields that can be wrong.
func patternPlaces(f PatternForm, label func(string) string) []place {
	return []place{{"note", "note", label("pattern.note")}, {"runbook", "runbook-text", label("pattern.runbook")}, {"class", "class", label("cause.class")}, {"reason", "reason", label("pattern.reason")}}
}

// casesURL is the list of the open, or the closed, cases that stopped so.
func (p PatternView) casesURL(closed bool) string {
	u := PathCases + "?pattern=" + string(p.ID)
	if closed {
		u += "&closed=yes"
	}
	return u
}
