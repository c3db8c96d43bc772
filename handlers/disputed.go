package handlers

import (
	"encoding/hex"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// disputedNote says of a disputed operation what reports the effect although it is disputed;
// nil = it is not disputed.
func disputedNote(p *store.OperationPage) *views.Disputed {
	if !p.Facts.Disputed {
		return nil
	}
	at, e := disputeOf(p)
	d := &views.Disputed{Still: at != nil && at.ActorKind == operation.ActorPerson}
	if e != nil {
		d.Told, d.At, d.Reference = e.Kind, e.At, views.Link{Label: e.Reference, URL: safeURL(e.Link)}
	}
	return d
}

// disputeOf is the entry by which the operation is disputed, with what reports the effect
// since; nil = there is none.
func disputeOf(p *store.OperationPage) (at *store.HistoryRow, told *store.EvidenceRow) {
	for i := len(p.History) - 1; i >= 0; i-- {
		if p.History[i].Action == string(operation.EvDispute) {
			return &p.History[i], reported(p, p.History[i].At)
		}
	}
	return nil, nil
}

// reported is the evidence, since the operation was disputed, that the effect exists: what the
// newest lookup that found it names, else the newest report with a reference, else the newest
// without one; nil = there is none. An effect that another operation has is none.
func reported(p *store.OperationPage, disputed time.Time) *store.EvidenceRow {
	others := map[string]bool{}
	for _, h := range p.History {
		if h.Action == "candidate" {
			others[h.EvidenceHash] = true
		}
	}
	var found *store.EvidenceRow
	for i := len(p.Evidence) - 1; i >= 0; i-- {
		e := &p.Evidence[i]
		if e.At.Before(disputed) {
			break
		}
		if operation.Reports(e.Kind, e.Result) && !others[hex.EncodeToString(e.Hash)] && (found == nil || tells(e) > tells(found)) {
			found = e
		}
	}
	return found
}

// tells ranks what reports an effect: one that the destination's own lookup names is before
// what is reported with a reference, and that before what names none.
func tells(e *store.EvidenceRow) int {
	switch {
	case e.Reference == "":
		return 0
	case e.Kind == "lookup":
		return 2
	}
	return 1
}

// foundReference is what the form "yes, one" is filled with: the effect that is reported
// although it is disputed.
func (b panelOf) foundReference() (id, link string) {
	if !b.p.Facts.Disputed {
		return "", ""
	}
	if _, e := disputeOf(b.p); e != nil {
		return e.Reference, safeURL(e.Link)
	}
	return "", ""
}

// mayDispute says why the viewer may not dispute how the operation ended, and names whoever
// may; nil = they may.
func (b panelOf) mayDispute() *operation.Refusal {
	reviewer := b.p.Flow2.Reviewer
	r := operation.MayBeginDispute(reviewer, b.n.viewer)
	if r != nil && reviewer.User != "" {
		r.Params["name"] = b.n.selector(reviewer).Name
	}
	return r
}

// whoDisputes refuses whoever may not dispute the operation of the address.
func (s *site) whoDisputes(c echo.Context) error {
	p, err := s.Store.FindOperation(c.Request().Context(), web.VisitOf(c).Actor(), operation.ID(c.Param("id")))
	if err != nil {
		return err
	}
	who, err := s.viewer(c, p.Flow)
	if err != nil {
		return err
	}
	if r := (panelOf{p: p, n: names{p.People, who}}).mayDispute(); r != nil {
		return r
	}
	return nil
}
