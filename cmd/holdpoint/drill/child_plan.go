package drill

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"holdpoint/operation"
)

// said is one line that an acceptance in a process of its own writes.
type said struct {
	Case  *operation.AcceptanceCase  `json:"case,omitempty"`
	Sheet *operation.AcceptanceSheet `json:"sheet,omitempty"`
}

// WriteAcceptance runs the plan in a file and writes each case and then the sheet as JSON
// Lines.
func WriteAcceptance(ctx context.Context, o Options, program, path string, w io.Writer) error {
	plan, err := ReadPlan(path)
	if err != nil {
		return err
	}
	e := json.NewEncoder(w)
	sheet, err := Accept(ctx, o, program, plan, func(c operation.AcceptanceCase) { _ = e.Encode(said{Case: &c}) })
	if err != nil {
		return err
	}
	return e.Encode(said{Sheet: &sheet})
}

// AcceptInChild runs a plan in a process of its own, which ends with this one. ctx breaks
// it off.
func AcceptInChild(ctx context.Context, o Options, plan operation.AcceptancePlan, ended func(operation.AcceptanceCase)) (sheet operation.AcceptanceSheet, err error) {
	dir, err := os.MkdirTemp("", "holdpoint-acceptance-")
	if err != nil {
		return sheet, err
	}
	defer os.RemoveAll(dir)
	// PostgreSQL may run under another account: it must find its folder in here.
	if err := os.Chmod(dir, 0o711); err != nil {
		return sheet, err
	}
	if o.Binary == "" {
		if o.Binary, err = os.Executable(); err != nil {
			return sheet, err
		}
	}
	raw, err := json.Marshal(plan)
	if err != nil {
		return sheet, err
	}
	path := filepath.Join(dir, "plan.json")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		return sheet, err
	}
	args := []string{"drill", "--plan", path}
	if o.Sandbox != "" {
		args = append(args, "--sandbox", o.Sandbox)
	}
	out, log := &lines{take: ended}, &lastBytes{}
	c, err := startChild("acceptance", withFolder(os.Environ(), dir), log, out, o.Binary, args...)
	if err != nil {
		return sheet, err
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		c.stop(10 * time.Second)
		return sheet, ctx.Err()
	}
	if c.err != nil || out.sheet == nil {
		return sheet, fmt.Errorf("the acceptance could not be run: %s", cmpOr(log.text(), fmt.Sprint(errors.Join(c.err, out.err))))
	}
	return *out.sheet, out.err
}

// withFolder lets the process keep its temporary files in a folder that goes with it.
func withFolder(env []string, dir string) []string {
	var out []string
	for _, kv := range env {
		if !strings.HasPrefix(kv, "TMPDIR=") {
			out = append(out, kv)
		}
	}
	return append(out, "TMPDIR="+dir)
}

// lines reads what the process says, a line at a time.
type lines struct {
	take  func(operation.AcceptanceCase)
	rest  []byte
	sheet *operation.AcceptanceSheet
	err   error
}

// Write takes whole lines and keeps the rest.
func (l *lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		line, rest, ok := bytes.Cut(l.rest, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		l.rest = rest
		var s said
		if err := json.Unmarshal(line, &s); err != nil {
			l.err = errors.Join(l.err, err)
		}
		if s.Case != nil {
			l.take(*s.Case)
		}
		if s.Sheet != nil {
			l.sheet = s.Sheet
		}
	}
}

// lastBytes keeps the end of what a process wrote.
type lastBytes struct {
	mu sync.Mutex
	b  []byte
}

// Write keeps the last 4 KiB.
func (l *lastBytes) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b = append(l.b, p...)
	if len(l.b) > 4<<10 {
		l.b = append([]byte(nil), l.b[len(l.b)-4<<10:]...)
	}
	return len(p), nil
}

func (l *lastBytes) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimSpace(string(l.b))
}
