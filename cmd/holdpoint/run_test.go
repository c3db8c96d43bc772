package main

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"holdpoint/cmd/holdpoint/wrap"
	"holdpoint/handlers/api"
	"holdpoint/handlers/api/client"
	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"

	"github.com/labstack/echo/v4"
)

// robot is a server with the recipe's destination and flow, and a folder with scripts.
type robot struct {
	*storetest.Fixture
	t        *testing.T
	url, dir string
	token    string
	cut      *atomic.Bool // reports are not answered
}

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

func newRobot(t *testing.T, change ...string) *robot {
	t.Helper()
	r := &robot{Fixture: storetest.NewFixture(t), t: t, dir: t.TempDir(), cut: new(atomic.Bool)}
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "systems", "cron-and-rpa.md"))
	if err != nil {
		t.Fatal(err)
	}
	var files []store.File
	for i, b := range yamlBlock.FindAllStringSubmatch(string(doc), -1) {
		files = append(files, store.File{Name: string(rune('a' + i)), Source: []byte(strings.NewReplacer(change...).Replace(b[1]))})
	}
	if _, err := r.Store.Apply(t.Context(), store.System("command"), files); err != nil || len(files) != 2 {
		t.Fatalf("the recipe's %d files: %v", len(files), err)
	}
	if _, r.token, err = r.Store.AddToken(t.Context(), store.System("command"), store.NewToken{Name: "robot", Scopes: []string{"operations", "claims"},
		Flows: []string{"book-invoice"}, Destinations: []string{"erp-robot"}}); err != nil {
		t.Fatal(err)
	}
	e := echo.New()
	if err := api.Register(e.Group("/api"), api.Deps{Store: r.Store, Log: slog.New(slog.DiscardHandler), PublicURL: "https://hold.example.test"}); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if r.cut.Load() && strings.HasSuffix(req.URL.Path, "/outcome") {
			http.Error(w, "cut", http.StatusBadGateway)
			return
		}
		e.ServeHTTP(w, req)
	}))
	t.Cleanup(srv.Close)
	r.url = srv.URL
	r.write("inputs.json", `{"invoice": "R-4711", "amount": 1200}`)
	return r
}

// with is the same robot in a test within the test.
func (r *robot) with(t *testing.T) *robot {
	sub := *r
	sub.t = t
	return &sub
}

func (r *robot) write(name, text string) string {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		r.t.Fatal(err)
	}
	return path
}

// script makes a script that marks each of its runs.
func (r *robot) script(name, body string) string {
	return r.write(name, "#!/bin/sh\necho run >>"+filepath.Join(r.dir, name+".marks")+"\n"+body+"\n")
}

// marks counts how often a script ran.
func (r *robot) marks(name string) int {
	raw, _ := os.ReadFile(filepath.Join(r.dir, name+".marks"))
	return bytes.Count(raw, []byte("\n"))
}

// command gives a call of holdpoint run, as cron would make it: no terminal, no input.
func (r *robot) command(key string, flags []string, command ...string) (*exec.Cmd, *bytes.Buffer) {
	args := append([]string{"run", "--flow", "book-invoice", "--key", key, "--inputs", filepath.Join(r.dir, "inputs.json"), "--state", filepath.Join(r.dir, "state")}, flags...)
	cmd := exec.Command(os.Args[0], append(append(args, "--"), command...)...)
	cmd.Env = []string{asMain + "=1", "HOLDPOINT_URL=" + r.url, "HOLDPOINT_TOKEN=" + r.token, "DATABASE_URL=postgres://secret", "HOLDPOINT_KEY_FILE=/secret", "PATH=" + os.Getenv("PATH"), "KEPT=yes"}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	return cmd, &out
}

// call runs to the end and checks the exit code.
func (r *robot) call(want int, key string, flags []string, command ...string) string {
	r.t.Helper()
	cmd, out := r.command(key, flags, command...)
	_ = cmd.Run()
	if got := cmd.ProcessState.ExitCode(); got != want {
		r.t.Errorf("%s %v ended with %d, want %d:\n%s", key, command, got, want, out)
	}
	return out.String()
}

// approve approves the operation that a key has started.
func (r *robot) approve(key string) operation.ID {
	r.t.Helper()
	id := r.id(key)
	r.Approve(r.t, id, "lead")
	return id
}

func (r *robot) id(key string) operation.ID {
	r.t.Helper()
	made, err := client.New(r.url, r.token).Create(r.t.Context(), key, client.NewOperation{Flow: "book-invoice", RunKey: key, Inputs: map[string]any{"invoice": "R-4711", "amount": 1200}})
	if err != nil || !made.Repeated {
		r.t.Fatalf("%+v %v", made, err)
	}
	return operation.ID(made.Operation)
}

// permit starts the run of a key and approves it.
func (r *robot) permit(key string) operation.ID {
	r.t.Helper()
	r.call(wrap.NotYet, key, nil, "/bin/true")
	return r.approve(key)
}

