// Package storetest gives tests a real PostgreSQL: a fresh database with the
// current schema in a few hundredths of a second, and a proxy that cuts the
// connection to it at a chosen point.
//
// The server is the one that HOLDPOINT_TEST_DATABASE_URL names (a superuser's
// address; `make test` starts one for all packages), else one that this process
// starts for itself.
//
// It may import operation, store, migrations and store/pglocal of ours. Only tests
// import it.
package storetest

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lib/pq"

	"holdpoint/store/pglocal"
)

// URLVariable names the environment variable with the address, as superuser, of
// a server that holds nothing but test databases.
const URLVariable = "HOLDPOINT_TEST_DATABASE_URL"

// The roles that own and that use a test database, named as in production.
const (
	ownerRole = "holdpoint_owner"
	appRole   = "holdpoint_app"
)

// server is this process's connection to the test server.
type server struct {
	url   *url.URL
	admin *sql.DB
	own   *pglocal.Server // nil when another process runs it
	// late: databases are dropped when the package's tests have ended, see drop.
	late bool

	mu   sync.Mutex
	left []string // the databases to drop late
}

var (
	serverMu  sync.Mutex
	theServer *server
)

// Run runs a package's tests and stops the server that they started, if any:
//
//	func TestMain(m *testing.M) { os.Exit(storetest.Run(m)) }
//
// Without it the server ends with the process, but its folder stays until a
// later test run removes it.
func Run(m *testing.M) int {
	code := m.Run()
	serverMu.Lock()
	defer serverMu.Unlock()
	if theServer == nil {
		return code
	}
	if err := theServer.dropLeft(); err != nil {
		fmt.Fprintln(os.Stderr, "storetest:", err)
	}
	theServer.admin.Close()
	if theServer.own != nil {
		if err := theServer.own.Stop(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, "storetest:", err)
		}
	}
	theServer = nil
	return code
}

// AdminURL is the superuser's address of the test server, for tests that need
// to look at or disturb other sessions.
func AdminURL(t testing.TB) string {
	t.Helper()
	return connect(t).url.String()
}

// NewDB makes a database with the current schema, which is gone after the test (or,
// beside a throw-away server on a disk, after the package's tests). ownerURL connects as the role that owns the schema, appURL as the role
// that the application uses.
func NewDB(t testing.TB) (ownerURL, appURL string) {
	t.Helper()
	return newDB(t, currentSchema())
}

func newDB(t testing.TB, s schema) (ownerURL, appURL string) {
	t.Helper()
	srv := connect(t)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	template, err := srv.template(ctx, s)
	if err != nil {
		t.Fatalf("storetest: %v", err)
	}
	return srv.copyOf(ctx, t, template)
}

// copyOf makes a database from a template. The files are copied as they are: sending
// them through the log costs twice as much.
func (s *server) copyOf(ctx context.Context, t testing.TB, template string) (ownerURL, appURL string) {
	t.Helper()
	name := "hp_test_" + strings.ToLower(rand.Text()[:16])
	_, err := s.admin.ExecContext(ctx, fmt.Sprintf(`CREATE DATABASE %s TEMPLATE %s OWNER %s STRATEGY file_copy`,
		name, template, ownerRole))
	if err != nil {
		t.Fatalf("storetest: copy the template: %v", err)
	}
	t.Cleanup(func() { s.drop(t, name) })
	if err := pglocal.RestrictDatabase(ctx, s.admin, name, appRole); err != nil {
		t.Fatalf("storetest: %v", err)
	}
	return s.address(ownerRole, name), s.address(appRole, name)
}

