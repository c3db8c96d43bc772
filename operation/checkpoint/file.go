package checkpoint

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// The lines around a note in a checkpoint file. A note holds no such line: each of its
// lines begins with the log's name, a number, a hash, a fact or a signature.
const (
	beginLine = "-----BEGIN HOLDPOINT CHECKPOINT-----"
	endLine   = "-----END HOLDPOINT CHECKPOINT-----"
)

// maxNote bounds what is read of one note.
const maxNote = 1 << 20

// Record gives a note as it is appended to a file, with a line before and after it. A
// line end stands before all: what a writer left torn is ended by it.
func Record(note []byte) []byte {
	var b bytes.Buffer
	b.WriteString("\n" + beginLine + "\n")
	b.Write(note)
	b.WriteString(endLine + "\n")
	return b.Bytes()
}

// Found is one record of a checkpoint file.
type Found struct {
	Note []byte // nil when it is torn
	Line int    // of the file, where it begins; from 1
}

// Torn reports a record that has no end: a writer was stopped in the middle, or the file
// was cut.
func (f Found) Torn() bool { return f.Note == nil }

// ReadFile gives the records of a checkpoint file in their order. What stands between
// records is not looked at: people may write comments there.
func ReadFile(r io.Reader, yield func(Found) error) error {
	in := bufio.NewReader(r)
	var note *bytes.Buffer
	var began int
	for at := 1; ; at++ {
		line, err := in.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		switch {
		case line == beginLine+"\n":
			if note != nil {
				if err := yield(Found{Line: began}); err != nil {
					return err
				}
			}
			note, began = &bytes.Buffer{}, at
		case note != nil && line == endLine+"\n":
			if err := yield(Found{Note: note.Bytes(), Line: began}); err != nil {
				return err
			}
			note = nil
		case note != nil && note.Len()+len(line) <= maxNote:
			note.WriteString(line)
		}
		if err != nil {
			if note != nil {
				return yield(Found{Line: began})
			}
			return nil
		}
	}
}
