package operation

import "time"

// People names who decides in one stage of a flow, as pinned in the operation.
type People struct {
	Author    Responsible // completes drafts
	Approvers Responsible
	Reviewer  Responsible
	Reexecute Responsible
	Owner     Responsible // stands in wherever nobody is named; after the owner, admin
	PausedBy  Responsible // who paused it, its flow or destination
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
	n := nextFor(f, who, due.orDefault(), stageOwner, hold, leaseEnd, now)
	if n.Kind == DecideNothing {
		return n
	}
	if n.Who == (Responsible{}) {
		n.Who = who.Owner
	}
	if n.Who == (Responsible{}) {
		n.Who = Responsible{Role: RoleAdmin}
	}
	if n.At.IsZero() {
		n.At = now
	}
	return n
}

func nextFor(f Facts, who People, due Due, stageOwner Responsible, hold, leaseEnd, now time.Time) NextDecision {
	sys := Responsible{System: true}
	switch f.State {
	case Draft:
		return NextDecision{DecideComplete, who.Author, now.Add(due.Draft)}
	case PendingApproval:
		return NextDecision{DecideApprove, who.Approvers, now.Add(due.Approve)}
	case Waiting:
		return NextDecision{DecideStage, stageOwner, now.Add(due.Review)}
	case Ready, RetryScheduled:
		if r := permitPauses(f, now); r != nil {
			by := who.PausedBy
			if by == (Responsible{}) {
				by = r.Who
			}
			return NextDecision{DecideResume, by, now.Add(due.Review)}
		}
		if f.OriginalOpen {
			return NextDecision{DecideOriginal, sys, now.Add(due.Review)}
		}
		if f.State == RetryScheduled {
			return NextDecision{DecideTry, sys, f.RetryAt}
		}
		return NextDecision{DecideTake, sys, now}
	case InProgress:
		return NextDecision{DecideFinish, sys, leaseEnd}
	case Unknown:
		return NextDecision{DecideCheck, sys, earliest(f.LookupAt, f.RetryAt, now)}
	case Review:
		at := now.Add(due.Review)
		if !f.ReviewDue.IsZero() {
			at = f.ReviewDue
		}
		if hold.After(now) {
			at = hold
		}
		return NextDecision{DecideReconcile, who.Reviewer, at}
	case ReexecutionRequested:
		return NextDecision{DecideReexecution, who.Reexecute, now.Add(due.Reexecute)}
	}
	return NextDecision{}
}

// RemedyFor is the next decision of a closed operation with open work: a duplicate, a
// bounce, silence past a deadline.
func RemedyFor(who People, due Due, now time.Time) NextDecision {
	owner := who.Owner
	if owner == (Responsible{}) {
		owner = Responsible{Role: RoleAdmin}
	}
	return NextDecision{DecideRemedy, owner, now.Add(due.orDefault().Review)}
}

// StandIn gives who is responsible when the named one may be gone: the person while
// they are active, else the role while somebody holds it, else the owner by the same
// rule, else admin. role is the role from which the person was named.
func StandIn(want Responsible, role Role, owner Responsible, people []Person) Responsible {
	if want.System {
		return want
	}
	for _, r := range []Responsible{want, {Role: role}, owner, {Role: owner.Role}} {
		for _, p := range people {
			if p.Active && ((r.User != "" && p.ID == r.User) || (r.User == "" && p.Has(r.Role))) {
				return r
			}
		}
	}
	return Responsible{Role: RoleAdmin}
}

// orDefault fills what a flow does not say.
func (d Due) orDefault() Due {
	for _, f := range []struct{ have, def *time.Duration }{{&d.Draft, &DefaultDue.Draft}, {&d.Approve, &DefaultDue.Approve},
		{&d.Review, &DefaultDue.Review}, {&d.Reexecute, &DefaultDue.Reexecute}} {
		if *f.have <= 0 {
			*f.have = *f.def
		}
	}
	return d
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
