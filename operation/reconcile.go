package operation

import (
	"slices"
	"time"
)

// ChecklistItem is one question of the recovery checklist.
type ChecklistItem string

// The five items of MODEL §5. A flow may add more.
const (
	CheckOperationID ChecklistItem = "operation_id" // the operation ID is recorded
	CheckDestination ChecklistItem = "destination"  // the destination's log shows no such effect
	CheckKey         ChecklistItem = "key"          // the key is unused or expired, and which
	CheckCompletion  ChecklistItem = "completion"   // no completion flag here
	CheckCause       ChecklistItem = "cause"        // error text and cause are understood
)

// Checklist lists the items that every case has.
var Checklist = []ChecklistItem{CheckOperationID, CheckDestination, CheckKey, CheckCompletion, CheckCause}

// Answer is a person's answer to one item.
type Answer struct {
	Item    ChecklistItem
	Yes     bool
	Comment string
	User    UserID
	At      time.Time
}

// MissingAnswers lists the items (and a flow's extra items) that are not answered
// with yes. The latest answer to an item counts; of two at the same time, the one
// further back in the list.
func MissingAnswers(answers []Answer, extra []ChecklistItem) []ChecklistItem {
	last := map[ChecklistItem]Answer{}
	for _, a := range answers {
		if a.User != "" && !a.At.Before(last[a.Item].At) {
			last[a.Item] = a
		}
	}
	var missing []ChecklistItem
	for _, i := range append(append([]ChecklistItem{}, Checklist...), extra...) {
		if !last[i].Yes {
			missing = append(missing, i)
		}
	}
	return missing
}

// fresh keeps the answers that can still be true: none from before the last request,
// and those that report a search at the destination (the item "destination" and the
// flow's extra ones) only from when nothing can take effect any more.
func fresh(f Facts, answers []Answer, extra []ChecklistItem) []Answer {
	var keep []Answer
	for _, a := range answers {
		sent := f.lastDispatch()
		searched := a.Item == CheckDestination || slices.Contains(extra, a.Item)
		if (!sent.IsZero() && !a.At.After(sent)) || (searched && a.At.Before(f.quietAt())) {
			continue
		}
		keep = append(keep, a)
	}
	return keep
}

// MayReconcile checks that this person may settle the operation now. Out of unknown
// they take it over first (EvEscalate); lookups go on.
func MayReconcile(state State, reviewer Selector, who Person) *Refusal {
	if state != Review && state != Unknown {
		return Refuse(CodeForbiddenMove, "state", string(state))
	}
	if !reviewer.Matches(who) {
		return Refuse(CodeNotEntitled, "role", string(reviewer.Role)).By(Responsible{Role: reviewer.Role})
	}
	return nil
}

// MayStateEffect checks that this person may state that the effect exists: evidence of an
// effect confirms any open state.
func MayStateEffect(state State, reviewer Selector, who Person) *Refusal {
	if state.Closed() {
		return Refuse(CodeForbiddenMove, "state", string(state))
	}
	return MayReconcile(Review, reviewer, who)
}

// MayConfirmNotDone checks the claim "nothing happened": no attempt is open, the last
// dispatched one can no longer take effect (lease end + settle_after), and every item
// was answered with yes since.
func MayConfirmNotDone(f Facts, answers []Answer, extra []ChecklistItem, now time.Time) *Refusal {
	if f.State != Review && f.State != Unknown {
		return Refuse(CodeForbiddenMove, "state", string(f.State))
	}
	if f.OpenAttempt != "" {
		return Refuse(CodeAttemptOpen, "attempt", string(f.OpenAttempt))
	}
	if quiet := f.quietAt(); now.Before(quiet) {
		return Refuse(CodeSettling, "at", stamp(quiet)).By(Responsible{System: true})
	}
	if m := MissingAnswers(fresh(f, answers, extra), extra); len(m) > 0 {
		return Refuse(CodeChecklist, "item", string(m[0]), "count", itoa(len(m)))
	}
	return nil
}

// MayEditAgain checks that a new version may be made: nothing was ever dispatched, or
// ALL attempts are proven not_started (settled by a person is not a proof). An approved list
// does not change: an item of it is cancelled, and replaced outside of its batch.
func MayEditAgain(f Facts, dispatchedUnknownEver bool) *Refusal {
	switch f.State {
	case Draft, PendingApproval, Waiting, Ready, RetryScheduled, Review:
	default:
		return Refuse(CodeForbiddenMove, "state", string(f.State))
	}
	if dispatchedUnknownEver {
		return Refuse(CodeAttemptsUnsettled).By(reviewer(f))
	}
	if r := allProven(f); r != nil || f.State == Draft {
		return r
	}
	return MayWriteAnew(f)
}

// MayWriteAnew checks that the operation may get another content than the one it has. As a
// draft an item can still be submitted as it is.
func MayWriteAnew(f Facts) *Refusal {
	if f.Item {
		return Refuse(CodeItemOfList)
	}
	return nil
}

// NextGeneration decides the key of a re-execution: a key still protected is kept;
// the generation goes up only when it expired or holds a stored error.
func NextGeneration(current int, p Protection, first time.Time, storedError bool, now time.Time) int {
	if first.IsZero() {
		return current
	}
	until := p.Until(first)
	if storedError || until.IsZero() || !now.Before(until) {
		return max(current, 1) + 1
	}
	return current
}
