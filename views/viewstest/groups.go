package viewstest

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

// groupFixtures show a version that needs an approval of each group.
func groupFixtures() []Fixture {
	compliance, contact := "Compliance", "Customer contact"
	m := mailPage()
	m.Approved.Signatures = []views.Signature{m.Approved.Signatures[0], m.Approved.Signatures[1]}
	m.Approved.Signatures[0].Group, m.Approved.Signatures[1].Group = compliance, contact
	m.Panel.Decide.Groups = []int{1, 1}

	filled := mailPage()
	filled.Approved.Signatures = []views.Signature{
		{Group: compliance, Who: views.RoleWho(operation.RoleOpsOwner, false), Since: ago(61 * time.Minute)},
		{Group: compliance, Who: views.RoleWho(operation.RoleOpsOwner, false), Since: ago(61 * time.Minute)}, m.Approved.Signatures[0]}
	filled.Approved.Signatures[2].Group = contact
	filled.Head.Responsible, filled.Head.Required, filled.Approved.Required = views.RoleWho(operation.RoleOpsOwner, false), 3, 3
	why := barred(operation.CodeGroupFilled)
	why.Barred.By(operation.Responsible{Role: operation.RoleOpsOwner})
	filled.Panel = views.Panel{Decide: &views.DecideForm{Form: why, Required: 3, Given: 1, Groups: []int{2, 1}, Apart: []views.Who{editor}}}
	return []Fixture{
		{"operation-groups", views.OperationPage(m)},
		{"operation-groups-filled", views.OperationPage(filled)},
		{"flow-groups", views.FlowPage(groupedFlow(compliance, contact))},
	}
}

// groupedFlow is a flow whose first stage asks two groups, and whose second asks anybody of
// one role.
func groupedFlow(compliance, contact string) views.FlowModel {
	mail := views.Link{Label: "Postrider Mail", URL: "/destinations/mail"}
	return views.FlowModel{Frame: frame(views.SectionFlows, "/flows/late-delivery"), Key: "late-delivery", Title: "Late-delivery apology", Version: 4, AppliedAt: ago(90 * time.Hour), AppliedBy: support,
		Trigger: "Shop orders", Owner: support, Reviewer: views.RoleWho(operation.RoleOpsOwner, true), ReexecutionBy: views.RoleWho(operation.RoleOpsOwner, true), ReexecutionNeed: 1, OnMissing: "draft",
		Stages: []views.FlowStage{
			{Number: 1, Key: "apology", Title: "Apology e-mail", Destination: mail, Action: "send", Required: 3, SeparateAuthor: true, Expires: 72 * time.Hour, Due: 4 * time.Hour, AttemptsMax: 5, SatisfiedBy: "confirmed",
				Groups: []views.FlowGroup{{Title: compliance, Approvers: views.RoleWho(operation.RoleOpsOwner, false), Required: 1}, {Title: contact, Approvers: views.RoleWho(operation.RoleApprover, true), Required: 2}}},
			{Number: 2, Key: "coupon", Title: "Goodwill coupon", Destination: mail, Action: "send", Approvers: views.RoleWho(operation.RoleApprover, true), Required: 1, AttemptsMax: 5, SatisfiedBy: "confirmed"},
		},
		Versions: []views.DefinitionVersion{{Number: 4, URL: "/flows/late-delivery/versions/4", At: ago(90 * time.Hour), By: support}}}
}
