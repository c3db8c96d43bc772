package views

import (
	"slices"
	"time"

	"holdpoint/views/text"
)

// StartModel is the page on which an author starts runs of a flow by hand.
type StartModel struct {
	Frame
	FlowTitle, FlowURL string
	Form               Form // one run
	Fields             []EditField
	Upload             Form // a table; its file is the field "table"
	Rows, MiB          int  // what a table may hold
	Recent             []StartLine
}

// StartLine is one table that was handed in.
type StartLine struct {
	Name  string
	URL   string
	At    time.Time
	By    Who
	Rows  int
	State string // "waiting", "going", "done", "dropped"
}

// anyGoing reports that rows of one of the tables are still to be done.
func anyGoing(lines []StartLine) bool {
	return slices.ContainsFunc(lines, func(l StartLine) bool { return l.State == "going" })
}

// StartTableModel shows how a table is read before anything begins.
type StartTableModel struct {
	Frame
	FlowTitle, FlowURL, StartURL string
	Name                         string
	Total, Good, Bad, Known      int // Known rows have a run already
	Broken                       Say // the file cannot be read so
	Reading                      Form
	Encodings, Separators        []Option
	Columns                      []StartColumn
	Keys                         []Option
	Rows                         []StartPreview
	Begin, Drop                  Form
	Until                        time.Time // then the file is removed
}

// StartColumn lets the author choose the column of one input.
type StartColumn struct {
	Path     string
	Required bool
	Options  []Option
}

// FormName is the field's name in the form.
func (c StartColumn) FormName() string { return "column." + c.Path }

// StartPreview is one row as it would begin.
type StartPreview struct {
	Number int
	Cells  []string // by column of the model
	Wrong  []string // the inputs that are missing or do not fit
	Why    string   // "cells", "key", "twice", "known"; "" = nothing besides
	Run    *Link    // that is there already
}

// StartResultModel says what became of each row.
type StartResultModel struct {
	Frame
	FlowTitle, FlowURL, StartURL string
	Name                         string
	By                           Who
	At                           time.Time
	Total, Left                  int
	Dropped                      bool
	Waiting                      bool // nobody has begun it; only its author may
	Note                         Say  // why what was sent last changed nothing
	Counts                       []StartCount
	Rows                         []StartResultRow
	GoOn                         Form
	CSV                          string
}

// StartCount is how many rows ended in one way.
type StartCount struct {
	Result string
	N      int
}

// StartResultRow is what became of one row.
type StartResultRow struct {
	Number int
	Result string // "started", "known", "conflict", "held", "refused"
	Why    string
	Fields []string
	Run    *Link
}

// StartFieldNames names inputs as people read them.
func StartFieldNames(p *text.Printer, paths []string) []string {
	out := make([]string, len(paths))
	for i, path := range paths {
		out[i] = fieldWord(p, path, "")
	}
	return out
}

func startPlaces(m StartModel, p *text.Printer) []place {
	var out []place
	for _, f := range m.Fields {
		out = append(out, place{f.FormName(), f.id(), fieldWord(p, f.Name, f.Label)})
	}
	return out
}

// startWhyIcon is the icon of a row that begins nothing, though its data fits.
func startWhyIcon(why string) string {
	if why == "key" || why == "cells" {
		return "rejected"
	}
	return "duplicate"
}

func startIcon(result string) string {
	switch result {
	case "started":
		return "tick"
	case "known":
		return "duplicate"
	case "held":
		return "paused"
	case "conflict":
		return "warning"
	}
	return "rejected"
}

// The notices of the pages on which people start runs.
const (
	FlashRunStarted   = "flash.run_started"
	FlashRunKnown     = "flash.run_known"
	FlashStartDropped = "flash.start_dropped"
)
