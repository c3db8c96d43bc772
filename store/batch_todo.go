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

// DecideBatch records approve, request_changes, reject or withdraw about a whole version.
func (s *Store) DecideBatch(ctx context.Context, a Actor, d BatchDecided) error { return errNotYet }

// PauseBatch stops that more of a batch is begun. It gives what is in flight.
func (s *Store) PauseBatch(ctx context.Context, a Actor, sh BatchShown) (InFlight, error) {
	return InFlight{}, errNotYet
}

// ResumeBatch lets a paused batch go on.
func (s *Store) ResumeBatch(ctx context.Context, a Actor, sh BatchShown) error { return errNotYet }

// StopBatch gives up the unsent rest for good. What is in flight is still settled.
func (s *Store) StopBatch(ctx context.Context, a Actor, sh BatchShown) (InFlight, error) {
	return InFlight{}, errNotYet
}

// CancelBatch withdraws a batch before anything of it was released.
func (s *Store) CancelBatch(ctx context.Context, a Actor, sh BatchShown) error { return errNotYet }

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

// SweepBatches moves batches whose approval no longer holds back to their approvers. It returns how many.
func (s *Store) SweepBatches(ctx context.Context, a Actor) (int, error) { return 0, errNotYet }
