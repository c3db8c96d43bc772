package operation

import (
	"bytes"
	"time"
)

// AttemptKind says under which permission an attempt runs.
type AttemptKind string

// The kinds of attempt.
const (
	AttemptFirst       AttemptKind = "first"
	AttemptRetry       AttemptKind = "retry"       // all earlier attempts are not_started
	AttemptProtected   AttemptKind = "protected"   // same key, same bytes, under the destination's protection
	AttemptReexecution AttemptKind = "reexecution" // one attempt after a second person's decision
)

// ReexecutionCheckAge is how old the lookup (or the re-answered checklist) before a
// re-execution may be at its dispatch (MODEL §5).
const ReexecutionCheckAge = 15 * time.Minute

// Permission is the gate's yes: under which kind the attempt runs and the latest
// moment at which its request may leave because of the key (zero = no such limit).
type Permission struct {
	Kind     AttemptKind
	KeyUntil time.Time
}

// Permit is the gate (MODEL §3) at claim: may an attempt start now?
func Permit(f Facts, now time.Time) (Permission, *Refusal) {
	if f.OpenAttempt != "" {
		return Permission{}, Refuse(CodeAttemptOpen, "attempt", string(f.OpenAttempt))
	}
	if r := permitState(f, now); r != nil {
		return Permission{}, r
	}
	return permitRest(f, now)
}

// PermitDispatch is the gate again, right before bytes are handed out: the attempt
// itself is now the open one, everything else must still hold.
func PermitDispatch(f Facts, a AttemptID, now, sendBy time.Time) (Permission, *Refusal) {
	if f.State != InProgress || f.OpenAttempt != a {
		return Permission{}, Refuse(CodeStaleFence, "attempt", string(a))
	}
	if !now.Before(sendBy) {
		return Permission{}, Refuse(CodeSendByPassed, "at", sendBy.UTC().Format(time.RFC3339))
	}
	f.AttemptsUsed-- // the claim has counted this attempt already
	f.AttemptsEver--
	return permitRest(f, now)
}

func permitState(f Facts, now time.Time) *Refusal {
	switch f.State {
	case Ready:
		return nil
	case RetryScheduled, Unknown:
		if now.Before(f.RetryAt) {
			return Refuse(CodeNotDue, "at", f.RetryAt.UTC().Format(time.RFC3339)).By(Responsible{System: true})
		}
		return nil
	case Confirmed, Rejected, Cancelled, NotExecuted:
		return Refuse(CodeClosed, "state", string(f.State))
	case PendingApproval, Draft:
		return Refuse(CodeNotApproved, "state", string(f.State))
	case Waiting:
		return Refuse(CodeEarlierStage, "stage", firstOf(f.EarlierOpen))
	default:
		return Refuse(CodeNotReady, "state", string(f.State))
	}
}

func permitRest(f Facts, now time.Time) (Permission, *Refusal) {
	if r := permitClearance(f, now); r != nil {
		return Permission{}, r
	}
	if len(f.EarlierOpen) > 0 {
		return Permission{}, Refuse(CodeEarlierStage, "stage", f.EarlierOpen[0])
	}
	if f.OriginalOpen {
		return Permission{}, Refuse(CodeOriginalOpen)
	}
	if r := permitPauses(f); r != nil {
		return Permission{}, r
	}
	if f.Account != f.Version.Account || f.Environment != f.Version.Environment {
		return Permission{}, Refuse(CodeAccountChanged, "was", f.Version.Account+"/"+f.Version.Environment, "is", f.Account+"/"+f.Environment)
	}
	if f.Clearance.Kind == ClearReexecution {
		return permitReexecution(f, now)
	}
	if f.AttemptsUsed >= f.AttemptsMax {
		return Permission{}, Refuse(CodeAttemptLimit, "limit", itoa(f.AttemptsMax)).By(Responsible{Role: f.ReviewRole, User: f.Reviewer})
	}
	if len(f.Unsettled) > 0 {
		return permitProtected(f, now)
	}
	kind := AttemptRetry
	if f.AttemptsEver == 0 {
		kind = AttemptFirst
	}
	return Permission{Kind: kind, KeyUntil: keyLimit(f, now)}, nil
}

func permitClearance(f Facts, now time.Time) *Refusal {
	c := f.Clearance
	switch {
	case c == nil || c.Spent:
		return Refuse(CodeNotApproved)
	case c.VersionID != f.Version.ID || !bytes.Equal(c.Hash[:], f.Version.Hash[:]):
		return Refuse(CodeHashMismatch)
	case !c.ExpiresAt.IsZero() && !now.Before(c.ExpiresAt):
		return Refuse(CodeApprovalExpired, "at", c.ExpiresAt.UTC().Format(time.RFC3339))
	}
	good := map[UserID]bool{}
	for _, a := range c.Approvers {
		if a.Entitled && !a.Party {
			good[a.User] = true
		}
	}
	if len(good) < c.Required {
		return Refuse(CodeApproverNotEntitled)
	}
	return nil
}

