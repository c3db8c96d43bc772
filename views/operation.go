package views

import (
	"cmp"
	"time"
	"unicode/utf8"

	"holdpoint/operation"
	"holdpoint/views/text"

	"github.com/a-h/templ"
)

// OperationModel is the page of one operation: what was approved, what was tried,
// what the destination says, what is decided next and by whom.
type OperationModel struct {
	Frame
	Head     Head
	Stages   []StageLink // the run's stages, this one marked
	Approved Approved
	Tried    Tried
	Found    Found
	Panel    Panel
	History  HistoryModel
	// Cause says why it stopped; nil = it never did.
	Cause templ.Component
	News  []NewsStep // what the destination told, in the order in which it happened
}

// Head is the top of an operation's page.
type Head struct {
	ID          operation.ID
	URL         string
	Title       string // one line of the content
	Flow        Link
	FlowVersion int
	Run         Link
	Stage       string // title of the stage
	State       operation.State
	Revision    int64
	// Number is the version that waits for approval; Given of the Required approvals are
	// given. 0 = nothing waits.
	Number, Given, Required int

	// ConfirmedBy is "destination" or "person" when the state is confirmed.
	ConfirmedBy ConfirmedBy
	Duplicate   Duplicate
	Delivery    DeliveryState // of a mail: accepted is never shown as delivered
	Adopted     bool          // entered by hand; a job of another system
	Overdue     bool
	Paused      []PausedBy

	Next        operation.DecisionKind
	Responsible Who
	Due         time.Time // zero for closed operations

	Destination Link
	Environment string // of the destination: "live", "test" …
	Batch       *Link  // of an item: the batch that it was approved with
	BatchRow    int    // its row there
	Replaces    *Link  // the operation that this one replaces
	Original    string // of a replacement: "open", its original is open again, or "done", it has its effect; "" = neither
	Before      *Link  // the operation before its original that Original is about; nil = the original itself
	ReplacedBy  *Link
	Since       *Link  // the replacement that stands in the way of another attempt
	SinceStands string // it is in doubt, "open", or has the effect, "done"
	Suppressed  []SuppressedPerson
	HoldUntil   time.Time // a person keeps the review on hold until then
	HoldReason  string
	// Why says why a person is asked (review), or why it waits.
	Why Say
	// WaitingFor is the earlier stage that is not satisfied (state waiting).
	WaitingFor *Link
	// Blocked is the run that waits for what its owner says about this operation: it is
	// closed without effect; nil = nothing waits.
	Blocked *Link
	// EarlierClosed is the run in which an earlier stage is closed without effect, so
	// that this one is not sent; nil = none.
	EarlierClosed *Link
	// Case is its recovery case, the open one before others; nil = it never had one.
	// CaseWith has it in hand, zero = nobody.
	Case     *Link
	CaseWith Who
	// Contradiction is evidence against what a person decided; nil = there is none.
	Contradiction *Contradiction
	// Disputed says what reports the effect although it is disputed; nil = it is not disputed.
	Disputed *Disputed
}

// ConfirmedBy says whose word confirmed the effect.
type ConfirmedBy string

// Who confirmed: the destination's own answer, or a person with evidence.
const (
	ByDestination ConfirmedBy = "destination"
	ByPerson      ConfirmedBy = "person"
)

// Duplicate says whether more than one effect exists.
type Duplicate string

// The duplicate facts.
const (
	DuplicateNone      Duplicate = ""
	DuplicateSuspected Duplicate = "suspected"
	DuplicateConfirmed Duplicate = "confirmed"
)

// DeliveryState says what became of an accepted mail.
type DeliveryState string

// The delivery states of a mail.
const (
	DeliveryNone       DeliveryState = ""
	DeliveryAccepted   DeliveryState = "accepted"
	DeliveryDelivered  DeliveryState = "delivered"
	DeliveryBounced    DeliveryState = "bounced"
	DeliveryDropped    DeliveryState = "dropped"
	DeliveryComplained DeliveryState = "complained"
)

// PauseScope says what is paused.
type PauseScope string

// The scopes of a pause.
const (
	PauseAll         PauseScope = "all"
	PauseOperation   PauseScope = "operation"
	PauseFlow        PauseScope = "flow"
	PauseDestination PauseScope = "destination"
)

// PausedBy is one pause that holds the operation, flow or destination.
type PausedBy struct {
	Scope  PauseScope
	Who    Who
	Since  time.Time
	Reason string
}

// StageLink is one stage in the strip at the top.
type StageLink struct {
	Number  int
	Title   string
	URL     string // "" where there is no operation yet
	State   operation.State
	Batch   *BatchStanding // of a stage that fans out; nil = State says it
	Current bool
}

// stateSentence says what the state means for this operation.
func stateSentence(p *text.Printer, h Head) string {
	if h.State == operation.Confirmed && h.ConfirmedBy == ByPerson {
		return p.T("state.says.confirmed_by_person")
	}
	if h.State == operation.PendingApproval && h.Number > 0 {
		return p.N("state.says.pending_of", h.Given, "Number", h.Number, "Required", h.Required)
	}
	if h.State == operation.Review && h.Disputed != nil && h.Disputed.Still {
		return p.T("state.says.disputed")
	}
	return cmp.Or(heldSays(p, h), p.T("state.says."+string(h.State)))
}

func nextText(p *text.Printer, h Head) string {
	if h.Next == operation.DecideNothing {
		return p.T("next.nothing")
	}
	if h.Blocked != nil {
		return p.T("next.blocked")
	}
	if h.Original == "open" && (h.Next == operation.DecideTake || h.Next == operation.DecideTry) {
		return p.T("next." + string(operation.DecideOriginal)) // its row is older than its original's dispute
	}
	return p.T("next." + string(h.Next))
}

func responsibleText(p *text.Printer, h Head) string {
	if h.Next == operation.DecideNothing {
		return "–"
	}
	return h.Responsible.In(p)
}

// longTitle is the number of characters from which a title is set smaller.
const longTitle = 120

func long(title string) bool { return utf8.RuneCountInString(title) > longTitle }
