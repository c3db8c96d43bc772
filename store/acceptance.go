package store

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"

	"github.com/jmoiron/sqlx"
)

// AcceptanceInputLimit bounds the test data of an acceptance, in bytes.
const AcceptanceInputLimit = 64 << 10

// AcceptanceBar is a reason why no acceptance can be run with a flow.
type AcceptanceBar struct {
	Code        string // not_test, kind, clients, not_countable, version, for_each
	Destination string
	Environment string
	Stage       string // key, with for_each
}

// NewAcceptance asks for a run of the six cases.
type NewAcceptance struct {
	Flow    string
	Version int
	Input   string // JSON of operation.AcceptanceInput
}

// AskAcceptance asks for a run of the six cases with a version of a flow and its
// destinations as they stand. The flow's owner, an ops owner or an admin may ask. It is
// refused with *Invalid while another run of the flow is open, and when a destination is
// not marked as for tests.
func (s *Store) AskAcceptance(ctx context.Context, a Actor, n NewAcceptance) (operation.AcceptanceID, error) {
	if err := checkInput(n.Input); err != nil {
		return "", err
	}
	id := operation.AcceptanceID(newID("acc"))
	err := s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		if err := t.mayAccept(a, n.Flow, n.Version); err != nil {
			return err
		}
		dests, bars, err := t.acceptanceDestinations(n.Flow, n.Version)
		if err != nil {
			return err
		}
		if len(bars) > 0 {
			return &Invalid{Field: "flow", Code: "acceptance_barred"}
		}
		if err := t.one(`INSERT INTO acceptance_runs (id, flow, flow_version, state, input, requested_by, requested_at) VALUES ($1, $2, $3, 'waiting', $4, $5, $6)`,
			string(id), n.Flow, n.Version, n.Input, a.ID, now); err != nil {
			return err
		}
		links := []string{"flow", n.Flow, "version", strconv.Itoa(n.Version)}
		for _, d := range dests {
			if err := t.one(`INSERT INTO acceptance_destinations (run_id, destination, version, environment) VALUES ($1, $2, $3, $4)`,
				string(id), d.Name, d.Version, d.Environment); err != nil {
				return err
			}
			links = append(links, "destination_"+d.Name, strconv.Itoa(d.Version))
		}
		return t.enter(a, now, operation.SubjectAcceptance, string(id), "ask_acceptance", "", links...)
	})
	switch {
	case violates(err, "acceptance_runs_one_open"):
		if same, again := s.acceptanceAgain(ctx, a, n); again == nil && same != "" {
			return same, nil // the same form sent twice: the same answer
		}
		return "", &Invalid{Field: "flow", Code: "acceptance_open"}
	case violates(err, "acceptance_destinations_test"), violates(err, "acceptance_destinations_current"):
		return "", &Invalid{Field: "flow", Code: "acceptance_barred"}
	}
	return id, err
}

// acceptanceAgain finds the open run that this person has asked for with exactly the same;
// "" = there is none.
func (s *Store) acceptanceAgain(ctx context.Context, a Actor, n NewAcceptance) (id operation.AcceptanceID, err error) {
	err = s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &id, `SELECT COALESCE((SELECT id FROM acceptance_runs WHERE state IN ('waiting', 'running') AND flow = $1 AND flow_version = $2 AND input = $3 AND requested_by = $4), '')`,
			n.Flow, n.Version, n.Input, a.ID)
	})
	return id, err
}

