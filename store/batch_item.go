package store

import (
	"slices"

	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// What holds the operations of a batch, as the locking statements say it.
const (
	batchPaused  = "paused"
	batchStopped = "stopped"
)

// seenBy gives the rows of a run as an operation of this stage and item looks at them: a
// fanned-out stage is its batch, but for items that follow the same item of it.
func seenBy(flow *definition.Flow, stage, item string, rows []stageRow) []stageRow {
	if !slices.ContainsFunc(rows, func(r stageRow) bool { return r.Batch != "" }) {
		return rows
	}
	followed := follows(flow, stage, item)
	out := make([]stageRow, 0, len(rows))
	for _, r := range rows {
		st, _ := stageOf(flow, r.Stage)
		if st.ForEach == nil || seenRow(&r, rows, r.Stage == stage, followed[r.Stage]) {
			out = append(out, r)
		}
	}
	return out
}

// seenRow reports whether a row of a fanned-out stage counts: of the own stage, of one whose
// items the operation's follow, or of another one. A batch that stands in for an item of its
// list which is no operation yet, or that may still come, is open.
func seenRow(r *stageRow, rows []stageRow, own, followed bool) bool {
	switch {
	case own:
		return r.Batch == ""
	case !followed:
		return r.Batch != ""
	case r.Batch == "":
		return true
	}
	if slices.ContainsFunc(rows, func(x stageRow) bool { return x.Batch == "" && x.Stage == r.Stage }) {
		return false
	}
	r.State = operation.InProgress
	return r.Here || r.Open || r.Waived
}

// follows names the stages whose same item an operation of this stage and item waits for.
func follows(flow *definition.Flow, stage, item string) map[string]bool {
	out := map[string]bool{}
	for item != "" {
		st, ok := stageOf(flow, stage)
		if !ok || st.ForEach == nil || !st.ForEach.SameItem || out[st.ForEach.Follows] {
			break
		}
		stage = st.ForEach.Follows
		out[stage] = true
	}
	return out
}

// waitsFor lists the earlier stages that keep an operation in the state waiting.
func waitsFor(flow *definition.Flow, o *opRow, rows []stageRow) []string {
	return keepWaiting(flow, o, earlierOpen(flow, o, rows))
}

// keepWaiting gives those of the open earlier stages that keep an operation in the state
// waiting. An item of a batch waits for the same item alone, which lets it go. Where it needs a
// whole stage the gate holds it, ready as it is, and nobody has to find it again among
// thousands.
func keepWaiting(flow *definition.Flow, o *opRow, open []string) (out []string) {
	if o.BatchID == "" {
		return open
	}
	followed := follows(flow, o.Stage, o.ItemKey)
	for _, stage := range open {
		if followed[stage] {
			out = append(out, stage)
		}
	}
	return out
}

// ownBatch is the batch that the operation, or the one that it replaces, is an item of; "" =
// none.
func (u *unit) ownBatch() operation.BatchID {
	if u.op.BatchID != "" || u.op.Replacement == 0 || u.op.ItemKey == "" {
		return u.op.BatchID
	}
	others, err := u.otherStages()
	if i := slices.IndexFunc(others, func(r stageRow) bool { return r.Batch != "" && r.Stage == u.op.Stage }); err == nil && i >= 0 {
		return others[i].Batch
	}
	return ""
}

// planItem plans what the change of an item of this batch, or of a replacement of one, means
// for the run. The run's state follows from the batches, so most changes mean nothing; an item
// that is open again leaves its stage unsatisfied, and what was read of the run before is stale.
func (u *unit) planItem(batch operation.BatchID) error {
	o := u.op
	if !o.was.Closed() || o.State.Closed() {
		return nil
	}
	rows, err := u.stageRows()
	if err != nil {
		return err
	}
	rows = slices.DeleteFunc(rows, func(r stageRow) bool { return r.Batch == batch || r.ID == o.ID })
	rows = append(rows, stageRow{Batch: batch, Stage: o.Stage, No: o.StageNo, State: operation.InProgress, Waived: u.waivers[o.Stage]})
	facts := stageFacts(u.flow, seenBy(u.flow, "", "", rows))
	u.w.batches = append(u.w.batches, map[string]any{"id": batch})
	u.writeRun(string(operation.RunStateOf(facts, u.facts.RunState == string(operation.RunStopped))))
	return u.tx.enter(u.actor, u.now, operation.SubjectBatch, string(batch), "item_reopened", "", "flow", o.Flow, "operation", string(o.ID), "run", string(o.RunID))
}

// submitItem puts an item that people must approve anew up for approval by itself: what
// they approved before was its batch.
func (u *unit) submitItem() error {
	if u.op.BatchID == "" || u.op.ClearanceID == "" {
		return nil
	}
	_, err := u.exec(`INSERT INTO submissions (version_id, operation_id, submitted_by, policy, submitted_at)
		SELECT c.version_id, c.operation_id, v.submitted_by, v.policy, CAST($3 AS timestamptz) FROM clearances c JOIN batch_versions v ON v.batch_id = c.batch_id AND v.number = c.batch_number
		WHERE c.id = $1 AND c.version_id = $2 AND v.policy IS NOT NULL ON CONFLICT (version_id) DO NOTHING`, string(u.op.ClearanceID), string(u.op.VersionID), u.now)
	return err
}
