package operation

import (
	"testing"
	"time"
)

var t0 = time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)

func hash(b byte) (h [32]byte) { h[0] = b; return h }

// readyFacts is an operation that the gate lets through: approved by one person,
// nothing in the way.
func readyFacts() Facts {
	return Facts{
		ID: "op_1", State: Ready,
		Version: VersionFacts{ID: "ver_1", Number: 1, Hash: hash(1), Account: "acct", Environment: "test"},
		Clearance: &Clearance{ID: "clr_1", Kind: ClearContent, VersionID: "ver_1", Hash: hash(1), ExpiresAt: t0.Add(72 * time.Hour),
			Required: 1, Approvers: []Approver{{User: "usr_b", Entitled: true}}},
		AttemptsMax: 5, Account: "acct", Environment: "test", Key: "op_1", ReviewRole: RoleOpsOwner,
		Protection: Protection{Key: true, Proven: true, Retention: 24 * time.Hour, Margin: time.Hour, SettleAfter: 2 * time.Minute,
			HasLookup: true, LookupLag: time.Minute},
	}
}

// unknownFacts is one whose only attempt was sent at t0 and whose answer got lost; a
// protected retry is due an hour later.
func unknownFacts() Facts {
	f := readyFacts()
	f.State, f.AttemptsUsed, f.AttemptsEver = Unknown, 1, 1
	f.KeyFirst, f.RetryAt, f.LastSend = t0, t0.Add(time.Hour), t0.Add(30*time.Second)
	f.Unsettled = []UnsettledAttempt{{ID: "att_1", Key: "op_1", Account: "acct", Protected: true, DispatchedAt: t0,
		LeaseEnd: t0.Add(30 * time.Second), ResolvedHash: hash(9)}}
	return f
}

// reexecutionFacts is an approved re-execution after a statement "not done", looked up
// five minutes ago.
func reexecutionFacts() Facts {
	f := unknownFacts()
	f.State, f.Unsettled, f.RetryAt, f.Stated = Ready, nil, time.Time{}, true
	f.AttemptsUsed = f.AttemptsMax
	f.Clearance.Kind = ClearReexecution
	f.Reexecution = &ReexecutionFacts{Request: "req_1", HasLookup: true}
	f.LastLookup = &LookupFact{Result: LookupNone, At: t0.Add(55 * time.Minute)}
	return f
}

func dispatchFacts() Facts {
	f := readyFacts()
	f.State, f.OpenAttempt, f.AttemptsUsed, f.AttemptsEver = InProgress, "att_1", 1, 1
	return f
}

var at1h = t0.Add(time.Hour)

