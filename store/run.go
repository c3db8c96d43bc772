package store

import (
	"slices"

	"holdpoint/operation"
)

// loadSiblings loads and locks the other operations of the run. The run is locked
// already, so no two transactions can wait for each other here.
func (u *unit) loadSiblings() error {
	if u.siblings != nil {
		return nil
	}
	u.siblings = map[operation.ID]*opRow{}
	if u.op.Stages < 2 && u.op.Replacement == 0 && u.facts.Earlier == "" {
		return nil
	}
	rows, err := u.lockBeside()
	if err != nil {
		return err
	}
	for i := range rows {
		rows[i].was, rows[i].wasWho = rows[i].State, rows[i].who()
		u.siblings[rows[i].ID] = &rows[i]
	}
	return nil
}

// lockBeside locks what loadSiblings loads. Of a run with batches, those are the operations
// without an item and those of the same item.
func (u *unit) lockBeside() (rows []opRow, err error) {
	others, err := u.otherStages()
	if err != nil {
		return nil, err
	}
	if u.op.BatchID != "" || slices.ContainsFunc(others, func(r stageRow) bool { return r.Batch != "" }) {
		return rows, u.list(&rows, besideSQL, string(u.op.RunID), string(u.op.ID), u.op.ItemKey)
	}
	return rows, u.list(&rows, `SELECT `+opColumns+` FROM operations o WHERE o.run_id = $1 AND o.id <> $2 ORDER BY o.stage_no, o.item_key, o.replacement FOR UPDATE`,
		string(u.op.RunID), string(u.op.ID))
}

// waived lists the stages that the owner lets the run go on without.
func (u *unit) waived() (map[string]bool, error) {
	if u.waivers != nil {
		return u.waivers, nil
	}
	var stages []string
	err := u.list(&stages, `SELECT stage FROM stage_waivers WHERE run_id = $1`, string(u.op.RunID))
	out := map[string]bool{}
	for _, s := range stages {
		out[s] = true
	}
	u.waivers = out
	return out, err
}

// stageRows gives all operations of the run as they stand after this decision.
func (u *unit) stageRows() ([]stageRow, error) {
	if err := u.loadSiblings(); err != nil {
		return nil, err
	}
	var w map[string]bool
	if u.op.Stages > 1 || u.op.Replacement > 0 || u.facts.Earlier != "" || u.op.State.WithoutEffect() {
		var err error
		if w, err = u.waived(); err != nil {
			return nil, err
		}
	}
	rows := []stageRow{rowOf(u.op, w)}
	for _, o := range u.siblings {
		rows = append(rows, rowOf(o, w))
	}
	others, err := u.otherStages()
	for _, r := range others {
		if r.Batch != "" {
			r.Waived = w[r.Stage]
			rows = append(rows, r)
		}
	}
	return rows, err
}

func rowOf(o *opRow, waived map[string]bool) stageRow {
	return stageRow{ID: o.ID, Stage: o.Stage, No: o.StageNo, Item: o.ItemKey, Replacement: o.Replacement, Replaces: operation.ID(o.Replaces), Deliberate: o.Deliberate,
		Doubt: o.OpenAttempt != "" || o.Unsettled > 0 || o.Disputed, State: o.State, Delivery: o.Delivery, Reference: o.TargetReference, Waived: waived[o.Stage]}
}

// stageClosed lets the later stages follow a change of this one: waiting operations
// whose earlier stages are all satisfied become ready.
func (u *unit) stageClosed(changed *opRow) error {
	rows, err := u.stageRows()
	if err != nil {
		return err
	}
	for _, o := range u.siblings {
		o.replanned = o.replanned || u.waitedFor(o)
		if o.State != operation.Waiting || o.StageNo <= changed.StageNo {
			continue
		}
		if len(waitsFor(u.flow, o, rows)) > 0 {
			o.replanned = true // its next decision names another stage now
			continue
		}
		if err := u.move(o, operation.EvClear, "", "after", string(changed.ID)); err != nil {
			return err
		}
	}
	return nil
}

