package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"holdpoint/store"

	"github.com/prometheus/client_golang/prometheus"
)

// figuresEvery is how long counts are good: scrapes in between ask the database nothing.
const figuresEvery = 5 * time.Second

var (
	openFigure    = prometheus.NewDesc("holdpoint_operations_open", "Operations that are not closed, by state.", []string{"state"}, nil)
	overdueFigure = prometheus.NewDesc("holdpoint_decisions_overdue", "Next decisions past their time, by who owes them: person or system.", []string{"by"}, nil)
	pausedFigure  = prometheus.NewDesc("holdpoint_pauses", "Pauses in force, by scope: all, flow, destination, operation.", []string{"scope"}, nil)
)

// figures counts in the database when it is scraped. All processes give the same
// numbers: an alarm takes the maximum over them, never the sum.
type figures struct {
	find func(context.Context) (store.Figures, error)

	mu   sync.Mutex
	last store.Figures
	at   time.Time
}

// Describe names the figures.
func (f *figures) Describe(ch chan<- *prometheus.Desc) {
	ch <- openFigure
	ch <- overdueFigure
	ch <- pausedFigure
}

// Collect gives the figures; none when the database does not answer, so that an old
// number is never taken for the present one.
func (f *figures) Collect(ch chan<- prometheus.Metric) {
	now, ok := f.current()
	if !ok {
		return
	}
	gauge := func(d *prometheus.Desc, n int, label string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n), label)
	}
	for state, n := range now.Open {
		gauge(openFigure, n, string(state))
	}
	for by, n := range now.Overdue {
		gauge(overdueFigure, n, by)
	}
	for scope, n := range now.Paused {
		gauge(pausedFigure, n, scope)
	}
}

func (f *figures) current() (store.Figures, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.at.IsZero() && time.Since(f.at) < figuresEvery {
		return f.last, true
	}
	ctx, cancel := context.WithTimeout(context.Background(), readyWithin)
	defer cancel()
	now, err := f.find(ctx)
	if err != nil {
		slog.Warn("figures not counted", "error", err)
		return store.Figures{}, false
	}
	f.last, f.at = now, time.Now()
	return now, true
}
