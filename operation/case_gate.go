package operation

import "time"

// GateCondition names one of the conditions that all must hold before an attempt starts
// (MODEL §3), as people read them.
type GateCondition string

// The conditions, in the order in which they are shown.
const (
	GateVersion    GateCondition = "version"    // approved, bytes unchanged, made for this account
	GateEarlier    GateCondition = "earlier"    // no earlier stage is open, nor another operation that was to have the same effect
	GateAttempt    GateCondition = "attempt"    // no other attempt is open
	GatePauses     GateCondition = "pauses"     // nothing is paused, nobody has ruled another attempt out
	GatePermission GateCondition = "permission" // the state, the limit, the key or a person permits this attempt
)

// Condition is one of the gate's conditions as it stands.
type Condition struct {
	Name GateCondition
	Why  *Refusal // nil = it holds
}

// Holds reports that nothing stands in the way.
func (c Condition) Holds() bool { return c.Why == nil }

// GateConditions takes the gate's verdict apart. All hold exactly when Permit lets an
// attempt start. While a case waits for people, the approval that a re-execution would
// bring is left to the last condition; the version must be complete and unchanged.
func GateConditions(f Facts, now time.Time) []Condition {
	bare := f
	bare.EarlierOpen, bare.OpenAttempt, bare.Stopped = nil, "", false
	bare.OriginalOpen, bare.OriginalDone, bare.ReplacementOpen, bare.ReplacementDone = false, false, false, false
	bare.PausedAll, bare.PausedOperation, bare.PausedFlow, bare.PausedDestination = false, false, false, false
	bare.PausedBatch, bare.Suppressed = false, false
	return []Condition{
		{GateVersion, versionHolds(f, now)},
		{GateEarlier, earlierHolds(f)},
		{GateAttempt, attemptHolds(f)},
		{GatePauses, firstRefusal(permitPauses(f, now), notStopped(f))},
		{GatePermission, permissionHolds(bare, now)},
	}
}

func versionHolds(f Facts, now time.Time) *Refusal {
	account := f
	account.EarlierOpen = nil
	account.OriginalOpen, account.OriginalDone, account.ReplacementOpen, account.ReplacementDone = false, false, false, false
	if f.State != Review && f.State != ReexecutionRequested {
		return firstRefusal(permitClearance(f, now), permitSurroundings(account, now))
	}
	switch c := f.Clearance; {
	case f.Version.ID == "" || f.Version.Hash == [32]byte{}:
		return Refuse(CodeContentMissing, "field", "content")
	case c != nil && (c.VersionID != f.Version.ID || c.Hash != f.Version.Hash):
		return Refuse(CodeHashMismatch)
	}
	return permitSurroundings(account, now)
}

func earlierHolds(f Facts) *Refusal {
	if len(f.EarlierOpen) > 0 {
		return Refuse(CodeEarlierStage, "stage", f.EarlierOpen[0])
	}
	return permitLineage(f)
}

func attemptHolds(f Facts) *Refusal {
	if f.OpenAttempt != "" {
		return Refuse(CodeAttemptOpen, "attempt", string(f.OpenAttempt))
	}
	return nil
}

// permissionHolds asks the gate about facts from which the other conditions are gone,
// all but the version's: what is wrong with that one is said there.
func permissionHolds(f Facts, now time.Time) *Refusal {
	_, r := Permit(f, now)
	if r == nil {
		return nil
	}
	switch r.Code {
	case CodeNotApproved, CodeHashMismatch, CodeApprovalExpired, CodeApproverNotEntitled, CodeAccountChanged:
		return permitState(f, now) // the rest is the version's
	}
	return r
}
