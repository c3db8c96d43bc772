package operation

import (
	"slices"
	"strings"
	"time"
)

// CheckReport judges an outcome reported from outside (the job API). It gives the
// outcome that counts, or refuses a claim without proof:
//   - not_started after dispatch counts only with a code that the profile lists; an
//     exit code is never such a code
//   - confirmed needs the target reference, and a dispatch
//   - before dispatch nothing was handed out: whatever is reported, it is not_started
//   - everything else is unknown
func CheckReport(outcome Outcome, code string, listed []string, reference string, dispatched bool) (Outcome, *Refusal) {
	switch {
	case !dispatched && outcome == OutcomeConfirmed:
		return OutcomeUnknown, Refuse(CodeForbiddenMove, "state", "not_dispatched")
	case !dispatched:
		return OutcomeNotStarted, nil
	case outcome == OutcomeConfirmed && blank(reference):
		return OutcomeUnknown, Refuse(CodeReferenceMissing)
	case outcome == OutcomeConfirmed:
		return OutcomeConfirmed, nil
	case outcome == OutcomeNotStarted && (code == "" || exitCode(code) || !slices.Contains(listed, code)):
		return OutcomeUnknown, Refuse(CodeProofNotListed, "proof", code)
	case outcome == OutcomeNotStarted:
		return OutcomeNotStarted, nil
	}
	return OutcomeUnknown, nil
}

// exitCode reports a code that only names how a process ended: "exit", "exit_1",
// "exit-code:2", "signal:9".
func exitCode(code string) bool {
	c := strings.ToLower(code)
	for _, p := range []string{"exit", "signal"} {
		if rest, ok := strings.CutPrefix(c, p); ok && strings.Trim(strings.Replace(rest, "code", "", 1), "_-:= 0123456789") == "" {
			return true
		}
	}
	return false
}

// AfterLateReport gives what follows from a report under a stale fence. It is evidence
// and permits nothing: only evidence of an effect moves the state. reference is the
// confirmed effect's, "" = none yet; another one is a suspected duplicate.
func AfterLateReport(f Facts, r Result, reference string, now time.Time) After {
	a := After{RetryAt: f.RetryAt, LookupAt: f.LookupAt, KeyAnswered: f.KeyAnswered}
	if r.Outcome != OutcomeConfirmed {
		return a
	}
	a.Events, a.RetryAt = EffectFound(f.State, f.Disputed), time.Time{}
	if f.State == Confirmed && reference != "" && r.TargetReference != reference {
		a.DuplicateSuspected, a.Code = true, CodeDuplicate
	}
	if f.Protection.HasLookup && (len(f.Unsettled) > 1 || f.OpenAttempt != "") {
		a.LookupAt = later(now, f.quietAt()).Add(f.Protection.LookupLag)
	}
	return a
}
