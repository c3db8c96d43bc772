package views

import (
	"time"

	"holdpoint/operation"
)

// Panel is the fourth part of an operation's page: what is decided next, and what
// the viewer may do. A nil form is not offered in this state; a form with Barred set
// is shown as the sentence that says why not.
type Panel struct {
	// Yours says that the next decision is the viewer's.
	Yours bool

	// Next leads on to the next unknown outcome, right after one was settled.
	Next *NextUnknown

	Decide      *DecideForm
	Reconcile   *ReconcileForm
	Reexecution *ReexecutionForm
	Recheck     *RecheckForm

	// Edit and Replace lead to their own pages.
	Edit    *LinkAction
	Replace *LinkAction

	Withdraw *ReasonForm
	// WithdrawRequest takes an open request for one more attempt back to review.
	WithdrawRequest *ReasonForm

	Cancel   *ReasonForm
	Pause    *ReasonForm
	Resume   *ReasonForm
	Correct  *ReasonForm
	Grant    *GrantForm
	Dispute  *DisputeForm
	Evidence *EvidenceForm
	Remedy   *ReasonForm // the open work on a closed operation is done
	Erase    *ReasonForm // its contents, attachments and statements go

	// Barred lists other things that cannot be done now, with the reason.
	Barred []BarredAction
}

// LinkAction is an action with its own page.
type LinkAction struct {
	URL    string
	Barred *operation.Refusal
}

// BarredAction is something that may not be done, and why.
type BarredAction struct {
	Action string // catalogue key "do.<word>", e.g. "do.send_again"
	Why    *operation.Refusal
}

// DecideForm is the approvers' decision on a version.
// Fields: decision (approve | request_changes | reject), reason_<decision> (the code of a
// preset reason), comment, for (on whose behalf).
type DecideForm struct {
	Form
	Decision operation.Decision
	Comment  string
	// Number is the version decided on; Given of Required approvals are there.
	Number, Given, Required int
	// Groups is how many approvals each group is asked for; none = there are no groups.
	Groups []int
	// Recipients is how many receive it, for a mail; 0 = not a mail.
	Recipients  int
	Destination string
	// NextStage is the title of the stage that waits for this one; "" = none.
	NextStage string
	// Expired says that the approvers' entitlement ended or the approval expired, so
	// that this version is to be approved once more: "Expired, not sent".
	Expired bool
	// Presets are the preset reasons of each decision.
	Presets map[operation.Decision][]Preset
	// As are the capacities in which the viewer may decide: "" = for themselves, else the
	// ID of whom they act for, with the name as label.
	As []Option
	// Apart are the people who cannot approve because they had a part in the content.
	Apart []Who
	// Batch is what a decision about a whole batch lets go out; nil = it is about one operation.
	Batch *BatchAsk
}

// Finding is the reviewer's answer.
type Finding string

// The reviewer's answers.
const (
	FindingDone      Finding = "done"      // yes, one effect
	FindingNotDone   Finding = "not_done"  // no effect
	FindingDuplicate Finding = "duplicate" // more than one
	FindingHold      Finding = "hold"      // cannot tell yet
)

// Then is what follows from "not done".
type Then string

// What follows from "not done".
const (
	ThenReexecute Then = "request_reexecution"
	ThenClose     Then = "close"
)

