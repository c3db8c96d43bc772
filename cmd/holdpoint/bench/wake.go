package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"holdpoint/jobs"
	"holdpoint/operation"
)

// wake measures the light-load path: an approval's commit to the arrival of the
// request at the destination, at perSecond approvals a second, with the real jobs.
func (h *house) wake(ctx context.Context, perSecond float64, d time.Duration, log io.Writer) (Wake, error) {
	var mu sync.Mutex
	approved := map[operation.ID]time.Time{}
	var lat []time.Duration
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := time.Now()
		var body struct {
			Reference operation.ID `json:"reference"`
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		mu.Lock()
		if t, ok := approved[body.Reference]; ok {
			lat = append(lat, now.Sub(t))
			delete(approved, body.Reference)
		}
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"id":"W-%s"}`, body.Reference)
	}))
	defer srv.Close()
	// The gate's slices have left a wake-up for each approval, all of them done with.
	psql := filepath.Join(h.pg.BinDir(), "psql")
	if out, err := exec.CommandContext(ctx, psql, "-qX", "-c", "TRUNCATE river_job", h.pg.OwnerURL("")).CombinedOutput(); err != nil {
		return Wake{}, fmt.Errorf("psql: %w: %s", err, out)
	}
	// The address is part of each version; only operations made from here on use it.
	if err := os.Setenv("BENCH_URL", srv.URL); err != nil {
		return Wake{}, err
	}
	w, err := jobs.New(jobs.Config{Store: h.st, Log: slog.New(slog.DiscardHandler), Name: "bench", Effects: 8, Lookups: 1})
	if err != nil {
		return Wake{}, err
	}
	if err := w.Start(ctx); err != nil {
		return Wake{}, err
	}
	defer func() { _ = w.Stop(context.WithoutCancel(ctx)) }()
	if err := h.firstWake(ctx, func() int { mu.Lock(); defer mu.Unlock(); return len(lat) }, func(id operation.ID) { mu.Lock(); approved[id] = time.Now(); mu.Unlock() }); err != nil {
		return Wake{}, err
	}
	mu.Lock()
	lat = nil
	mu.Unlock()
	tick := time.NewTicker(time.Duration(float64(time.Second) / perSecond))
	defer tick.Stop()
	count := 0
	for end := time.Now().Add(d); time.Now().Before(end); count++ {
		select {
		case <-ctx.Done():
			return Wake{}, ctx.Err()
		case <-tick.C:
		}
		v, err := h.intake(ctx)
		if err != nil {
			return Wake{}, err
		}
		// The clock starts before the commit's answer is read: never too kind to us.
		mu.Lock()
		approved[v.Operation] = time.Now()
		mu.Unlock()
		if err := h.approve(ctx, v); err != nil {
			return Wake{}, err
		}
	}
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		mu.Lock()
		n := len(lat)
		mu.Unlock()
		if n == count {
			break
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(lat) < count {
		return Wake{}, fmt.Errorf("wake: %d of %d approvals led to a request", len(lat), count)
	}
	fmt.Fprintf(log, "wake: %d approvals\n", count)
	return Wake{PerSecond: perSecond, Count: count, P50: quantile(lat, 0.50), P99: quantile(lat, 0.99)}, nil
}

// firstWake waits until the workers listen: one approval has led to a request. The
// moments in which a process starts are not what wake measures.
func (h *house) firstWake(ctx context.Context, arrived func() int, note func(operation.ID)) error {
	v, err := h.intake(ctx)
	if err != nil {
		return err
	}
	note(v.Operation)
	if err := h.approve(ctx, v); err != nil {
		return err
	}
	for end := time.Now().Add(20 * time.Second); arrived() == 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			return fmt.Errorf("wake: the first approval led to no request")
		}
	}
	return nil
}

// residentMB reads this process's resident memory in MB; 0 where /proc is missing.
func residentMB() float64 {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, _ := strconv.ParseFloat(strings.Fields(v)[0], 64)
			return kb / 1024
		}
	}
	return 0
}
