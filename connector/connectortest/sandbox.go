package connectortest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// SandboxEnv names the environment variable with the path of a sandbox binary that is
// already built. Without it the tests build ./cmd/sandbox themselves.
const SandboxEnv = "HOLDPOINT_TEST_SANDBOX"

// Sandbox is a running sandbox of its own for one test.
type Sandbox struct {
	URL  string // "http://127.0.0.1:port", without a slash at the end
	SMTP string // "127.0.0.1:port"
}

// Effect is one thing that really exists at a destination.
type Effect struct {
	Destination string         `json:"destination"`
	Effect      string         `json:"effect"` // task, invoice, coupon, email, thing, message
	ID          string         `json:"id"`
	Reference   string         `json:"reference"` // our operation ID or Message-ID, where the request carried one
	Key         string         `json:"key"`
	RequestHash string         `json:"request_hash"`
	Time        time.Time      `json:"time"`
	Deleted     bool           `json:"deleted"`
	Fields      map[string]any `json:"fields"`
}

// Request is one request as the sandbox received it.
type Request struct {
	Number      int         `json:"number"`
	Destination string      `json:"destination"` // "elsewhere" = a redirect was followed
	Method      string      `json:"method"`      // "SMTP" for a mail
	Path        string      `json:"path"`
	Headers     http.Header `json:"headers"` // Authorization masked
	Body        string      `json:"body"`
	Lookup      bool        `json:"lookup"` // it asked, and could have no effect
	Fault       string      `json:"fault"`
	Status      int         `json:"status"` // 0 = no answer
	Answered    string      `json:"answered"`
}

// Fault orders misbehaviour. Its fields are those of POST /_control/faults.
type Fault struct {
	Destination string        // crm, billing, mail, plain, smtp
	Fault       string        // "drop_after_execute" …
	Times       int           // how often; 0 = once, Forever = until reset
	Match       string        // "/path", "Header: value" or text in the body; "" = any
	On          string        // effect, lookup, any; SMTP also rcpt, data; "" = the fault's own default
	Delay       time.Duration // 0 = the fault's own default
	Status      int           // 0 = the fault's own default
	Body        string        // "" = the fault's own default
	Location    string        // of a redirect
}

// Forever keeps a fault until the sandbox is reset.
const Forever = -1

// StartSandbox starts a sandbox on free ports and stops it when the test ends. Flags
// such as "-smtp-starttls" may be added.
func StartSandbox(t testing.TB, flags ...string) *Sandbox {
	t.Helper()
	bin := sandboxBinary(t)
	args := append([]string{"-addr", "127.0.0.1:0", "-smtp-addr", "127.0.0.1:0"}, flags...)
	cmd := exec.Command(bin, args...)
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start the sandbox: %v", err)
	}
	t.Cleanup(func() { stopSandbox(t, cmd, &log) })

	ready := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(out).ReadString('\n')
		ready <- line
		_, _ = io.Copy(io.Discard, out)
	}()
	var line string
	select {
	case line = <-ready:
	case <-time.After(20 * time.Second):
		t.Fatal("the sandbox did not announce its addresses in 20 s")
	}
	var announced struct{ Addr, SMTP string }
	if err := json.Unmarshal([]byte(line), &announced); err != nil {
		t.Fatalf("the sandbox announced %q: %v", line, err)
	}
	box := &Sandbox{URL: "http://" + announced.Addr, SMTP: announced.SMTP}
	running.Store(box.URL, true)
	return box
}

// running holds the URLs of the sandboxes that this process has started.
var running sync.Map

// IsSandbox tells whether a sandbox of this process answers at base, and not one of the
// suite's misbehaving servers, which count every connection: see Harness.Prepare.
func IsSandbox(base string) bool {
	_, is := running.Load(base)
	return is
}

func stopSandbox(t testing.TB, cmd *exec.Cmd, log *bytes.Buffer) {
	_ = cmd.Process.Signal(syscall.SIGTERM)
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		_ = cmd.Process.Kill()
		<-done
	}
	if t.Failed() && log.Len() > 0 {
		t.Logf("the sandbox wrote:\n%s", log.String())
	}
}

// built is the sandbox binary that running tests of this process share.
var built struct {
	mu    sync.Mutex
	users int
	dir   string
}

