package wrap

import "syscall"

// ownGroup lets the command reach its children's signals as a group of its own. If this
// process is killed, the command is too: nothing happens later than is known.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
