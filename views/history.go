package views

import (
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// HistoryModel is the history of one operation, newest first; part of its page.
type HistoryModel struct {
	Entries []HistoryLine
	Total   int
	// Verified says whether the hash chain of the shown subject verifies.
	Verified bool
	Older    string // address of the older entries, "" = none
	Timeline string // address of everything that concerns the subject, "" = none
}

// HistoryLine is one entry.
type HistoryLine struct {
	Seq     int64
	Hash    string // hex
	At      time.Time
	Who     Who
	Role    operation.Role // in which the person acted
	Channel string         // web, api, job, command
	// Action is an operation.Event or another word with a key "action.<word>".
	Action string
	From   operation.State
	To     operation.State
	Reason string
	// Links are the identifiers and words that the entry names (operation.Entry.Links);
	// those with a key "detail.<name>" are shown.
	Links map[string]string
	// Gone is when its words were removed under a term; zero = they are there.
	Gone time.Time
}

// confirmedIn says whose word confirmed the effect in an entry; "" = it confirms nothing.
func confirmedIn(e HistoryLine) ConfirmedBy {
	switch {
	case e.To != operation.Confirmed || e.From == operation.Confirmed:
		return ""
	case e.Who.Kind == WhoPerson:
		return ByPerson
	}
	return ByDestination
}

// actionText says what a history entry records.
func actionText(p *text.Printer, e HistoryLine) string {
	action := e.Action
	switch {
	case e.From == operation.PendingApproval && action == string(operation.EvClear):
		return p.T("action.approve_clear") // the approval that completed them
	case action == string(operation.EvCancel) && e.Links["cause"] == string(operation.CodeOriginalConfirmed):
		return p.T("action.original_confirmed")
	case action == string(operation.EvRefuseReexecution) && e.Links["cause"] == "withdrawn":
		return p.T("action.withdraw_request")
	case action == string(operation.EvRefuseReexecution) && e.Links["cause"] == "more_evidence":
		return p.T("action.case_evidence")
	}
	if k := "action." + action; text.Has(k) {
		return p.T(k)
	}
	return action
}

func firstOf(s string, n int) string {
	if len(s) < n {
		return s
	}
	return s[:n]
}

// historyWords are the actions of an operation's history that are no
// operation.Event; each has a key "action.<word>". A test holds them to the store.
var historyWords = []string{"create", "attachment", "new_version", "approve", "request_changes", "withdraw", "approval_expired",
	"no_further_attempt", "replaced", "checklist", "confirmed_not_done", "statement", "remedy_done", "left", "dispatch",
	"go_on_without", "pause", "resume", "lookup", "duplicate_suspected", "callback", "more_evidence", "late_report",
	"candidate", "content_differs", "silence", "news_tied", "denied", "contradicted", "correct_cause",
	"restore_listed", "restore_compared", "take_case", "release_case", "ask_lookup", "correct_case_time", "case_evidence", "suppressed"}

// personWords are the actions of a person's history; each has a key "action.<word>".
var personWords = []string{"add_user", "enable_user", "disable_user", "grant_role", "revoke_role", "set_password",
	"reset_password", "end_sessions", "end_session", "decision_refused", "delegate", "receive_delegation", "end_delegation", "invite_user", "resend_invitation", "revoke_invitation",
	"add_totp", "remove_totp", "new_recovery_codes", "use_recovery_code", "add_passkey", "rename_passkey", "remove_passkey", "passkey_cloned",
	"reset_factors", "link_person", "unlink_person", "link_identity", "unlink_identity", "break_glass", "set_notices", "ask_model", "look", "export", "export_done", "export_cut"}

// historyDetails are the links of an entry that are shown, in this order; each has a
// key "detail.<name>".
var historyDetails = []string{"attempt", "version", "result", "outcome", "code", "reference", "candidate", "other", "stage",
	"until", "replacement", "operation", "person", "granted", "flow", "email", "passkey", "issuer", "left", "class", "model", "by"}

// detailsText says what else an entry is about.
func detailsText(p *text.Printer, links map[string]string) string {
	var parts []string
	for _, name := range historyDetails {
		if v := links[name]; v != "" && (name != "by" || v == "groups") { // who confirmed an effect is said by its badge
			parts = append(parts, p.T("detail."+name, "V", detailValue(p, name, v)))
		}
	}
	return strings.Join(parts, " · ")
}

// detailValue puts the words of the model into the reader's language, and times into
// their zone.
func detailValue(p *text.Printer, name, v string) string {
	switch name {
	case "result", "outcome":
		return resultText(p, v)
	case "code":
		return codeText(p, v)
	case "class": // one, or from which to which
		from, to, changed := strings.Cut(v, " > ")
		if changed && operation.CauseClass(from).Valid() && operation.CauseClass(to).Valid() {
			return className(p, operation.CauseClass(from)) + " → " + className(p, operation.CauseClass(to))
		}
		if operation.CauseClass(v).Valid() {
			return className(p, operation.CauseClass(v))
		}
	case "granted": // one role, or those of a delegation
		var roles []string
		for r := range strings.SplitSeq(v, ",") {
			roles = append(roles, p.T("role."+r))
		}
		return strings.Join(roles, ", ")
	case "until":
		if at, err := time.Parse(time.RFC3339, v); err == nil {
			return p.Short(at)
		}
	}
	return v
}

// reasonOf gives an entry's reason in words, unless its details say the same.
func reasonOf(p *text.Printer, e HistoryLine) string {
	if e.Reason == e.Links["code"] {
		return ""
	}
	if e.Links["limit"] != "" { // of a batch that paused itself
		if a, ok := operation.ReadBatchAlarm(e.Reason); ok {
			return alarmText(p, a)
		}
	}
	if e.Action == "expire" && e.Reason == string(operation.CodeApproverNotEntitled) {
		return p.T("turn.lapsed_rights")
	}
	return codeText(p, e.Reason)
}

// codeText says a refusal's or a proof's code without figures that an entry does not
// hold; other text stays as it is.
func codeText(p *text.Printer, s string) string {
	switch {
	case s == string(operation.CodeApprovalExpired): // an entry does not hold when
		return p.T("turn.lapsed_expired")
	case text.Has("refusal." + s):
		return RefusalText(p, operation.Refuse(operation.Code(s)))
	case text.Has("proof." + s + "_plain"):
		return p.T("proof." + s + "_plain")
	case text.Has("proof." + s):
		return proofText(p, operation.Proof{Code: s})
	}
	return s
}
