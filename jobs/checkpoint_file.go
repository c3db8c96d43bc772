package jobs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"holdpoint/operation/checkpoint"
)

// CheckpointFile is the file outside the database to which checkpoints are appended. Any
// number of processes may write to it: each holds its lock while it reads the end and
// appends.
type CheckpointFile struct{ Path string }

// tailStep is how much of the end is read first.
const tailStep = 64 << 10

// Newest gives the newest whole checkpoint in the file; nil when there is none.
func (f CheckpointFile) Newest() (*checkpoint.Checkpoint, error) {
	file, err := os.Open(f.Path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoint file: %w", err)
	}
	defer file.Close()
	return newestIn(file)
}

// newestIn reads the end of the file, and more of it while no whole record is in there.
func newestIn(file *os.File) (*checkpoint.Checkpoint, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	for step := int64(tailStep); ; step *= 8 {
		from := max(0, info.Size()-step)
		var newest *checkpoint.Checkpoint
		err := checkpoint.ReadFile(io.NewSectionReader(file, from, info.Size()-from), func(r checkpoint.Found) error {
			if r.Torn() {
				return nil
			}
			c, err := checkpoint.Unsigned(r.Note)
			if err != nil {
				return fmt.Errorf("checkpoint file %s holds something else than checkpoints: %w", file.Name(), err)
			}
			if newest == nil || c.Line > newest.Line || c.Line == newest.Line && c.Number > newest.Number {
				newest = &c
			}
			return nil
		})
		if err != nil || newest != nil || from == 0 {
			return newest, err
		}
	}
}

// Append appends those of the notes that follow the file's newest checkpoint, in one
// write, and has them on disk when it returns. It gives how many it wrote.
func (f CheckpointFile) Append(notes [][]byte) (int, error) {
	if len(notes) == 0 {
		return 0, nil
	}
	file, err := os.OpenFile(f.Path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return 0, fmt.Errorf("checkpoint file: %w", err)
	}
	defer file.Close()
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil { // ends with the file's closing
		return 0, fmt.Errorf("lock the checkpoint file: %w", err)
	}
	newest, err := newestIn(file)
	if err != nil {
		return 0, err
	}
	var out bytes.Buffer
	n := 0
	for _, note := range notes {
		c, err := checkpoint.Unsigned(note)
		if err != nil {
			return 0, err
		}
		if newest != nil && (c.Line < newest.Line || c.Line == newest.Line && c.Number <= newest.Number) {
			continue
		}
		out.Write(checkpoint.Record(note))
		n++
	}
	if n == 0 {
		return 0, nil
	}
	if _, err := file.Write(out.Bytes()); err != nil {
		return 0, fmt.Errorf("append to the checkpoint file: %w", err)
	}
	if err := errors.Join(file.Sync(), syncDir(f.Path)); err != nil {
		return 0, fmt.Errorf("checkpoint file: %w", err)
	}
	return n, nil
}

// syncDir makes the name of a new file last.
func syncDir(path string) error {
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
