package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"holdpoint/handlers/api"
	"holdpoint/handlers/callback"
	"holdpoint/handlers/intake"
	"holdpoint/store"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
)

const defaultAddr = "127.0.0.1:7300"

type serveCmd struct {
	Addr           string         `env:"HOLDPOINT_ADDR" default:"127.0.0.1:7300" help:"Address to listen on." group:"Server"`
	MetricsAddr    string         `env:"HOLDPOINT_METRICS_ADDR" default:"127.0.0.1:7390" help:"Address of /metrics; off = none. Never publish it." group:"Server"`
	TrustedProxies []netip.Prefix `env:"HOLDPOINT_TRUSTED_PROXIES" help:"Networks of reverse proxies, such as 127.0.0.1/32, whose X-Forwarded-For counts." group:"Server"`
	TLSCert        string         `env:"HOLDPOINT_TLS_CERT" name:"tls-cert" help:"Certificate file (PEM, with its chain), where no proxy adds TLS." group:"Server"`
	TLSKey         string         `env:"HOLDPOINT_TLS_KEY" name:"tls-key" help:"Key file of the certificate." group:"Server"`
	NoJobs         bool           `help:"Serve only; holdpoint work performs effects." group:"Server"`
	Demo           bool           `hidden:"" help:"Load demo flows and accounts. Loopback only."`
	SignIn
	Assist
	Jobs
}

// Validate refuses settings that do not fit together.
func (c *serveCmd) Validate() error {
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return errors.New("HOLDPOINT_TLS_CERT and HOLDPOINT_TLS_KEY belong together")
	}
	if c.Demo && !isLoopback(c.Addr) {
		return fmt.Errorf("the demo accounts have a known password: --demo needs a loopback address, not %s", c.Addr)
	}
	if _, err := c.SignIn.provider(); err != nil {
		return err
	}
	_, err := c.Assist.client()
	return err
}

func isLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// Run serves until it is told to stop: it takes no more requests, finishes those under
// way, stops the jobs, and stops the private PostgreSQL last.
func (c *serveCmd) Run(s *Settings) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	level := slog.LevelInfo
	if c.Demo {
		level = slog.LevelWarn
		if err := demoEnvironment(); err != nil {
			return err
		}
	}
	log, err := s.logger(level)
	if err != nil {
		return err
	}
	if err := s.folder(); err != nil {
		return err
	}
	// The address first: a second start fails before it touches anything.
	l, err := net.Listen("tcp", c.Addr)
	if err != nil {
		return fmt.Errorf("listen on HOLDPOINT_ADDR: %w", err)
	}
	defer l.Close()
	db, err := s.startDatabase(ctx)
	if err != nil {
		return err
	}
	defer db.stop(log)
	st, err := c.prepare(ctx, s, db, log)
	if err != nil {
		return err
	}
	defer st.Close()
	end, err := s.watch(ctx, st, c.CheckpointFile, log)
	if err != nil {
		return err
	}
	defer end()
	return c.serve(ctx, stop, s, server{store: st, db: db, log: log, listener: l})
}

// prepare brings a private database to this program's schema and opens the store. A
// database of DATABASE_URL is never changed: holdpoint migrate does that.
func (c *serveCmd) prepare(ctx context.Context, s *Settings, db *database, log *slog.Logger) (*store.Store, error) {
	key, err := s.key(ctx, db)
	if err != nil {
		return nil, err
	}
	if db.private() {
		if err := db.migrate(ctx); err != nil {
			return nil, err
		}
	}
	return s.open(ctx, db, key, log)
}

// server is what serve runs on.
type server struct {
	store    *store.Store
	db       *database
	log      *slog.Logger
	listener net.Listener
}

func (c *serveCmd) serve(ctx context.Context, stop func(), s *Settings, r server) error {
	registry := newRegistry(r.store)
	metrics, err := startMetrics(c.MetricsAddr, registry, r.store, r.log)
	if err != nil {
		return err
	}
	defer metrics.stop()
	s.PublicURL = strings.TrimSuffix(cmp.Or(s.PublicURL, listenURL(c.scheme(), r.listener.Addr().String())), "/")
	if err := s.keepAddress(s.PublicURL); err != nil {
		return err
	}
	e, err := c.routes(ctx, s.PublicURL, r, registry)
	if err != nil {
		return err
	}
	h := &http.Server{Handler: e, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(r.log.Handler(), slog.LevelDebug)}
	if c.Demo {
		if err := demoAccounts(ctx, r.store); err != nil {
			return err
		}
	}
	stopJobs := func() error { return nil }
	if !c.NoJobs {
		w, err := c.Jobs.start(ctx, s.PublicURL, r.store, registry, r.log)
		if err != nil {
			return err
		}
		stopJobs = func() error { return w.Stop(context.Background()) }
	}
	ended := make(chan error, 1)
	go func() { ended <- c.accept(h, r.listener) }()
	r.log.Info("listening", "address", r.listener.Addr().String(), "url", s.PublicURL, "metrics", metrics.addr)
	if c.Demo {
		welcome(ctx, s.PublicURL, e, r.store, r.log)
	}

	var failed error
	select {
	case <-ctx.Done():
	case failed = <-ended:
	case <-r.db.ended():
		failed = errors.New("the private PostgreSQL has ended; its log is server.log beside the data")
	}
	stop() // a second signal ends the process at once
	return errors.Join(failed, c.shutdown(h), stopJobs())
}

func (c *serveCmd) accept(h *http.Server, l net.Listener) error {
	var err error
	if c.TLSCert != "" {
		h.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
		err = h.ServeTLS(l, c.TLSCert, c.TLSKey)
	} else {
		err = h.Serve(l)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// shutdown finishes the requests under way; those that only wait are told to come back.
func (c *serveCmd) shutdown(h *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	if err := h.Shutdown(ctx); err != nil {
		_ = h.Close()
	}
	return nil
}

func (c *serveCmd) scheme() string {
	if c.TLSCert != "" {
		return "https"
	}
	return "http"
}

// routes wires the whole HTTP side. stopping ends requests that only wait for news.
func (c *serveCmd) routes(stopping context.Context, public string, r server, registry prometheus.Registerer) (*echo.Echo, error) {
	e := web.New(web.Config{PublicURL: public, TrustedProxies: c.TrustedProxies, Secure: strings.HasPrefix(public, "https://"), Log: r.log, Store: r.store, Waiting: waiting(r.store), Stopping: stopping.Done()})
	e.Use(httpMetrics(registry))
	e.GET("/healthz", echo.WrapHandler(http.HandlerFunc(healthz)))
	e.GET("/readyz", echo.WrapHandler(readyz(r.store, r.log)))
	door := intake.Deps{Store: r.store, Log: r.log, Env: os.LookupEnv, Base: public}
	intake.Register(e.Group(""), door)
	callback.Register(e.Group(""), callback.Deps{Store: r.store, Log: r.log, Base: public})
	if err := api.Register(e.Group("/api"), api.Deps{Store: r.store, Log: r.log, PublicURL: public, Stopping: stopping.Done(), Intake: door}); err != nil {
		return nil, err
	}
	p, err := c.SignIn.provider()
	if err != nil {
		return nil, err
	}
	model, err := c.Assist.client()
	if err != nil {
		return nil, err
	}
	pages(e, r, p, c.channels(), model)
	return e, nil
}
