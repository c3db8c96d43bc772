package handlers

import (
	"strconv"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
)

// panelOf builds the fourth part of an operation's page: what is decided next, and what
// this viewer may do. What may not be done carries the refusal that says why; the
// store decides again in its transaction.
type panelOf struct {
	p     *store.OperationPage
	n     names
	lang  string
	zone  *time.Location
	typed typed
	// keep is what was typed into a form that is not offered any more: it can still
	// be added as a note.
	keep string
	// received are the capacities in which the viewer decides for others in this flow.
	received []store.ActsFor
	// settling says that the viewer comes from the operation that they settled before.
	settling bool
	// back is the address to which the forms lead back; "" = the operation's own page.
	back string
	// causes are why the operation stopped, the newest first.
	causes []store.Cause
}

func (b panelOf) panel() views.Panel {
	return views.Panel{
		Yours:  b.p.NextKind != "" && b.mainBarred() == nil && (b.n.myTurn(b.p.Next().Who) || b.p.State == operation.PendingApproval || b.p.State == operation.ReexecutionRequested),
		Decide: b.decide(), Reconcile: b.reconcile(), Reexecution: b.reexecution(), Recheck: b.recheck(), Remedy: b.remedy(),
		Edit: b.edit(), Replace: b.replace(), Withdraw: b.withdraw(), WithdrawRequest: b.withdrawRequest(), Cancel: b.cancel(),
		Pause: b.pause(false), Resume: b.pause(true), Grant: b.grant(), Dispute: b.dispute(), Evidence: b.evidence(), Erase: b.erase(),
	}
}

// form gives one form's hidden fields and what was typed into it.
func (b panelOf) form(name string) (views.Form, typed) {
	t := b.typed.of(name)
	f := shownTo(newForm(t, pathOperation(b.p.ID)+"/"+name), b.n.viewer.ID)
	f.Return = b.back
	f.Revision = b.p.Revision
	if cur := b.p.Current(); cur != nil {
		f.Version, f.Hash = cur.ID, cur.HashHex()
	}
	return f, t
}

// mainBarred says why the next decision is not the viewer's; nil = it is, or it is
// nobody's.
func (b panelOf) mainBarred() *operation.Refusal {
	switch b.p.State {
	case operation.PendingApproval:
		_, why := b.capacities()
		return why
	case operation.Review, operation.Unknown:
		return operation.MayReconcile(b.p.State, b.p.Flow2.Reviewer, b.n.viewer)
	case operation.ReexecutionRequested:
		return b.mayDecideAgain()
	case operation.Draft:
		return b.mayEdit()
	}
	return nil
}

// head is the top of the page. Whoever holds the role but may not take the next
// decision is told that it lies with another person.
func (b panelOf) head() views.Head {
	h := operationHead(b.p, b.n, b.lang)
	h.Responsible = b.turn(h.Responsible)
	return h
}

// turn says of somebody who must decide next whether the viewer can be meant.
func (b panelOf) turn(w views.Who) views.Who {
	if w.You && w.Kind == views.WhoRole && b.mainBarred() != nil {
		w.You, w.Another = false, true
	}
	return w
}

// offers reports that the form of this name can still be sent by the viewer.
func (b panelOf) offers(p views.Panel, name string) bool {
	switch name {
	case "decide":
		return p.Decide != nil && p.Decide.Barred == nil
	case "reconcile":
		return p.Reconcile != nil && p.Reconcile.Barred == nil
	case "reexecution":
		return p.Reexecution != nil && p.Reexecution.Barred == nil
	case "recheck":
		return p.Recheck != nil && p.Recheck.Barred == nil
	}
	for form, f := range map[string]*views.ReasonForm{"withdraw": p.Withdraw, "withdraw-request": p.WithdrawRequest, "cancel": p.Cancel,
		"pause": p.Pause, "resume": p.Resume, "remedy": p.Remedy, "erase": p.Erase} {
		if form == name {
			return f != nil && f.Barred == nil
		}
	}
	return name == "grant" && p.Grant != nil && p.Grant.Barred == nil || name == "dispute" && p.Dispute != nil && p.Dispute.Barred == nil
}

func (b panelOf) mayDecide(d operation.Decision) *operation.Refusal {
	return operation.MayDecide(b.p.State, b.policy(), b.n.viewer, b.p.Parties, b.p.Given(), d)
}

// withdrawRequest is offered to every reviewer, also to the one who asked.
func (b panelOf) withdrawRequest() *views.ReasonForm {
	if b.p.State != operation.ReexecutionRequested || !b.p.Flow2.Reviewer.Matches(b.n.viewer) {
		return nil
	}
	form, t := b.form("withdraw-request")
	form.Barred = b.inHand()
	return &views.ReasonForm{Form: form, Reason: t.val("reason")}
}

// manages reports who may cancel, replace, go on without and close open work.
func (b panelOf) manages(more ...operation.Role) *operation.Refusal {
	f := b.p.Flow2
	roles := append([]operation.Role{f.Owner.Role, f.Reviewer.Role, operation.RoleOpsOwner, operation.RoleAdmin}, more...)
	return b.needs(f.Reviewer.Role, append(roles, b.p.Stage2.Approval.Roles()...)...)
}

// needs refuses whoever holds none of the roles, and names one that would do.
func (b panelOf) needs(name operation.Role, roles ...operation.Role) *operation.Refusal {
	for _, r := range roles {
		if b.n.viewer.Has(r) {
			return nil
		}
	}
	return operation.Refuse(operation.CodeNotEntitled, "role", string(name)).By(operation.Responsible{Role: name})
}

