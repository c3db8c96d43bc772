package operation

import (
	"strconv"
	"strings"
	"time"
)

// CaseID names one recovery case: "case_…".
type CaseID string

// QueueID names one frozen list of cases that a person settles: "queue_…".
type QueueID string

// casePrefix begins a case's number for people.
const casePrefix = "RC-"

// CaseNumber is how people name a case: "RC-147".
func CaseNumber(n int64) string { return casePrefix + strconv.FormatInt(n, 10) }

// ParseCaseNumber reads "RC-147", "rc-147" or "147"; ok is false for anything else.
func ParseCaseNumber(s string) (n int64, ok bool) {
	s = strings.TrimPrefix(strings.ToUpper(strings.TrimSpace(s)), casePrefix)
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n > 0
}

// NeedsCase reports whether an operation has an open recovery case: while it is
// unresolved, and while an attempt runs or is planned that belongs to the case, which is
// a protected repeat of an unknown one or a requested re-execution. The database's
// needs_case says the same; a test holds them together.
func NeedsCase(s State, unsettled int, r RequestID) bool {
	switch s {
	case Unknown, Review, ReexecutionRequested:
		return true
	case Waiting, Ready, InProgress, RetryScheduled:
		return unsettled > 0 || r != ""
	}
	return false
}

// CaseHold is a case as it matters to who may have it in hand.
type CaseHold struct {
	Closed  bool
	TakenBy UserID // "" = nobody has it in hand
	Since   time.Time
}

// MayTakeCase checks that a person may take a case in hand: they could settle it, and
// from somebody else they take it over with a reason only.
func MayTakeCase(h CaseHold, reviewer Selector, who Person, reason string) *Refusal {
	switch {
	case h.Closed:
		return Refuse(CodeCaseClosed)
	case !reviewer.Matches(who):
		return Refuse(CodeNotEntitled, "role", string(reviewer.Role)).By(Responsible{Role: reviewer.Role})
	case h.TakenBy != "" && h.TakenBy != who.ID && strings.TrimSpace(reason) == "":
		return Refuse(CodeReasonMissing)
	}
	return nil
}

// MayReleaseCase checks that a person may give a case out of their hands.
func MayReleaseCase(h CaseHold, who UserID) *Refusal {
	switch {
	case h.Closed:
		return Refuse(CodeCaseClosed)
	case h.TakenBy == "" || h.TakenBy != who:
		return Refuse(CodeCaseNotTaken)
	}
	return nil
}

// MayWorkOnCase checks that nobody else has the case in hand. It says nothing about the
// right to decide, and the second person's decision does not ask it.
func MayWorkOnCase(h CaseHold, who UserID) *Refusal {
	if h.TakenBy != "" && h.TakenBy != who {
		return Refuse(CodeCaseTaken, "at", stamp(h.Since)).By(Responsible{User: h.TakenBy})
	}
	return nil
}

// MayAskLookup checks that a person may have the destination asked at once. It decides
// nothing, whoever has the case in hand.
func MayAskLookup(h CaseHold, reviewer Selector, who Person) *Refusal {
	switch {
	case h.Closed:
		return Refuse(CodeCaseClosed)
	case !reviewer.Matches(who):
		return Refuse(CodeNotEntitled, "role", string(reviewer.Role)).By(Responsible{Role: reviewer.Role})
	}
	return nil
}

// The clock of a case: pages tell every BeatEvery how long they were in use since the
// last time; nothing counts after IdleAfter without a hand on the page, and no single
// beat counts for more than BeatCap.
const (
	BeatEvery = 20 * time.Second
	IdleAfter = 2 * time.Minute
	BeatCap   = time.Minute
)

// BeatCounts gives how much of a claimed active time counts: no more than the time since
// the last beat of this person for this case, whichever of their pages it came from, and
// never more than BeatCap. last zero = there was none: a first beat only starts the clock.
func BeatCounts(last, now time.Time, claimed time.Duration) time.Duration {
	if last.IsZero() || claimed <= 0 || !now.After(last) {
		return 0
	}
	return min(claimed, now.Sub(last), BeatCap)
}

// CaseClock is one of the two clocks of a case.
type CaseClock string

// The clocks: from taking a case to giving it back, and of it the time in which its page
// was visible and in use.
const (
	ClockInHand CaseClock = "in_hand"
	ClockActive CaseClock = "active"
)

// correctionLimit bounds a correction: nobody had one case in hand for longer.
const correctionLimit = 366 * 24 * time.Hour

// MayCorrectClock checks a correction of a case's time to what it should be.
func MayCorrectClock(c CaseClock, to time.Duration, reviewer Selector, who Person, reason string) *Refusal {
	switch {
	case c != ClockInHand && c != ClockActive, to < 0, to > correctionLimit:
		return Refuse(CodeClock)
	case !reviewer.Matches(who):
		return Refuse(CodeNotEntitled, "role", string(reviewer.Role)).By(Responsible{Role: reviewer.Role})
	case strings.TrimSpace(reason) == "":
		return Refuse(CodeReasonMissing)
	}
	return nil
}

// QueueDone says how the person of a queue dealt with a case.
type QueueDone string

// The ways. What another person or the destination settled is none of them.
const (
	QueueSettled   QueueDone = "settled"   // the outcome is known
	QueueRequested QueueDone = "requested" // a second person is asked for a re-execution
	QueueHeld      QueueDone = "held"      // kept on hold until a date
)
