package store

import (
	"context"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// BatchPage is everything that is known of one batch, for its page and the API.
type BatchPage struct {
	Batch
	Def       *definition.Flow // the definition that it was made with
	Stage2    definition.Stage
	Profile   *definition.Profile // the destination's current one
	Now       time.Time
	Version   BatchVersion      // the current one
	Versions  []BatchVersion    // all of them, oldest first
	Policy    *operation.Policy // pinned for the current version; nil = it was not submitted
	Canary    int               // how many of the first items go out before the second decision; 0 = no canary
	Counts    BatchCounts
	Parties   []operation.UserID // author, editors, submitter, who prompted
	Approvals []BatchApproval    // every decision, oldest first
	Standing  []BatchApproval    // those that stand on the current version in this phase and round
	Marks     []BatchMark        // the newest marks, oldest first
	Rate      float64            // attempts that ended a second, lately; 0 = none did
	End       time.Time          // when the rest ends at that rate; zero = not known
	Pauses    []PauseRow         // open ones of flow, destination and installation
	Earlier   []string           // earlier stages that are not satisfied yet
	Siblings  []OperationSummary // the run's operations that belong to no batch, in order
	Batches   []Batch            // the run's other batches, in order
	History   []HistoryRow       // oldest first
	ChainOK   bool
	People    map[string]string // ID → name, of everybody named on the page

	groups  map[operation.ApprovalID][]string
	persons persons
}

// FindBatch reads one batch. One of a flow that the viewer has no role for is not found.
func (s *Store) FindBatch(ctx context.Context, viewer Actor, id operation.BatchID) (*BatchPage, error) {
	return nil, errNotYet
}
