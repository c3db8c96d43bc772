package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"

	"github.com/lib/pq"
)

// TestUnavailable tells a database that is away from one that says no.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	for _, err := range []error{&pq.Error{Code: "57P03"}, &pq.Error{Code: "57P01"}, &pq.Error{Code: "25006"}, &pq.Error{Code: "53300"}, &pq.Error{Code: "08006"},
		fmt.Errorf("begin: %w", refused), driver.ErrBadConn, &OutcomeUnknown{Cause: refused}, &notCommitted{&OutcomeUnknown{Cause: refused}}} {
		var down *Unavailable
		if got := mapError(err); !errors.As(got, &down) || isTransient(got) != isTransient(err) {
			t.Errorf("%v: %v", err, got)
		}
	}
	for _, err := range []error{nil, ErrNotFound, context.Canceled, &pq.Error{Code: "23505"}, &pq.Error{Code: "40001"}, errAgain} {
		if got := mapError(err); got != err {
			t.Errorf("%v: %v", err, got)
		}
	}
}
