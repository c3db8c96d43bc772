package pglocal

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// tmpfs is the kernel's number for a file system in memory.
const tmpfs = 0x01021994

// freeInMemory is how many bytes fit into a folder in memory: what its file system
// still takes, and no more than the machine has without swapping. 0 for a folder on a
// disk and for one that is missing.
func freeInMemory(dir string) uint64 {
	var fs syscall.Statfs_t
	if syscall.Statfs(dir, &fs) != nil || int64(fs.Type) != tmpfs {
		return 0
	}
	return min(fs.Bavail*uint64(fs.Bsize), availableMemory())
}

// availableMemory is the kernel's own estimate, in bytes.
func availableMemory() uint64 {
	info, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(info), "MemAvailable:")
	field, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	kib, _ := strconv.ParseUint(field, 10, 64)
	return kib << 10
}
