package store

import "context"

// titler finds the names that people know flow, stage and destination by.
type titler struct {
	s        *Store
	ctx      context.Context
	db       lister
	versions map[string]int // of all destinations, there are few; nil = not read yet
}

// lister reads one row or all.
type lister interface {
	getter
	SelectContext(ctx context.Context, dst any, q string, args ...any) error
}

func (s *Store) titler(ctx context.Context, db lister) *titler {
	return &titler{s: s, ctx: ctx, db: db}
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
	if err := t.readVersions(); err != nil {
		return err
	}
	p, err := t.s.profileVersion(t.ctx, t.db, r.Destination, t.versions[r.Destination])
	if err != nil {
		return err
	}
	r.DestinationTitle = p.Title
	return nil
}

// destination is the title of a destination, by language; nil = there is none of that name.
func (t *titler) destination(name string) (map[string]string, error) {
	if err := t.readVersions(); err != nil || t.versions[name] == 0 {
		return nil, err
	}
	p, err := t.s.profileVersion(t.ctx, t.db, name, t.versions[name])
	if err != nil {
		return nil, err
	}
	return p.Title, nil
}

// flow is the title of a flow as it is now, and source that of a source.
func (t *titler) flow(name string) (map[string]string, error) {
	var version int
	if err := t.db.GetContext(t.ctx, &version, `SELECT COALESCE((SELECT version FROM flows WHERE name = $1), 0)`, name); err != nil || version == 0 {
		return nil, err
	}
	f, err := t.s.flowVersion(t.ctx, t.db, name, version)
	if err != nil {
		return nil, err
	}
	return f.Title, nil
}

func (t *titler) source(name string) (map[string]string, error) {
	var rows []sourceRow
	if err := t.db.SelectContext(t.ctx, &rows, `SELECT name, version, source FROM sources WHERE name = $1`, name); err != nil || len(rows) == 0 {
		return nil, err
	}
	x, err := t.s.parsedSource(rows[0])
	if err != nil {
		return nil, err
	}
	return x.Title, nil
}

func (t *titler) readVersions() error {
	if t.versions != nil {
		return nil
	}
	var rows []struct {
		Name    string `db:"name"`
		Version int    `db:"version"`
	}
	if err := t.db.SelectContext(t.ctx, &rows, `SELECT name, version FROM destinations`); err != nil {
		return err
	}
	t.versions = make(map[string]int, len(rows))
	for _, r := range rows {
		t.versions[r.Name] = r.Version
	}
	return nil
}
