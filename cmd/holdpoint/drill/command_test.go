package drill

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// ground is a folder for temporary files that nobody else uses: what is left of a drill
// is found in it, and its processes by it.
func ground(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hp-ground-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil { // PostgreSQL's account passes through
		t.Fatal(err)
	}
	return dir
}

func command(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	o, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(o.Binary, append([]string{"drill", "--sandbox", o.Sandbox}, args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	return cmd
}

// nothingLeft checks that a drill left neither files nor processes.
func nothingLeft(t *testing.T, dir string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) > 0 {
		t.Errorf("files are left: %v, %v", files, err)
	}
	if runtime.GOOS != "linux" {
		return
	}
	procs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, p := range procs {
		env, err := os.ReadFile(p)
		if err == nil && bytes.Contains(env, []byte("TMPDIR="+dir+"\x00")) {
			name, _ := os.ReadFile(filepath.Join(filepath.Dir(p), "comm"))
			t.Errorf("a process is left: %s %s", filepath.Base(filepath.Dir(p)), name)
		}
	}
}

func TestCommandWritesOnlyJSON(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a whole drill")
	}
	dir := ground(t)
	cmd := command(t, dir, "--json")
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	var rep Report
	d := json.NewDecoder(&out)
	d.DisallowUnknownFields()
	if err := d.Decode(&rep); err != nil || d.More() {
		t.Fatalf("standard output is not one JSON object: %v", err)
	}
	if !rep.Passed || len(rep.Cases) != len(Cases) || rep.Took <= 0 || rep.Took > 60 {
		t.Errorf("passed %v, %d cases, %.1f s", rep.Passed, len(rep.Cases), rep.Took)
	}
	nothingLeft(t, dir)
}

func TestCommandEndsCleanlyOnCtrlC(t *testing.T) {
	t.Parallel()
	dir := ground(t)
	cmd := command(t, dir)
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	guard := time.AfterFunc(90*time.Second, func() { _ = cmd.Process.Kill() })
	defer guard.Stop()
	lines := bufio.NewScanner(log)
	var said strings.Builder
	for lines.Scan() {
		said.WriteString(lines.Text() + "\n")
		if strings.HasPrefix(lines.Text(), "AC1_") { // everything runs, AC2 is under way
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
		}
	}
	var ended *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &ended) || ended.ExitCode() != 1 {
		t.Errorf("ended with %v, want exit code 1", err)
	}
	if !strings.Contains(said.String(), "stopped") {
		t.Errorf("it said:\n%s", said.String())
	}
	nothingLeft(t, dir)
}
