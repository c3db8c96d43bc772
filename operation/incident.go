package operation

import "time"

// IncidentID names one incident: "inc_…".
type IncidentID string

// IncidentState says whether the newest revision of an incident is signed.
type IncidentState string

// The states of an incident.
const (
	IncidentOpen   IncidentState = "open"   // people are writing it
	IncidentSigned IncidentState = "signed" // its newest revision is signed
)

// IncidentStates lists them.
var IncidentStates = []IncidentState{IncidentOpen, IncidentSigned}

// Valid reports whether s is one of IncidentStates.
func (s IncidentState) Valid() bool { return s == IncidentOpen || s == IncidentSigned }

// Effect says what is known of one operation's effect, as an incident counts it.
type Effect string

// The effects. Every operation has exactly one, so their counts add up to all operations.
const (
	EffectConfirmed Effect = "confirmed" // it exists
	EffectDoubtful  Effect = "doubtful"  // a request was sent, or evidence contradicts: not known
	EffectPending   Effect = "pending"   // nothing happened so far, provably; it may still be sent
	EffectNone      Effect = "none"      // closed without an effect
)

// Effects lists them in the order in which they are told.
var Effects = []Effect{EffectConfirmed, EffectDoubtful, EffectPending, EffectNone}

// EffectOf says what is known of an operation's effect. unproven: some dispatched attempt
// is not proven not_started; disputed: evidence contradicts the state it was closed in.
func EffectOf(s State, unproven, disputed bool) Effect {
	switch {
	case s == Confirmed:
		return EffectConfirmed
	case s == Unknown || s == InProgress:
		return EffectDoubtful
	case s.Closed():
		return EffectNone
	case unproven || disputed:
		return EffectDoubtful
	}
	return EffectPending
}

// IncidentScope is how far an incident reaches. Recipients are different people or
// customers as the profiles name them, counted over the newest versions of the content.
type IncidentScope struct {
	Operations          int            `json:"operations"`
	Effects             map[Effect]int `json:"effects"`
	ConfirmedByPerson   int            `json:"confirmed_by_person"` // of the confirmed ones
	DuplicateSuspected  int            `json:"duplicate_suspected"`
	DuplicateConfirmed  int            `json:"duplicate_confirmed"`
	Recipients          int            `json:"recipients"`            // different ones
	RecipientsNamed     int            `json:"recipients_named"`      // operations whose profile names them
	RecipientsNotNamed  int            `json:"recipients_not_named"`  // operations whose profile does not
	RecipientsNotStored int            `json:"recipients_not_stored"` // content erased, or not written yet
}

// Counted is one operation as the scope counts it.
type Counted struct {
	Effect    Effect
	ByPerson  bool
	Duplicate string // "", "suspected" or "confirmed"
}

// Add counts one operation. Recipients are counted apart.
func (s *IncidentScope) Add(c Counted) {
	if s.Effects == nil {
		s.Effects = map[Effect]int{}
	}
	s.Operations++
	s.Effects[c.Effect]++
	if c.Effect == EffectConfirmed && c.ByPerson {
		s.ConfirmedByPerson++
	}
	switch c.Duplicate {
	case "suspected":
		s.DuplicateSuspected++
	case "confirmed":
		s.DuplicateConfirmed++
	}
}

// IncidentTimes are when an incident took place. Zero = not known, or not settled yet.
type IncidentTimes struct {
	First    time.Time // first moment at which a request with an effect may have left
	Last     time.Time // last one
	Detected time.Time // when the first operation came into doubt, or to a person
	Settled  time.Time // when the last operation left it; zero while one is open
}

// Corrected gives the times with those that people corrected in place of the proposed.
func (t IncidentTimes) Corrected(by IncidentTimes) IncidentTimes {
	or := func(a, b time.Time) time.Time {
		if a.IsZero() {
			return b
		}
		return a
	}
	return IncidentTimes{First: or(by.First, t.First), Last: or(by.Last, t.Last), Detected: or(by.Detected, t.Detected), Settled: or(by.Settled, t.Settled)}
}

// MayWriteIncident reports whether a person may write incidents of a flow: whoever works
// on its operations. An auditor reads.
func MayWriteIncident(p Person) bool {
	return p.Active && (p.Has(RoleApprover) || p.Has(RoleOpsOwner) || p.Has(RoleAdmin))
}

// MaySignIncident gives the role in which a person signs for a flow; "" = they may not.
func MaySignIncident(p Person) Role {
	for _, r := range []Role{RoleOpsOwner, RoleAdmin} {
		if p.Active && p.Has(r) {
			return r
		}
	}
	return ""
}
