package views

import "time"

// DefinitionModel is one applied version of a flow or destination, as it was written.
type DefinitionModel struct {
	Frame
	Up      Link // the list that it belongs to
	Of      Link // the flow or destination
	Number  int
	Current bool // new work starts with this version
	At      time.Time
	By      Who
	Hash    string
	Text    string // the file as applied
	Since   int    // the version before; 0 = this is the first
	Changes []DiffPart
	Older   string // addresses; "" = there is none
	Newer   string
}

// DefinitionVersion is one applied version in a list.
type DefinitionVersion struct {
	Number int
	URL    string
	At     time.Time
	By     Who
}