func TestPermit(t *testing.T) {
	type row struct {
		name string
		base func() Facts
		turn func(*Facts)
		code Code
		kind AttemptKind
	}
	no := func(*Facts) {}
	rows := []row{
		{"first attempt", readyFacts, no, CodeOK, AttemptFirst},
		{"later attempt, all earlier proven", readyFacts, func(f *Facts) { f.AttemptsEver, f.AttemptsUsed = 2, 2 }, CodeOK, AttemptRetry},
		{"retry that is due", readyFacts, func(f *Facts) { f.State, f.RetryAt, f.AttemptsEver = RetryScheduled, at1h, 1 }, CodeOK, AttemptRetry},
		{"retry that is not due", readyFacts, func(f *Facts) { f.State, f.RetryAt = RetryScheduled, at1h.Add(1) }, CodeNotDue, ""},
		{"draft", readyFacts, func(f *Facts) { f.State = Draft }, CodeNotApproved, ""},
		{"pending approval", readyFacts, func(f *Facts) { f.State = PendingApproval }, CodeNotApproved, ""},
		{"waiting", readyFacts, func(f *Facts) { f.State = Waiting }, CodeEarlierStage, ""},
		{"in progress", readyFacts, func(f *Facts) { f.State = InProgress }, CodeNotReady, ""},
		{"review", readyFacts, func(f *Facts) { f.State = Review }, CodeNotReady, ""},
		{"re-execution requested", readyFacts, func(f *Facts) { f.State = ReexecutionRequested }, CodeNotReady, ""},
		{"confirmed", readyFacts, func(f *Facts) { f.State = Confirmed }, CodeClosed, ""},
		{"rejected", readyFacts, func(f *Facts) { f.State = Rejected }, CodeClosed, ""},
		{"cancelled", readyFacts, func(f *Facts) { f.State = Cancelled }, CodeClosed, ""},
		{"not executed", readyFacts, func(f *Facts) { f.State = NotExecuted }, CodeClosed, ""},

		{"no clearance", readyFacts, func(f *Facts) { f.Clearance = nil }, CodeNotApproved, ""},
		{"spent clearance", readyFacts, func(f *Facts) { f.Clearance.Spent = true }, CodeNotApproved, ""},
		{"clearance of another version", readyFacts, func(f *Facts) { f.Clearance.VersionID = "ver_2" }, CodeHashMismatch, ""},
		{"clearance of no version", readyFacts, func(f *Facts) { f.Clearance.VersionID, f.Version.ID = "", "" }, CodeHashMismatch, ""},
		{"clearance of another hash", readyFacts, func(f *Facts) { f.Clearance.Hash = hash(2) }, CodeHashMismatch, ""},
		{"no hash at all", readyFacts, func(f *Facts) { f.Clearance.Hash, f.Version.Hash = [32]byte{}, [32]byte{} }, CodeHashMismatch, ""},
		{"expired this moment", readyFacts, func(f *Facts) { f.Clearance.ExpiresAt = at1h }, CodeApprovalExpired, ""},
		{"expires a moment later", readyFacts, func(f *Facts) { f.Clearance.ExpiresAt = at1h.Add(1) }, CodeOK, AttemptFirst},
		{"never expires", readyFacts, func(f *Facts) { f.Clearance.ExpiresAt = time.Time{} }, CodeOK, AttemptFirst},
		{"approver lost the right", readyFacts, func(f *Facts) { f.Clearance.Approvers[0].Entitled = false }, CodeApproverNotEntitled, ""},
		{"approver is a party", readyFacts, func(f *Facts) { f.Clearance.Approvers[0].Party = true }, CodeApproverNotEntitled, ""},
		{"approver without a name", readyFacts, func(f *Facts) { f.Clearance.Approvers[0].User = "" }, CodeApproverNotEntitled, ""},
		{"one person twice is not two", readyFacts, func(f *Facts) {
			f.Clearance.Required, f.Clearance.Approvers = 2, []Approver{{User: "usr_b", Entitled: true}, {User: "usr_b", Entitled: true}}
		}, CodeApproverNotEntitled, ""},
		{"two people are two", readyFacts, func(f *Facts) {
			f.Clearance.Required, f.Clearance.Approvers = 2, []Approver{{User: "usr_b", Entitled: true}, {User: "usr_c", Entitled: true}}
		}, CodeOK, AttemptFirst},
		{"nobody is never enough", readyFacts, func(f *Facts) { f.Clearance.Required, f.Clearance.Approvers = 0, nil }, CodeApproverNotEntitled, ""},

		{"an earlier stage is open", readyFacts, func(f *Facts) { f.EarlierOpen = []string{"crm-task"} }, CodeEarlierStage, ""},
		{"the original is open", readyFacts, func(f *Facts) { f.OriginalOpen = true }, CodeOriginalOpen, ""},
		{"the original has its effect", readyFacts, func(f *Facts) { f.OriginalDone = true }, CodeOriginalConfirmed, ""},
		{"another attempt is open", readyFacts, func(f *Facts) { f.OpenAttempt = "att_1" }, CodeAttemptOpen, ""},
		{"limit used up", readyFacts, func(f *Facts) { f.AttemptsUsed = 5 }, CodeAttemptLimit, ""},
		{"last attempt of the limit", readyFacts, func(f *Facts) { f.AttemptsUsed, f.AttemptsEver = 4, 4 }, CodeOK, AttemptRetry},
		{"all paused", readyFacts, func(f *Facts) { f.PausedAll = true }, CodePausedAll, ""},
		{"operation paused", readyFacts, func(f *Facts) { f.PausedOperation = true }, CodePausedOperation, ""},
		{"flow paused", readyFacts, func(f *Facts) { f.PausedFlow = true }, CodePausedFlow, ""},
		{"destination paused", readyFacts, func(f *Facts) { f.PausedDestination = true }, CodePausedDestination, ""},
		{"account changed", readyFacts, func(f *Facts) { f.Account = "other" }, CodeAccountChanged, ""},
		{"environment changed", readyFacts, func(f *Facts) { f.Environment = "live" }, CodeAccountChanged, ""},
		{"stopped by a person", readyFacts, func(f *Facts) { f.Stopped = true }, CodeStopped, ""},
		{"disputed", readyFacts, func(f *Facts) { f.Disputed = true }, CodeAttemptsUnsettled, ""},
		{"settled by a statement only", readyFacts, func(f *Facts) { f.Stated = true }, CodeAttemptsUnsettled, ""},
		{"the last lookup found it", readyFacts, func(f *Facts) { f.LastLookup = &LookupFact{LookupOne, t0} }, CodeLookupNeeded, ""},
		{"the last lookup found many", readyFacts, func(f *Facts) { f.LastLookup = &LookupFact{LookupMany, t0} }, CodeLookupNeeded, ""},
		{"the last lookup found nothing", readyFacts, func(f *Facts) { f.LastLookup = &LookupFact{LookupNone, t0} }, CodeOK, AttemptFirst},

		{"protected retry", unknownFacts, no, CodeOK, AttemptProtected},
		{"protected retry, not due", unknownFacts, func(f *Facts) { f.RetryAt = at1h.Add(1) }, CodeNotDue, ""},
		{"no protected retry planned", unknownFacts, func(f *Facts) { f.RetryAt = time.Time{} }, CodeNotDue, ""},
		{"unknown without an unsettled attempt", unknownFacts, func(f *Facts) { f.Unsettled = nil }, CodeNotReady, ""},
		{"action takes no key", unknownFacts, func(f *Facts) { f.Protection.Key = false }, CodeUnprotected, ""},
		{"protection never probed", unknownFacts, func(f *Facts) { f.Protection.Proven = false }, CodeUnprotected, ""},
		{"attempt sent under a profile without protection", unknownFacts, func(f *Facts) { f.Unsettled[0].Protected = false }, CodeUnprotected, ""},
		{"attempt sent another key", unknownFacts, func(f *Facts) { f.Unsettled[0].Key = "op_1-g2" }, CodeUnprotected, ""},
		{"attempt went to another account", unknownFacts, func(f *Facts) { f.Unsettled[0].Account = "old" }, CodeUnprotected, ""},
		{"empty keys protect nothing", unknownFacts, func(f *Facts) { f.Key, f.Unsettled[0].Key = "", "" }, CodeUnprotected, ""},
		{"the destination said its last word", unknownFacts, func(f *Facts) { f.KeyAnswered = true }, CodeUnprotected, ""},
		{"unsettled attempts sent different bytes", unknownFacts, func(f *Facts) {
			f.Unsettled = append(f.Unsettled, UnsettledAttempt{ID: "att_2", Key: "op_1", Account: "acct", Protected: true, DispatchedAt: t0, ResolvedHash: hash(8)})
		}, CodeContentDiffers, ""},
		{"one of two attempts is not protected", unknownFacts, func(f *Facts) {
			f.Unsettled = append(f.Unsettled, UnsettledAttempt{ID: "att_2", Key: "op_1", Account: "acct", DispatchedAt: t0, ResolvedHash: hash(9)})
		}, CodeUnprotected, ""},
		{"retention over", unknownFacts, func(f *Facts) { f.Protection.Retention = 2 * time.Hour }, CodeKeyExpired, ""},
		{"retention a moment longer", unknownFacts, func(f *Facts) { f.Protection.Retention = 2*time.Hour + 1 }, CodeOK, AttemptProtected},
		{"retention not published", unknownFacts, func(f *Facts) { f.Protection.Retention = 0 }, CodeKeyExpired, ""},
		{"a later first use than the attempt's own dispatch does not count", unknownFacts, func(f *Facts) {
			f.KeyFirst, f.Protection.Retention = at1h, 2*time.Hour
		}, CodeKeyExpired, ""},
		{"earlier request may still be running", unknownFacts, func(f *Facts) { f.Protection.SettleAfter = 2 * time.Hour }, CodeSettling, ""},
		{"settling counts from the last possible sending", unknownFacts, func(f *Facts) {
			f.Unsettled[0].LeaseEnd, f.Protection.SettleAfter = at1h, time.Second
		}, CodeSettling, ""},
		{"concurrency documented", unknownFacts, func(f *Facts) { f.Protection.SettleAfter, f.Protection.Concurrency = 2*time.Hour, true }, CodeOK, AttemptProtected},
		{"upsert without a lookup", unknownFacts, func(f *Facts) { f.Protection.Overwrites = true }, CodeLookupNeeded, ""},
		{"upsert after an unreachable lookup", unknownFacts, func(f *Facts) {
			f.Protection.Overwrites, f.LastLookup = true, &LookupFact{LookupUnreachable, at1h}
		}, CodeLookupNeeded, ""},
		{"upsert after a miss within the lag", unknownFacts, func(f *Facts) {
			f.Protection.Overwrites, f.LastLookup = true, &LookupFact{LookupNone, t0.Add(89 * time.Second)}
		}, CodeLookupNeeded, ""},
		{"upsert after a reachable miss", unknownFacts, func(f *Facts) {
			f.Protection.Overwrites, f.LastLookup = true, &LookupFact{LookupNone, t0.Add(90 * time.Second)}
		}, CodeOK, AttemptProtected},
		{"lookup found one that does not fit", unknownFacts, func(f *Facts) { f.LastLookup = &LookupFact{LookupMismatch, at1h} }, CodeLookupNeeded, ""},
		{"unknown and expired", unknownFacts, func(f *Facts) { f.Clearance.ExpiresAt = t0 }, CodeApprovalExpired, ""},
		{"unknown and limit used up", unknownFacts, func(f *Facts) { f.AttemptsUsed = 5 }, CodeAttemptLimit, ""},

		{"re-execution, outside the limit", reexecutionFacts, no, CodeOK, AttemptReexecution},
		{"re-execution without its request", reexecutionFacts, func(f *Facts) { f.Reexecution = nil }, CodeNotApproved, ""},
		{"re-execution already spent", reexecutionFacts, func(f *Facts) { f.Clearance.Spent = true }, CodeNotApproved, ""},
		{"re-execution never looked up", reexecutionFacts, func(f *Facts) { f.LastLookup = nil }, CodeLookupNeeded, ""},
		{"re-execution with a stale lookup", reexecutionFacts, func(f *Facts) { f.LastLookup.At = at1h.Add(-ReexecutionCheckAge - 1) }, CodeLookupNeeded, ""},
		{"re-execution at the lookup's last moment", reexecutionFacts, func(f *Facts) { f.LastLookup.At = at1h.Add(-ReexecutionCheckAge) }, CodeOK, AttemptReexecution},
		{"a fresh checklist is no lookup", reexecutionFacts, func(f *Facts) {
			f.LastLookup.At, f.Reexecution.CheckedAt = at1h.Add(-time.Hour), at1h
		}, CodeLookupNeeded, ""},
		{"re-execution, destination unreachable", reexecutionFacts, func(f *Facts) { f.LastLookup.Result = LookupUnreachable }, CodeLookupNeeded, ""},
		{"re-execution, lookup found it", reexecutionFacts, func(f *Facts) { f.LastLookup.Result = LookupOne }, CodeLookupNeeded, ""},
		{"re-execution, lookup before the lag of the last request", reexecutionFacts, func(f *Facts) { f.LastSend = t0.Add(53 * time.Minute) }, CodeLookupNeeded, ""},
		{"re-execution while an attempt is unsettled", reexecutionFacts, func(f *Facts) { f.Unsettled = unknownFacts().Unsettled }, CodeAttemptsUnsettled, ""},
		{"re-execution, kept key expired since", reexecutionFacts, func(f *Facts) { f.Protection.Retention = 2 * time.Hour }, CodeKeyExpired, ""},
		{"re-execution with a new key", reexecutionFacts, func(f *Facts) { f.Protection.Retention, f.KeyFirst = 2*time.Hour, time.Time{} }, CodeOK, AttemptReexecution},
		{"re-execution disputed", reexecutionFacts, func(f *Facts) { f.Disputed = true }, CodeAttemptsUnsettled, ""},
		{"without lookup, checklist answered anew", reexecutionFacts, func(f *Facts) {
			f.Protection.HasLookup, f.Reexecution.HasLookup, f.LastLookup, f.Reexecution.CheckedAt = false, false, nil, at1h.Add(-10*time.Minute)
		}, CodeOK, AttemptReexecution},
		{"without lookup, checklist not answered anew", reexecutionFacts, func(f *Facts) {
			f.Protection.HasLookup, f.Reexecution.HasLookup, f.LastLookup = false, false, nil
		}, CodeLookupNeeded, ""},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			f := r.base()
			r.turn(&f)
			p, got := Permit(f, at1h)
			checkVerdict(t, p, got, r.code, r.kind)
		})
	}
}

