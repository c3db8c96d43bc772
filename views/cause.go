package views

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// The catalogue keys of what was done about a cause.
const (
	FlashCauseCorrected = "flash.cause_corrected"
	FlashSuggested      = "flash.suggested"
)

// CauseModel is why one operation stopped: on its page, and on that of its case.
type CauseModel struct {
	// Causes are its stops, the newest first; the others are history.
	Causes []CauseView
	// Known is what became of other operations that stopped as the newest did; nil = none did.
	Known *KnownPattern
	// Correct sets the class of the newest right; nil = the viewer may not.
	Correct *CorrectCauseForm
	// Assist offers to ask a language model; nil = it is off, or the viewer may not.
	Assist      *AssistView
	Suggestions []SuggestionView
}

// CauseView is one stop.
type CauseView struct {
	Kind    operation.StopKind
	Class   operation.CauseClass // that counts
	By      Who                  // who set the class right; zero = the rules said it
	ByAt    time.Time
	ByWhy   string
	Phase   operation.CausePhase
	Code    string
	Status  int    // 0 = none
	Error   string // normalised
	At      time.Time
	Pattern string // address
}

// KnownPattern is what is known of a pattern from before. It is a hint, never an answer.
type KnownPattern struct {
	URL     string
	Ended   operation.Endings // of other operations
	Last    []PatternCase     // the newest of them that ended
	Note    string
	Runbook bool // there is one
}

// CorrectCauseForm sets the class of a stop right. Fields: stop, class, reason, return.
type CorrectCauseForm struct {
	Form
	Stop   int64
	Class  operation.CauseClass // that counts now, or was chosen
	Reason string
	From   string // the model whose suggestion stands in the form; "" = none
}

// AssistView offers to ask a language model. Fields: purpose, return.
type AssistView struct {
	Form
	Model, Host string
	Sent        []string // exactly what would be sent, message by message
	Content     bool     // content of the operation is part of it
}

// SuggestionView is what a language model suggested.
type SuggestionView struct {
	Model   string
	Purpose string
	Class   operation.CauseClass // "" = it suggests none
	Words   string
	By      Who // who asked
	At      time.Time
	Took    time.Duration
	Use     string // address of the page with it in the form; "" = it goes into none
}

// PatternCase is one operation that stopped by a pattern.
type PatternCase struct {
	ID      operation.ID
	URL     string
	Title   string
	Flow    string
	Case    string // "RC-147"; "" = none
	CaseURL string
	At      time.Time // when it stopped
	Changed time.Time
	State   operation.State
	Ending  operation.CauseEnding
}

// Contradiction is evidence of an effect against what a person decided.
type Contradiction struct {
	By       Who // who decided
	Decided  time.Time
	Decision string // key "contradiction.decision.<word>"
	Words    string // the person's own
	Told     string // key "contradiction.told.<kind>": callback, lookup, late_report
	Teller   Who
	At       time.Time
	Evidence Link // the effect's reference at the destination; may be without an address
}

// classNames and the like say fixed words of causes.
func className(p *text.Printer, c operation.CauseClass) string {
	return p.T("cause.class." + string(c))
}

// knownText says how the others ended.
func knownText(p *text.Printer, e operation.Endings) string {
	closed := e.Happened() + e.NotHappened()
	if closed == 0 {
		return p.N("cause.before_only", e.Total())
	}
	return p.N("cause.before", closed, "Happened", e.Happened(), "Not", e.NotHappened())
}

// endingWords lists the endings that occur, in their order.
func endingWords(e operation.Endings) []operation.CauseEnding {
	var out []operation.CauseEnding
	for _, x := range operation.CauseEndings {
		if e[x] > 0 {
			out = append(out, x)
		}
	}
	return out
}

// endingIcon gives an ending's shape.
func endingIcon(e operation.CauseEnding) string {
	switch e {
	case operation.EndFound, operation.EndPerson:
		return "confirmed"
	case operation.EndNotExecuted:
		return "not_executed"
	case operation.EndReexecuted:
		return "reexecution_requested"
	case operation.EndRepeated:
		return "retry_scheduled"
	case operation.EndWithdrawn:
		return "cancelled"
	}
	return "circle"
}
