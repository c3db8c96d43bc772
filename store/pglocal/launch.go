package pglocal

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/lib/pq"
)

// maxLog is the size at which server.log is begun anew on a start.
const maxLog = 10 << 20

// launch starts the server process and waits until it answers. Port 0 takes a
// free one; since another process may take it first, that is tried again.
func (s *Server) launch(ctx context.Context, port int) error {
	fixed := port != 0
	for try := 1; ; try++ {
		if !fixed {
			var err error
			if port, err = freePort(); err != nil {
				return err
			}
		}
		err := s.launchOn(ctx, port)
		if fixed || try == 5 || !errors.Is(err, ErrPortTaken) {
			return err
		}
	}
}

func (s *Server) launchOn(ctx context.Context, port int) error {
	log, start, err := s.openLog()
	if err != nil {
		return err
	}
	cmd := exec.Command(filepath.Join(s.bin, "postgres"), s.serverArgs(port)...)
	cmd.Dir = s.layout.data()
	cmd.Env = serverEnv(s.bin)
	cmd.Stderr = log
	if s.cfg.Log != nil {
		cmd.Stderr = io.MultiWriter(log, s.cfg.Log)
	}
	cmd.Stdout = cmd.Stderr
	cmd.WaitDelay = 2 * time.Second
	cmd.SysProcAttr = childAttr(s.account)
	proc, err := startProcess(cmd, log)
	if err != nil {
		return fmt.Errorf("start PostgreSQL: %w", err)
	}
	s.mu.Lock()
	s.port, s.proc = port, proc
	s.mu.Unlock()
	if err := s.awaitReady(ctx, proc, port); err != nil {
		proc.kill()
		tail := s.logSince(start)
		if strings.Contains(tail, "could not create any TCP/IP sockets") || strings.Contains(tail, "could not bind") {
			return fmt.Errorf("%w: something else listens on 127.0.0.1:%d", ErrPortTaken, port)
		}
		return fmt.Errorf("PostgreSQL did not start: %w\n%s", err, tail)
	}
	return nil
}

// awaitReady polls with real connections until one is answered. Whoever else
// holds the port may take a connection and stay silent: the server's end stops
// the wait, and no single try lasts longer than two seconds.
func (s *Server) awaitReady(ctx context.Context, proc *process, port int) error {
	connector, err := pq.NewConnector(connectionURL(superuser, s.passwords.Admin, port, "postgres") + "&connect_timeout=2")
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer cancel()
		select {
		case <-proc.done:
		case <-waiting.Done():
		}
	}()
	for {
		err := db.PingContext(waiting)
		if err == nil {
			return nil
		}
		select {
		case <-proc.done:
			return fmt.Errorf("it ended at once (%v)", proc.err)
		case <-ctx.Done():
			return fmt.Errorf("it did not answer in time: %w (last: %v)", ctx.Err(), err)
		case <-time.After(15 * time.Millisecond):
		}
	}
}

func (s *Server) openLog() (*os.File, int64, error) {
	flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if info, err := os.Stat(s.layout.log()); err == nil && info.Size() > maxLog {
		flags |= os.O_TRUNC
	}
	f, err := os.OpenFile(s.layout.log(), flags, 0o600)
	if err != nil {
		return nil, 0, fmt.Errorf("open the server's log: %w", err)
	}
	size, err := f.Seek(0, io.SeekEnd)
	return f, size, err
}

// logSince returns what was logged after offset, at most its last 4 KiB.
func (s *Server) logSince(offset int64) string {
	b, err := os.ReadFile(s.layout.log())
	if err != nil || int64(len(b)) < offset {
		return ""
	}
	b = b[offset:]
	if len(b) > 4096 {
		b = b[len(b)-4096:]
	}
	return string(bytes.TrimSpace(b))
}

func freePort() (int, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
