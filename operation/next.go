package operation

import "time"

// People names who decides in one stage of a flow, as pinned in the operation.
type People struct {
	Author    Responsible // completes drafts
	Approvers Responsible
	Reviewer  Responsible
	Reexecute Responsible
	Owner     Responsible
}

// Due gives how long each kind of decision may take.
type Due struct {
	Draft, Approve, Review, Reexecute time.Duration
}

// DefaultDue is used where a flow does not say.
var DefaultDue = Due{Draft: 24 * time.Hour, Approve: 4 * time.Hour, Review: 4 * time.Hour, Reexecute: 4 * time.Hour}

// NextFor gives the one next decision of an operation (MODEL §2): who must do what by
// when. Every state that is not closed has exactly one. hold is the date until which
// a person keeps a review on hold; leaseEnd the open attempt's.
func NextFor(f Facts, who People, due Due, stageOwner Responsible, hold, leaseEnd, now time.Time) NextDecision {
	sys := Responsible{System: true}
	switch f.State {
	case Draft:
		return NextDecision{DecideComplete, who.Author, now.Add(due.Draft)}
	case PendingApproval:
		return NextDecision{DecideApprove, who.Approvers, now.Add(due.Approve)}
	case Waiting:
		return NextDecision{DecideStage, stageOwner, now.Add(due.Review)}
	case Ready:
		return NextDecision{DecideTake, sys, now}
	case InProgress:
		return NextDecision{DecideFinish, sys, leaseEnd}
	case RetryScheduled:
		return NextDecision{DecideTry, sys, f.RetryAt}
	case Unknown:
		return NextDecision{DecideCheck, sys, earliest(f.LookupAt, f.RetryAt, now)}
	case Review:
		at := now.Add(due.Review)
		if hold.After(now) {
			at = hold
		}
		return NextDecision{DecideReconcile, who.Reviewer, at}
	case ReexecutionRequested:
		return NextDecision{DecideReexecution, who.Reexecute, now.Add(due.Reexecute)}
	}
	return NextDecision{}
}

func earliest(a, b, fallback time.Time) time.Time {
	switch {
	case a.IsZero() && b.IsZero():
		return fallback
	case a.IsZero() || (!b.IsZero() && b.Before(a)):
		return b
	}
	return a
}