// checkInput refuses test data that is no JSON of the right shape.
func checkInput(text string) error {
	if len(text) > AcceptanceInputLimit {
		return &Invalid{Field: "input", Code: "acceptance_long", Limit: AcceptanceInputLimit}
	}
	v, err := definition.DecodeJSON([]byte(text))
	m, ok := v.(map[string]any)
	if err != nil || !ok {
		return &Invalid{Field: "input", Code: "acceptance_input"}
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	var in operation.AcceptanceInput
	if d.Decode(&in) != nil || in.Inputs == nil || m["inputs"] == nil {
		return &Invalid{Field: "input", Code: "acceptance_input"}
	}
	return nil
}

// mayAccept lets pass who may ask for a run or break it off.
func (t *tx) mayAccept(a Actor, flow string, version int) error {
	f, who, err := t.acceptingPerson(a, flow, version)
	if err != nil {
		return err
	}
	if f.Owner.Matches(who) || who.Has(operation.RoleOpsOwner) || who.Has(operation.RoleAdmin) {
		return nil
	}
	return operation.Refuse(operation.CodeNotEntitled, "role", string(operation.RoleOpsOwner)).By(operation.Responsible{Role: operation.RoleOpsOwner})
}

// acceptingPerson reads the flow, with its named people as they stand, and the person. A
// flow that they may not see is not found.
func (t *tx) acceptingPerson(a Actor, flow string, version int) (*definition.Flow, operation.Person, error) {
	who, err := t.person(a, flow)
	if err != nil {
		return nil, who, err
	}
	if !who.Active || len(who.Roles) == 0 {
		return nil, who, ErrNotFound
	}
	f, err := t.s.flowVersion(t.ctx, t.Tx, flow, version)
	if err != nil {
		return nil, who, err
	}
	var epoch int64
	if err := t.get(&epoch, `SELECT epoch FROM installation`); err != nil {
		return nil, who, err
	}
	n, err := t.standIn(f, version, epoch)
	return n.flow, who, err
}

// acceptanceDestinations gives the flow's destinations as they stand, and why no run may
// be made with them.
func (t *tx) acceptanceDestinations(flow string, version int) (files []operation.AcceptanceFile, bars []AcceptanceBar, err error) {
	f, err := t.s.flowVersion(t.ctx, t.Tx, flow, version)
	if err != nil {
		return nil, nil, err
	}
	seen := map[string]bool{}
	for _, st := range f.Stages {
		if st.ForEach != nil {
			bars = append(bars, AcceptanceBar{Code: "for_each", Destination: st.Destination, Stage: st.Key})
		}
		if seen[st.Destination] {
			continue
		}
		seen[st.Destination] = true
		var row struct {
			Version     int    `db:"version"`
			Environment string `db:"environment"`
			Hash        []byte `db:"hash"`
			Source      string `db:"source"`
		}
		if err := t.get(&row, `SELECT d.version, d.environment, v.hash, v.source FROM destinations d JOIN destination_versions v ON v.destination = d.name AND v.version = d.version
			WHERE d.name = $1`, st.Destination); err != nil {
			return nil, nil, err
		}
		p, err := t.s.profileVersion(t.ctx, t.Tx, st.Destination, row.Version)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, operation.AcceptanceFile{Name: st.Destination, Version: row.Version, Hash: hexOf(row.Hash), Environment: row.Environment, Source: row.Source})
		bars = append(bars, acceptanceBars(f, p, st.Destination, row.Environment)...)
	}
	return files, bars, nil
}

// acceptanceBars says what about a destination stands against an acceptance.
func acceptanceBars(f *definition.Flow, p *definition.Profile, name, environment string) (out []AcceptanceBar) {
	bar := func(code string) {
		out = append(out, AcceptanceBar{Code: code, Destination: name, Environment: environment})
	}
	switch {
	case !p.IsTest():
		bar("not_test")
	case p.Kind != operation.RequestHTTP:
		bar("kind")
	case p.PerformedBy != definition.JobsPerform:
		bar("clients")
	case !p.IsSandbox():
		for _, st := range f.Stages {
			if st.Destination != name {
				continue
			}
			if act, err := p.Action(st.Action); err != nil {
				bar("version")
			} else if !act.HasLookup() {
				bar("not_countable")
			}
		}
	}
	return out
}

// FindAcceptanceBars gives why no acceptance can be run with a version of a flow; none =
// it can.
func (s *Store) FindAcceptanceBars(ctx context.Context, flow string, version int) (bars []AcceptanceBar, err error) {
	err = s.snapshot(ctx, func(t *tx) error {
		_, bars, err = t.acceptanceDestinations(flow, version)
		return err
	})
	return bars, err
}

