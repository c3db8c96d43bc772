package store

import (
	"context"
	"database/sql"

	"holdpoint/operation"
)

// SetSingleKeys says whether single keys act for a person on pages; each person sets
// their own.
func (s *Store) SetSingleKeys(ctx context.Context, a Actor, on bool) error {
	if a.UserID() == "" {
		return operation.Refuse(operation.CodeNotEntitled)
	}
	return s.write(ctx, func(t *tx) error {
		n, err := t.exec(`UPDATE users SET single_keys = $2 WHERE id = $1 AND active`, a.ID, on)
		if err == nil && n == 0 {
			err = sql.ErrNoRows
		}
		return err
	})
}
