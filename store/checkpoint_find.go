package store

import (
	"context"
	"time"

	"holdpoint/operation/checkpoint"

	"github.com/jmoiron/sqlx"
)

// CheckpointState says how the newest checkpoint stands to the history.
type CheckpointState struct {
	Newest    *CheckpointSummary // nil = there is none yet
	Waiting   bool               // entries came after it
	Missing   int64              // entries of the log that were not in the history at the last count
	CountedAt *time.Time         // of that count; nil = never yet
}

// CheckpointSummary is one checkpoint for people.
type CheckpointSummary struct {
	Number int64     `db:"number"`
	Line   int64     `db:"line"`
	Size   int64     `db:"size"`
	Root   []byte    `db:"root"`
	At     time.Time `db:"at"`
	Signer string    `db:"signer"` // name and fingerprint of the key
}

// FindCheckpointState reads it, by keys.
func (s *Store) FindCheckpointState(ctx context.Context) (CheckpointState, error) {
	var out CheckpointState
	list, err := s.ListCheckpoints(ctx, 1)
	if err != nil {
		return out, err
	}
	var row struct {
		Waiting bool       `db:"waiting"`
		Missing int64      `db:"missing"`
		Counted *time.Time `db:"counted_at"`
	}
	err = s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &row, `SELECT r.missing, r.counted_at,
			COALESCE((SELECT max(id) FROM history), 0) > COALESCE((SELECT up_to FROM checkpoints ORDER BY number DESC LIMIT 1), 0) AS waiting FROM checkpoint_reading r`)
	})
	if len(list) > 0 {
		out.Newest = &list[0]
	}
	out.Waiting, out.Missing, out.CountedAt = row.Waiting, row.Missing, row.Counted
	return out, err
}

// ListCheckpoints gives the newest checkpoints, the newest first.
func (s *Store) ListCheckpoints(ctx context.Context, limit int) ([]CheckpointSummary, error) {
	var out []CheckpointSummary
	err := s.read(ctx, func(q *sqlx.DB) error {
		out = nil
		return q.SelectContext(ctx, &out, `SELECT number, line, size, root, at, signer FROM checkpoints ORDER BY number DESC LIMIT $1`, limit)
	})
	return out, err
}

// CheckpointNotes gives the signed notes after a number, in order, for a file that lacks
// them.
func (s *Store) CheckpointNotes(ctx context.Context, after int64, limit int) ([][]byte, error) {
	var notes []string
	err := s.read(ctx, func(q *sqlx.DB) error {
		notes = nil
		return q.SelectContext(ctx, &notes, `SELECT note FROM checkpoints WHERE number > $1 ORDER BY number LIMIT $2`, after, limit)
	})
	out := make([][]byte, len(notes))
	for i, n := range notes {
		out[i] = []byte(n)
	}
	return out, err
}

// Checkpointed is how a checkpoint that was published stands to the database.
type Checkpointed struct {
	Held bool // the database holds it
	// Left: a restored backup went on without it, and somebody has reconciled that.
	Left bool
	// NewestAt and NewestSize are of the newest checkpoint that the database holds.
	NewestAt   time.Time
	NewestSize int64
}

// FindCheckpoint looks for a published checkpoint in the database.
func (s *Store) FindCheckpoint(ctx context.Context, c checkpoint.Checkpoint) (Checkpointed, error) {
	var row struct {
		Held bool       `db:"held"`
		Left bool       `db:"left_behind"`
		At   *time.Time `db:"at"`
		Size int64      `db:"size"`
	}
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &row, `SELECT EXISTS (SELECT 1 FROM checkpoints WHERE number = $1 AND line = $2 AND root = $3) AS held,
			EXISTS (SELECT 1 FROM restores WHERE line > $2) AS left_behind, (SELECT at FROM checkpoints ORDER BY number DESC LIMIT 1) AS at,
			COALESCE((SELECT size FROM checkpoints ORDER BY number DESC LIMIT 1), 0) AS size`, c.Number, c.Line, c.Root[:])
	})
	return Checkpointed{Held: row.Held, Left: row.Left, NewestAt: timeOf(row.At), NewestSize: row.Size}, err
}

// countLogEvery is how often all entries are counted against the log.
const countLogEvery = 24 * time.Hour

const countLogSQL = `WITH c AS MATERIALIZED (SELECT COALESCE(range_agg(ids), '{}') AS ids, COALESCE(sum(count), 0) AS size FROM checkpoint_leaves),
	h AS (SELECT count(*) AS entries, count(*) FILTER (WHERE c.ids @> h.id) AS covered FROM history h, c WHERE h.id <= $1)
SELECT h.entries - h.covered AS uncovered, c.size - h.covered AS missing FROM h, c`

// CountLog compares, once a day, all entries with the log. One that slipped below what
// counts as settled is taken up by the next checkpoint; entries that are gone are
// counted. It returns how many are gone; holdpoint verify names them.
func (s *Store) CountLog(ctx context.Context) (missing int64, err error) {
	var r struct {
		UpTo    int64 `db:"up_to"`
		Missing int64 `db:"missing"`
		Due     bool  `db:"due"`
	}
	var row struct {
		Uncovered int64 `db:"uncovered"`
		Missing   int64 `db:"missing"`
	}
	err = s.read(ctx, func(q *sqlx.DB) error {
		if err := q.GetContext(ctx, &r, `SELECT r.missing, COALESCE((SELECT up_to FROM checkpoints ORDER BY number DESC LIMIT 1), 0) AS up_to,
			r.counted_at IS NULL OR r.counted_at < clock_timestamp() - make_interval(secs => $1) AS due FROM checkpoint_reading r`, countLogEvery.Seconds()); err != nil || !r.Due {
			return err
		}
		return q.GetContext(ctx, &row, countLogSQL, r.UpTo)
	})
	if err != nil || !r.Due {
		return r.Missing, err
	}
	return row.Missing, s.write(ctx, func(t *tx) error {
		return t.one(`UPDATE checkpoint_reading SET counted_at = clock_timestamp(), missing = GREATEST($1, 0),
			settled = CASE WHEN $2 > 0 THEN 0 ELSE settled END, horizon = CASE WHEN $2 > 0 THEN 0 ELSE horizon END`, row.Missing, row.Uncovered)
	})
}
