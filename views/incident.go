package views

import (
	"context"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// IncidentsModel lists incidents.
type IncidentsModel struct {
	Frame
	Q                                   string
	Flows, Destinations, States, Owners []Option
	From, To                            string
	Active, MayOpen                     bool
	Rows                                []IncidentView
	Pager                               Pager
}

// IncidentView is one incident of a list.
type IncidentView struct {
	ID, Number, URL, Title string
	State                  operation.IncidentState
	Began                  time.Time
	Destinations           []string
	Operations             int
	OpenTasks, LateTasks   int
	Owner                  Who
	Class                  operation.CauseClass
	Pattern                string
	Library                *PatternView // the pattern of the library that was chosen; nil = none
	SamePattern            bool
}

// PatternLine names a pattern of the library in one line: where, in which phase, what came back.
func PatternLine(p *text.Printer, v PatternView) string {
	parts := []string{patternTitle(p, v), v.Code}
	if v.Status > 0 {
		parts = append(parts, num64(int64(v.Status)))
	}
	if v.Error != "" {
		parts = append(parts, v.Error)
	}
	return strings.Join(parts, " · ")
}

// PickModel is the form that opens an incident, or adds to one: it lists exactly what is
// taken. Field names: operation, title, summary, owner, into.
type PickModel struct {
	Frame
	Form
	Rows           []PickRow
	Missing        int // asked for and not there for the viewer
	More           bool
	Title, Summary string
	People         []Option
	Into           []Option // open incidents that they may be added to
	Known          []IncidentView
	Find           string // what was searched for
}

// PickRow is one operation that may be taken.
type PickRow struct {
	OperationRow
	Picked bool
}

// IncidentModel is the page of one incident.
type IncidentModel struct {
	Frame
	IncidentView
	Revision         int
	Opened, Changed  time.Time
	OpenedBy         Who
	Summary          string
	Cause, Response  string
	Prevention       string
	Times            []IncidentTime
	Flows            []string // titles of those that the viewer may see
	HiddenFlows      int
	Scope            operation.IncidentScope
	Signed           *operation.IncidentScope // as it stood at the newest signature
	Ops              []IncidentOp
	Hidden           int // operations of other flows
	OpsShown         int
	AllOps           string // address of the page with all; "" = all are shown
	Lines            []TimelineLine
	Omitted          int
	Tasks            []TaskView
	Signatures       []SignatureView
	Similar          []IncidentView
	History          HistoryModel
	Hash, SignedText string
	Whole            bool
	Unsettled        bool // some outcome is not known yet
	EditURL          string
	TimelineURL      string
	Markdown         string
	Open             bool // it is being written and the viewer may write
	Take             Form // of an operation out of it
	AddOps           AddOpsForm
	AddLine          LineForm
	RemoveLine       Form
	AddTask          TaskForm
	Sign             SignForm
	Revise           *ReasonForm
}

// IncidentTime is one of the four times: when, and whether people set it.
type IncidentTime struct {
	Key       string // first, last, detected, settled
	At        time.Time
	Corrected bool
}

// IncidentOp is one operation of an incident.
type IncidentOp struct {
	OperationRow
	Effect operation.Effect
}

// TimelineLine is one line of a timeline.
type TimelineLine struct {
	Key        string // of the group, for choosing; "" = a person's own line
	ID         string // of an own line
	At, Until  time.Time
	Action     string
	From, To   operation.State
	Operations []Link
	Count      int
	Who        string
	Says       string
	Chosen     bool
}

// SignatureView is one signed revision.
type SignatureView struct {
	Revision int
	By       string
	Role     operation.Role
	At       time.Time
	Comment  string
	Hash     string
	Text     string // "" where the viewer does not see all of it
}

// AddOpsForm adds operations. Field name: operations.
type AddOpsForm struct {
	Form
	Text string
}

// LineForm adds a line to a timeline. Field names: at, says.
type LineForm struct {
	Form
	At, Says string
}

// SignForm signs what is shown. Field names: comment, sure.
type SignForm struct {
	Form
	Comment string
}

// IncidentEditModel is the form about what people write. Field names are those of Fields.
type IncidentEditModel struct {
	Frame
	Form
	ID, Number, URL    string
	Title, Summary     string
	People, Classes    []Option
	Pattern, PatternID string
	Patterns           []Option
	Cause, Response    string
	Prevention         string
	First, Last        string
	Detected, Settled  string
	Proposed           map[string]time.Time
	Changed            []ChangedField // where somebody else changed it meanwhile
	ChangedBy          string
}

// ChangedField is what stands in a field now, beside what was typed.
type ChangedField struct{ Label, Now string }

// ChooseLinesModel is the form that chooses the lines of a timeline. Field name: line.
type ChooseLinesModel struct {
	Frame
	Form
	Number, URL string
	Lines       []TimelineLine
}

// lineAction says what a line of a timeline tells of.
func lineAction(p *text.Printer, l TimelineLine) string {
	return actionText(p, HistoryLine{Action: l.Action, From: l.From, To: l.To})
}

// lineTime gives the time of a line: a moment, or from when to when.
func lineTime(p *text.Printer, l TimelineLine) string {
	if l.Until.Sub(l.At) < time.Minute {
		return p.Short(l.At)
	}
	return p.T("incidents.from_to", "From", p.Short(l.At), "To", p.Clock(l.Until))
}

// lineExact is the time of a line whole, as it stands on paper.
func lineExact(p *text.Printer, l TimelineLine) string {
	if l.Until.Sub(l.At) < time.Minute {
		return p.Exact(l.At)
	}
	return p.T("incidents.from_to", "From", p.Exact(l.At), "To", p.Exact(l.Until))
}

// recipientsText says how many people or customers are concerned, and of how many
// operations that is not known.
func recipientsText(p *text.Printer, s operation.IncidentScope) string {
	if s.RecipientsNamed == 0 {
		return p.T("incidents.recipients_not_named")
	}
	return p.N("incidents.recipients", s.Recipients)
}

// recipientsNotes says of which operations recipients are not counted.
func recipientsNotes(ctx context.Context, s operation.IncidentScope) []string {
	var out []string
	if s.RecipientsNotNamed > 0 && s.RecipientsNamed > 0 {
		out = append(out, n(ctx, "incidents.not_named", s.RecipientsNotNamed))
	}
	if s.RecipientsNotStored > 0 {
		out = append(out, n(ctx, "incidents.not_stored", s.RecipientsNotStored))
	}
	return out
}

func inOneLine(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = Plain(s)
	}
	return strings.Join(out, " · ")
}

// timelineChoice says in one line what may be left out of a timeline.
func timelineChoice(ctx context.Context, l TimelineLine) string {
	p := text.From(ctx)
	return p.N("incidents.choice", l.Count, "At", lineTime(p, l), "What", lineAction(p, l))
}

// incidentNumber is how the number of an incident begins, for the search field.
const incidentNumber = "INC-"

// incidentWords are the actions of the histories of incidents and improvement tasks.
var incidentWords = []string{"open_incident", "edit_incident", "add_line", "remove_line", "choose_entries", "add_operations", "take_operation", "add_task", "sign_incident", "revise_incident",
	"open_task", "edit_task", "finish_task", "drop_task", "reopen_task"}
