package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// sandbox is the whole program: the destinations, what they did, and the
// control over how they behave.
type sandbox struct {
	cfg       config
	log       *slog.Logger
	clock     *clock
	changed   *bell // rings at every new request and effect
	ledger    *ledger
	keys      *keys
	faults    *faults
	settings  *settings
	requests  *requests
	callbacks *callbacks

	http     *http.Server
	listener net.Listener
	smtp     *smtpServer
	failed   chan error // a listener that broke

	mu       sync.Mutex
	released chan struct{} // closed at a reset and at the end: nothing stays held
	stopping bool
}

// start opens the listeners and serves in the background.
func start(cfg config) (*sandbox, error) {
	if cfg.log == nil {
		cfg.log = slog.New(slog.DiscardHandler)
	}
	if cfg.idTag == "" {
		cfg.idTag = startTag(time.Now())
	}
	changed := &bell{}
	s := &sandbox{
		cfg: cfg, log: cfg.log, clock: &clock{}, changed: changed,
		ledger: newLedger(cfg.idTag, changed), keys: newKeys(), faults: &faults{},
		settings: newSettings(), requests: newRequests(changed),
		failed: make(chan error, 2), released: make(chan struct{}),
	}
	s.callbacks = newCallbacks(s)
	var err error
	if s.listener, err = net.Listen("tcp", cfg.addr); err != nil {
		return nil, fmt.Errorf("listen for HTTP: %w", err)
	}
	if cfg.smtpAddr != "" {
		if s.smtp, err = startSMTP(s); err != nil {
			s.listener.Close()
			return nil, fmt.Errorf("listen for SMTP: %w", err)
		}
	}
	s.http = &http.Server{
		Handler:           http.NewCrossOriginProtection().Handler(s.routes()),
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	go func() {
		if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- fmt.Errorf("serve HTTP: %w", err)
		}
	}()
	return s, nil
}

// routes is every address of the sandbox.
func (s *sandbox) routes() http.Handler {
	mux := http.NewServeMux()
	for _, d := range systems {
		if d.byHTTP() {
			d.route(s, mux)
		}
	}
	s.routeControl(mux)
	s.routeNews(mux)
	s.routePage(mux)
	return mux
}

func (s *sandbox) addr() string { return s.listener.Addr().String() }

func (s *sandbox) smtpAddr() string {
	if s.smtp == nil {
		return ""
	}
	return s.smtp.listener.Addr().String()
}

// release lets go of everything held: stalled answers, slow executions, waits.
// After the end of the program nothing is held any more.
func (s *sandbox) release(stopping bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return
	}
	s.stopping = stopping
	close(s.released)
	if !stopping {
		s.released = make(chan struct{})
	}
}

func (s *sandbox) releasing() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.released
}

// sleep waits for d of real time. It tells whether it slept to the end, and
// not until done, a reset or the end of the program.
func (s *sandbox) sleep(d time.Duration, done <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-done:
	case <-s.releasing():
	}
	return false
}

// sleepByClock waits for d by the sandbox's own clock: to advance it ends the wait earlier. It
// tells whether it slept to the end, and not until a reset or the end of the program.
func (s *sandbox) sleepByClock(d time.Duration) bool {
	released := s.releasing()
	for until := s.clock.now().Add(d); ; {
		moved := s.clock.moved.next()
		left := until.Sub(s.clock.now())
		if left <= 0 {
			return true
		}
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-moved:
		case <-released:
			timer.Stop()
			return false
		}
		timer.Stop()
	}
}

// reset forgets effects, keys, faults, settings, requests and the advanced
// clock. IDs are not used again.
func (s *sandbox) reset() {
	s.faults.clear("", 0)
	s.release(false)
	s.callbacks.clear()
	s.settings.reset()
	s.clock.reset()
	s.keys.clear()
	s.ledger.clear()
	s.requests.clear()
}

// stop ends the program: it releases what is held and lets answers finish.
func (s *sandbox) stop() {
	s.release(true)
	s.callbacks.clear()
	if s.smtp != nil {
		s.smtp.stop()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		s.http.Close()
	}
}