func sandboxBinary(t testing.TB) string {
	t.Helper()
	if path := os.Getenv(SandboxEnv); path != "" {
		return path
	}
	built.mu.Lock()
	defer built.mu.Unlock()
	if built.users == 0 {
		dir, err := os.MkdirTemp("", "holdpoint-sandbox-")
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("go", "build", "-o", filepath.Join(dir, "sandbox"), "holdpoint/cmd/sandbox")
		if out, err := cmd.CombinedOutput(); err != nil {
			_ = os.RemoveAll(dir)
			t.Fatalf("build the sandbox: %v\n%s", err, out)
		}
		built.dir = dir
	}
	built.users++
	t.Cleanup(func() {
		built.mu.Lock()
		defer built.mu.Unlock()
		if built.users--; built.users == 0 {
			_ = os.RemoveAll(built.dir)
		}
	})
	return filepath.Join(built.dir, "sandbox")
}

// Fault injects misbehaviour.
func (s *Sandbox) Fault(t testing.TB, f Fault) {
	t.Helper()
	order := map[string]any{"destination": f.Destination, "fault": f.Fault}
	put := func(name string, v any, given bool) {
		if given {
			order[name] = v
		}
	}
	put("times", max(f.Times, 0), f.Times != 0)
	put("match", f.Match, f.Match != "")
	put("on", f.On, f.On != "")
	put("delay", f.Delay.String(), f.Delay != 0)
	put("status", f.Status, f.Status != 0)
	put("body", f.Body, f.Body != "")
	put("location", f.Location, f.Location != "")
	s.post(t, "/_control/faults", order)
}

// Ledger gives the effects that exist at a destination, oldest first; an empty
// reference gives all of them.
func (s *Sandbox) Ledger(t testing.TB, destination, reference string) []Effect {
	t.Helper()
	var out struct{ Effects []Effect }
	s.get(t, "/_control/ledger?"+url.Values{"destination": {destination}, "reference": {reference}}.Encode(), &out)
	return out.Effects
}

// Requests gives what a destination received, oldest first; "" means all destinations.
func (s *Sandbox) Requests(t testing.TB, destination string) []Request {
	t.Helper()
	var out struct{ Requests []Request }
	s.get(t, "/_control/requests?"+url.Values{"destination": {destination}}.Encode(), &out)
	return out.Requests
}

// WaitEffects waits until a destination holds n effects with this reference, at most
// limit of real time, and reports whether it came to that.
func (s *Sandbox) WaitEffects(t testing.TB, destination, reference string, n int, limit time.Duration) bool {
	t.Helper()
	var out struct{ Reached bool }
	q := url.Values{"destination": {destination}, "reference": {reference}, "effects": {strconv.Itoa(n)}, "timeout": {limit.String()}}
	s.get(t, "/_control/wait?"+q.Encode(), &out)
	return out.Reached
}

// Advance sets the sandbox's own clock forward.
func (s *Sandbox) Advance(t testing.TB, d time.Duration) {
	t.Helper()
	s.post(t, "/_control/clock", map[string]any{"advance": d.String()})
}

// Settings changes a destination's habits: "retention", "index_lag", "auto_deliver".
func (s *Sandbox) Settings(t testing.TB, destination string, values map[string]time.Duration) {
	t.Helper()
	order := map[string]any{"destination": destination}
	for name, d := range values {
		order[name] = d.String()
	}
	s.post(t, "/_control/settings", order)
}

// Reset forgets effects, keys, faults, settings, requests and the advanced clock.
func (s *Sandbox) Reset(t testing.TB) {
	t.Helper()
	s.post(t, "/_control/reset", map[string]any{})
}

func (s *Sandbox) post(t testing.TB, path string, body any) {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(s.URL+path, "application/json", bytes.NewReader(raw))
	if err := readControl(resp, err, nil); err != nil {
		t.Fatalf("sandbox %s %s: %v", path, raw, err)
	}
}

func (s *Sandbox) get(t testing.TB, path string, into any) {
	t.Helper()
	resp, err := http.Get(s.URL + path)
	if err := readControl(resp, err, into); err != nil {
		t.Fatalf("sandbox %s: %v", path, err)
	}
}

func readControl(resp *http.Response, err error, into any) error {
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return err
	case resp.StatusCode >= 300:
		return fmt.Errorf("%s: %s", resp.Status, raw)
	case into == nil:
		return nil
	case len(raw) == 0:
		return errors.New("empty answer")
	}
	return json.Unmarshal(raw, into)
}
