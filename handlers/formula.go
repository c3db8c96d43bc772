package handlers

import (
	"regexp"
	"strings"
	"unicode"
)

// plainNumber is what spreadsheets read as a number: it may begin with a sign and computes
// nothing.
var plainNumber = regexp.MustCompile(`^[+-]?(\d+([.,]\d+)*|[.,]\d+)([eE][+-]?\d+)?$`)

// guarded keeps a cell from being read as a formula by a spreadsheet: text that would
// begin one gets an apostrophe. Numbers, also negative ones, stay as they are.
func guarded(cell string) string {
	if plainNumber.MatchString(cell) || !startsFormula(cell) {
		return cell
	}
	return "'" + cell
}

// startsFormula reports text that some spreadsheet may take for a formula: by its first
// character, in ASCII or in full width, or by the first one after what is not seen.
func startsFormula(cell string) bool {
	if cell == "" {
		return false
	}
	switch cell[0] {
	case '\t', '\r', '\n':
		return true
	}
	rest := strings.TrimLeftFunc(cell, func(r rune) bool { return unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Cc) })
	for _, r := range rest {
		return strings.ContainsRune("=+-@＝＋－＠﹢﹣﹦﹫−", r)
	}
	return false
}
