package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"holdpoint/jobs"
	"holdpoint/store"
)

// witnessFile is the file in the data folder that says what the database was when this
// machine last saw it. It holds identifiers, a hash and a time: no content, no secret.
const witnessFile = "witness.json"

// witnessEvery is how often the file is brought up to date.
const witnessEvery = time.Second

// witness compares the database with the file, before anything is sent and while the
// process runs, and keeps the file.
type witness struct {
	path string
	// checkpoints is the file with signed checkpoints; its path may be "".
	checkpoints jobs.CheckpointFile
	store       *store.Store
	log         *slog.Logger
	last        store.Witness
	stale       bool // the last try failed, and the log says so
	ended       chan struct{}
}

// watch compares the database with the file in the data folder and with the checkpoint
// file, if there is one, and pauses all sends when they differ. It returns before anything may be sent. From then on it keeps the
// file; end, called after all work, writes the last state.
func (s *Settings) watch(ctx context.Context, st *store.Store, checkpoints string, log *slog.Logger) (end func(), err error) {
	w := &witness{path: filepath.Join(s.Data, witnessFile), checkpoints: jobs.CheckpointFile{Path: checkpoints}, store: st, log: log, ended: make(chan struct{})}
	if err := w.begin(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // a signal ends the work first
	go w.run(ctx)
	return func() {
		cancel()
		<-w.ended
	}, nil
}

func (w *witness) begin(ctx context.Context) error {
	if err := w.compareFolder(ctx); err != nil {
		return err
	}
	return w.compareCheckpoints(ctx)
}

// compareCheckpoints pauses all sends when the checkpoint file is ahead of the database:
// it was written outside, so it knows of a history that this database lacks.
func (w *witness) compareCheckpoints(ctx context.Context) error {
	if w.checkpoints.Path == "" {
		return nil
	}
	newest, err := w.checkpoints.Newest()
	if err != nil || newest == nil {
		return err
	}
	now, err := w.store.FindWitness(ctx)
	if err != nil {
		return err
	}
	if now.Installation != newest.Installation {
		return fmt.Errorf("%s holds checkpoints of installation %s, but the database holds %s. Give this installation a file of its own (HOLDPOINT_CHECKPOINT_FILE), or connect the database that belongs to it",
			w.checkpoints.Path, newest.Installation, now.Installation)
	}
	mismatch, err := w.store.CompareCheckpoint(ctx, *newest)
	if err != nil || mismatch == nil {
		return err
	}
	return w.pause(ctx, *mismatch)
}

// pause stops all sends for a mismatch. The pause comes first: a file that fits must never
// stand beside a database that sends.
func (w *witness) pause(ctx context.Context, m store.Mismatch) error {
	if err := w.store.PauseForWitness(ctx, m); err != nil {
		return fmt.Errorf("the database does not fit its witness (%s), and the sends cannot be paused: %w", m.Word, err)
	}
	w.log.Error("ALL SENDS ARE PAUSED: the database does not fit its witness. Reconcile what happened since, then an admin resumes",
		"why", m.Word, "since", m.Since, "witness", w.last, "database", m.Now)
	now, err := w.store.FindWitness(ctx)
	if err != nil {
		return err
	}
	return w.keep(now)
}

func (w *witness) compareFolder(ctx context.Context) error {
	kept, found, err := readWitness(w.path)
	if err != nil {
		return err
	}
	if !found {
		now, err := w.store.FindWitness(ctx)
		if err != nil {
			return err
		}
		if now.System == "" {
			w.log.Warn("the database's role may not read PostgreSQL's control data: the witness holds no system identifier and no timeline")
		}
		return w.keep(now)
	}
	now, err := w.store.FindWitness(ctx)
	if err != nil {
		return err
	}
	if now.Installation != kept.Installation {
		return fmt.Errorf("%s belongs to installation %s, but the database holds %s. Give this installation a data folder of its own (HOLDPOINT_DATA), or connect the database that belongs to the folder",
			w.path, kept.Installation, now.Installation)
	}
	w.last = kept
	return w.look(ctx)
}

// look compares the database with what was last seen of it, and keeps what it is now.
func (w *witness) look(ctx context.Context) error {
	now, mismatch, err := w.store.CompareWitness(ctx, w.last)
	if err != nil {
		return err
	}
	if mismatch != nil {
		return w.pause(ctx, *mismatch)
	}
	if now == w.last {
		return nil
	}
	return w.keep(now)
}

func (w *witness) run(ctx context.Context) {
	defer close(w.ended)
	tick := time.NewTicker(witnessEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			w.try(last)
			cancel()
			return
		case <-tick.C:
			w.try(ctx)
		}
	}
}

func (w *witness) try(ctx context.Context) {
	err := w.look(ctx)
	if err != nil && !w.stale && ctx.Err() == nil {
		w.log.Warn("the witness is not up to date; it is tried again every second", "error", err)
	}
	w.stale = err != nil
}

func (w *witness) keep(now store.Witness) error {
	if err := writeWitness(w.path, now); err != nil {
		return fmt.Errorf("write the witness: %w", err)
	}
	w.last = now
	return nil
}

// readWitness reads the file; found is false when there is none yet.
func readWitness(path string) (kept store.Witness, found bool, err error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return kept, false, nil
	}
	if err != nil {
		return kept, false, fmt.Errorf("witness: %w", err)
	}
	if err := json.Unmarshal(raw, &kept); err != nil || kept.Installation == "" {
		return kept, false, fmt.Errorf("%s cannot be read, so nobody knows whether the database is the latest one. Restore the file; or compare the destinations with the record, and remove it", path)
	}
	return kept, true, nil
}

// writeWitness replaces the file whole: it is the old one or the new one after a crash.
func writeWitness(path string, now store.Witness) error {
	raw, err := json.Marshal(now)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), witnessFile+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(append(raw, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return err
	}
	return syncFolder(filepath.Dir(path))
}

func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
