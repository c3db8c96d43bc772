package operation

import (
	"crypto/sha256"
	"regexp"
	"slices"
	"strings"
)

// PatternID names one kind of stop: "pat_…". The same kind has the same ID in every
// installation.
type PatternID string

// SuggestionID names one suggestion of a language model: "sug_…".
type SuggestionID string

// CauseClass says in whose hands the cause of a stop lies.
type CauseClass string

// The classes of causes.
const (
	ClassSystem  CauseClass = "system_error"       // our own side, or how the destination is set up here
	ClassOutage  CauseClass = "destination_outage" // the destination or the way to it
	ClassContent CauseClass = "data_problem"       // what was to be sent
)

// CauseClasses lists every class.
var CauseClasses = []CauseClass{ClassSystem, ClassOutage, ClassContent}

// Valid reports whether c is one of CauseClasses.
func (c CauseClass) Valid() bool { return c == ClassSystem || c == ClassOutage || c == ClassContent }

// CausePhase says where on its way an operation stopped.
type CausePhase string

// The phases, in the order of an operation's way.
const (
	CausePrepare CausePhase = "prepare"  // its content is not complete
	CauseGuard   CausePhase = "guard"    // our own side refused before a connection
	CauseConnect CausePhase = "connect"  // no byte of the request was written
	CauseSending CausePhase = "sending"  // how much of the request left is not known, or not all of it did
	CauseWaiting CausePhase = "waiting"  // the request left, no answer came
	CauseAnswer  CausePhase = "answer"   // the answer is a refusal, not whole, or not documented
	CauseLookup  CausePhase = "lookup"   // what a lookup found contradicts
	CauseDecided CausePhase = "decision" // a rule or a person asked for a review
)

// CausePhases lists every phase in order.
var CausePhases = []CausePhase{CausePrepare, CauseGuard, CauseConnect, CauseSending, CauseWaiting, CauseAnswer, CauseLookup, CauseDecided}

// Valid reports whether p is one of CausePhases.
func (p CausePhase) Valid() bool {
	for _, x := range CausePhases {
		if x == p {
			return true
		}
	}
	return false
}

// StopKind says what stopped an operation.
type StopKind string

// The kinds of stops.
const (
	StopUnknown       StopKind = "unknown"       // an attempt ended unknown
	StopRefused       StopKind = "refused"       // an attempt was refused for good, or its limit is used up
	StopContradiction StopKind = "contradiction" // a lookup found several effects, or one that does not fit
	StopReview        StopKind = "review"        // it came to review without a new error
	StopMissing       StopKind = "missing"       // data is missing that its content needs
)

// StopKinds lists every kind.
var StopKinds = []StopKind{StopUnknown, StopRefused, StopContradiction, StopReview, StopMissing}

// Stop is what is known of one stop. Proof is the attempt's or the lookup's.
type Stop struct {
	Kind        StopKind
	Destination string
	Mail        bool // the destination speaks SMTP, whose status codes mean other things
	Proof       Proof
	Lookup      LookupResult
	Why         string   // of a review: the refusal's code or the event that led to it
	Missing     []string // dotted paths of the data that is missing
	Codes       []string // words of the destination's profile, which may stand in a code as they are
}

// Cause is a classified stop. Error holds only words of a fixed list, so that neither
// secrets nor what belongs to a customer can stand in it.
type Cause struct {
	Class       CauseClass
	Destination string
	Phase       CausePhase
	Code        string // stable word
	Status      int    // HTTP or SMTP status; 0 = none
	Error       string // the normalised error text; "" = nothing of it can be told
	Fingerprint [32]byte
}

// Pattern gives the pattern to which the cause belongs.
func (c Cause) Pattern() PatternID {
	return PatternID(FormatID("pat", [16]byte(c.Fingerprint[:16])))
}

// ClassifyStop gives a stop its class and its pattern, by fixed rules. Stops that differ
// only in numbers, identifiers, times, addresses or names have the same fingerprint.
func ClassifyStop(s Stop) Cause {
	c := Cause{Destination: s.Destination, Phase: s.phase(), Code: s.code()}
	switch s.Kind {
	case StopMissing:
		c.Error = missingText(s.Missing)
	case StopReview:
	default:
		if s.Proof.Status >= 100 && s.Proof.Status <= 999 {
			c.Status = s.Proof.Status
		}
		c.Error = NormalizeError(s.Proof.Excerpt)
	}
	c.Class = s.class(c)
	c.Fingerprint = c.fingerprint()
	return c
}

func (c Cause) fingerprint() [32]byte {
	h := sha256.New()
	writePart(h, "holdpoint/pattern/1", c.Destination, string(c.Phase), c.Code, itoa(c.Status), c.Error)
	return [32]byte(h.Sum(nil))
}

