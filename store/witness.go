package store

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/checkpoint"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// Witness is what is kept outside the database to recognise an older copy of it.
type Witness struct {
	Installation string    `json:"installation"`
	System       string    `json:"system,omitempty"`   // PostgreSQL's system identifier; "" = not readable
	Timeline     int64     `json:"timeline,omitempty"` // of the last checkpoint; 0 = not readable
	Entry        int64     `json:"entry"`              // id of the newest history entry; 0 = none
	Hash         string    `json:"hash,omitempty"`     // its hash, hexadecimal
	At           time.Time `json:"at,omitzero"`        // its time
}

// FindWitness says what the database is now: three reads by key, at any size. Where the
// role may not read PostgreSQL's control file, System and Timeline are left out.
func (s *Store) FindWitness(ctx context.Context) (Witness, error) {
	var row struct {
		ID    string         `db:"id"`
		Entry sql.NullInt64  `db:"entry"`
		Hash  []byte         `db:"hash"`
		At    *time.Time     `db:"at"`
		Sys   sql.NullString `db:"system"`
		Line  sql.NullInt64  `db:"timeline"`
	}
	const newest = `SELECT i.id, h.id AS entry, h.hash, h.at%s FROM installation i LEFT JOIN (SELECT id, hash, at FROM history ORDER BY id DESC LIMIT 1) h ON true`
	const control = `, (SELECT system_identifier::text FROM pg_control_system()) AS system, (SELECT timeline_id FROM pg_control_checkpoint()) AS timeline`
	find := func(more string) error {
		return s.read(ctx, func(q *sqlx.DB) error { return q.GetContext(ctx, &row, fmt.Sprintf(newest, more)) })
	}
	err := find(control)
	if barred(err) {
		err = find("")
	}
	return Witness{Installation: row.ID, System: row.Sys.String, Timeline: row.Line.Int64, Entry: row.Entry.Int64, Hash: hex.EncodeToString(row.Hash), At: timeOf(row.At).UTC()}, err
}

// barred reports a function that this role may not call, or that the server hides.
func barred(err error) bool {
	var p *pq.Error
	return errors.As(err, &p) && (p.Code == "42501" || p.Code == "42883" || p.Code == "0A000")
}

// Mismatch says how the database differs from its witness. Its text is the stored
// reason of the pause: a word that the pages translate, and where to begin.
type Mismatch struct {
	Word  string    // one of the Mismatch constants
	Since time.Time // what happened from then on may be missing, at the latest
	Now   Witness   // what the database is
	// Until is the newest thing that is known outside the database; zero = nothing is.
	Until time.Time
	// Missing is how many history entries may be missing; nil = not known.
	Missing *int64
	// Line is the least line for the checkpoints that follow; 0 = any.
	Line int64
}

// The ways in which a database differs from its witness.
const (
	MismatchOlder    = "witness_older"    // the witness's newest entry is missing, or another one stands in its place
	MismatchServer   = "witness_server"   // another PostgreSQL cluster
	MismatchTimeline = "witness_timeline" // the same cluster after a failover or a recovery
	// MismatchCheckpoint: the checkpoint file holds a checkpoint that the database lacks.
	MismatchCheckpoint = "witness_checkpoint"
)

// Reason is the mismatch as it stands in the record.
func (m Mismatch) Reason() string { return m.Word + " " + m.Since.UTC().Format(time.RFC3339) }

// CompareWitness compares the database with what was kept of it; nil = they fit. That
// the kept newest entry is there, with its hash, is proven by the entry itself.
func (s *Store) CompareWitness(ctx context.Context, kept Witness) (Witness, *Mismatch, error) {
	now, err := s.FindWitness(ctx)
	if err != nil {
		return now, nil, err
	}
	m := &Mismatch{Since: kept.At, Now: now, Until: kept.At}
	if now.At.Before(m.Since) {
		m.Since = now.At
	}
	fits, err := s.holdsEntry(ctx, kept)
	switch {
	case err != nil:
		return now, nil, err
	case !fits:
		m.Word = MismatchOlder
		if lost := kept.Entry - now.Entry; lost > 0 {
			m.Missing = &lost
		}
	case kept.System != "" && now.System != "" && kept.System != now.System:
		m.Word = MismatchServer
	case kept.Timeline != 0 && now.Timeline != 0 && kept.Timeline != now.Timeline:
		m.Word = MismatchTimeline
	default:
		m = nil
	}
	return now, m, nil
}

func (s *Store) holdsEntry(ctx context.Context, kept Witness) (bool, error) {
	if kept.Entry == 0 {
		return true, nil
	}
	hash, err := hex.DecodeString(kept.Hash)
	if err != nil {
		return false, nil
	}
	var there bool
	err = s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &there, `SELECT EXISTS (SELECT 1 FROM history WHERE id = $1 AND hash = $2)`, kept.Entry, hash)
	})
	return there, err
}

// CompareCheckpoint compares the database with the newest checkpoint of a file; nil = they
// fit: it holds that checkpoint, or went on without it after a restore that was reconciled.
func (s *Store) CompareCheckpoint(ctx context.Context, newest checkpoint.Checkpoint) (*Mismatch, error) {
	at, err := s.FindCheckpoint(ctx, newest)
	if err != nil || at.Held || at.Left {
		return nil, err
	}
	m := &Mismatch{Word: MismatchCheckpoint, Since: newest.At, Until: newest.At, Line: newest.Line + 1}
	if m.Now, err = s.FindWitness(ctx); err != nil {
		return nil, err
	}
	if m.Now.At.Before(m.Since) {
		m.Since = m.Now.At
	}
	if lost := int64(newest.Size) - at.NewestSize; lost > 0 {
		m.Missing = &lost
	}
	return m, nil
}

// PauseForWitness pauses all sends because the database does not fit its witness, and
// lists what is to be reconciled (see Restore). A person's pause in force makes way for
// it: whoever resumes must learn of the mismatch. The earlier pause stays in the history.
func (s *Store) PauseForWitness(ctx context.Context, m Mismatch) error {
	a, p := System("command"), pauseOf(operation.SubjectSystem, systemSubject)
	return s.write(ctx, func(t *tx) error {
		now, err := t.alone()
		if err != nil {
			return err
		}
		if _, err := t.pausedNow(a, p, true); err != nil { // locks the row
			return err
		}
		if err := t.setPaused(a, p, true, m.Reason(), now); err != nil {
			return err
		}
		id, err := t.openRestore(m, now)
		if err != nil {
			return err
		}
		return t.enter(a, now, p.kind, p.id, "pause", m.Reason(), "restore", id)
	})
}
