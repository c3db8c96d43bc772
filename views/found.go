package views

import (
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// Found is the third column: what the destination says, and people's evidence.
type Found struct {
	References []Reference
	Lookups    []LookupLine // oldest first; of many the first and the newest
	Gap        Gap          // of Lookups
	NextLookup time.Time    // zero = none planned
	// LookupLag is the documented lag; NoLookup says that the destination offers
	// no lookup at all.
	LookupLag  time.Duration
	NoLookup   bool
	Protection ProtectionView
	Evidence   []EvidenceLine
	// LookYourself are links into the destination.
	LookYourself []Link
	// AcceptedOnly says that the destination's acceptance of a mail is not delivery.
	AcceptedOnly bool
}

// Reference is a target reference: the destination's own identifier of the effect.
type Reference struct {
	ID     string
	URL    string
	Effect string // effect type, e.g. "task"
	At     time.Time
	By     Who // the destination's answer is WhoSystem
	// Candidate says that a person must still decide whether it is ours.
	Candidate bool
}

// LookupLine is one lookup that was made.
type LookupLine struct {
	Result operation.LookupResult
	At     time.Time
	Count  int    // effects found, for many
	ID     string // for one and for mismatch
	URL    string
}

// ProtectionView is what protects a repeat of this action.
type ProtectionView struct {
	// Key says that the action takes an idempotency key, Proven that a probe showed
	// it to hold.
	Key         bool
	Lookup      bool // what was sent can be looked up by our own reference
	Unique      bool // our reference is documented as unique: a repeat is refused there
	Proven      bool
	Retention   time.Duration // 0 = not published
	Generation  int
	FirstUsed   time.Time // zero = the key was never used
	Until       time.Time // end of the protection, margin subtracted; zero = none
	Expired     bool
	SettleUntil time.Time // an earlier request may still take effect until then; zero = no
}

// EvidenceKind says what kind of evidence it is.
type EvidenceKind string

// The kinds of evidence.
const (
	EvidenceResponse  EvidenceKind = "response"
	EvidenceLookup    EvidenceKind = "lookup"
	EvidenceCallback  EvidenceKind = "callback"
	EvidenceStatement EvidenceKind = "statement"
	EvidenceLate      EvidenceKind = "late"
)

// EvidenceLine is one piece of evidence.
type EvidenceLine struct {
	ID   operation.EvidenceID
	Kind EvidenceKind
	At   time.Time
	By   Who
	Text string
	// Result is an outcome, a lookup result or a delivery state in the model's word;
	// Reference is the target reference that the evidence names.
	Result    string
	Reference string
	Link      string
	Hash      string // hex, of what was stored
	Erased    bool

	Attachments []AttachmentView
}

// referenceState gives the hue and shape of a reference: confirmed, or in question.
func referenceState(r Reference) string {
	if r.Candidate {
		return string(operation.Review)
	}
	return string(operation.Confirmed)
}

// referenceIcon gives its shape: a candidate, one that the destination named, or one that
// a person named.
func referenceIcon(r Reference) string {
	switch {
	case r.Candidate:
		return string(operation.Review)
	case r.By.Kind == WhoPerson:
		return "person"
	}
	return string(operation.Confirmed)
}

// lookupText says what a lookup found.
func lookupText(p *text.Printer, l LookupLine) string {
	if l.Result == operation.LookupMany {
		return p.N("lookup.many", l.Count)
	}
	return p.T("lookup." + string(l.Result))
}

// missed reports whether the newest lookup found nothing.
func missed(list []LookupLine) bool {
	return len(list) > 0 && list[len(list)-1].Result == operation.LookupNone
}

// resultText says a result in the reader's words, whatever kind of result it is.
func resultText(p *text.Printer, word string) string {
	for _, family := range []string{"outcome.", "lookup.", "delivery."} {
		if text.Has(family+word) && word != string(operation.LookupMany) {
			return strings.TrimSuffix(p.T(family+word), ":")
		}
	}
	if word == string(operation.LookupMany) {
		return p.T("duplicate.suspected")
	}
	return word
}
