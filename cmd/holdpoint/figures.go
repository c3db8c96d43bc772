package main

import (
	"holdpoint/store"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	openFigure    = prometheus.NewDesc("holdpoint_operations_open", "Operations that are not closed, by state.", []string{"state"}, nil)
	overdueFigure = prometheus.NewDesc("holdpoint_decisions_overdue", "Next decisions past their time, by who owes them: person or system.", []string{"by"}, nil)
	pausedFigure  = prometheus.NewDesc("holdpoint_pauses", "Pauses in force, by scope: all, flow, destination, operation.", []string{"scope"}, nil)
)

// figures counts in the database when it is scraped. All processes give the same
// numbers: an alarm takes the maximum over them, never the sum.
type figures struct {
	scraped[store.Figures]
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
	now, ok := f.current("figures not counted")
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
