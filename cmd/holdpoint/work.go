package main

import (
	"context"
	"log/slog"
	"os/signal"
	"syscall"

	"holdpoint/jobs"
	"holdpoint/store"

	"github.com/prometheus/client_golang/prometheus"
)

type workCmd struct {
	Jobs
	MetricsAddr string `env:"HOLDPOINT_METRICS_ADDR" default:"127.0.0.1:7390" help:"Address of /metrics, /healthz and /readyz of a worker; off = none. Never publish it." group:"Server"`
}

// Run works until it is told to stop, then finishes or parks what is in flight.
func (c workCmd) Run(s *Settings) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	log, err := s.logger(slog.LevelInfo)
	if err != nil {
		return err
	}
	if err := s.folder(); err != nil {
		return err
	}
	db, err := s.findDatabase()
	if err != nil {
		return err
	}
	key, err := s.key(ctx, db)
	if err != nil {
		return err
	}
	st, err := s.open(ctx, db, key, log)
	if err != nil {
		return err
	}
	defer st.Close()
	end, err := s.watch(ctx, st, c.CheckpointFile, log)
	if err != nil {
		return err
	}
	defer end()
	registry := newRegistry(st)
	metrics, err := startMetrics(c.MetricsAddr, registry, st, log)
	if err != nil {
		return err
	}
	defer metrics.stop()
	w, err := c.Jobs.start(ctx, s.publicURL(), st, registry, log)
	if err != nil {
		return err
	}
	<-ctx.Done()
	stop() // a second signal ends the process at once
	return w.Stop(context.Background())
}

// start starts a worker. public is the address that links in notices lead to.
func (j Jobs) start(ctx context.Context, public string, st *store.Store, r prometheus.Registerer, log *slog.Logger) (*jobs.Worker, error) {
	notify, err := j.notify(public)
	if err != nil {
		return nil, err
	}
	points, err := j.checkpoints()
	if err != nil {
		return nil, err
	}
	w, err := jobs.New(jobs.Config{Checkpoints: points, Store: st, Log: log, Name: j.Worker, Metrics: r, Effects: j.Effects, Lookups: j.Lookups,
		Sweep: j.Sweep, Poll: j.Poll, StopTimeout: j.StopTimeout, Notify: notify, Rehearse: rehearse})
	if err != nil {
		return nil, err
	}
	return w, w.Start(ctx)
}
