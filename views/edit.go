package views

import (
	"strings"

	"holdpoint/operation"
)

// EditModel is the page that makes a new content version, or a replacement with
// other content.
type EditModel struct {
	Frame
	Head Head
	Edit EditForm
	// Stages are the run's stages, as on the operation's page.
	Stages []StageLink
}

// EditMode says what saving makes.
type EditMode string

// The modes of the edit page.
const (
	EditVersion     EditMode = "version"     // a new version of this operation
	EditReplacement EditMode = "replacement" // a new operation in place of this one
)

// EditForm is content as fields. Fields: content.<path> for each EditField (a path
// is keys and indexes joined by dots, e.g. content.lines.0.amount), note, submit
// (yes: put it up for approval at once), and, for a replacement, reason and confirm
// (yes).
type EditForm struct {
	Form
	Mode   EditMode
	Fields []EditField
	Note   string
	Submit bool
	Reason string
	// Lapses is how many approvals lapse when this is saved.
	Lapses int
	// Dispatched is how many attempts of the original were ever dispatched
	// (replacement only); they are shown to whoever approves.
	Dispatched int
}

// EditKind is the kind of input of a field.
type EditKind string

// The kinds of input.
const (
	EditLine   EditKind = "line"
	EditLong   EditKind = "long"
	EditNumber EditKind = "number"
	EditFlag   EditKind = "flag" // checkbox, value "yes"
	EditChoice EditKind = "choice"
)

// EditField is one field of the content.
type EditField struct {
	Path     string // below "content."
	Name     string // last key of the path; known ones have a label in the catalogues
	Label    string // used where Name has no label in the catalogues
	Kind     EditKind
	Value    string // as typed or as it is
	Options  []Option
	ReadOnly bool   // given by the event; not to be written by a person
	Missing  bool   // needed and still empty
	Optional bool   // the destination does without it
	Hint     string // from the flow
	MaxLen   int    // 0 = no limit
}

// FormName gives the field's name in the form.
func (f EditField) FormName() string { return "content." + f.Path }

// StaleModel is shown (409) when a decision was made on something that has changed
// meanwhile. What the person saw and what is there now stand side by side; the form
// holds what was typed and carries the new version and revision.
type StaleModel struct {
	Frame
	Head  Head
	Seen  StaleSide
	Now   StaleSide
	Diff  []FieldChange // content, from seen to now
	Panel Panel         // the same form again, typed text kept
	// Signatures are the decisions on the version that is there now.
	Signatures []Signature
	// Changes are the history entries since the revision that was seen.
	Changes []HistoryLine
	// SameContent says that only the state moved; the bytes are the same.
	SameContent bool
}

// StaleSide is one of the two sides.
type StaleSide struct {
	Revision int64
	State    operation.State
	Version  *VersionView // nil when there was no version
}

// id is the field's id on the page.
func (f EditField) id() string { return "content-" + strings.ReplaceAll(f.Path, ".", "-") }

// input gives what is needed to draw the field.
func (f EditField) input(label, missing string) input {
	i := input{name: f.FormName(), id: f.id(), label: label, hint: f.Hint, value: f.Value, maxLen: f.MaxLen, optional: f.Optional, rows: 6, content: true}
	if f.Kind == EditNumber {
		i.kind, i.content = "number", false
	}
	if f.Missing && i.hint == "" {
		i.hint = missing
	}
	return i
}