// ReconcileForm is the reviewer's answer to "does this effect exist?".
// Fields: finding (done | not_done | duplicate | hold);
// done: done_reference, done_how (seen | log | told), done_evidence, done_files, done_link;
// not_done: for each item check_<item> (yes | no), note_<item>, then
// not_done_how, not_done_evidence, not_done_files, not_done_link, then (request_reexecution | close), not_done_reason,
// not_done_confirm (yes; needed to close);
// duplicate: duplicate_references (one a line), duplicate_evidence, duplicate_link,
// duplicate_confirm (yes);
// hold: hold_until (2006-01-02T15:04 in the viewer's zone), hold_reason.
type ReconcileForm struct {
	Form
	Finding     Finding
	Destination string
	Effect      string // effect type, e.g. "task"

	// Focus gives the first answer the focus: the viewer comes from the operation that
	// they settled before.
	Focus bool
	// NextStage is the title of the stage that waits for this one; "" = none.
	NextStage string
	// SecondPerson must permit a re-execution.
	SecondPerson Who
	SendAgain    *SendAgain

	Reference    string
	DoneEvidence EvidenceFields

	Checklist       []CheckItem
	NotDoneEvidence EvidenceFields
	Then            Then
	NotDoneReason   string
	// NotDoneBarred says why "not done" is refused for now (an earlier request may
	// still take effect).
	NotDoneBarred *operation.Refusal
	Generation    int    // key generation that a re-execution would use
	Key           string // "" = the action sends none

	References        string
	DuplicateEvidence EvidenceFields

	HoldUntil  string // as typed
	HoldReason string
}

// CheckItem is one question of the checklist with its answer.
type CheckItem struct {
	Item operation.ChecklistItem
	// Ask is the question of an item that a flow adds; the five common ones have
	// theirs in the catalogues.
	Ask     string
	NoKey   bool   // the question about the key, where none is sent
	Hint    string // what is known here: the key, the ID, the error text
	Answer  string // "yes", "no" or "" (unanswered)
	Comment string
	By      Who
	At      time.Time
	// Known is what is known of the error from others, beside the question about the cause.
	Known *KnownPattern

	Attachments []AttachmentView
}

// ReexecutionForm is the second person's decision.
// Fields: decision (approve | refuse), confirm (yes; needed to approve), comment.
type ReexecutionForm struct {
	Form
	// As are the capacities in which the viewer may decide; see DecideForm.
	As       []Option
	Decision string
	Comment  string
	// What the second person must see.
	Destination    string
	Key            string // "" = the action sends none: nothing protects a repeat
	Generation     int
	KeyKept        bool // the key is still protected and stays the same
	RequestedBy    Who
	RequestedAt    time.Time
	Reason         string
	Checklist      []CheckItem
	Evidence       []EvidenceLine
	Given          []Signature
	Required       int
	FreshLookup    bool // a lookup runs again before the dispatch
	ApprovalExpiry time.Duration
}

// RecheckForm answers the checklist once more right before an approved re-execution,
// where the destination offers no lookup.
// Fields: check_<item> (yes | no), note_<item>.
type RecheckForm struct {
	Form
	Checklist []CheckItem
	CheckedAt time.Time
}

// ReasonForm is an action that needs only a reason. Fields: reason, and confirm
// (yes) where Confirm is set.
type ReasonForm struct {
	Form
	Reason  string
	Confirm bool
	// Effect is the key of what it does where that differs from the usual; "" = the usual.
	Effect string
	// Effects are the keys of several things that it does, in place of Effect.
	Effects []string
	// InFlight is how many attempts are under way now (pause).
	InFlight int
}

// GrantForm gives more attempts. Fields: attempts (1–20), reason.
type GrantForm struct {
	Form
	Attempts string
	Reason   string
}

// DisputeForm reopens a closed operation. Fields: evidence, link, reference.
type DisputeForm struct {
	Form
	EvidenceFields
	Reference string
}

// EvidenceForm adds late evidence. Fields: evidence, link, reference, reference_url
// (both only where the evidence shows the effect).
type EvidenceForm struct {
	Form
	EvidenceFields
	// States says that the viewer may state that the effect exists: a reference given here
	// confirms the operation. Closed says that it is closed: a reference is evidence like
	// the rest. With neither no reference is asked for.
	States, Closed bool
	// Disputed says that only a person settles what holds.
	Disputed     bool
	Reference    string
	ReferenceURL string
	// Kept says that it holds what was typed into a form that is gone.
	Kept bool
}
