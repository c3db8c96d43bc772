package store

import (
	"cmp"
	"slices"

	"holdpoint/operation"
)

// oneEffect follows the confirmation of the operation through its lineage: the unsent
// operations after it that were to have the same effect end, however far down the lineage they
// stand, since each would be a second one. What cannot be ended here, an open attempt above
// all, the gate refuses. Where another one has that effect already, there are two.
func (u *unit) oneEffect() error {
	if err := u.loadSiblings(); err != nil {
		return err
	}
	rows, err := u.stageRows()
	if err != nil {
		return err
	}
	line, own := lineageOf(u.op, rows)
	if twice := line.Effect(own); twice != "" && u.op.was != operation.Confirmed {
		u.op.Duplicate, u.op.Remedy, u.op.replanned = suspected(u.op.Duplicate), "duplicate", true
		u.note(u.op, "duplicate_suspected", "", "other", string(twice))
	}
	after := make([]*opRow, 0, len(line))
	for _, m := range line {
		if o := u.siblings[m.ID]; o != nil && line.Follows(m, own) && !m.State.Closed() {
			after = append(after, o)
		}
	}
	slices.SortFunc(after, func(x, y *opRow) int { return cmp.Compare(x.Replacement, y.Replacement) })
	for _, o := range after {
		if err := u.endReplacement(o); err != nil {
			return err
		}
	}
	return nil
}

// endReplacement cancels a replacement of which provably nothing was executed.
func (u *unit) endReplacement(o *opRow) error {
	f := operation.Facts{State: o.State, OpenAttempt: o.OpenAttempt, Stated: o.Stated, Disputed: o.Disputed, Unsettled: make([]operation.UnsettledAttempt, o.Unsettled), OriginalDone: true}
	if o.RequestID != "" {
		f.Reexecution = &operation.ReexecutionFacts{Request: o.RequestID}
	}
	ev, ok := operation.AfterOriginal(f)
	if !ok {
		return nil
	}
	o.ClearanceID, o.ExpiresAt, o.RetryAt, o.LookupAt, o.Paused = "", nil, nil, nil, false
	return u.move(o, ev, string(operation.CodeOriginalConfirmed), "cause", string(operation.CodeOriginalConfirmed), "original", string(u.op.ID))
}

// waitedFor reports that what comes next for another approved operation may follow from
// whether this one is open: it is of the same lineage.
func (u *unit) waitedFor(o *opRow) bool {
	return o.Stage == u.op.Stage && o.ItemKey == u.op.ItemKey && (o.State == operation.Ready || o.State == operation.RetryScheduled)
}

// originalOpen reports of what may be taken next whether something that it replaces, or that
// stands before that in its lineage, is open again.
func (u *unit) originalOpen(o *opRow) (bool, error) {
	if o.Replaces == "" || o.State != operation.Ready && o.State != operation.RetryScheduled {
		return false, nil
	}
	rows, err := u.otherStages()
	if err == nil && o != u.op {
		rows, err = u.stageRows()
	}
	line, own := lineageOf(o, rows)
	open, _ := line.Earlier(own)
	return open != "", err
}
