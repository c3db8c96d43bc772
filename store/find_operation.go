package store

import (
	"context"
	"encoding/json"
	"os"
	"sync"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"

	"github.com/jmoiron/sqlx"
)

// OperationPage is everything that is known of one operation, for its page and the API.
type OperationPage struct {
	OperationSummary
	Flow2          *definition.Flow    // the definition that it was made with
	Profile        *definition.Profile // the destination's current one
	Action         *definition.Action
	Stage2         definition.Stage
	Facts          operation.Facts // as the gate would see it now
	Now            time.Time
	Gate           *operation.Refusal // why no attempt may start now; nil = one may
	Versions       []VersionRow       // oldest first
	Policy         *operation.Policy  // pinned for the current version; nil = not submitted
	Parties        []operation.UserID // author, editors, submitter …
	CaseParties    []operation.UserID
	persons        persons
	whole          bool                              // the texts of all versions are read
	groups         map[operation.ApprovalID][]string // in which each standing approval counts now
	Approvals      []ApprovalRow                     // every decision, oldest first
	Standing       []ApprovalRow                     // those that stand on the current version
	Attempts       []AttemptView                     // oldest first
	Evidence       []EvidenceRow                     // oldest first
	Attachments    []AttachmentRow                   // oldest first
	References     []ReferenceRow
	Answers        []operation.Answer // of the current round, with names in People
	Request        *ReexecutionRow
	Erasures       []ErasureRow       // what was erased for privacy, the newest first
	LastCase       *CaseRow           // the open recovery case, else the newest; nil = there never was one
	Siblings       []OperationSummary // the run's other operations, in order
	Pauses         []PauseRow         // open ones that concern it
	Suppressed     []SuppressedPerson // recipients of the current version, while it is not closed; Facts.Suppressed says whether that stops it
	Waived         map[string]string  // stage → reason
	HolderBatch    operation.BatchID  // of an earlier stage that it waits for, where that is a batch; "" = none
	History        []HistoryRow       // oldest first
	ChainOK        bool               // the operation's hash chain verifies
	People         map[string]string  // ID → name, of everybody named on the page
	Links          []definition.Link  // where a person can look for themselves
	DispatchedOpen bool               // the open attempt has been dispatched
}

// Current gives the current content version.
func (p *OperationPage) Current() *VersionRow {
	for i := range p.Versions {
		if p.Versions[i].ID == p.VersionID {
			return &p.Versions[i]
		}
	}
	return nil
}

// OperationSummary is one operation as lists show it.
type OperationSummary struct{ opRow }

// Overdue reports that the next decision was due before now.
func (o OperationSummary) Overdue(now time.Time) bool {
	return o.NextKind != "" && !o.NextSystem && o.NextAt != nil && o.NextAt.Before(now)
}

// Next gives the one next decision.
func (o OperationSummary) Next() operation.NextDecision {
	return operation.NextDecision{Kind: operation.DecisionKind(o.NextKind), Who: o.who(), At: timeOf(o.NextAt)}
}

// VersionRow is one content version with its body; an erased body is empty.
type VersionRow struct {
	ID          operation.VersionID `db:"id"`
	Number      int                 `db:"number"`
	AuthorKind  string              `db:"author_kind"`
	AuthorID    string              `db:"author_id"`
	PromptedBy  string              `db:"prompted_by"`
	Model       string              `db:"model"`
	Note        string              `db:"note"`
	MissingText string              `db:"missing"`
	Hash        []byte              `db:"hash"`
	Account     string              `db:"account"`
	Environment string              `db:"environment"`
	Credential  string              `db:"credential"`
	FlowVersion int                 `db:"flow_version"`
	At          time.Time           `db:"created_at"`
	ContentText string              `db:"content"`
	RequestText string              `db:"request"`
	Submitted   *time.Time          `db:"submitted_at"`
	SubmittedBy string              `db:"submitted_by"`
	PolicyText  string              `db:"policy"`
	Salt        []byte              `db:"salt"` // of the hash; empty once the body is erased

	decoded *decodedVersion // what was decoded of it; nil = nothing is kept
}

