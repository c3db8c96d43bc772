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
)

// BatchActs lists them.
var BatchActs = []BatchAct{BatchActPause, BatchActResume, BatchActStop, BatchActCancel}

// MayActOnBatch refuses whoever may not do it. Pause, resume and stop are for the flow's
// owner, whoever approves the stage, ops owners and admins. Until it is approved, a batch is
// its flow's authors' work: they may withdraw it as well, as they may an operation. Auditors
// only read, whatever a flow says.
func MayActOnBatch(a BatchAct, who Person, people People, approvers []Role) *Refusal {
	roles := append([]Role{people.Owner.Role, RoleOpsOwner, RoleAdmin}, approvers...)
	if a == BatchActCancel {
		roles = append(roles, people.Author.Role)
	}
	if slices.ContainsFunc(roles, func(r Role) bool { return r != RoleAuditor && who.Has(r) }) {
		return nil
	}
	return Refuse(CodeNotEntitled, "role", string(people.Owner.Role)).By(people.Owner)
}

// Takes reports whether a batch in this state can be paused, resumed, stopped or cancelled:
// what is approved is stopped, what is not is cancelled.
func (s BatchState) Takes(a BatchAct) bool {
	if a == BatchActCancel {
		return s == BatchDraft || s == BatchPendingApproval
	}
	return s.Cleared() || s == BatchCanaryReview
}
