package jobs

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"holdpoint/connector"
	"holdpoint/operation"
	"holdpoint/store"
)

// The environment of a worker process that a test starts from its own binary.
const (
	childURL   = "HOLDPOINT_TEST_CHILD_URL"
	childPoint = "HOLDPOINT_TEST_CHILD_POINT"
)

// The points of an attempt at which a child waits for one line on its input.
const (
	beforeAct = "before_act" // claimed and dispatched, nothing sent
	afterAct  = "after_act"  // the destination answered, nothing recorded
	nowhere   = "nowhere"
	busy      = "busy" // nowhere, with many attempts at once, and everything swept
)

// child is a worker process. It reports the points it reaches, and ends on SIGTERM as
// `holdpoint work` does.
func child() int {
	stop, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	s, err := store.Open(stop, store.Config{URL: os.Getenv(childURL), Secret: secret})
	if err != nil {
		fmt.Println("failed", err)
		return 1
	}
	defer s.Close()
	in := bufio.NewReader(os.Stdin)
	var mu sync.Mutex
	wait := func(point string, id operation.ID) {
		if os.Getenv(childPoint) == busy {
			return
		}
		fmt.Println(point, id)
		if os.Getenv(childPoint) == point {
			mu.Lock()
			defer mu.Unlock()
			_, _ = in.ReadString('\n')
		}
	}
	cfg := Config{Store: s, Name: "child", Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), Sweep: time.Hour, Effects: 1, StopTimeout: 5 * time.Second}
	if os.Getenv(childPoint) == busy {
		cfg.Sweep, cfg.Effects = 150*time.Millisecond, 16
		cfg.Log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	around(func(o connector.Order) { wait(beforeAct, o.Operation) },
		func(o connector.Order, _ operation.Result) { wait(afterAct, o.Operation) })(&cfg)
	w, err := New(cfg)
	if err == nil {
		err = w.Start(stop)
	}
	if err != nil {
		fmt.Println("failed", err)
		return 1
	}
	fmt.Println("ready")
	<-stop.Done()
	if err := w.Stop(context.Background()); err != nil {
		fmt.Println("failed", err)
		return 1
	}
	fmt.Println("stopped")
	return 0
}

// process is a running child.
type process struct {
	t     testing.TB
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string
	ended chan error
}

// startChild starts a worker process that waits at a point, and returns when it works.
func (w *world) startChild(point string) *process {
	w.t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childURL+"="+w.url, childPoint+"="+point)
	var log syncBuffer
	cmd.Stderr = &log
	in, err := cmd.StdinPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	p := &process{t: w.t, cmd: cmd, in: in, lines: make(chan string, 1000), ended: make(chan error, 1)}
	go func() {
		scan := bufio.NewScanner(out)
		for scan.Scan() {
			p.lines <- scan.Text()
		}
		close(p.lines)
		p.ended <- cmd.Wait()
	}()
	w.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGCONT)
		_ = cmd.Process.Kill()
		if w.t.Failed() {
			w.t.Logf("the worker process wrote:\n%s", log.String())
		}
	})
	p.await("ready")
	return p
}

// await waits for a line that begins with this word.
func (p *process) await(word string) string {
	p.t.Helper()
	limit := time.After(20 * time.Second)
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				p.t.Fatalf("the worker process ended before %q", word)
			}
			if strings.HasPrefix(line, word) {
				return line
			}
		case <-limit:
			p.t.Fatalf("the worker process did not reach %q", word)
		}
	}
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// freeze stops the process and waits until the kernel has done so.
func (p *process) freeze() {
	p.t.Helper()
	p.signal(syscall.SIGSTOP)
	for range 1000 {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
		if err != nil {
			time.Sleep(50 * time.Millisecond)
			return
		}
		if i := bytes.LastIndexByte(stat, ')'); i > 0 && bytes.HasPrefix(stat[i+1:], []byte(" T")) {
			return
		}
		time.Sleep(time.Millisecond)
	}
	p.t.Fatal("the worker process did not stop")
}

// goOn wakes a frozen process and lets it leave its point.
func (p *process) goOn() {
	p.t.Helper()
	p.signal(syscall.SIGCONT)
	if _, err := io.WriteString(p.in, "\n"); err != nil {
		p.t.Fatal(err)
	}
}

func (p *process) kill() {
	p.t.Helper()
	p.signal(syscall.SIGKILL)
	for range p.lines {
	}
	<-p.ended
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func (b *syncBuffer) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Len()
}
