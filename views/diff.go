package views

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/clipperhouse/uax29/v2/words"
	"github.com/sergi/go-diff/diffmatchpatch"
)

// DiffOp says what became of a stretch of text.
type DiffOp int

// What became of it.
const (
	DiffEqual DiffOp = iota
	DiffInsert
	DiffDelete
	// DiffSkip stands for a long stretch that is the same on both sides and is not shown;
	// DiffCut for a change that is too long to be shown whole.
	DiffSkip
	DiffCut
)

// DiffPart is a stretch of text with what became of it.
type DiffPart struct {
	Op   DiffOp
	Text string
	Left int // DiffSkip, DiffCut: how many characters are left out
}

// What one comparison may cost: a change longer than diffBytes is shown as one piece
// taken out and one put in, and the search for the shortest difference ends after
// diffTime; the result is right in any case, only coarser.
const (
	diffBytes = 200 << 10
	diffTime  = 300 * time.Millisecond
	diffShown = 6 << 10 // bytes of a change that a page shows
	nearEqual = 600     // bytes of an unchanged stretch that are shown beside a change
)

// Diff compares two texts word by word; texts in scripts that put no spaces between
// words (Chinese, Japanese, Thai, Lao, Khmer, Burmese) character by character.
func Diff(old, now string) []DiffPart {
	head := commonPrefix(old, now)
	tail := commonSuffix(old[head:], now[head:])
	a, b := old[head:len(old)-tail], now[head:len(now)-tail]
	var parts []DiffPart
	add := func(op DiffOp, s string) {
		if s != "" {
			parts = append(parts, DiffPart{Op: op, Text: s})
		}
	}
	add(DiffEqual, old[:head])
	switch {
	case a == "" || b == "" || len(a) > diffBytes || len(b) > diffBytes:
		add(DiffDelete, a)
		add(DiffInsert, b)
	default:
		parts = append(parts, diffWords(a, b)...)
	}
	add(DiffEqual, old[len(old)-tail:])
	return mergeParts(parts)
}

func diffWords(old, now string) []DiffPart {
	ids := map[string]rune{}
	var tokens []string
	encode := func(s string) []rune {
		var out []rune
		for _, t := range tokenize(s) {
			id, ok := ids[t]
			if !ok {
				id = tokenRune(len(tokens))
				ids[t] = id
				tokens = append(tokens, t)
			}
			out = append(out, id)
		}
		return out
	}
	a, b := encode(old), encode(now)
	d := diffmatchpatch.New()
	d.DiffTimeout = diffTime
	var parts []DiffPart
	for _, p := range d.DiffCleanupSemantic(d.DiffMainRunes(a, b, false)) {
		var text strings.Builder
		for _, r := range p.Text {
			text.WriteString(tokens[tokenIndex(r)])
		}
		parts = append(parts, DiffPart{Op: diffOps[p.Type], Text: text.String()})
	}
	return parts
}

var diffOps = map[diffmatchpatch.Operation]DiffOp{
	diffmatchpatch.DiffEqual: DiffEqual, diffmatchpatch.DiffInsert: DiffInsert, diffmatchpatch.DiffDelete: DiffDelete,
}

// mergeParts puts neighbouring parts of one kind together.
func mergeParts(parts []DiffPart) []DiffPart {
	var out []DiffPart
	for _, p := range parts {
		if n := len(out); n > 0 && out[n-1].Op == p.Op {
			out[n-1].Text += p.Text
			continue
		}
		out = append(out, p)
	}
	return out
}

// Changed reports whether a diff holds any change.
func Changed(parts []DiffPart) bool {
	for _, p := range parts {
		if p.Op != DiffEqual && p.Op != DiffSkip {
			return true
		}
	}
	return false
}

