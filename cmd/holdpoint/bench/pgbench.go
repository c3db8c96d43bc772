package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// reference is a pgbench database on the same server.
type reference struct {
	bin, url string
}

var (
	tpsLine     = regexp.MustCompile(`tps = ([0-9.]+) \(without initial connection time\)`)
	latencyLine = regexp.MustCompile(`latency average = ([0-9.]+) ms`)
)

// reference makes a pgbench database of scale 10 on the same server.
func (h *house) reference(ctx context.Context) (*reference, error) {
	bin, err := h.pgbench()
	if err != nil {
		return nil, err
	}
	createdb := filepath.Join(h.pg.BinDir(), "createdb")
	if out, err := exec.CommandContext(ctx, createdb, "--maintenance-db="+h.pg.AdminURL(), "-O", "holdpoint_owner", "pgbench").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("createdb: %w: %s", err, out)
	}
	r := &reference{bin: bin, url: h.pg.OwnerURL("pgbench")}
	if out, err := exec.CommandContext(ctx, bin, "-i", "-s", "10", "-q", r.url).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("pgbench -i: %w: %s", err, out)
	}
	return r, nil
}

// run runs pgbench for a time; args choose the script.
func (r *reference) run(ctx context.Context, clients int, d time.Duration, args ...string) (slice, error) {
	watch, used := watchCPU(), ownTicks()
	args = append([]string{"-n", "-c", strconv.Itoa(clients), "-j", strconv.Itoa(min(clients, 2)), "-T", strconv.Itoa(max(1, int(d.Seconds())))}, args...)
	out, err := exec.CommandContext(ctx, r.bin, append(args, r.url)...).CombinedOutput()
	if err != nil {
		return slice{}, fmt.Errorf("pgbench: %w: %s", err, out)
	}
	m, l := tpsLine.FindSubmatch(out), latencyLine.FindSubmatch(out)
	if m == nil || l == nil {
		return slice{}, fmt.Errorf("pgbench: cannot read its report: %s", out)
	}
	tps, err1 := strconv.ParseFloat(string(m[1]), 64)
	ms, err2 := strconv.ParseFloat(string(l[1]), 64)
	if err1 != nil || err2 != nil {
		return slice{}, fmt.Errorf("pgbench: cannot read its report: %s", out)
	}
	return slice{perSecond: tps, latencies: []time.Duration{time.Duration(ms * float64(time.Millisecond))}, foreign: watch(), cpu: (ownTicks() - used) / ticksPerSecond}, nil
}

// insertScript prepares the single INSERT of about 300 bytes that intake is compared
// with, and gives the script's path and its removal.
func (r *reference) insertScript(ctx context.Context) (path string, clean func(), err error) {
	psql := filepath.Join(filepath.Dir(r.bin), "psql")
	out, err := exec.CommandContext(ctx, psql, "-qX", "-c",
		"CREATE TABLE IF NOT EXISTS inserts (id bigserial PRIMARY KEY, k text NOT NULL UNIQUE, body text NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp())", r.url).CombinedOutput()
	if err != nil {
		return "", nil, fmt.Errorf("psql: %w: %s", err, out)
	}
	f, err := os.CreateTemp("", "insert-*.sql")
	if err != nil {
		return "", nil, err
	}
	_, err = f.WriteString("INSERT INTO inserts (k, body) VALUES (md5(random()::text || clock_timestamp()::text), repeat('x', 250));\n")
	return f.Name(), func() { _ = os.Remove(f.Name()) }, errors.Join(err, f.Close())
}