// await waits until a condition holds.
func (r *robot) await(what string, holds func() bool) {
	r.t.Helper()
	for limit := time.Now().Add(20 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			r.t.Fatalf("%s: not within 20 s", what)
		}
	}
}

func TestRunUnderTheGate(t *testing.T) {
	t.Parallel()
	r := newRobot(t)
	script := r.script("book", `env >`+r.dir+`/env; cat "$HOLDPOINT_CONTENT_FILE" "$HOLDPOINT_REQUEST_FILE" >`+r.dir+`/data; cat; echo "holdpoint-reference: B-1"`)
	if out := r.call(wrap.NotYet, "k-1", nil, script); r.marks("book") != 0 || !strings.Contains(out, "approve") && !strings.Contains(out, "approv") {
		t.Errorf("before the approval it ran %d times: %s", r.marks("book"), out)
	}
	id := r.approve("k-1")
	r.call(wrap.Confirmed, "k-1", nil, script)
	r.call(wrap.Confirmed, "k-1", nil, script)
	if r.marks("book") != 1 || r.State(t, id) != operation.Confirmed || r.Count(t, "operations WHERE id = $1 AND target_reference = 'B-1'", string(id)) != 1 {
		t.Errorf("ran %d times, %s", r.marks("book"), r.State(t, id))
	}
	env, _ := os.ReadFile(filepath.Join(r.dir, "env"))
	data, _ := os.ReadFile(filepath.Join(r.dir, "data"))
	for _, secret := range []string{r.token, "DATABASE_URL", "HOLDPOINT_KEY_FILE", "HOLDPOINT_TOKEN", "HOLDPOINT_URL", asMain} {
		if bytes.Contains(env, []byte(secret)) {
			t.Errorf("the command sees %s", secret)
		}
	}
	for _, part := range []string{"HOLDPOINT_OPERATION_ID=" + string(id), "HOLDPOINT_KEY=" + string(id), "HOLDPOINT_ACTION=book_invoice", "HOLDPOINT_DEADLINE=2", "KEPT=yes"} {
		if !bytes.Contains(env, []byte(part)) {
			t.Errorf("the command does not see %s:\n%s", part, env)
		}
	}
	if !bytes.Contains(data, []byte(`"R-4711"`)) || !bytes.Contains(data, []byte("https://erp.example.test/bookings")) {
		t.Errorf("its data: %s", data)
	}
}

// What ends in any other way than with a reference and exit code 0 is not confirmed.
func TestRunReportsWhatIsProven(t *testing.T) {
	t.Parallel()
	r := newRobot(t)
	bad := r.write("bad-interpreter", "#!/no/such/interpreter\n")
	r.permit("bad")
	r.call(wrap.NotStarted, "bad", nil, bad)
	r.call(wrap.NotStarted, "never-asked", nil, filepath.Join(r.dir, "missing"))
	if n := r.Count(t, "runs WHERE flow = 'book-invoice'"); n != 1 {
		t.Errorf("%d runs: a command that is not there starts one", n)
	}
	for name, c := range map[string]struct {
		body  string
		flags []string
		code  int
	}{
		"no-reference":   {"exit 0", nil, wrap.Unknown},
		"failed":         {"echo holdpoint-reference: B-2; exit 3", nil, wrap.Unknown},
		"signal":         {"kill -9 $$", nil, wrap.Unknown},
		"two-references": {"echo holdpoint-reference: A; echo holdpoint-reference: B", nil, wrap.Unknown},
		"listed":         {"exit 101", []string{"--not-started-exit", "101=erp_locked"}, wrap.NotStarted},
		"not-listed":     {"exit 101", []string{"--not-started-exit", "101=because"}, wrap.Unknown},
		"contradiction":  {"echo holdpoint-reference: B-3; exit 101", []string{"--not-started-exit", "101=erp_locked"}, wrap.Unknown},
		"by-pattern":     {"echo 'Booking no. 77 done'", []string{"--reference-regexp", `no\. (\d+)`}, wrap.Confirmed},
		"by-json":        {`echo '{"result": {"id": 78}}'`, []string{"--reference-json", "result.id"}, wrap.Confirmed},
		"json-missing":   {`echo '{"result": {}}'`, []string{"--reference-json", "result.id"}, wrap.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := r.with(t)
			script := r.script(name, c.body)
			id := r.permit(name)
			r.call(c.code, name, c.flags, script)
			again := map[int]int{wrap.Unknown: wrap.Unknown, wrap.Confirmed: wrap.Confirmed, wrap.NotStarted: wrap.NotYet}[c.code]
			r.call(again, name, c.flags, script) // a retry after not_started is not due yet
			if n := r.marks(name); n != 1 {
				t.Errorf("it ran %d times, state %s", n, r.State(t, id))
			}
		})
	}
}

