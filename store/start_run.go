package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"

	"github.com/jmoiron/sqlx"
)

// The stable words for why a row started nothing.
const (
	StartWrongInputs = "inputs"       // Fields names them
	StartCells       = "cells"        // the row has more cells than the table's header
	StartNoKey       = "key"          // the key's cell is empty
	StartTwice       = "twice"        // the same key stands in an earlier row of the table
	StartMayNot      = "not_entitled" // the person is no author of the flow any more
	StartNotPossible = "not_possible" // no source lets the flow be started by hand any more
)

// RunStart does the rows of a table that has begun and are not done yet, in their order,
// until the context ends: each in one transaction, with its run and its result. Any number
// of processes may do so at once; a row is judged once. done tells that none is left.
func (s *Store) RunStart(ctx context.Context, id operation.StartID) (done bool, err error) {
	var st Start
	var have []int
	var name string
	err = s.read(ctx, func(q *sqlx.DB) error {
		have = nil
		if err := q.GetContext(ctx, &st, `SELECT `+startColumns+` FROM starts WHERE id = $1`, string(id)); err != nil {
			return err
		}
		if err := q.GetContext(ctx, &name, `SELECT name FROM users WHERE id = $1`, string(st.By)); err != nil {
			return err
		}
		return q.SelectContext(ctx, &have, `SELECT row FROM start_rows WHERE start_id = $1`, string(id))
	})
	if err != nil || st.BegunAt == nil || st.EndedAt != nil {
		return st.EndedAt != nil, err
	}
	table, err := st.Table()
	if err != nil {
		return false, err
	}
	f, src, err := s.startable(ctx, st.Flow)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return false, err
	}
	p := &startPass{Store: s, st: st, actor: Person(st.By, name, "web"), flow: f, src: src, keys: map[string]bool{}}
	judged := map[int]bool{}
	for _, n := range have {
		judged[n] = true
	}
	for _, r := range table.Rows {
		if err := p.row(ctx, r, judged[r.Number]); err != nil {
			return false, err
		}
	}
	return true, s.endStart(ctx, id, len(table.Rows))
}

// endStart closes a table whose rows are all done, and lets go of the file.
func (s *Store) endStart(ctx context.Context, id operation.StartID, rows int) error {
	return s.write(ctx, func(t *tx) error {
		_, err := t.exec(`UPDATE starts SET body = NULL, ended_at = clock_timestamp() WHERE id = $1 AND ended_at IS NULL
			AND (SELECT count(*) FROM start_rows r WHERE r.start_id = $1) >= $2`, string(id), rows)
		return err
	})
}

// startPass goes through one table.
type startPass struct {
	*Store
	st    Start
	actor Actor
	flow  *definition.Flow
	src   *definition.Source // nil = the flow cannot be started by hand any more
	keys  map[string]bool    // of the rows before
}

func (p *startPass) row(ctx context.Context, r definition.TableRow, judged bool) error {
	key := p.st.Key(r)
	twice := p.keys[key]
	p.keys[key] = true
	if judged {
		return nil
	}
	no := StartRow{Row: r.Number, Result: StartRefused}
	if p.src == nil {
		no.Reason = StartNotPossible
		return p.write(ctx, no)
	}
	inputs, wrong, err := p.flow.ReadInputs(r.Texts(p.st.Columns()))
	switch {
	case err != nil:
		return err
	case r.Extra != nil:
		no.Reason = StartCells
	case len(wrong) > 0:
		no.Reason, no.Fields = StartWrongInputs, strings.Join(wrong, ",")
	case key == "":
		no.Reason = StartNoKey
	case twice:
		no.Result, no.Reason = StartKnown, StartTwice
	default:
		return p.begin(ctx, r.Number, key, inputs)
	}
	return p.write(ctx, no)
}

