package definition

import "io"

// lineCount counts the lines of a text that comes in pieces: LF, CR LF, or CR alone ends one.
type lineCount struct {
	ended int
	cr    bool // the last byte was CR
}

func (c *lineCount) add(p []byte) {
	for _, b := range p {
		if b == '\r' || b == '\n' && !c.cr {
			c.ended++
		}
		c.cr = b == '\r'
	}
}

// line is the number of the line that has begun, from 1.
func (c *lineCount) line() int { return c.ended + 1 }

// endsByCR reports that the first line of a text, outside quotes, ends with CR alone, as old
// spreadsheets write it.
func endsByCR(start []byte) bool {
	quoted := false
	for i, b := range start {
		switch {
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '\n':
			return false
		case b == '\r':
			return i+1 == len(start) || start[i+1] != '\n'
		}
	}
	return false
}

// lineFeeds gives a text in which each CR, and each CR LF, is LF.
type lineFeeds struct {
	r  io.Reader
	cr bool // the last byte was CR
}

// Read passes the text on.
func (f *lineFeeds) Read(p []byte) (int, error) {
	for {
		n, err := f.r.Read(p)
		out := 0
		for _, b := range p[:n] {
			after := f.cr
			f.cr = b == '\r'
			if b == '\n' && after {
				continue
			}
			if f.cr {
				b = '\n'
			}
			p[out] = b
			out++
		}
		if out > 0 || err != nil || len(p) == 0 {
			return out, err
		}
	}
}
