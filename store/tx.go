package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// The gate's advisory lock keeps the gate's verbs (shared) apart from changes of
// rights, pauses and definitions (exclusive). Its number spells "hold".
const (
	gateShared    = "pg_advisory_xact_lock_shared(1752132708)"
	gateExclusive = "pg_advisory_xact_lock(1752132708)"
)

// errAgain asks write to run the transaction once more: what it read was replaced
// while it waited for its locks. Nothing has been written.
var errAgain = errors.New("read facts are stale: decide again")

// errDone ends a transaction without writing: what it was asked for stands already.
var errDone = errors.New("already so")

// tx is one explicit transaction. All writes go through one.
type tx struct {
	*sqlx.Tx
	s   *Store
	ctx context.Context
	xid string // PostgreSQL's transaction ID, once known
	// kinds are the kinds of history entries that this transaction has written down.
	kinds []historyKind
}

// maxTries bounds how often a transaction that wrote nothing is run again.
const maxTries = 8

// write runs fn in one explicit transaction. What was provably not committed is run
// again: serialisation failures, deadlocks, a connection lost on the way. A transaction
// has no outside effect. When the answer to COMMIT is lost, the transaction's ID tells
// whether it is committed.
func (s *Store) write(ctx context.Context, fn func(*tx) error) error {
	var err error
	for try := range maxTries {
		if try > 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Duration(try) * 2 * time.Millisecond):
			}
		}
		err = s.writeOnce(ctx, fn)
		if !errors.Is(err, errAgain) && !isTransient(err) {
			return err
		}
	}
	return err
}

func (s *Store) writeOnce(ctx context.Context, fn func(*tx) error) error {
	raw, err := s.db.BeginTxx(ctx, nil)
	if err != nil {
		return available(fmt.Errorf("begin: %w", err))
	}
	t := &tx{Tx: raw, s: s, ctx: ctx}
	if err := fn(t); err != nil {
		_ = raw.Rollback()
		if errors.Is(err, errDone) {
			return nil
		}
		return mapError(beforeCommit(err))
	}
	if t.xid == "" {
		if err := t.GetContext(ctx, &t.xid, `SELECT pg_current_xact_id()::text`); err != nil {
			_ = raw.Rollback()
			return mapError(beforeCommit(err))
		}
	}
	err = raw.Commit()
	if err == nil {
		s.kinds.keep(t.kinds)
		noteCommit(ctx)
		return nil
	}
	// FATAL is the end of the session, which may come after the commit itself
	var fromServer *pq.Error
	if errors.As(err, &fromServer) && !fatal(fromServer) {
		return mapError(err)
	}
	if err = s.readCommit(t.xid, err); err == nil {
		noteCommit(ctx)
	}
	return err
}

// notCommitted is a transaction whose connection broke and that is provably not
// committed.
type notCommitted struct{ cause error }

// Error says so.
func (e *notCommitted) Error() string { return "not committed: " + e.cause.Error() }

// beforeCommit says what a lost connection means while COMMIT has not been sent: the
// server rolls back, whatever became of the statement.
func beforeCommit(err error) error {
	var lost *OutcomeUnknown
	var fromServer *pq.Error
	if errors.As(err, &lost) || errors.As(err, &fromServer) && fatal(fromServer) {
		return &notCommitted{err}
	}
	return err
}

func fatal(e *pq.Error) bool { return e.Severity == "FATAL" || e.Severity == "PANIC" }

// readCommit finds out what became of a COMMIT whose answer was lost.
func (s *Store) readCommit(xid string, cause error) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		var status sql.NullString
		err := s.db.GetContext(ctx, &status, `SELECT pg_xact_status(CAST($1 AS text)::xid8)`, xid)
		switch {
		case err == nil && status.String == "committed":
			return nil
		case err == nil && status.String == "aborted":
			return &notCommitted{cause}
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	return &OutcomeUnknown{Cause: cause}
}

func isTransient(err error) bool {
	var broke *notCommitted
	if errors.As(err, &broke) {
		return true
	}
	var p *pq.Error
	if !errors.As(err, &p) {
		return false
	}
	switch p.Code {
	case "40001", "40P01": // serialization_failure, deadlock_detected
		return true
	}
	return false
}

// statements keeps prepared statements by their text: an unprepared statement with
// parameters costs lib/pq two round trips.
type statements struct {
	mu    sync.RWMutex
	all   map[string]*sqlx.Stmt
	asked map[string]bool // being prepared
}

// wanted reports that nobody prepares this statement yet, and claims it.
func (c *statements) wanted(q string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked == nil {
		c.asked = map[string]bool{}
	}
	if c.all[q] != nil || c.asked[q] {
		return false
	}
	c.asked[q] = true
	return true
}

func (c *statements) done(q string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.asked, q)
}

func (s *Store) prepared(ctx context.Context, q string) (*sqlx.Stmt, error) {
	s.stmts.mu.RLock()
	st := s.stmts.all[q]
	s.stmts.mu.RUnlock()
	if st != nil {
		return st, nil
	}
	st, err := s.db.PreparexContext(ctx, q)
	if err != nil {
		return nil, err
	}
	s.stmts.mu.Lock()
	defer s.stmts.mu.Unlock()
	if old := s.stmts.all[q]; old != nil {
		_ = st.Close()
		return old, nil
	}
	s.stmts.all[q] = st
	return st, nil
}

// stmt gives the statement for this transaction. One that is new is prepared on the
// transaction's own connection: a transaction never waits for a second one, or a burst
// of writers would stand still. It is kept for all connections in the background.
func (t *tx) stmt(q string) (*sqlx.Stmt, error) {
	t.s.stmts.mu.RLock()
	st := t.s.stmts.all[q]
	t.s.stmts.mu.RUnlock()
	if st != nil {
		return t.StmtxContext(t.ctx, st), nil
	}
	if t.s.stmts.wanted(q) {
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			_, _ = t.s.prepared(ctx, q)
			t.s.stmts.done(q)
		}()
	}
	return t.PreparexContext(t.ctx, q)
}

// get reads one row by a prepared statement; sql.ErrNoRows when there is none.
func (t *tx) get(dst any, q string, args ...any) error {
	st, err := t.stmt(q)
	if err != nil {
		return err
	}
	return st.GetContext(t.ctx, dst, args...)
}

// list reads all rows by a prepared statement.
func (t *tx) list(dst any, q string, args ...any) error {
	st, err := t.stmt(q)
	if err != nil {
		return err
	}
	return st.SelectContext(t.ctx, dst, args...)
}

// exec runs a prepared statement and gives the number of rows it changed.
func (t *tx) exec(q string, args ...any) (int64, error) {
	st, err := t.stmt(q)
	if err != nil {
		return 0, err
	}
	r, err := st.ExecContext(t.ctx, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// one runs a prepared statement that must change exactly one row.
func (t *tx) one(q string, args ...any) error {
	n, err := t.exec(q, args...)
	if err == nil && n != 1 {
		err = errAgain
	}
	return err
}

// read runs fn outside a transaction. Reads have no effect, so a broken connection is
// tried once more.
func (s *Store) read(ctx context.Context, fn func(q *sqlx.DB) error) error {
	err := fn(s.db)
	var lost *OutcomeUnknown
	if errors.As(err, &lost) && ctx.Err() == nil {
		err = fn(s.db)
	}
	return mapError(err)
}
