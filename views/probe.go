package views

import (
	"time"

	"holdpoint/operation"
)

// ProbeView is one dated check of a protection on a test account.
type ProbeView struct {
	ID        operation.ProbeID
	Result    operation.ProbeResult
	At        time.Time
	Account   string
	OtherFile bool // the profile in use is not the one that was probed
	Steps     []operation.ProbeStep
}
