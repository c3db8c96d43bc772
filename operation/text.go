package operation

import (
	"encoding/binary"
	"io"
	"strconv"
)

func itoa(n int) string { return strconv.Itoa(n) }

// writePart writes strings so that no two lists of strings give the same bytes:
// each with its length before it.
func writePart(w io.Writer, parts ...string) {
	var n [8]byte
	for _, p := range parts {
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		_, _ = w.Write(n[:])
		_, _ = io.WriteString(w, p)
	}
}
