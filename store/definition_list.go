package store

import (
	"context"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"

	"github.com/jmoiron/sqlx"
)

// Pause says who paused something, when and why.
type Pause struct {
	By     string // operation.UserID, a worker's name, or "system"
	At     time.Time
	Reason string
}

// Counts are the open operations of a flow or destination, exact, by state.
type Counts map[operation.State]int

// Open is the sum over all states.
func (c Counts) Open() int {
	n := 0
	for _, k := range c {
		n += k
	}
	return n
}

// InFlight counts operations that a job holds at this moment.
func (c Counts) InFlight() int { return c[operation.InProgress] }

// Unresolved counts operations whose outcome is not known yet.
func (c Counts) Unresolved() int {
	return c[operation.Unknown] + c[operation.Review] + c[operation.ReexecutionRequested]
}

// Current is the version of a definition that new work starts with.
type Current struct {
	Name      string
	Version   int
	AppliedBy string // operation.UserID or "system"
	AppliedAt time.Time
	Paused    *Pause // nil = not paused
	Counts    Counts
}

// FlowItem is a flow with its state.
type FlowItem struct {
	Current
	Flow *definition.Flow
}

// DestinationItem is a destination with its state.
type DestinationItem struct {
	Current
	Profile *definition.Profile
}

// SourceItem is a source with its newest delivery.
type SourceItem struct {
	Name         string
	Version      int
	AppliedBy    string
	AppliedAt    time.Time
	LastDelivery time.Time // zero = none yet
	Source       *definition.Source
}

type currentRow struct {
	Name    string     `db:"name"`
	Version int        `db:"version"`
	By      string     `db:"created_by"`
	At      time.Time  `db:"created_at"`
	Paused  bool       `db:"paused"`
	PauseBy *string    `db:"paused_by"`
	PauseAt *time.Time `db:"paused_at"`
	Reason  *string    `db:"reason"`
}

func (r currentRow) current(counts Counts) Current {
	c := Current{Name: r.Name, Version: r.Version, AppliedBy: r.By, AppliedAt: r.At, Counts: counts}
	if r.Paused {
		c.Paused = &Pause{}
		if r.PauseBy != nil {
			c.Paused = &Pause{By: *r.PauseBy, At: timeOf(r.PauseAt), Reason: *r.Reason}
		}
	}
	return c
}

const (
	listFlowsSQL = `SELECT f.name, f.version, v.created_by, v.created_at, f.paused, p.paused_by, p.paused_at, p.reason
		FROM flows f JOIN flow_versions v ON v.flow = f.name AND v.version = f.version
		LEFT JOIN pauses p ON p.subject_kind = 'flow' AND p.subject_id = f.name AND p.resumed_at IS NULL
		WHERE $1 = '' OR f.name = $1 ORDER BY f.name`
	listDestinationsSQL = `SELECT d.name, d.version, v.created_by, v.created_at, d.paused, p.paused_by, p.paused_at, p.reason
		FROM destinations d JOIN destination_versions v ON v.destination = d.name AND v.version = d.version
		LEFT JOIN pauses p ON p.subject_kind = 'destination' AND p.subject_id = d.name AND p.resumed_at IS NULL
		WHERE $1 = '' OR d.name = $1 ORDER BY d.name`
	// both read the partial index operations_open_state and nothing else
	openByFlowSQL = `SELECT flow AS name, state, count(*) AS n FROM operations
		WHERE state NOT IN ` + closedStates + ` AND ($1 = '' OR flow = $1) GROUP BY 1, 2`
	openByDestinationSQL = `SELECT destination AS name, state, count(*) AS n FROM operations
		WHERE state NOT IN ` + closedStates + ` AND ($1 = '' OR destination = $1) GROUP BY 1, 2`
)

// currents reads what is in use, one by name or ("") all, with its counts.
func (s *Store) currents(ctx context.Context, list, counts, name string) ([]Current, error) {
	var rows []currentRow
	var open []struct {
		Name  string          `db:"name"`
		State operation.State `db:"state"`
		N     int             `db:"n"`
	}
	err := s.read(ctx, func(q *sqlx.DB) error {
		rows, open = nil, nil
		if err := q.SelectContext(ctx, &rows, list, name); err != nil {
			return err
		}
		return q.SelectContext(ctx, &open, counts, name)
	})
	if err != nil {
		return nil, err
	}
	by := map[string]Counts{}
	for _, o := range open {
		if by[o.Name] == nil {
			by[o.Name] = Counts{}
		}
		by[o.Name][o.State] = o.N
	}
	out := make([]Current, len(rows))
	for i, r := range rows {
		out[i] = r.current(by[r.Name])
	}
	return out, nil
}

