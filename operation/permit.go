package operation

import "time"

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
	p, r := permitRest(f, now)
	if r == nil && f.State == Unknown && f.RetryAt.IsZero() {
		// A repeat out of unknown is planned first, so that the lookup comes before it.
		return Permission{}, Refuse(CodeNotDue).By(Responsible{System: true})
	}
	return p, r
}

// PermitDispatch is the gate again, right before bytes are handed out: the attempt
// itself is now the open one, everything else must still hold.
func PermitDispatch(f Facts, a AttemptID, now, sendBy time.Time) (Permission, *Refusal) {
	if f.State != InProgress || f.OpenAttempt == "" || f.OpenAttempt != a {
		return Permission{}, Refuse(CodeStaleFence, "attempt", string(a))
	}
	if !now.Before(sendBy) {
		return Permission{}, Refuse(CodeSendByPassed, "at", stamp(sendBy))
	}
	f.AttemptsUsed-- // the claim has counted this attempt already
	f.AttemptsEver--
	return permitRest(f, now)
}

// CheckResolved compares the bytes about to leave with those that the unsettled
// attempts sent: a protected retry repeats the identical request (MODEL §5.2).
func CheckResolved(f Facts, resolved [32]byte) *Refusal {
	for _, u := range f.Unsettled {
		if u.ResolvedHash != resolved {
			return Refuse(CodeContentDiffers, "attempt", string(u.ID))
		}
	}
	return nil
}

