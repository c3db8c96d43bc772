package store

import (
	"context"
	"errors"

	"holdpoint/operation"
)

var errNotYet = errors.New("not yet")

// EraseBatch takes all that a closed batch holds of people away, for a reason: an admin
// who proved lately who they are, or the command line.
func (s *Store) EraseBatch(ctx context.Context, a Actor, id operation.BatchID, reason string) error {
	return errNotYet
}
