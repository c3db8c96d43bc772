package views

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// CasesModel is the list of cases, to be filtered, taken and settled.
type CasesModel struct {
	Frame
	Form   // of what is done to the ticked ones; field names: case, from.<case>, do, reason
	Filter CasesFilter
	Rows   []CaseLine
	Total  int // exactly how many the filter finds
	Pager  Pager
	Queues []CaseQueueLine // one's own frozen lists in which something is left
	MayAct bool            // the viewer may take and settle
	Reason string
}

// CasesFilter is the filter form. Fields: whose, flow, destination, age, closed, q.
type CasesFilter struct {
	Q            string
	Whose        []Option // mine, untaken
	Flows        []Option
	Destinations []Option
	Ages         []Option
	Closed       bool
	Pattern      operation.PatternID // only cases that stopped so; "" = all
	PatternURL   string
	Active       bool
}

// CaseLine is one case of the list.
type CaseLine struct {
	CaseView
	Op          operation.ID
	Revision    int64
	State       operation.State
	Flow, Stage string
	Title       string
	Destination string
	TakenBy     Who // zero = nobody
	TakenAt     time.Time
	From        operation.UserID
	Next        operation.DecisionKind
	Responsible Who
	Due         time.Time
	Overdue     bool
	InHand      time.Duration
	Picked      bool
}

// CaseQueueLine is one frozen list.
type CaseQueueLine struct {
	URL  string
	At   time.Time
	Sums QueueSums
}

// CasesResultModel reports each case of a list that was worked on at once.
type CasesResultModel struct {
	Frame
	Form          // to try the refused ones again; the same fields as CasesModel
	Verb   string // take or lookup
	Rows   []CaseResult
	Reason string
}

// CaseResult is what became of one case.
type CaseResult struct {
	CaseView
	Title   string
	State   operation.State
	From    operation.UserID
	Refusal *operation.Refusal // nil = done
}

// Done counts what was done.
func (m CasesResultModel) Done() int {
	n := 0
	for _, r := range m.Rows {
		if r.Refusal == nil {
			n++
		}
	}
	return n
}

// CaseQueueModel is one frozen list with its exact totals.
type CaseQueueModel struct {
	Frame
	At   time.Time
	Sums QueueSums
	Rows []QueueItem
	Next *Link // nil = nothing is left
}

// QueueItem is one case of a frozen list.
type QueueItem struct {
	CaseView
	Place  int
	Title  string
	State  operation.State
	DoneAs operation.QueueDone
	Gone   bool
}

// standing says in a catalogue key where a case of the list stands.
func (i QueueItem) standing() string {
	switch {
	case i.DoneAs != "":
		return "cases.queue.done." + string(i.DoneAs)
	case i.Gone:
		return "cases.queue.is_gone"
	}
	return "cases.queue.is_left"
}

// operationEntries lists the pages under Operations.
var operationEntries = []subEntry{
	{PathOperations, "cases.nav.all"},
	{PathBatches, "batch.nav"},
	{PathCases, "cases.nav.cases"},
	{PathPatterns, "cases.nav.patterns"},
	{PathSuppressions, "suppression.nav"},
}

// sumsText says where a frozen list stands, in one sentence whose numbers add up.
func sumsText(p *text.Printer, s QueueSums) string {
	out := p.N("cases.queue.sums", s.Total, "Settled", s.Settled, "Left", s.Left)
	if s.Requested+s.Held > 0 {
		out = p.T("cases.queue.and", "What", out, "More", p.T("cases.queue.sums_waiting", "Requested", s.Requested, "Held", s.Held))
	}
	if s.Gone > 0 {
		out = p.T("cases.queue.and", "What", out, "More", p.N("cases.queue.sums_gone", s.Gone))
	}
	return out
}

func caseResultCode(r CaseResult) string {
	if r.Refusal == nil {
		return string(operation.CodeOK)
	}
	return string(r.Refusal.Code)
}
