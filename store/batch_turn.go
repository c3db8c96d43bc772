package store

import (
	"slices"

	"holdpoint/operation"
)

// readTurn says whose turn it is with the batch, with all that holds it. It needs the page's
// counts and what stands beside the batch.
func (p *BatchPage) readTurn(c *batchChange) error {
	stand := c.standOf(p.Batch, p.Counts, p.Waived != nil)
	key := p.holder()
	if key != "" {
		holder, err := p.holderOf(c, key)
		if err != nil {
			return err
		}
		stand.Holder = &holder
	}
	p.Turn = operation.TurnOf(stand)
	return nil
}

// holder is the earlier stage that holds the batch as a whole, else the one for whose items
// its own wait; "" = none.
func (p *BatchPage) holder() string {
	if p.Stage2.ForEach == nil || len(p.Earlier) == 0 {
		return ""
	}
	items := p.itemStages()
	if i := slices.IndexFunc(p.Earlier, func(key string) bool { return !slices.Contains(items, key) }); i >= 0 {
		return p.Earlier[i]
	}
	return p.Earlier[0]
}

// itemStages are the stages whose same item the items of this one wait for.
func (p *BatchPage) itemStages() []string {
	if p.Stage2.ForEach == nil || !p.Stage2.ForEach.SameItem {
		return nil
	}
	return followed(p.Def, p.Stage)
}

func (p *BatchPage) holderOf(c *batchChange, key string) (operation.BatchHolder, error) {
	out := operation.BatchHolder{Stage: key, Items: slices.Contains(p.itemStages(), key)}
	for _, x := range p.Batches {
		if x.Stage == key {
			counts, err := c.countBatches([]Batch{x})
			out.Batch, out.Turn = x.ID, operation.TurnOf(c.standOf(x, counts[x.ID], false))
			return out, err
		}
	}
	for _, o := range p.Siblings {
		if o.Stage == key {
			out.Op, out.Turn.Next = o.ID, o.Next()
			if out.Turn.Next.Kind == operation.DecideNothing {
				out.Turn.Next = operation.NextDecision{Kind: operation.DecideRemedy, Who: c.people(c.op).Owner}
			}
		}
	}
	return out, nil
}

// standOf is how a batch of the run stands, without what holds it.
func (c *batchChange) standOf(b Batch, n BatchCounts, waived bool) operation.BatchStand {
	return operation.BatchStand{State: b.State, Paused: b.Paused(), Stopped: b.Stopped(), Satisfied: b.Satisfied, Waived: waived, Later: c.flow.Stages[len(c.flow.Stages)-1].Key != b.Stage, ToCome: n.Waiting, States: n.States,
		Next: b.Next(), People: c.people(&opRow{Flow: b.Flow, Stage: b.Stage})}
}
