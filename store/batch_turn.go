package store

import (
	"slices"

	"holdpoint/operation"
	"holdpoint/operation/definition"

	"github.com/lib/pq"
)

// turnRun is one run with batches, with all that decides whose turn each of them is.
type turnRun struct {
	batches []Batch  // all of the run, in the order of stages
	ops     []*opRow // that belong to no item
	waivers []WaiverRow
	waived  map[string]bool // their stages
	paused  halts
}

// turns is whose turn it is with batches, and what that was found by.
type turns struct {
	of     map[operation.BatchID]operation.BatchTurn
	counts map[operation.BatchID]BatchCounts // of all batches of their runs
	runs   map[operation.RunID]*turnRun
}

// turnsOf says whose turn each of the batches is, with all that holds it. It is the one rule:
// a batch's page, the lists, the run's page and the inbox all ask it. What is recorded as a
// batch's next decision is only a part of it, since it does not change with every item, nor
// with what happens in other stages.
func (t *tx) turnsOf(list []Batch) (turns, error) {
	out := turns{of: map[operation.BatchID]operation.BatchTurn{}}
	if len(list) == 0 {
		return out, nil
	}
	var err error
	if out.runs, err = t.turnRuns(list); err != nil {
		return out, err
	}
	var all []Batch
	for _, r := range out.runs {
		all = append(all, r.batches...)
	}
	if out.counts, err = t.countBatches(all); err != nil {
		return out, err
	}
	paused, err := t.haltsOf(all)
	if err != nil {
		return out, err
	}
	flows := map[string]*unit{}
	for _, r := range out.runs {
		r.paused = paused
		if err := r.turns(t, flows, out.counts, out.of); err != nil {
			return out, err
		}
	}
	return out, nil
}

// turnRuns reads the runs of the batches.
func (t *tx) turnRuns(list []Batch) (map[operation.RunID]*turnRun, error) {
	out := map[operation.RunID]*turnRun{}
	var ids []string
	for _, b := range list {
		if out[b.RunID] == nil {
			out[b.RunID] = &turnRun{waived: map[string]bool{}}
			ids = append(ids, string(b.RunID))
		}
	}
	var batches []Batch
	if err := t.list(&batches, `SELECT `+batchColumns+` FROM batches b WHERE b.run_id = ANY($1) ORDER BY b.stage_no`, pq.Array(ids)); err != nil {
		return nil, err
	}
	for _, b := range batches {
		out[b.RunID].batches = append(out[b.RunID].batches, b)
	}
	var ops []opRow
	if err := t.list(&ops, `SELECT `+opColumns+` FROM unnest(CAST($1 AS text[])) AS zr (run) CROSS JOIN LATERAL `+beside("zr.run", "''")+` o ORDER BY o.stage_no, o.replacement`, pq.Array(ids)); err != nil {
		return nil, err
	}
	for i := range ops {
		r := out[ops[i].RunID]
		r.ops = append(r.ops, &ops[i])
	}
	var waivers []struct {
		Run operation.RunID `db:"run_id"`
		WaiverRow
	}
	err := t.list(&waivers, `SELECT run_id, stage, reason, waived_by, waived_at FROM stage_waivers WHERE run_id = ANY($1)`, pq.Array(ids))
	for _, w := range waivers {
		r := out[w.Run]
		r.waivers, r.waived[w.Stage] = append(r.waivers, w.WaiverRow), true
	}
	return out, err
}

// turns says whose turn each batch of the run is, into out. Earlier stages come first: what
// holds a later one may be held itself.
func (r *turnRun) turns(t *tx, flows map[string]*unit, counts map[operation.BatchID]BatchCounts, out map[operation.BatchID]operation.BatchTurn) error {
	var rows []stageRow
	for _, o := range r.ops {
		rows = append(rows, rowOf(o, r.waived))
	}
	for i := range r.batches {
		rows = append(rows, batchStanding(&r.batches[i], r.waived))
	}
	for _, b := range r.batches {
		key := defKey(b.Flow, b.FlowVersion)
		if flows[key] == nil {
			f, err := t.s.flowVersion(t.ctx, t.Tx, b.Flow, b.FlowVersion)
			if err != nil {
				return err
			}
			u := &unit{tx: t}
			if err := t.get(&u.facts.Epoch, `SELECT epoch FROM installation`); err != nil {
				return err
			}
			if err := u.named(f, b.FlowVersion); err != nil {
				return err
			}
			flows[key] = u
		}
		out[b.ID] = r.turn(flows[key], b, rows, counts[b.ID], out)
	}
	return nil
}

// turn says whose turn one batch is; known are those of earlier stages.
func (r *turnRun) turn(u *unit, b Batch, rows []stageRow, n BatchCounts, known map[operation.BatchID]operation.BatchTurn) operation.BatchTurn {
	o := &opRow{Flow: b.Flow, Stage: b.Stage, StageNo: b.StageNo}
	canary := 0
	if st, ok := stageOf(u.flow, b.Stage); ok && st.ForEach != nil {
		canary = st.ForEach.Canary
	}
	later := func(x stageRow) bool { return x.No > b.StageNo && !x.State.Closed() }
	stand := operation.BatchStand{State: b.State, Paused: b.Paused(), Stopped: b.Stopped(), Satisfied: b.Satisfied, Waived: r.waived[b.Stage], Later: slices.ContainsFunc(rows, later),
		ToCome: toRelease(canary, b, n), States: n.States, Halted: r.paused.turn(b, u.due(o)), Next: b.Next(), People: u.people(o)}
	if key := holderStage(u.flow, b.Stage, earlierOpen(u.flow, o, rows)); key != "" {
		stand.Holder = r.holder(u, b, key, known)
	}
	turn := operation.TurnOf(stand)
	if turn.Kind == operation.TurnGoOn && b.ClosedAt != nil {
		turn.Since, turn.Next.At = *b.ClosedAt, b.ClosedAt.Add(u.due(o).Review)
	}
	return turn
}

