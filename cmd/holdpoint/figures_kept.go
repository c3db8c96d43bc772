package main

import (
	"holdpoint/operation"
	"holdpoint/store"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	keptFigure = prometheus.NewDesc("holdpoint_figure_total",
		"What a figure counts since the first fact, by figure, flow and destination (docs/figures.md). What comes in has neither.", []string{"figure", "flow", "destination"}, nil)
	doubtFigure = prometheus.NewDesc("holdpoint_figure_unresolved",
		"Operations whose outcome is not settled, by flow and destination.", []string{"flow", "destination"}, nil)
	timeFigure = prometheus.NewDesc("holdpoint_figure_seconds",
		"Approval delay, and recovery time in hand and active, by flow and destination.", []string{"figure", "flow", "destination"}, nil)
	countedFigure = prometheus.NewDesc("holdpoint_figures_counted_until_seconds",
		"Up to when figures are counted ahead, in seconds since 1970; 0 = nothing is.", nil, nil)
)

// secondsEvery is how many cells of the record make one bucket: each is three times as
// long as the one before.
const secondsEvery = 6

// keptFigures reads the figures when it is scraped. All processes give the same numbers:
// an alarm takes the maximum over them, never the sum.
type keptFigures struct {
	scraped[store.FigureTotals]
}

// Describe names the figures.
func (f *keptFigures) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{keptFigure, doubtFigure, timeFigure, countedFigure} {
		ch <- d
	}
}

// Collect gives the figures; none when the database does not answer.
func (f *keptFigures) Collect(ch chan<- prometheus.Metric) {
	now, ok := f.current("figures not read")
	if !ok {
		return
	}
	until := 0.0
	if !now.CountedUntil.IsZero() {
		until = float64(now.CountedUntil.UnixMilli()) / 1000
	}
	ch <- prometheus.MustNewConstMetric(countedFigure, prometheus.GaugeValue, until)
	for _, r := range now.Rows {
		for word, n := range r.Counts {
			ch <- prometheus.MustNewConstMetric(keptFigure, prometheus.CounterValue, float64(n), word, r.Flow, r.Destination)
		}
		if r.Flow != "" {
			ch <- prometheus.MustNewConstMetric(doubtFigure, prometheus.GaugeValue, float64(r.Unresolved), r.Flow, r.Destination)
		}
		for figure, cells := range r.Times {
			n, sum, buckets := secondsOf(cells)
			ch <- prometheus.MustNewConstHistogram(timeFigure, n, sum, buckets, string(figure), r.Flow, r.Destination)
		}
	}
}

// secondsOf makes a histogram of cells. Its sum takes each time as the middle of its cell.
func secondsOf(cells []int64) (n uint64, sum float64, buckets map[float64]uint64) {
	buckets = map[float64]uint64{}
	for i, c := range cells {
		// a cell ends where the next one begins: its bound belongs to the bucket below it
		if i > 0 && (i-1)%secondsEvery == 0 {
			buckets[operation.DurationBounds[i-1]] = n
		}
		n += uint64(max(c, 0))
		sum += float64(c) * operation.CellDuration(i).Seconds()
	}
	return n, sum, buckets
}