func permitPauses(f Facts) *Refusal {
	switch {
	case f.PausedAll:
		return Refuse(CodePausedAll).By(Responsible{Role: RoleAdmin})
	case f.PausedOperation:
		return Refuse(CodePausedOperation).By(Responsible{Role: RoleOpsOwner})
	case f.PausedFlow:
		return Refuse(CodePausedFlow).By(Responsible{Role: RoleOpsOwner})
	case f.PausedDestination:
		return Refuse(CodePausedDestination).By(Responsible{Role: RoleOpsOwner})
	}
	return nil
}

// permitProtected is MODEL §5.2: every unsettled attempt sent this same key to the
// same account under protection, and the key still protects.
func permitProtected(f Facts, now time.Time) (Permission, *Refusal) {
	who := Responsible{Role: f.ReviewRole, User: f.Reviewer}
	if !f.Protection.Key || !f.Protection.Proven {
		return Permission{}, Refuse(CodeUnprotected).By(who)
	}
	for _, u := range f.Unsettled {
		if !u.Protected || u.Key != f.Key || u.Account != f.Account {
			return Permission{}, Refuse(CodeUnprotected, "attempt", string(u.ID)).By(who)
		}
		if !f.Protection.Concurrency && now.Before(u.DispatchedAt.Add(f.Protection.SettleAfter)) {
			return Permission{}, Refuse(CodeSettling, "at", u.DispatchedAt.Add(f.Protection.SettleAfter).UTC().Format(time.RFC3339)).By(Responsible{System: true})
		}
	}
	until := f.Protection.Until(f.KeyFirst)
	if until.IsZero() || !now.Before(until) {
		return Permission{}, Refuse(CodeKeyExpired, "at", until.UTC().Format(time.RFC3339)).By(who)
	}
	if f.Protection.Overwrites && !reachableMiss(f) {
		return Permission{}, Refuse(CodeLookupNeeded).By(Responsible{System: true})
	}
	return Permission{Kind: AttemptProtected, KeyUntil: until}, nil
}

// reachableMiss reports a lookup that reached the destination after the last
// dispatch, past its lag, and found nothing.
func reachableMiss(f Facts) bool {
	if f.LastLookup == nil || f.LastLookup.Result != LookupNone {
		return false
	}
	for _, u := range f.Unsettled {
		if f.LastLookup.At.Before(u.DispatchedAt.Add(f.Protection.LookupLag)) {
			return false
		}
	}
	return true
}

// permitReexecution is MODEL §5: one attempt, after a check no older than
// ReexecutionCheckAge that found nothing.
func permitReexecution(f Facts, now time.Time) (Permission, *Refusal) {
	r := f.Reexecution
	if r == nil {
		return Permission{}, Refuse(CodeNotApproved)
	}
	if r.CheckedAt.IsZero() || now.Sub(r.CheckedAt) > ReexecutionCheckAge {
		return Permission{}, Refuse(CodeLookupNeeded)
	}
	if r.HasLookup && (f.LastLookup == nil || f.LastLookup.Result != LookupNone) {
		return Permission{}, Refuse(CodeLookupNeeded)
	}
	if len(f.Unsettled) > 0 {
		return Permission{}, Refuse(CodeAttemptsUnsettled)
	}
	return Permission{Kind: AttemptReexecution, KeyUntil: keyLimit(f, now)}, nil
}

// keyLimit is the latest moment for a key that was sent before; zero = no limit. A
// key whose earlier uses are all proven to have done nothing needs no protection:
// when its retention is over it simply counts as new.
func keyLimit(f Facts, now time.Time) time.Time {
	until := f.Protection.Until(f.KeyFirst)
	if now.Before(until) {
		return until
	}
	return time.Time{}
}

// SendBy is the latest moment at which a request may leave: the lease's end, or the
// end of the key's protection (MODEL §4). For a first use the key's clock starts
// with this dispatch and cannot end before the lease does.
func SendBy(p Permission, leaseEnd time.Time) time.Time {
	if !p.KeyUntil.IsZero() && p.KeyUntil.Before(leaseEnd) {
		return p.KeyUntil
	}
	return leaseEnd
}

func firstOf(s []string) string {
	if len(s) == 0 {
		return ""
	}
	return s[0]
}
