package operation

import "slices"

// BatchAct is what a person does to a batch as a whole.
type BatchAct string

// The acts.
const (
	BatchActPause  BatchAct = "pause"  // begin nothing more until somebody resumes
	BatchActResume BatchAct = "resume" // let it go on
	BatchActStop   BatchAct = "stop"   // give up what was not sent, for good
	BatchActCancel BatchAct = "cancel" // withdraw it before it was approved
	BatchActGoOn   BatchAct = "go_on"  // let the run go on although it did not come to what its stage needs
)

// BatchActs lists them.
var BatchActs = []BatchAct{BatchActPause, BatchActResume, BatchActStop, BatchActCancel, BatchActGoOn}

// MayActOnBatch refuses whoever may not do it. Pause, resume and stop are for the flow's
// owner, whoever approves the stage, ops owners and admins. Until it is approved, a batch is
// its flow's authors' work: they may withdraw it as well, as they may an operation. To go on
// without it is for the owner, the flow's reviewer, ops owners and admins. Auditors only read,
// whatever a flow says. A refusal names all who may.
func MayActOnBatch(a BatchAct, who Person, people People, approvers []Role) *Refusal {
	roles := []Role{people.Owner.Role}
	switch a {
	case BatchActGoOn:
		roles = append(roles, people.Reviewer.Role)
	case BatchActCancel:
		roles = append(append(roles, approvers...), people.Author.Role)
	default:
		roles = append(roles, approvers...)
	}
	roles = append(roles, RoleOpsOwner, RoleAdmin)
	if slices.ContainsFunc(roles, func(r Role) bool { return r != RoleAuditor && who.Has(r) }) {
		return nil
	}
	return Refuse(CodeNotEntitled).ByRoles(roles...)
}

// Takes reports whether a batch in this state can be paused, resumed, stopped, cancelled or gone on without:
// what is approved is stopped, what is not is cancelled. A run goes on without what is closed.
func (s BatchState) Takes(a BatchAct) bool {
	if a == BatchActGoOn {
		return s.Closed()
	}
	if a == BatchActCancel {
		return s == BatchDraft || s == BatchPendingApproval
	}
	return s.Cleared() || s == BatchCanaryReview
}
