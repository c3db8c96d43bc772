package verify

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"holdpoint/operation"
	"holdpoint/operation/checkpoint"
	"holdpoint/store"
)

// Prove makes the proof that one operation's history is in a published checkpoint: the
// newest one of the file that the database holds too, or without a file the database's
// newest one. It reads the log twice and keeps a few hashes for each entry.
func Prove(rec *store.Record, id operation.ID, file io.Reader, keys *checkpoint.Keys) (checkpoint.Proof, checkpoint.Checkpoint, error) {
	var p checkpoint.Proof
	c, note, err := newestPublished(rec, file, keys)
	if err != nil {
		return p, c, err
	}
	var lines []operation.Line
	if err := rec.Subject(operation.SubjectOperation, string(id), func(l operation.Line) error {
		lines = append(lines, l)
		return nil
	}); err != nil {
		return p, c, err
	}
	if len(lines) == 0 {
		return p, c, fmt.Errorf("there is no operation %s in the history", id)
	}
	removals, err := removalsOf(rec, lines)
	if err != nil {
		return p, c, err
	}
	const nowhere = ^uint64(0)
	places := map[int64]uint64{}
	for _, l := range slices.Concat(lines, removals) {
		places[l.ID] = nowhere
	}
	var positions []uint64
	err = rec.Log(func(e store.LogEntry) error {
		if _, wanted := places[e.ID]; wanted && e.Position < c.Size {
			places[e.ID] = e.Position
			positions = append(positions, e.Position)
		}
		return nil
	})
	if err != nil {
		return p, c, err
	}
	if places[lines[0].ID] == nowhere {
		return p, c, fmt.Errorf("checkpoint %d, the newest published one, is older than the operation: wait for the next", c.Number)
	}
	prover, err := checkpoint.NewProver(c.Size, positions)
	if err != nil {
		return p, c, err
	}
	if err := rec.Log(func(e store.LogEntry) error { return prover.Append(e.Hash) }); err != nil {
		return p, c, err
	}
	if root, err := prover.Root(); err != nil || root != c.Root {
		return p, c, errors.New("the log in the database does not have the checkpoint's root: run holdpoint verify without --prove")
	}
	p.Note = note
	proven := func(lines []operation.Line) (out []checkpoint.ProvenEntry, err error) {
		for _, l := range lines {
			if places[l.ID] == nowhere {
				break // a chain is taken up in its order
			}
			path, err := prover.Path(places[l.ID])
			if err != nil {
				return nil, err
			}
			out = append(out, checkpoint.ProvenEntry{Line: l, Position: places[l.ID], Path: path})
		}
		return out, nil
	}
	if p.Entries, err = proven(lines); err != nil {
		return p, c, err
	}
	if p.Removals, err = proven(removals); err != nil {
		return p, c, err
	}
	if len(p.Removals) < len(removals) {
		return p, c, fmt.Errorf("words of the operation were removed after checkpoint %d, the newest published one: wait for the next", c.Number)
	}
	_, err = p.Check(keys)
	return p, c, err
}

// removalsOf gives the entries of the system's history that record why words of these are gone.
func removalsOf(rec *store.Record, lines []operation.Line) (out []operation.Line, err error) {
	gone := map[int64]bool{}
	for _, l := range lines {
		if l.Entry.Words.Gone() {
			gone[l.Entry.Words.GoneAt.UnixMicro()] = true
		}
	}
	if len(gone) == 0 {
		return nil, nil
	}
	err = rec.System(func(l operation.Line) error {
		if r, ok := checkpoint.RemovalOf(l.Entry); ok && gone[r.At.UnixMicro()] {
			out = append(out, l)
		}
		return nil
	})
	return out, err
}

func newestPublished(rec *store.Record, file io.Reader, keys *checkpoint.Keys) (best checkpoint.Checkpoint, note []byte, err error) {
	inFile := map[string]bool{}
	if file != nil {
		if err := checkpoint.ReadFile(file, func(f checkpoint.Found) error {
			if !f.Torn() {
				inFile[string(f.Note)] = true
			}
			return nil
		}); err != nil {
			return best, nil, err
		}
	}
	err = rec.Notes(func(_ int64, raw []byte) error {
		if file != nil && !inFile[string(raw)] {
			return nil
		}
		c, err := checkpoint.Open(raw, keys)
		if err == nil && c.Number > best.Number {
			best, note = c, raw
		}
		return nil
	})
	if err == nil && note == nil {
		err = errors.New("there is no checkpoint with a valid signature of a known key")
	}
	return best, note, err
}
