package store

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"net"
	"strings"

	"holdpoint/operation"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
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
	"approval_people_once":     operation.CodeCountedOnce,
	"target_references_key":    operation.CodeReferenceTaken,
	"reexecution_one_open":     operation.CodeForbiddenMove,
	"operations_intent":        operation.CodeForbiddenMove,
	"content_versions_order":   operation.CodeStaleRevision,
	"history_pkey":             operation.CodeStaleRevision, // of any month's partition: constraintOf
}

// mapError maps the errors of reads and of transactions that were not committed; the
// answer to a COMMIT that was lost does not come here.
func mapError(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	var p *pq.Error
	if errors.As(err, &p) {
		if c, ok := byConstraint[constraintOf(p)]; ok {
			return operation.Refuse(c)
		}
		if p.Code == "55P03" { // lock_not_available
			return operation.Refuse(operation.CodeLocked)
		}
	}
	return available(err)
}

// violates reports whether err broke this constraint.
func violates(err error, constraint string) bool {
	var p *pq.Error
	return errors.As(err, &p) && constraintOf(p) == constraint
}

// constraintOf names the broken constraint; for the key of a partition, which has a name
// of its own, that of the whole table.
func constraintOf(p *pq.Error) string {
	for _, t := range partitioned {
		if strings.HasPrefix(p.Table, t+"_") && p.Constraint == p.Table+"_pkey" {
			return t + "_pkey"
		}
	}
	return p.Constraint
}

// Unavailable is a database that could not be reached, or that is starting, stopping or
// in recovery. What was asked for was not done: nothing was decided, and it may be asked
// for again.
type Unavailable struct{ Cause error }

// Error says so.
func (e *Unavailable) Error() string { return "the database is not available: " + e.Cause.Error() }

// Unwrap gives the cause.
func (e *Unavailable) Unwrap() error { return e.Cause }

// notAvailable are the SQLSTATEs of a server that takes no work, or not this work now.
var notAvailable = map[pqerror.Code]bool{
	"57P01": true, // admin_shutdown
	"57P02": true, // crash_shutdown
	"57P03": true, // cannot_connect_now: starting, stopping, in recovery
	"53300": true, // too_many_connections
	"25006": true, // read_only_sql_transaction: a standby that is not promoted yet
}

// available turns what only says that the database is not there into *Unavailable. It is
// for reads and for what is provably not committed, never for the answer to a COMMIT.
func available(err error) error {
	var p *pq.Error
	var lost *OutcomeUnknown
	var broke *notCommitted
	var fromNetwork *net.OpError
	if errors.As(err, &p) && (notAvailable[p.Code] || p.Code.Class() == "08") || errors.As(err, &lost) ||
		errors.As(err, &broke) || errors.As(err, &fromNetwork) || errors.Is(err, driver.ErrBadConn) {
		return &Unavailable{Cause: err}
	}
	return err
}
