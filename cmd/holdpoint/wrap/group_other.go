//go:build !linux

package wrap

import "syscall"

// ownGroup lets signals reach the command and its children as a group of its own.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
