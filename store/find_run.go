package store

import (
	"context"
	"errors"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"

	"github.com/lib/pq"
)

// RunPage is one run with its stages, event and deliveries.
type RunPage struct {
	ID          operation.RunID
	Flow        *definition.Flow
	FlowVersion int
	State       operation.RunState
	Held        bool
	Label       string
	InputsText  string
	CreatedAt   time.Time
	Now         time.Time
	Operations  []OperationSummary // in the order of stages, replacements after originals; without the items of batches
	Batches     []Batch            // stages that fan out, in the order of stages
	Turns       map[operation.BatchID]operation.BatchTurn
	Counts      map[operation.BatchID]BatchCounts // where the entries of its batches are
	Waived      map[string]WaiverRow
	Events      []EventRow
	Deliveries  []DeliveryRow
	History     []HistoryRow
	ChainOK     bool
	People      map[string]string
	EarlierOpen map[operation.ID][]string      // which earlier stages an operation waits for
	Hashes      map[operation.VersionID][]byte // of the operations' current versions
}

// WaiverRow is the owner's "go on without it".
type WaiverRow struct {
	Stage  string    `db:"stage"`
	Reason string    `db:"reason"`
	By     string    `db:"waived_by"`
	At     time.Time `db:"waived_at"`
}

// EventRow is one business fact.
type EventRow struct {
	ID         operation.EventID `db:"id"`
	Source     string            `db:"source"`
	Account    string            `db:"account"`
	Topic      string            `db:"topic"`
	Key        string            `db:"event_key"`
	EventTime  time.Time         `db:"event_time"`
	ReceivedAt time.Time         `db:"received_at"`
}

// FindRun reads one run. A run of a flow that the viewer has no role for is not found.
func (s *Store) FindRun(ctx context.Context, viewer Actor, id operation.RunID) (*RunPage, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	p := &RunPage{}
	err = s.snapshot(ctx, func(t *tx) error {
		*p = RunPage{ID: id, Waived: map[string]WaiverRow{}, People: map[string]string{}, EarlierOpen: map[operation.ID][]string{}, Hashes: map[operation.VersionID][]byte{}}
		var row struct {
			Flow    string    `db:"flow"`
			Version int       `db:"flow_version"`
			State   string    `db:"state"`
			Held    bool      `db:"held"`
			Label   string    `db:"label"`
			Inputs  string    `db:"inputs"`
			Seq     int64     `db:"chain_seq"`
			Hash    []byte    `db:"chain_hash"`
			Created time.Time `db:"created_at"`
			Now     time.Time `db:"now"`
		}
		if err := t.get(&row, `SELECT flow, flow_version, state, held, label, inputs, chain_seq, chain_hash, created_at, clock_timestamp() AS now FROM runs WHERE id = $1`, string(id)); err != nil {
			return err
		}
		if !v.Sees(row.Flow, "") && !v.Token {
			return ErrNotFound
		}
		p.FlowVersion, p.State, p.Held, p.Label, p.InputsText, p.CreatedAt, p.Now = row.Version, operation.RunState(row.State), row.Held, row.Label, row.Inputs, row.Created, row.Now
		if p.Flow, err = s.flowVersion(ctx, t.Tx, row.Flow, row.Version); err != nil {
			return err
		}
		if err := p.readOperations(t); err != nil {
			return err
		}
		if p.History, err = t.history(operation.SubjectRun, string(id), p.CreatedAt); err != nil {
			return err
		}
		p.ChainOK = chainBreak(p.History) == 0 && headFits(p.History, row.Seq, row.Hash)
		return p.readEvents(t, v)
	})
	return p, err
}

func (p *RunPage) readOperations(t *tx) error {
	var rows []opRow
	if err := t.list(&p.Batches, `SELECT `+batchColumns+` FROM batches b WHERE b.run_id = $1 ORDER BY b.stage_no`, string(p.ID)); err != nil {
		return err
	}
	from := `operations o WHERE o.run_id = $1`
	if len(p.Batches) > 0 {
		from = beside("$1", "''") + ` o`
	}
	if err := t.list(&rows, `SELECT `+opColumns+` FROM `+from+` ORDER BY o.stage_no, o.item_key, o.replacement`, string(p.ID)); err != nil {
		return err
	}
	var waived []WaiverRow
	if err := t.list(&waived, `SELECT stage, reason, waived_by, waived_at FROM stage_waivers WHERE run_id = $1`, string(p.ID)); err != nil {
		return err
	}
	gone := map[string]bool{}
	ids := map[string]bool{}
	for _, w := range waived {
		p.Waived[w.Stage], gone[w.Stage], ids[w.By] = w, true, true
	}
	var stages []stageRow
	for i := range rows {
		stages = append(stages, rowOf(&rows[i], gone))
		ids[string(rows[i].NextUser)] = true
	}
	turns, err := t.turnsOf(p.Batches)
	if err != nil {
		return err
	}
	p.Turns, p.Counts = turns.of, turns.counts
	for i := range p.Batches {
		stages = append(stages, batchStanding(&p.Batches[i], gone))
		ids[string(p.Turns[p.Batches[i].ID].Next.Who.User)] = true
	}
	for i := range rows {
		p.Operations = append(p.Operations, OperationSummary{rows[i]})
		p.EarlierOpen[rows[i].ID] = earlierOpen(p.Flow, &rows[i], stages)
	}
	return errors.Join(p.readHashes(t), t.names(ids, p.People))
}

// readHashes reads the hashes of the versions that are current.
func (p *RunPage) readHashes(t *tx) error {
	var rows []struct {
		ID   operation.VersionID `db:"id"`
		Hash []byte              `db:"hash"`
	}
	ids := make([]string, len(p.Operations))
	for i, o := range p.Operations {
		ids[i] = string(o.ID)
	}
	err := t.list(&rows, `SELECT v.id, v.hash FROM operations o JOIN content_versions v ON v.id = o.version_id WHERE o.id = ANY($1) AND v.hash IS NOT NULL`, pq.Array(ids))
	for _, r := range rows {
		p.Hashes[r.ID] = r.Hash
	}
	return err
}

func (p *RunPage) readEvents(t *tx, v Viewer) error {
	if err := t.list(&p.Events, `SELECT e.id, e.source, e.account, e.topic, e.event_key, e.event_time, e.received_at FROM event_runs x JOIN events e ON e.id = x.event_id
		WHERE x.run_id = $1 ORDER BY e.received_at`, string(p.ID)); err != nil {
		return err
	}
	if err := t.list(&p.Deliveries, `SELECT `+deliveryColumns+` FROM event_runs x JOIN deliveries d ON d.event_id = x.event_id LEFT JOIN events e ON e.id = d.event_id
		WHERE x.run_id = $1 ORDER BY d.received_at`, string(p.ID)); err != nil {
		return err
	}
	if err := t.fillHeld(v, p.Deliveries); err != nil {
		return err
	}
	ids := map[string]bool{}
	for _, d := range p.Deliveries {
		if d.Decided != nil {
			ids[string(d.Decided.By)] = true
		}
	}
	return t.names(ids, p.People)
}