// ListFlows gives all flows, by name.
func (s *Store) ListFlows(ctx context.Context) ([]FlowItem, error) { return s.flows(ctx, "") }

// FindFlow gives one flow with its state.
func (s *Store) FindFlow(ctx context.Context, name string) (FlowItem, error) {
	if name == "" {
		return FlowItem{}, ErrNotFound
	}
	items, err := s.flows(ctx, name)
	if err != nil || len(items) == 0 {
		return FlowItem{}, orNotFound(err)
	}
	return items[0], nil
}

func (s *Store) flows(ctx context.Context, name string) ([]FlowItem, error) {
	rows, err := s.currents(ctx, listFlowsSQL, openByFlowSQL, name)
	if err != nil {
		return nil, err
	}
	out := make([]FlowItem, len(rows))
	for i, r := range rows {
		out[i].Current = r
		if out[i].Flow, err = s.flowVersion(ctx, s.db, r.Name, r.Version); err != nil {
			return nil, mapError(err)
		}
	}
	return out, nil
}

// ListDestinations gives all destinations, by name.
func (s *Store) ListDestinations(ctx context.Context) ([]DestinationItem, error) {
	return s.destinations(ctx, "")
}

// FindDestination gives one destination with its state.
func (s *Store) FindDestination(ctx context.Context, name string) (DestinationItem, error) {
	if name == "" {
		return DestinationItem{}, ErrNotFound
	}
	items, err := s.destinations(ctx, name)
	if err != nil || len(items) == 0 {
		return DestinationItem{}, orNotFound(err)
	}
	return items[0], nil
}

func (s *Store) destinations(ctx context.Context, name string) ([]DestinationItem, error) {
	rows, err := s.currents(ctx, listDestinationsSQL, openByDestinationSQL, name)
	if err != nil {
		return nil, err
	}
	out := make([]DestinationItem, len(rows))
	for i, r := range rows {
		out[i].Current = r
		if out[i].Profile, err = s.profileVersion(ctx, s.db, r.Name, r.Version); err != nil {
			return nil, mapError(err)
		}
	}
	return out, nil
}

func orNotFound(err error) error {
	if err == nil {
		return ErrNotFound
	}
	return err
}

// ListSourceItems gives all sources with their newest delivery, by name.
func (s *Store) ListSourceItems(ctx context.Context) ([]SourceItem, error) {
	var rows []struct {
		Name    string     `db:"name"`
		Version int        `db:"version"`
		Source  string     `db:"source"`
		By      string     `db:"created_by"`
		At      time.Time  `db:"created_at"`
		Last    *time.Time `db:"last"`
	}
	err := s.read(ctx, func(q *sqlx.DB) error {
		rows = nil
		return q.SelectContext(ctx, &rows, `SELECT s.name, s.version, s.source, s.created_by, s.created_at, d.last FROM sources s
			LEFT JOIN LATERAL (SELECT received_at AS last FROM deliveries d WHERE d.source = s.name ORDER BY received_at DESC, id DESC LIMIT 1) d ON true ORDER BY s.name`)
	})
	if err != nil {
		return nil, err
	}
	out := make([]SourceItem, len(rows))
	for i, r := range rows {
		out[i] = SourceItem{Name: r.Name, Version: r.Version, AppliedBy: r.By, AppliedAt: r.At, LastDelivery: timeOf(r.Last)}
		if out[i].Source, err = s.parsedSource(sourceRow{r.Name, r.Version, r.Source}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// DefinitionVersion is one applied version of a flow or destination.
type DefinitionVersion struct {
	Version   int       `db:"version"`
	Hash      []byte    `db:"hash"`
	Source    string    `db:"source"`
	CreatedBy string    `db:"created_by"`
	CreatedAt time.Time `db:"created_at"`
}

// ListFlowVersions gives all versions of a flow, newest first.
func (s *Store) ListFlowVersions(ctx context.Context, name string) ([]DefinitionVersion, error) {
	return s.versions(ctx, `SELECT version, hash, source, created_by, created_at FROM flow_versions WHERE flow = $1 ORDER BY version DESC`, name)
}

// ListDestinationVersions gives all versions of a destination's profile, newest first.
func (s *Store) ListDestinationVersions(ctx context.Context, name string) ([]DefinitionVersion, error) {
	return s.versions(ctx, `SELECT version, hash, source, created_by, created_at FROM destination_versions WHERE destination = $1 ORDER BY version DESC`, name)
}

func (s *Store) versions(ctx context.Context, query, name string) ([]DefinitionVersion, error) {
	var out []DefinitionVersion
	err := s.read(ctx, func(q *sqlx.DB) error {
		out = nil
		return q.SelectContext(ctx, &out, query, name)
	})
	return out, err
}
