package jobs

import (
	"context"
	"log/slog"
	"time"

	"holdpoint/operation"
	"holdpoint/store"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics counts what the worker did. Labels are destinations, outcomes and codes,
// never operations or people.
type metrics struct {
	attempts      *prometheus.CounterVec
	seconds       *prometheus.HistogramVec
	inFlight      *prometheus.GaugeVec
	lookups       *prometheus.CounterVec
	refused       *prometheus.CounterVec
	swept         *prometheus.CounterVec
	sweepFailures *prometheus.CounterVec
	recordRetries prometheus.Counter
	wake          prometheus.Histogram

	notices        *prometheus.CounterVec
	noticesWaiting *prometheus.GaugeVec
	noticeSeconds  *prometheus.HistogramVec
}

func newMetrics(r prometheus.Registerer) *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "holdpoint", Name: name, Help: help}, labels)
	}
	m := &metrics{
		attempts: counter("attempts_total", "Attempts by outcome, proof code and destination.", "destination", "outcome", "code"),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "holdpoint", Name: "attempt_seconds",
			Help: "From the claim to the destination's answer.", Buckets: prometheus.ExponentialBuckets(0.005, 2.5, 10)}, []string{"destination", "outcome"}),
		inFlight: prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "holdpoint", Name: "requests_in_flight",
			Help: "Requests that have been sent and not answered."}, []string{"destination"}),
		lookups:       counter("lookups_total", "Lookups by result and destination.", "destination", "result"),
		refused:       counter("gate_refusals_total", "Wake-ups that the gate did not permit, by code.", "code"),
		swept:         counter("swept_total", "What the sweeps found: leases ended, attempts and lookups woken again.", "kind"),
		sweepFailures: counter("sweep_failures_total", "Sweeps that failed.", "kind"),
		recordRetries: prometheus.NewCounter(prometheus.CounterOpts{Namespace: "holdpoint", Name: "record_retries_total",
			Help: "Outcomes that could not be recorded at the first try."}),
		wake: prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: "holdpoint", Name: "wake_seconds",
			Help: "From a due wake-up to the worker.", Buckets: prometheus.ExponentialBuckets(0.001, 2.5, 12)}),
	}
	m.notices = counter("notices_total", "Tries to tell people by mail or chat, by what became of them: sent, again, unknown, failed.", "channel", "kind", "result")
	m.noticesWaiting = prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "holdpoint", Name: "notices_waiting",
		Help: "Notices that are due and not sent, or were tried in vain."}, []string{"channel"})
	m.noticeSeconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "holdpoint", Name: "notice_seconds",
		Help: "From the record of a notice to its arrival; bundles are not counted.", Buckets: prometheus.ExponentialBuckets(0.25, 3, 9)}, []string{"channel"})
	if r != nil {
		r.MustRegister(m.notices, m.noticesWaiting, m.noticeSeconds)
		r.MustRegister(m.attempts, m.seconds, m.inFlight, m.lookups, m.refused, m.swept, m.sweepFailures, m.recordRetries, m.wake)
	}
	return m
}

func (m *metrics) attempted(destination string, r operation.Result, took time.Duration) {
	m.attempts.WithLabelValues(destination, r.Outcome.String(), r.Proof.Code).Inc()
	m.seconds.WithLabelValues(destination, r.Outcome.String()).Observe(took.Seconds())
}

// noticed counts one try of a message, by the kind of what it tells of first.
func (m *metrics) noticed(o store.NoticeOrder, r store.NoticeResult) {
	result := "again"
	switch {
	case r.Sent:
		result = "sent"
		if !o.Bundle {
			m.noticeSeconds.WithLabelValues(o.Channel).Observe(o.Now.Sub(o.Created).Seconds())
		}
	case r.Permanent:
		result = "failed"
	case r.Unknown:
		result = "unknown"
	}
	m.notices.WithLabelValues(o.Channel, string(o.Items[0].Kind), result).Inc()
}

// quieter passes the job engine's warnings on: what it says about its jobs is not what
// happened to operations.
func quieter(l *slog.Logger) *slog.Logger { return slog.New(warnings{l.Handler()}) }

type warnings struct{ slog.Handler }

func (h warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && h.Handler.Enabled(ctx, level)
}

func (h warnings) WithAttrs(a []slog.Attr) slog.Handler { return warnings{h.Handler.WithAttrs(a)} }

func (h warnings) WithGroup(name string) slog.Handler { return warnings{h.Handler.WithGroup(name)} }
