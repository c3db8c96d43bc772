package pglocal

import (
	"os"
	"slices"
	"testing"
)

func TestThrowAwayParents(t *testing.T) {
	disk := []string{os.TempDir()}
	if got := throwAwayParents(true, "/proc"); !slices.Equal(got, disk) {
		t.Errorf("a folder that is not in memory: %v", got)
	}
	if got := throwAwayParents(true, "/dev/no/such"); !slices.Equal(got, disk) {
		t.Errorf("a folder that is missing: %v", got)
	}
	if got := throwAwayParents(false, memoryDir); !slices.Equal(got, disk) {
		t.Errorf("a durable server: %v", got)
	}
	want := disk
	if freeInMemory(memoryDir) >= roomInMemory {
		want = []string{memoryDir, os.TempDir()}
	}
	if got := throwAwayParents(true, memoryDir); !slices.Equal(got, want) {
		t.Errorf("a volatile server: %v, want %v", got, want)
	}
}

func TestOnDisk(t *testing.T) {
	for dir, want := range map[string]bool{
		"/tmp/holdpoint-pg-123/data":      true,
		"/var/tmp/holdpoint-pg-9/data":    true,
		"/dev/shm/holdpoint-pg-123/data":  false,
		"/var/lib/postgresql/15/main":     false,
		"/tmp/other/holdpoint-pg-12/data": true,
		"/srv/data":                       false,
	} {
		if got := OnDisk(dir); got != want {
			t.Errorf("OnDisk(%s) = %v", dir, got)
		}
	}
}
