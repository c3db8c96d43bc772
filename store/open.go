package store

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"holdpoint/operation/definition"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
)

// Store is the record. It is safe for concurrent use.
type Store struct {
	db     *sqlx.DB
	url    string
	secret []byte // of the installation: operation IDs are derived with it
	river  *river.Client[*sql.Tx]
	stmts  statements
	kinds  kindsKnown
	defs   definitions
	nudges nudger
	log    *slog.Logger
	// LeaseDefault is used where a profile names no lease.
	hasher   chan struct{}
	hashWait time.Duration
	confirm  time.Duration
	zone     *time.Location // of the installation
	// sweptEpoch is the epoch of rights by which SweepBatches last looked at all of them.
	sweptEpoch atomic.Int64
}

// Config opens a Store.
type Config struct {
	URL      string // of the application role
	Secret   []byte // 32 bytes or more from the key file
	MaxConns int    // 0 = 12: more do not help on few cores (PERFORMANCE)
	Log      *slog.Logger
	// ConfirmAfter is how long after a proof of the person a session may decide about
	// re-executions and change access; 0 = DefaultConfirmAfter.
	ConfirmAfter time.Duration
	// Zone is the installation's, in which its weeks and months begin; nil = UTC.
	Zone *time.Location
	// HashWait is how long a sign-in waits for its turn to be hashed; 0 = 4 s.
	HashWait time.Duration
}

// Open connects, checks the schema and the key, and prepares the insert-only job client.
func Open(ctx context.Context, c Config) (*Store, error) {
	if len(c.Secret) < 32 {
		return nil, fmt.Errorf("the installation's secret has %d bytes; at least 32 are needed", len(c.Secret))
	}
	db, err := connect(c.URL)
	if err != nil {
		return nil, err
	}
	n := c.MaxConns
	if n == 0 {
		n = 12
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	db.SetConnMaxLifetime(30 * time.Minute) // FC-32: no connection is trusted for ever
	db.SetConnMaxIdleTime(2 * time.Minute)
	s := &Store{db: db, url: c.URL, secret: c.Secret, log: c.Log, stmts: statements{all: map[string]*sqlx.Stmt{}},
		defs: definitions{flows: map[string]*definition.Flow{}, profiles: map[string]*definition.Profile{}, sources: map[string]*definition.Source{}}, hasher: make(chan struct{}, 2),
		hashWait: cmp.Or(c.HashWait, 4*time.Second), confirm: cmp.Or(c.ConfirmAfter, DefaultConfirmAfter), zone: cmp.Or(c.Zone, time.UTC)}
	if s.log == nil {
		s.log = slog.Default()
	}
	if err := s.checkSchema(ctx); err != nil {
		_ = db.Close()
		return nil, err
	}
	if err := s.install(ctx); err != nil {
		_ = db.Close()
		return nil, err
	}
	s.river, err = river.NewClient(riverdatabasesql.New(db.DB), &river.Config{Logger: slog.New(slog.DiscardHandler), FetchCooldown: time.Millisecond})
	if err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("job client: %w", err)
	}
	s.startNudger()
	return s, nil
}

// connect opens guarded connections with limits on every wait. Plans are generic: the
// gate's statements are found by keys, whatever their parameters, and planning them
// anew costs more than running them. None is worth the start of parallel workers.
func connect(raw string) (*sqlx.DB, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("database address: %w", err)
	}
	q := u.Query()
	for k, v := range map[string]string{"lock_timeout": "10000", "idle_in_transaction_session_timeout": "60000", "statement_timeout": "60000", "TimeZone": "UTC", "plan_cache_mode": "force_generic_plan", "jit": "off", "max_parallel_workers_per_gather": "0"} {
		if q.Get(k) == "" {
			q.Set(k, v)
		}
	}
	if q.Get("connect_timeout") == "" {
		q.Set("connect_timeout", "10")
	}
	u.RawQuery = q.Encode()
	pc, err := pq.NewConnector(u.String())
	if err != nil {
		return nil, fmt.Errorf("database address: %w", err)
	}
	return sqlx.NewDb(sql.OpenDB(guardConnector{pc}), "postgres"), nil
}

// Close closes all connections.
func (s *Store) Close() error {
	s.nudges.cancel()
	return s.db.Close()
}

// DB gives the guarded pool to the job engine. Nothing else may write through it.
func (s *Store) DB() *sql.DB { return s.db.DB }

// URL is the address that this store is connected to, for listeners.
func (s *Store) URL() string { return s.url }

// Check runs a parameterised query: a ping does not notice a connection on which
// ordinary statements fail (FC-32).
func (s *Store) Check(ctx context.Context) error {
	var n int
	return s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &n, `SELECT CAST($1 AS int) + epoch FROM installation`, 1)
	})
}

// install writes the installation row once and refuses a key file that is not its own.
func (s *Store) install(ctx context.Context) error {
	m := hmac.New(sha256.New, s.secret)
	m.Write([]byte("holdpoint/key-check/1"))
	check := m.Sum(nil)
	err := s.write(ctx, func(t *tx) error {
		_, err := t.exec(`INSERT INTO installation (id, key_check) VALUES ($1, $2) ON CONFLICT DO NOTHING`, newID("ins"), check)
		return err
	})
	if err != nil {
		return err
	}
	var have []byte
	if err := s.db.GetContext(ctx, &have, `SELECT key_check FROM installation`); err != nil {
		return err
	}
	if !hmac.Equal(have, check) {
		return fmt.Errorf("this key file does not belong to this database: operation IDs would change. Restore the key file that was in use (HOLDPOINT_KEY_FILE)")
	}
	return nil
}

// definitions caches parsed definitions by name and version; versions never change.
type definitions struct {
	mu       sync.RWMutex
	epoch    int64 // of now
	now      current
	flows    map[string]*definition.Flow
	profiles map[string]*definition.Profile
	sources  map[string]*definition.Source
	named    map[string]named // flows with their named people resolved, by name and version

	persons   persons // accounts of one natural person
	personsAt int64   // the epoch of which they are
}