// Shorten makes a diff fit for a page: long unchanged stretches become a note of their
// length, and changes beyond a page's measure are cut with a note of what is left out.
func Shorten(parts []DiffPart) []DiffPart {
	var out []DiffPart
	room := diffShown
	for i, p := range parts {
		if p.Op == DiffEqual {
			out = append(out, nearby(p.Text, i > 0, i < len(parts)-1)...)
			continue
		}
		shown, cut := Bound(p.Text, max(room, 0))
		room -= len(shown)
		if shown != "" {
			out = append(out, DiffPart{Op: p.Op, Text: shown})
		}
		if cut {
			out = append(out, DiffPart{Op: DiffCut, Left: utf8.RuneCountInString(p.Text[len(shown):])})
		}
	}
	return out
}

// nearby keeps the ends of an unchanged stretch that touch a change.
func nearby(s string, before, after bool) []DiffPart {
	if len(s) <= 3*nearEqual {
		return []DiffPart{{Op: DiffEqual, Text: s}}
	}
	start, end := 0, len(s)
	if before {
		start = runeEdge(s, nearEqual)
	}
	if after {
		end = runeEdge(s, len(s)-nearEqual)
	}
	var out []DiffPart
	if start > 0 {
		out = append(out, DiffPart{Op: DiffEqual, Text: s[:start]})
	}
	out = append(out, DiffPart{Op: DiffSkip, Left: utf8.RuneCountInString(s[start:end])})
	if end < len(s) {
		out = append(out, DiffPart{Op: DiffEqual, Text: s[end:]})
	}
	return out
}

// runeEdge moves a place back to the beginning of a character.
func runeEdge(s string, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

// commonPrefix and commonSuffix give how many bytes two texts share; both end at a line,
// so that words and marks are compared whole.
func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[i] == b[i] {
		i++
	}
	if i == len(a) && i == len(b) {
		return i
	}
	return strings.LastIndexByte(a[:i], '\n') + 1
}

func commonSuffix(a, b string) int {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[len(a)-1-i] == b[len(b)-1-i] {
		i++
	}
	at := strings.IndexByte(a[len(a)-i:], '\n')
	if at < 0 {
		return 0
	}
	if at > 0 && a[len(a)-i+at-1] == '\r' {
		at--
	}
	return i - at
}

// Surrogates are no characters of their own; token numbers leave them out.
const (
	firstSurrogate = 0xD800
	surrogates     = 0x800
)

func tokenRune(i int) rune {
	r := rune(i + 1)
	if r >= firstSurrogate {
		r += surrogates
	}
	return r
}

func tokenIndex(r rune) int {
	if r >= firstSurrogate {
		r -= surrogates
	}
	return int(r) - 1
}

// tokenize splits at word bounds (UAX 29); words in scripts without spaces are split
// further into characters.
func tokenize(s string) []string {
	var out []string
	w := words.FromString(s)
	for w.Next() {
		t := w.Value()
		if !unspaced(t) {
			out = append(out, t)
			continue
		}
		g := graphemes.FromString(t)
		for g.Next() {
			out = append(out, g.Value())
		}
	}
	return out
}

// unspaced reports that a text is of a script that puts no spaces between words.
func unspaced(s string) bool {
	for _, r := range s {
		if r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) {
			return true
		}
	}
	return false
}

// ChangeCount counts the words that were put in and taken out; of scripts without spaces
// the characters.
type ChangeCount struct {
	Added, Removed int
	// Characters says that most of what was counted are characters.
	Characters bool

	chars int
}

// Count adds the changes of a diff.
func (c *ChangeCount) Count(parts []DiffPart) {
	for _, p := range parts {
		if p.Op != DiffInsert && p.Op != DiffDelete {
			continue
		}
		words, chars := countWords(p.Text)
		c.chars += chars
		if p.Op == DiffInsert {
			c.Added += words
		} else {
			c.Removed += words
		}
	}
	c.Characters = 2*c.chars > c.Added+c.Removed
}

// countWords counts words; chars are those that are single characters of a script without
// spaces. Of very long texts the spaces are counted.
func countWords(s string) (words, chars int) {
	if len(s) > diffBytes {
		return len(strings.Fields(s)), 0
	}
	for _, t := range tokenize(s) {
		if !strings.ContainsFunc(t, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
			continue
		}
		words++
		if unspaced(t) {
			chars++
		}
	}
	return words, chars
}
