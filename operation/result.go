package operation

import "time"

// Result is what one attempt brought, classified. Its zero value is unknown.
type Result struct {
	Outcome         Outcome
	Proof           Proof
	TargetReference string        // the destination's own identifier of the effect
	TargetURL       string        // a link a person can open
	Permanent       bool          // not_started for a reason that a repeat will not change
	RetryAfter      time.Duration // the destination's own wish; 0 = none
	Lookup          bool          // "already exists": look up whether it is ours
	Mismatch        bool          // the destination says the key was used with other parameters
	InProgress      bool          // an earlier request with this key is still running there
	Replayed        bool          // the answer is a stored one, replayed
}

// Phase is how far a request got. Each includes the ones before it.
type Phase string

// The phases of a request.
const (
	PhaseBlocked    Phase = "blocked"    // refused by our own guard; no connection
	PhaseConnecting Phase = "connecting" // name look-up, TCP or TLS did not complete; no byte of the request written
	PhaseSent       Phase = "sent"       // at least one byte of the request was written
	PhaseAnswered   Phase = "answered"   // status and headers were read
	PhaseComplete   Phase = "complete"   // the whole body was read
)

// Proof is the evidence behind an outcome, masked, kept with the attempt.
type Proof struct {
	Code     string            `json:"code"` // stable word: "refused_connection", a profile's code, "timeout" …
	Phase    Phase             `json:"phase,omitempty"`
	Written  int64             `json:"written,omitempty"` // bytes of the request written, counted above TLS
	Status   int               `json:"status,omitempty"`  // HTTP or SMTP status; 0 = none
	Header   map[string]string `json:"header,omitempty"`  // a few headers, secrets masked
	Excerpt  string            `json:"excerpt,omitempty"` // of the body, secrets and personal data masked
	Location string            `json:"location,omitempty"`
	Detail   string            `json:"detail,omitempty"` // technical sentence for people
	Millis   int64             `json:"millis,omitempty"` // duration in ms
}

// LookupFinding is the typed answer of one lookup, with what it found.
type LookupFinding struct {
	Result  LookupResult
	ID, URL string  // for one, and for a mismatch the candidate
	Matched string  // by which reference it matched: "key", "reference", "message_id" …
	Proof   Proof   // what was asked and answered
	Found   []Found // for many
}

// Found is one of several effects that a lookup returned.
type Found struct {
	ID  string `json:"id"`
	URL string `json:"url,omitempty"`
}

// RetryPolicy is a destination's documented policy for repeats.
type RetryPolicy struct {
	Max               int           // attempts at most
	Base              time.Duration // first interval
	MaxInterval       time.Duration
	RespectRetryAfter bool
}

// Wait gives the interval before the next attempt, after n attempts (n ≥ 1):
// doubling from Base up to MaxInterval, or the destination's own wish if longer.
func (p RetryPolicy) Wait(n int, wish time.Duration) time.Duration {
	d := max(p.Base, 0)
	for i := 1; i < n && d < p.MaxInterval; i++ {
		d *= 2
	}
	if p.MaxInterval > 0 {
		d = min(d, p.MaxInterval)
	}
	if p.RespectRetryAfter && wish > d {
		d = wish
	}
	return d
}