// A wrapper that is killed takes its command with it; the next call reports that the
// outcome is unknown and runs nothing.
func TestRunKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	r := newRobot(t)
	script := r.script("slow", "exec sleep 300")
	id := r.permit("kill")
	cmd, _ := r.command("kill", nil, script)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r.await("the command's mark", func() bool { return r.marks("slow") == 1 })
	if out := r.call(wrap.NotYet, "kill", nil, script); !strings.Contains(out, "another holdpoint run") {
		t.Errorf("beside the first: %s", out)
	}
	child := childOf(t, cmd.Process.Pid)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	r.await("the command's end", func() bool { return syscall.Kill(child, 0) != nil })
	r.call(wrap.Unknown, "kill", nil, script)
	r.call(wrap.Unknown, "kill", nil, script)
	if n := r.marks("slow"); n != 1 || r.State(t, id) == operation.InProgress {
		t.Errorf("it ran %d times, state %s", n, r.State(t, id))
	}
}

func childOf(t *testing.T, pid int) int {
	t.Helper()
	out, err := exec.Command("pgrep", "-P", strconv.Itoa(pid)).Output()
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatalf("children %q", out)
	}
	return n
}

// A wrapper that could not tell its report leaves it for the next call.
func TestRunReportsLater(t *testing.T) {
	t.Parallel()
	r := newRobot(t)
	script := r.script("told-later", `echo "holdpoint-reference: B-9"`)
	id := r.permit("later")
	r.cut.Store(true)
	cmd, _ := r.command("later", nil, script)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	note := filepath.Join(r.dir, "state", string(id)+".json")
	r.await("the noted report", func() bool {
		raw, _ := os.ReadFile(note)
		return bytes.Contains(raw, []byte("B-9"))
	})
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	r.cut.Store(false)
	r.call(wrap.Confirmed, "later", nil, script)
	if n := r.marks("told-later"); n != 1 || r.State(t, id) != operation.Confirmed {
		t.Errorf("it ran %d times, state %s", n, r.State(t, id))
	}
	if _, err := os.Stat(note); !os.IsNotExist(err) {
		t.Errorf("the note is still there: %v", err)
	}
}

func TestRunHandsSignalsOnAndKeepsTheLimit(t *testing.T) {
	t.Parallel()
	r := newRobot(t, "lease: 10m ", "lease: 3s ", "timeout: 10s", "timeout: 1s")
	polite := r.script("polite", `trap 'echo "holdpoint-reference: T-1"; exit 0' TERM; touch `+r.dir+`/ready; while :; do sleep 0.05; done`)
	r.permit("polite")
	cmd, out := r.command("polite", nil, polite)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r.await("the trap", func() bool { _, err := os.Stat(filepath.Join(r.dir, "ready")); return err == nil })
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait()
	if cmd.ProcessState.ExitCode() != wrap.Confirmed {
		t.Errorf("after a signal: %d %s", cmd.ProcessState.ExitCode(), out)
	}

	stubborn := r.script("stubborn", `trap '' TERM; while :; do sleep 0.05; done`)
	r.permit("stubborn")
	began := time.Now()
	r.call(wrap.Unknown, "stubborn", []string{"--grace", "200ms"}, stubborn)
	if took := time.Since(began); took > 15*time.Second || r.marks("stubborn") != 1 {
		t.Errorf("it took %s and ran %d times", took, r.marks("stubborn"))
	}
}

func TestRunSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	r := newRobot(t)
	true_ := "/bin/true"
	cmd, out := r.command("k", nil, true_)
	cmd.Env = append(cmd.Env, "HOLDPOINT_TOKEN=hp_wrong")
	_ = cmd.Run()
	if cmd.ProcessState.ExitCode() != wrap.NoAccess {
		t.Errorf("a wrong token: %d %s", cmd.ProcessState.ExitCode(), out)
	}
	cmd, out = r.command("k", nil, true_)
	cmd.Env = append(cmd.Env, "HOLDPOINT_URL=http://127.0.0.1:1")
	_ = cmd.Run()
	if cmd.ProcessState.ExitCode() != wrap.Unavailable {
		t.Errorf("nobody answers: %d %s", cmd.ProcessState.ExitCode(), out)
	}
	r.call(1, "k", []string{"--not-started-exit", "0=erp_locked"}, true_)
	r.call(1, "k", []string{"--reference-regexp", "no group"}, true_)

	// the waiting ends as soon as it is approved
	script := r.script("waits", `echo "holdpoint-reference: W-1"`)
	r.call(wrap.NotYet, "wait", nil, script)
	cmd, out = r.command("wait", []string{"--wait", "30s"}, script)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r.approve("wait")
	_ = cmd.Wait()
	if cmd.ProcessState.ExitCode() != wrap.Confirmed || r.marks("waits") != 1 {
		t.Errorf("waiting: %d, ran %d times: %s", cmd.ProcessState.ExitCode(), r.marks("waits"), out)
	}
	r.call(wrap.NotYet, "gone", nil, script)
	id := r.id("gone")
	if err := r.Decide(t, id, "second", operation.Reject); err != nil {
		t.Fatal(err)
	}
	r.call(wrap.Closed, "gone", nil, script)
}
