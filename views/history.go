package views

import (
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
	// Note is the detail of the entry (version number, attempt, lookup result).
	Note string
}

// actionText says what a history entry records.
func actionText(p *text.Printer, action string) string {
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

// historyWords are the actions of a history that are no operation.Event; each has a
// key "action.<word>".
var historyWords = []string{"create", "version", "approve", "request_changes", "withdraw", "dispatch", "lookup", "callback",
	"evidence", "checklist", "confirm", "duplicate", "pause", "resume", "go_on", "replace", "adopt", "remedy", "overdue",
	"late_report", "delivery"}
