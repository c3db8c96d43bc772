package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"holdpoint/store/pglocal"
	"holdpoint/store/storetest"
)

// asMain makes the test binary behave as the product's.
const asMain = "HOLDPOINT_TEST_AS_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asMain) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(storetest.Run(m))
}

// house is one data folder with its settings.
type house struct {
	t    *testing.T
	data string
	env  []string
}

func newHouse(t *testing.T, env ...string) *house {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	t.Cleanup(func() {
		if dir, err := pglocal.DefaultDir(data); err == nil {
			_ = pglocal.Remove(dir)
		}
	})
	clean := []string{asMain + "=1", "HOLDPOINT_DATA=" + data}
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "HOLDPOINT_") && !strings.HasPrefix(e, "DATABASE_URL=") && !strings.HasPrefix(e, "SANDBOX_") {
			clean = append(clean, e)
		}
	}
	return &house{t, data, append(clean, env...)}
}

// run runs a command to its end.
func (h *house) run(args ...string) (stdout, stderr string, code int) {
	h.t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = h.env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if err != nil && cmd.ProcessState == nil {
		h.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// must runs a command that must end well.
func (h *house) must(args ...string) string {
	h.t.Helper()
	out, errs, code := h.run(args...)
	if code != 0 {
		h.t.Fatalf("holdpoint %v ended with %d:\n%s", args, code, errs)
	}
	return out
}

// running is a server or worker process.
type running struct {
	t     *testing.T
	cmd   *exec.Cmd
	out   lockedBuffer
	log   lockedBuffer
	lines chan map[string]any
	took  time.Duration // until the awaited line
}

// start starts a command and waits for a log line with this message.
func (h *house) start(message string, args ...string) (*running, map[string]any) {
	h.t.Helper()
	r := &running{t: h.t, cmd: exec.Command(os.Args[0], args...), lines: make(chan map[string]any, 1000)}
	r.cmd.Env = h.env
	r.cmd.Stdout = &r.out
	errs, err := r.cmd.StderrPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	began := time.Now()
	if err := r.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	go func() {
		scan := bufio.NewScanner(errs)
		for scan.Scan() {
			_, _ = r.log.Write(append(scan.Bytes(), '\n'))
			var line map[string]any
			if json.Unmarshal(scan.Bytes(), &line) == nil {
				r.lines <- line
			}
		}
		close(r.lines)
	}()
	h.t.Cleanup(func() {
		_ = r.cmd.Process.Kill()
		_ = r.cmd.Wait()
		if h.t.Failed() {
			h.t.Logf("holdpoint %v wrote:\n%s", args, r.log.String())
		}
	})
	limit := time.After(time.Minute)
	for {
		select {
		case line, ok := <-r.lines:
			if !ok {
				h.t.Fatalf("holdpoint %v ended before %q", args, message)
			}
			if line["msg"] == message {
				r.took = time.Since(began)
				return r, line
			}
		case <-limit:
			h.t.Fatalf("holdpoint %v did not say %q within a minute", args, message)
		}
	}
}

// stop asks the process to end and gives its exit code.
func (r *running) stop() int {
	r.t.Helper()
	_ = r.cmd.Process.Signal(syscall.SIGTERM)
	for range r.lines {
	}
	_ = r.cmd.Wait()
	return r.cmd.ProcessState.ExitCode()
}

func status(t *testing.T, url string) int {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
