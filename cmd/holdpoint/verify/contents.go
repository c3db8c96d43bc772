package verify

import (
	"fmt"

	"holdpoint/operation"
	"holdpoint/store"
)

// Bodies counts what approvals and statements rest on.
type Bodies struct {
	Whole  int64 `json:"whole"`  // there, with the hash that was recorded
	Erased int64 `json:"erased"` // gone, and the history tells of the erasure; the hash stays
}

// bound compares the hashes that stand beside versions and requests with those that the
// history holds of them: a content that was changed together with its hash is found by the
// entries that made it, put it up and approved it.
func (p *pass) bound() error {
	if p.Record == nil {
		return nil
	}
	return p.Record.UnboundHashes(func(u store.UnboundHash) error {
		f := Finding{What: Altered, Kind: operation.SubjectOperation, Subject: u.Operation, Seq: u.Seq, Row: u.ID, Detail: fmt.Sprintf("the hash of the %s %s is not the one that this entry holds", u.Kind, u.Of)}
		if u.Gone {
			f.What, f.Detail = Removed, fmt.Sprintf("the %s %s, whose hash this entry holds, is gone", u.Kind, u.Of)
		}
		p.r.add(f)
		return nil
	})
}

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
			if !b.Recorded {
				f.What, f.Detail = Removed, fmt.Sprintf("the %s %s is gone, and the history tells of no erasure", b.Kind, b.ID)
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