func checkVerdict(t *testing.T, p Permission, r *Refusal, code Code, kind AttemptKind) {
	t.Helper()
	switch {
	case code == CodeOK && r != nil:
		t.Fatalf("refused: %s %v", r.Code, r.Params)
	case code == CodeOK && p.Kind != kind:
		t.Fatalf("runs as %s, want %s", p.Kind, kind)
	case code != CodeOK && r == nil:
		t.Fatalf("permitted as %s, want %s", p.Kind, code)
	case code != CodeOK && r.Code != code:
		t.Fatalf("refused: %s, want %s", r.Code, code)
	case r != nil && p != Permission{}:
		t.Fatal("a refusal carries a permission")
	}
}

// What held at claim must hold at dispatch: every condition turned between the two.
func TestPermitDispatch(t *testing.T) {
	sendBy := at1h.Add(time.Minute)
	rows := []struct {
		name string
		turn func(*Facts)
		code Code
	}{
		{"nothing changed", func(*Facts) {}, CodeOK},
		{"cancelled meanwhile", func(f *Facts) { f.State = Cancelled }, CodeStaleFence},
		{"another attempt holds it", func(f *Facts) { f.OpenAttempt = "att_2" }, CodeStaleFence},
		{"no attempt holds it", func(f *Facts) { f.OpenAttempt = "" }, CodeStaleFence},
		{"approval withdrawn", func(f *Facts) { f.Clearance = nil }, CodeNotApproved},
		{"approval expired", func(f *Facts) { f.Clearance.ExpiresAt = at1h }, CodeApprovalExpired},
		{"approver lost the right", func(f *Facts) { f.Clearance.Approvers[0].Entitled = false }, CodeApproverNotEntitled},
		{"content edited", func(f *Facts) { f.Version.ID, f.Version.Hash = "ver_2", hash(2) }, CodeHashMismatch},
		{"paused", func(f *Facts) { f.PausedDestination = true }, CodePausedDestination},
		{"earlier stage disputed", func(f *Facts) { f.EarlierOpen = []string{"a"} }, CodeEarlierStage},
		{"original reopened", func(f *Facts) { f.OriginalOpen = true }, CodeOriginalOpen},
		{"account changed", func(f *Facts) { f.Account = "x" }, CodeAccountChanged},
		{"the claim itself used the last attempt", func(f *Facts) { f.AttemptsUsed = 5 }, CodeOK},
		{"more than the limit", func(f *Facts) { f.AttemptsUsed = 6 }, CodeAttemptLimit},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			f := dispatchFacts()
			r.turn(&f)
			_, got := PermitDispatch(f, "att_1", at1h, sendBy)
			if (got == nil) != (r.code == CodeOK) || (got != nil && got.Code != r.code) {
				t.Fatalf("got %v, want %q", got, r.code)
			}
		})
	}
	for _, late := range []time.Time{at1h, at1h.Add(-1), {}} {
		if _, r := PermitDispatch(dispatchFacts(), "att_1", at1h, late); r == nil || r.Code != CodeSendByPassed {
			t.Errorf("send_by %v: got %v", late, r)
		}
	}
	if _, r := PermitDispatch(Facts{State: InProgress}, "", at1h, sendBy); r == nil || r.Code != CodeStaleFence {
		t.Errorf("no attempt at all: got %v", r)
	}
	f := dispatchFacts()
	if p, r := PermitDispatch(f, "att_1", at1h, sendBy); r != nil || p.Kind != AttemptFirst {
		t.Errorf("the first attempt runs as %q, %v", p.Kind, r)
	}
	if f.AttemptsUsed != 1 {
		t.Error("the caller's facts were changed")
	}
}

