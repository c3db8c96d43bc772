package views

import (
	"time"

	"holdpoint/operation"
)

// FlowsModel lists the flows.
type FlowsModel struct {
	Frame
	Rows []FlowRow
}

// FlowRow is one flow of the list.
type FlowRow struct {
	Key     string
	URL     string
	Title   string
	Version int
	Trigger string
	Stages  []string
	Owner   Who
	Paused  bool
	Open    int // runs that are open or blocked
}

// FlowModel is one flow as a readable card.
type FlowModel struct {
	Frame
	Start string // where the viewer may start a run by hand; "" = they may not
	// NewBatch is where the viewer may make a batch of a list; "" = they may not, or no stage
	// takes a list.
	NewBatch        string
	Key             string
	Title           string
	Version         int
	AppliedAt       time.Time
	AppliedBy       Who
	Trigger         string // the source by its title, and what it sends
	RunKey          string // the expression as written; "" = the event's identity
	Owner           Who
	Reviewer        Who
	ReexecutionBy   Who
	ReexecutionNeed int
	OnMissing       string // draft | refuse
	Failure         string
	Inputs          []FlowInput
	Outputs         []string
	Stages          []FlowStage
	ChecklistExtra  []string
	Runbook         string // Markdown
	TestCases       []string
	Versions        []DefinitionVersion
	Paused          []PausedBy
	InFlight        int
	Pause           *ReasonForm
	Resume          *ReasonForm
	Acceptance      AcceptanceCard
}

// FlowInput is one input of a flow.
type FlowInput struct {
	Name     string
	Type     string
	Required bool
}

// FlowStage is one stage of a flow's definition.
type FlowStage struct {
	Number         int
	Key            string
	Title          string
	Destination    Link
	Action         string // its title
	Approvers      Who
	Required       int
	Groups         []FlowGroup // by which the approvals are asked for; none = Required of Approvers
	SeparateAuthor bool
	Expires        time.Duration // 0 = does not expire
	Due            time.Duration
	AttemptsMax    int
	SatisfiedBy    string // confirmed | accepted | delivered; fanned out: every_item_confirmed | every_item_closed
	Drafted        []FlowDraft
	FanOut         *FlowFanOut // nil = the stage is one operation
}

// FlowFanOut says how a stage fans out over a list.
type FlowFanOut struct {
	In                       string // as written
	Key                      string // as written; "" = the recipient
	After                    string // title of the stage whose same item each waits for; "" = none
	Required                 []string
	Canary                   int // 0 = none
	Last                     int // outcomes that are looked at
	Errors, Unknown, Bounced int // limits in thousandths
	Total                    string
	Currency                 string
}

// FlowGroup is one group of a stage's approvers.
type FlowGroup struct {
	Title     string
	Approvers Who
	Required  int
}

// FlowDraft is one part of the content that somebody writes.
type FlowDraft struct {
	Name  string
	Brief string // what to write; "" = the flow does not say
}

// DestinationsModel lists the destinations.
type DestinationsModel struct {
	Frame
	Rows []DestinationRow
}

// DestinationRow is one destination of the list.
type DestinationRow struct {
	Key         string
	URL         string
	Title       string
	Kind        operation.RequestKind
	Account     string
	Environment string
	Paused      bool
	InFlight    int
	Unresolved  int
	Local       bool
}

// DestinationModel is one destination as a readable card.
type DestinationModel struct {
	Frame
	Key         string
	Title       string
	Kind        operation.RequestKind
	Account     string
	Environment string
	Address     string // base URL or mail server
	// AddressUnfit says that no request can be written for it, as the environment is now.
	AddressUnfit bool
	Credential   string // its name, never its value
	Local        bool   // the private-address guard is lifted
	Concurrency  int
	Rate         string
	Timeout      time.Duration
	SettleAfter  time.Duration
	Retry        RetryView
	DocsURL      string
	DocsChecked  time.Time
	Actions      []DestinationAction
	Runbook      string
	Health       HealthView
	Versions     []DefinitionVersion
	Paused       []PausedBy
	InFlight     []InFlight
	Pause        *ReasonForm
	Resume       *ReasonForm
	Acceptance   AcceptanceCard
	Callbacks    CallbackCard
}

// HealthView says how the newest attempts at a destination ended, each outcome apart.
type HealthView struct {
	Attempts      int // that were looked at
	Outcomes      map[operation.Outcome]int
	Open          int
	Waiting       int           // operations that wait to be sent
	Slowest       time.Duration // 0 = nothing was sent
	LastConfirmed time.Time     // zero = none among these
	LastUnknown   time.Time
}

// RetryView is a destination's documented policy for repeats.
type RetryView struct {
	Max               int
	Base, MaxInterval time.Duration
}

// DestinationAction is one action with what protects a repeat of it.
type DestinationAction struct {
	Name          string
	Title         string
	Effect        string
	KeyHeader     string // where the key travels; "" = no key
	Retention     time.Duration
	ProvenOn      time.Time // zero = unproven, not used automatically
	ReplaysErrors bool
	HasLookup     bool
	LookupLag     time.Duration
	Authoritative bool
	Overwrites    bool
	Unique        bool          // our reference is documented as unique: a repeat is refused
	TimeOut       string        // repeated, looked_up or person
	RepeatFor     time.Duration // how long a time-out is repeated
	Probe         *ProbeView    // the newest probe; nil = none
	Broken        time.Time     // the newest telling probe showed that it does not hold, and goes before the profile; zero = none
}

// InFlight is one attempt that is under way.
type InFlight struct {
	Operation  Link
	Attempt    operation.AttemptID
	Dispatched bool
	LeaseEnd   time.Time
}
