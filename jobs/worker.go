package jobs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"holdpoint/connector"
	"holdpoint/operation/definition"
	"holdpoint/store"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
)

// Config is what a Worker needs. Zero durations and counts take the defaults below.
type Config struct {
	Store *store.Store
	Log   *slog.Logger
	// Env gives the environment variables that profiles name; nil = os.LookupEnv.
	Env connector.Env
	// Connect makes the connector of a profile; nil = connector.New with Env.
	Connect func(*definition.Profile) (connector.Connector, error)
	// Name says in history and logs which process worked. It is made unique.
	Name string
	// Metrics receives the counters; nil = they are kept and not shown.
	Metrics prometheus.Registerer
	// Effects and Lookups are how many of each this process works on at once, over
	// all destinations. A destination's own limit is in its profile.
	Effects, Lookups int
	// Sweep is how often leases and due times are looked at.
	Sweep time.Duration
	// StopTimeout is how long Stop lets running requests finish.
	StopTimeout time.Duration
	// Poll is how often the queue is read when no notification comes.
	Poll time.Duration
	// PollOnly does without a listening connection.
	PollOnly bool
	// Notify tells people; nil = this process does not.
	Notify *Notify
	// Rehearse runs acceptances; nil = this process runs none.
	Rehearse Rehearse
	// Checkpoints ties the history to what lies outside the database; nil = chains only.
	Checkpoints *Checkpoints
}

// The defaults of Config.
const (
	DefaultEffects     = 32
	DefaultLookups     = 16
	DefaultSweep       = time.Second
	DefaultStopTimeout = 30 * time.Second
	DefaultPoll        = time.Second
)

// fetchCooldown bounds how often the queue is read under load (docs/decisions/0003).
const fetchCooldown = 5 * time.Millisecond

// lastWords is how long a stopping worker still tries to record an outcome.
const lastWords = 5 * time.Second

func (c Config) withDefaults() Config {
	orInt := func(n *int, d int) {
		if *n <= 0 {
			*n = d
		}
	}
	orDur := func(n *time.Duration, d time.Duration) {
		if *n <= 0 {
			*n = d
		}
	}
	orInt(&c.Effects, DefaultEffects)
	orInt(&c.Lookups, DefaultLookups)
	orDur(&c.Sweep, DefaultSweep)
	orDur(&c.StopTimeout, DefaultStopTimeout)
	orDur(&c.Poll, DefaultPoll)
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Env == nil {
		c.Env = os.LookupEnv
	}
	if c.Connect == nil {
		env := c.Env
		c.Connect = func(p *definition.Profile) (connector.Connector, error) { return connector.New(p, env) }
	}
	if c.Name == "" {
		c.Name, _ = os.Hostname()
	}
	// The suffix keeps two processes apart that are started under one name (FC-30).
	c.Name = fmt.Sprintf("%s-%d-%s", c.Name, os.Getpid(), strings.ToLower(rand.Text()[:6]))
	return c
}

// Worker performs effects and lookups until it is stopped.
type Worker struct {
	cfg     Config
	store   *store.Store
	actor   store.Actor
	log     *slog.Logger
	metrics *metrics
	dests   destinations
	river   *river.Client[riverTx]
	listen  *pgxpool.Pool // nil when polling only

	stopping context.Context // done: claim no more
	stopNow  context.CancelFunc
	hard     context.Context // done: give up what is still running
	giveUp   context.CancelFunc
	sweeper  sync.WaitGroup
	notify   *notifier     // nil = it tells nobody
	points   *checkpointer // nil = it makes no checkpoints
}

// New prepares a worker; Start starts it.
func New(c Config) (*Worker, error) {
	if c.Store == nil {
		return nil, errors.New("jobs: a store is needed")
	}
	c = c.withDefaults()
	w := &Worker{cfg: c, store: c.Store, actor: store.Job(c.Name), log: c.Log.With("worker", c.Name)}
	w.metrics = newMetrics(c.Metrics)
	w.dests = destinations{worker: w, all: map[string]*destination{}}
	w.stopping, w.stopNow = context.WithCancel(context.Background())
	w.hard, w.giveUp = context.WithCancel(context.Background())
	if c.Notify != nil {
		w.notify = &notifier{w: w, cfg: *c.Notify}
	}
	if c.Checkpoints != nil {
		w.points = newCheckpointer(w, *c.Checkpoints)
	}
	return w, w.engine()
}

