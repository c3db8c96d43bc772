package handlers

import (
	"net/url"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
)

// operationHead is the top of an operation's page.
func operationHead(p *store.OperationPage, n names, lang string) views.Head {
	next := p.Next()
	h := views.Head{
		ID: p.ID, URL: pathOperation(p.ID), Title: titleOf(p, lang),
		Flow: views.Link{Label: p.Flow2.Title.In(lang), URL: pathFlow(p.Flow)}, FlowVersion: p.FlowVersion,
		Run: views.Link{Label: shortID(string(p.RunID)), URL: pathRun(p.RunID)}, Stage: p.Stage2.Title.In(lang),
		State: p.State, Revision: p.Revision,
		ConfirmedBy: views.ConfirmedBy(p.ConfirmedBy), Duplicate: views.Duplicate(p.Duplicate), Delivery: views.DeliveryState(p.Delivery),
		Adopted: p.Adopted && !p.State.Closed(), Overdue: p.Overdue(p.Now),
		Next: next.Kind, Responsible: n.responsible(next.Who), Due: next.At,
		Destination: views.Link{Label: p.Profile.Title.In(lang), URL: pathDestination(p.Destination)}, Environment: p.Environment,
		Why: whyAsked(p, n, lang), WaitingFor: waitingFor(p, lang),
	}
	if p.State == operation.PendingApproval && p.Policy != nil {
		h.Number, h.Required, h.Given = p.VersionNo, max(p.Policy.Required, 1), p.Approved()
	}
	if p.BatchID != "" {
		h.Batch, h.BatchRow = &views.Link{Label: shortID(string(p.BatchID)), URL: pathBatch(p.BatchID)}, p.BatchNo
	}
	run := views.Link{Label: shortID(string(p.RunID)), URL: pathRun(p.RunID)}
	if p.Remedy == store.RemedyBlocked && p.State.WithoutEffect() {
		h.Blocked = &run
	}
	if stage := earlierClosed(p); stage != "" {
		h.EarlierClosed = &views.Link{Label: stage, URL: run.URL}
		if st, ok := p.Flow2.Stage(stage); ok {
			h.EarlierClosed.Label = st.Title.In(lang)
		}
	}
	for _, x := range p.Pauses {
		h.Paused = append(h.Paused, views.PausedBy{Scope: views.PauseScope(x.Kind), Who: n.person(x.By), Since: x.At, Reason: x.Reason})
	}
	if p.State == operation.Review && p.HoldUntil != nil && p.HoldUntil.After(p.Now) {
		h.HoldUntil, h.HoldReason = *p.HoldUntil, holdReason(p)
	}
	h.Contradiction, h.Disputed = contradictionOf(p, n), disputedNote(p)
	if k := p.LastCase; k != nil {
		h.Case = &views.Link{Label: operation.CaseNumber(k.Number), URL: pathCase(k.ID)}
		if k.Open() && k.TakenBy != "" {
			h.CaseWith = n.person(string(k.TakenBy))
		}
	}
	lineageHead(&h, p)
	for _, x := range p.Suppressed {
		h.Suppressed = append(h.Suppressed, views.SuppressedPerson{Address: x.Address, Reason: x.Reason, URL: views.PathSuppressions + "?" + url.Values{"search": {x.Address}}.Encode(), Held: p.Facts.Suppressed})
	}
	return h
}

// lineageHead says what the operation replaces and what replaced it, and which of those
// stands in its way.
func lineageHead(h *views.Head, p *store.OperationPage) {
	line, own := p.Lineage()
	for _, m := range line {
		if string(m.ID) == p.Replaces {
			h.Replaces = operationLink(m.ID)
		}
		if m.Replaces == p.ID {
			h.ReplacedBy = operationLink(m.ID)
		}
	}
	open, done := line.Earlier(own)
	if p.State.Closed() {
		open = ""
	}
	if p.State.Closed() && p.State != operation.Cancelled {
		done = ""
	}
	var at operation.ID
	switch {
	case open != "":
		h.Original, at = "open", open
	case done != "":
		h.Original, at = "done", done
	}
	if at != "" && string(at) != p.Replaces {
		h.Before = operationLink(at)
	}
	doubt, since := line.Later(own)
	switch {
	case p.State.Closed():
	case since != "":
		h.Since, h.SinceStands = operationLink(since), "done"
	case doubt != "":
		h.Since, h.SinceStands = operationLink(doubt), "open"
	}
}