func TestSendBy(t *testing.T) {
	lease := t0.Add(30 * time.Second)
	for _, c := range []struct{ until, want time.Time }{
		{time.Time{}, lease}, {lease.Add(time.Hour), lease}, {t0.Add(time.Second), t0.Add(time.Second)},
	} {
		if got := SendBy(Permission{KeyUntil: c.until}, lease); !got.Equal(c.want) {
			t.Errorf("key until %v: got %v, want %v", c.until, got, c.want)
		}
	}
}

// FC-38: the window counts from the first send with the key, in UTC, whatever came
// after it; past it, or not published, a repeat is blocked.
func TestFieldCase38_RetentionCountsFromFirstSend(t *testing.T) {
	f := unknownFacts()
	f.Protection.Margin = 0
	f.Unsettled = append(f.Unsettled, f.Unsettled[0], f.Unsettled[0])
	f.Unsettled[2].DispatchedAt = t0.Add(20 * time.Hour)
	for _, c := range []struct {
		after time.Duration
		code  Code
	}{{24*time.Hour - time.Minute, CodeOK}, {24 * time.Hour, CodeKeyExpired}, {24*time.Hour + time.Minute, CodeKeyExpired}, {7 * 24 * time.Hour, CodeKeyExpired}} {
		f.Clearance.ExpiresAt = time.Time{}
		_, r := Permit(f, t0.Add(c.after))
		if (r == nil) != (c.code == CodeOK) || (r != nil && r.Code != c.code) {
			t.Errorf("after %v: got %v, want %q", c.after, r, c.code)
		}
	}
}

