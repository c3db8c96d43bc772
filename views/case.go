package views

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"

	"github.com/a-h/templ"
)

// The addresses of recovery cases.
const (
	PathCases      = "/cases"
	PathCaseQueues = "/cases/queues"
)

// The catalogue keys of what was done to a case.
const (
	FlashCaseTaken    = "flash.case_taken"
	FlashCaseReleased = "flash.case_released"
	FlashCaseLookup   = "flash.case_lookup"
	FlashCaseTime     = "flash.case_time"
	FlashCaseAnswered = "flash.case_answered"
	FlashCaseEvidence = "flash.case_evidence" // a second person asks for more
)

// CaseModel is the page of one recovery case: what was approved, tried and found in
// short, the request, the checklist, the evidence, and the decision beside them.
type CaseModel struct {
	Frame
	Case     CaseView
	Head     Head // of its operation
	Approved Approved
	Tried    Tried
	Found    Found
	Request  *CaseRequest // nil = nobody asked for a re-execution
	Asked    *CaseAsked   // a second person asked for more evidence
	List     CaseChecklist
	Evidence []EvidenceLine // people's statements, oldest first
	Files    []AttachmentView
	Gate     []GateLine
	Attempt  int // number that the next attempt would have
	Max      int // the attempt limit; 0 = not said
	Panel    Panel
	Hand     CaseHand
	Clock    CaseClockView
	Others   []CaseLink
	Queue    *CaseQueueBar // the frozen list that it is settled in; nil = none
	// CauseBlock is drawn between the request and the checklist: cause and known pattern.
	CauseBlock templ.Component
}

// CaseView is one case.
type CaseView struct {
	ID       operation.CaseID
	Number   string // "RC-147"
	URL      string
	OpenedAt time.Time
	OpenedAs operation.State
	ClosedAt time.Time // zero = open
	ClosedAs operation.State
	Old      bool // the operation has a newer round of answers by now
}

// CaseLink leads to another case of the same operation.
type CaseLink struct {
	Link
	OpenedAt time.Time
	ClosedAs operation.State // "" = open
}

// CaseRequest is a request for a re-execution.
type CaseRequest struct {
	By      Who
	At      time.Time
	Reason  string
	Version int
	State   string // requested, approved, refused, void, done
}

// CaseAsked is what a second person still wants to know before they decide.
type CaseAsked struct {
	By     Who
	Of     Who
	At     time.Time
	Reason string
}

// CaseChecklist are the questions with their answers, each with its own small form.
type CaseChecklist struct {
	Items []CaseItem
	By    []Who // who answered
}

// Answered counts the questions that have an answer.
func (l CaseChecklist) Answered() int {
	n := 0
	for _, i := range l.Items {
		if i.Answer != "" {
			n++
		}
	}
	return n
}

// CaseItem is one question. Form is nil for whoever may not answer it here.
// Fields of the form: item, check_<item> (yes | no), note_<item>, files_<item>.
type CaseItem struct {
	CheckItem
	Form *Form
	// Typed and TypedNote are what came back with a form that is to be corrected.
	Typed, TypedNote string
}

// GateLine is one of the gate's conditions as it stands.
type GateLine struct {
	Name operation.GateCondition
	Why  *operation.Refusal // nil = it holds
	// Waits is set on the last one while a case waits for people: whose decision it is.
	Waits *Who
}

// CaseHand says who has the case in hand, and what the viewer may do about it.
type CaseHand struct {
	By      Who // zero = nobody
	Since   time.Time
	Mine    bool
	Closed  bool
	Take    *ReasonForm // take, or take over: with a reason then; fields: from, reason
	From    operation.UserID
	Release *Form
	Lookup  *Form      // have the destination asked now
	Lost    *CaseTaken // somebody took it over from the viewer
}

// CaseTaken is a takeover.
type CaseTaken struct {
	By     Who
	At     time.Time
	Reason string
}

