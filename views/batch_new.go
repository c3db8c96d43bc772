package views

import (
	"time"

	"holdpoint/views/text"
)

// NewBatchModel is the page on which an author hands a list in, from which a batch is made.
type NewBatchModel struct {
	Frame
	FlowTitle, FlowURL string
	// Upload brings the list: its file is the field "list", and "stage" says for which stage
	// where the flow has several.
	Upload    Form
	Stages    []Option
	Fields    []ListField // what an entry holds; none = every column is a field
	Rows, MiB int         // what a list may hold
	Recent    []ListLine
}

// ListField is one field of a list's entries.
type ListField struct {
	Path     string
	Required bool
}

// ListLine is one list that was handed in.
type ListLine struct {
	Name  string
	URL   string // "" = nothing is there any more
	At    time.Time
	By    Who
	State string // "waiting", "made", "gone"
	Batch *Link
}

// ReviseBatchModel is the page on which an author gives a batch another list or other
// shared text.
type ReviseBatchModel struct {
	Frame
	Batch   Link
	Number  int // of the version that is there
	Lapses  int // approvals that lapse with a new version
	Upload  Form
	Fields  []ListField
	MiB     int
	Rows    int
	Shared  Form // the texts; "" where the stage has none
	Texts   []EditField
	Offered []string // fields of an entry that a text may name
	// Preview is set once the texts were looked at with the list as it is.
	Preview *ListPreview
}

// ListModel shows a list before a batch is made of it.
type ListModel struct {
	Frame
	FlowTitle, FlowURL string
	BackURL            string
	Batch              *Link // whose list it is to replace; nil = a new batch
	Number             int   // of the version that is there
	Name               string
	CSV                bool
	Broken             Say // the list cannot be read so
	// Form holds everything that can be changed; its buttons look again, or make the batch.
	Form                  Form
	Create                string // where the second button posts to
	Drop                  Form
	Encodings, Separators []Option
	Columns               []StartColumn
	Unused                []string // headers that belong to no field
	Inputs, Texts         []EditField
	Offered               []string // fields of an entry that a text may name
	Known                 []Link   // batches that were made of the same file
	Again                 bool     // the author says: it goes to them once more
	Preview               *ListPreview
	Until                 time.Time // then the list is removed
}

// ListPreview is what a list comes to.
type ListPreview struct {
	Total, Included, Duplicates, Suppressed, Problems int
	Missing                                           []string // shared text that is still to be written
	Wrong                                             []string // inputs of the run that are missing or do not fit: no batch can be made
	First                                             []ListItem
	Odd                                               []BatchItemLine // rows that cannot go out, the first of them
	Left                                              []BatchItemLine // rows that are left out, the first of them
	ProblemsCSV                                       string
	Diff                                              *ListDiff
	At                                                time.Time
}

// Sendable reports that people can be asked for their approval at once.
func (p ListPreview) Sendable() bool {
	return p.Included > 0 && p.Problems == 0 && len(p.Missing) == 0
}

// ListItem is one row as it would be sent.
type ListItem struct {
	Line    BatchItemLine
	Content ContentView
}

// ListDiff is what a new version would change.
type ListDiff struct {
	From                                int
	Added, Dropped, Changed, Same       int
	AddedRows, DroppedRows, ChangedRows []string // keys, the first of them
	Shared                              []FieldChange
	AddedLeft, DroppedLeft, ChangedLeft int // how many are not listed
}

// Any reports that the version would differ.
func (d ListDiff) Any() bool { return d.Added+d.Dropped+d.Changed > 0 || len(d.Shared) > 0 }

func listPlaces(m ListModel, p *text.Printer) []place {
	out := []place{{"again", "again", p.T("newbatch.again")}}
	for _, list := range [][]EditField{m.Inputs, m.Texts} {
		for _, f := range list {
			out = append(out, place{f.FormName(), f.id(), fieldWord(p, f.Name, f.Label)})
		}
	}
	return out
}

func textPlaces(m ReviseBatchModel, p *text.Printer) []place {
	var out []place
	for _, f := range m.Texts {
		out = append(out, place{f.FormName(), f.id(), fieldWord(p, f.Name, f.Label)})
	}
	return out
}

// offeredWords shows the fields that a text may name, as they are written in it.
func offeredWords(list []string) []string {
	out := make([]string, len(list))
	for i, name := range list {
		out[i] = "{{" + name + "}}"
	}
	return out
}

// missingWords names shared text by its place.
func missingWords(p *text.Printer, paths []string) []string { return StartFieldNames(p, paths) }

// The notices of the pages on which batches are made.
const (
	FlashBatchMade    = "flash.batch_made"
	FlashBatchKnown   = "flash.batch_known"
	FlashBatchRevised = "flash.batch_revised"
	FlashListDropped  = "flash.list_dropped"
)
