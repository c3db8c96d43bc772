//go:build unix && !linux

package pglocal

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// childAttr puts the server into its own process group, so that Ctrl-C in the
// terminal reaches only us. There is no parent-death signal here: after a
// killed launcher the server goes on, and the next start says so.
func childAttr(acc *account) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Credential: acc.credential()}
}

// postgresIn names the server that the folder's pid file names, while it lives.
func postgresIn(dataDir string) []int {
	b, err := os.ReadFile(filepath.Join(dataDir, "postmaster.pid"))
	if err != nil {
		return nil
	}
	first, _, _ := strings.Cut(string(b), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || !alive(pid) {
		return nil
	}
	return []int{pid}
}

func childrenOf(parent int) []int {
	out, err := exec.Command("pgrep", "-P", strconv.Itoa(parent)).Output()
	if err != nil {
		return nil
	}
	var pids []int
	for _, field := range strings.Fields(string(out)) {
		if pid, err := strconv.Atoi(field); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

func alive(pid int) bool { return syscall.Kill(pid, 0) != syscall.ESRCH }
