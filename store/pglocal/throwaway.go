package pglocal

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// throwAwayPrefix starts the names of throw-away folders.
const throwAwayPrefix = "holdpoint-pg-"

// memoryDir is where Linux keeps files in memory and everybody may write.
const memoryDir = "/dev/shm"

// roomInMemory is what must be free there: several times what all tests together
// need at once. Containers often have 64 MiB only.
const roomInMemory = 2 << 30

// throwAwayParents are the folders to try in turn. A volatile server promises nothing
// about a crash of the machine, so it may live in memory when there is room: making and
// deleting a thousand files for each test database costs ten times as much on ext4,
// which searches past every inode that was deleted in the last seconds.
func throwAwayParents(volatile bool, memory string) []string {
	if volatile && freeInMemory(memory) >= roomInMemory {
		return []string{memory, os.TempDir()}
	}
	return []string{os.TempDir()}
}

// OnDisk tells of a server's data folder (SHOW data_directory) that it is a throw-away
// one of this package and does not lie in memory. Its databases need not be dropped
// one by one, since the whole folder goes when the server stops.
func OnDisk(dataDirectory string) bool {
	dir := filepath.Dir(dataDirectory)
	return strings.HasPrefix(filepath.Base(dir), throwAwayPrefix) && filepath.Dir(dir) != memoryDir
}

// newThrowAway makes a fresh folder and removes those that killed processes
// left behind.
func newThrowAway(acc *account, volatile bool) (layout, *os.File, error) {
	for _, parent := range []string{memoryDir, os.TempDir()} {
		sweepThrowAways(parent)
	}
	var errs []error
	for _, parent := range throwAwayParents(volatile, memoryDir) {
		l, lock, err := makeThrowAway(parent, acc)
		if err == nil {
			return l, lock, nil
		}
		errs = append(errs, err)
	}
	return layout{}, nil, errors.Join(errs...)
}

func makeThrowAway(parent string, acc *account) (layout, *os.File, error) {
	dir, err := os.MkdirTemp(parent, throwAwayPrefix)
	if err != nil {
		return layout{}, nil, err
	}
	if acc != nil {
		err = os.Chmod(dir, 0o711) // the server's account passes through
	}
	var l layout
	var lock *os.File
	if err == nil {
		l, lock, err = openLayout(dir, acc)
	}
	if err != nil {
		os.RemoveAll(dir)
	}
	return l, lock, err
}

func sweepThrowAways(parent string) {
	dirs, _ := filepath.Glob(filepath.Join(parent, throwAwayPrefix+"*"))
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < time.Minute {
			continue // perhaps just being made
		}
		l := layout{dir: dir}
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
			continue
		}
		lock, err := takeLock(l)
		if err != nil {
			continue
		}
		if len(postgresIn(l.data())) == 0 {
			os.RemoveAll(dir)
		}
		lock.Close()
	}
}
