package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"

	"github.com/lib/pq"
)

// OutcomeUnknown is a statement or COMMIT whose connection broke before the answer
// came: it may have been carried out. database/sql must never repeat it by itself
// (lib/pq #939: an autocommit INSERT ran up to three times with err == nil).
type OutcomeUnknown struct{ Cause error }

// Error says what happened.
func (e *OutcomeUnknown) Error() string {
	return fmt.Sprintf("database connection lost before the answer, outcome unknown: %v", e.Cause)
}

// guardConnector opens lib/pq connections whose broken statements are reported as
// OutcomeUnknown instead of driver.ErrBadConn, so that database/sql never runs a
// statement twice. BEGIN and PREPARE have no effect and may still be repeated.
type guardConnector struct{ driver.Connector }

// Connect opens one guarded connection.
func (g guardConnector) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := g.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	full, ok := c.(pqConn)
	if !ok {
		_ = c.Close()
		return nil, fmt.Errorf("the driver's connection %T lacks an interface that the guard needs", c)
	}
	return &guardConn{pqConn: full}, nil
}

// pqConn is what a lib/pq connection can do.
type pqConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
	driver.NamedValueChecker
}

type guardConn struct {
	pqConn
	bad        atomic.Bool
	statements keptStatements
}

// guard turns a lost connection into OutcomeUnknown and marks the connection so that
// the pool drops it. Anything but a server's own error or an ended context marks it:
// a half-read answer leaves lib/pq unusable for good (lib/pq #1450).
func (c *guardConn) guard(err error) error {
	if err == nil {
		return nil
	}
	var fromServer *pq.Error
	if errors.As(err, &fromServer) {
		return err
	}
	c.bad.Store(true)
	var fromNetwork *net.OpError
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &fromNetwork) {
		return &OutcomeUnknown{Cause: errors.New(err.Error())}
	}
	return err
}

// repeatable lets database/sql repeat what has no effect, BEGIN and PREPARE, on another
// connection, also after a reset that lib/pq does not take for one.
func (c *guardConn) repeatable(err error) error {
	var fromNetwork *net.OpError
	if errors.As(err, &fromNetwork) {
		c.bad.Store(true)
		return driver.ErrBadConn
	}
	return err
}

func (c *guardConn) ExecContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Result, error) {
	if len(args) > 0 {
		return keptRun(ctx, c, q, func(st *keptStatement) (driver.Result, error) { return st.ExecContext(ctx, args) })
	}
	r, err := c.pqConn.ExecContext(ctx, q, args)
	return r, c.guard(err)
}

func (c *guardConn) QueryContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Rows, error) {
	if len(args) > 0 || strings.HasPrefix(q, "SELECT ") || strings.HasPrefix(q, "WITH ") {
		return keptRun(ctx, c, q, func(st *keptStatement) (driver.Rows, error) { return st.QueryContext(ctx, args) })
	}
	r, err := c.pqConn.QueryContext(ctx, q, args)
	return r, c.guard(err)
}

func (c *guardConn) PrepareContext(ctx context.Context, q string) (driver.Stmt, error) {
	st, err := c.pqConn.PrepareContext(ctx, q)
	if err != nil {
		return nil, c.repeatable(err)
	}
	full, ok := st.(pqStmt)
	if !ok {
		return nil, fmt.Errorf("the driver's statement %T lacks an interface that the guard needs", st)
	}
	return &guardStmt{pqStmt: full, c: c}, nil
}

func (c *guardConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	t, err := c.pqConn.BeginTx(ctx, o)
	if err != nil {
		return nil, c.repeatable(err)
	}
	return guardTx{t, c}, nil
}

func (c *guardConn) ResetSession(ctx context.Context) error {
	if c.bad.Load() {
		return driver.ErrBadConn
	}
	return c.pqConn.ResetSession(ctx)
}

func (c *guardConn) IsValid() bool { return !c.bad.Load() && c.pqConn.IsValid() }

type pqStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type guardStmt struct {
	pqStmt
	c *guardConn
}

func (s *guardStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	r, err := s.pqStmt.ExecContext(ctx, args)
	return r, s.c.guard(err)
}

func (s *guardStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	r, err := s.pqStmt.QueryContext(ctx, args)
	return r, s.c.guard(err)
}

type guardTx struct {
	driver.Tx
	c *guardConn
}

func (t guardTx) Commit() error   { return t.c.guard(t.Tx.Commit()) }
func (t guardTx) Rollback() error { return t.c.guard(t.Tx.Rollback()) }
