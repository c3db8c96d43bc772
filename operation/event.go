package operation

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Event is what happened to an operation: it moves the state.
type Event string

// The events. Each row of Transitions uses one of them.
const (
	EvSubmit             Event = "submit"              // a complete version is put up for approval
	EvEdit               Event = "edit"                // a new version that is not submitted, or changes requested
	EvReject             Event = "reject"              // an approver refuses it for good
	EvClearToWait        Event = "clear_to_wait"       // quorum reached, an earlier stage is open
	EvClear              Event = "clear"               // quorum reached and nothing in the way
	EvStageReopened      Event = "stage_reopened"      // an earlier stage is no longer satisfied
	EvExpire             Event = "expire"              // the approval expired, was withdrawn, or lost its approver
	EvCancel             Event = "cancel"              // cancelled while provably nothing was executed
	EvClaim              Event = "claim"               // a job takes it under a lease
	EvNotStarted         Event = "not_started"         // every attempt provably did nothing; another is scheduled
	EvRefused            Event = "refused"             // permanent refusal, or the attempt limit is used up
	EvUnknown            Event = "unknown"             // some dispatched attempt's outcome is not known
	EvEffect             Event = "effect"              // evidence that the effect exists
	EvEscalate           Event = "escalate"            // automatic means are used up or contradict each other
	EvHold               Event = "hold"                // a person keeps it on hold until a date
	EvRequestReexecution Event = "request_reexecution" // a person showed that nothing happened and asks for one more attempt
	EvApproveReexecution Event = "approve_reexecution" // a second person permits one more attempt
	EvRefuseReexecution  Event = "refuse_reexecution"  // refused, voided by evidence, or expired
	EvCorrect            Event = "correct"             // back to the author: all attempts are not_started
	EvGrantAttempts      Event = "grant_attempts"      // more attempts: all attempts are not_started
	EvCloseNotExecuted   Event = "close_not_executed"  // shown not to have happened; it will not be tried again
	EvDispute            Event = "dispute"             // evidence against a closed state
)

// Events lists every event in the order above.
var Events = []Event{EvSubmit, EvEdit, EvReject, EvClearToWait, EvClear, EvStageReopened, EvExpire, EvCancel, EvClaim,
	EvNotStarted, EvRefused, EvUnknown, EvEffect, EvEscalate, EvHold, EvRequestReexecution, EvApproveReexecution,
	EvRefuseReexecution, EvCorrect, EvGrantAttempts, EvCloseNotExecuted, EvDispute}

// Transition is one permitted move. Everything not in Transitions is forbidden.
type Transition struct {
	From  State
	Event Event
	To    State
}

// Transitions is the whole state machine. docs/state-machine.md draws it, the
// CHECK constraint history_move names it, and a test holds all three together.
var Transitions = buildTransitions()

func buildTransitions() []Transition {
	var t []Transition
	add := func(ev Event, to State, from ...State) {
		for _, f := range from {
			t = append(t, Transition{f, ev, to})
		}
	}
	unsent := []State{Draft, PendingApproval, Waiting, Ready, RetryScheduled}
	open := append(append([]State{}, unsent...), InProgress, Unknown, Review, ReexecutionRequested)

	add(EvSubmit, PendingApproval, Draft)
	add(EvEdit, Draft, PendingApproval, Waiting, Ready, RetryScheduled)
	add(EvReject, Rejected, PendingApproval)
	add(EvClearToWait, Waiting, PendingApproval)
	add(EvClear, Ready, PendingApproval, Waiting)
	add(EvStageReopened, Waiting, Ready, RetryScheduled)
	add(EvExpire, PendingApproval, Waiting, Ready, RetryScheduled)
	add(EvCancel, Cancelled, append(append([]State{}, unsent...), InProgress)...)
	add(EvClaim, InProgress, Ready, RetryScheduled, Unknown)
	add(EvNotStarted, RetryScheduled, InProgress)
	add(EvRefused, Review, Ready, InProgress, RetryScheduled)
	add(EvUnknown, Unknown, InProgress)
	add(EvEffect, Confirmed, open...)
	add(EvEscalate, Review, InProgress, Unknown)
	add(EvHold, Review, Review)
	add(EvRequestReexecution, ReexecutionRequested, Review)
	add(EvApproveReexecution, Ready, ReexecutionRequested)
	add(EvRefuseReexecution, Review, ReexecutionRequested, Ready, RetryScheduled)
	add(EvCorrect, Draft, Review)
	add(EvGrantAttempts, Ready, Review)
	add(EvCloseNotExecuted, NotExecuted, Review)
	add(EvDispute, Review, Confirmed, Rejected, Cancelled, NotExecuted)
	return t
}

var transitionIndex = func() map[State]map[Event]State {
	m := map[State]map[Event]State{}
	for _, t := range Transitions {
		if m[t.From] == nil {
			m[t.From] = map[Event]State{}
		}
		m[t.From][t.Event] = t.To
	}
	return m
}()

// Next gives the state that follows; ok is false when the move is forbidden.
func Next(from State, ev Event) (to State, ok bool) {
	to, ok = transitionIndex[from][ev]
	return to, ok
}

// Leads reports whether some event moves from one state to the other.
func Leads(from, to State) bool {
	for _, t := range transitionIndex[from] {
		if t == to {
			return true
		}
	}
	return false
}

// Apply makes several moves in order; ok is false when one of them is forbidden. Each
// event is its own entry of the history.
func Apply(from State, events ...Event) (to State, ok bool) {
	to = from
	for _, ev := range events {
		if to, ok = Next(to, ev); !ok {
			return from, false
		}
	}
	return to, true
}

// Births lists the states in which an operation may begin. An adopted one begins in
// review; one whose content is complete from the start may begin submitted, and an item of
// an approved batch begins ready.
var Births = []State{Draft, PendingApproval, Review, Ready}

// MovePairs lists the pairs (from, to) that history entries of operations may carry,
// sorted, births with an empty from. Entries that change no state (from = to) are
// permitted beside them and not listed.
func MovePairs() [][2]State {
	seen := map[[2]State]bool{}
	for _, b := range Births {
		seen[[2]State{"", b}] = true
	}
	for _, t := range Transitions {
		if t.From != t.To {
			seen[[2]State{t.From, t.To}] = true
		}
	}
	return slices.SortedFunc(maps.Keys(seen), func(a, b [2]State) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
}

// MovePairsSQL prints MovePairs as the texts of the CHECK constraint history_move:
// '>draft', '>pending_approval', 'confirmed>review' …
func MovePairsSQL() string {
	var b strings.Builder
	for i, p := range MovePairs() {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("'" + string(p[0]) + ">" + string(p[1]) + "'")
	}
	return b.String()
}
