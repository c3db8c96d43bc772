package store

import (
	"context"
	"errors"

	"github.com/lib/pq"
)

// keptLimit bounds how many prepared statements one connection keeps: each costs the
// server some memory.
const keptLimit = 160

// keptStatements are a connection's prepared statements by their text. lib/pq prepares a
// statement with parameters anew for each use: two round trips and a plan each time.
type keptStatements struct {
	all  map[string]*keptStatement
	uses uint64
}

type keptStatement struct {
	pqStmt
	used uint64 // the count of uses at the last one
}

// kept gives the statement as this connection keeps it, prepared when it is new.
func (c *guardConn) kept(ctx context.Context, q string) (*keptStatement, error) {
	k := &c.statements
	k.uses++
	if st := k.all[q]; st != nil {
		st.used = k.uses
		return st, nil
	}
	if len(k.all) >= keptLimit {
		if err := c.dropOldest(); err != nil {
			return nil, err
		}
	}
	st, err := c.pqConn.PrepareContext(ctx, q)
	if err != nil {
		return nil, err
	}
	full, ok := st.(pqStmt)
	if !ok {
		return nil, errors.New("the driver's statement lacks an interface that the guard needs")
	}
	if k.all == nil {
		k.all = map[string]*keptStatement{}
	}
	k.all[q] = &keptStatement{pqStmt: full, used: k.uses}
	return k.all[q], nil
}

// dropOldest closes the statement whose last use is longest ago.
func (c *guardConn) dropOldest() error {
	oldest := ""
	for q, st := range c.statements.all {
		if o := c.statements.all[oldest]; o == nil || st.used < o.used {
			oldest = q
		}
	}
	st := c.statements.all[oldest]
	delete(c.statements.all, oldest)
	return st.Close()
}

// forget drops a statement that the server does not take any more: its result has changed
// with the schema, or somebody between has closed it. It has not run then.
func (c *guardConn) forget(q string, err error) (forgotten bool) {
	var p *pq.Error
	if !errors.As(err, &p) || p.Code != "0A000" && p.Code != "26000" {
		return false
	}
	if st := c.statements.all[q]; st != nil {
		delete(c.statements.all, q)
		_ = st.Close()
		return true
	}
	return false
}

// keptRun runs a statement as this connection keeps it. One that the server does not take
// any more is prepared once more; in a transaction, which has failed then, the first error
// stays.
func keptRun[T any](ctx context.Context, c *guardConn, q string, run func(*keptStatement) (T, error)) (T, error) {
	var none T
	st, err := c.kept(ctx, q)
	if err != nil {
		return none, c.guard(err)
	}
	r, err := run(st)
	if c.forget(q, err) {
		again, e := c.kept(ctx, q)
		if e != nil {
			return none, c.guard(err)
		}
		r, err = run(again)
	}
	return r, c.guard(err)
}