// holderStage is the earlier stage that holds a batch as a whole, else the one for whose items
// its own wait; "" = none.
func holderStage(flow *definition.Flow, stage string, open []string) string {
	items := itemStages(flow, stage)
	if i := slices.IndexFunc(open, func(key string) bool { return !slices.Contains(items, key) }); i >= 0 {
		return open[i]
	}
	if len(open) > 0 {
		return open[0]
	}
	return ""
}

// itemStages are the stages whose same item the items of this one wait for.
func itemStages(flow *definition.Flow, stage string) []string {
	if st, ok := stageOf(flow, stage); !ok || st.ForEach == nil || !st.ForEach.SameItem {
		return nil
	}
	return followed(flow, stage)
}

// holder is the stage that holds the batch, and whose turn that is. Of one that is held itself,
// it is what holds that.
func (r *turnRun) holder(u *unit, b Batch, key string, known map[operation.BatchID]operation.BatchTurn) *operation.BatchHolder {
	out := &operation.BatchHolder{Stage: key, Items: slices.Contains(itemStages(u.flow, b.Stage), key)}
	if i := slices.IndexFunc(r.batches, func(x Batch) bool { return x.Stage == key }); i >= 0 {
		out.Batch, out.Turn = r.batches[i].ID, known[r.batches[i].ID]
		if up := out.Turn.Holder; up != nil {
			out.Stage, out.Batch, out.Op, out.Turn = up.Stage, up.Batch, up.Op, up.Turn
		}
		return out
	}
	for _, o := range r.ops { // the last one is the newest replacement
		if o.Stage == key && (out.Op == "" || !o.State.Closed()) {
			out.Op, out.Turn.Next = o.ID, OperationSummary{*o}.Next()
			if out.Turn.Next.Kind == operation.DecideNothing {
				out.Turn.Next = operation.NextDecision{Kind: operation.DecideRemedy, Who: u.people(o).Owner}
			}
		}
	}
	return out
}

// stageTurn says whose turn the batch of a stage of the run is; "" = no batch is made of it.
func (t *tx) stageTurn(run operation.RunID, stage string) (turn operation.BatchTurn, id operation.BatchID, err error) {
	var found []Batch
	if err := t.list(&found, `SELECT `+batchColumns+` FROM batches b WHERE b.run_id = $1 AND b.stage = $2`, string(run), stage); err != nil || len(found) == 0 {
		return turn, "", err
	}
	turns, err := t.turnsOf(found)
	return turns.of[found[0].ID], found[0].ID, err
}

// readTurn says whose turn it is with the batch of the page, with all that holds it.
func (p *BatchPage) readTurn(c *batchChange) error {
	t, err := c.turnsOf([]Batch{p.Batch})
	p.Turns, p.Turn, p.counts, p.run = t.of, t.of[p.ID], t.counts, t.runs[p.RunID]
	return err
}

// batchesUnsatisfiedSQL finds the batches that are closed and did not come to what their stage
// needs, while a later stage of the run waits for them and nobody said how it goes on.
var batchesUnsatisfiedSQL = `SELECT ` + batchColumns + ` FROM batches b WHERE b.state IN ('closed', 'rejected', 'cancelled') AND NOT b.satisfied AND b.stage_no < b.stages - 1
	AND ($1 OR b.flow = ANY($2)) AND NOT EXISTS (SELECT 1 FROM stage_waivers w WHERE w.run_id = b.run_id AND w.stage = b.stage)
	AND (EXISTS (SELECT 1 FROM batches l WHERE l.run_id = b.run_id AND l.stage_no > b.stage_no AND l.state NOT IN ('closed', 'rejected', 'cancelled'))
		OR EXISTS (SELECT 1 FROM operations l WHERE l.run_id = b.run_id AND l.stage_no > b.stage_no AND l.item_key = '' AND l.state IN ` + openStates + `))
	ORDER BY b.closed_at, b.id LIMIT $3`

// batchesElsewhere finds those whose next decision is not recorded with them and which this
// person makes, with it as their next: how a run goes on, and the end of a pause.
func (t *tx) batchesElsewhere(v Viewer) ([]Batch, error) {
	all, flows := v.seenFlows()
	var out []Batch
	for _, x := range []struct {
		query string
		kind  operation.BatchTurnKind
	}{{batchesUnsatisfiedSQL, operation.TurnGoOn}, {batchesHaltedSQL, operation.TurnResume}} {
		var found []Batch
		if err := t.list(&found, x.query, all, pq.Array(flows), 2*CountLimit); err != nil {
			return nil, err
		}
		turns, err := t.turnsOf(found)
		if err != nil {
			return nil, err
		}
		for _, b := range found {
			if turn := turns.of[b.ID]; turn.Kind == x.kind && v.Sees(b.Flow, b.Destination) && v.Holds(turn, b.Flow) {
				b.nextIs(turn)
				out = append(out, b)
			}
		}
	}
	return out, nil
}

// Holds reports that the viewer has the role whose turn it is with a batch of this flow.
func (v Viewer) Holds(turn operation.BatchTurn, flow string) bool {
	if turn.AllFlows {
		flow = ""
	}
	return v.In(flow).Has(turn.Next.Who.Role)
}

// nextIs makes this what is decided next about the batch.
func (b *Batch) nextIs(turn operation.BatchTurn) {
	n := turn.Next
	b.NextKind, b.NextRole, b.NextUser, b.NextSystem, b.NextAt, b.NextSince = string(n.Kind), n.Who.Role, n.Who.User, n.Who.System, timePtr(n.At), timePtr(turn.Since)
}
