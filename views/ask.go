package views

import (
	"holdpoint/operation"
	"holdpoint/views/text"
)

// hasMain reports whether the next decision has a form here.
func (p Panel) hasMain() bool {
	return p.Decide != nil || p.Reconcile != nil || p.Reexecution != nil || p.Recheck != nil || p.Remedy != nil
}

// hasOther reports whether anything else may, or may not, be done.
func (p Panel) hasOther(h Head) bool {
	return p.Edit != nil && !p.editFirst(h) || p.Replace != nil || p.Withdraw != nil || p.WithdrawRequest != nil || p.Cancel != nil || p.Pause != nil ||
		p.Resume != nil || p.Correct != nil || p.Grant != nil || p.Dispute != nil || p.Evidence != nil || p.Erase != nil || len(p.Barred) > 0
}

// mayAnswer reports whether the viewer has a form of the next decision before them.
func (p Panel) mayAnswer() bool {
	return p.Decide != nil && p.Decide.Barred == nil || p.Reconcile != nil && p.Reconcile.Barred == nil ||
		p.Reexecution != nil && p.Reexecution.Barred == nil || p.Recheck != nil && p.Recheck.Barred == nil || p.Remedy != nil && p.Remedy.Barred == nil
}

// editFirst reports that writing the content is what is to be done next: a draft.
func (p Panel) editFirst(h Head) bool {
	return h.State == operation.Draft && p.Edit != nil && p.Edit.Barred == nil
}

// long reports that the panel is likely to be taller than a window. It then moves with
// the page, so that nothing of it is cut off.
func (p Panel) long() bool { return p.mayAnswer() || p.Reexecution != nil }

// askText is the question that the panel asks.
func askText(p *text.Printer, m OperationModel) string {
	switch {
	case m.Panel.Decide != nil:
		return p.T("panel.ask.approve", "Number", m.Panel.Decide.Number)
	case m.Panel.Reconcile != nil:
		return ExistsText(p, m.Panel.Reconcile.Effect, m.Panel.Reconcile.Destination)
	case m.Panel.Reexecution != nil:
		return p.T("panel.ask.reexecution", "Destination", m.Panel.Reexecution.Destination)
	case m.Panel.Recheck != nil:
		return p.T("panel.ask.recheck")
	case m.Panel.Remedy != nil && m.Head.Blocked != nil:
		return p.T("panel.ask.blocked")
	case m.Panel.Remedy != nil:
		return p.T("panel.ask.remedy")
	}
	return nextText(p, m.Head)
}

// waitText says what happens next where nothing is asked here.
func waitText(p *text.Printer, h Head, panel Panel) string {
	switch {
	case panel.editFirst(h):
		return p.T("panel.draft")
	case h.Next == operation.DecideNothing:
		return p.T("panel.closed")
	case h.originalLink() != nil:
		return p.T("held.waits.original")
	case h.Responsible.Kind == WhoSystem:
		return p.T("panel.system")
	}
	return p.T("panel.others", "Who", h.Responsible.In(p))
}

// neededText says how many approvals are needed and, with groups, from whom.
func neededText(p *text.Printer, f DecideForm) string {
	switch {
	case len(f.Groups) == 0:
		return p.N("decide.needed", f.Required)
	case f.Required == len(f.Groups):
		return p.N("groups.needed_each", f.Required)
	}
	return p.N("groups.needed", f.Required)
}

// decideEffect says in words what an approval lets happen.
func decideEffect(p *text.Printer, f DecideForm) string {
	switch {
	case f.Given+1 < f.Required:
		return p.N("decide.more_needed", f.Required-f.Given-1)
	case f.Batch != nil:
		return batchEffect(p, f)
	case f.Recipients > 0:
		return p.N("decide.effect_mail", f.Recipients, "Destination", f.Destination)
	}
	return p.T("decide.effect_request", "Destination", f.Destination)
}

// checkText is the question of a checklist item.
func checkText(p *text.Printer, c CheckItem) string {
	if c.NoKey {
		return p.T("checklist.keyless")
	}
	if k := "checklist." + string(c.Item); text.Has(k) {
		return p.T(k)
	}
	return c.Ask
}

// slotKind and slotIcon draw an approval's box.
func slotKind(s Signature) string {
	switch {
	case !s.Given:
		return "open"
	case s.Decision == operation.Approve:
		return "given"
	}
	return "against"
}

func slotIcon(s Signature) string {
	if s.Decision == operation.Approve {
		return "confirmed"
	}
	return "rejected"
}