// decodedVersion keeps what was decoded of a version: a page asks for it several times,
// and a body has up to some megabytes.
type decodedVersion struct {
	content func() map[string]any
	request func() operation.Request
}

func (v *VersionRow) keepDecoded() {
	row := *v
	v.decoded = &decodedVersion{content: sync.OnceValue(row.FreshContent), request: sync.OnceValue(row.Request)}
}

// HashHex is the version's hash as forms carry it; "" while something is missing.
func (v VersionRow) HashHex() string { return hexOf(v.Hash) }

// Missing names what is still to be written.
func (v VersionRow) Missing() []string {
	var m []string
	_ = json.Unmarshal([]byte(v.MissingText), &m)
	return m
}

// Content decodes the content, which nobody may change; nil when it was erased. Numbers
// keep their text.
func (v VersionRow) Content() map[string]any {
	if v.decoded != nil {
		return v.decoded.content()
	}
	return v.FreshContent()
}

// FreshContent is Content, decoded for one who changes it.
func (v VersionRow) FreshContent() map[string]any {
	x, err := definition.DecodeJSON([]byte(v.ContentText))
	if err != nil {
		return nil
	}
	m, _ := x.(map[string]any)
	return m
}

// Request decodes the exact request, holes still open.
func (v VersionRow) Request() operation.Request {
	if v.decoded != nil {
		return v.decoded.request()
	}
	var r operation.Request
	_ = json.Unmarshal([]byte(v.RequestText), &r)
	return r
}

// ApprovalRow is one person's decision.
type ApprovalRow struct {
	ID       operation.ApprovalID `db:"id"`
	Version  operation.VersionID  `db:"version_id"`
	Request  string               `db:"request_id"`
	Decision operation.Decision   `db:"decision"`
	User     operation.UserID     `db:"user_id"`
	Role     operation.Role       `db:"role"`
	Reason   string               `db:"reason"`
	// For is on whose behalf, by a delegation; "" = their own decision.
	For operation.UserID `db:"for_user"`
	// Preset is the code of a preset reason, PresetWords what it said.
	Preset      string    `db:"reason_code"`
	PresetWords string    `db:"reason_words"`
	Round       int       `db:"round"`
	FormID      string    `db:"form_id"`
	At          time.Time `db:"decided_at"`
}

// AttemptView is one attempt as the page shows it.
type AttemptView struct {
	attemptRow
	KeyGeneration int        `db:"key_generation"`
	Worker        string     `db:"worker"`
	ProofText     string     `db:"proof"`
	Permanent     bool       `db:"permanent"`
	EndedAt       *time.Time `db:"ended_at"`
	Settled       string     `db:"settled"`
	SettledAt     *time.Time `db:"settled_at"`
	// AsBefore says that the attempt before handed out exactly the same stored bytes;
	// Resolved is nil then: equal bytes are read once.
	AsBefore bool `db:"as_before"`
}

// Proof decodes the evidence behind the outcome.
func (a AttemptView) Proof() operation.Proof {
	var p operation.Proof
	_ = json.Unmarshal([]byte(a.ProofText), &p)
	return p
}

// Sent decodes the resolved request that left; ok is false when nothing was handed out
// or the body was erased.
func (a AttemptView) Sent() (r operation.Request, ok bool) {
	if a.Resolved == nil {
		return r, false
	}
	return r, json.Unmarshal([]byte(*a.Resolved), &r) == nil
}

// EvidenceRow is one piece of evidence.
type EvidenceRow struct {
	ID        operation.EvidenceID `db:"id"`
	Attempt   string               `db:"attempt_id"`
	Kind      string               `db:"kind"`
	Result    string               `db:"result"`
	Reference string               `db:"reference"`
	Link      string               `db:"link"`
	Body      string               `db:"body"`
	By        string               `db:"given_by"`
	Hash      []byte               `db:"hash"`
	At        time.Time            `db:"at"`
}

// Finding decodes a lookup's finding.
func (e EvidenceRow) Finding() operation.LookupFinding {
	var f operation.LookupFinding
	_ = json.Unmarshal([]byte(e.Body), &f)
	return f
}

