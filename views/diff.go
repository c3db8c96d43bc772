package views

import (
	"strings"
	"unicode"

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
)

// DiffPart is a stretch of text with what became of it.
type DiffPart struct {
	Op   DiffOp
	Text string
}

// Diff compares two texts word by word; Chinese and Japanese, which put no spaces
// between words, character by character.
func Diff(old, now string) []DiffPart {
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
	list := d.DiffCleanupSemantic(d.DiffMainRunes(a, b, false))
	var parts []DiffPart
	for _, p := range list {
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

// Changed reports whether a diff holds any change.
func Changed(parts []DiffPart) bool {
	for _, p := range parts {
		if p.Op != DiffEqual {
			return true
		}
	}
	return false
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

// tokenize splits at word bounds (UAX 29); words in Han, Hiragana or Katakana are
// split further into characters.
func tokenize(s string) []string {
	var out []string
	w := words.FromString(s)
	for w.Next() {
		t := w.Value()
		if !eastAsian(t) {
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

func eastAsian(s string) bool {
	for _, r := range s {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) {
			return true
		}
	}
	return false
}

// ChangedFields compares the fields of two versions and keeps those that changed, in
// the order of the newer one.
func ChangedFields(old, now []Field) []FieldChange {
	before := map[string]string{}
	for _, f := range old {
		before[f.Name] = f.Value
	}
	var out []FieldChange
	for _, f := range now {
		if parts := Diff(before[f.Name], f.Value); Changed(parts) {
			out = append(out, FieldChange{Label: f.Name, Parts: parts})
		}
		delete(before, f.Name)
	}
	for _, f := range old {
		if v, gone := before[f.Name]; gone && v != "" {
			out = append(out, FieldChange{Label: f.Name, Parts: []DiffPart{{Op: DiffDelete, Text: v}}})
		}
	}
	return out
}
