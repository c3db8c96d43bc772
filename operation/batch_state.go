package operation

import "slices"

// BatchState says where a batch stands. The words are identical in Go, SQL, URLs and CSS.
type BatchState string

// The states of a batch. A pause and a stop are no states: they are noted beside.
const (
	BatchDraft           BatchState = "draft"            // rows have problems, or shared text is to be written
	BatchPendingApproval BatchState = "pending_approval" // people decide about the version
	BatchCanary          BatchState = "canary"           // the first items are cleared and go out
	BatchCanaryReview    BatchState = "canary_review"    // all of those are closed: people look, and decide about the rest
	BatchRunning         BatchState = "running"          // every item is cleared
	BatchClosed          BatchState = "closed"           // every item that became an operation is closed
	BatchRejected        BatchState = "rejected"
	BatchCancelled       BatchState = "cancelled" // before anything was released
)

// BatchStates lists every state in the order in which people meet them.
var BatchStates = []BatchState{BatchDraft, BatchPendingApproval, BatchCanary, BatchCanaryReview, BatchRunning, BatchClosed, BatchRejected, BatchCancelled}

// Closed reports that nothing more is to be decided about the batch as a whole.
func (s BatchState) Closed() bool {
	return s == BatchClosed || s == BatchRejected || s == BatchCancelled
}

// Cleared reports that items may become operations in this state.
func (s BatchState) Cleared() bool { return s == BatchCanary || s == BatchRunning }

// Valid reports whether s is one of BatchStates.
func (s BatchState) Valid() bool { return slices.Contains(BatchStates, s) }

// BatchPhase says what a decision about a batch is about.
type BatchPhase string

// The phases of a batch's approval.
const (
	PhaseFirst BatchPhase = "first" // the whole, or with a canary the first items
	PhaseRest  BatchPhase = "rest"  // after the canary: all others
)

// Exclusion says why an item of a list is not sent; "" = it is.
type Exclusion string

// The exclusions.
const (
	ExcludedDuplicate  Exclusion = "duplicate"  // the same key or recipient stands earlier in the list
	ExcludedSuppressed Exclusion = "suppressed" // the recipient is on the suppression list
)
