package handlers

import (
	"encoding/hex"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
)

// disputedNote says of a disputed operation what reports the effect although it is disputed;
// nil = it is not disputed.
func disputedNote(p *store.OperationPage) *views.Disputed {
	if !p.Facts.Disputed {
		return nil
	}
	d := &views.Disputed{}
	if at := disputeOf(p); at != nil {
		d.Still = at.ActorKind == operation.ActorPerson
	}
	if e := reported(p); e != nil {
		d.Told, d.At, d.Reference = e.Kind, e.At, views.Link{Label: e.Reference, URL: safeURL(e.Link)}
	}
	return d
}

// disputeOf is the entry by which the operation is disputed.
func disputeOf(p *store.OperationPage) *store.HistoryRow {
	for i := len(p.History) - 1; i >= 0; i-- {
		if p.History[i].Action == string(operation.EvDispute) {
			return &p.History[i]
		}
	}
	return nil
}

// reported is the newest evidence, since the operation is disputed, that the effect exists;
// nil = there is none. An effect that another operation has is none.
func reported(p *store.OperationPage) *store.EvidenceRow {
	at := disputeOf(p)
	if at == nil {
		return nil
	}
	others := map[string]bool{}
	for _, h := range p.History {
		if h.Action == "candidate" {
			others[h.EvidenceHash] = true
		}
	}
	for i := len(p.Evidence) - 1; i >= 0; i-- {
		switch e := &p.Evidence[i]; {
		case e.At.Before(at.At):
			return nil
		case operation.Reports(e.Kind, e.Result) && !others[hex.EncodeToString(e.Hash)]:
			return e
		}
	}
	return nil
}

// foundReference is what the form "yes, one" is filled with: the effect that is reported
// although it is disputed.
func (b panelOf) foundReference() (id, link string) {
	if !b.p.Facts.Disputed {
		return "", ""
	}
	if e := reported(b.p); e != nil {
		return e.Reference, safeURL(e.Link)
	}
	return "", ""
}