func permitState(f Facts, now time.Time) *Refusal {
	switch f.State {
	case Ready:
		return nil
	case Unknown:
		if len(f.Unsettled) == 0 {
			return Refuse(CodeNotReady, "state", string(f.State))
		}
		return permitDue(f, now)
	case RetryScheduled:
		return permitDue(f, now)
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

func permitDue(f Facts, now time.Time) *Refusal {
	if now.Before(f.RetryAt) {
		return Refuse(CodeNotDue, "at", stamp(f.RetryAt)).By(Responsible{System: true})
	}
	return nil
}

func permitRest(f Facts, now time.Time) (Permission, *Refusal) {
	for _, rule := range []func(Facts, time.Time) *Refusal{permitClearance, permitSurroundings, permitPauses, permitUndisputed} {
		if r := rule(f, now); r != nil {
			return Permission{}, r
		}
	}
	if f.Clearance.Kind == ClearReexecution {
		return permitReexecution(f, now)
	}
	if f.Stated {
		return Permission{}, Refuse(CodeAttemptsUnsettled).By(reviewer(f))
	}
	if f.AttemptsUsed >= f.AttemptsMax {
		return Permission{}, Refuse(CodeAttemptLimit, "limit", itoa(f.AttemptsMax)).By(reviewer(f))
	}
	if len(f.Unsettled) > 0 {
		return permitProtected(f, now)
	}
	kind := AttemptRetry
	if f.AttemptsEver <= 0 {
		kind = AttemptFirst
	}
	return Permission{Kind: kind, KeyUntil: keyLimit(f, now)}, nil
}

func permitClearance(f Facts, now time.Time) *Refusal {
	c := f.Clearance
	switch {
	case c == nil || c.Spent:
		return Refuse(CodeNotApproved)
	case c.VersionID == "" || c.VersionID != f.Version.ID || c.Hash == [32]byte{} || c.Hash != f.Version.Hash:
		return Refuse(CodeHashMismatch)
	}
	return c.Lapsed(now)
}

// Lapsed says why a clearance permits nothing any more, whatever it is about: it has expired,
// or of those who gave it too few may still give it; nil = it holds.
func (c *Clearance) Lapsed(now time.Time) *Refusal {
	if !c.ExpiresAt.IsZero() && !now.Before(c.ExpiresAt) {
		return Refuse(CodeApprovalExpired, "at", stamp(c.ExpiresAt))
	}
	if len(c.Groups) > 0 {
		if !groupsHold(c) {
			return Refuse(CodeApproverNotEntitled)
		}
		return nil
	}
	good, seen := 0, map[UserID]bool{}
	for _, a := range c.Approvers {
		if a.Entitled && !a.Party && a.User != "" && !seen[a.User] && (a.For == "" || !seen[a.For]) {
			good++
			seen[a.User], seen[a.For] = true, a.For != ""
		}
	}
	if good < max(c.Required, 1) {
		return Refuse(CodeApproverNotEntitled)
	}
	return nil
}

func permitSurroundings(f Facts, _ time.Time) *Refusal {
	return firstRefusal(earlierHolds(f), AccountHolds(f))
}

// AccountHolds checks that the destination still leads to the account, and the environment,
// that the version was made for.
func AccountHolds(f Facts) *Refusal {
	if f.Account != f.Version.Account || f.Environment != f.Version.Environment {
		return Refuse(CodeAccountChanged, "was", f.Version.Account+"/"+f.Version.Environment, "is", f.Account+"/"+f.Environment)
	}
	return nil
}

func permitPauses(f Facts, _ time.Time) *Refusal {
	switch {
	case f.PausedAll:
		return Refuse(CodePausedAll).By(Responsible{Role: RoleAdmin})
	case f.PausedOperation:
		return Refuse(CodePausedOperation).By(Responsible{Role: RoleOpsOwner})
	case f.PausedFlow:
		return Refuse(CodePausedFlow).By(Responsible{Role: RoleOpsOwner})
	case f.PausedDestination:
		return Refuse(CodePausedDestination).By(Responsible{Role: RoleOpsOwner})
	case f.PausedBatch:
		return Refuse(CodePausedBatch).By(Responsible{Role: RoleOpsOwner})
	}
	return notSuppressed(f)
}

// notSuppressed stops what would go to somebody who must not be written to any more, whoever
// permitted it, and however it came so far.
func notSuppressed(f Facts) *Refusal {
	if f.Suppressed {
		return Refuse(CodeSuppressed).By(reviewer(f))
	}
	return nil
}

// permitUndisputed stops a send that a person has ruled out, or that evidence of an
// effect contradicts.
func permitUndisputed(f Facts, _ time.Time) *Refusal {
	switch {
	case f.Stopped:
		return Refuse(CodeStopped).By(reviewer(f))
	case f.StoppedBatch && f.Clearance.Kind != ClearReexecution: // a re-execution is decided upon alone, and later
		return Refuse(CodeBatchStopped).By(reviewer(f))
	case f.Disputed:
		return Refuse(CodeAttemptsUnsettled).By(reviewer(f))
	case f.LastLookup != nil && (f.LastLookup.Result == LookupOne || f.LastLookup.Result == LookupMany),
		len(f.Unsettled) > 0 && contradicted(f):
		return Refuse(CodeLookupNeeded).By(Responsible{System: true})
	}
	return nil
}

// permitProtected is MODEL §5.2: every unsettled attempt sent this same key and the
// same bytes to the same account under protection, and the key still protects.
func permitProtected(f Facts, now time.Time) (Permission, *Refusal) {
	if r := protectedAtAll(f); r != nil {
		return Permission{}, r
	}
	until := f.Protection.Until(f.keyFirst())
	if until.IsZero() {
		return Permission{}, Refuse(CodeKeyExpired).By(reviewer(f))
	}
	if !now.Before(until) {
		return Permission{}, Refuse(CodeKeyExpired, "at", stamp(until)).By(reviewer(f))
	}
	if t := settledAt(f); now.Before(t) {
		return Permission{}, Refuse(CodeSettling, "at", stamp(t)).By(Responsible{System: true})
	}
	if f.Protection.Overwrites && !reachableMiss(f) {
		return Permission{}, Refuse(CodeLookupNeeded).By(Responsible{System: true})
	}
	return Permission{Kind: AttemptProtected, KeyUntil: until}, nil
}

// protectedAtAll checks what no waiting can change: whether a repeat of the unsettled
// attempts is protected.
func protectedAtAll(f Facts) *Refusal {
	if !f.Protection.Key || !f.Protection.Proven || f.Key == "" || f.KeyAnswered ||
		(f.Protection.Overwrites && !f.Protection.HasLookup) {
		return Refuse(CodeUnprotected).By(reviewer(f))
	}
	for _, u := range f.Unsettled {
		if !u.Protected || u.Key != f.Key || u.Account != f.Account {
			return Refuse(CodeUnprotected, "attempt", string(u.ID)).By(reviewer(f))
		}
		if u.ResolvedHash != f.Unsettled[0].ResolvedHash {
			return Refuse(CodeContentDiffers, "attempt", string(u.ID)).By(reviewer(f))
		}
	}
	return nil
}

// settledAt is when a repeat with the same key no longer meets an earlier request in
// flight; zero where the destination documents what a concurrent request gets.
func settledAt(f Facts) time.Time {
	var at time.Time
	if f.Protection.Concurrency {
		return at
	}
	for _, u := range f.Unsettled {
		at = later(at, u.lastSend().Add(f.Protection.SettleAfter))
	}
	return at
}

// reachableMiss reports a lookup that reached the destination after the last possible
// sending, past its lag, and found nothing.
func reachableMiss(f Facts) bool {
	if f.LastLookup == nil || f.LastLookup.Result != LookupNone {
		return false
	}
	for _, u := range f.Unsettled {
		if f.LastLookup.At.Before(u.lastSend().Add(f.Protection.LookupLag)) {
			return false
		}
	}
	return true
}

// permitReexecution is MODEL §5: one attempt, after a check no older than
// ReexecutionCheckAge that found nothing, with a key that still protects or is new.
func permitReexecution(f Facts, now time.Time) (Permission, *Refusal) {
	r := f.Reexecution
	if r == nil {
		return Permission{}, Refuse(CodeNotApproved)
	}
	if len(f.Unsettled) > 0 {
		return Permission{}, Refuse(CodeAttemptsUnsettled).By(reviewer(f))
	}
	checked := r.CheckedAt
	if r.HasLookup || f.Protection.HasLookup {
		if f.LastLookup == nil || f.LastLookup.Result != LookupNone {
			return Permission{}, Refuse(CodeLookupNeeded)
		}
		checked = f.LastLookup.At
		if q := f.quietAt(); !q.IsZero() && checked.Before(q.Add(f.Protection.LookupLag)) {
			return Permission{}, Refuse(CodeLookupNeeded)
		}
	}
	if checked.IsZero() || now.Sub(checked) > ReexecutionCheckAge {
		return Permission{}, Refuse(CodeLookupNeeded)
	}
	if until := f.Protection.Until(f.KeyFirst); f.Protection.Key && !f.KeyFirst.IsZero() && !now.Before(until) {
		// The approver was shown a key that still protects; it no longer does.
		return Permission{}, Refuse(CodeKeyExpired).By(reviewer(f))
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
// end of the key's protection (MODEL §4). A key that was never sent has no earlier
// request to protect against: only the lease limits its first use.
func SendBy(p Permission, leaseEnd time.Time) time.Time {
	if !p.KeyUntil.IsZero() && p.KeyUntil.Before(leaseEnd) {
		return p.KeyUntil
	}
	return leaseEnd
}

// reviewer is who settles what nothing else can settle.
func reviewer(f Facts) Responsible { return Responsible{Role: f.ReviewRole, User: f.Reviewer} }

func firstOf(s []string) string {
	if len(s) == 0 {
		return ""
	}
	return s[0]
}
