package pglocal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// account is the user who runs the server when we are root: PostgreSQL refuses
// to run as root.
type account struct {
	name     string
	uid, gid uint32
}

// serverAccount returns nil unless this process is root.
func serverAccount() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(err1, err2); err != nil || uid == 0 {
			continue
		}
		return &account{name: name, uid: uint32(uid), gid: uint32(gid)}, nil
	}
	return nil, errors.New("PostgreSQL does not run as root, and neither the user postgres nor nobody exists")
}

func (a *account) credential() *syscall.Credential {
	if a == nil {
		return nil
	}
	return &syscall.Credential{Uid: a.uid, Gid: a.gid}
}

// give makes the account the owner of path.
func (a *account) give(path string) error {
	if a == nil {
		return nil
	}
	return os.Lchown(path, int(a.uid), int(a.gid))
}

// checkCanEnter tells whether the account may pass through every folder on the
// way to dir.
func (a *account) checkCanEnter(dir string) error {
	if a == nil {
		return nil
	}
	var way []string
	for p := dir; ; p = filepath.Dir(p) {
		way = append(way, p)
		if p == filepath.Dir(p) {
			break
		}
	}
	slices.Reverse(way)
	for _, p := range way {
		info, err := os.Stat(p)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // we will make the rest ourselves
		}
		if err != nil {
			return err
		}
		if !a.mayEnter(info) {
			return fmt.Errorf("PostgreSQL runs as the user %s, who cannot enter %s: choose a data folder outside it", a.name, p)
		}
	}
	return nil
}

func (a *account) mayEnter(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return true
	}
	switch mode := info.Mode().Perm(); {
	case st.Uid == a.uid:
		return mode&0o100 != 0
	case st.Gid == a.gid:
		return mode&0o010 != 0
	default:
		return mode&0o001 != 0
	}
}
