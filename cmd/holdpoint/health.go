package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"holdpoint/store"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// readyWithin is how long the database may take to answer the readiness query.
const readyWithin = 2 * time.Second

// healthz says that the process lives; it asks nobody.
func healthz(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	fmt.Fprintln(w, "ok")
}

// readyz says that the database answers a real query and the schema fits. Why it does
// not is in the log: the answer is for everybody.
func readyz(st *store.Store, log *slog.Logger) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		ctx, cancel := context.WithTimeout(r.Context(), readyWithin)
		defer cancel()
		if err := st.Ready(ctx); err != nil {
			log.Warn("not ready", "error", err)
			http.Error(w, "not ready", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ready")
	}
}

// newRegistry holds the metrics of this process.
func newRegistry(st *store.Store) *prometheus.Registry {
	r := prometheus.NewRegistry()
	version, revision := build()
	info := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "holdpoint", Name: "build_info", Help: "Which version runs.",
		ConstLabels: prometheus.Labels{"version": version, "revision": revision}})
	info.Set(1)
	r.MustRegister(info, &figures{scraped[store.Figures]{find: st.FindFigures}}, &keptFigures{scraped[store.FigureTotals]{find: st.FindFigureTotals}}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collectors.NewDBStatsCollector(st.DB(), "holdpoint"))
	return r
}

// httpMetrics measures requests by route pattern, never by address.
func httpMetrics(r prometheus.Registerer) echo.MiddlewareFunc {
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "holdpoint", Name: "http_request_seconds",
		Help: "Requests by route and status.", Buckets: prometheus.ExponentialBuckets(0.002, 2.5, 9)}, []string{"method", "route", "status"})
	r.MustRegister(seconds)
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			start := time.Now()
			err := next(c)
			status := c.Response().Status
			var he *echo.HTTPError
			if errors.As(err, &he) {
				status = he.Code
			} else if err != nil && !c.Response().Committed {
				status = http.StatusInternalServerError
			}
			seconds.WithLabelValues(c.Request().Method, c.Path(), strconv.Itoa(status)).Observe(time.Since(start).Seconds())
			return err
		}
	}
}

// listener is an HTTP server beside the public one.
type listener struct {
	server *http.Server
	addr   string
}

// startMetrics serves metrics and health on an address of their own; "off" = not at all.
func startMetrics(addr string, r *prometheus.Registry, st *store.Store, log *slog.Logger) (*listener, error) {
	if addr == "" || addr == "off" {
		return &listener{}, nil
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("metrics address: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(r, promhttp.HandlerOpts{Registry: r}))
	mux.HandleFunc("GET /healthz", healthz)
	mux.HandleFunc("GET /readyz", readyz(st, log))
	m := &listener{server: &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 30 * time.Second}, addr: l.Addr().String()}
	go func() {
		if err := m.server.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
			log.Error("metrics server ended", "error", err)
		}
	}()
	return m, nil
}

func (l *listener) stop() {
	if l.server != nil {
		_ = l.server.Close()
	}
}
