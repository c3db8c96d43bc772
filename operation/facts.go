package operation

import "time"

// Facts is all that the gate looks at. The store fills it under the row's lock (or
// proves it unchanged when it writes).
type Facts struct {
	ID       ID
	State    State
	Revision int64

	Version   VersionFacts
	Clearance *Clearance // of the current version (or of an approved re-execution); nil = none

	EarlierOpen  []string // keys of earlier stages that are not satisfied
	OriginalOpen bool     // what it replaces, or something before that, is not closed
	OriginalDone bool     // the effect of what it replaces, or of something before that, exists, and it is no deliberate second one
	// ReplacementOpen, ReplacementDone: what replaced it is in doubt, or has the effect. A
	// deliberate second one does not count.
	ReplacementOpen, ReplacementDone bool

	OpenAttempt  AttemptID // "" = none
	AttemptsUsed int       // counted against the limit (re-executions are not)
	AttemptsMax  int
	RetryAt      time.Time // when the next try is due; zero = at once
	AttemptsEver int       // all attempts ever made

	Unsettled  []UnsettledAttempt // dispatched, outcome unknown, not settled since
	Protection Protection         // the stricter of pinned and current profile
	Key        string             // the key that the next attempt would send
	KeyFirst   time.Time          // first dispatch with Key; zero = never used
	LastLookup *LookupFact        // newest lookup, nil = none
	LookupAt   time.Time          // when the next lookup is due; zero = none planned
	Misses     int                // lookups since the last dispatch that did not find the one effect

	// LastDispatch is the newest dispatch of any attempt, settled or not; zero = none.
	LastDispatch time.Time
	// LastSend is the latest moment at which a request of any dispatched attempt may
	// have left: its lease's end or, if earlier, the moment its worker reported. Zero
	// = nothing was dispatched.
	LastSend time.Time
	// KeyAnswered: the destination has said its last word on this key (a replayed
	// stored error, or "already exists"); a repeat would bring nothing new.
	KeyAnswered bool
	// Stated: a dispatched attempt, or a dispute, was settled by a person's statement
	// and not by a proof. From then on only a re-execution or a replacement may send.
	Stated bool
	// Disputed: evidence contradicts the closed state it came from and no person has
	// settled that since. Nothing is sent, edited or closed meanwhile.
	Disputed bool
	// Stopped: withdrawn or cancelled after dispatch. No further attempt; the outcome
	// is still settled.
	Stopped bool

	PausedAll, PausedOperation, PausedFlow, PausedDestination bool
	// PausedBatch: the batch that it is an item of is paused. StoppedBatch: the batch's
	// unsent rest was given up; what was sent is still settled.
	PausedBatch, StoppedBatch bool
	// Suppressed: an item of a batch whose recipient is on the suppression list now.
	Suppressed bool
	// Item: it is an item of a batch, whose content people approved with the whole list.
	Item bool

	Account, Environment string // the destination's, now

	Reexecution *ReexecutionFacts // set while an approved re-execution is to be carried out

	ReviewRole Role      // who settles what nothing else can settle
	Reviewer   UserID    // named person, if any
	ReviewDue  time.Time // when the review is due; zero = not set
}

// VersionFacts is what the gate needs to know of the current content version.
type VersionFacts struct {
	ID                   VersionID
	Number               int
	Hash                 [32]byte
	Account, Environment string
}

// ClearanceKind says what the quorum permitted.
type ClearanceKind string

// The kinds of clearance.
const (
	ClearContent     ClearanceKind = "content"
	ClearReexecution ClearanceKind = "reexecution"
)

// Clearance is a reached quorum on exactly one version.
type Clearance struct {
	ID        ClearanceID
	Kind      ClearanceKind
	VersionID VersionID
	Hash      [32]byte
	ExpiresAt time.Time // zero = does not expire
	Required  int
	Groups    []Group // of the pinned policy; none = Required of all approvers
	Approvers []Approver
	Spent     bool // a re-execution's one attempt has been dispatched
}

// Approver is one person of a quorum, as they stand now.
type Approver struct {
	User     UserID
	For      UserID   // for whom they acted by a delegation; "" = for themselves
	Entitled bool     // active, and they or whom they acted for hold the role for this flow now
	Groups   []string // keys of the groups in which it counts now; only where there are groups
	Party    bool     // a party, where the pinned policy keeps parties apart (a case always does)
}

// UnsettledAttempt is a dispatched attempt whose outcome is unknown and which no
// later evidence or decision has settled.
type UnsettledAttempt struct {
	ID           AttemptID
	Key          string
	Account      string
	Protected    bool // the profile version it used protects the action with this key
	DispatchedAt time.Time
	LeaseEnd     time.Time // its lease's end or, if earlier, when its worker reported: no byte leaves later
	ResolvedHash [32]byte
}

// lastSend is the latest moment at which the attempt's request may have left.
func (u UnsettledAttempt) lastSend() time.Time { return later(u.DispatchedAt, u.LeaseEnd) }

