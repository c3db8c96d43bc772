package views

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// Frame is what stands around every page.
type Frame struct {
	// Path is the current path with its query; language and sign-in return to it.
	Path string
	// Section is the navigation entry that is current, one of the Section constants.
	Section Section
	// Viewer is who looks; nil on pages before sign-in.
	Viewer *Viewer
	// Waiting is how many decisions wait for the viewer (the number at Inbox). More than
	// MaxWaiting are shown as "more than that".
	Waiting int
	// Flash holds what the last action did, shown once.
	Flash []Flash
	// Theme is "light", "dark" or "" for the browser's own choice.
	Theme string
	// BreakGlass says that the viewer has signed in past the sign-in provider.
	BreakGlass bool
	// SendsPaused is set while all sends are paused.
	SendsPaused bool
	// LiveAt is the moment before the page's first read: from then on it learns of changes.
	// Zero = it stays as it is.
	LiveAt time.Time
	// KeysOff: single keys do not act for this person.
	KeysOff bool
}

// MaxWaiting is the largest number that is shown at Inbox.
const MaxWaiting = 99

// waitingText is the number at Inbox.
func waitingText(p *text.Printer, n int) string {
	if n > MaxWaiting {
		return p.Number(MaxWaiting) + "+"
	}
	return p.Number(n)
}

// Section names an entry of the navigation.
type Section string

// The entries of the navigation.
const (
	SectionInbox        Section = "inbox"
	SectionOperations   Section = "operations"
	SectionDeliveries   Section = "deliveries"
	SectionFlows        Section = "flows"
	SectionDestinations Section = "destinations"
	SectionHistory      Section = "history"
	SectionFigures      Section = "figures"
	SectionPeople       Section = "people"
	SectionAccount      Section = "account"
)

// The addresses that the frame itself links or posts to.
const (
	PathInbox          = "/inbox"
	PathOperations     = "/operations"
	PathDeliveries     = "/deliveries"
	PathFlows          = "/flows"
	PathDestinations   = "/destinations"
	PathPeople         = "/people"
	PathAccount        = "/account"
	PathAdopt          = "/operations/adopt"
	PathTogether       = "/approve-together" // ?flow=…&stage=…
	PathDelegations    = "/account/delegations"
	PathAllDelegations = "/people/delegations"
	PathSignIn         = "/sign-in"
	PathSignOut        = "/sign-out" // POST
	PathShortcuts      = "/shortcuts"
	PathConfirm        = "/confirm" // who am I, once more
)

// navEntry is one link of the top bar.
type navEntry struct {
	section Section
	path    string
	key     string
}

// navFor lists the entries that this viewer may open.
func navFor(v *Viewer) []navEntry {
	list := []navEntry{
		{SectionInbox, PathInbox, "nav.inbox"},
		{SectionOperations, PathOperations, "nav.operations"},
		{SectionDeliveries, PathDeliveries, "nav.deliveries"},
		{SectionFlows, PathFlows, "nav.flows"},
		{SectionDestinations, PathDestinations, "nav.destinations"},
		{SectionHistory, PathHistory, "nav.history"},
		{SectionFigures, PathFigures, "nav.figures"},
		{SectionReports, PathReports, "nav.reports"},
	}
	if v.Has(operation.RoleAdmin) || v.Has(operation.RoleAuditor) {
		list = append(list, navEntry{SectionPeople, PathPeople, "nav.people"})
	}
	return list
}

// Viewer is the person who looks at the page.
type Viewer struct {
	Name  string
	Email string
	Roles []operation.Role
}

// Has reports whether the viewer holds the role.
func (v *Viewer) Has(r operation.Role) bool {
	if v == nil {
		return false
	}
	for _, k := range v.Roles {
		if k == r {
			return true
		}
	}
	return false
}

// FlashKind is the weight of a message after an action.
type FlashKind string

// The kinds of flash.
const (
	FlashDone FlashKind = "done" // the action was carried out
	FlashInfo FlashKind = "info" // nothing was changed, and why
	FlashWarn FlashKind = "warn" // refused
)

// Flash is a message about the action that led to this page.
type Flash struct {
	Kind FlashKind
	Say  Say
	// Next leads to the next decision that waits; an empty one = nothing waits any more;
	// nil = nothing is offered.
	Next *Link
}

// The catalogue keys of what an action did. Handlers put them into a Flash.
const (
	FlashApproved             = "flash.approved"         // quorum reached
	FlashApprovedForProgram   = "flash.approved_program" // quorum reached; programs perform it
	FlashApprovedUnsent       = "flash.approved_unsent"  // quorum reached; Why it is not sent now
	FlashBatchCanary          = "flash.batch_canary"     // the first rows of a batch go out; N
	FlashApprovalCounted      = "flash.approval_counted" // one more is needed; Given, Required
	FlashChangesRequested     = "flash.changes_requested"
	FlashRejected             = "flash.rejected"
	FlashWithdrawn            = "flash.withdrawn"
	FlashVersionSaved         = "flash.version_saved"     // Number
	FlashVersionSubmitted     = "flash.version_submitted" // Number
	FlashUnchanged            = "flash.unchanged"         // an untouched resubmission
	FlashConfirmed            = "flash.confirmed"         // by a person; Reference
	FlashHeld                 = "flash.held"              // Until
	FlashDuplicateRecorded    = "flash.duplicate_recorded"
	FlashNotExecuted          = "flash.not_executed"
	FlashReexecutionRequested = "flash.reexecution_requested"
	FlashReexecutionApproved  = "flash.reexecution_approved"
	FlashReexecutionRefused   = "flash.reexecution_refused"
	FlashRequestWithdrawn     = "flash.request_withdrawn"
	FlashReplaced             = "flash.replaced"
	FlashCancelled            = "flash.cancelled"
	FlashAttemptsGranted      = "flash.attempts_granted"
	FlashCorrected            = "flash.corrected"
	FlashDisputed             = "flash.disputed"
	FlashEvidenceAdded        = "flash.evidence_added"
	FlashPaused               = "flash.paused"
	FlashResumed              = "flash.resumed"
	FlashWentOn               = "flash.went_on"
	FlashRunResumed           = "flash.run_resumed"
	FlashAdopted              = "flash.adopted"
	FlashAccountSaved         = "flash.account_saved"
	FlashPasswordChanged      = "flash.password_changed"
	FlashSignedOut            = "flash.signed_out"
	FlashKeysSaved            = "flash.keys_saved"
	FlashSignInAgain          = "flash.sign_in_again" // session ended while deciding; nothing was decided
	FlashRemedyDone           = "flash.remedy_done"
	FlashLeft                 = "flash.left"
	FlashReleased             = "flash.released"     // a possible duplicate was let through
	FlashDiscarded            = "flash.discarded"    // it is a duplicate
	FlashHeldDecided          = "flash.held_decided" // somebody has decided already
	FlashNewsTied             = "flash.news_tied"
	FlashNewsAside            = "flash.news_aside"
	FlashNewsDecided          = "flash.news_decided"
	FlashViewSaved            = "flash.view_saved" // filters of the list of operations
	FlashViewRenamed          = "flash.view_renamed"
	FlashViewDeleted          = "flash.view_deleted"
	FlashViewDefault          = "flash.view_default"
	FlashViewNoDefault        = "flash.view_no_default"
)