// CancelAcceptance asks to break a run off. One that waits ends at once; one that runs
// ends when its worker sees it.
func (s *Store) CancelAcceptance(ctx context.Context, a Actor, id operation.AcceptanceID) error {
	return s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		r, err := t.lockAcceptance(id)
		if err != nil {
			return err
		}
		if err := t.mayAccept(a, r.Flow, r.FlowVersion); err != nil {
			return err
		}
		if !r.State.Open() || r.CancelBy != "" {
			return errDone
		}
		q := `UPDATE acceptance_runs SET cancel_by = $2 WHERE id = $1`
		args := []any{string(id), a.ID}
		if r.State == operation.AcceptanceWaiting {
			q, args = `UPDATE acceptance_runs SET cancel_by = $2, state = 'cancelled', ended_at = $3 WHERE id = $1`, append(args, now)
		}
		if err := t.one(q, args...); err != nil {
			return err
		}
		return t.enter(a, now, operation.SubjectAcceptance, string(id), "cancel_acceptance", "")
	})
}

// Signature is one person's agreement to a sheet.
type Signature struct {
	Part    string // operation.SignedByOwner or SignedByImplementer
	Hash    string // hex, of the sheet that was shown
	Comment string
}

// SignAcceptance agrees to the sheet of a run that passed. The owner signs as the flow's
// owner, the implementer as an admin; the two are different natural persons who proved
// lately who they are. A stale sheet is not signed.
func (s *Store) SignAcceptance(ctx context.Context, a Actor, id operation.AcceptanceID, n Signature) error {
	n.Comment = storable(strings.TrimSpace(n.Comment))
	if len([]rune(n.Comment)) > 4000 {
		return &Invalid{Field: "comment", Code: "acceptance_long", Limit: 4000}
	}
	err := s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		r, err := t.lockAcceptance(id)
		if err != nil {
			return err
		}
		f, who, err := t.acceptingPerson(a, r.Flow, r.FlowVersion)
		if err != nil {
			return err
		}
		need := operation.Selector{Role: operation.RoleAdmin}
		if n.Part == operation.SignedByOwner {
			need = f.Owner
		} else if n.Part != operation.SignedByImplementer {
			return &Invalid{Field: "part", Code: "acceptance_part"}
		}
		if !need.Matches(who) {
			return operation.Refuse(operation.CodeNotEntitled, "role", string(need.Role)).By(operation.Responsible{Role: need.Role})
		}
		if err := t.confirmed(a, now); err != nil {
			return err
		}
		switch stale, err := t.acceptanceStale(id); {
		case err != nil:
			return err
		case r.State != operation.AcceptancePassed:
			return &Invalid{Field: "sheet", Code: "acceptance_not_passed"}
		case hexOf(r.SheetHash) != n.Hash:
			return &Invalid{Field: "sheet", Code: "acceptance_other_sheet"}
		case stale:
			return &Invalid{Field: "sheet", Code: "acceptance_stale"}
		}
		hash, err := hex.DecodeString(n.Hash)
		if err != nil {
			return err
		}
		var signed bool
		if err := t.get(&signed, `SELECT EXISTS (SELECT 1 FROM acceptance_signatures WHERE run_id = $1 AND part = $2 AND sheet_hash = $3 AND user_id = $4 AND comment = $5)`,
			string(id), n.Part, hash, a.ID, n.Comment); err != nil {
			return err
		}
		if signed {
			return errDone // the same form sent twice: the same answer
		}
		natural := who.Natural
		if natural == "" {
			natural = who.ID
		}
		if err := t.one(`INSERT INTO acceptance_signatures (run_id, part, sheet_hash, user_id, natural_id, comment, at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			string(id), n.Part, hash, a.ID, string(natural), n.Comment, now); err != nil {
			return err
		}
		return t.enter(a, now, operation.SubjectAcceptance, string(id), "sign_acceptance", n.Comment, "role", string(need.Role), "part", n.Part, "evidence_hash", n.Hash)
	})
	switch {
	case violates(err, "acceptance_signatures_two"):
		return &Invalid{Field: "sheet", Code: "acceptance_two_people"}
	case violates(err, "acceptance_signatures_pkey"):
		return &Invalid{Field: "sheet", Code: "acceptance_signed"}
	}
	return err
}

type acceptanceRow struct {
	ID          operation.AcceptanceID    `db:"id"`
	Flow        string                    `db:"flow"`
	FlowVersion int                       `db:"flow_version"`
	State       operation.AcceptanceState `db:"state"`
	Input       string                    `db:"input"`
	Worker      string                    `db:"worker"`
	CancelBy    string                    `db:"cancel_by"`
	SheetHash   []byte                    `db:"sheet_hash"`
	StartedAt   *time.Time                `db:"started_at"`
}

func (t *tx) lockAcceptance(id operation.AcceptanceID) (r acceptanceRow, err error) {
	err = t.get(&r, `SELECT id, flow, flow_version, state, input, worker, COALESCE(cancel_by, '') AS cancel_by, sheet_hash, started_at FROM acceptance_runs WHERE id = $1 FOR UPDATE`, string(id))
	return r, err
}

// staleSQL says that the flow or a destination of run r has a newer version in use.
const staleSQL = `(EXISTS (SELECT 1 FROM flows f WHERE f.name = r.flow AND f.version <> r.flow_version) OR EXISTS (SELECT 1 FROM acceptance_destinations x
	JOIN destinations d ON d.name = x.destination WHERE x.run_id = r.id AND d.version <> x.version))`

func (t *tx) acceptanceStale(id operation.AcceptanceID) (stale bool, err error) {
	err = t.get(&stale, `SELECT `+staleSQL+` FROM acceptance_runs r WHERE r.id = $1`, string(id))
	return stale, err
}

// plan gives what the run is run with, as it was asked for.
func (t *tx) acceptancePlan(r acceptanceRow) (p operation.AcceptancePlan, err error) {
	p.ID = r.ID
	if err := json.Unmarshal([]byte(r.Input), &p.Input); err != nil {
		return p, err
	}
	var rows []struct {
		Name        string `db:"name"`
		Version     int    `db:"version"`
		Hash        []byte `db:"hash"`
		Environment string `db:"environment"`
		Source      string `db:"source"`
	}
	if err := t.list(&rows, `SELECT flow AS name, version, hash, '' AS environment, source FROM flow_versions WHERE flow = $1 AND version = $2`, r.Flow, r.FlowVersion); err != nil {
		return p, err
	}
	if len(rows) != 1 {
		return p, fmt.Errorf("flow %s has no version %d", r.Flow, r.FlowVersion)
	}
	file := func(i int) operation.AcceptanceFile {
		return operation.AcceptanceFile{Name: rows[i].Name, Version: rows[i].Version, Hash: hexOf(rows[i].Hash), Environment: rows[i].Environment, Source: rows[i].Source}
	}
	p.Flow = file(0)
	f, err := t.s.flowVersion(t.ctx, t.Tx, r.Flow, r.FlowVersion)
	if err != nil {
		return p, err
	}
	rows = nil
	if err := t.list(&rows, `SELECT name, version, hash, '' AS environment, source FROM sources WHERE name = $1`, f.Trigger.Source); err != nil {
		return p, err
	}
	if len(rows) == 1 {
		p.Source = file(0)
	}
	rows = nil
	err = t.list(&rows, `SELECT x.destination AS name, x.version, v.hash, x.environment, v.source FROM acceptance_destinations x
		JOIN destination_versions v ON v.destination = x.destination AND v.version = x.version WHERE x.run_id = $1 ORDER BY x.destination`, string(r.ID))
	for i := range rows {
		p.Destinations = append(p.Destinations, file(i))
	}
	return p, err
}
