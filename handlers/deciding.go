package handlers

import (
	"holdpoint/operation"
	"holdpoint/views"
)

// capacities are those in which the viewer may approve now: for themselves first, then for
// each person whose approvals they hold. Without any, the refusal says why.
func (b panelOf) capacities() (list []views.Option, why *operation.Refusal) {
	own := b.mayDecide(operation.Approve)
	if own == nil {
		list = append(list, views.Option{})
	}
	why = own
	for _, r := range b.received {
		switch x := operation.MayDecideAs(b.p.State, b.policy(), r.Capacity, b.p.Parties, b.p.Given(), operation.Approve); {
		case x == nil:
			list = append(list, views.Option{Value: string(r.For.ID), Label: r.Name})
		case own != nil && own.Code == operation.CodeNotEntitled && x.Code != operation.CodeDelegation:
			why = x // they were given the right, and something else stands in the way
		}
	}
	if len(list) > 0 {
		return list, nil
	}
	return nil, why
}

// policy is what the current version was submitted under, else the stage's.
func (b panelOf) policy() operation.Policy {
	if b.p.Policy != nil {
		return *b.p.Policy
	}
	return operation.Policy{Approvers: b.p.Stage2.Approval.Approvers, Groups: b.p.Stage2.Approval.Groups}
}

// decide is the approvers' decision, or why it is not the viewer's.
func (b panelOf) decide() *views.DecideForm {
	if b.p.State != operation.PendingApproval || b.p.Current() == nil {
		return nil
	}
	form, t := b.form("decide")
	f := &views.DecideForm{Decision: operation.Decision(t.val("decision")), Comment: t.val("comment"),
		Number: b.p.VersionNo, Required: max(b.policy().Required, 1), Destination: b.p.Profile.Title.In(b.lang), Expired: b.expired(),
		Presets: map[operation.Decision][]views.Preset{}, Apart: b.apart()}
	f.As, form.Barred = b.capacities()
	f.Form = form
	for i, o := range f.As {
		f.As[i].Selected = o.Value == t.val("for")
	}
	for _, d := range []operation.Decision{operation.Approve, operation.RequestChanges, operation.Reject} {
		f.Presets[d] = presetsOf(b.p.Stage2, d, t.val("reason_"+string(d)), b.lang)
	}
	f.Given = b.p.Approved()
	for _, g := range b.policy().Groups {
		f.Groups = append(f.Groups, g.Required)
	}
	f.Recipients = recipients(b.p)
	if next := b.p.StageNo + 1; next < len(b.p.Flow2.Stages) && !b.p.Adopted {
		f.NextStage = b.p.Flow2.Stages[next].Title.In(b.lang)
	}
	return f
}

// apart are the people who had a part in the content, where the policy keeps them apart
// from its approvers. The viewer is told why in a sentence of their own.
func (b panelOf) apart() []views.Who {
	if !b.policy().SeparateAuthor {
		return nil
	}
	var out []views.Who
	seen := map[operation.UserID]bool{b.n.viewer.ID: true, b.n.viewer.One(): true}
	for _, id := range b.p.Parties {
		if !seen[id] && b.p.People[string(id)] != "" {
			out = append(out, b.n.person(string(id)))
		}
		seen[id] = true
	}
	return out
}

// expired reports that this version was approved before and the approval ran out.
func (b panelOf) expired() bool {
	for i := len(b.p.History) - 1; i >= 0; i-- {
		if h := b.p.History[i]; h.Action == string(operation.EvExpire) && h.VersionID == b.p.VersionID {
			return h.Links()["cause"] != "withdrawn"
		}
	}
	return false
}

// withdraw takes back an approval of the current version that the viewer gave, or that
// was given for them. Where it cannot be taken back any more, the refusal says why.
func (b panelOf) withdraw() *views.ReasonForm {
	why := b.mayDecide(operation.Withdraw)
	if why != nil && !b.approvedOnce() {
		return nil // nothing of theirs to take back
	}
	form, t := b.form("withdraw")
	form.Barred = why
	f := &views.ReasonForm{Form: form, Reason: t.val("reason")}
	if b.p.State == operation.Unknown || b.p.State == operation.InProgress && b.p.DispatchedOpen {
		f.Effect = "do.withdraw_late_effect"
	}
	return f
}

// approvedOnce reports that an approval of the current version carries the viewer, and
// that it was not taken back.
func (b panelOf) approvedOnce() bool {
	for _, a := range b.p.Standing {
		if a.Decision == operation.Approve && (a.User == b.n.viewer.ID || a.For == b.n.viewer.ID) {
			return true
		}
	}
	return false
}

// capacitiesAgain are those in which the viewer may decide on a re-execution now; without
// any, the refusal says why.
func (b panelOf) capacitiesAgain() (list []views.Option, why *operation.Refusal) {
	sel := b.p.Flow2.Reexecution.Approvers
	var given []operation.Given
	for _, a := range b.p.Approvals {
		if b.p.Request != nil && a.Request == string(b.p.Request.ID) && a.Decision == operation.Approve {
			given = append(given, operation.Given{User: a.User, Decision: a.Decision, For: a.For})
		}
	}
	own := operation.MayDecideReexecutionAs(b.p.State, sel, operation.Own(b.n.viewer), b.p.CaseParties, given)
	if own == nil {
		list = append(list, views.Option{})
	}
	why = own
	for _, r := range b.received {
		switch x := operation.MayDecideReexecutionAs(b.p.State, sel, r.Capacity, b.p.CaseParties, given); {
		case x == nil:
			list = append(list, views.Option{Value: string(r.For.ID), Label: r.Name})
		case own != nil && own.Code == operation.CodeNotEntitled && x.Code != operation.CodeDelegation:
			why = x
		}
	}
	if len(list) > 0 {
		return list, nil
	}
	return nil, why
}
