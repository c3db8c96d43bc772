//go:build unix && !linux

package pglocal

// freeInMemory is 0: no folder is known to lie in memory.
func freeInMemory(string) uint64 { return 0 }
