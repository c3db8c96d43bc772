package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// IsInstalled reports whether a database holds an installation, which is bound to its
// key file for ever. An empty database, or one without our schema, holds none.
func IsInstalled(ctx context.Context, address string) (bool, error) {
	db, err := connect(address)
	if err != nil {
		return false, err
	}
	defer db.Close()
	var n int
	err = db.GetContext(ctx, &n, `SELECT count(*) FROM installation`)
	var p *pq.Error
	if errors.As(err, &p) && p.Code == "42P01" { // undefined_table
		return false, nil
	}
	return n > 0, err
}

// Ready is Check, and that the schema is still the one that this program speaks.
func (s *Store) Ready(ctx context.Context) error {
	if err := s.Check(ctx); err != nil {
		return err
	}
	return s.checkSchema(ctx)
}

// OwnsRecord reports that the application's role may change history: it is the owner
// too, so nothing but triggers guards what is append-only.
func (s *Store) OwnsRecord(ctx context.Context) (bool, error) {
	var owns sql.NullBool
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &owns, `SELECT has_table_privilege(current_user, CAST($1 AS text), 'UPDATE')`, "history")
	})
	return owns.Bool, err
}
