package operation

import "time"

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
// with yes. The latest answer to an item counts.
func MissingAnswers(answers []Answer, extra []ChecklistItem) []ChecklistItem {
	last := map[ChecklistItem]bool{}
	for _, a := range answers {
		last[a.Item] = a.Yes
	}
	var missing []ChecklistItem
	for _, i := range append(append([]ChecklistItem{}, Checklist...), extra...) {
		if !last[i] {
			missing = append(missing, i)
		}
	}
	return missing
}

// MayReconcile checks that this person may settle the operation now.
func MayReconcile(state State, reviewer Selector, who Person) *Refusal {
	if state != Review && state != Unknown {
		return Refuse(CodeForbiddenMove, "state", string(state))
	}
	if !reviewer.Matches(who) {
		return Refuse(CodeNotEntitled, "role", string(reviewer.Role)).By(Responsible{Role: reviewer.Role})
	}
	return nil
}

// MayConfirmNotDone checks the claim "nothing happened": every item answered, and the
// last dispatched attempt can no longer take effect (lease end + settle_after).
func MayConfirmNotDone(f Facts, answers []Answer, extra []ChecklistItem, now time.Time) *Refusal {
	if m := MissingAnswers(answers, extra); len(m) > 0 {
		return Refuse(CodeChecklist, "item", string(m[0]), "count", itoa(len(m)))
	}
	for _, u := range f.Unsettled {
		if quiet := u.LeaseEnd.Add(f.Protection.SettleAfter); now.Before(quiet) {
			return Refuse(CodeSettling, "at", quiet.UTC().Format(time.RFC3339)).By(Responsible{System: true})
		}
	}
	return nil
}

// MayEditAgain checks that a new version may be made: nothing was ever dispatched, or
// ALL attempts are proven not_started (settled by a person is not a proof).
func MayEditAgain(f Facts, dispatchedUnknownEver bool) *Refusal {
	switch f.State {
	case Draft, PendingApproval, Waiting, Ready, RetryScheduled, Review:
	default:
		return Refuse(CodeForbiddenMove, "state", string(f.State))
	}
	if len(f.Unsettled) > 0 || dispatchedUnknownEver {
		return Refuse(CodeAttemptsUnsettled)
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
		return current + 1
	}
	return current
}
