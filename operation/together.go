package operation

// Together is what must be known of an operation before it is decided as one of a list.
type Together struct {
	State     State
	Unsettled int  // attempts whose outcome is unknown
	Request   bool // a re-execution is asked for, or approved
	Second    bool // a replacement of something that was sent: a second effect
	// Suppressed: one of its recipients is on the suppression list.
	Suppressed bool
}

// MayDecideTogether refuses what needs a page of its own: an unknown outcome, a
// re-execution, the replacement of something that was sent, a recipient on the suppression list. A list is only for approving
// content that nothing was sent of; MayDecide follows for each operation alone.
func MayDecideTogether(t Together, d Decision) *Refusal {
	switch {
	case d != Approve:
		return Refuse(CodeAlone)
	case t.State == Unknown || t.State == Review || t.State == ReexecutionRequested || t.Unsettled > 0 || t.Request || t.Second || t.Suppressed:
		return Refuse(CodeAlone, "state", string(t.State))
	}
	return nil
}
