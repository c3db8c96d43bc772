package pglocal

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// process is one run of the server program.
type process struct {
	pid  int
	done chan struct{}
	err  error // why it ended; read after done is closed
}

// startProcess starts cmd and closes log when it has ended. The starting
// thread is kept for as long as the child lives: the kernel sends the child's
// parent-death signal when that thread ends, not when the process does.
func startProcess(cmd *exec.Cmd, log io.Closer) (*process, error) {
	p := &process{done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer log.Close()
		err := cmd.Start()
		if err == nil {
			p.pid = cmd.Process.Pid
		}
		started <- err
		if err != nil {
			return
		}
		p.err = cmd.Wait()
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// stop asks for a fast shutdown, then for an immediate one when ctx or the
// patience ends, and kills at last.
func (p *process) stop(ctx context.Context, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	p.signal(syscall.SIGINT)
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
	}
	p.signal(syscall.SIGQUIT)
	select {
	case <-p.done:
	case <-time.After(10 * time.Second):
		p.kill()
	}
	return fmt.Errorf("PostgreSQL did not finish in time and was ended at once: %w", ctx.Err())
}

// kill ends the server and its children with SIGKILL. The parent is frozen
// first, so that it neither reaps nor replaces the children meanwhile.
func (p *process) kill() {
	p.signal(syscall.SIGSTOP)
	children := childrenOf(p.pid)
	for _, pid := range children {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	p.signal(syscall.SIGKILL)
	<-p.done
	for _, pid := range children {
		for deadline := time.Now().Add(5 * time.Second); alive(pid) && time.Now().Before(deadline); {
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// signal does nothing when the process has ended: its number may be another's.
func (p *process) signal(sig syscall.Signal) {
	select {
	case <-p.done:
	default:
		syscall.Kill(p.pid, sig)
	}
}
