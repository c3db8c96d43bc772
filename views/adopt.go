package views

// AdoptModel enters a stopped job of another system by hand: an adopted operation
// starts in review with what is known.
// Fields: target (flow/stage), title, reference, key, happened_at (2006-01-02T15:04 in the
// viewer's zone), content, evidence, link.
type AdoptModel struct {
	Frame
	Form
	EvidenceFields
	Targets    []Option // values for target: "flow/stage"
	Title      string
	Reference  string
	Key        string
	HappenedAt string
	Content    string
}
