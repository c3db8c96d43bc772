package store

import "context"

// titler finds the names that people know flow, stage and destination by.
type titler struct {
	s     *Store
	ctx   context.Context
	db    getter
	dests map[string]map[string]string
}

func (s *Store) titler(ctx context.Context, db getter) *titler {
	return &titler{s: s, ctx: ctx, db: db, dests: map[string]map[string]string{}}
}

func (t *titler) fill(r *InboxRow) error {
	f, err := t.s.flowVersion(t.ctx, t.db, r.Flow, r.FlowVersion)
	if err != nil {
		return err
	}
	r.FlowTitle = f.Title
	if st, ok := stageOf(f, r.Stage); ok {
		r.StageTitle = st.Title
	}
	title, ok := t.dests[r.Destination]
	if !ok {
		var version int
		if err := t.db.GetContext(t.ctx, &version, `SELECT version FROM destinations WHERE name = $1`, r.Destination); err != nil {
			return err
		}
		p, err := t.s.profileVersion(t.ctx, t.db, r.Destination, version)
		if err != nil {
			return err
		}
		title = p.Title
		t.dests[r.Destination] = title
	}
	r.DestinationTitle = title
	return nil
}
