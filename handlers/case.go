package handlers

import (
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
)

// reconcile is the reviewer's form. While the outcome is still being looked up it is
// offered only to those who may take it over.
func (b panelOf) reconcile() *views.ReconcileForm {
	if b.p.State != operation.Review && b.p.State != operation.Unknown {
		return nil
	}
	barred := operation.MayReconcile(b.p.State, b.p.Flow2.Reviewer, b.n.viewer)
	if barred != nil && b.p.State == operation.Unknown {
		return nil
	}
	if barred == nil {
		barred = b.inHand()
	}
	form, t := b.form("reconcile")
	form.Barred = barred
	done := evidenceFields(t, "done_")
	reference, link := b.foundReference()
	done.Link = t.or("done_link", link)
	gen := operation.NextGeneration(b.p.KeyGeneration, b.p.Facts.Protection, b.p.Facts.KeyFirst, b.p.StoredError, b.p.Now)
	return &views.ReconcileForm{
		Form: form, Finding: views.Finding(t.val("finding")), Destination: b.p.Profile.Title.In(b.lang), Effect: b.p.EffectType,
		Reference: t.or("done_reference", reference), DoneEvidence: done,
		Checklist: b.checklist(t), NotDoneEvidence: evidenceFields(t, "not_done_"), Then: views.Then(t.val("then")), NotDoneReason: t.val("not_done_reason"),
		NotDoneBarred: tooEarly(b.p), Generation: gen, Key: b.key(gen),
		References: t.val("duplicate_references"), DuplicateEvidence: evidenceFields(t, "duplicate_"),
		HoldUntil: t.val("hold_until"), HoldReason: t.val("hold_reason"),
		Focus: b.settling, NextStage: b.nextStage(), SecondPerson: b.secondPerson(), SendAgain: b.sendAgain(),
	}
}

// nextStage is the title of the stage that waits for this one.
func (b panelOf) nextStage() string {
	if next := b.p.StageNo + 1; next < len(b.p.Flow2.Stages) && !b.p.Adopted {
		return b.p.Flow2.Stages[next].Title.In(b.lang)
	}
	return ""
}

// secondPerson is who must permit a re-execution: never the one who asks.
func (b panelOf) secondPerson() views.Who {
	w := b.n.selector(b.p.Flow2.Reexecution.Approvers)
	if w.You && w.Kind == views.WhoRole {
		w.You, w.Another = false, true
	}
	return w
}

// sendAgain says why nobody can simply send again, and what it takes.
func (b panelOf) sendAgain() *views.SendAgain {
	a := &views.SendAgain{Destination: b.p.Profile.Title.In(b.lang), Effect: b.p.EffectType, Who: b.secondPerson()}
	if quiet := settleUntil(b.p); quiet.After(b.p.Now) {
		a.NotBefore = quiet
	}
	pr := protectionView(b.p)
	switch {
	case b.p.Adopted && b.p.AttemptsEver == 0:
		a.Why = "adopted"
	case !b.p.EverUnproven:
		a.Why = "proven"
	case !pr.Key:
		a.Why = "keyless"
	case pr.Retention == 0:
		a.Why = "unpublished"
	case !pr.Proven:
		a.Why = "unproven"
	case pr.Expired:
		a.Why, a.At = "expired", pr.Until
	default:
		a.Why = "used_up"
	}
	return a
}

// key is the idempotency key that a further request would carry; "" = the action sends
// none, so that nothing protects a repeat.
func (b panelOf) key(generation int) string {
	if !b.p.Facts.Protection.Key {
		return ""
	}
	return operation.DestinationKey(b.p.ID, generation)
}

// tooEarly says why "not done" cannot be stated yet whatever the checklist says: an
// attempt is open, or an earlier request may still take effect.
func tooEarly(p *store.OperationPage) *operation.Refusal {
	r := operation.MayConfirmNotDone(p.Facts, nil, nil, p.Now)
	if r == nil || r.Code == operation.CodeChecklist {
		return nil
	}
	return r
}

// settleUntil is until when an earlier request may still take effect; zero = it cannot.
func settleUntil(p *store.OperationPage) time.Time {
	f := p.Facts
	f.State, f.OpenAttempt = operation.Unknown, ""
	r := operation.MayConfirmNotDone(f, nil, nil, p.Now)
	if r == nil || r.Code != operation.CodeSettling {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, r.Params["at"])
	if err != nil {
		return time.Time{}
	}
	return at
}

