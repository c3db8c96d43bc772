package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// Bounds of a list that is handed in.
const (
	MaxListBytes = 64 << 20       // of the file, as it comes
	ListKept     = 24 * time.Hour // how long a list stays that nobody makes a batch of
	listSlice    = 1 << 20        // bytes of one slice
)

// ListFile is a list that was handed in for a stage that fans out. It is kept in slices
// until a batch is made of it, it is dropped, or ListKept is over.
type ListFile struct {
	ID        operation.ListID    `db:"id"`
	Flow      string              `db:"flow"`
	Stage     string              `db:"stage"`
	Batch     operation.BatchID   `db:"batch_id"` // whose list it is to replace; "" = a new one
	ActorKind operation.ActorKind `db:"actor_kind"`
	ActorID   string              `db:"actor_id"`
	Name      string              `db:"name"` // of the file
	Kind      ListKind            `db:"kind"`
	Hash      []byte              `db:"file_hash"` // SHA-256 of the bytes as they came
	Size      int64               `db:"size"`
	Encoding  string              `db:"encoding"`  // of a CSV file
	Separator string              `db:"separator"` // of a CSV file
	Mapping   string              `db:"columns"`
	Typed     string              `db:"inputs"`
	Texts     string              `db:"shared"`
	Judged    string              `db:"judged"`
	Rev       int                 `db:"rev"`
	Made      operation.BatchID   `db:"made"` // the batch that came of it; "" = none
	At        time.Time           `db:"created_at"`
	EndedAt   *time.Time          `db:"ended_at"`
}

// ListKind says how a list is written.
type ListKind string

// The kinds of lists.
const (
	ListCSV     ListKind = "csv"
	ListJSON    ListKind = "json"    // an array
	ListLines   ListKind = "jsonl"   // one value a line
	ListRequest ListKind = "request" // a request of the API, whose last member holds the list
)

// Columns maps the fields of an entry to columns, from 1. It is empty for JSON.
func (l ListFile) Columns() map[string]int { return textMap[int](l.Mapping) }

// Inputs are the flow's other inputs by path, as they were typed.
func (l ListFile) Inputs() map[string]string { return textMap[string](l.Typed) }

// Shared is the text that all items share, by its place in the content.
func (l ListFile) Shared() map[string]string { return textMap[string](l.Texts) }

func textMap[T any](text string) map[string]T {
	out := map[string]T{}
	_ = json.Unmarshal([]byte(text), &out)
	return out
}

const listColumns = `id, flow, stage, COALESCE(batch_id, '') AS batch_id, actor_kind, actor_id, name, kind, file_hash, size, encoding, separator, columns, inputs, shared, judged, rev,
	COALESCE(made, '') AS made, created_at, ended_at`

// FindList gives a list to the person or the token that handed it in, and without its
// findings to whoever sees the flow. One that has not come whole is not found.
func (s *Store) FindList(ctx context.Context, viewer Actor, id operation.ListID) (ListFile, error) {
	var out ListFile
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &out, `SELECT `+listColumns+` FROM list_files WHERE id = $1 AND file_hash IS NOT NULL`, string(id))
	})
	if err != nil {
		return ListFile{}, err
	}
	if viewer.Kind == operation.ActorToken {
		if viewer.ID != out.ActorID {
			return ListFile{}, ErrNotFound
		}
		return out, nil
	}
	v, err := s.FindViewer(ctx, viewer)
	if err == nil && !v.Sees(out.Flow, "") {
		err = ErrNotFound
	}
	if out.ActorID != viewer.ID {
		out.Judged, out.Texts, out.Typed = "", "{}", "{}"
	}
	return out, err
}

// ListsOf gives the newest lists of a flow that have come whole.
func (s *Store) ListsOf(ctx context.Context, flow string, limit int) ([]ListFile, error) {
	var out []ListFile
	err := s.read(ctx, func(q *sqlx.DB) error {
		out = nil
		return q.SelectContext(ctx, &out, `SELECT id, flow, stage, COALESCE(batch_id, '') AS batch_id, actor_kind, actor_id, name, kind, file_hash, size, encoding, separator,
			'{}' AS columns, '{}' AS inputs, '{}' AS shared, '' AS judged, rev, COALESCE(made, '') AS made, created_at, ended_at
			FROM list_files WHERE flow = $1 AND file_hash IS NOT NULL AND kind <> 'request' ORDER BY created_at DESC, id DESC LIMIT $2`, flow, limit)
	})
	return out, err
}

// BatchesOfFile gives the batches that were made of the same bytes in a flow before, the
// newest first.
func (s *Store) BatchesOfFile(ctx context.Context, l ListFile) ([]operation.BatchID, error) {
	var out []operation.BatchID
	err := s.read(ctx, func(q *sqlx.DB) error {
		out = nil
		return q.SelectContext(ctx, &out, `SELECT DISTINCT ON (x.made) x.made FROM list_files x WHERE x.flow = $1 AND x.file_hash = $2 AND x.made IS NOT NULL AND x.stage = $3 ORDER BY x.made DESC LIMIT 5`,
			l.Flow, l.Hash, l.Stage)
	})
	return out, err
}

// ErrListEnded is a list whose bytes are gone: a batch was made of it, or it was dropped.
var ErrListEnded = fmt.Errorf("the list has ended: %w", ErrNotFound)

// ListBytes reads a list slice by slice: never more than one of them is in memory. The
// reader fails with ErrListEnded once the list has ended.
func (s *Store) ListBytes(ctx context.Context, l ListFile) io.Reader {
	return &sliceReader{ctx: ctx, s: s, id: string(l.ID), left: l.Size}
}

type sliceReader struct {
	ctx  context.Context
	s    *Store
	id   string
	no   int
	data []byte
	left int64
}

// Read gives what is left of the slice, or reads the next one.
func (r *sliceReader) Read(p []byte) (int, error) {
	if len(r.data) == 0 {
		if r.left == 0 {
			return 0, io.EOF
		}
		err := r.s.read(r.ctx, func(q *sqlx.DB) error {
			return q.GetContext(r.ctx, &r.data, `SELECT data FROM list_slices WHERE list_id = $1 AND no = $2`, r.id, r.no)
		})
		if errors.Is(err, ErrNotFound) {
			return 0, ErrListEnded
		}
		if err != nil {
			return 0, err
		}
		r.no++
		r.left -= int64(len(r.data))
	}
	n := copy(p, r.data)
	r.data = r.data[n:]
	return n, nil
}
