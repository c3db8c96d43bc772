package jobs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"holdpoint/operation/checkpoint"
	"holdpoint/store"

	"github.com/prometheus/client_golang/prometheus"
)

// Checkpoints say how this process ties the history to what lies outside the database.
type Checkpoints struct {
	// Signer signs; nil = this process signs none, and copies those of others to File.
	Signer *checkpoint.Signer
	File   CheckpointFile
	// Every is the time from one checkpoint to the next; 0 = DefaultCheckpoints.
	Every time.Duration
}

// DefaultCheckpoints is how often a checkpoint is made when something is new.
const DefaultCheckpoints = 5 * time.Minute

// copyNotes is how many notes are copied to a file at once.
const copyNotes = 500

// checkpointer makes checkpoints until the worker stops. Every worker has one: the
// database lets one at a time make the next checkpoint, and each keeps its own file.
type checkpointer struct {
	w   *Worker
	cfg Checkpoints

	newest   *prometheus.GaugeVec
	failures prometheus.Counter
	missing  prometheus.Gauge
	failing  string // what went wrong the last time; the log says it once
}

func newCheckpointer(w *Worker, cfg Checkpoints) *checkpointer {
	if cfg.Every <= 0 {
		cfg.Every = DefaultCheckpoints
	}
	c := &checkpointer{w: w, cfg: cfg,
		newest: prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "holdpoint", Name: "checkpoint_newest_seconds",
			Help: "Time of the newest checkpoint, in seconds since 1970: in the database, and in this process's file."}, []string{"in"}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{Namespace: "holdpoint", Name: "checkpoint_failures_total",
			Help: "Checkpoints that could not be made or not be written to the file."}),
		missing: prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "holdpoint", Name: "history_entries_missing",
			Help: "Entries of earlier checkpoints that are not in the history any more, at the daily count."}),
	}
	if r := w.cfg.Metrics; r != nil {
		r.MustRegister(c.newest, c.failures, c.missing)
	}
	return c
}

// run makes a checkpoint at once and then every few minutes.
func (c *checkpointer) run() {
	for {
		c.try(c.w.stopping)
		select {
		case <-c.w.stopping.Done():
			return
		case <-time.After(c.cfg.Every*9/10 + rand.N(c.cfg.Every/5+1)):
		}
	}
}

// last takes up what the worker did until it stopped.
func (c *checkpointer) last(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	c.try(ctx)
}

func (c *checkpointer) try(ctx context.Context) {
	err := c.look(ctx)
	switch {
	case err == nil:
		c.failing = ""
	case ctx.Err() != nil && c.w.stopping.Err() != nil:
	case errors.Is(err, store.ErrRestoring):
		c.say(err, "no checkpoint is signed until the restored database is reconciled")
	default:
		c.failures.Inc()
		c.say(err, "NO CHECKPOINT of the history; it is tried again")
	}
}

// say logs a trouble once while it lasts.
func (c *checkpointer) say(err error, what string) {
	if c.failing != err.Error() {
		c.w.log.Error(what, "error", err)
	}
	c.failing = err.Error()
}

// look brings the file up to date, makes what is to be made, and writes it. The database
// comes first: a file that is ahead of the database is the sign of a restored backup.
func (c *checkpointer) look(ctx context.Context) error {
	if err := c.follow(ctx); err != nil {
		return err
	}
	if c.cfg.Signer != nil {
		for more := true; more; {
			made, err := c.w.store.MakeCheckpoint(ctx, c.cfg.Signer)
			if err != nil {
				return err
			}
			if made.Number > 0 {
				c.w.log.Info("checkpoint", "number", made.Number, "entries", made.Size)
			}
			more = made.More && made.Number > 0
		}
		missing, err := c.w.store.CountLog(ctx)
		if err != nil {
			return err
		}
		c.missing.Set(float64(missing))
		if missing > 0 {
			c.say(fmt.Errorf("%d entries are gone", missing), "THE HISTORY IS NOT WHOLE: run holdpoint verify")
		}
	}
	if err := c.follow(ctx); err != nil {
		return err
	}
	st, err := c.w.store.FindCheckpointState(ctx)
	if err == nil && st.Newest != nil {
		c.newest.WithLabelValues("database").Set(float64(st.Newest.At.Unix()))
	}
	return err
}

// follow appends to the file what the database has and the file lacks. A file that is
// ahead is never written to.
func (c *checkpointer) follow(ctx context.Context) error {
	if c.cfg.File.Path == "" {
		return nil
	}
	after, err := c.place(ctx)
	for more := err == nil; more; {
		notes, err := c.w.store.CheckpointNotes(ctx, after, copyNotes)
		if err != nil {
			return err
		}
		if _, err := c.cfg.File.Append(notes); err != nil {
			return err
		}
		after += int64(len(notes)) // they are numbered without gaps
		more = len(notes) == copyNotes
	}
	if err != nil {
		return err
	}
	newest, err := c.cfg.File.Newest()
	if err == nil && newest != nil {
		c.newest.WithLabelValues("file").Set(float64(newest.At.Unix()))
	}
	return err
}

// place gives the number up to which the file has the database's checkpoints.
func (c *checkpointer) place(ctx context.Context) (int64, error) {
	newest, err := c.cfg.File.Newest()
	if err != nil || newest == nil {
		return 0, err
	}
	at, err := c.w.store.FindCheckpoint(ctx, *newest)
	switch {
	case err != nil:
		return 0, err
	case at.Held:
		return newest.Number, nil
	case at.Left:
		return 0, nil // what the restored database goes on with is in a later line
	}
	return 0, fmt.Errorf("checkpoint %d of %s is in the file and not in the database: the database is an older copy, or another history", newest.Number, newest.At.Format(time.RFC3339))
}