// CaseClockView are the two clocks, how they came about, and their correction.
type CaseClockView struct {
	InHand, Active time.Duration
	// Beat is where the page tells that it is in use; "" = it is not counted.
	Beat        string
	Holds       []CaseHold
	People      []CaseActive
	Corrections []CaseCorrection
	Correct     *CorrectForm
}

// CaseHold is one person's time with a case in hand.
type CaseHold struct {
	Who             Who
	Taken, Released time.Time // zero = they have it now
}

// CaseActive is one person's active time.
type CaseActive struct {
	Who    Who
	Active time.Duration
}

// CaseCorrection is one correction of a clock.
type CaseCorrection struct {
	Who    Who
	At     time.Time
	Clock  operation.CaseClock
	Delta  time.Duration
	Reason string
}

// CorrectForm sets a clock right. Fields: clock (in_hand | active), minutes, reason.
type CorrectForm struct {
	Form
	Clock   operation.CaseClock
	Minutes string
	Reason  string
}

// CaseQueueBar is where in a frozen list the page stands.
type CaseQueueBar struct {
	URL   string
	Place int // of this case; 0 = it is not in the list
	Sums  QueueSums
	Next  *Link // the next case that is left; nil = none
	Done  bool  // this case was just dealt with
}

// QueueSums are the exact totals of a frozen list.
type QueueSums struct{ Total, Settled, Requested, Held, Gone, Left int }

// caseTitle is the page's heading.
func caseTitle(p *text.Printer, m CaseModel) string {
	return p.T("cases.heading", "Number", m.Case.Number, "Title", m.Head.Title)
}

// caseSentence says where the case stands.
func caseSentence(p *text.Printer, m CaseModel) string {
	if !m.Case.ClosedAt.IsZero() {
		return p.T("cases.closed_as", "State", p.T("state."+string(m.Case.ClosedAs)), "At", m.Case.ClosedAt)
	}
	return stateSentence(p, m.Head)
}

// holding counts the conditions that hold.
func holding(list []GateLine) int {
	n := 0
	for _, g := range list {
		if g.Why == nil {
			n++
		}
	}
	return n
}

// gateText says one condition.
func gateText(p *text.Printer, m CaseModel, g GateLine) string {
	number := 0
	if m.Approved.Version != nil {
		number = m.Approved.Version.Number
	}
	switch {
	case g.Waits != nil:
		return p.T("cases.gate.waits", "Who", g.Waits.In(p))
	case g.Why != nil:
		return RefusalText(p, g.Why)
	case g.Name == operation.GatePauses && m.Max > 0:
		return p.T("cases.gate.pauses_of", "Number", m.Attempt, "Max", m.Max)
	}
	return p.T("cases.gate."+string(g.Name), "Number", number)
}

// gateIcon gives the shape of a condition: holds, waits for somebody, stands in the way.
func (g GateLine) gateIcon() string {
	switch {
	case g.Why == nil:
		return "tick"
	case g.Waits != nil:
		return string(operation.ReexecutionRequested)
	}
	return "cross"
}

// answerText says an answer in a word.
func answerText(p *text.Printer, c CheckItem) string {
	if c.Answer == "" {
		return p.T("check.unanswered")
	}
	return p.T("check." + c.Answer)
}

// itemID is the id of a question's own small form.
func (c CaseItem) itemID() string { return "one-" + checkID(c.Item) }

// operationModel is the case's operation as the parts of its own page want it.
func (m CaseModel) operationModel() OperationModel {
	return OperationModel{Frame: m.Frame, Head: m.Head, Approved: m.Approved, Tried: m.Tried, Found: m.Found, Panel: m.Panel}
}

// lastTried is the newest attempt; nil = nothing was tried.
func (m CaseModel) lastTried() *AttemptView {
	if len(m.Tried.Attempts) == 0 {
		return nil
	}
	return &m.Tried.Attempts[len(m.Tried.Attempts)-1]
}

// missCount counts the lookups that are shown, and those that found nothing.
func (m CaseModel) missCount() (made, missed int) {
	for _, l := range m.Found.Lookups {
		made++
		if l.Result == operation.LookupNone {
			missed++
		}
	}
	return made + m.Found.Gap.Left, missed
}
