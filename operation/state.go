package operation

// State says where an operation stands. The words are identical in Go, SQL, URLs,
// CSS and the API.
type State string

// The states of an operation (MODEL §2).
const (
	Draft                State = "draft"
	PendingApproval      State = "pending_approval"
	Waiting              State = "waiting"
	Ready                State = "ready"
	InProgress           State = "in_progress"
	RetryScheduled       State = "retry_scheduled"
	Unknown              State = "unknown"
	Review               State = "review"
	ReexecutionRequested State = "reexecution_requested"
	Confirmed            State = "confirmed"
	Rejected             State = "rejected"
	Cancelled            State = "cancelled"
	NotExecuted          State = "not_executed"
)

// States lists every state in the order in which people meet them.
var States = []State{Draft, PendingApproval, Waiting, Ready, InProgress, RetryScheduled, Unknown, Review,
	ReexecutionRequested, Confirmed, Rejected, Cancelled, NotExecuted}

// Closed reports whether nothing more is to be decided: the effect exists, or the
// operation ended without one. Only evidence or a dispute reopens it.
func (s State) Closed() bool {
	return s == Confirmed || s == Rejected || s == Cancelled || s == NotExecuted
}

// WithoutEffect reports whether the operation is closed and has no effect.
func (s State) WithoutEffect() bool { return s.Closed() && s != Confirmed }

// Unresolved reports whether it is not known yet whether an effect exists: lookups
// and callbacks go on in these states, whatever is paused.
func (s State) Unresolved() bool {
	return s == Unknown || s == Review || s == ReexecutionRequested
}

// Valid reports whether s is one of States.
func (s State) Valid() bool {
	for _, k := range States {
		if s == k {
			return true
		}
	}
	return false
}

// RunState says where a run stands.
type RunState string

// The states of a run (MODEL §2, end).
const (
	RunOpen      RunState = "open"
	RunBlocked   RunState = "blocked"
	RunCompleted RunState = "completed"
	RunStopped   RunState = "stopped"
)

// Outcome is what is proven about one attempt. Its zero value is unknown.
type Outcome int

// The three outcomes. They are never merged.
const (
	OutcomeUnknown    Outcome = iota // a request may have been executed
	OutcomeNotStarted                // proven: nothing reached execution
	OutcomeConfirmed                 // proven: the effect exists
)

var outcomeNames = [...]string{"unknown", "not_started", "confirmed"}

// String gives the word used in SQL, URLs, CSS and the API.
// Any other value is unknown as well.
func (o Outcome) String() string {
	if o < 0 || int(o) >= len(outcomeNames) {
		return outcomeNames[OutcomeUnknown]
	}
	return outcomeNames[o]
}

// ParseOutcome reads the word; ok is false for any other word.
func ParseOutcome(s string) (o Outcome, ok bool) {
	for i, n := range outcomeNames {
		if n == s {
			return Outcome(i), true
		}
	}
	return OutcomeUnknown, false
}

// Role is what a person may do in a flow (or in all flows).
type Role string

// The five roles. Marketing leads are approvers.
const (
	RoleAuthor   Role = "author"
	RoleApprover Role = "approver"
	RoleOpsOwner Role = "ops_owner"
	RoleAuditor  Role = "auditor"
	RoleAdmin    Role = "admin"
)

// Roles lists every role.
var Roles = []Role{RoleAuthor, RoleApprover, RoleOpsOwner, RoleAuditor, RoleAdmin}

// Valid reports whether r is one of Roles.
func (r Role) Valid() bool {
	for _, k := range Roles {
		if r == k {
			return true
		}
	}
	return false
}
