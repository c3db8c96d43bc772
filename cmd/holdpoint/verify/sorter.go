package verify

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
)

// runBytes bounds what a sorter keeps in memory before it writes a sorted run to a file.
const runBytes = 24 << 20

// record is a key to sort by and what belongs to it.
type record struct{ key, value []byte }

func byKey(a, b record) int {
	return cmp.Or(bytes.Compare(a.key, b.key), bytes.Compare(a.value, b.value))
}

// sorter sorts any number of records by their keys. It keeps one run in memory and the
// others in files.
type sorter struct {
	dir   string
	arena []byte
	keep  []record
	files []*os.File
}

// add takes a record; key and value may be used again afterwards.
func (s *sorter) add(key, value []byte) error {
	if len(s.arena)+len(key)+len(value) > cap(s.arena) && len(s.keep) > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	if s.arena == nil {
		s.arena = make([]byte, 0, runBytes)
	}
	at := len(s.arena)
	s.arena = append(append(s.arena, key...), value...)
	s.keep = append(s.keep, record{s.arena[at : at+len(key) : at+len(key)], s.arena[at+len(key) : len(s.arena) : len(s.arena)]})
	return nil
}

// spill writes the run in memory to a file.
func (s *sorter) spill() error {
	f, err := os.CreateTemp(s.dir, "run-*")
	if err != nil {
		return err
	}
	s.files = append(s.files, f)
	slices.SortFunc(s.keep, byKey)
	w := bufio.NewWriterSize(f, 1<<16)
	var head [8]byte
	for _, r := range s.keep {
		binary.BigEndian.PutUint32(head[:4], uint32(len(r.key)))
		binary.BigEndian.PutUint32(head[4:], uint32(len(r.value)))
		if _, err := w.Write(head[:]); err != nil {
			return err
		}
		if _, err := w.Write(r.key); err != nil {
			return err
		}
		if _, err := w.Write(r.value); err != nil {
			return err
		}
	}
	s.arena, s.keep = s.arena[:0], s.keep[:0]
	return w.Flush()
}

// run is one sorted run that is read from its beginning.
type run struct {
	next func() (record, error)
	head record
}

type runs []*run

func (r runs) Len() int           { return len(r) }
func (r runs) Less(i, j int) bool { return byKey(r[i].head, r[j].head) < 0 }
func (r runs) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }

// Push is for container/heap.
func (r *runs) Push(x any) {
	if one, ok := x.(*run); ok {
		*r = append(*r, one)
	}
}

// Pop is for container/heap.
func (r *runs) Pop() any {
	last := (*r)[len(*r)-1]
	*r = (*r)[:len(*r)-1]
	return last
}

// reader gives the records in order, then io.EOF. A record is good until the next call.
func (s *sorter) reader() (func() (record, error), error) {
	slices.SortFunc(s.keep, byKey)
	at := 0
	all := runs{{next: func() (record, error) {
		if at == len(s.keep) {
			return record{}, io.EOF
		}
		at++
		return s.keep[at-1], nil
	}}}
	for _, f := range s.files {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		all = append(all, &run{next: fileRun(f)})
	}
	live := all[:0]
	for _, r := range all {
		var err error
		if r.head, err = r.next(); err == nil {
			live = append(live, r)
		} else if !errors.Is(err, io.EOF) {
			return nil, err
		}
	}
	heap.Init(&live)
	var last *run // its head was given; the next one is read at the next call
	return func() (record, error) {
		if last != nil {
			head, err := last.next()
			switch {
			case err == nil:
				last.head = head
				heap.Fix(&live, 0)
			case errors.Is(err, io.EOF):
				heap.Pop(&live)
			default:
				return record{}, err
			}
		}
		if len(live) == 0 {
			return record{}, io.EOF
		}
		last = live[0]
		return last.head, nil
	}, nil
}

func fileRun(f *os.File) func() (record, error) {
	in := bufio.NewReaderSize(f, 1<<16)
	var buffer []byte
	return func() (record, error) {
		var head [8]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return record{}, err
		}
		k, v := int(binary.BigEndian.Uint32(head[:4])), int(binary.BigEndian.Uint32(head[4:]))
		if cap(buffer) < k+v {
			buffer = make([]byte, k+v)
		}
		buffer = buffer[:k+v]
		if _, err := io.ReadFull(in, buffer); err != nil {
			return record{}, io.ErrUnexpectedEOF
		}
		return record{buffer[:k:k], buffer[k:]}, nil
	}
}

// close removes the files.
func (s *sorter) close() {
	for _, f := range s.files {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}
	s.files, s.arena, s.keep = nil, nil, nil
}