// drop removes a test's database. On a disk that waits for the end of the package's
// tests: ext4 makes the files of the next database many times more slowly while it
// remembers that those of this one were just deleted.
func (s *server) drop(t testing.TB, name string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var err error
	if s.late {
		s.mu.Lock()
		s.left = append(s.left, name)
		s.mu.Unlock()
		_, err = s.admin.ExecContext(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1`, name)
	} else {
		err = s.dropNow(ctx, name)
	}
	if err != nil {
		t.Errorf("storetest: drop %s: %v", name, err)
	}
}

func (s *server) dropNow(ctx context.Context, name string) error {
	_, err := s.admin.ExecContext(ctx, `DROP DATABASE IF EXISTS `+name+` WITH (FORCE)`)
	return err
}

// dropLeft drops what was left, unless the server's folder goes anyway.
func (s *server) dropLeft() error {
	if s.own != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	var errs []error
	for _, name := range s.left {
		errs = append(errs, s.dropNow(ctx, name))
	}
	return errors.Join(errs...)
}

// connect returns the process's server; the first caller finds or starts it.
func connect(t testing.TB) *server {
	t.Helper()
	serverMu.Lock()
	defer serverMu.Unlock()
	if theServer != nil {
		return theServer
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	srv, err := open(ctx, os.Getenv(URLVariable))
	if err != nil {
		t.Fatalf("storetest: %v", err)
	}
	theServer = srv
	return srv
}

func open(ctx context.Context, address string) (*server, error) {
	srv := &server{}
	if address == "" {
		own, err := pglocal.Start(ctx, pglocal.Config{Volatile: true})
		if err != nil {
			return nil, err
		}
		srv.own, address = own, own.AdminURL()
	}
	var err error
	if srv.url, err = url.Parse(address); err != nil || srv.url.User == nil {
		return nil, fmt.Errorf("%s must be a postgres:// address with user and password", URLVariable)
	}
	connector, err := pq.NewConnector(address)
	if err != nil {
		return nil, err
	}
	srv.admin = sql.OpenDB(connector)
	srv.admin.SetMaxOpenConns(4)
	var data string
	if err := srv.admin.QueryRowContext(ctx, `SHOW data_directory`).Scan(&data); err != nil {
		return nil, fmt.Errorf("reach the test server: %w", err)
	}
	srv.late = pglocal.OnDisk(data)
	return srv, srv.locked(ctx, srv.ensureRoles)
}

// locked runs fn while no other test process prepares the same server.
func (s *server) locked(ctx context.Context, fn func(context.Context) error) (err error) {
	conn, err := s.admin.Conn(ctx)
	if err != nil {
		return fmt.Errorf("reach the test server: %w", err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock(hashtext('holdpoint storetest'))`); err != nil {
		return err
	}
	defer func() {
		_, unlock := conn.ExecContext(context.Background(), `SELECT pg_advisory_unlock(hashtext('holdpoint storetest'))`)
		err = errors.Join(err, unlock)
	}()
	return fn(ctx)
}

func (s *server) ensureRoles(ctx context.Context) error {
	for _, role := range []string{ownerRole, appRole} {
		if err := pglocal.EnsureRole(ctx, s.admin, role, s.password(role)); err != nil {
			return err
		}
		err := ping(ctx, s.address(role, strings.TrimPrefix(s.url.Path, "/")))
		var refused *pq.Error
		if err == nil || !errors.As(err, &refused) || refused.Code.Class() != "28" {
			continue // it may log in, or the password is not what stands in the way
		}
		_, err = s.admin.ExecContext(ctx, `ALTER ROLE `+role+` LOGIN PASSWORD `+pq.QuoteLiteral(s.password(role)))
		if err != nil {
			return fmt.Errorf("set the test password of %s: %w", role, err)
		}
	}
	return nil
}

func ping(ctx context.Context, address string) error {
	db, err := sql.Open("postgres", address)
	if err != nil {
		return err
	}
	defer db.Close()
	return db.PingContext(ctx)
}

// password is the same in every test process of one server.
func (s *server) password(role string) string {
	secret, _ := s.url.User.Password()
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("holdpoint storetest " + role))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

func (s *server) address(role, db string) string {
	u := *s.url
	u.User = url.UserPassword(role, s.password(role))
	u.Path = "/" + db
	return u.String()
}
