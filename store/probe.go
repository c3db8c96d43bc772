package store

import (
	"context"
	"encoding/json"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// Probe is one dated check, on a test account, of whether a protection holds.
type Probe struct {
	ID                   operation.ProbeID
	Destination, Action  string
	Account, Environment string
	ProfileHash          [32]byte // SHA-256 of the file that was probed
	Result               operation.ProbeResult
	Steps                []operation.ProbeStep
	ByKind               operation.ActorKind // who asked for it
	By                   string
	At                   time.Time
}

// AddProbe records a probe. One that shows that a protection does not hold counts at
// once, for every operation of the destination's action; so it takes the gate's lock
// alone. The destination need not be in use yet. At is given by the database.
func (s *Store) AddProbe(ctx context.Context, a Actor, p Probe) (operation.ProbeID, error) {
	id := operation.ProbeID(newID("prb"))
	if p.Steps == nil {
		p.Steps = []operation.ProbeStep{}
	}
	steps, err := json.Marshal(p.Steps)
	if err != nil {
		return "", err
	}
	err = s.write(ctx, func(t *tx) error {
		now, err := t.alone()
		if err != nil {
			return err
		}
		if err := t.mayAdmin(a); err != nil {
			return err
		}
		if _, err := t.exec(`INSERT INTO probes (id, destination, action, account, environment, profile_hash, result, steps, actor_kind, actor_id, at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`, string(id), p.Destination, p.Action, p.Account, p.Environment, p.ProfileHash[:],
			string(p.Result), storable(string(steps)), string(a.Kind), a.ID, now); err != nil {
			return err
		}
		subject, name, err := t.probed(p.Destination)
		if err != nil {
			return err
		}
		return t.enter(a, now, subject, name, "record_probe", "", "probe", string(id), "destination", p.Destination, "action", p.Action, "result", string(p.Result))
	})
	if err != nil {
		return "", err
	}
	return id, nil
}

// probed gives whose history a probe belongs to: the destination's or, before it is in
// use, the installation's.
func (t *tx) probed(destination string) (operation.SubjectKind, string, error) {
	var n int
	if err := t.get(&n, `SELECT count(*) FROM destinations WHERE name = $1`, destination); err != nil {
		return "", "", err
	}
	if n == 0 {
		return operation.SubjectSystem, systemSubject, nil
	}
	return operation.SubjectDestination, destination, nil
}

// ActionProbes is what is known of one action by probes.
type ActionProbes struct {
	Newest  Probe               // of any result
	Telling operation.ProbeFact // the newest that held or was broken
}

// FindProbes gives what probes have shown of a destination, by action. Actions that
// were never probed are missing.
func (s *Store) FindProbes(ctx context.Context, destination string) (map[string]ActionProbes, error) {
	var rows []struct {
		ID          operation.ProbeID     `db:"id"`
		Action      string                `db:"action"`
		Account     string                `db:"account"`
		Environment string                `db:"environment"`
		Hash        []byte                `db:"profile_hash"`
		Result      operation.ProbeResult `db:"result"`
		Steps       []byte                `db:"steps"`
		Kind        operation.ActorKind   `db:"actor_kind"`
		By          string                `db:"actor_id"`
		At          time.Time             `db:"at"`
		Telling     bool                  `db:"telling"`
	}
	err := s.read(ctx, func(q *sqlx.DB) error {
		rows = nil
		return q.SelectContext(ctx, &rows, `SELECT DISTINCT ON (telling, action) id, action, account, environment, profile_hash, result, steps, actor_kind, actor_id, at, telling
			FROM (SELECT p.*, x.telling FROM probes p CROSS JOIN (VALUES (false), (true)) x (telling) WHERE p.destination = $1 AND (NOT x.telling OR p.result <> 'unclear')) y
			ORDER BY telling, action, at DESC, id DESC`, destination)
	})
	if err != nil {
		return nil, err
	}
	out := map[string]ActionProbes{}
	for _, r := range rows {
		x := out[r.Action]
		if r.Telling {
			x.Telling = operation.ProbeFact{Result: r.Result, At: r.At.UTC()}
		} else {
			x.Newest = Probe{ID: r.ID, Destination: destination, Action: r.Action, Account: r.Account, Environment: r.Environment, ProfileHash: hash32(r.Hash),
				Result: r.Result, ByKind: r.Kind, By: r.By, At: r.At.UTC()}
			if err := json.Unmarshal(r.Steps, &x.Newest.Steps); err != nil {
				return nil, err
			}
		}
		out[r.Action] = x
	}
	return out, nil
}
