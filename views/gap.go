package views

// Gap says that the middle of a long list is not shown. The zero value: all is shown.
type Gap struct {
	After int    // how many shown entries stand before it
	Left  int    // how many are left out
	URL   string // where all are shown
}

// How many entries of a long list are shown: the first, and the newest.
const (
	gapFirst = 2
	gapLast  = 8
)

// Middle gives the part of a list of n entries that a page leaves out: from up to, not
// including, to. all leaves out nothing.
func Middle(n int, all bool) (from, to int) {
	if all || n <= gapFirst+gapLast+2 {
		return n, n
	}
	return gapFirst, n - gapLast
}
