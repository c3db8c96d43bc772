package operation

import "time"

// ProbeID names one probe of a protection: "prb_…".
type ProbeID string

// ProbeResult is what two equal requests with one key have shown.
type ProbeResult string

// The results of a probe. Only the first two tell anything.
const (
	ProbeHeld    ProbeResult = "held"    // one effect: the protection holds
	ProbeBroken  ProbeResult = "broken"  // two effects: it does not hold
	ProbeUnclear ProbeResult = "unclear" // neither is shown
)

// ProbeFact is the newest probe of an action that told something; the zero value says
// that none did.
type ProbeFact struct {
	Result ProbeResult
	At     time.Time
}

// Shown reports whether a protection counts as proven that a profile calls proven since
// the beginning of a day (zero = it does not). A probe on that day or later which shows
// that it does not hold goes before the profile; one that held adds nothing to it
// (FC-37).
func Shown(since time.Time, newest ProbeFact) bool {
	return !since.IsZero() && (newest.Result != ProbeBroken || newest.At.Before(since))
}

// ProbeStep is one thing that a probe did, and what came of it. Texts are masked.
type ProbeStep struct {
	Name      string      `json:"name"`   // first, again, other, together, lookup
	Result    ProbeResult `json:"result"` // what this step shows
	Says      string      `json:"says"`   // an English sentence
	Status    int         `json:"status,omitempty"`
	Code      string      `json:"code,omitempty"`
	Reference string      `json:"reference,omitempty"`
	Excerpt   string      `json:"excerpt,omitempty"` // of the answer
}