// ReferenceRow is one target reference of the operation.
type ReferenceRow struct {
	Reference string    `db:"reference"`
	URL       string    `db:"url"`
	Effect    string    `db:"effect_type"`
	At        time.Time `db:"at"`
}

// ReexecutionRow is the newest request for a re-execution.
type ReexecutionRow struct {
	ID            operation.RequestID `db:"id"`
	By            operation.UserID    `db:"requested_by"`
	Reason        string              `db:"reason"`
	KeyGeneration int                 `db:"key_generation"`
	State         string              `db:"state"`
	CheckedAt     *time.Time          `db:"checked_at"`
	At            time.Time           `db:"requested_at"`
	DecidedAt     *time.Time          `db:"decided_at"`
}

// PauseRow is one pause that is in force.
type PauseRow struct {
	Kind   string    `db:"subject_kind"`
	ID     string    `db:"subject_id"`
	Reason string    `db:"reason"`
	By     string    `db:"paused_by"`
	At     time.Time `db:"paused_at"`
}

// FindOperation reads one operation whole, in one snapshot. An operation of a flow that
// the viewer has no role for is not found, exactly like a missing one (FC-48).
func (s *Store) FindOperation(ctx context.Context, viewer Actor, id operation.ID) (*OperationPage, error) {
	return s.findOperation(ctx, viewer, id, true)
}

// FindShown is FindOperation with only those versions' texts that the operation's page
// shows or compares with what ran: of the current version, and of each that was sent. The
// texts of others are empty, as if they were erased.
func (s *Store) FindShown(ctx context.Context, viewer Actor, id operation.ID) (*OperationPage, error) {
	return s.findOperation(ctx, viewer, id, false)
}

func (s *Store) findOperation(ctx context.Context, viewer Actor, id operation.ID, whole bool) (*OperationPage, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	var p *OperationPage
	err = s.snapshot(ctx, func(t *tx) error {
		p = &OperationPage{People: map[string]string{}, Waived: map[string]string{}, whole: whole}
		u, err := t.peek(viewer, id)
		if err != nil {
			return err
		}
		if !v.Sees(u.op.Flow, u.op.Destination) {
			return ErrNotFound
		}
		return p.fill(u)
	})
	return p, err
}

// snapshot runs fn in one read-only transaction: a page shows one moment.
func (s *Store) snapshot(ctx context.Context, fn func(*tx) error) error {
	return s.read(ctx, func(q *sqlx.DB) error {
		raw, err := q.BeginTxx(ctx, snapshotOptions)
		if err != nil {
			return err
		}
		defer func() { _ = raw.Rollback() }()
		return fn(&tx{Tx: raw, s: s, ctx: ctx})
	})
}

// peek reads what lock reads, without a lock.
func (t *tx) peek(a Actor, id operation.ID) (*unit, error) {
	var row lockedRow
	if err := t.get(&row, peekSQL, string(id)); err != nil {
		return nil, err
	}
	op := row.opRow
	u := &unit{tx: t, actor: a, now: row.Now.UTC().Truncate(time.Microsecond), op: &op, facts: row.loaded}
	return u, u.definitions()
}

func (p *OperationPage) fill(u *unit) error {
	p.opRow, p.Now, p.Flow2, p.Profile = *u.op, u.now, u.flow, u.profile
	p.Stage2, _ = stageOf(u.flow, u.op.Stage)
	p.Action, _ = u.profile.Action(u.op.Action)
	var err error
	if p.Facts, err = u.gateFacts(); err != nil && p.Action != nil {
		return err
	}
	_, p.Gate = operation.Permit(p.Facts, u.now)
	for _, read := range []func(*unit) error{p.readVersions, p.readAttempts, p.readEvidence, p.readAttachments, p.readErasures, p.readSuppressed, p.readCase, p.readOpenCase, p.readRun, p.readHistory, p.readPeople} {
		if err := read(u); err != nil {
			return err
		}
	}
	if cur := p.Current(); cur != nil && p.Action != nil {
		p.Links = p.Action.LookYourself(definition.Context{Content: cur.Content(), Key: p.Facts.Key, OperationID: string(p.ID), DispatchedAt: p.Facts.LastSend, Env: os.LookupEnv})
	}
	return nil
}