// begin starts one row's run and keeps its result in the same transaction.
func (p *startPass) begin(ctx context.Context, number int, key string, inputs map[string]any) error {
	err := p.Store.write(ctx, func(t *tx) error {
		if err := t.lockStartRow(p.st.ID, number); err != nil {
			return err
		}
		known, err := t.startedBefore(p.st, number)
		switch {
		case err != nil:
			return err
		case known != nil:
			return t.addStartRow(p.st.ID, *known)
		}
		rec, err := t.start(p.actor, p.flow, p.src, key, fmt.Sprintf("%s:%d", p.st.ID, number), inputs)
		if err != nil {
			return err
		}
		row := resultOf(number, rec)
		if row.Result == StartStarted || row.Result == StartHeld {
			// A second table of the same file waits here, and is refused by the constraint.
			if _, err := t.exec(`INSERT INTO start_places (flow, file_hash, row, run_id) VALUES ($1, $2, $3, $4)`, p.st.Flow, p.st.Hash, number, string(row.Run)); err != nil {
				return err
			}
		}
		return t.addStartRow(p.st.ID, row)
	})
	var no *operation.Refusal
	switch {
	case violates(err, "start_places_once"): // another table of this file was quicker: its run stands
		return p.begin(ctx, number, key, inputs)
	case !errors.As(err, &no):
		return err
	case no.Code == operation.CodeContentMissing:
		return p.write(ctx, StartRow{Row: number, Result: StartRefused, Reason: StartWrongInputs, Fields: no.Params["field"]})
	case no.Code == operation.CodeNotEntitled:
		return p.write(ctx, StartRow{Row: number, Result: StartRefused, Reason: StartMayNot})
	}
	return err
}

func resultOf(number int, rec Receipt) StartRow {
	row := StartRow{Row: number, Result: StartStarted}
	switch rec.Verdict {
	case VerdictRepeated:
		row.Result = StartKnown
	case VerdictConflict:
		row.Result = StartConflict
	case VerdictHeld:
		row.Result = StartHeld
	}
	if len(rec.Runs) > 0 {
		row.Run = rec.Runs[0]
	}
	return row
}

// lockStartRow lets one process at a time judge rows of a table; errDone = this one has
// been judged meanwhile.
func (t *tx) lockStartRow(id operation.StartID, number int) error {
	var judged bool
	if _, err := t.exec(`SELECT 1 FROM starts WHERE id = $1 FOR NO KEY UPDATE`, string(id)); err != nil {
		return err
	}
	if err := t.get(&judged, `SELECT EXISTS (SELECT 1 FROM start_rows WHERE start_id = $1 AND row = $2)`, string(id), number); err != nil {
		return err
	}
	if judged {
		return errDone
	}
	return nil
}

// startedBefore tells what this row of this file has begun before, in any table of the
// same flow, however its columns were read; nil = nothing.
func (t *tx) startedBefore(st Start, number int) (*StartRow, error) {
	var run string
	err := t.get(&run, `SELECT run_id FROM start_places WHERE flow = $1 AND file_hash = $2 AND row = $3`, st.Flow, st.Hash, number)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &StartRow{Row: number, Result: StartKnown, Run: operation.RunID(run)}, err
}

func (t *tx) addStartRow(id operation.StartID, r StartRow) error {
	_, err := t.exec(`INSERT INTO start_rows (start_id, row, result, reason, fields, run_id, at) VALUES ($1, $2, $3, $4, $5, $6, clock_timestamp()) ON CONFLICT DO NOTHING`,
		string(id), r.Row, string(r.Result), r.Reason, short(r.Fields, 500), string(r.Run))
	return err
}

func (p *startPass) write(ctx context.Context, r StartRow) error {
	return p.Store.write(ctx, func(t *tx) error { return t.addStartRow(p.st.ID, r) })
}

// SweepStarts goes on with tables whose process died in the middle, and removes those that
// nobody began within StartKept. It returns how many tables it ended.
func (s *Store) SweepStarts(ctx context.Context) (int, error) {
	ended := 0
	err := s.write(ctx, func(t *tx) error {
		n, err := t.exec(`UPDATE starts SET body = NULL, ended_at = clock_timestamp() WHERE begun_at IS NULL AND ended_at IS NULL AND created_at < clock_timestamp() - CAST($1 AS interval)`,
			fmt.Sprintf("%d seconds", int(StartKept/time.Second)))
		ended = int(n)
		return err
	})
	if err != nil {
		return ended, err
	}
	var ids []string
	err = s.read(ctx, func(q *sqlx.DB) error {
		ids = nil
		return q.SelectContext(ctx, &ids, `SELECT id FROM starts WHERE begun_at < clock_timestamp() - interval '20 seconds' AND ended_at IS NULL ORDER BY begun_at LIMIT 20`)
	})
	for _, id := range ids {
		done, e := s.RunStart(ctx, operation.StartID(id))
		if done {
			ended++
		}
		err = errors.Join(err, e)
	}
	return ended, err
}
