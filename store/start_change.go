package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// NewStart is a table that was handed in.
type NewStart struct {
	Flow   string
	FormID string // the same form twice is one table
	Name   string // of the file
	Body   []byte
}

// AddStart keeps a table for an author of the flow until they begin it, or for StartKept.
// Nothing begins by that. The error is a *definition.TableError where it is no table.
func (s *Store) AddStart(ctx context.Context, a Actor, n NewStart) (operation.StartID, error) {
	if n.FormID == "" {
		return "", operation.Refuse(operation.CodeStaleRevision)
	}
	f, src, err := s.startable(ctx, n.Flow)
	if err != nil {
		return "", err
	}
	table, err := definition.ReadTable(n.Body, "", "")
	if err != nil {
		return "", err
	}
	columns, err := jsonText(table.GuessColumns(f.InputFields()))
	if err != nil {
		return "", err
	}
	var id operation.StartID
	sum := sha256.Sum256(n.Body)
	err = s.write(ctx, func(t *tx) error {
		if err := t.mayBe(a, n.Flow, operation.RoleAuthor); err != nil {
			return err
		}
		id = operation.StartID(newID("sta"))
		return t.get(&id, `INSERT INTO starts AS s (id, source, flow, user_id, form_id, name, file_hash, encoding, separator, columns, rows, body, created_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, clock_timestamp())
			ON CONFLICT ON CONSTRAINT starts_once DO UPDATE SET rev = s.rev RETURNING id`,
			string(id), src.Name, n.Flow, a.ID, n.FormID, shown(n.Name, 200), sum[:], table.Encoding, table.Separator, columns, len(table.Rows), n.Body)
	})
	return id, err
}

// StartReading is how a table is to be read.
type StartReading struct {
	Encoding, Separator string
	Columns             map[string]int // input → column, from 1; without an entry the input stays empty
	KeyColumn           int            // 0 = file and row are the key
}

// SetStart changes how a table is read that has not begun. Only its author may.
func (s *Store) SetStart(ctx context.Context, a Actor, id operation.StartID, rev int, r StartReading) error {
	return s.changeStart(ctx, a, id, func(t *tx, st Start, f *definition.Flow) error {
		if st.Rev != rev || st.BegunAt != nil {
			return operation.Refuse(operation.CodeStaleRevision)
		}
		if !slices.Contains(definition.Encodings, r.Encoding) {
			return operation.Refuse(operation.CodeStaleRevision) // no form of ours offers it
		}
		if !slices.Contains(definition.Separators, r.Separator) {
			return operation.Refuse(operation.CodeStaleRevision)
		}
		table, err := definition.ReadTable(st.Body, r.Encoding, r.Separator)
		if err != nil {
			return err
		}
		columns := r.Columns
		if r.Encoding != st.Encoding || r.Separator != st.Separator { // the columns are others now
			columns, r.KeyColumn = table.GuessColumns(f.InputFields()), 0
		}
		for path, c := range columns {
			if c < 1 || c > len(table.Header) || !slices.ContainsFunc(f.InputFields(), func(x definition.InputField) bool { return x.Path == path }) {
				delete(columns, path)
			}
		}
		if r.KeyColumn < 0 || r.KeyColumn > len(table.Header) {
			r.KeyColumn = 0
		}
		text, err := json.Marshal(columns)
		if err != nil {
			return err
		}
		return t.one(`UPDATE starts SET encoding = $2, separator = $3, columns = $4, key_column = $5, rows = $6, rev = rev + 1 WHERE id = $1`,
			string(id), r.Encoding, r.Separator, string(text), r.KeyColumn, len(table.Rows))
	})
}

// BeginStart lets the rows of a table start runs, as it is read now. The same again is
// the same beginning. RunStart does the rows.
func (s *Store) BeginStart(ctx context.Context, a Actor, id operation.StartID, rev int) error {
	return s.changeStart(ctx, a, id, func(t *tx, st Start, f *definition.Flow) error {
		if st.BegunAt != nil {
			return errDone
		}
		if st.Rev != rev {
			return operation.Refuse(operation.CodeStaleRevision)
		}
		var now time.Time
		if err := t.get(&now, `UPDATE starts SET begun_at = clock_timestamp() WHERE id = $1 RETURNING begun_at`, string(id)); err != nil {
			return err
		}
		return t.enter(a, now.UTC().Truncate(time.Microsecond), operation.SubjectFlow, f.Name, "start_table", "", "start", string(id), "rows", strconv.Itoa(st.Rows), "hash", hex.EncodeToString(st.Hash))
	})
}

// DropStart removes a table that has not begun.
func (s *Store) DropStart(ctx context.Context, a Actor, id operation.StartID) error {
	return s.changeStart(ctx, a, id, func(t *tx, st Start, _ *definition.Flow) error {
		if st.EndedAt != nil {
			return errDone
		}
		if st.BegunAt != nil {
			return operation.Refuse(operation.CodeStaleRevision)
		}
		return t.one(`UPDATE starts SET body = NULL, ended_at = clock_timestamp() WHERE id = $1`, string(id))
	})
}

// changeStart locks a table for the author who handed it in. Whose body is gone takes no
// change.
func (s *Store) changeStart(ctx context.Context, a Actor, id operation.StartID, fn func(*tx, Start, *definition.Flow) error) error {
	return s.write(ctx, func(t *tx) error {
		var st Start
		if err := t.get(&st, `SELECT `+startColumns+` FROM starts WHERE id = $1 FOR UPDATE`, string(id)); err != nil {
			return err
		}
		if st.By != a.UserID() {
			return ErrNotFound
		}
		if err := t.mayBe(a, st.Flow, operation.RoleAuthor); err != nil {
			return err
		}
		if st.EndedAt != nil && st.BegunAt == nil {
			return operation.Refuse(operation.CodeClosed)
		}
		f, _, err := s.Flow(ctx, st.Flow)
		if err != nil {
			return err
		}
		return fn(t, st, f)
	})
}
