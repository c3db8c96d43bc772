package views

import (
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// SameVerdict says whether what left is what was approved.
type SameVerdict string

// The verdicts; each has the keys "same.<word>" and "same.<word>_why".
const (
	// SameBytes: the approved version hashes to what was approved, its holes filled again
	// give exactly the bytes that left, and those hash to what was recorded at dispatch.
	SameBytes SameVerdict = "same"
	// SameDiffers: the record disagrees with itself. This must never be.
	SameDiffers SameVerdict = "differs"
	// SameErased: the bytes were erased for privacy; both hashes stay.
	SameErased SameVerdict = "erased"
)

// SameVerdicts lists them all.
var SameVerdicts = []SameVerdict{SameBytes, SameDiffers, SameErased}

// SameFact compares the requests of one or more attempts, all with the same bytes, with the
// version that was approved.
type SameFact struct {
	Verdict  SameVerdict
	Number   int    // of the approved version
	Version  string // its hash, hex
	Resolved string // the hash of the bytes that left, hex
	Attempts []int  // numbers of the attempts that carried them
	At       time.Time
	Bytes    int // of the body
	Holes    []HoleFill
	URL      string // the bytes that left, as plain text; "" = erased
	// Fault says what does not fit, for SameDiffers.
	Fault SameFault
}

// SameFault names what does not fit; each has a key "same.fault.<word>".
type SameFault string

// The faults.
const (
	FaultVersion  SameFault = "version"  // the version's text no longer has the approved hash
	FaultResolved SameFault = "resolved" // the stored bytes no longer have the hash of the dispatch
	FaultHoles    SameFault = "holes"    // the version's holes cannot be filled so that these bytes follow
)

// SameFaults lists them all.
var SameFaults = []SameFault{FaultVersion, FaultResolved, FaultHoles}

// HoleFill is a hole with what it was filled with.
type HoleFill struct {
	Name  string
	Value string
}

// sameOf gives the facts that disagree, which stand first of all, or the others.
func (a Approved) sameOf(loud bool) []SameFact {
	var out []SameFact
	for _, f := range a.Same {
		if (f.Verdict == SameDiffers) == loud {
			out = append(out, f)
		}
	}
	return out
}

// sameIcon gives the shape of a verdict.
func sameIcon(v SameVerdict) string {
	switch v {
	case SameBytes:
		return "equal"
	case SameErased:
		return "note"
	}
	return "warning"
}

// sameState gives the hue of a verdict.
func sameState(v SameVerdict) string {
	switch v {
	case SameBytes:
		return string(operation.Confirmed)
	case SameErased:
		return string(operation.Cancelled)
	}
	return string(operation.Review)
}

// sameSent names the attempts that carried the bytes.
func sameSent(p *text.Printer, f SameFact) string {
	words := make([]string, 0, len(f.Attempts))
	for i, a := range f.Attempts {
		if i == 3 && len(f.Attempts) > 4 {
			return p.N("same.sent_more", len(f.Attempts)-i, "List", strings.Join(words, p.T("list.join")))
		}
		words = append(words, p.Number(a))
	}
	return p.N("same.sent", len(f.Attempts), "List", strings.Join(words, p.T("list.join")))
}
