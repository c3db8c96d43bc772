package store

import (
	"encoding/json"
	"iter"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// Batch is one fanned-out stage of a run: a row of batches.
type Batch struct {
	ID          operation.BatchID     `db:"id"`
	RunID       operation.RunID       `db:"run_id"`
	Flow        string                `db:"flow"`
	FlowVersion int                   `db:"flow_version"`
	Stage       string                `db:"stage"`
	StageNo     int                   `db:"stage_no"`
	Stages      int                   `db:"stages"`
	Destination string                `db:"destination"`
	Action      string                `db:"action"`
	EffectType  string                `db:"effect_type"`
	Account     string                `db:"account"`
	Environment string                `db:"environment"`
	Source      string                `db:"source"`
	Title       string                `db:"title"`
	State       operation.BatchState  `db:"state"`
	Revision    int64                 `db:"revision"`
	Number      int                   `db:"number"`   // of the current version
	Total       int                   `db:"total"`    // entries of its list
	Included    int                   `db:"included"` // of them to be sent
	Cleared     int                   `db:"cleared"`  // up to which position people decided that it goes out
	Released    int                   `db:"released"` // up to which position items have become operations
	ClearanceID operation.ClearanceID `db:"clearance_id"`
	Round       int                   `db:"round"` // of approval
	Satisfied   bool                  `db:"satisfied"`
	PausedWhy   string                `db:"paused_why"` // "" = it is not paused
	PausedBy    string                `db:"paused_by"`
	PausedAuto  string                `db:"paused_auto"` // the limit that was passed: errors, unknown, bounced; "" = a person paused it
	PausedAt    *time.Time            `db:"paused_at"`
	StoppedWhy  string                `db:"stopped_why"` // "" = it was not stopped
	StoppedBy   string                `db:"stopped_by"`
	StoppedAt   *time.Time            `db:"stopped_at"`
	NextKind    string                `db:"next_kind"`
	NextRole    operation.Role        `db:"next_role"`
	NextUser    operation.UserID      `db:"next_user"`
	NextSystem  bool                  `db:"next_system"`
	NextAt      *time.Time            `db:"next_at"`
	NextSince   *time.Time            `db:"next_since"`
	ExpiresAt   *time.Time            `db:"expires_at"` // when the clearance ceases to hold
	LastForm    string                `db:"last_form"`
	CreatedAt   time.Time             `db:"created_at"`
	UpdatedAt   time.Time             `db:"updated_at"`
	ClosedAt    *time.Time            `db:"closed_at"`
}

// batchColumns lists the columns of Batch; nullable ones come as their zero value.
const batchColumns = `b.id, b.run_id, b.flow, b.flow_version, b.stage, b.stage_no, b.stages, b.destination, b.action, b.effect_type, b.account, b.environment, b.source, b.title,
	b.state, b.revision, b.number, b.total, b.included, b.cleared, b.released, COALESCE(b.clearance_id, '') AS clearance_id, b.round, b.satisfied, b.paused_why, b.paused_by, b.paused_auto, b.paused_at,
	b.stopped_why, b.stopped_by, b.stopped_at, b.next_kind, b.next_role, COALESCE(b.next_user, '') AS next_user, b.next_system, b.next_at, b.next_since, b.expires_at, b.last_form,
	b.created_at, b.updated_at, b.closed_at`

// Paused reports that nothing more of it is begun until somebody lets it go on. Nobody lets
// one go on that was stopped.
func (b Batch) Paused() bool { return b.PausedAt != nil && !b.Stopped() }

// Stopped reports that the unsent rest was given up.
func (b Batch) Stopped() bool { return b.StoppedAt != nil }

// Phase is what a decision about it would be about now.
func (b Batch) Phase() operation.BatchPhase {
	if b.Cleared > 0 {
		return operation.PhaseRest
	}
	return operation.PhaseFirst
}

// Next gives the one next decision.
func (b Batch) Next() operation.NextDecision {
	return operation.NextDecision{Kind: operation.DecisionKind(b.NextKind), Who: operation.Responsible{User: b.NextUser, Role: b.NextRole, System: b.NextSystem}, At: timeOf(b.NextAt)}
}

// Overdue reports that the next decision was due before now.
func (b Batch) Overdue(now time.Time) bool {
	return b.NextKind != "" && !b.NextSystem && b.NextAt != nil && b.NextAt.Before(now)
}

// BatchVersion is one version of a batch: a list and the shared text, as frozen.
type BatchVersion struct {
	Number      int        `db:"number"`
	Hash        []byte     `db:"hash"` // nil while something is to be done
	Total       int        `db:"total"`
	Included    int        `db:"included"`
	Duplicates  int        `db:"duplicates"`
	Suppressed  int        `db:"suppressed"`
	Problems    int        `db:"problems"` // rows with a problem
	MissingText string     `db:"missing"`
	SharedText  string     `db:"shared"`
	FactsText   string     `db:"facts"`
	ListHash    []byte     `db:"list_hash"` // SHA-256 over the entries as they were read
	ListName    string     `db:"list_name"` // of an uploaded file; "" = the list came with the run
	AuthorKind  string     `db:"author_kind"`
	AuthorID    string     `db:"author_id"`
	PromptedBy  string     `db:"prompted_by"`
	Model       string     `db:"model"`
	Note        string     `db:"note"`
	Credential  string     `db:"credential"`
	FlowVersion int        `db:"flow_version"`
	SubmittedBy string     `db:"submitted_by"`
	PolicyText  string     `db:"policy"`
	At          time.Time  `db:"created_at"`
	Erased      *time.Time `db:"erased_at"` // when contents were erased; nil = they are there
}

const batchVersionColumns = `v.number, COALESCE(v.hash, '') AS hash, v.total, v.included, v.duplicates, v.suppressed, v.problems, to_json(v.missing)::text AS missing, v.shared, v.facts, v.list_hash, v.list_name,
	v.author_kind, v.author_id, COALESCE(v.prompted_by, '') AS prompted_by, v.model, v.note, v.credential, v.flow_version, COALESCE(v.submitted_by, '') AS submitted_by, COALESCE(v.policy, '') AS policy, v.created_at, v.erased_at`

// HashHex is the version's hash as forms carry it; "" while something is to be done.
func (v BatchVersion) HashHex() string { return hexOf(v.Hash) }

// Missing names the shared text that is still to be written, by path.
func (v BatchVersion) Missing() []string {
	var m []string
	_ = json.Unmarshal([]byte(v.MissingText), &m)
	return m
}

// Shared is the text that was written once for all items, by path.
func (v BatchVersion) Shared() map[string]string {
	m := map[string]string{}
	_ = json.Unmarshal([]byte(v.SharedText), &m)
	return m
}

// Facts are what was found over all items of the version.
func (v BatchVersion) Facts() BatchFacts {
	var f BatchFacts
	_ = json.Unmarshal([]byte(v.FactsText), &f)
	return f
}

// Policy is what was pinned when the version was submitted; nil = it was not.
func (v BatchVersion) Policy() *operation.Policy {
	var p operation.Policy
	if v.PolicyText == "" || json.Unmarshal([]byte(v.PolicyText), &p) != nil {
		return nil
	}
	return &p
}

// BatchItem is one entry of a version's list. What was erased is empty.
type BatchItem struct {
	Number       int                 `db:"number"` // of the version
	Position     int                 `db:"position"`
	Key          string              `db:"item_key"`
	Recipient    string              `db:"recipient"`
	Title        string              `db:"title"`
	Excluded     operation.Exclusion `db:"excluded"`
	ProblemsText string              `db:"problems"`
	Hash         []byte              `db:"hash"`
	// Operation is what it became; "" = it was not released.
	Operation operation.ID    `db:"operation_id"`
	State     operation.State `db:"state"` // of the operation
	Delivery  string          `db:"delivery"`
	Remedy    string          `db:"remedy"`
	Change    string          `db:"change"` // against the version before: added, changed, dropped, same; only where that was asked for
	// ItemText, ContentText and RequestText are read where a reader asks for bodies.
	ItemText    string `db:"item"`
	ContentText string `db:"content"`
	RequestText string `db:"request"`
}

// Problems says what blocks the item.
func (i BatchItem) Problems() []definition.ItemProblem {
	var out []definition.ItemProblem
	if i.ProblemsText != "" {
		_ = json.Unmarshal([]byte(i.ProblemsText), &out)
	}
	return out
}

// BatchApproval is one person's decision about a version of a batch.
type BatchApproval struct {
	ID       operation.ApprovalID `db:"id"`
	Number   int                  `db:"number"`
	Phase    operation.BatchPhase `db:"phase"`
	Round    int                  `db:"round"`
	User     operation.UserID     `db:"user_id"`
	For      operation.UserID     `db:"for_user"`
	Decision operation.Decision   `db:"decision"`
	Role     operation.Role       `db:"role"`
	Reason   string               `db:"reason"`
	// ReasonCode and ReasonWords are of a preset reason, as it was said to the person.
	ReasonCode  string    `db:"reason_code"`
	ReasonWords string    `db:"reason_words"`
	At          time.Time `db:"decided_at"`
}

// BatchMark is what one group of attempts came to.
type BatchMark struct {
	At         time.Time `db:"at"`
	Confirmed  int       `db:"confirmed"`
	NotStarted int       `db:"not_started"`
	Unknown    int       `db:"unknown"`
}

// List is a list of entries that came as a file. Rows may be ranged over more than once
// and gives the same entries each time; an error ends it, and nothing is stored.
type List struct {
	Name string // of the file
	Rows iter.Seq2[map[string]any, error]
}

// NewBatchRun starts a run whose lists came as files.
type NewBatchRun struct {
	Flow string
	// RunKey tells the run from all others of the flow; "" = FormID does. The same key with
	// the same lists and inputs is the same run, with others it is a conflict.
	RunKey string
	FormID string
	Inputs map[string]any               // without the lists
	Lists  map[string]List              // by the input that each stands for
	Shared map[string]map[string]string // shared text that is written already: stage → path → text
	Author Author                       // of a token; a person is the author of what they start
}

// BatchShown is what a form about a batch was shown with.
type BatchShown struct {
	Batch    operation.BatchID
	Revision int64  // 0 = any (job API)
	FormID   string // the same form twice is one change
	Reason   string
}

// BatchRevision is a new version of a batch.
type BatchRevision struct {
	BatchShown                   // Reason is the author's note
	List       *List             // nil = the entries stay
	Shared     map[string]string // path → text; nil = the texts stay
	Author     Author            // of a token
}

// BatchDecided is one person's decision about the version of a batch that they were shown.
type BatchDecided struct {
	Batch    operation.BatchID
	Number   int                  // of the version, as shown
	Hash     string               // hex, as shown
	Revision int64                // as shown
	Phase    operation.BatchPhase // as shown
	Decision operation.Decision
	Reason   string
	FormID   string // unique key of the shown form: a double click is one decision
	// For is on whose behalf, by a delegation; "" = their own decision.
	For operation.UserID
	// Preset is the code of a preset reason and PresetWords what it said to the person;
	// both or none.
	Preset, PresetWords string
}

// BatchQuery finds items of a batch, by their position in the list.
type BatchQuery struct {
	Batch    operation.BatchID
	Number   int                 // of the version; 0 = the current one
	State    operation.State     // of the operation
	Waiting  bool                // not released yet, and neither excluded nor with a problem
	Released bool                // those that have become operations
	Search   string              // part of key, recipient or title
	Excluded bool                // those that are left out
	Why      operation.Exclusion // of them, with this reason; "" = with any
	Problem  bool                // those with a problem
	Diff     string              // against the version before: added, changed, dropped
	Open     bool                // operations that are not closed
	Bounced  bool                // operations whose mail did not arrive
	After    int                 // behind this position
	Before   int                 // page backwards: before this position; 0 = forwards
	Limit    int                 // 0 = 50, at most 500
	Bodies   bool                // with entry, content and request
}

// BatchItemList is one page of items.
type BatchItemList struct {
	Items []BatchItem
	Next  int // position to go on behind; 0 = none
	Prev  int // position to go back before; 0 = none
}

// BatchFilter narrows the list of batches. Empty fields do not narrow.
type BatchFilter struct {
	State  operation.BatchState
	Open   bool
	Flow   string
	Cursor string
	Limit  int // 0 = 50
}

// BatchRow is a batch as lists show it.
type BatchRow struct {
	Batch
	FlowTitle, StageTitle map[string]string
	Counts                BatchCounts
	Given, Required       int // approvals of the current phase
	Late                  bool
	Turn                  operation.BatchTurn // whose turn it is, with all that holds it
	For                   operation.UserID    // whom the viewer would decide for; "" = themselves
	ForName               string
}

// BatchList is one page of batches, newest first.
type BatchList struct {
	Now        time.Time
	Rows       []BatchRow
	Next, Prev string
	Flows      []Named
}

// BatchCounts says where every entry of the list is. The parts always add up to Total.
type BatchCounts struct {
	Total      int
	Duplicates int
	Suppressed int
	Problems   int                     // of those not left out, that cannot go out
	Waiting    int                     // not released yet
	GivenUp    int                     // never released: the batch was stopped, cancelled or rejected before
	States     map[operation.State]int // operations
}

// Operations is how many items have become operations.
func (c BatchCounts) Operations() int {
	n := 0
	for _, k := range c.States {
		n += k
	}
	return n
}

// Closed is how many operations are closed.
func (c BatchCounts) Closed() int {
	n := 0
	for s, k := range c.States {
		if s.Closed() {
			n += k
		}
	}
	return n
}

// BatchFacts are what was found over all items of a version.
type BatchFacts struct {
	Same     map[string]any `json:"same,omitempty"`     // content that is the same in all items, by path
	Varies   []string       `json:"varies,omitempty"`   // paths that differ
	Longest  int            `json:"longest,omitempty"`  // position of the item with the longest content
	Emptiest int            `json:"emptiest,omitempty"` // position of the item with the least
	Sum      int64          `json:"sum,omitempty"`      // of the amount that the flow names, in minor units
	Currency string         `json:"currency,omitempty"`
	ByCode   map[string]int `json:"by_code,omitempty"` // rows by the code of their problem
	Diff     *BatchDiff     `json:"diff,omitempty"`    // against the version before; nil = there is none
	// Places say how much varies: the fields that are filled into shared text, then each path
	// of Varies. None is in versions that were made before they were counted.
	Places []operation.BatchPlace `json:"places,omitempty"`
}

// Place gives what is known of one place; field: one of the entry that is filled into shared
// text. nil = it was not counted.
func (f BatchFacts) Place(path string, field bool) *operation.BatchPlace {
	for i, p := range f.Places {
		if p.Path == path && p.Field == field {
			return &f.Places[i]
		}
	}
	return nil
}

// BatchDiff counts the differences of two versions, by item key.
type BatchDiff struct {
	Against int `json:"against"` // number of the version before
	Added   int `json:"added" db:"added"`
	Dropped int `json:"dropped" db:"dropped"`
	Changed int `json:"changed" db:"changed"`
	Same    int `json:"same" db:"same"`
}
