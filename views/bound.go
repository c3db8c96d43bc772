package views

import (
	"strings"
	"unicode/utf8"
)

// What a page shows of one text, and of all the fields of a content together, in bytes.
const (
	ShownText    = 12 << 10
	ShownContent = 48 << 10
	// ShownRows is the most entries of a list of fields, links or lines on a page.
	ShownRows = 100
)

// markCost is what a mark costs a page, counted in bytes of text: a text of invisible
// characters would else make a page a hundred times its size.
const markCost = 60

// Bound gives the beginning of a text that costs a page no more than limit bytes. It is
// cut between characters, and after a line where one ends nearby.
func Bound(s string, limit int) (shown string, cut bool) {
	if len(s) <= limit && strings.IndexFunc(s, isMarked) < 0 {
		return s, false
	}
	cost, i := 0, 0
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		if cost += size; isMarked(r) {
			cost += markCost
		}
		if cost > limit {
			break
		}
		i += size
	}
	if i == len(s) {
		return s, false
	}
	if nl := strings.LastIndexByte(s[:i], '\n'); nl > i-i/8 {
		i = nl + 1
	}
	return s[:i], true
}

func isMarked(r rune) bool { return r == utf8.RuneError || IsInvisible(r) }
