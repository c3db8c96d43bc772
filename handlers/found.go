package handlers

import (
	"encoding/hex"
	"slices"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
)

// foundColumn is what the destination says, and people's evidence. Of many lookups the
// first and the newest are shown.
func (b panelOf) foundColumn(want shown) views.Found {
	p, n := b.p, b.n
	f := views.Found{LookupLag: p.Facts.Protection.LookupLag, Protection: protectionView(p)}
	f.NoLookup = p.Action == nil || !p.Action.HasLookup()
	f.AcceptedOnly = p.Delivery == string(views.DeliveryAccepted)
	if p.LookupAt != nil && !p.State.Closed() {
		f.NextLookup = *p.LookupAt
	}
	for _, r := range p.References {
		by := views.SystemWho()
		if p.ConfirmedBy == string(views.ByPerson) {
			by = statedBy(p, n, r.Reference)
		}
		f.References = append(f.References, views.Reference{ID: r.Reference, URL: safeURL(r.URL), Effect: r.Effect, At: r.At, By: by})
	}
	for _, e := range p.Evidence {
		if e.Kind == "lookup" {
			f.Lookups = append(f.Lookups, lookupLine(e))
			f.References = append(f.References, candidates(p, e)...)
			continue
		}
		line := evidenceLine(n, e)
		line.Attachments = ofEvidence(p, n, e.ID)
		f.Evidence = append(f.Evidence, line)
	}
	from, to := views.Middle(len(f.Lookups), want.all == "lookups")
	f.Gap = views.Gap{After: from, Left: to - from, URL: pathOperation(p.ID) + "?all=lookups#q3"}
	f.Lookups = slices.Delete(f.Lookups, from, to)
	for _, l := range p.Links {
		if u := safeURL(l.URL); u != "" {
			f.LookYourself = append(f.LookYourself, views.Link{Label: l.Text.In(b.lang), URL: u})
		}
	}
	return f
}

// statedBy is the person whose evidence named the reference.
func statedBy(p *store.OperationPage, n names, reference string) views.Who {
	for _, e := range p.Evidence {
		if e.Kind == "statement" && e.Reference == reference {
			return n.person(e.By)
		}
	}
	return views.SystemWho()
}

func lookupLine(e store.EvidenceRow) views.LookupLine {
	found := e.Finding()
	l := views.LookupLine{Result: operation.LookupResult(e.Result), At: e.At, Count: len(found.Found), ID: e.Reference, URL: safeURL(e.Link)}
	if l.ID == "" {
		l.ID, l.URL = found.ID, safeURL(found.URL)
	}
	return l
}

// candidates are effects that a lookup found and that a person must still judge.
func candidates(p *store.OperationPage, e store.EvidenceRow) []views.Reference {
	if !p.State.Unresolved() {
		return nil
	}
	var out []views.Reference
	found := e.Finding()
	switch operation.LookupResult(e.Result) {
	case operation.LookupMismatch:
		if found.ID != "" {
			out = append(out, views.Reference{ID: found.ID, URL: safeURL(found.URL), Effect: p.EffectType, At: e.At, By: views.SystemWho(), Candidate: true})
		}
	case operation.LookupMany:
		for _, x := range found.Found {
			out = append(out, views.Reference{ID: x.ID, URL: safeURL(x.URL), Effect: p.EffectType, At: e.At, By: views.SystemWho(), Candidate: true})
		}
	}
	return out
}

func evidenceLine(n names, e store.EvidenceRow) views.EvidenceLine {
	l := views.EvidenceLine{ID: e.ID, Kind: views.EvidenceKind(e.Kind), At: e.At, By: n.person(e.By), Text: e.Body, Link: safeURL(e.Link), Hash: hex.EncodeToString(e.Hash)}
	if e.Kind == "late_report" {
		l.Kind = views.EvidenceLate
	}
	if e.Kind != "statement" && e.Reference != "" {
		l.Result, l.Reference = e.Result, e.Reference
	}
	l.Erased = e.Body == ""
	return l
}

func protectionView(p *store.OperationPage) views.ProtectionView {
	pr := p.Facts.Protection
	v := views.ProtectionView{Key: pr.Key, Lookup: pr.HasLookup, Proven: pr.Proven, Retention: pr.Retention, Generation: p.KeyGeneration}
	v.Unique = p.Action != nil && p.Action.Unique != ""
	if pr.Key { // elsewhere the key only names the operation
		v.FirstUsed = p.Facts.KeyFirst
	}
	v.Until = pr.Until(v.FirstUsed)
	v.Expired = !v.FirstUsed.IsZero() && (v.Until.IsZero() || !p.Now.Before(v.Until))
	if quiet := settleUntil(p); quiet.After(p.Now) && !p.State.Closed() {
		v.SettleUntil = quiet
	}
	return v
}
