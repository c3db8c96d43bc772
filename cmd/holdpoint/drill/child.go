package drill

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// child is a process that the drill started.
type child struct {
	name string
	pid  int
	done chan struct{} // closed when it has ended
	err  error         // why; read after done
}

// startChild starts a program. Its standard output goes to out; with a nil out, and for
// its errors, to the log.
func startChild(name string, env []string, log, out io.Writer, path string, args ...string) (*child, error) {
	cmd := exec.Command(path, args...)
	if out == nil {
		out = log
	}
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = env, out, log, childAttr()
	cmd.WaitDelay = time.Second
	c := &child{name: name, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		// The parent-death signal comes when the starting thread ends: it is kept.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil {
			c.pid = cmd.Process.Pid
		}
		started <- err
		if err == nil {
			c.err = cmd.Wait()
			close(c.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return c, nil
}

// signal does nothing when the process has ended: its number may be another's.
func (c *child) signal(s syscall.Signal) {
	select {
	case <-c.done:
	default:
		_ = syscall.Kill(c.pid, s)
	}
}

// kill ends it at once, as a crash would.
func (c *child) kill() {
	c.signal(syscall.SIGKILL)
	<-c.done
}

// stop asks it to end, and kills it when it takes too long.
func (c *child) stop(patience time.Duration) {
	c.signal(syscall.SIGCONT)
	c.signal(syscall.SIGTERM)
	select {
	case <-c.done:
	case <-time.After(patience):
		c.kill()
	}
}

// freeze stops the process where it is and waits until it stands still.
func (c *child) freeze(ctx context.Context) error {
	c.signal(syscall.SIGSTOP)
	for ctx.Err() == nil {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.pid))
		if err != nil { // no /proc here: it is not told, only waited for
			return pause(ctx, 100*time.Millisecond)
		}
		if s := string(stat); strings.HasPrefix(s[strings.LastIndexByte(s, ')')+1:], " T") {
			return nil
		}
		if err := pause(ctx, time.Millisecond); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// thaw lets a frozen process go on.
func (c *child) thaw() { c.signal(syscall.SIGCONT) }

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
