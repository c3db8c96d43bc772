package pglocal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// maxSocketPath stays below the 104 to 108 bytes that systems allow.
const maxSocketPath = 100

// layout is the content of one server folder: data (the cluster), passwords
// (readable by its owner alone), server.log, lock (held while a launcher uses
// the folder), and the folder of the socket.
type layout struct {
	dir    string
	socket string
	// socketOutside: the socket folder lies elsewhere because dir is too long.
	socketOutside bool
}

func (l layout) data() string      { return filepath.Join(l.dir, "data") }
func (l layout) passwords() string { return filepath.Join(l.dir, "passwords") }
func (l layout) log() string       { return filepath.Join(l.dir, "server.log") }

func shortHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:6])
}

// openLayout makes the folder usable for the account and takes its lock.
func openLayout(dir string, acc *account) (layout, *os.File, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return layout{}, nil, err
	}
	l := layout{dir: abs}
	if err := acc.checkCanEnter(l.dir); err != nil {
		return layout{}, nil, err
	}
	mode := fs.FileMode(0o700)
	if acc != nil {
		mode = 0o711 // the server's account passes through
		if err := os.MkdirAll(filepath.Dir(l.dir), 0o755); err != nil {
			return layout{}, nil, err
		}
	}
	if err := os.MkdirAll(l.dir, mode); err != nil {
		return layout{}, nil, fmt.Errorf("make the database folder: %w", err)
	}
	lock, err := takeLock(l)
	if err != nil {
		return layout{}, nil, err
	}
	if err := os.Chmod(l.dir, mode); err != nil {
		lock.Close()
		return layout{}, nil, err
	}
	if err := l.makeSocketDir(acc); err != nil {
		lock.Close()
		return layout{}, nil, err
	}
	return l, lock, nil
}

// takeLock makes sure that one launcher at a time uses the folder. The kernel
// gives the lock back when the process ends, however it ends.
func takeLock(l layout) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(l.dir, "lock"), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the database folder: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		holder, _ := os.ReadFile(f.Name())
		f.Close()
		return nil, fmt.Errorf("%w: %s is in use by process %s; stop that one first, or give this one another data folder",
			ErrRunning, l.dir, strings.TrimSpace(string(holder)))
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock the database folder: %w", err)
	}
	if err := f.Truncate(0); err == nil {
		fmt.Fprintf(f, "%d\n", os.Getpid())
	}
	return f, nil
}

// makeSocketDir makes an empty folder for the Unix socket, outside when the
// path would be too long for the system.
func (l *layout) makeSocketDir(acc *account) error {
	l.socket = filepath.Join(l.dir, "run")
	if !socketFits(l.socket) {
		base := os.TempDir()
		if !socketFits(filepath.Join(base, "hp-0123456789")) {
			base = "/tmp"
		}
		dir, err := os.MkdirTemp(base, "hp-")
		if err != nil {
			return fmt.Errorf("make the socket folder: %w", err)
		}
		l.socket, l.socketOutside = dir, true
	} else {
		if err := os.RemoveAll(l.socket); err != nil {
			return fmt.Errorf("clear the socket folder: %w", err)
		}
		if err := os.Mkdir(l.socket, 0o700); err != nil {
			return fmt.Errorf("make the socket folder: %w", err)
		}
	}
	return acc.give(l.socket)
}

func socketFits(dir string) bool { return len(dir)+len("/.s.PGSQL.65535") < maxSocketPath }

func (l layout) removeSocketDir() {
	if l.socketOutside {
		os.RemoveAll(l.socket)
	}
}

// awaitLeftovers waits for the processes of an earlier server to end (they do
// so by themselves when their launcher is killed) and removes a pid file that
// belongs to nobody any more.
func (l layout) awaitLeftovers(ctx context.Context) error {
	deadline := time.Now().Add(30 * time.Second)
	for {
		pids := postgresIn(l.data())
		if len(pids) == 0 {
			break
		}
		if ctx.Err() != nil || time.Now().After(deadline) {
			return fmt.Errorf("%w: %s is in use by process %d", ErrRunning, l.dir, pids[0])
		}
		time.Sleep(20 * time.Millisecond)
	}
	err := os.Remove(filepath.Join(l.data(), "postmaster.pid"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove a stale pid file: %w", err)
	}
	return nil
}

// runningPort reads the port of the server that runs in the folder.
func (l layout) runningPort() (int, error) {
	b, err := os.ReadFile(filepath.Join(l.data(), "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	lines := strings.Split(string(b), "\n")
	if len(lines) < 4 {
		return 0, errors.New("the server is just starting")
	}
	return strconv.Atoi(strings.TrimSpace(lines[3]))
}
