package views

import (
	"strings"
	"time"

	"holdpoint/views/text"
)

// PathInstallation is the page on which all sends are paused and resumed.
const PathInstallation = "/installation"

// InstallationModel says whether anything is sent at all, and lets an admin change it.
type InstallationModel struct {
	Frame
	// Paused is the pause of all sends; nil = they go on.
	Paused *PausedBy
	// InFlight is how many attempts are under way: a pause cannot take them back.
	InFlight int
	// Pause or Resume is offered, never both.
	Pause, Resume *ReasonForm
	Checkpoints   CheckpointsView
	// Restore leads to what a restored database leaves to reconcile; nil = nothing is open.
	Restore *RestoreNote
}

// mismatchReasons are the words with which the system says why the database does not
// fit its witness. A time follows each of them.
var mismatchReasons = map[string]string{
	"witness_older":      "paused.why_older",
	"witness_server":     "paused.why_server",
	"witness_timeline":   "paused.why_timeline",
	"witness_checkpoint": "paused.why_checkpoint",
}

// ownReason is the reason of a pause that the system made, as a sentence; "" when a
// person gave the reason.
func (p PausedBy) ownReason(pr *text.Printer) string {
	word, stamp, _ := strings.Cut(p.Reason, " ")
	key := mismatchReasons[word]
	since, err := time.Parse(time.RFC3339, stamp)
	if p.Who.Kind != WhoSystem || key == "" || err != nil {
		return ""
	}
	return pr.T(key, "Since", since)
}