// checklist lists the questions with what was answered in this round, or typed.
func (b panelOf) checklist(t typed) []views.CheckItem {
	last := map[operation.ChecklistItem]operation.Answer{}
	for _, a := range b.p.Answers {
		last[a.Item] = a
	}
	var out []views.CheckItem
	add := func(item operation.ChecklistItem, ask string) {
		c := views.CheckItem{Item: item, Ask: ask, Hint: b.checkHint(item), NoKey: item == operation.CheckKey && !b.p.Facts.Protection.Key}
		if a, ok := last[item]; ok {
			c.Comment, c.By, c.At = a.Comment, b.n.person(string(a.User)), a.At
			if c.Answer = "no"; a.Yes {
				c.Answer = "yes"
			}
		}
		c.Attachments = ofAnswer(b.p, b.n, item)
		if item == operation.CheckCause {
			c.Known = b.known()
		}
		if t.fields != nil {
			c.Answer, c.Comment = t.val("check_"+string(item)), t.val("note_"+string(item))
		}
		out = append(out, c)
	}
	for _, item := range operation.Checklist {
		add(item, "")
	}
	for _, x := range b.p.Flow2.ChecklistExtra {
		add(operation.ChecklistItem(x.Key), x.Ask.In(b.lang))
	}
	return out
}

// checkHint is what is known here about a question.
func (b panelOf) checkHint(item operation.ChecklistItem) string {
	switch item {
	case operation.CheckOperationID:
		return string(b.p.ID)
	case operation.CheckKey:
		if b.p.Facts.Protection.Key {
			return b.p.Facts.Key
		}
	case operation.CheckCause:
		if a := lastAttempt(b.p); a != nil {
			return a.Proof().Detail
		}
	}
	return ""
}

// answers reads the checklist from a form. Unanswered items are left out.
func answers(p *store.OperationPage, t typed) store.Answers {
	items := append([]operation.ChecklistItem{}, operation.Checklist...)
	for _, x := range p.Flow2.ChecklistExtra {
		items = append(items, operation.ChecklistItem(x.Key))
	}
	var out store.Answers
	for _, item := range items {
		switch t.val("check_" + string(item)) {
		case "yes":
			out = append(out, operation.Answer{Item: item, Yes: true, Comment: t.text("note_" + string(item))})
		case "no":
			out = append(out, operation.Answer{Item: item, Comment: t.text("note_" + string(item))})
		}
	}
	return out
}

func (b panelOf) mayDecideAgain() *operation.Refusal {
	_, why := b.capacitiesAgain()
	return why
}

// reexecution is the second person's form, with the whole case before their eyes.
func (b panelOf) reexecution() *views.ReexecutionForm {
	q := b.p.Request
	if b.p.State != operation.ReexecutionRequested || q == nil {
		return nil
	}
	form, t := b.form("reexecution")
	as, barred := b.capacitiesAgain()
	form.Barred = barred
	f := &views.ReexecutionForm{
		Form: form, As: as, Decision: t.val("decision"), Comment: t.val("comment"), Destination: b.p.Profile.Title.In(b.lang),
		Key: b.key(q.KeyGeneration), Generation: q.KeyGeneration, KeyKept: q.KeyGeneration == b.p.KeyGeneration,
		RequestedBy: b.n.person(string(q.By)), RequestedAt: q.At, Reason: q.Reason, Checklist: b.checklist(typed{}),
		Required: max(b.p.Flow2.Reexecution.Required, 1), FreshLookup: b.p.Facts.Protection.HasLookup, ApprovalExpiry: store.ReexecutionExpires,
	}
	for _, e := range b.p.Evidence {
		if e.Kind == "statement" {
			line := evidenceLine(b.n, e)
			line.Attachments = ofEvidence(b.p, b.n, e.ID)
			f.Evidence = append(f.Evidence, line)
		}
	}
	for _, a := range b.p.Approvals {
		if a.Request == string(q.ID) {
			f.Given = append(f.Given, signature(b.n, a))
		}
	}
	return f
}

// recheckAge is how old the last check before a re-execution may be (MODEL §5).
const recheckAge = 15 * time.Minute

// recheck asks for the checklist once more before an approved re-execution, where the
// destination offers no lookup and the last answers are too old.
func (b panelOf) recheck() *views.RecheckForm {
	x := b.p.Facts.Reexecution
	if b.p.State != operation.Ready || x == nil || x.HasLookup || b.p.Now.Sub(x.CheckedAt) < recheckAge {
		return nil
	}
	form, t := b.form("recheck")
	if form.Barred = b.needs(b.p.Flow2.Reviewer.Role, b.p.Flow2.Reviewer.Role); form.Barred == nil {
		form.Barred = b.inHand()
	}
	list := b.checklist(t)
	if t.fields == nil {
		for i := range list {
			list[i].Answer = "" // every question is to be answered anew
		}
	}
	return &views.RecheckForm{Form: form, Checklist: list, CheckedAt: x.CheckedAt}
}
