package wrap

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"holdpoint/handlers/api/client"
)

// entry is what is known of an attempt that is not told yet. It is on the disk before
// the step that it names begins.
type entry struct {
	Claim   client.Claim
	Started bool           // the command may have been started
	Report  *client.Report // nil = it has not ended, as far as is known
}

// journal is the note of one operation's open attempt. Only one process holds it.
type journal struct {
	path string
	lock *os.File
}

// openJournal takes the note of an operation for this process alone.
func openJournal(folder, operation string) (*journal, error) {
	name, err := journalName(operation)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("folder of open attempts: %w", err)
	}
	j := &journal{path: filepath.Join(folder, name+".json")}
	if j.lock, err = os.OpenFile(filepath.Join(folder, name+".lock"), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(j.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("another holdpoint run works on %s", operation), j.lock.Close())
	}
	return j, nil
}

// close lets the note go. The lock file stays: removing it would let two processes hold
// two locks of one name.
func (j *journal) close() { _ = j.lock.Close() }

// read gives what an earlier process left; ok is false when there is nothing. A note that
// cannot be read names no attempt.
func (j *journal) read() (e entry, ok bool) {
	raw, err := os.ReadFile(j.path)
	if errors.Is(err, os.ErrNotExist) {
		return e, false
	}
	if err != nil || json.Unmarshal(raw, &e) != nil {
		return entry{}, true
	}
	return e, true
}

// write puts the note on the disk, whole or not at all.
func (j *journal) write(e entry) error {
	raw, err := json.Marshal(e)
	if err != nil {
		return err
	}
	next := j.path + ".next"
	f, err := os.OpenFile(next, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("note of the open attempt: %w", err)
	}
	_, err = f.Write(raw)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(next, j.path)
	}
	if err == nil {
		err = syncFolder(filepath.Dir(j.path))
	}
	if err != nil {
		return fmt.Errorf("note of the open attempt: %w", err)
	}
	return nil
}

// forget removes the note: Holdpoint knows.
func (j *journal) forget() { _ = os.Remove(j.path) }

func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