// stageReopened sends unsent later stages back to waiting: an earlier effect is disputed.
func (u *unit) stageReopened() error {
	rows, err := u.stageRows()
	if err != nil {
		return err
	}
	own := u.ownBatch()
	for i := range rows {
		if rows[i].Batch != "" && rows[i].Batch == own {
			rows[i].State = operation.InProgress // an item of it is open again
		}
	}
	for _, o := range u.siblings {
		o.replanned = o.replanned || u.waitedFor(o)
		if o.StageNo <= u.op.StageNo || o.State != operation.Ready && o.State != operation.RetryScheduled {
			continue
		}
		if len(waitsFor(u.flow, o, rows)) == 0 {
			continue
		}
		o.RetryAt = nil
		if err := u.move(o, operation.EvStageReopened, "", "after", string(u.op.ID)); err != nil {
			return err
		}
	}
	return nil
}

// planRun plans the run's state when it follows from the changed operations, with an
// entry in the run's own history.
func (u *unit) planRun(siblingsChanged bool) error {
	if u.op.State == u.op.was && !siblingsChanged && !u.op.replanned {
		return nil
	}
	if own := u.ownBatch(); own != "" && (u.op.BatchID != "" || u.op.was.Closed() && !u.op.State.Closed()) {
		return u.planItem(own)
	}
	state, err := u.runState()
	if err != nil {
		return err
	}
	u.planBlocked(state)
	if state == u.facts.RunState && u.op.Stages < 2 && u.facts.Earlier == "" {
		return nil // nobody else reads this run's stages
	}
	u.writeRun(state)
	return nil
}

// writeRun raises the run's revision, so that whoever read it decides again, and gives it
// its state, with an entry in its own history where that changes.
func (u *unit) writeRun(state string) {
	row := map[string]any{"id": u.op.RunID, "state": state, "seq": u.facts.RunSeq, "head": hexOf(u.facts.RunHash)}
	if state != u.facts.RunState {
		e := u.entry(operation.SubjectRun, string(u.op.RunID), "run_"+state, "", "operation", string(u.op.ID))
		e.From, e.To = operation.State(u.facts.RunState), operation.State(state)
		c := chain(e, u.facts.RunSeq, u.facts.RunHash)
		u.entries = append(u.entries, c)
		row["seq"], row["head"] = c.Seq, hexOf(c.hash[:])
	}
	u.w.runs = append(u.w.runs, row)
}

// RemedyBlocked is the owner's open work on an operation that was closed without effect
// and blocks the stages after it: go on without it, replace it, or leave it.
const RemedyBlocked = "blocked"

// planBlocked gives the owner that work, and takes it away when the run goes on.
func (u *unit) planBlocked(state string) {
	o := u.op
	waits := false
	for _, s := range u.siblings {
		waits = waits || s.StageNo > o.StageNo && !s.State.Closed()
	}
	if others, err := u.otherStages(); err == nil { // they were read before
		for _, r := range others {
			waits = waits || r.Batch != "" && r.No > o.StageNo && !r.State.Closed()
		}
	}
	switch {
	case state == string(operation.RunBlocked) && o.State.WithoutEffect() && o.State != o.was && waits && o.Remedy == "":
		o.Remedy, o.replanned = RemedyBlocked, true
	case o.Remedy == RemedyBlocked && (state != string(operation.RunBlocked) || !o.State.WithoutEffect()):
		o.Remedy, o.replanned = "", true
	}
}

// runState follows from all operations of the run.
func (u *unit) runState() (string, error) {
	rows, err := u.stageRows()
	if err != nil {
		return "", err
	}
	return string(operation.RunStateOf(stageFacts(u.flow, seenBy(u.flow, "", "", rows)), u.facts.RunState == string(operation.RunStopped))), nil
}
