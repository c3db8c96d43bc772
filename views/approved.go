package views

import (
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// Approved is the first column: what was, or is to be, approved.
type Approved struct {
	// Version is the current content version; nil while there is none.
	Version *VersionView
	// View is how the version is shown.
	View VersionViewKind
	// Views are the links to the other ways of showing it.
	Views []ViewLink
	// Compare is what changed between two versions; nil = there is nothing to compare
	// with.
	Compare *Comparison
	// Same says of each request that left whether it is what was approved.
	Same []SameFact
	// Signatures are the decisions on the current version, in order.
	Signatures []Signature
	Required   int       // approvals needed
	ExpiresAt  time.Time // of the approval; zero = does not expire
	// Versions lists all versions, newest first.
	Versions []VersionLine
	// Missing names the content fields that are still empty (state draft).
	Missing []string
}

// VersionViewKind is a way of showing a version.
type VersionViewKind string

// The ways of showing a version; they are the values of ?view=.
const (
	ViewContent VersionViewKind = "content"
	ViewChanges VersionViewKind = "changes"
)

// ViewLink is a link to another way of showing the version.
type ViewLink struct {
	Kind    VersionViewKind
	URL     string
	Current bool
}

// VersionView is one content version as people read it.
type VersionView struct {
	ID      operation.VersionID
	Number  int
	Hash    string // hex
	Author  Who
	At      time.Time
	Note    string // what the author said about it
	Content ContentView
	Request RequestView
}

// VersionLine is one line in the list of versions.
type VersionLine struct {
	Number  int
	URL     string // shows the changes from this version to the current one
	Author  Who
	At      time.Time
	Note    string
	Current bool
	// Decisions are all that were taken on it, in order.
	Decisions []Signature
}

// Signature is one approval, given or still open.
type Signature struct {
	Given    bool
	Rest     bool // of a batch: the decision about the rest, after the canary
	Lapsed   bool // of a batch: the decision about the rest, after its approval lapsed
	Who      Who  // who gave it, or who may
	At       time.Time
	Comment  string
	Decision operation.Decision
	// Preset is the code of the preset reason, PresetWords what it said when it was given.
	Preset, PresetWords string
	Since               time.Time // of an open place: since when it waits; zero = not said
	Group               string    // the title of the group whose place it is; "" = there are no groups
}

// RequestView is the exact request. Text holds the holes' markers of package
// operation; they are shown as labelled chips.
type RequestView struct {
	Text  string // whole, or its beginning: see Cut
	Bytes int    // of the body
	Cut   Cut
	URL   string // where the whole request can be had as plain text; "" = nowhere
	// Resolved says that these are the bytes that left, holes filled.
	Resolved   bool
	Credential string // the credential's name, never its value
	Account    string
}

// wide says that the first column needs most of the width: a mail or a diff that is
// read before anything was tried.
func (a Approved) wide() bool {
	return a.Version != nil && (a.Version.Content.Mail != nil || a.View == ViewChanges)
}

// complete reports that the approvals that are needed stand on the version.
func (a Approved) complete() bool { return a.Required > 0 && givenCount(a.Signatures) >= a.Required }

// approvedTitle is the first column's title and question: what is to be approved, what
// was, or what it was that never was.
func approvedTitle(p *text.Printer, a Approved, h Head) (title, question string) {
	number := 0
	if a.Version != nil {
		number = a.Version.Number
	}
	switch {
	case (h.State == operation.Draft || h.State == operation.PendingApproval) && number == 0:
		return p.T("approved.title_draft"), p.T("approved.question_open")
	case h.State == operation.Draft || h.State == operation.PendingApproval:
		return p.T("approved.title_open", "Number", number), p.T("approved.question_open")
	case h.State == operation.Rejected:
		return p.T("approved.title_rejected", "Number", number), p.T("approved.question_rejected")
	case h.State == operation.Cancelled && !a.complete():
		return p.T("approved.title_cancelled"), p.T("approved.question_cancelled")
	case h.Adopted:
		return p.T("approved.title_adopted"), p.T("approved.question_adopted")
	}
	return p.T("approved.title"), p.T("approved.question")
}

// sentBack is the decision that sent the version back to its author; nil = none did.
func (a Approved) sentBack(h Head) *Signature {
	for _, v := range a.Versions {
		if last := len(v.Decisions) - 1; v.Current && last >= 0 && h.State == operation.Draft && v.Decisions[last].Decision == operation.RequestChanges {
			return &v.Decisions[last]
		}
	}
	return nil
}

// counted reports whether the count of approvals says something: not of a version that
// was never approved and never will be, and not of one that was sent back.
func (a Approved) counted(h Head) bool {
	return a.Required > 0 && a.sentBack(h) == nil && (a.complete() || h.State != operation.Rejected && h.State != operation.Cancelled)
}

func givenCount(list []Signature) int {
	n := 0
	for _, s := range list {
		if s.Given && s.Decision == operation.Approve {
			n++
		}
	}
	return n
}

// missingText names the content fields that are still empty.
func missingText(p *text.Printer, names []string) string {
	words := make([]string, 0, len(names))
	for _, name := range names {
		if k := "field." + name; text.Has(k) {
			name = p.T(k)
		}
		words = append(words, name)
	}
	return p.N("approved.missing", len(words), "List", strings.Join(words, p.T("list.join")))
}

// hasHole reports whether a request's text still holds a hole.
func hasHole(s string) bool {
	for _, p := range Pieces(s) {
		if p.Kind == PieceHole {
			return true
		}
	}
	return false
}
