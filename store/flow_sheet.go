package store

import (
	"context"
	"time"

	"holdpoint/operation/definition"

	"github.com/jmoiron/sqlx"
)

// FlowSheet is one version of a flow, with the destinations as they stand now.
type FlowSheet struct {
	FlowItem
	Current  bool // new runs begin with this version
	Hash     [32]byte
	Profiles map[string]*definition.Profile // by destination
}

// FindFlowSheet reads one version of a flow for its sheet; the same error for a flow that
// is not there and for one that the viewer may not see.
func (s *Store) FindFlowSheet(ctx context.Context, viewer Actor, name string, version int) (*FlowSheet, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	f, err := s.FindFlow(ctx, name)
	if err != nil {
		return nil, err
	}
	if !v.Sees(name, "") {
		return nil, ErrNotFound
	}
	out := &FlowSheet{FlowItem: f, Current: f.Version == version, Profiles: map[string]*definition.Profile{}}
	if out.Flow, err = s.flowVersion(ctx, s.db, name, version); err != nil {
		return nil, mapError(err)
	}
	var applied struct {
		By string    `db:"created_by"`
		At time.Time `db:"created_at"`
	}
	if err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &applied, `SELECT created_by, created_at FROM flow_versions WHERE flow = $1 AND version = $2`, name, version)
	}); err != nil {
		return nil, err
	}
	out.Version, out.AppliedBy, out.AppliedAt, out.Hash = version, applied.By, applied.At, out.Flow.Hash
	for _, st := range out.Flow.Stages {
		if out.Profiles[st.Destination], _, err = s.Profile(ctx, st.Destination); err != nil {
			return nil, err
		}
	}
	return out, nil
}
