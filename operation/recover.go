package operation

import (
	"strings"
	"time"
)

// Statement is what a person brings when they move an operation in doubt: who they are
// inside the transaction, whom the flow names, their reason, and how many pieces of
// evidence they attach.
type Statement struct {
	Who      Person
	Reviewer Selector
	Reason   string
	Evidence int
}

func (s Statement) entitled() *Refusal {
	if s.Who.ID == "" || !s.Reviewer.Matches(s.Who) {
		return Refuse(CodeNotEntitled, "role", string(s.Reviewer.Role)).By(Responsible{Role: s.Reviewer.Role})
	}
	return nil
}

func (s Statement) check(evidence bool) *Refusal {
	if r := s.entitled(); r != nil {
		return r
	}
	if strings.TrimSpace(s.Reason) == "" {
		return Refuse(CodeReasonMissing)
	}
	if evidence && s.Evidence < 1 {
		return Refuse(CodeEvidenceMissing)
	}
	return nil
}

func inReview(s State) *Refusal {
	if s != Review {
		return Refuse(CodeForbiddenMove, "state", string(s))
	}
	return nil
}

// firstRefusal gives the first rule that says no.
func firstRefusal(rules ...*Refusal) *Refusal {
	for _, r := range rules {
		if r != nil {
			return r
		}
	}
	return nil
}

// MayHold checks that a person may keep a review on hold: a reason, and a date in the
// future.
func MayHold(state State, s Statement, until, now time.Time) *Refusal {
	if r := firstRefusal(inReview(state), s.check(false)); r != nil {
		return r
	}
	if !until.After(now) {
		return Refuse(CodeDateMissing)
	}
	return nil
}

// MayDispute checks that a person may bring a closed operation back to review: a
// reason and evidence against what it says (of an effect, or of none).
func MayDispute(state State, s Statement) *Refusal {
	if !state.Closed() {
		return Refuse(CodeForbiddenMove, "state", string(state))
	}
	return s.check(true)
}

// MayConfirmDone checks that a person may confirm the effect: target reference and
// evidence, in any unresolved state. taken says that another operation of the same
// account and effect type has this reference.
func MayConfirmDone(state State, s Statement, reference string, taken bool) *Refusal {
	if !state.Unresolved() {
		return Refuse(CodeForbiddenMove, "state", string(state))
	}
	if r := s.entitled(); r != nil {
		return r
	}
	switch {
	case strings.TrimSpace(reference) == "":
		return Refuse(CodeReferenceMissing)
	case s.Evidence < 1:
		return Refuse(CodeEvidenceMissing)
	case taken:
		return Refuse(CodeReferenceTaken)
	}
	return nil
}

// allSettled refuses while anything of the operation may still be unknown.
func allSettled(f Facts) *Refusal {
	switch {
	case f.OpenAttempt != "":
		return Refuse(CodeAttemptOpen, "attempt", string(f.OpenAttempt))
	case len(f.Unsettled) > 0 || f.Disputed:
		return Refuse(CodeAttemptsUnsettled).By(reviewer(f))
	}
	return nil
}

// notStopped refuses what would lead to another attempt after a person has ruled that
// out.
func notStopped(f Facts) *Refusal {
	if f.Stopped {
		return Refuse(CodeStopped).By(reviewer(f))
	}
	return nil
}

// allProven refuses unless ALL attempts are proven not_started. A person's statement
// is not such a proof.
func allProven(f Facts) *Refusal {
	if f.Stated {
		return firstRefusal(allSettled(f), Refuse(CodeAttemptsUnsettled).By(reviewer(f)))
	}
	return firstRefusal(allSettled(f), notStopped(f), notSuppressed(f))
}

// MayGrantAttempts checks that a person may permit n more attempts of the approved
// content: only when all attempts are proven not_started.
func MayGrantAttempts(f Facts, s Statement, n int) *Refusal {
	if r := firstRefusal(inReview(f.State), s.check(false), allProven(f)); r != nil {
		return r
	}
	if n < 1 {
		return Refuse(CodeAttemptLimit, "limit", itoa(n))
	}
	return nil
}

// MayCloseNotExecuted checks that a review may end as not executed: every attempt is
// settled, by proof or by the recorded statement "not done" (MayConfirmNotDone).
func MayCloseNotExecuted(f Facts, s Statement) *Refusal {
	return firstRefusal(inReview(f.State), s.check(false), allSettled(f))
}

// MayRequestReexecution checks that a person may ask for one more attempt: every
// attempt is settled, by proof or by the recorded statement "not done", nobody has ruled out
// another one, and it would be no second effect.
func MayRequestReexecution(f Facts, s Statement) *Refusal {
	return firstRefusal(inReview(f.State), s.check(false), allSettled(f), notStopped(f), noSecondEffect(f))
}
