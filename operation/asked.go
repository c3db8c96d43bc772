package operation

import (
	"slices"
	"time"
)

// aboutApproval are refusals for want of an approval that holds now.
var aboutApproval = []Code{CodeNotApproved, CodeApprovalExpired, CodeHashMismatch, CodeApproverNotEntitled}

// WhyAsked says why a person is asked about an operation in review: what the gate would
// say of another attempt. Where the outcome of a request is unknown, that nothing protects
// a repeat of it comes before the approval, which is used up or expired by then; nil =
// nothing is in the way.
func WhyAsked(f Facts, now time.Time) *Refusal {
	if r := noSecondEffect(f); r != nil {
		return r
	}
	f.State, f.RetryAt = RetryScheduled, time.Time{}
	if len(f.Unsettled) > 0 {
		f.State = Unknown
	}
	_, r := Permit(f, now)
	if r == nil || len(f.Unsettled) == 0 || !slices.Contains(aboutApproval, r.Code) {
		return r
	}
	if why := protectedAtAll(f); why != nil {
		return why
	}
	if until := f.Protection.Until(f.keyFirst()); !until.IsZero() && !now.Before(until) {
		return Refuse(CodeKeyExpired, "at", stamp(until)).By(reviewer(f))
	}
	return r
}
