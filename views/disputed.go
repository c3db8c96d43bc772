package views

import (
	"time"

	"holdpoint/views/text"
)

// Disputed says that only a person settles the operation, and what reports the effect
// although it is disputed.
type Disputed struct {
	// Still is set where a person disputed what was confirmed: whatever reports the effect
	// does so again.
	Still bool
	// Told is how the effect was reported last: lookup, callback, late_report; "" = nothing
	// has reported it since.
	Told      string
	Reference Link // "" = it names none
	At        time.Time
}

// sentence says it in words.
func (d Disputed) sentence(p *text.Printer, destination string) string {
	if d.Told == "" {
		return p.T("disputed.open")
	}
	key := "disputed.found."
	if d.Still {
		key = "disputed.still."
	}
	if d.Reference.Label == "" {
		return p.T(key+"unnamed", "Destination", destination, "At", d.At)
	}
	return p.T(key+d.Told, "Destination", destination, "Reference", d.Reference.Label, "At", d.At)
}

// effect says what the evidence does that this viewer may add.
func (f EvidenceForm) effect(p *text.Printer) string {
	switch {
	case !f.States:
		return p.T("do.evidence_only")
	case f.Disputed:
		return p.T("do.evidence_disputed")
	}
	return p.T("do.evidence_effect")
}
