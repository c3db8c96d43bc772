// Package pglocal starts and stops a private PostgreSQL server from the
// binaries found on the machine, for `holdpoint serve` without DATABASE_URL,
// for drills and benchmarks, and for tests.
//
// The server listens on 127.0.0.1 only, asks for SCRAM passwords that are made
// at random on the first start, and ends with the process that started it.
//
// It may import the standard library and lib/pq, nothing of ours.
package pglocal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// Config says what to start. The zero value is a durable throw-away server on
// a free port.
type Config struct {
	// Dir holds the database, its passwords and its log. It is created when
	// missing. Empty means a throw-away folder that Stop removes.
	Dir string
	// Port on 127.0.0.1; 0 takes a free one.
	Port int
	// Database, Owner and AppRole are created when missing. Empty means
	// "holdpoint", "holdpoint_owner" and "holdpoint_app".
	Database, Owner, AppRole string
	// Volatile trades durability for speed: a crash of the machine may lose
	// everything, and a throw-away folder lies in memory where there is room. For
	// tests only.
	Volatile bool
	// Log receives the server's log besides the file server.log in Dir; may be nil.
	Log io.Writer
	// Settings are further server parameters and win over the built-in ones.
	Settings map[string]string
}

// Errors that a caller may want to tell apart with errors.Is.
var (
	// ErrRunning: a server already uses this folder.
	ErrRunning = errors.New("a PostgreSQL server already runs in this folder")
	// ErrNoBinaries: PostgreSQL's server programs are not on this machine.
	ErrNoBinaries = errors.New("PostgreSQL's server programs were not found on this machine")
	// ErrPortTaken: something else listens on Config.Port.
	ErrPortTaken = errors.New("the PostgreSQL port is taken")
)

// Server is a running private PostgreSQL. Its methods may be called from any
// goroutine.
type Server struct {
	cfg       Config
	bin       string
	account   *account
	layout    layout
	passwords passwords
	lock      *os.File
	throwAway bool

	mu   sync.Mutex
	port int
	proc *process
}

// DefaultDir is where the private PostgreSQL of a data folder lives: inside it
// for ordinary users; for root in /var/lib/holdpoint/<hash of the folder's
// path>, because the account that runs the server cannot enter root's home.
func DefaultDir(data string) (string, error) {
	abs, err := filepath.Abs(data)
	if err != nil {
		return "", fmt.Errorf("locate the data folder: %w", err)
	}
	if os.Geteuid() != 0 {
		return filepath.Join(abs, "postgres"), nil
	}
	return filepath.Join("/var/lib/holdpoint", shortHash(abs)), nil
}

// Start starts the server, waits until it answers, and creates the database
// and both roles when they are missing. The server ends with this process; end
// it earlier with Stop.
func Start(ctx context.Context, cfg Config) (_ *Server, err error) {
	cfg = cfg.withDefaults()
	bin, err := findBinaries()
	if err != nil {
		return nil, err
	}
	acc, err := serverAccount()
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, bin: bin, account: acc, throwAway: cfg.Dir == ""}
	defer func() {
		if err != nil {
			s.release()
		}
	}()
	if s.throwAway {
		s.layout, s.lock, err = newThrowAway(acc, cfg.Volatile)
	} else {
		s.layout, s.lock, err = openLayout(cfg.Dir, acc)
	}
	if err != nil {
		return nil, err
	}
	if s.passwords, err = loadPasswords(s.layout); err != nil {
		return nil, err
	}
	if err = s.layout.awaitLeftovers(ctx); err != nil {
		return nil, err
	}
	if err = s.initCluster(ctx); err != nil {
		return nil, err
	}
	if err = s.launch(ctx, cfg.Port); err != nil {
		return nil, err
	}
	if err = s.provision(ctx); err != nil {
		s.Kill()
		return nil, err
	}
	return s, nil
}

func (c Config) withDefaults() Config {
	if c.Database == "" {
		c.Database = "holdpoint"
	}
	if c.Owner == "" {
		c.Owner = "holdpoint_owner"
	}
	if c.AppRole == "" {
		c.AppRole = "holdpoint_app"
	}
	return c
}

// Dir is the folder that holds the database.
func (s *Server) Dir() string { return s.layout.dir }

// BinDir is the folder of the PostgreSQL programs in use (psql, pgbench, …).
func (s *Server) BinDir() string { return s.bin }

// SocketDir is the folder of the server's Unix socket.
func (s *Server) SocketDir() string { return s.layout.socket }

// Port is the TCP port on 127.0.0.1. Restart keeps it.
func (s *Server) Port() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.port
}

// Done is closed when the server process that runs now has ended, for whatever
// reason.
func (s *Server) Done() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proc.done
}

// OwnerURL connects to db as the role that owns the schema; an empty db means
// Config.Database.
func (s *Server) OwnerURL(db string) string { return s.url(s.cfg.Owner, s.passwords.Owner, db) }

// AppURL connects to db as the application's role; an empty db means
// Config.Database.
func (s *Server) AppURL(db string) string { return s.url(s.cfg.AppRole, s.passwords.App, db) }

// AdminURL connects to the maintenance database as the superuser.
func (s *Server) AdminURL() string { return s.url(superuser, s.passwords.Admin, "postgres") }

func (s *Server) url(role, password, db string) string {
	if db == "" {
		db = s.cfg.Database
	}
	return connectionURL(role, password, s.Port(), db)
}

func connectionURL(role, password string, port int, db string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(role, password),
		Host:     "127.0.0.1:" + strconv.Itoa(port),
		Path:     "/" + db,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Stop ends the server: connections are closed, what is committed is written
// out. When ctx ends first, or after a minute, it is ended at once and recovers
// on its next start. A throw-away folder is removed.
func (s *Server) Stop(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.proc.stop(ctx, time.Minute)
	s.release()
	return err
}

// Kill ends the server and all its processes with SIGKILL, as a crash would.
// Restart brings it back; Stop then releases the folder.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.proc.kill()
}

// Restart stops the server if it runs and starts it again on the same port.
func (s *Server) Restart(ctx context.Context) error {
	s.mu.Lock()
	port, proc := s.port, s.proc
	s.mu.Unlock()
	if err := proc.stop(ctx, time.Minute); err != nil {
		return err
	}
	if err := s.layout.awaitLeftovers(ctx); err != nil {
		return err
	}
	return s.launch(ctx, port)
}

// release gives up the folder. It may be called more than once.
func (s *Server) release() {
	s.layout.removeSocketDir()
	if s.throwAway && s.layout.dir != "" {
		os.RemoveAll(s.layout.dir)
	}
	if s.lock != nil {
		s.lock.Close()
		s.lock = nil
	}
}
