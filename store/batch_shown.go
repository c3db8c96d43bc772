package store

import "holdpoint/operation"

// AsOperation gives what is decided about the batch as the page of one operation: its forms,
// and who may do what, follow the same rules. The operation has no ID; its version is the
// batch's, and where people decide, it waits for approval.
func (p *BatchPage) AsOperation() *OperationPage {
	o := opRow{RunID: p.RunID, Flow: p.Flow, FlowVersion: p.FlowVersion, Stage: p.Stage, StageNo: p.StageNo, Stages: p.Stages, Destination: p.Destination, Action: p.Action,
		EffectType: p.EffectType, Title: p.Title, State: p.DecidedAs(), Revision: p.Revision, VersionID: batchVersionID, VersionNo: p.Number,
		NextKind: p.NextKind, NextRole: p.NextRole, NextUser: p.NextUser, NextSystem: p.NextSystem, NextAt: p.NextAt, NextSince: p.NextSince}
	out := &OperationPage{OperationSummary: OperationSummary{o}, Flow2: p.Def, Profile: p.Profile, Stage2: p.Stage2, Now: p.Now, Policy: p.Policy, Parties: p.Parties, persons: p.persons, groups: p.groups,
		Standing: approvalRows(p.Standing), Approvals: approvalRows(p.Approvals), Pauses: p.Pauses, History: p.History, ChainOK: p.ChainOK, People: p.People}
	v := p.Version
	out.Versions = []VersionRow{{ID: batchVersionID, Number: v.Number, AuthorKind: v.AuthorKind, AuthorID: v.AuthorID, PromptedBy: v.PromptedBy, Model: v.Model, Note: v.Note, MissingText: v.MissingText,
		Hash: v.Hash, Credential: v.Credential, FlowVersion: v.FlowVersion, At: v.At, SubmittedBy: v.SubmittedBy, PolicyText: v.PolicyText}}
	return out
}

// batchVersionID stands for a batch's version in AsOperation.
const batchVersionID operation.VersionID = "batch"

func approvalRows(list []BatchApproval) []ApprovalRow {
	out := make([]ApprovalRow, len(list))
	for i, a := range list {
		out[i] = ApprovalRow{ID: a.ID, Version: batchVersionID, Decision: a.Decision, User: a.User, Role: a.Role, Reason: a.Reason, For: a.For, Preset: a.ReasonCode, PresetWords: a.ReasonWords, Round: a.Round, At: a.At}
	}
	return out
}
