package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"

	"github.com/jmoiron/sqlx"
)

// NewList is a list that comes.
type NewList struct {
	Flow, Stage string            // the stage that fans out
	Batch       operation.BatchID // whose list it is to replace; "" = a new batch
	FormID      string            // of a token: its idempotency key. The same again is the same list
	Name        string            // of the file
	Request     bool              // a request of the API, not a file
}

// ErrListLarge is a list with more than MaxListBytes.
var ErrListLarge = errors.New("the list is too large")

// AddList keeps a list as it comes, slice by slice, for an author of the flow or a token.
// Nothing is made of it. What breaks off on the way leaves nothing that can be used. The
// same form with other bytes is refused (key_reused). ErrListLarge, and a
// *definition.TableError for an empty one.
func (s *Store) AddList(ctx context.Context, a Actor, n NewList, r io.Reader) (ListFile, error) {
	if n.FormID == "" {
		return ListFile{}, operation.Refuse(operation.CodeStaleRevision)
	}
	id := operation.ListID(newID("lst"))
	if err := s.beginList(ctx, a, id, n); err != nil {
		return ListFile{}, err
	}
	l, err := s.takeList(ctx, a, id, n, r)
	if err != nil || l.ID != id {
		// What was brought is let go of, also when the caller went away.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		err = errors.Join(err, s.write(ctx, func(t *tx) error { return t.endList(id, "") }))
	}
	return l, err
}

func (s *Store) beginList(ctx context.Context, a Actor, id operation.ListID, n NewList) error {
	return s.write(ctx, func(t *tx) error {
		if err := t.mayList(a, n.Flow); err != nil {
			return err
		}
		_, err := t.exec(`INSERT INTO list_files (id, flow, stage, batch_id, actor_kind, actor_id, form_id, name, kind, created_at) VALUES ($1, $2, $3, NULLIF($4, ''), $5, $6, $7, $8, '', clock_timestamp())`,
			string(id), n.Flow, n.Stage, string(n.Batch), string(a.Kind), a.ID, n.FormID, shown(n.Name, 200))
		return err
	})
}

// mayList lets authors of the flow and tokens with the scope hand lists in.
func (t *tx) mayList(a Actor, flow string) error {
	if a.Kind == operation.ActorToken && slices.Contains(a.Scopes, ScopeBatches) {
		return nil
	}
	return t.mayBe(a, flow, operation.RoleAuthor)
}

// takeList reads the bytes to their end and then says that the list is whole.
func (s *Store) takeList(ctx context.Context, a Actor, id operation.ListID, n NewList, r io.Reader) (ListFile, error) {
	sum, size, buf := sha256.New(), int64(0), make([]byte, listSlice)
	var head []byte
	for no := 0; ; no++ {
		got, err := io.ReadFull(r, buf)
		end := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !end {
			return ListFile{}, err
		}
		if size += int64(got); size > MaxListBytes {
			return ListFile{}, ErrListLarge
		}
		if got > 0 {
			sum.Write(buf[:got])
			if no == 0 {
				head = bytes.Clone(buf[:min(got, 4096)])
			}
			err := s.write(ctx, func(t *tx) error {
				_, err := t.exec(`INSERT INTO list_slices (list_id, no, data) VALUES ($1, $2, $3)`, string(id), no, buf[:got])
				return err
			})
			if err != nil {
				return ListFile{}, err
			}
		}
		if end {
			break
		}
	}
	if size == 0 {
		return ListFile{}, &definition.TableError{Code: "empty"}
	}
	kind := ListRequest
	if !n.Request {
		kind = listKind(head)
	}
	return s.wholeList(ctx, a, id, n, kind, sum.Sum(nil), size)
}