// engine sets River up: it only wakes, so a job is tried once and never timed out.
func (w *Worker) engine() error {
	driver := riverdatabasesql.New(w.store.DB())
	if !w.cfg.PollOnly {
		var err error
		if w.listen, err = listenPool(w.store.URL()); err != nil {
			return err
		}
		driver = riverdatabasesql.NewWithPgxListener(w.store.DB(), w.listen)
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, &executeWorker{w: w})
	river.AddWorker(workers, &lookupWorker{w: w})
	river.AddWorker(workers, &housekeepWorker{w: w})
	queues := map[string]river.QueueConfig{
		store.QueueEffects: {MaxWorkers: w.cfg.Effects}, store.QueueLookups: {MaxWorkers: w.cfg.Lookups}, queueHousekeep: {MaxWorkers: 1},
	}
	if w.notify != nil {
		river.AddWorker(workers, &noticeWorker{n: w.notify})
		river.AddWorker(workers, &noticeUpdateWorker{n: w.notify})
		maps.Copy(queues, noticeQueues())
	}
	var err error
	w.river, err = river.NewClient(driver, &river.Config{
		ID: w.cfg.Name, Workers: workers, Logger: quieter(w.log),
		Queues:        queues,
		FetchCooldown: fetchCooldown, FetchPollInterval: w.cfg.Poll, PollOnly: w.cfg.PollOnly,
		JobTimeout: -1, MaxAttempts: 1,
		CompletedJobRetentionPeriod: time.Hour, CancelledJobRetentionPeriod: time.Hour, DiscardedJobRetentionPeriod: 24 * time.Hour,
		PeriodicJobs:        housekeeping(),
		ReindexerIndexNames: []string{}, // the application role owns no index
	})
	return err
}

// listenPool is the one pgx connection; it does nothing but LISTEN.
func listenPool(address string) (*pgxpool.Pool, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("jobs: the database address cannot be read")
	}
	q := u.Query()
	q.Del("binary_parameters") // a word of lib/pq's own
	u.RawQuery = q.Encode()
	cfg, err := pgxpool.ParseConfig(u.String())
	if err != nil {
		return nil, errors.New("jobs: the database address cannot be read by the listener")
	}
	cfg.MinConns, cfg.MaxConns = 0, 1
	return pgxpool.NewWithConfig(context.Background(), cfg)
}

// Start begins to work. It returns when the worker listens for wake-ups.
func (w *Worker) Start(ctx context.Context) error {
	if err := w.river.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("start jobs: %w", err)
	}
	w.sweeper.Go(w.sweepAll)
	w.sweeper.Go(w.runBatches)
	w.sweeper.Go(w.runBatches)
	if w.cfg.Rehearse != nil {
		w.sweeper.Go(w.acceptances)
	}
	w.sweeper.Go(w.watch)
	w.sweeper.Go(w.rollup)
	if w.notify != nil {
		w.sweeper.Go(w.notify.run)
	}
	if w.points != nil {
		w.sweeper.Go(w.points.run)
	}
	w.log.Info("jobs started", "effects", w.cfg.Effects, "lookups", w.cfg.Lookups)
	return nil
}

// Stop claims no more and lets running requests finish, at most StopTimeout. What is
// still running then is given up: its outcome is recorded as unknown, or, if even that
// is not possible, stays for the sweep, which says the same.
func (w *Worker) Stop(ctx context.Context) error {
	w.stopNow()
	timer := time.AfterFunc(w.cfg.StopTimeout, w.giveUp)
	defer timer.Stop()
	defer w.giveUp()
	ctx, cancel := context.WithTimeout(ctx, w.cfg.StopTimeout+2*lastWords)
	defer cancel()
	err := w.river.Stop(ctx)
	w.sweeper.Wait()
	if w.points != nil {
		w.points.last(ctx)
	}
	if w.listen != nil {
		w.listen.Close()
	}
	w.log.Info("jobs stopped")
	return err
}

// Name is the worker's unique name, as it stands in the history.
func (w *Worker) Name() string { return w.cfg.Name }
