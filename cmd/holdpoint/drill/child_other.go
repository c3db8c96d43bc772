//go:build !linux

package drill

import "syscall"

// childAttr gives a child its own process group, so that Ctrl-C reaches only the drill.
func childAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
