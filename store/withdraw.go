package store

import (
	"time"

	"holdpoint/operation"
)

// withdraw takes an approval back until dispatch: the claim of a worker that has not
// dispatched becomes stale. Once a request may have left it means "no further attempt";
// the outcome is still settled.
func (u *unit) withdraw(d Decided, links []string) error {
	o := u.op
	if o.State == operation.PendingApproval {
		u.note(o, "withdraw", d.Reason, links...)
		return nil
	}
	dispatched, err := u.openDispatched()
	if err != nil {
		return err
	}
	f, err := u.gateFacts()
	if err != nil {
		return err
	}
	links = append(links, "cause", "withdrawn")
	if o.State == operation.InProgress && !dispatched {
		if err := u.releaseClaim("approval withdrawn"); err != nil {
			return err
		}
		f.State, f.OpenAttempt = o.State, ""
	}
	if len(f.Unsettled) > 0 || dispatched {
		if r := operation.MayStop(f, dispatched); r != nil {
			return r
		}
		return u.noFurtherAttempt(f, d.Reason, links...)
	}
	return u.follow(operation.After{Events: operation.AfterWithdraw(f, false)}, d.Reason, links...)
}

// openDispatched reports that the open attempt was dispatched: a request may have left.
func (u *unit) openDispatched() (bool, error) {
	if u.op.OpenAttempt == "" {
		return false, nil
	}
	att, err := u.attempt(u.op.OpenAttempt)
	if err != nil {
		return false, err
	}
	u.op.leaseEnd = att.LeaseUntil
	return att.DispatchedAt != nil, nil
}

// noFurtherAttempt forbids any repeat. What was sent is still settled: an open attempt
// by its own outcome, an unknown one by lookups or, without them, by a person.
func (u *unit) noFurtherAttempt(f operation.Facts, reason string, links ...string) error {
	o := u.op
	o.Stopped, o.RetryAt, o.replanned = true, nil, true
	u.note(o, "no_further_attempt", reason, links...)
	if o.State != operation.Unknown {
		return nil
	}
	f.Stopped, f.RetryAt = true, time.Time{}
	a := operation.PlanUnknown(f, u.profile.Retry, u.now, 0)
	return u.follow(a, string(a.Code), links...)
}
