package store

import (
	"holdpoint/operation"
)

// planBatch gives a batch its one next decision. p is the policy that is asked and given
// what stands; nil = the stage's, and nothing. moved: its state is a new one, so that the
// decision's time begins anew.
func (u *unit) planBatch(b *Batch, p *operation.Policy, given []operation.Given, moved bool) {
	o := &opRow{Flow: b.Flow, Stage: b.Stage}
	who, due := u.people(o), u.due(o)
	var d operation.NextDecision
	switch {
	case b.State.Closed():
	case b.State == operation.BatchDraft:
		d = operation.NextDecision{Kind: operation.DecideComplete, Who: who.Author, At: u.now.Add(due.Draft)}
	case b.State == operation.BatchPendingApproval || b.State == operation.BatchCanaryReview:
		d = operation.NextDecision{Kind: operation.DecideApprove, Who: who.Approvers, At: u.now.Add(due.Approve)}
		if p != nil {
			d.Who = responsible(p.Asks(given), u.who)
		}
	case b.Paused() && !b.Stopped():
		d = operation.NextDecision{Kind: operation.DecideResume, Who: who.Owner, At: u.now.Add(due.Review)}
	default:
		d = operation.NextDecision{Kind: operation.DecideTake, Who: operation.Responsible{System: true}, At: u.now}
	}
	if d.Kind != operation.DecideNothing && d.Who == (operation.Responsible{}) {
		d.Who = operation.Responsible{Role: operation.RoleAdmin}
	}
	if moved || string(d.Kind) != b.NextKind {
		b.NextSince, b.NextAt = timePtr(u.now), timePtr(d.At)
		if d.Kind == operation.DecideNothing {
			b.NextSince, b.NextAt = nil, nil
		}
	}
	b.NextKind, b.NextRole, b.NextUser, b.NextSystem = string(d.Kind), d.Who.Role, d.Who.User, d.Who.System
}
