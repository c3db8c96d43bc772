package pglocal

import (
	"errors"
	"fmt"
	"os"
	"slices"
)

// RunningAdminURL connects to db, as the superuser, in the server that some
// process runs in dir now. The error says so when none does.
func RunningAdminURL(dir, db string) (string, error) {
	l := layout{dir: dir}
	if len(postgresIn(l.data())) == 0 {
		return "", fmt.Errorf("no private PostgreSQL runs in %s", dir)
	}
	port, err := l.runningPort()
	if err != nil {
		return "", fmt.Errorf("find the port of the server in %s: %w", dir, err)
	}
	p, err := loadPasswords(l)
	if err != nil {
		return "", err
	}
	return connectionURL(superuser, p.Admin, port, db), nil
}

// Remove deletes a database folder with all its data. It refuses while a
// server or a launcher uses it (ErrRunning); a missing folder is no error.
func Remove(dir string) error {
	l := layout{dir: dir}
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := onlyOurs(dir); err != nil {
		return err
	}
	lock, err := takeLock(l)
	if err != nil {
		return err
	}
	defer lock.Close()
	if pids := postgresIn(l.data()); len(pids) > 0 {
		return fmt.Errorf("%w: %s is in use by process %d", ErrRunning, dir, pids[0])
	}
	return os.RemoveAll(dir)
}

// onlyOurs refuses a folder that holds anything this package does not write, so
// that a mistyped path is never emptied.
func onlyOurs(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	known := []string{"data", "data.new", "passwords", "passwords.new", "server.log", "lock", "run"}
	for _, e := range entries {
		if !slices.Contains(known, e.Name()) {
			return fmt.Errorf("%s is not a database folder of Holdpoint: it holds %s", dir, e.Name())
		}
	}
	return nil
}