func TestProtection(t *testing.T) {
	p := readyFacts().Protection
	if got := p.Until(t0); !got.Equal(t0.Add(23 * time.Hour)) {
		t.Errorf("until %v", got)
	}
	p.Margin = -time.Hour
	if got := p.Until(t0); !got.Equal(t0.Add(24 * time.Hour)) {
		t.Errorf("a negative margin lengthens the protection: %v", got)
	}
	strict := Protection{Key: true, Proven: true, Concurrency: true, HasLookup: true, Retention: time.Hour, Margin: 2, SettleAfter: 1, LookupLag: 5}
	loose := Protection{Key: true, Overwrites: true, Retention: time.Minute, Margin: 1, SettleAfter: 3, LookupLag: 4}
	want := Protection{Key: true, Overwrites: true, Retention: time.Minute, Margin: 2, SettleAfter: 3, LookupLag: 5}
	if got := strict.Stricter(loose); got != want {
		t.Errorf("got %+v", got)
	}
	if strict.Stricter(loose) != loose.Stricter(strict) {
		t.Error("the stricter of two depends on their order")
	}
}

func TestCheckResolved(t *testing.T) {
	f := unknownFacts()
	if r := CheckResolved(f, hash(9)); r != nil {
		t.Errorf("same bytes refused: %v", r)
	}
	if r := CheckResolved(f, hash(8)); r == nil || r.Code != CodeContentDiffers {
		t.Errorf("other bytes: %v", r)
	}
	if r := CheckResolved(readyFacts(), hash(8)); r != nil {
		t.Errorf("first attempt refused: %v", r)
	}
}
