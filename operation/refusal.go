package operation

import (
	"errors"
	"maps"
	"slices"
	"strconv"
)

// Code is the stable name of a refusal. It is the same in the API, in the message
// catalogues ("refusal.<code>") and in the history.
type Code string

// The codes. Each has one sentence in every catalogue: why not, who can, what helps.
const (
	CodeOK                   Code = ""
	CodeForbiddenMove        Code = "forbidden_move"         // the state does not permit this
	CodeClosed               Code = "closed"                 // the operation is closed
	CodeNotReady             Code = "not_ready"              // state is not one from which an attempt may start
	CodeNotDue               Code = "not_due"                // the next try is scheduled for later
	CodeNotApproved          Code = "not_approved"           // no clearance of the current version
	CodeApprovalExpired      Code = "approval_expired"       // the clearance has expired
	CodeApproverNotEntitled  Code = "approver_not_entitled"  // an approver has lost the right since
	CodeHashMismatch         Code = "hash_mismatch"          // content differs from what was approved
	CodeEarlierStage         Code = "earlier_stage"          // an earlier stage is not satisfied
	CodeOriginalOpen         Code = "original_open"          // the replaced operation is not resolved
	CodeOriginalConfirmed    Code = "original_confirmed"     // the replaced operation has its effect
	CodeReplacementOpen      Code = "replacement_open"       // what replaced it is not settled
	CodeReplacementConfirmed Code = "replacement_confirmed"  // what replaced it has the effect
	CodeAttemptOpen          Code = "attempt_open"           // another attempt is open
	CodeAttemptLimit         Code = "attempt_limit"          // the attempt limit is used up
	CodeSendByPassed         Code = "send_by_passed"         // too late to send safely
	CodePausedOperation      Code = "paused_operation"       // this operation is paused
	CodePausedFlow           Code = "paused_flow"            // the flow is paused
	CodePausedDestination    Code = "paused_destination"     // the destination is paused
	CodePausedAll            Code = "paused_all"             // all sends are paused (a restored database)
	CodePausedBatch          Code = "paused_batch"           // its batch is paused
	CodeBatchStopped         Code = "batch_stopped"          // the unsent rest of its batch was given up
	CodeItemOfList           Code = "item_of_list"           // an item keeps the content that was approved with its list
	CodeNothingFollows       Code = "nothing_follows"        // nothing of the run waits for this stage
	CodeSuppressed           Code = "suppressed"             // its recipient must not be written to any more
	CodeAccountChanged       Code = "account_changed"        // the destination's account or environment changed
	CodeUnprotected          Code = "unprotected"            // outcome unknown, no protection permits a repeat
	CodeKeyExpired           Code = "key_expired"            // the key's retention is over or not published
	CodeSettling             Code = "settling"               // an earlier request may still take effect
	CodeLookupNeeded         Code = "lookup_needed"          // a fresh lookup must come first
	CodeStaleFence           Code = "stale_fence"            // the attempt's fence is no longer current
	CodeStaleRevision        Code = "stale_revision"         // the operation changed since it was shown
	CodeStaleVersion         Code = "stale_version"          // another content version is current
	CodeNotEntitled          Code = "not_entitled"           // the person lacks the role
	CodeOwnContent           Code = "own_content"            // author, editor or submitter may not approve
	CodeParty                Code = "party"                  // a party to the case may not give the second decision
	CodeAlreadyDecided       Code = "already_decided"        // this person already decided on this version
	CodeDispatched           Code = "dispatched"             // a request has left; it can no longer be taken back
	CodeAttemptsUnsettled    Code = "attempts_unsettled"     // not all attempts are proven not_started
	CodeChecklist            Code = "checklist"              // checklist items are unanswered
	CodeEvidenceMissing      Code = "evidence_missing"       // evidence is needed
	CodeReferenceMissing     Code = "reference_missing"      // the target reference is needed
	CodeReferenceTaken       Code = "reference_taken"        // another operation has this target reference
	CodeProofNotListed       Code = "proof_not_listed"       // not_started with a code that the profile does not list
	CodeContentMissing       Code = "content_missing"        // content is incomplete
	CodeContentDiffers       Code = "content_differs"        // the presented content is not the approved one
	CodeKeyReused            Code = "key_reused"             // same idempotency key, other body
	CodeReasonMissing        Code = "reason_missing"         // a reason is needed
	CodeDateMissing          Code = "date_missing"           // a date in the future is needed
	CodeLeaseCap             Code = "lease_cap"              // the absolute cap of the lease is reached
	CodeForClients           Code = "for_clients"            // other programs perform it through the job API
	CodeLocked               Code = "locked"                 // somebody else changes it at this moment
	CodeStopped              Code = "stopped"                // a person permits no further attempt
	CodePermanent            Code = "permanent_refusal"      // the destination refuses for good
	CodeDuplicate            Code = "duplicate_suspected"    // more than one effect was found
	CodeDelegation           Code = "delegation"             // the delegation is over, taken back, or covers less
	CodeDelegatorNotEntitled Code = "delegator_not_entitled" // whoever is acted for lacks the role now
	CodePartyFor             Code = "party_for"              // a party decides for nobody, and nobody for a party
	CodeCountedOnce          Code = "counted_once"           // one natural person counts once, in any capacity
	CodeDelegate             Code = "delegate"               // this person cannot take over approvals
	CodeDelegationTime       Code = "delegation_time"        // the time of a delegation is over or too long
	CodeAlone                Code = "alone"                  // not with others: it needs its own page
	CodeGroupFilled          Code = "group_filled"           // the person's groups have their approvals already
	CodeItemKey              Code = "item_key"               // an item's key is missing, unfit or used twice
	CodeCaseTaken            Code = "case_taken"             // somebody else has the case in hand
	CodeCaseNotTaken         Code = "case_not_taken"         // this person does not have the case in hand
	CodeCaseClosed           Code = "case_closed"            // the case is closed: its operation is settled
	CodeClock                Code = "clock"                  // not a time that a case can have taken
	CodeNoLookup             Code = "no_lookup"              // the destination cannot be asked for this operation
	CodeRestoreOpen          Code = "restore_open"           // what a restored database lists is not reconciled yet
	CodeNotTried             Code = "not_tried"              // of a list: its turn did not come
	CodeDestinationSetUp     Code = "destination_set_up"     // its address or a variable of its profile cannot be used
)

