package operation

import "time"

// BatchTurnKind says what a batch waits for, beyond what was recorded as its next decision.
type BatchTurnKind string

// The kinds of turns.
const (
	// TurnRecorded: what was recorded as the next decision is what comes next.
	TurnRecorded BatchTurnKind = ""
	// TurnHeld: nothing more of it goes out before an earlier stage is settled.
	TurnHeld BatchTurnKind = "held"
	// TurnSettle: nothing is left but outcomes that people settle.
	TurnSettle BatchTurnKind = "settle"
	// TurnReexecution: nothing is left but re-executions that people decide about.
	TurnReexecution BatchTurnKind = "reexecution"
	// TurnGoOn: it is closed and did not come to what its stage needs; later stages wait
	// until the flow's owner says how the run goes on.
	TurnGoOn BatchTurnKind = "go_on"
	// TurnResume: its flow, its destination or all sends are paused, and something of it still
	// waits to be released or sent.
	TurnResume BatchTurnKind = "resume"
)

// BatchTurnKinds lists those that have words of their own.
var BatchTurnKinds = []BatchTurnKind{TurnHeld, TurnSettle, TurnReexecution, TurnGoOn, TurnResume}

// BatchStand is what decides whose turn it is with a batch.
type BatchStand struct {
	State     BatchState
	Paused    bool
	Stopped   bool
	Satisfied bool
	Waived    bool          // the owner let the run go on without its stage
	Later     bool          // something of a later stage of the run is open: it waits for this one
	ToCome    int           // items that are cleared, and were not released yet
	States    map[State]int // its operations
	Next      NextDecision  // as it was recorded
	People    People
	Holder    *BatchHolder // the earlier stage that holds it, or for which items of it wait; nil = none
	// Halted is whoever lets its flow, its destination or all sends go on, with until when
	// they should; no kind = none of them is paused.
	Halted BatchTurn
}

// RestLapsed reports that people decide about the rest of a batch anew because what cleared
// it holds no longer, and not because its canary is closed: that is looked at only when all
// that was cleared is released. Both numbers are positions of the list.
func RestLapsed(s BatchState, released, cleared int) bool {
	return s == BatchCanaryReview && released < cleared
}

// BatchHolder is the stage that holds a batch.
type BatchHolder struct {
	Stage string    // its key
	Batch BatchID   // "" = it is one operation
	Op    ID        // "" = it is a batch, or was not created
	Turn  BatchTurn // what that stage waits for itself
	Items bool      // its items hold the same items of the batch, and no others
}

// BatchTurn is what must happen next to a batch, and who does it.
type BatchTurn struct {
	Kind BatchTurnKind
	N    int // outcomes or re-executions that people decide about
	Next NextDecision
	// Since is when that began, where the batch does not record it (TurnGoOn, TurnResume).
	Since time.Time
	// AllFlows: the role must be held for all flows, since what is decided about is no flow's.
	AllFlows bool
	// Holder is the stage that holds it; nil = none.
	Holder *BatchHolder
	// Unmet: it is closed, did not come to what its stage needs, and something of the run
	// waits for that: it can be decided that the run goes on without.
	Unmet bool
}

// Overdue reports that a person should have made the decision before now.
func (t BatchTurn) Overdue(now time.Time) bool {
	n := t.Next
	return n.Kind != DecideNothing && !n.Who.System && !n.At.IsZero() && n.At.Before(now)
}

// TurnOf says whose turn it is. A batch that cannot go on by itself is never the system's.
func TurnOf(b BatchStand) BatchTurn {
	t := b.turn()
	t.Unmet = b.unmet()
	return t
}

// unmet reports that something waits for what its stage did not come to.
func (b BatchStand) unmet() bool {
	return b.State.Closed() && b.Later && !b.Satisfied && !b.Waived
}

func (b BatchStand) turn() BatchTurn {
	held := b.heldItems()
	switch {
	case b.State == BatchDraft || b.State == BatchPendingApproval || b.State == BatchCanaryReview && !b.Stopped:
	case b.State.Closed():
		if t, ok := b.settle(); ok {
			return t
		}
		if b.unmet() && b.open() == 0 {
			return BatchTurn{Kind: TurnGoOn, Next: NextDecision{Kind: DecideRemedy, Who: b.People.Owner}}
		}
	case b.Stopped:
		if b.moving(0) == 0 {
			if t, ok := b.settle(); ok {
				return t
			}
		}
	case b.Paused:
	case b.Halted.Kind == TurnResume && b.toSend() > 0:
		return b.Halted
	case b.Holder != nil && held > 0 && b.moving(held) == 0:
		who := b.Holder.Turn.Next.Who
		return BatchTurn{Kind: TurnHeld, Holder: b.Holder, Next: NextDecision{Kind: DecideStage, Who: who}}
	case b.moving(0) == 0:
		if t, ok := b.settle(); ok {
			return t
		}
	}
	return BatchTurn{Next: b.Next}
}

// heldItems is how many items the holder keeps from going out.
func (b BatchStand) heldItems() int {
	switch {
	case b.Holder == nil:
		return 0
	case b.Holder.Items:
		return b.ToCome + b.States[Waiting]
	}
	return b.toSend()
}

// toSend is how many items a pause keeps from going out.
func (b BatchStand) toSend() int {
	s := b.States
	return b.ToCome + s[Waiting] + s[Ready] + s[RetryScheduled]
}

// moving is how many items are still to be sent by themselves, where so many are held.
func (b BatchStand) moving(held int) int {
	return b.toSend() + b.States[InProgress] - held
}

// open is how many of its operations are not closed.
func (b BatchStand) open() (n int) {
	for s, k := range b.States {
		if !s.Closed() {
			n += k
		}
	}
	return n
}

// settle is people's turn with outcomes, or with re-executions where no outcome is left.
func (b BatchStand) settle() (BatchTurn, bool) {
	switch review, again := b.States[Review], b.States[ReexecutionRequested]; {
	case review > 0:
		return BatchTurn{Kind: TurnSettle, N: review, Next: NextDecision{Kind: DecideReconcile, Who: b.People.Reviewer}}, true
	case again > 0:
		return BatchTurn{Kind: TurnReexecution, N: again, Next: NextDecision{Kind: DecideReexecution, Who: b.People.Reexecute}}, true
	}
	return BatchTurn{}, false
}