// phase says where the operation stopped.
func (s Stop) phase() CausePhase {
	switch s.Kind {
	case StopMissing:
		return CausePrepare
	case StopContradiction:
		return CauseLookup
	case StopReview:
		return CauseDecided
	}
	switch s.Proof.Code {
	case "lease_ended_after_dispatch", "superseded", "early_answer", "cut_before_end":
		return CauseSending
	}
	switch s.Proof.Phase {
	case PhaseBlocked:
		return CauseGuard
	case PhaseConnecting:
		return CauseConnect
	case PhaseAnswered, PhaseComplete:
		return CauseAnswer
	case PhaseSent:
		if s.Proof.Status > 0 {
			return CauseAnswer
		}
		return CauseWaiting
	}
	if s.Proof.Status > 0 { // a report from outside says no phase
		return CauseAnswer
	}
	return CauseWaiting
}

// code is the stable word of the stop. One that comes from outside keeps only known words.
func (s Stop) code() string {
	switch s.Kind {
	case StopMissing:
		return "content_missing"
	case StopContradiction:
		return "lookup_" + string(s.Lookup)
	case StopReview:
		return s.ownWord()
	}
	return s.known(s.Proof.Code)
}

// The reviews that nothing but a word explains, beside refusals and events.
const (
	WhyLateEffect = "late_effect" // evidence of an effect came after it was closed without one
	WhyAdopted    = "adopted"     // a stopped job of another system was entered by hand
)

// ownWord lets pass what this program itself says about a review.
func (s Stop) ownWord() string {
	if slices.Contains(Codes, Code(s.Why)) || slices.Contains(Events, Event(s.Why)) || s.Why == WhyLateEffect || s.Why == WhyAdopted {
		return s.Why
	}
	return knownToken(s.Why)
}

func (s Stop) known(code string) string {
	for _, k := range s.Codes {
		if k == code {
			return code
		}
	}
	if exitCode(code) {
		return "exit_code"
	}
	return knownToken(code)
}

// ourCodes are failures on our own side wherever they occur.
var ourCodes = map[string]bool{"blocked_address": true, "bad_request": true, "send_by_passed": true, "credential_missing": true, "destination_unusable": true,
	"no_such_action": true, "lease_ended_after_dispatch": true, "superseded": true, "rule_error": true, "unrecognised_answer": true, "reference_missing": true,
	"auth_refused": true, "auth_without_tls": true, "starttls_missing": true, "not_supported": true, "exit_code": true, "reference_taken": true}

// contentCodes are about what was sent.
var contentCodes = map[string]bool{"recipient_refused": true, "key_mismatch": true, "content_differs": true, "content_missing": true, "bad_message": true}

// class gives the class by code, phase and status, in this order.
func (s Stop) class(c Cause) CauseClass {
	switch {
	case s.Kind == StopMissing || contentCodes[c.Code]:
		return ClassContent
	case ourCodes[c.Code], s.Kind == StopContradiction, c.Phase == CauseGuard:
		return ClassSystem
	case c.Code == WhyLateEffect, c.Code == string(EvDispute):
		return ClassOutage // what the destination told was not true
	case c.Phase == CauseDecided:
		return ClassSystem
	case c.Status == 0, c.Phase != CauseAnswer && !s.Mail:
		return ClassOutage
	case s.Mail:
		return mailClass(c.Status)
	}
	return answerClass(c)
}

// answerClass judges an HTTP answer by its status.
func answerClass(c Cause) CauseClass {
	switch {
	case c.Status == 401, c.Status == 403, c.Status == 405, c.Status == 407, c.Status == 404 && c.Error == "":
		return ClassSystem // credential, rights or address: how the destination is set up here
	case c.Status == 408, c.Status == 423, c.Status == 425, c.Status == 429:
		return ClassOutage
	case c.Status >= 400 && c.Status < 500:
		return ClassContent
	}
	return ClassOutage
}

// mailClass judges a reply of SMTP, where 4xx is passing and 5xx is for good.
func mailClass(status int) CauseClass {
	switch {
	case status == 530, status == 534, status == 535, status == 538:
		return ClassSystem // the sign-in
	case status >= 500 && status < 600:
		return ClassContent
	}
	return ClassOutage
}

// missingText names the fields that are missing; places in lists count as one.
func missingText(paths []string) string {
	var out []string
	for _, p := range paths {
		parts := strings.Split(withoutPlaces(p), ".")
		for i, part := range parts {
			if !fieldName.MatchString(part) {
				parts[i] = gap
			}
		}
		if p = strings.Join(parts, "."); !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return cut(strings.Join(out, " "))
}

// fieldName is a name that somebody gave a field, not one that came with the data.
var fieldName = regexp.MustCompile(`^[A-Za-z_][A-Za-z_]{0,39}[0-9]{0,2}$`)

// withoutPlaces takes the places in lists out of a dotted path: items[3].sku is items.sku.
func withoutPlaces(path string) string {
	var b strings.Builder
	depth := 0
	for _, r := range path {
		switch {
		case r == '[':
			depth++
		case r == ']':
			depth--
		case depth == 0:
			b.WriteRune(r)
		}
	}
	return b.String()
}
