package views

import (
	"time"

	"holdpoint/operation"
)

// PathBatches lists the batches: fanned-out stages, approved as one.
const PathBatches = "/batches"

// BatchModel is the page of one batch: what is the same for all, what varies, what is odd,
// what changed; how far it is; what is decided next and by whom.
type BatchModel struct {
	Frame
	Head     BatchHead
	Stages   []StageLink // the run's stages, this one marked
	Counts   BatchCounts
	Approved BatchApproved
	// Sent is how far it is; nil = nothing was cleared yet.
	Sent *BatchSent
	// Found is what the destination says of what was sent.
	Found   BatchFound
	Panel   BatchPanel
	History HistoryModel
	// Stale says what changed while the viewer decided: the page refuses a form; nil = it does not.
	Stale *BatchStale
}

// BatchHead is the top of a batch's page.
type BatchHead struct {
	ID          operation.BatchID
	URL         string
	Title       string
	Flow        Link
	FlowVersion int
	Run         Link
	Stage       string // title of the stage
	BatchStanding
	Revision int64
	Number   int // the current version
	// Given of the Required approvals are given, of the phase that is decided now.
	Given, Required int
	Canary          int // how many go first; 0 = all at once
	Mails           bool
	Money           []Money    // totals of what is to be sent, by currency
	Paused          []PausedBy // pauses of everything, the flow or the destination

	Next        operation.DecisionKind
	Responsible Who
	Due         time.Time // zero for closed ones
	Overdue     bool
	Turn        BatchTurn
	Replacing   BatchReplacing
	WentOn      *Signature // the owner's "go on without it"; nil = none

	Destination Link
	Environment string
	CreatedAt   time.Time
	ClosedAt    time.Time
}

// BatchStanding says where a batch stands: its state, and what is noted beside it.
type BatchStanding struct {
	State operation.BatchState
	Pause *BatchPause
	Stop  *BatchStop
	// Settling: everything was sent, and outcomes are left to be settled, or are again.
	Settling bool
	Held     bool // by an earlier stage
	Halted   bool // its flow, its destination or all sends are paused, and something of it waits for that
	// Lapsed: the approval of what was not sent yet holds no longer, and is to be given anew.
	Lapsed bool
}

// BatchPause is a pause of one batch, by a person or by itself.
type BatchPause struct {
	// Auto names the rate that paused it: "errors", "unknown" or "bounced"; "" = a person did.
	Auto  string
	Why   string // what the person said
	Who   Who
	At    time.Time
	Alarm operation.BatchAlarm // the measurement, of an automatic pause
}

// BatchStop is the end that a person put to a batch: what was not sent stays unsent.
type BatchStop struct {
	Who   Who
	Why   string
	At    time.Time
	Again int // items for which people permitted one more attempt all the same
}

// BatchApproved is the first column: what was, or is to be, approved.
type BatchApproved struct {
	Number      int
	Hash        string // hex; "" while something is to be done
	Author      Who
	At          time.Time
	Note        string
	ListName    string   // of an uploaded file
	ListHash    string   // hex
	Missing     []string // shared text that is to be written
	Same        []BatchPlace
	Varies      []BatchPlace
	Problems    []BatchItemLine // the first rows with a problem
	ProblemRows int
	LeftOut     []BatchItemLine // the first rows that are not sent
	StoppedNow  int             // rows to come that are on the suppression list now
	Longest     *BatchItemLine
	Emptiest    *BatchItemLine
	Diff        *BatchDiff // nil = there is no earlier version
	Samples     BatchSamples
	ItemsURL    string
	Signatures  []Signature
	Required    int
	ExpiresAt   time.Time
	Versions    []VersionLine
}

// BatchPlace is one place of the items' content: the same in all, or with what varies.
type BatchPlace struct {
	Name, Label string
	// Value is what stands there in all items. With Filled it holds {{name}}, which is
	// filled for each item.
	Value    string
	Filled   bool
	Cut      Cut
	Distinct int  // different values; 0 = not counted
	AtLeast  bool // there are more different values than were counted
	Empty    int  // items in which it is empty
	Shortest int  // characters
	Longest  int
	Examples []string
}

// BatchItemLine is one entry of a list.
type BatchItemLine struct {
	Position  int
	Key       string
	Recipient string
	Title     string
	URL       string // of its own page
	Excluded  operation.Exclusion
	Problems  []BatchProblem
	// Operation is what it became; zero = not yet, or never.
	Operation operation.ID
	OpURL     string
	State     operation.State
	// Change is added, dropped, changed or same, against the version before; "" = not asked.
	Change string
	Size   int // characters of its content; 0 = not said
	Unsent bool
}

// BatchProblem is why a row blocks approval.
type BatchProblem struct{ Code, Field string }

// BatchDiff is what changed since an earlier version.
type BatchDiff struct {
	From                          int
	Added, Dropped, Changed, Same int
	Shared                        []FieldChange // of the shared text
	ItemsURL                      string        // with ?diff=
	Lines                         []BatchItemLine
}

// BatchSamples are items that the approver looks at whole.
type BatchSamples struct {
	Kind    BatchSampleKind
	Seed    string // of the random choice: the same seed gives the same rows
	Again   string // address of another random choice
	Links   []BatchSampleLink
	Rows    []BatchSample
	Chosen  string // positions as they were typed
	Unknown bool   // nothing of what was typed was found
}

