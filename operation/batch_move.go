package operation

import "slices"

// batchMoves says from which state a batch may come to which others; "" is its beginning.
// Whatever is not listed is refused.
var batchMoves = map[BatchState][]BatchState{
	"":                   {BatchDraft, BatchPendingApproval},
	BatchDraft:           {BatchPendingApproval, BatchCancelled},                                                       // a new version; withdrawn
	BatchPendingApproval: {BatchDraft, BatchPendingApproval, BatchCanary, BatchRunning, BatchRejected, BatchCancelled}, // changes asked for or made; decided
	BatchCanary:          {BatchCanaryReview, BatchPendingApproval, BatchClosed, BatchCancelled},                       // all of it closed; expired; stopped
	BatchCanaryReview:    {BatchRunning, BatchClosed, BatchCanary},                                                     // decided about the rest; stopped; one of it reopened
	BatchRunning:         {BatchClosed, BatchPendingApproval, BatchCanaryReview, BatchCancelled},                       // every operation closed; expired, and so asked again
	BatchClosed:          {BatchRunning, BatchCanary},                                                                  // an operation was reopened
}

// BatchMove reports whether a batch may go from one state to another. Staying is no move,
// except of a batch that waits for approval: a new version takes the place of the old one.
func BatchMove(from, to BatchState) bool { return slices.Contains(batchMoves[from], to) }

// BatchProgress is what is known of a batch that runs, for its next state.
type BatchProgress struct {
	State    BatchState
	Total    int // positions of the list
	Cleared  int // up to which position people decided that it goes out
	Released int // up to which position items have become operations
	Open     int // operations that are not closed
	Stopped  bool
}

// NextBatch gives the state that follows from what a batch's operations came to. States
// in which people decide stay as they are.
func NextBatch(p BatchProgress) BatchState {
	if !p.State.Cleared() || p.Open > 0 || !p.Stopped && p.Released < p.Cleared {
		return p.State
	}
	if p.State == BatchCanary && !p.Stopped && p.Cleared < p.Total {
		return BatchCanaryReview
	}
	return BatchClosed
}
