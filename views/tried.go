package views

import (
	"cmp"
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// Tried is the second column: the ladder of attempts.
type Tried struct {
	// Attempts are the shown ones, oldest first; where there are many, the first and the
	// newest.
	Attempts []AttemptView
	Gap      Gap
	Used     int // counted against the limit
	Max      int
	// Next says when the next try or check is; zero = none.
	Next time.Time
	// Halt says why there is no next try; empty = there is one, or none is needed.
	Halt Say
	// Reexecution is set while one approved attempt is still to be made.
	Reexecution bool
}

// AttemptView is one technical try.
type AttemptView struct {
	ID           operation.AttemptID
	Number       int
	Kind         operation.AttemptKind
	ClaimedAt    time.Time
	By           Who // job or service
	DispatchedAt time.Time
	Written      int64 // bytes of the request written
	// Resolved is the hash of the bytes that were handed out, hex; BytesURL leads to them,
	// "" = erased.
	Resolved   string
	BytesURL   string
	AnswerCut  Cut // of the proof's excerpt
	Key        string
	Generation int
	SendBy     time.Time
	LeaseEnd   time.Time

	// Open says that the attempt is still running: it has no outcome yet.
	Open      bool
	Outcome   operation.Outcome
	EndedAt   time.Time
	Proof     operation.Proof
	Reference string
	// SettledBy says that a later fact settled an unknown outcome: "effect" or
	// "no_effect"; "" = not settled.
	SettledBy SettledBy
}

// SettledBy says how an unknown outcome was settled later.
type SettledBy string

// How an unknown outcome was settled.
const (
	NotSettled      SettledBy = ""
	SettledEffect   SettledBy = "effect"    // the effect was found
	SettledNoEffect SettledBy = "no_effect" // shown not to have happened
)

// attemptOutcome is the data-outcome of an attempt: an open one has none yet.
func attemptOutcome(a AttemptView) string {
	if a.Open {
		return "open"
	}
	return a.Outcome.String()
}

// triedHint says when the first attempt starts.
func triedHint(p *text.Printer, h Head) string {
	switch h.State {
	case operation.Draft, operation.PendingApproval:
		return p.T("tried.hint_approval")
	case operation.Waiting:
		return p.T("tried.hint_waiting")
	case operation.Ready:
		return cmp.Or(heldTried(p, h), p.T("tried.hint_ready"))
	case operation.Review:
		return p.T("tried.hint_adopted")
	}
	return ""
}

// dispatchText says what left, and under which key.
func dispatchText(p *text.Printer, a AttemptView) string {
	switch {
	case a.Written > 0 && a.Key != "":
		return p.N("attempt.written_key", int(a.Written), "Generation", a.Generation)
	case a.Written > 0:
		return p.N("attempt.written", int(a.Written))
	case a.Key != "":
		return p.T("attempt.key", "Generation", a.Generation)
	}
	return p.T("attempt.handed_out")
}

// proofText says what proves an outcome, or why it is not known.
func proofText(p *text.Printer, proof operation.Proof) string {
	args := []any{"Status", proof.Status, "Code", proof.Code, "Duration", time.Duration(proof.Millis) * time.Millisecond}
	k := "proof." + proof.Code
	if text.Has(k+"_plain") && proof.Millis == 0 && proof.Status == 0 {
		return p.T(k + "_plain")
	}
	if text.Has(k) {
		return p.T(k, args...)
	}
	switch {
	case proof.Status > 0 && proof.Code != "":
		return p.T("proof.status_code", args...)
	case proof.Status > 0:
		return p.T("proof.status", args...)
	case proof.Code != "":
		return p.T("proof.code", args...)
	}
	return p.T("proof.none")
}

// proofWords are the codes of proofs that the catalogues have a sentence for; others,
// from a destination's profile, are shown as they are.
var proofWords = []string{"refused_connection", "timeout", "reset", "lease_ended_after_dispatch",
	"lease_ended_before_dispatch", "bad_request", "send_by_passed", "blocked_address", "dns", "tls", "not_connected",
	"no_answer", "cut_body", "body_limit", "body_encoding", "bad_message", "credential_missing", "starttls_missing",
	"auth_refused", "auth_without_tls", "recipient_refused", "refused_before_execution", "validation",
	"rule_error", "early_answer", "no_such_action", "no_lookup", "lookup_not_asked", "lookup_answered", "lookup_incomplete", "lookup_unreadable",
	"refused", "smtp_refused", "smtp_later", "cut_before_end", "not_supported", "answer_out_of_step", "accepted",
	"confirmed_by_answer", "already_exists", "unrecognised_answer", "reference_missing", "key_mismatch", "key_in_progress", "body_cut", "redirect",
	"rate_limited", "refused_credentials"}

// plainProofs are the proofs whose sentence names a figure; each has one without it,
// "proof.<code>_plain", for where the figure is not at hand.
var plainProofs = []string{"timeout", "cut_body", "body_limit", "body_encoding", "refused_before_execution", "validation",
	"confirmed_by_answer", "already_exists", "unrecognised_answer", "reference_missing", "key_mismatch", "key_in_progress", "body_cut", "redirect",
	"rate_limited", "refused_credentials"}
