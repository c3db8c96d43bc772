package wrap

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"holdpoint/handlers/api/client"
)

// Codes of a report. CodeExecFailed counts as not started only where the profile lists it.
const (
	CodeExecFailed    = "exec_failed"       // the command could not be executed at all
	CodeNoReference   = "reference_missing" // exit 0, but no reference in the output
	CodeManyRefs      = "reference_ambiguous"
	CodeContradiction = "contradiction" // a reference, and an exit code that says that nothing was executed
	CodeTimeLimit     = "time_limit"
)

// forwarded are the signals that go on to the command.
var forwarded = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2}

// run runs the command and judges how it ended.
func (r *running) run(ctx context.Context, p client.Permit) client.Report {
	data, err := os.MkdirTemp("", "holdpoint-run-")
	if err != nil {
		return client.Report{Outcome: client.NotStarted, Code: CodeExecFailed, Excerpt: err.Error()}
	}
	defer os.RemoveAll(data)
	env, err := r.environment(p, data)
	if err != nil {
		return client.Report{Outcome: client.NotStarted, Code: CodeExecFailed, Excerpt: err.Error()}
	}
	out := &printed{}
	cmd := exec.Command(r.path, r.Command[1:]...)
	cmd.Args[0] = r.Command[0]
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = env, io.MultiWriter(r.Stdout, out), r.Stderr, 2*time.Second
	// The kernel ends the command when the thread that started it ends: it must not go away
	// before this process does.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = ownGroup()
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, forwarded...)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return client.Report{Outcome: client.NotStarted, Code: CodeExecFailed, Excerpt: err.Error()}
	}
	ended := make(chan struct{})
	late := make(chan bool, 1)
	go func() { late <- r.watch(ctx, cmd.Process.Pid, signals, ended) }()
	err = cmd.Wait()
	close(ended)
	return r.judge(cmd.ProcessState, err, <-late, out)
}

// watch hands signals on and ends the command's group at its time limit. It reports
// whether the limit was reached.
func (r *running) watch(ctx context.Context, pid int, signals <-chan os.Signal, ended <-chan struct{}) (late bool) {
	limit, ok := ctx.Deadline()
	if !ok {
		limit = time.Now().Add(time.Hour)
	}
	grace := min(r.Grace, time.Until(limit)/4)
	soft, hard := time.After(time.Until(limit)-grace), time.After(time.Until(limit))
	for {
		select {
		case <-ended:
			return late
		case s := <-signals:
			_ = syscall.Kill(-pid, s.(syscall.Signal))
		case <-soft:
			late = true
			r.Say("the time limit is reached; the command is asked to end")
			_ = syscall.Kill(-pid, syscall.SIGTERM)
		case <-hard:
			late = true
			_ = syscall.Kill(-pid, syscall.SIGKILL)
		}
	}
}

// judge says what is proven. The zero outcome is unknown.
func (r *running) judge(state *os.ProcessState, err error, late bool, out *printed) client.Report {
	refs := out.references(r.Output)
	report := client.Report{Excerpt: out.tail()}
	status, _ := state.Sys().(syscall.WaitStatus)
	code, listed := r.Exits[status.ExitStatus()]
	switch {
	case late:
		report.Code = CodeTimeLimit
	case status.Signaled():
		report.Code = "signal_" + fmt.Sprint(int(status.Signal()))
	case err != nil && !errors.As(err, new(*exec.ExitError)):
		report.Code = "output_not_whole"
	case status.ExitStatus() != 0 && listed && len(refs) > 0:
		report.Code = CodeContradiction
	case status.ExitStatus() != 0 && listed:
		report.Outcome, report.Code = client.NotStarted, code
	case status.ExitStatus() != 0:
		report.Code = fmt.Sprint("exit_", status.ExitStatus())
	case len(refs) == 0:
		report.Code = CodeNoReference
	case len(refs) > 1:
		report.Code = CodeManyRefs
	default:
		report.Outcome, report.Code, report.TargetReference = client.Confirmed, "confirmed_by_output", refs[0]
	}
	return report
}

// environment gives the command the operation's data, and nothing of ours: every
// variable of Holdpoint's own settings stays behind.
func (r *running) environment(p client.Permit, data string) ([]string, error) {
	request, err := json.MarshalIndent(p.Request, "", "  ")
	if err != nil {
		return nil, err
	}
	content, sent := filepath.Join(data, "content.json"), filepath.Join(data, "request.json")
	for path, raw := range map[string][]byte{content: p.Content, sent: request} {
		if err := os.WriteFile(path, append(raw, '\n'), 0o600); err != nil {
			return nil, err
		}
	}
	var env []string
	for _, e := range r.Env {
		if name, _, _ := strings.Cut(e, "="); !ours(name) {
			env = append(env, e)
		}
	}
	return append(env, "HOLDPOINT_OPERATION_ID="+r.Operation, "HOLDPOINT_ATTEMPT_ID="+p.Attempt, "HOLDPOINT_KEY="+p.Key,
		"HOLDPOINT_DESTINATION="+p.Destination, "HOLDPOINT_ACTION="+p.Action, "HOLDPOINT_CONTENT_FILE="+content, "HOLDPOINT_REQUEST_FILE="+sent,
		"HOLDPOINT_DEADLINE="+time.Now().Add(p.Left()).UTC().Format(time.RFC3339)), nil
}

func ours(name string) bool {
	return strings.HasPrefix(name, "HOLDPOINT_") || name == "DATABASE_URL"
}
