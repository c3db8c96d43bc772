package verify

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"time"

	"holdpoint/operation"
)

// export is a history as JSON Lines. It is read several times, so it is a file.
type export struct {
	file    *os.File
	partial bool // it holds what a filter found, not everything
}

// trailer is the export's last line.
type trailer struct {
	Entries int64     `json:"entries"`
	SHA256  string    `json:"sha256"`
	At      time.Time `json:"at"` // of the snapshot; zero = not said
	Filter  string    `json:"filter"`
}

// made gives the time that the export says it was made at, from its last line; zero = it
// says none.
func (x *export) made() (time.Time, error) {
	end, err := x.file.Seek(0, io.SeekEnd)
	if err != nil {
		return time.Time{}, err
	}
	tail := make([]byte, min(end, maxTrailer))
	if _, err := x.file.ReadAt(tail, end-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return time.Time{}, err
	}
	tail = bytes.TrimRight(tail, "\n")
	var t struct {
		Trailer trailer `json:"trailer"`
	}
	if last := tail[bytes.LastIndexByte(tail, '\n')+1:]; !bytes.HasPrefix(last, []byte(`{"trailer":`)) || json.Unmarshal(last, &t) != nil {
		return time.Time{}, nil // what is wrong with it is said when it is read
	}
	return t.Trailer.At, nil
}

// maxTrailer bounds the last line.
const maxTrailer = 64 << 10

// maxLine bounds one line: an entry, or a body that an export holds on demand.
const maxLine = 64 << 20

// lines reads the entries in the order of the file, and gives its trailer; nil = none.
func (x *export) lines(sum hash.Hash, entry func(operation.Line) error) (*trailer, error) {
	if _, err := x.file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(x.file, 1<<20)
	for at := 1; ; at++ {
		raw, err := readLine(in)
		if errors.Is(err, io.EOF) && len(raw) == 0 {
			return nil, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("line %d of the export: %w", at, err)
		}
		switch {
		case bytes.HasPrefix(raw, []byte(`{"trailer":`)):
			var t struct {
				Trailer trailer `json:"trailer"`
			}
			if err := json.Unmarshal(raw, &t); err != nil {
				return nil, fmt.Errorf("line %d of the export: %w", at, err)
			}
			return &t.Trailer, nil
		case bytes.HasPrefix(raw, []byte(`{"body":`)), len(bytes.TrimSpace(raw)) == 0:
		default:
			var l operation.Line
			if err := json.Unmarshal(raw, &l); err != nil {
				return nil, fmt.Errorf("line %d of the export is no entry: %w", at, err)
			}
			if err := entry(l); err != nil {
				return nil, err
			}
		}
		if sum != nil {
			sum.Write(raw)
		}
	}
}

func readLine(in *bufio.Reader) ([]byte, error) {
	raw, err := in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return raw, err
	}
	long := bytes.Clone(raw)
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(long) > maxLine {
			return nil, errors.New("it is too long")
		}
		raw, err = in.ReadSlice('\n')
		long = append(long, raw...)
	}
	return long, err
}

// entries reads them all and checks the trailer.
func (x *export) entries(r *Report, yield func(operation.Line) error) error {
	sum, n := sha256.New(), int64(0)
	t, err := x.lines(sum, func(l operation.Line) error {
		n++
		return yield(l)
	})
	switch {
	case err != nil:
		return err
	case t == nil:
		r.remark("the export has no last line with its count: it may be cut, or not be made by Holdpoint")
		return nil
	case t.Entries != n || t.SHA256 != hex.EncodeToString(sum.Sum(nil)):
		r.add(Finding{What: Altered, Detail: fmt.Sprintf("the export is not the one that was made: its last line tells of %d entries, and there are %d, or of other bytes", t.Entries, n)})
	}
	if t.Filter != "" {
		x.partial = true
		r.Partial = true
		r.remark("the export holds what a filter found (%s): gaps are not looked for, and no checkpoint is compared", t.Filter)
	}
	return nil
}

// subject reads the entries of one subject.
func (x *export) subject(kind operation.SubjectKind, id string, yield func(operation.Line) error) error {
	_, err := x.lines(nil, func(l operation.Line) error {
		if l.Entry.SubjectKind != kind || l.Entry.SubjectID != id {
			return nil
		}
		return yield(l)
	})
	return err
}