// keyFirst is the first dispatch with the key of the next attempt, never later than
// that of an unsettled attempt which sent the same key.
func (f Facts) keyFirst() time.Time {
	first := f.KeyFirst
	for _, u := range f.Unsettled {
		if u.Key == f.Key && (first.IsZero() || u.DispatchedAt.Before(first)) {
			first = u.DispatchedAt
		}
	}
	return first
}

// lastSend is the latest moment at which any request of the operation may have left.
func (f Facts) lastSend() time.Time {
	last := f.LastSend
	for _, u := range f.Unsettled {
		last = later(last, u.lastSend())
	}
	return last
}

// lastDispatch is the newest dispatch of the operation; zero = none.
func (f Facts) lastDispatch() time.Time {
	at := f.LastDispatch
	for _, u := range f.Unsettled {
		at = later(at, u.DispatchedAt)
	}
	return at
}

// quietAt is when no request of the operation can take effect any more: the last
// possible sending plus settle_after. Zero = nothing was dispatched.
func (f Facts) quietAt() time.Time {
	if last := f.lastSend(); !last.IsZero() {
		return last.Add(f.Protection.SettleAfter)
	}
	return time.Time{}
}

// ReexecutionFacts describes an approved re-execution that is still to run.
type ReexecutionFacts struct {
	Request   RequestID
	HasLookup bool      // the destination offers a lookup
	CheckedAt time.Time // without lookup: when the checklist was last answered anew; zero = never
}

// LookupResult is the typed answer of a lookup by our own reference.
type LookupResult string

// The lookup results (MODEL §5.1). A miss (none) is not a proof.
const (
	LookupOne         LookupResult = "one"
	LookupNone        LookupResult = "none"
	LookupMany        LookupResult = "many"
	LookupMismatch    LookupResult = "mismatch"
	LookupUnreachable LookupResult = "unreachable"
)

// LookupFact is one lookup that was made.
type LookupFact struct {
	Result LookupResult
	At     time.Time
}

// Protection is what a destination documents about repeating one action.
type Protection struct {
	Key         bool          // the action takes an idempotency key
	Proven      bool          // a dated probe has shown that it holds (FC-37)
	Retention   time.Duration // how long a used key protects; 0 = not published = expired
	Margin      time.Duration // safety margin before the end of the retention; default 1 h
	SettleAfter time.Duration // how long a received request may still take effect
	Concurrency bool          // what a concurrent request with the same key gets is documented
	Overwrites  bool          // a repeat overwrites (upsert): only after a reachable miss
	HasLookup   bool          // there is a lookup by our own reference
	LookupLag   time.Duration // documented lag of that lookup
}

// DefaultMargin is the safety margin before a key's retention ends (MODEL §4).
const DefaultMargin = time.Hour

// Until gives the end of a key's protection, margin subtracted; zero when the key
// does not protect (no key, no published retention, not proven).
func (p Protection) Until(first time.Time) time.Time {
	if !p.Key || p.Retention <= 0 || !p.Proven || first.IsZero() {
		return time.Time{}
	}
	return first.Add(p.Retention - max(p.Margin, 0))
}

// Stricter gives the weaker promise of two profile versions: what both hold.
func (p Protection) Stricter(q Protection) Protection {
	p.Key = p.Key && q.Key
	p.Proven = p.Proven && q.Proven
	p.Retention = min(p.Retention, q.Retention)
	p.Margin = max(p.Margin, q.Margin)
	p.SettleAfter = max(p.SettleAfter, q.SettleAfter)
	p.Concurrency = p.Concurrency && q.Concurrency
	p.Overwrites = p.Overwrites || q.Overwrites
	p.HasLookup = p.HasLookup && q.HasLookup
	p.LookupLag = max(p.LookupLag, q.LookupLag)
	return p
}

// Responsible is who must act: a person, a role, or the system itself.
type Responsible struct {
	User   UserID `json:"user,omitempty"`
	Role   Role   `json:"role,omitempty"`
	System bool   `json:"system,omitempty"`
}

// NextDecision is the one thing that must happen next (MODEL §1).
type NextDecision struct {
	Kind DecisionKind `json:"kind"`
	Who  Responsible  `json:"responsible"`
	At   time.Time    `json:"at"` // by when; zero only for closed operations
}

// DecisionKind names what must happen next.
type DecisionKind string

// The kinds of next decision, one for each open state (and for a remedy).
const (
	DecideNothing     DecisionKind = ""
	DecideComplete    DecisionKind = "complete"
	DecideApprove     DecisionKind = "approve"
	DecideStage       DecisionKind = "earlier_stage"
	DecideOriginal    DecisionKind = "original" // the operation that it replaces is open again
	DecideTake        DecisionKind = "take"
	DecideResume      DecisionKind = "resume"
	DecideFinish      DecisionKind = "finish"
	DecideTry         DecisionKind = "try"
	DecideCheck       DecisionKind = "check"
	DecideReconcile   DecisionKind = "reconcile"
	DecideReexecution DecisionKind = "decide_reexecution"
	DecideRemedy      DecisionKind = "remedy"
)
