package store

import (
	"context"
	"errors"

	"holdpoint/operation"
)

var errNotYet = errors.New("not yet")

// ReviseBatch makes a new version of a batch, from another list or other shared text. It voids the
// approvals of the version before. Only before anything was cleared.
func (s *Store) ReviseBatch(ctx context.Context, a Actor, r BatchRevision) error { return errNotYet }

// ListBatches lists what the viewer may see, newest first, by keyset.
func (s *Store) ListBatches(ctx context.Context, viewer Actor, f BatchFilter) (*BatchList, error) {
	return nil, errNotYet
}

// BatchesToDecide lists the batches whose next decision this person may take, the most
// urgent first.
func (s *Store) BatchesToDecide(ctx context.Context, viewer Actor) ([]BatchRow, error) {
	return nil, errNotYet
}

// BatchItems gives a page of a version's items, by position.
func (s *Store) BatchItems(ctx context.Context, viewer Actor, q BatchQuery) (*BatchItemList, error) {
	return nil, errNotYet
}

// EachBatchItem hands out everything that a query finds, in the list's order, page by
// page, with bodies where the query asks for them.
func (s *Store) EachBatchItem(ctx context.Context, viewer Actor, q BatchQuery, fn func(BatchItem) error) error {
	return errNotYet
}

// BatchPicks gives the items at these positions, with their bodies.
func (s *Store) BatchPicks(ctx context.Context, viewer Actor, id operation.BatchID, number int, positions []int) ([]BatchItem, error) {
	return nil, errNotYet
}

// EraseBatch takes all that a closed batch holds of people away, for a reason: an admin
// who proved lately who they are, or the command line.
func (s *Store) EraseBatch(ctx context.Context, a Actor, id operation.BatchID, reason string) error {
	return errNotYet
}