func (b panelOf) cancel() *views.ReasonForm {
	if b.p.State.Closed() || b.p.State == operation.Review || b.p.State == operation.ReexecutionRequested {
		return nil
	}
	form, t := b.form("cancel")
	form.Barred = b.manages(b.p.Flow2.Author.Role)
	if form.Barred == nil && operation.MayCancel(b.p.Facts, b.p.DispatchedOpen) != nil {
		form.Barred = operation.MayStop(b.p.Facts, b.p.DispatchedOpen)
	}
	return &views.ReasonForm{Form: form, Reason: t.val("reason"), Confirm: true}
}

// pause offers the pause of this operation, or its end.
func (b panelOf) pause(resume bool) *views.ReasonForm {
	if b.p.State.Closed() || b.p.Paused != resume {
		return nil
	}
	name := "pause"
	if resume {
		name = "resume"
	}
	form, t := b.form(name)
	form.Barred = b.needs(operation.RoleOpsOwner, operation.RoleOpsOwner, operation.RoleAdmin)
	f := &views.ReasonForm{Form: form, Reason: t.val("reason")}
	if !resume && b.p.State == operation.InProgress {
		f.InFlight = 1
	}
	return f
}

// edit leads to the page that makes a new version.
func (b panelOf) edit() *views.LinkAction {
	switch b.p.State {
	case operation.Draft, operation.PendingApproval, operation.Waiting, operation.Ready, operation.RetryScheduled, operation.Review:
	default:
		return nil
	}
	return &views.LinkAction{URL: pathOperation(b.p.ID) + "/edit", Barred: b.mayEdit()}
}

func (b panelOf) mayEdit() *operation.Refusal {
	f := b.p.Flow2
	if r := b.needs(f.Author.Role, append(b.p.Stage2.Approval.Roles(), f.Author.Role, f.Reviewer.Role, operation.RoleAuthor)...); r != nil {
		return r
	}
	return operation.MayEditAgain(b.p.Facts, b.p.EverUnproven)
}

// replace leads to the page that makes a new operation in place of a closed one.
func (b panelOf) replace() *views.LinkAction {
	if !b.p.State.Closed() {
		return nil
	}
	return &views.LinkAction{URL: pathOperation(b.p.ID) + "/replace", Barred: b.mayReplace()}
}

func (b panelOf) mayReplace() *operation.Refusal {
	if r := b.manages(b.p.Flow2.Author.Role); r != nil {
		return r
	}
	line, own := b.p.Lineage()
	_, r := operation.MayReplace(line.Original(own.ID, dispatchedEver(b.p) > 0 || b.p.Adopted, b.p.State == operation.Confirmed))
	return r
}

// dispatchedEver counts the attempts that were ever dispatched.
func dispatchedEver(p *store.OperationPage) int {
	n := 0
	for _, a := range p.Attempts {
		if a.DispatchedAt != nil {
			n++
		}
	}
	return n
}

func (b panelOf) grant() *views.GrantForm {
	if b.p.State != operation.Review || b.p.AttemptsEver == 0 || b.p.EverUnproven {
		return nil // it could never be granted: some request may have had effect
	}
	form, t := b.form("grant")
	st := operation.Statement{Who: b.n.viewer, Reviewer: b.p.Flow2.Reviewer, Reason: "given with the form"}
	form.Barred = operation.MayGrantAttempts(b.p.Facts, st, 1)
	if form.Barred == nil && b.p.ClearanceID == "" {
		form.Barred = operation.Refuse(operation.CodeNotApproved)
	}
	if form.Barred == nil {
		form.Barred = b.inHand()
	}
	return &views.GrantForm{Form: form, Attempts: t.or("attempts", "1"), Reason: t.val("reason")}
}

func (b panelOf) dispute() *views.DisputeForm {
	if !b.p.State.Closed() {
		return nil
	}
	form, t := b.form("dispute")
	form.Barred = b.mayDispute()
	return &views.DisputeForm{Form: form, EvidenceFields: evidenceFields(t, ""), Reference: t.val("reference")}
}

func (b panelOf) evidence() *views.EvidenceForm {
	if (b.p.State == operation.Draft || b.p.State == operation.PendingApproval) && b.keep == "" && !restored(b.p) {
		return nil
	}
	form, t := b.form("evidence")
	form.Barred = b.needs(operation.RoleAuthor, operation.RoleAuthor, operation.RoleApprover, operation.RoleOpsOwner, operation.RoleAdmin)
	fields := evidenceFields(t, "")
	if t.fields == nil {
		fields.Evidence = b.keep
	}
	states := operation.MayStateEffect(b.p.State, b.p.Flow2.Reviewer, b.n.viewer) == nil && b.inHand() == nil
	return &views.EvidenceForm{Form: form, States: states, Closed: b.p.State.Closed(), Disputed: b.p.Facts.Disputed, Kept: b.keep != "", EvidenceFields: fields, Reference: t.val("reference"), ReferenceURL: t.val("reference_url")}
}

func evidenceFields(t typed, prefix string) views.EvidenceFields {
	return views.EvidenceFields{How: views.How(t.val(prefix + "how")), Evidence: t.val(prefix + "evidence"), Link: t.val(prefix + "link")}
}

// remedy closes the open work on a closed operation.
func (b panelOf) remedy() *views.ReasonForm {
	if b.p.Remedy == "" || !b.p.State.Closed() {
		return nil
	}
	form, t := b.form("remedy")
	form.Barred = b.manages()
	return &views.ReasonForm{Form: form, Reason: t.val("reason")}
}

func itoa(n int) string { return strconv.Itoa(n) }