// BatchSampleKind is a way to choose samples.
type BatchSampleKind string

// The ways to choose samples; they are the values of ?samples=.
const (
	SamplesRandom   BatchSampleKind = "random"
	SamplesLongest  BatchSampleKind = "longest"
	SamplesEmptiest BatchSampleKind = "emptiest"
	SamplesChosen   BatchSampleKind = "chosen"
)

// BatchSampleKinds lists them.
var BatchSampleKinds = []BatchSampleKind{SamplesRandom, SamplesLongest, SamplesEmptiest, SamplesChosen}

// BatchSampleLink leads to another choice.
type BatchSampleLink struct {
	Kind    BatchSampleKind
	URL     string
	Current bool
}

// BatchSample is one item with its content.
type BatchSample struct {
	BatchItemLine
	Content ContentView
}

// BatchSent is the second column: how far it is.
type BatchSent struct {
	Closed, Of int // operations that are closed, of the items that are cleared, or of those that were sent where the approval of the rest lapsed
	Rest       int // items whose approval lapsed
	PerMinute  int // closed lately; 0 = not known
	Ends       time.Time
	Started    time.Time
	Window     BatchWindow
	Canary     *BatchCanary
}

// BatchWindow is what the last attempts came to, beside the limits that pause by themselves.
type BatchWindow struct {
	Last                                  int // attempts; 0 = none yet
	Errors, Unknown, Bounced              int
	ErrorLimit, UnknownLimit, BounceLimit int64 // hundredths of a percent; 0 = none
}

// BatchCanary are the first items, and what became of them.
type BatchCanary struct {
	N      int
	Counts BatchCounts
	Rows   []BatchItemLine
	URL    string // of all of them
}

// BatchFound is the third column: what the destination says.
type BatchFound struct {
	// Unknown wait for a lookup or a person; Open cases can be settled in a queue.
	Unknown, Review int
	Bounced         int
	Settle          *Form // starts a frozen list of the batch's cases; nil = the viewer may not
	Lookup          *Form // looks all up again
	ExportURL       string
	ItemsURL        string
	OperationsURL   string
	AcceptedOnly    bool
}

// BatchPanel is the fourth part: what is decided next, and what the viewer may do.
type BatchPanel struct {
	Yours    bool
	Decide   *DecideForm
	Revise   *LinkAction // a new version
	Withdraw *ReasonForm
	Pause    *LinkAction // each leads to a page that says exact counts
	Resume   *LinkAction
	Stop     *LinkAction
	Cancel   *LinkAction
	GoOn     *LinkAction // the run goes on without this stage
}

// BatchAsk is what a decision about a batch lets go out.
type BatchAsk struct {
	Phase   operation.BatchPhase
	Items   int // that it clears now
	Rest    int // that wait for a second decision
	LeftOut int
	Doubt   int  // of the canary: disputed, or not known what came of it
	Lapsed  bool // the approval of these items is to be given anew: what went out before is no canary
	Mails   bool
	Money   []Money
}

// BatchStale is a decision that was refused because something changed.
type BatchStale struct {
	Seen, Now                 int // versions
	SeenRevision, NowRevision int64
	SeenHash, NowHash         string
	Changes                   []HistoryLine
}

// BatchesModel is the list of batches. Query fields (GET): flow, state, after (keyset).
type BatchesModel struct {
	Frame
	Flows, States []Option
	Active        bool
	Rows          []BatchLine
	Pager         Pager
	// StartURL leads to the flows that start from a list; "" = the viewer starts none.
	StartURL string
}

// BatchLine is one batch of the list or of the inbox.
type BatchLine struct {
	ID       operation.BatchID
	Run      operation.RunID
	URL      string
	Revision int64
	BatchStanding
	Flow, Stage string
	Title       string
	Destination string
	Version     int
	Counts      BatchCounts
	Next        operation.DecisionKind
	Turn        BatchTurn
	Responsible Who
	Since, Due  time.Time
	Overdue     bool
	Given       int
	Required    int
	Created     time.Time
	For         string // whose decision it would be, by a delegation; "" = the viewer's own
}

// BatchItemsModel lists the items of one version. Query fields (GET): version, q, state,
// left_out, problem, diff, after, before (keyset).
type BatchItemsModel struct {
	Frame
	Batch     Link
	Number    int
	Current   bool
	Versions  []Option
	Q         string
	States    []Option
	LeftOut   []Option
	Diffs     []Option
	Problem   bool
	Active    bool
	Rows      []BatchItemLine
	Total     int
	Pager     Pager
	Path      string
	ExportURL string
	// NotReleased says what an item without an operation is: not begun, or not sent.
	State operation.BatchState
}

// BatchItemModel is the page of one item as it stands in one version.
type BatchItemModel struct {
	Frame
	Batch      Link
	Number     int
	Item       BatchItemLine
	Hash       string
	Content    ContentView
	Request    RequestView
	Prev, Next string
	All        string
}

// BatchActModel asks to confirm a pause, a resume, a stop or a cancellation, with the
// exact counts.
type BatchActModel struct {
	Frame
	Form
	Act    operation.BatchAct
	Batch  Link
	Counts BatchCounts
	Reason string
	Mails  bool
	Pause  *BatchPause // of a resume: what paused it
	Where  string      // title of the destination
	Stage  string      // its title
	// Replacing is what may still have the effect in place of items of it.
	Replacing BatchReplacing
}
