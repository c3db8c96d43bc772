package pglocal

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/lib/pq"
)

// provision creates the roles and the database when they are missing.
func (s *Server) provision(ctx context.Context) error {
	admin, err := sql.Open("postgres", s.AdminURL())
	if err != nil {
		return err
	}
	defer admin.Close()
	if err := EnsureRole(ctx, admin, s.cfg.Owner, s.passwords.Owner); err != nil {
		return err
	}
	if err := EnsureRole(ctx, admin, s.cfg.AppRole, s.passwords.App); err != nil {
		return err
	}
	return EnsureDatabase(ctx, admin, s.cfg.Database, s.cfg.Owner, s.cfg.AppRole)
}

// EnsureRole creates a role that may log in and nothing else. An existing role
// is left as it is. admin must be a superuser's connection.
func EnsureRole(ctx context.Context, admin *sql.DB, role, password string) error {
	var exists bool
	err := admin.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)`, role).Scan(&exists)
	if err != nil {
		return fmt.Errorf("look for the role %s: %w", role, err)
	}
	if exists {
		return nil
	}
	_, err = admin.ExecContext(ctx, fmt.Sprintf(
		`CREATE ROLE %s LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION PASSWORD %s`,
		pq.QuoteIdentifier(role), pq.QuoteLiteral(password)))
	if err != nil {
		return fmt.Errorf("create the role %s: %w", role, err)
	}
	return nil
}

// EnsureDatabase creates a database that owner owns and that, besides owner,
// only app may enter. An existing database keeps its content.
func EnsureDatabase(ctx context.Context, admin *sql.DB, name, owner, app string) error {
	var exists bool
	err := admin.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, name).Scan(&exists)
	if err != nil {
		return fmt.Errorf("look for the database %s: %w", name, err)
	}
	if !exists {
		_, err := admin.ExecContext(ctx, fmt.Sprintf(`CREATE DATABASE %s OWNER %s`,
			pq.QuoteIdentifier(name), pq.QuoteIdentifier(owner)))
		if err != nil {
			return fmt.Errorf("create the database %s: %w", name, err)
		}
	}
	return RestrictDatabase(ctx, admin, name, app)
}

// RestrictDatabase keeps everybody but the owner and app out of a database. A
// copy of a template does not inherit this: it must be said for each database.
func RestrictDatabase(ctx context.Context, admin *sql.DB, name, app string) error {
	_, err := admin.ExecContext(ctx, fmt.Sprintf(
		`REVOKE ALL ON DATABASE %[1]s FROM PUBLIC; GRANT CONNECT ON DATABASE %[1]s TO %[2]s`,
		pq.QuoteIdentifier(name), pq.QuoteIdentifier(app)))
	if err != nil {
		return fmt.Errorf("restrict the database %s: %w", name, err)
	}
	return nil
}
