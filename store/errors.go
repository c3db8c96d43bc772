package store

import (
	"database/sql"
	"errors"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// ErrNotFound is a missing row, or one that the actor may not know of.
var ErrNotFound = errors.New("not found")

// byConstraint says what a violated constraint means to the one who asked. Errors are
// mapped by name, never by text. What is missing here is a bug in the rules that the
// database has caught: it is reported as it is.
var byConstraint = map[string]operation.Code{
	"attempts_one_open":        operation.CodeAttemptOpen,
	"attempts_one_reexecution": operation.CodeNotApproved,
	"operations_attempt_limit": operation.CodeAttemptLimit,
	"attempts_limit":           operation.CodeAttemptLimit,
	"approvals_once":           operation.CodeAlreadyDecided,
	"target_references_key":    operation.CodeReferenceTaken,
	"reexecution_one_open":     operation.CodeForbiddenMove,
	"operations_intent":        operation.CodeForbiddenMove,
	"content_versions_order":   operation.CodeStaleRevision,
	"history_pkey":             operation.CodeStaleRevision,
}

func mapError(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	var p *pq.Error
	if errors.As(err, &p) {
		if c, ok := byConstraint[p.Constraint]; ok {
			return operation.Refuse(c)
		}
		if p.Code == "55P03" { // lock_not_available
			return operation.Refuse(operation.CodeLocked)
		}
	}
	return err
}

// violates reports whether err broke this constraint.
func violates(err error, constraint string) bool {
	var p *pq.Error
	return errors.As(err, &p) && p.Constraint == constraint
}
