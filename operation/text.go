package operation

import (
	"encoding/binary"
	"io"
	"strconv"
	"time"
)

func itoa(n int) string { return strconv.Itoa(n) }

// stamp writes a time as refusals carry it: RFC 3339, UTC.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// later gives the later of two times; the zero time is the earliest.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// writePart writes strings so that no two lists of strings give the same bytes:
// each with its length before it.
func writePart(w io.Writer, parts ...string) { _, _ = w.Write(appendPart(nil, parts...)) }

// appendPart is writePart behind the bytes that are there.
func appendPart(b []byte, parts ...string) []byte {
	for _, p := range parts {
		b = append(binary.BigEndian.AppendUint64(b, uint64(len(p))), p...)
	}
	return b
}

// hashRoom is how many bytes most of what is hashed takes at most.
const hashRoom = 1024
