package views

import "strings"

// An open page compares these with what it is told, see static/js/live.js.

// runOf is the ID of the run that an operation belongs to.
func runOf(h Head) string { return strings.TrimPrefix(h.Run.URL, "/runs/") }

// versionOf is the number of the content version that is shown; "" = none.
func versionOf(a Approved) string {
	if a.Version == nil {
		return ""
	}
	return num64(int64(a.Version.Number))
}
