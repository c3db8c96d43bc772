package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"holdpoint/operation/checkpoint"
)

// Bounds of one checkpoint. What is more is taken up by the next one, at once.
const (
	checkpointEntries = 100_000
	checkpointLate    = 10_000 // they stand in the note
	leavesPerRow      = 4096
)

// ErrRestoring: the database is a restored copy and nobody has ended the reconciling.
// Nothing is signed meanwhile: it would be a second history under one key.
var ErrRestoring = errors.New("the database was restored and is not reconciled yet")

// MadeCheckpoint is what one call of MakeCheckpoint did.
type MadeCheckpoint struct {
	Number int64 // 0 = there was nothing new, or another process is at it
	Note   []byte
	Size   uint64
	At     time.Time
	More   bool // there is more to take up: call again
}

// MakeCheckpoint takes up what is new in the history and signs a checkpoint of all of it.
// It reads the new entries only, whatever the history's size. While another process does
// the same, it does nothing.
func (s *Store) MakeCheckpoint(ctx context.Context, signer *checkpoint.Signer) (MadeCheckpoint, error) {
	here, err := s.FindWitness(ctx) // outside the transaction: the role may be denied a part of it
	if err != nil {
		return MadeCheckpoint{}, err
	}
	var out MadeCheckpoint
	err = s.write(ctx, func(t *tx) error {
		p := &checkpointPass{tx: t, signer: signer, here: here}
		err := p.make()
		out = p.made
		return err
	})
	if err != nil {
		return MadeCheckpoint{}, err
	}
	return out, nil
}

// checkpointRow is one checkpoint as it is stored.
type checkpointRow struct {
	Number   int64     `db:"number"`
	Line     int64     `db:"line"`
	Size     int64     `db:"size"`
	Root     []byte    `db:"root"`
	Frontier []byte    `db:"frontier"`
	UpTo     int64     `db:"up_to"`
	At       time.Time `db:"at"`
	Signer   string    `db:"signer"`
	Note     string    `db:"note"`
}

type leafRow struct {
	ID   int64  `db:"id"`
	Hash []byte `db:"hash"`
	Kind string `db:"subject_kind"`
	Name string `db:"subject_id"`
	Seq  int64  `db:"seq"`
}

// checkpointPass makes one checkpoint.
type checkpointPass struct {
	*tx
	signer *checkpoint.Signer
	here   Witness
	now    time.Time
	at     checkpointReading
	last   checkpointRow
	made   MadeCheckpoint
}

type checkpointReading struct {
	Settled   int64      `db:"settled"`
	Horizon   int64      `db:"horizon"`
	HorizonX  string     `db:"horizon_x"`
	HorizonAt *time.Time `db:"horizon_at"`
	Now       time.Time  `db:"now"`
}

func (p *checkpointPass) make() error {
	err := p.get(&p.at, `SELECT settled, horizon, horizon_x, horizon_at, clock_timestamp() AS now FROM checkpoint_reading FOR UPDATE SKIP LOCKED`)
	if isGone(err) {
		return errDone
	}
	if err != nil {
		return err
	}
	p.now = p.at.Now.UTC().Truncate(time.Microsecond)
	was := p.at
	line, err := p.line()
	if err != nil {
		return err
	}
	err = p.get(&p.last, `SELECT number, line, size, root, frontier, up_to, at, signer, note FROM checkpoints ORDER BY number DESC LIMIT 1`)
	if err != nil && !isGone(err) {
		return err
	}
	late, fresh, err := p.read()
	if err != nil {
		return err
	}
	if len(late)+len(fresh) > 0 {
		if err := p.sign(line, late, fresh); err != nil {
			return err
		}
	}
	if p.at == was && p.made.Number == 0 {
		return errDone
	}
	return p.one(`UPDATE checkpoint_reading SET settled = $1, horizon = $2, horizon_x = $3, horizon_at = $4`, p.at.Settled, p.at.Horizon, p.at.HorizonX, p.at.HorizonAt)
}

// line is the line of the history that this database holds.
func (p *checkpointPass) line() (int64, error) {
	var row struct {
		Open bool  `db:"open"`
		Line int64 `db:"line"`
	}
	err := p.get(&row, `SELECT COALESCE(bool_or(ended_at IS NULL), false) AS open, COALESCE(max(line), 1) AS line FROM restores`)
	if err == nil && row.Open {
		err = ErrRestoring
	}
	return row.Line, err
}

const lateSQL = `WITH c AS MATERIALIZED (SELECT COALESCE(range_agg(ids), '{}') AS ids FROM checkpoint_leaves WHERE upper(ids) > $1)
SELECT h.id, h.hash, h.subject_kind, h.subject_id, h.seq FROM history h, c WHERE h.id > $1 AND h.id <= $2 AND NOT c.ids @> h.id ORDER BY h.id LIMIT $3`

