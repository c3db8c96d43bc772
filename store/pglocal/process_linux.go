package pglocal

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// childAttr puts the server into its own process group, so that Ctrl-C in the
// terminal reaches only us, and lets it shut down when we die.
func childAttr(acc *account) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Setpgid:    true,
		Pdeathsig:  syscall.SIGINT,
		Credential: acc.credential(),
	}
}

// postgresIn lists the PostgreSQL processes whose working folder is dataDir:
// the server and all its children. The server itself comes first if it lives.
func postgresIn(dataDir string) []int {
	if real, err := filepath.EvalSymlinks(dataDir); err == nil {
		dataDir = real
	}
	var pids []int
	eachProcess(func(pid int, dir string) {
		cwd, err := os.Readlink(filepath.Join(dir, "cwd"))
		if err != nil || cwd != dataDir {
			return
		}
		comm, err := os.ReadFile(filepath.Join(dir, "comm"))
		if err == nil && strings.TrimSpace(string(comm)) == "postgres" {
			pids = append(pids, pid)
		}
	})
	return pids
}

func childrenOf(parent int) []int {
	var pids []int
	eachProcess(func(pid int, dir string) {
		if ppid, _ := parentAndState(dir); ppid == parent {
			pids = append(pids, pid)
		}
	})
	return pids
}

// alive is false for a process that has ended but was not collected yet.
func alive(pid int) bool {
	ppid, state := parentAndState(filepath.Join("/proc", strconv.Itoa(pid)))
	return ppid != 0 && state != 'Z'
}

// parentAndState reads /proc/PID/stat: "pid (name) state ppid …".
func parentAndState(dir string) (ppid int, state byte) {
	b, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return 0, 0
	}
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 2 {
		return 0, 0
	}
	ppid, _ = strconv.Atoi(fields[1])
	return ppid, fields[0][0]
}

func eachProcess(visit func(pid int, dir string)) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return
	}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			visit(pid, filepath.Join("/proc", e.Name()))
		}
	}
}
