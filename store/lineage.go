package store

import "holdpoint/operation"

// lineageOf gives the lineage of an operation, as the rows of its run tell.
func lineageOf(o *opRow, rows []stageRow) (line operation.Lineage, own operation.Member) {
	own = memberOf(rowOf(o, nil))
	line = operation.Lineage{own}
	for _, r := range rows {
		if r.Batch == "" && r.ID != o.ID && r.Stage == o.Stage && r.Item == o.ItemKey {
			line = append(line, memberOf(r))
		}
	}
	return line, own
}

func memberOf(r stageRow) operation.Member {
	return operation.Member{ID: r.ID, Replaces: r.Replaces, Number: r.Replacement, State: r.State, Deliberate: r.Deliberate, InDoubt: r.Doubt}
}

// stand tells the gate how the others of the lineage stand towards an operation.
func stand(f *operation.Facts, o *opRow, rows []stageRow) {
	line, own := lineageOf(o, rows)
	open, done := line.Earlier(own)
	doubt, since := line.Later(own)
	f.OriginalOpen, f.OriginalDone, f.ReplacementOpen, f.ReplacementDone = open != "", done != "", doubt != "", since != ""
}

// Lineage gives the operation with all that it replaces and that replaced it.
func (p *OperationPage) Lineage() (line operation.Lineage, own operation.Member) {
	rows := make([]stageRow, len(p.Siblings))
	for i, s := range p.Siblings {
		rows[i] = rowOf(&s.opRow, nil)
	}
	return lineageOf(&p.opRow, rows)
}

// lineageRow is one operation of a lineage, as it stands in the transaction.
type lineageRow struct {
	ID          operation.ID    `db:"id"`
	Replaces    operation.ID    `db:"replaces"`
	Replacement int             `db:"replacement"`
	State       operation.State `db:"state"`
	Deliberate  bool            `db:"deliberate"`
	Sent        bool            `db:"sent"` // ever, or adopted, or its effect exists
}

type lineageRows []lineageRow

// readLineage reads the lineage of the locked operation. Its run is locked, so that nobody else
// can add to it.
func (u *unit) readLineage() (lineageRows, error) {
	var out lineageRows
	err := u.list(&out, `SELECT o.id, COALESCE(o.replaces, '') AS replaces, o.replacement, o.state, o.deliberate,
		o.adopted OR o.state = 'confirmed' OR EXISTS (SELECT 1 FROM attempts t WHERE t.operation_id = o.id AND t.dispatched_at IS NOT NULL) AS sent
		FROM operations o WHERE o.run_id = $1 AND o.stage = $2 AND o.item_key = $3 ORDER BY o.replacement`, string(u.op.RunID), u.op.Stage, u.op.ItemKey)
	return out, err
}

// sentBefore reports that something before the n-th replacement was ever sent.
func (l lineageRows) sentBefore(n int) bool {
	for _, r := range l {
		if r.Replacement < n && r.Sent {
			return true
		}
	}
	return false
}

// original is what a new replacement of o looks at.
func (l lineageRows) original(o *opRow, deliberate bool) operation.Original {
	line := make(operation.Lineage, len(l))
	for i, r := range l {
		line[i] = operation.Member{ID: r.ID, Replaces: r.Replaces, Number: r.Replacement, State: r.State, Deliberate: r.Deliberate}
	}
	return line.Original(o.ID, l.sentBefore(len(l)), deliberate)
}

// replacedParties are the natural persons of whatever stands before the operation in its lineage.
func (u *unit) replacedParties() (out []operation.UserID, err error) {
	line, err := u.readLineage()
	if err != nil {
		return nil, err
	}
	for _, r := range line {
		if r.Replacement >= u.op.Replacement {
			continue
		}
		parties, err := u.caseParties(r.ID, true)
		if err != nil {
			return nil, err
		}
		out = append(out, parties...)
	}
	return out, nil
}

// maySendOnceMore refuses a re-execution that the gate would refuse for a reason which no
// waiting of its own changes: its recipient is suppressed, or what replaced it stands in
// its way.
func (u *unit) maySendOnceMore() error {
	f, err := u.gateFacts()
	if err != nil {
		return err
	}
	if r := operation.MaySendOnceMore(f); r != nil {
		return r
	}
	return nil
}
