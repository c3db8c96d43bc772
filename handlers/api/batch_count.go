package api

import (
	"io"

	"holdpoint/operation/definition"
	"holdpoint/store"
)

// itemCounter gives a list from behind its opening bracket, and ends it with a
// *definition.TableError as soon as it has more items than a list may have. Whether they can
// be read is not its business.
type itemCounter struct {
	r       io.Reader
	commas  int // between items
	depth   int // of what is open inside the list
	text    bool
	escaped bool
	ended   bool
	err     error
}

// Read counts what it gives. Behind the limit it takes the rest of the request from the
// sender, who else might never read the answer, and gives nothing of it.
func (c *itemCounter) Read(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.r.Read(p)
	for _, b := range p[:n] {
		c.count(b)
	}
	if c.commas >= definition.MaxListItems {
		_, _ = io.Copy(io.Discard, io.LimitReader(c.r, store.MaxListBytes))
		c.err = &definition.TableError{Code: "rows", Limit: definition.MaxListItems}
		return 0, c.err
	}
	return n, err
}

func (c *itemCounter) count(b byte) {
	switch {
	case c.ended:
	case c.escaped:
		c.escaped = false
	case c.text:
		c.text, c.escaped = b != '"', b == '\\'
	case b == '"':
		c.text = true
	case b == '{', b == '[':
		c.depth++
	case b == '}', b == ']':
		c.depth--
		c.ended = c.depth < 0
	case b == ',' && c.depth == 0:
		c.commas++
	}
}
