package store

import (
	"context"
	"crypto/sha256"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// MaxSuppressionFile is how many bytes a file of addresses may have.
const MaxSuppressionFile = 8 << 20

// suppressionFileKept is for how long a file waits for its import.
const suppressionFileKept = 24 * time.Hour

// SuppressionFile is a file of addresses that a person looks at before its import.
type SuppressionFile struct {
	ID   string    `db:"id"` // "suf_…"
	Name string    `db:"name"`
	Body []byte    `db:"body"`
	Hash []byte    `db:"file_hash"` // SHA-256 of Body
	At   time.Time `db:"created_at"`
}

// HashHex is the hash as the history names it.
func (f SuppressionFile) HashHex() string { return hexOf(f.Hash) }

// StageSuppressions keeps a file until its person has looked at it. The same form gives the
// same file. Files that nobody looked at for a day go.
func (s *Store) StageSuppressions(ctx context.Context, a Actor, formID, name string, body []byte) (string, error) {
	id := newID("suf")
	err := s.write(ctx, func(t *tx) error {
		if err := t.maySuppress(a); err != nil {
			return err
		}
		now, err := t.clock()
		if err != nil {
			return err
		}
		if _, err := t.exec(`DELETE FROM suppression_files WHERE created_at < $1`, now.Add(-suppressionFileKept)); err != nil {
			return err
		}
		sum := sha256.Sum256(body)
		n, err := t.exec(`INSERT INTO suppression_files (id, user_id, form_id, name, body, file_hash, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (user_id, form_id) DO NOTHING`,
			id, a.ID, formID, shown(name, 200), body, sum[:], now)
		if err != nil || n > 0 {
			return err
		}
		return t.get(&id, `SELECT id FROM suppression_files WHERE user_id = $1 AND form_id = $2`, a.ID, formID)
	})
	return id, err
}

// FindSuppressionFile reads a file that its person has staged; others do not find it.
func (s *Store) FindSuppressionFile(ctx context.Context, a Actor, id string) (f SuppressionFile, err error) {
	if !operation.ValidID("suf", id) {
		return f, ErrNotFound
	}
	err = s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &f, `SELECT id, name, body, file_hash, created_at FROM suppression_files WHERE id = $1 AND user_id = $2`, id, a.ID)
	})
	return f, mapError(err)
}

// DropSuppressionFile lets a file go.
func (s *Store) DropSuppressionFile(ctx context.Context, a Actor, id string) error {
	return s.write(ctx, func(t *tx) error {
		_, err := t.exec(`DELETE FROM suppression_files WHERE id = $1 AND user_id = $2`, id, a.ID)
		return err
	})
}
