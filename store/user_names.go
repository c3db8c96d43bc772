package store

import (
	"context"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// NamesByEmail gives the names of the people behind addresses, by the address in lower
// case; nobody has an address that is left out. Flows name people by address.
func (s *Store) NamesByEmail(ctx context.Context, emails []string) (map[string]string, error) {
	names := map[string]string{}
	if len(emails) == 0 {
		return names, nil
	}
	lower := make([]string, len(emails))
	for i, e := range emails {
		lower[i] = strings.ToLower(e)
	}
	var rows []struct {
		Email string `db:"email"`
		Name  string `db:"name"`
	}
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.SelectContext(ctx, &rows, `SELECT email, name FROM users WHERE email = ANY($1)`, pq.Array(lower))
	})
	for _, r := range rows {
		names[r.Email] = r.Name
	}
	return names, err
}
