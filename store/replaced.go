package store

import "holdpoint/operation"

// cancelReplacements ends the unsent replacements of the operation that has just turned out
// to have its effect: each would be a second one. What cannot be ended here, an open attempt
// above all, the gate refuses.
func (u *unit) cancelReplacements() error {
	if err := u.loadSiblings(); err != nil {
		return err
	}
	for _, o := range u.siblings {
		if o.Replaces != string(u.op.ID) || o.State.Closed() {
			continue
		}
		f := operation.Facts{State: o.State, OpenAttempt: o.OpenAttempt, Stated: o.Stated, Disputed: o.Disputed, Unsettled: make([]operation.UnsettledAttempt, o.Unsettled),
			OriginalDone: operation.OriginalDone(operation.Original{State: u.op.State, Deliberate: o.Deliberate})}
		if o.RequestID != "" {
			f.Reexecution = &operation.ReexecutionFacts{Request: o.RequestID}
		}
		ev, ok := operation.AfterOriginal(f)
		if !ok {
			continue
		}
		o.ClearanceID, o.ExpiresAt, o.RetryAt, o.LookupAt, o.Paused = "", nil, nil, nil, false
		if err := u.move(o, ev, string(operation.CodeOriginalConfirmed), "cause", string(operation.CodeOriginalConfirmed), "original", string(u.op.ID)); err != nil {
			return err
		}
	}
	return nil
}

// waitedFor reports that another operation is an approved replacement of this one: what
// comes next for it follows from whether this one is open.
func (u *unit) waitedFor(o *opRow) bool {
	return o.Replaces == string(u.op.ID) && (o.State == operation.Ready || o.State == operation.RetryScheduled)
}

// originalOpen reports of what may be taken next whether the operation that it replaces is
// open again.
func (u *unit) originalOpen(o *opRow) (bool, error) {
	if o.Replaces == "" || o.State != operation.Ready && o.State != operation.RetryScheduled {
		return false, nil
	}
	rows, err := u.otherStages()
	if err == nil && o != u.op {
		rows, err = u.stageRows()
	}
	open, _ := originalStands(o, rows)
	return open, err
}