func operationLink(id operation.ID) *views.Link {
	return &views.Link{Label: shortID(string(id)), URL: pathOperation(id)}
}

func titleOf(p *store.OperationPage, lang string) string {
	if p.Title != "" {
		return p.Title
	}
	return p.Stage2.Title.In(lang)
}

// shortID is an identifier as headings show it: its prefix and its last eight places.
func shortID(id string) string {
	if len(id) <= 16 {
		return id
	}
	return id[:4] + "…" + id[len(id)-8:]
}

// whyAsked says why a person is asked: what the gate says of another automatic try.
func whyAsked(p *store.OperationPage, n names, lang string) views.Say {
	if p.State != operation.Review {
		return views.Say{}
	}
	last := lastAttempt(p)
	switch {
	case p.Duplicate == string(views.DuplicateSuspected):
		return refused(operation.Refuse(operation.CodeDuplicate).By(p.Next().Who), p.Flow2, lang, n.people)
	case p.Facts.Disputed || last == nil:
		return views.Say{}
	case last.Permanent:
		return refused(operation.Refuse(operation.CodePermanent).By(p.Next().Who), p.Flow2, lang, n.people)
	}
	if r := operation.WhyAsked(p.Facts, p.Now); r != nil {
		return refused(r, p.Flow2, lang, n.people)
	}
	return views.Say{}
}

func lastAttempt(p *store.OperationPage) *store.AttemptView {
	if len(p.Attempts) == 0 {
		return nil
	}
	return &p.Attempts[len(p.Attempts)-1]
}

// holdReason is what was said when the review was put on hold.
func holdReason(p *store.OperationPage) string {
	for i := len(p.History) - 1; i >= 0; i-- {
		if p.History[i].Action == string(operation.EvHold) {
			return p.History[i].Reason
		}
	}
	return ""
}

// waitingFor leads to the earlier stage that is not satisfied yet.
func waitingFor(p *store.OperationPage, lang string) *views.Link {
	if p.State != operation.Waiting || len(p.Facts.EarlierOpen) == 0 {
		return nil
	}
	key := p.Facts.EarlierOpen[0]
	link := &views.Link{Label: key, URL: pathRun(p.RunID)}
	if st, ok := p.Flow2.Stage(key); ok {
		link.Label = st.Title.In(lang)
	}
	if p.HolderBatch != "" {
		link.URL = pathBatch(p.HolderBatch)
	}
	for _, s := range p.Siblings {
		if s.Stage == key {
			link.URL = pathOperation(s.ID) // the last one is the newest replacement
		}
	}
	return link
}

// earlierClosed is the key of the first earlier stage that is closed without effect, so
// that this one is not sent until its owner says how the run goes on; "" = none.
func earlierClosed(p *store.OperationPage) string {
	if p.State != operation.Draft && p.State != operation.PendingApproval && p.State != operation.Waiting {
		return ""
	}
	for _, key := range p.Facts.EarlierOpen {
		closed := false
		for _, s := range p.Siblings { // replacements stand after their originals
			if s.Stage == key {
				closed = s.State.WithoutEffect()
			}
		}
		if closed {
			return key
		}
	}
	return ""
}

// stageStrip lists the run's stages, each by its newest operation.
func stageStrip(p *store.OperationPage, lang string) []views.StageLink {
	newest := map[string]store.OperationSummary{}
	for _, s := range p.Siblings {
		newest[s.Stage] = s
	}
	if s, ok := newest[p.Stage]; !ok || s.Replacement < p.Replacement {
		newest[p.Stage] = p.OperationSummary
	}
	var out []views.StageLink
	for i, st := range p.Flow2.Stages {
		s, ok := newest[st.Key]
		if !ok {
			if p.Adopted {
				continue
			}
			out = append(out, views.StageLink{Number: i + 1, Title: st.Title.In(lang), State: operation.Waiting})
			continue
		}
		out = append(out, views.StageLink{Number: i + 1, Title: st.Title.In(lang), URL: pathOperation(s.ID), State: s.State, Current: s.ID == p.ID})
	}
	return out
}
