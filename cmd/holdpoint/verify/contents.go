package verify

import (
	"fmt"
	"slices"

	"holdpoint/operation"
	"holdpoint/store"
)

// Bodies counts what approvals and statements rest on.
type Bodies struct {
	Whole  int64 `json:"whole"`  // there, with the hash that was recorded
	Erased int64 `json:"erased"` // gone, of a closed operation or with a recorded erasure; the hash stays
}

var closed = []operation.State{operation.Confirmed, operation.Rejected, operation.Cancelled, operation.NotExecuted}

// contents compares bodies with the hashes that were recorded for them.
func (p *pass) contents() error {
	if !p.Contents || p.Record == nil {
		return nil
	}
	p.r.Bodies = &Bodies{}
	return p.Record.Bodies(func(b store.BodyRow) error {
		f := Finding{What: Altered, Kind: operation.SubjectOperation, Subject: b.Operation, Detail: fmt.Sprintf("the %s %s is not what its recorded hash says", b.Kind, b.ID)}
		if b.Erased {
			p.r.Bodies.Erased++
			if !b.Recorded && !slices.Contains(closed, operation.State(b.State)) {
				f.What, f.Detail = Removed, fmt.Sprintf("the %s %s is gone although its operation is not closed", b.Kind, b.ID)
				p.r.add(f)
			}
			return nil
		}
		whole, err := b.Check()
		if err != nil {
			return err
		}
		if !whole {
			p.r.add(f)
			return nil
		}
		p.r.Bodies.Whole++
		return nil
	})
}
