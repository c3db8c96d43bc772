package text

import (
	"slices"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

// SortBy puts a list into the order that the reader's language gives to names: Ł stands
// after L in Polish, upper and lower case together, numbers by their value. Equal names
// keep their order.
func SortBy[T any](p *Printer, list []T, name func(T) string) {
	c := collate.New(language.Make(p.Lang), collate.Numeric)
	slices.SortStableFunc(list, func(a, b T) int { return c.CompareString(name(a), name(b)) })
}
