package store

import "slices"

// keysetPage cuts one row too many off, brings a page that was read backwards into the
// order of the list, and gives the cursors of its neighbours, "" = none. at gives a row's
// place in the list.
func keysetPage[T any](rows []T, limit int, cursorText string, at func(T) cursor) (page []T, next, prev string) {
	c, paged := decodeCursor(cursorText)
	more := len(rows) > limit
	if more {
		rows = rows[:limit]
	}
	if c.Back {
		slices.Reverse(rows)
	}
	if len(rows) == 0 {
		return rows, "", ""
	}
	if more || c.Back {
		next = at(rows[len(rows)-1]).encode()
	}
	if paged && (!c.Back || more) {
		first := at(rows[0])
		first.Back = true
		prev = first.encode()
	}
	return rows, next, prev
}