// wholeList says that a list has come whole, or gives the one that the same form brought.
// One that is let go of in between leaves its place to this one.
func (s *Store) wholeList(ctx context.Context, a Actor, id operation.ListID, n NewList, kind ListKind, hash []byte, size int64) (have ListFile, err error) {
	for range 5 {
		err = s.write(ctx, func(t *tx) error {
			return t.one(`UPDATE list_files SET file_hash = $2, size = $3, kind = $4 WHERE id = $1 AND ended_at IS NULL`, string(id), hash, size, string(kind))
		})
		if err == nil {
			return s.FindList(ctx, a, id)
		}
		if !violates(err, "list_files_once") {
			return ListFile{}, err
		}
		if have, err = s.sameForm(ctx, a, n, hash); !errors.Is(err, ErrNotFound) {
			return have, err
		}
	}
	return ListFile{}, operation.Refuse(operation.CodeLocked)
}

// sameForm gives the list that a form brought, if it is the same one.
func (s *Store) sameForm(ctx context.Context, a Actor, n NewList, hash []byte) (ListFile, error) {
	var have ListFile
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &have, `SELECT `+listColumns+` FROM list_files WHERE actor_id = $1 AND form_id = $2 AND file_hash IS NOT NULL AND (ended_at IS NULL OR made IS NOT NULL)`, a.ID, n.FormID)
	})
	if err == nil && (!bytes.Equal(have.Hash, hash) || have.Flow != n.Flow || have.Stage != n.Stage || have.Batch != n.Batch) {
		err = operation.Refuse(operation.CodeKeyReused, "key", n.FormID)
	}
	return have, err
}

// listKind tells JSON from CSV by the first character.
func listKind(head []byte) ListKind {
	switch head = bytes.TrimLeft(definition.StripBOM(head), " \t\r\n"); {
	case bytes.HasPrefix(head, []byte("[")):
		return ListJSON
	case bytes.HasPrefix(head, []byte("{")):
		return ListLines
	}
	return ListCSV
}

// endList lets go of a list's bytes. made is the batch that came of it; "" = none.
func (t *tx) endList(id operation.ListID, made operation.BatchID) error {
	if _, err := t.exec(`UPDATE list_files SET ended_at = clock_timestamp(), made = NULLIF($2, ''), judged = '' WHERE id = $1 AND ended_at IS NULL`, string(id), string(made)); err != nil {
		return err
	}
	_, err := t.exec(`DELETE FROM list_slices WHERE list_id = $1`, string(id))
	return err
}

// DropList lets go of a list of which no batch was made. Only whoever handed it in may.
func (s *Store) DropList(ctx context.Context, a Actor, id operation.ListID) error {
	return s.write(ctx, func(t *tx) error {
		l, err := t.lockList(a, id)
		if err != nil {
			return err
		}
		if l.EndedAt != nil {
			return errDone
		}
		return t.endList(id, "")
	})
}

// lockList locks a list for whoever handed it in.
func (t *tx) lockList(a Actor, id operation.ListID) (ListFile, error) {
	var l ListFile
	if err := t.get(&l, `SELECT `+listColumns+` FROM list_files WHERE id = $1 AND file_hash IS NOT NULL FOR UPDATE`, string(id)); err != nil {
		return l, err
	}
	if l.ActorID != a.ID || l.ActorKind != a.Kind {
		return l, ErrNotFound
	}
	return l, t.mayList(a, l.Flow)
}

// SweepLists lets go of lists that nobody made a batch of within ListKept. It returns how
// many.
func (s *Store) SweepLists(ctx context.Context) (int, error) {
	var ids []operation.ListID
	err := s.read(ctx, func(q *sqlx.DB) error {
		ids = nil
		return q.SelectContext(ctx, &ids, `SELECT id FROM list_files WHERE ended_at IS NULL AND created_at < clock_timestamp() - CAST($1 AS interval) ORDER BY created_at LIMIT 50`,
			fmt.Sprintf("%d seconds", int(ListKept/time.Second)))
	})
	for i, id := range ids {
		if err := s.write(ctx, func(t *tx) error { return t.endList(id, "") }); err != nil {
			return i, err
		}
	}
	return len(ids), err
}
