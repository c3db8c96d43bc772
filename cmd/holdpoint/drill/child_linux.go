package drill

import "syscall"

// childAttr gives a child its own process group, so that Ctrl-C reaches only the drill,
// and ends it when the drill is killed.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
