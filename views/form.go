package views

import "holdpoint/operation"

// Form is what every form carries. Hidden fields: form_id, version, hash, revision
// and, where Return is set, return.
type Form struct {
	// Action is the address that the form is posted to.
	Action string
	// FormID is the unique key of this rendering, so that a double click is one
	// decision.
	FormID string
	// Version, Hash (hex) and Revision are what the person was shown.
	Version  operation.VersionID
	Hash     string
	Revision int64
	// Return is the address to come back to.
	Return string
	// Errors holds what is wrong, by field name; "" is the form as a whole.
	Errors map[string]Say
	// FilesLost is how many files came with a form that came back: they must be chosen
	// again.
	FilesLost int
	// Barred says why this may not be done; the form is not shown then.
	Barred *operation.Refusal
}

// Error gives what is wrong with a field.
func (f Form) Error(field string) Say { return f.Errors[field] }

// Open reports whether the form has something to correct, so that its disclosure is
// shown open.
func (f Form) Open() bool { return len(f.Errors) > 0 }

// Link is a link a person can open.
type Link struct {
	Label string
	URL   string
}

// Option is one choice of a list.
type Option struct {
	Value    string
	Label    string
	Selected bool
}

// EvidenceFields are the fields by which a person gives evidence: text, a link and
// files. Field names: evidence, link, files and, in a case, how.
type EvidenceFields struct {
	Evidence string
	Link     string
	How      How
}

// place says where on the page a field of a form stands, and what it is called there.
type place struct{ name, id, label string }

// marked gives the places of the fields that are wrong, in the order of the page.
func (f Form) marked(places []place) []place {
	var out []place
	for _, p := range places {
		if !f.Error(p.name).Empty() {
			out = append(out, p)
		}
	}
	return out
}