// read gives the entries that are to be taken up: late ones, whose transactions were open
// when a later number was taken up, and new ones. Numbers up to Settled cannot appear any
// more: every transaction that ran when they were read has ended.
func (p *checkpointPass) read() (late, fresh []leafRow, err error) {
	settle, err := p.passed()
	if err != nil {
		return nil, nil, err
	}
	if p.last.UpTo > p.at.Settled {
		if err := p.list(&late, lateSQL, p.at.Settled, p.last.UpTo, checkpointLate); err != nil {
			return nil, nil, err
		}
	}
	if len(late) == checkpointLate {
		p.made.More = true
		return late, nil, nil
	}
	if settle {
		p.at.Settled = p.at.Horizon
	}
	if err := p.list(&fresh, `SELECT id, hash, subject_kind, subject_id, seq FROM history WHERE id > $1 ORDER BY id LIMIT $2`, p.last.UpTo, checkpointEntries); err != nil {
		return nil, nil, err
	}
	p.made.More = len(fresh) == checkpointEntries
	upTo := p.last.UpTo
	if n := len(fresh); n > 0 {
		upTo = fresh[n-1].ID
	}
	if p.at.Horizon > p.at.Settled || upTo <= p.at.Settled {
		return late, fresh, nil
	}
	// After the reading: whoever held a lower number then has begun before this.
	if err := p.get(&p.at.HorizonX, `SELECT CAST(pg_snapshot_xmax(pg_current_snapshot()) AS text)`); err != nil {
		return nil, nil, err
	}
	p.at.Horizon, p.at.HorizonAt = upTo, &p.now
	return late, fresh, nil
}

// passed reports that everything up to the horizon is settled: it is old enough for a
// number that was taken a moment before its transaction was numbered, and the
// transactions of then have ended.
func (p *checkpointPass) passed() (bool, error) {
	a := p.at
	if a.Horizon <= a.Settled || a.HorizonAt == nil || p.now.Sub(*a.HorizonAt) < settleFor {
		return false, nil
	}
	var passed bool
	err := p.get(&passed, `SELECT pg_snapshot_xmin(pg_current_snapshot()) >= CAST(CAST($1 AS text) AS xid8)`, a.HorizonX)
	return passed, err
}

// sign appends the entries to the log and writes the checkpoint.
func (p *checkpointPass) sign(line int64, late, fresh []leafRow) error {
	tree := checkpoint.NewTree()
	if p.last.Number > 0 {
		var err error
		if tree, err = checkpoint.RestoreTree(uint64(p.last.Size), p.last.Frontier); err != nil {
			return err
		}
		if root, err := tree.Root(); err != nil || root != hash32(p.last.Root) {
			return fmt.Errorf("checkpoint %d does not hold the tree that it signs: run holdpoint verify", p.last.Number)
		}
	}
	c := checkpoint.Checkpoint{Installation: p.here.Installation, Line: line, Number: p.last.Number + 1, At: p.now, UpTo: p.last.UpTo, System: p.here.System, Timeline: p.here.Timeline}
	if line > 1 && line != p.last.Line {
		c.Continues = &checkpoint.Point{Line: p.last.Line, Number: p.last.Number, Size: uint64(p.last.Size)}
	}
	var ids []int64
	for _, l := range late {
		ids = append(ids, l.ID)
	}
	c.Late = checkpoint.SpansOf(ids)
	if n := len(fresh); n > 0 {
		c.UpTo = fresh[n-1].ID
	}
	if err := p.append(tree, c.Number, append(late, fresh...)); err != nil {
		return err
	}
	root, err := tree.Root()
	if err != nil {
		return err
	}
	c.Root, c.Size = root, tree.Size()
	note, err := c.Sign(p.signer)
	if err != nil {
		return err
	}
	p.made.Number, p.made.Note, p.made.Size, p.made.At = c.Number, note, c.Size, c.At
	return p.one(`INSERT INTO checkpoints (number, line, size, root, frontier, up_to, at, signer, note) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		c.Number, c.Line, int64(c.Size), c.Root[:], tree.Frontier(), c.UpTo, c.At, p.signer.Fingerprint(), string(note))
}

func (p *checkpointPass) append(tree *checkpoint.Tree, number int64, rows []leafRow) error {
	for len(rows) > 0 {
		n := min(len(rows), leavesPerRow)
		part := rows[:n]
		rows = rows[n:]
		first := tree.Size()
		ids, hashes := make([]int64, n), make([]byte, 0, 32*n)
		var names strings.Builder
		for i, r := range part {
			if len(r.Hash) != 32 {
				return fmt.Errorf("history entry %d has a hash of %d bytes", r.ID, len(r.Hash))
			}
			if err := tree.Append([32]byte(r.Hash)); err != nil {
				return err
			}
			ids[i], hashes = r.ID, append(hashes, r.Hash...)
			fmt.Fprintf(&names, "%s %d %s\n", r.Kind, r.Seq, r.Name)
		}
		if err := p.one(`INSERT INTO checkpoint_leaves (first, count, number, ids, hashes, names) VALUES ($1, $2, $3, CAST(CAST($4 AS text) AS int8multirange), $5, $6)`,
			int64(first), n, number, multirange(checkpoint.SpansOf(ids)), hashes, names.String()); err != nil {
			return err
		}
	}
	return nil
}

// multirange writes spans as PostgreSQL does.
func multirange(s checkpoint.Spans) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, a := range s {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "[%d,%d]", a.First, a.Last)
	}
	b.WriteByte('}')
	return b.String()
}
