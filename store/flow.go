package store

import (
	"context"
	"strconv"

	"holdpoint/operation/definition"

	"github.com/jmoiron/sqlx"
)

func defKey(name string, version int) string { return name + "@" + strconv.Itoa(version) }

// getter is a connection to read a definition by: the pool, or the transaction's own.
type getter interface {
	GetContext(ctx context.Context, dst any, q string, args ...any) error
}

// flowVersion gives a parsed flow version; versions never change, so they are kept.
func (s *Store) flowVersion(ctx context.Context, db getter, name string, version int) (*definition.Flow, error) {
	key := defKey(name, version)
	s.defs.mu.RLock()
	f := s.defs.flows[key]
	s.defs.mu.RUnlock()
	if f != nil {
		return f, nil
	}
	var src string
	if err := db.GetContext(ctx, &src, `SELECT source FROM flow_versions WHERE flow = $1 AND version = $2`, name, version); err != nil {
		return nil, err
	}
	f, err := definition.ParseFlow(name+".yaml", []byte(src))
	if err != nil {
		return nil, err
	}
	s.defs.mu.Lock()
	defer s.defs.mu.Unlock()
	s.defs.flows[key] = f
	return f, nil
}

// profileVersion gives a parsed destination profile version.
func (s *Store) profileVersion(ctx context.Context, db getter, name string, version int) (*definition.Profile, error) {
	key := defKey(name, version)
	s.defs.mu.RLock()
	p := s.defs.profiles[key]
	s.defs.mu.RUnlock()
	if p != nil {
		return p, nil
	}
	var src string
	if err := db.GetContext(ctx, &src, `SELECT source FROM destination_versions WHERE destination = $1 AND version = $2`, name, version); err != nil {
		return nil, err
	}
	p, err := definition.ParseProfile(name+".yaml", []byte(src))
	if err != nil {
		return nil, err
	}
	s.defs.mu.Lock()
	defer s.defs.mu.Unlock()
	s.defs.profiles[key] = p
	return p, nil
}

// Profile gives the current profile of a destination and its version.
func (s *Store) Profile(ctx context.Context, name string) (*definition.Profile, int, error) {
	var v int
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &v, `SELECT version FROM destinations WHERE name = $1`, name)
	})
	if err != nil {
		return nil, 0, err
	}
	p, err := s.profileVersion(ctx, s.db, name, v)
	return p, v, err
}

// Flow gives the current version of a flow.
func (s *Store) Flow(ctx context.Context, name string) (*definition.Flow, int, error) {
	var v int
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &v, `SELECT version FROM flows WHERE name = $1`, name)
	})
	if err != nil {
		return nil, 0, err
	}
	f, err := s.flowVersion(ctx, s.db, name, v)
	return f, v, err
}

// current is the set of definitions that new work starts with, as of one epoch.
type current struct {
	flows    []*definition.Flow
	versions map[string]int // of flows
	dests    map[string]int
}

// currentDefinitions gives the current flows and destination versions of an epoch.
// The caller holds the gate's shared lock, so the epoch cannot pass meanwhile.
func (t *tx) currentDefinitions(epoch int64) (current, error) {
	s := t.s
	s.defs.mu.RLock()
	c, ok := s.defs.now, s.defs.epoch == epoch
	s.defs.mu.RUnlock()
	if ok {
		return c, nil
	}
	c = current{versions: map[string]int{}, dests: map[string]int{}}
	var rows []struct {
		Name    string `db:"name"`
		Version int    `db:"version"`
	}
	if err := t.list(&rows, `SELECT name, version FROM flows ORDER BY name`); err != nil {
		return c, err
	}
	for _, r := range rows {
		f, err := s.flowVersion(t.ctx, t.Tx, r.Name, r.Version)
		if err != nil {
			return c, err
		}
		c.flows = append(c.flows, f)
		c.versions[r.Name] = r.Version
	}
	rows = nil
	if err := t.list(&rows, `SELECT name, version FROM destinations`); err != nil {
		return c, err
	}
	for _, r := range rows {
		c.dests[r.Name] = r.Version
	}
	s.defs.mu.Lock()
	defer s.defs.mu.Unlock()
	s.defs.now, s.defs.epoch = c, epoch
	return c, nil
}
