package views

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// SuppressedPerson is a recipient of an open operation who is on the suppression list.
type SuppressedPerson struct {
	Address string
	Reason  operation.SuppressionReason
	URL     string // their entries
	Held    bool   // the list is asked for this operation: it does not go out
}

// key names the sentence about it.
func (p SuppressedPerson) key() string {
	if p.Held {
		return "op.suppressed.held"
	}
	return "op.suppressed.alone"
}

// PathSuppressions is the suppression list: addresses to which nothing more is sent.
const PathSuppressions = "/suppressions"

// SuppressionsModel is one page of the suppression list.
// Query fields: q, reason, channel, lifted, after, before (keyset).
type SuppressionsModel struct {
	Frame
	Q         string // beginning of an address
	Reasons   []Option
	Channels  []Option
	Lifted    bool // those that were lifted or are over
	Active    bool // some filter is set
	Rows      []SuppressionLine
	Pager     Pager
	ExportURL string
	Add       *SuppressionForm // nil = the viewer may not
	Upload    *Form
	Rows100k  int // the most rows of an import
	MiB       int
}

// SuppressionLine is one entry of the suppression list.
type SuppressionLine struct {
	ID        string
	URL       string
	Address   string
	Reason    operation.SuppressionReason
	Scope     operation.SuppressionScope
	Channel   string // title of the effect type or the destination
	Note      string
	Since     time.Time
	Until     time.Time // zero = for good
	Source    string    // person, import, callback, api
	By        string    // who added it; "" = news of a destination
	Operation *Link     // whose news it follows from
	LiftedAt  time.Time
	LiftedBy  string
	LiftedWhy string
	Over      bool // its time has passed
}

// SuppressionForm adds an address.
type SuppressionForm struct {
	Form
	Address  string
	Note     string
	Until    string
	Reasons  []Option
	Channels []Option
}

// SuppressionModel is one entry of the suppression list, with what may be done.
type SuppressionModel struct {
	Frame
	SuppressionLine
	Lift   *Form // nil = the viewer may not, or it was lifted
	Reason string
}

// SuppressionImportModel is a file of addresses before its import.
type SuppressionImportModel struct {
	Frame
	URL        string
	Name       string
	Broken     Say // why the file cannot be read so
	Encodings  []Option
	Separators []Option
	Columns    []Option
	Reasons    []Option
	Channels   []Option
	Total      int
	New        int
	Known      int // on the list already
	Twice      int // again in the file
	Wrong      int // no address
	First      []string
	WrongRows  []SuppressionWrong
	Accepted   Say // what an address would be
	Begin      Form
	Drop       Form
	Chosen     [][2]string // what the import form carries on of how the file is read
	Note       string
}

// SuppressionWrong is a row without a usable address.
type SuppressionWrong struct {
	Number int
	Cell   string
}

// EffectText is the word for an effect type, as people read it.
func EffectText(p *text.Printer, effect string) string { return effectText(p, effect) }
