package store

import (
	"context"
	"errors"

	"github.com/lib/pq"
)

// SchemaVersion gives the version of a database's schema and how many migrations made
// it; zero for an empty database.
func SchemaVersion(ctx context.Context, address string) (version int64, migrations int, err error) {
	db, err := connect(address)
	if err != nil {
		return 0, 0, err
	}
	defer db.Close()
	var row struct {
		Version int64 `db:"version"`
		N       int   `db:"n"`
	}
	err = db.GetContext(ctx, &row, `SELECT COALESCE(max(version_id), 0) AS version, count(*) AS n FROM goose_db_version WHERE is_applied AND version_id > 0`)
	var p *pq.Error
	if errors.As(err, &p) && p.Code == "42P01" { // undefined_table
		return 0, 0, nil
	}
	return row.Version, row.N, err
}