// Codes lists every refusal code but CodeOK: each needs a sentence in every catalogue.
var Codes = []Code{CodeForbiddenMove, CodeClosed, CodeNotReady, CodeNotDue, CodeNotApproved, CodeApprovalExpired,
	CodeApproverNotEntitled, CodeHashMismatch, CodeEarlierStage, CodeOriginalOpen, CodeOriginalConfirmed, CodeReplacementOpen, CodeReplacementConfirmed, CodeAttemptOpen, CodeAttemptLimit,
	CodeSendByPassed, CodePausedOperation, CodePausedFlow, CodePausedDestination, CodePausedAll, CodePausedBatch, CodeBatchStopped, CodeItemOfList, CodeNothingFollows, CodeSuppressed, CodeAccountChanged,
	CodeUnprotected, CodeKeyExpired, CodeSettling, CodeLookupNeeded, CodeStaleFence, CodeStaleRevision, CodeStaleVersion,
	CodeNotEntitled, CodeOwnContent, CodeParty, CodeAlreadyDecided, CodeDispatched, CodeAttemptsUnsettled, CodeChecklist,
	CodeEvidenceMissing, CodeReferenceMissing, CodeReferenceTaken, CodeProofNotListed, CodeContentMissing,
	CodeContentDiffers, CodeKeyReused, CodeReasonMissing, CodeDateMissing, CodeLeaseCap, CodeForClients, CodeLocked, CodeStopped,
	CodePermanent, CodeDuplicate, CodeDelegation, CodeDelegatorNotEntitled, CodePartyFor, CodeCountedOnce, CodeDelegate, CodeDelegationTime, CodeAlone, CodeGroupFilled, CodeItemKey,
	CodeCaseTaken, CodeCaseNotTaken, CodeCaseClosed, CodeClock, CodeNoLookup, CodeNotTried, CodeRestoreOpen, CodeDestinationSetUp}

// Refusal is a verdict that says no: an error fit for the person or job that asked.
type Refusal struct {
	Code Code
	// Params fill the catalogue's sentence: "at" (RFC 3339), "who", "stage", "limit" …
	Params map[string]string
	// Who can change it, if that is known.
	Who Responsible
}

// Error gives the code and what it concerns, for logs. People see the catalogue's sentence.
func (r *Refusal) Error() string {
	s := "refused: " + string(r.Code)
	for _, name := range slices.Sorted(maps.Keys(r.Params)) {
		s += " " + name + "=" + strconv.Quote(r.Params[name])
	}
	return s
}

// RefusalIn gives the refusal that an error is, or wraps; ok is false for any other error
// and for none.
func RefusalIn(err error) (r *Refusal, ok bool) { return errors.AsType[*Refusal](err) }

// Refuse makes a refusal with parameters given as name, value, name, value.
func Refuse(c Code, params ...string) *Refusal {
	r := &Refusal{Code: c}
	for i := 0; i+1 < len(params); i += 2 {
		if r.Params == nil {
			r.Params = map[string]string{}
		}
		r.Params[params[i]] = params[i+1]
	}
	return r
}

// By names who can help, and returns the refusal.
func (r *Refusal) By(who Responsible) *Refusal { r.Who = who; return r }
