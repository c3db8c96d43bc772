package viewstest

import (
	"fmt"
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

// presets are the common reasons of each decision, one of them chosen.
func presets(chosen string) map[operation.Decision][]views.Preset {
	out := map[operation.Decision][]views.Preset{}
	for d, codes := range views.Presets {
		for _, c := range codes {
			out[d] = append(out[d], views.Preset{Code: c, Selected: c == chosen})
		}
	}
	return out
}

// forAnother is the mail's page for somebody who holds another's approvals.
func forAnother() views.OperationModel {
	m := mailPage()
	m.Panel.Decide.As = []views.Option{{Value: "usr_lead", Label: lead.Name}}
	return m
}

func decidingFixtures() []Fixture {
	choice := mailPage()
	choice.Panel.Decide.As = []views.Option{{}, {Value: "usr_lead", Label: lead.Name, Selected: true}, {Value: "usr_x", Label: "Oskar Lind"}}
	choice.Panel.Decide.Decision, choice.Panel.Decide.Presets = operation.RequestChanges, presets("wording")

	given := mailPage()
	delegated := lead
	delegated.Name, delegated.For = support.Name, lead.Name
	given.Approved.Signatures[0] = views.Signature{Given: true, Who: delegated, At: ago(40 * time.Minute), Decision: operation.Approve, Preset: "checked"}
	given.Panel = views.Panel{Decide: &views.DecideForm{Form: barred(operation.CodeCountedOnce), Required: 2, Apart: []views.Who{editor}}, Withdraw: reason("/operations/x/withdraw")}
	given.Head.Responsible = views.Who{Kind: views.WhoRole, Role: operation.RoleApprover, Another: true}

	next := mailPage()
	next.Frame.Flash = []views.Flash{{Kind: views.FlashDone, Say: views.Sentence(views.FlashApproved), Next: &views.Link{Label: "First-flush Darjeeling is back, customer 48377", URL: "/operations/x"}}}
	last := mailPage()
	last.Frame.Flash = []views.Flash{{Kind: views.FlashDone, Say: views.Sentence(views.FlashApproved), Next: &views.Link{}}}
	return []Fixture{
		{"operation-pending-for", views.OperationPage(forAnother())},
		{"operation-pending-capacity", views.OperationPage(choice)},
		{"operation-pending-counted", views.OperationPage(given)},
		{"operation-next", views.OperationPage(next)},
		{"operation-next-none", views.OperationPage(last)},
		{"together", views.TogetherPage(together())},
		{"together-invoices", views.TogetherPage(invoicesTogether())},
		{"together-empty", views.TogetherPage(views.TogetherModel{Frame: frame(views.SectionInbox, "/approve-together"), FlowTitle: "Back-in-stock notice", StageTitle: "Notice e-mail"})},
		{"together-result", views.TogetherResultPage(togetherResult())},
		{"delegations", views.DelegationsPage(delegations())},
		{"delegations-none", views.DelegationsPage(views.DelegationsModel{Frame: frame(views.SectionAccount, views.PathDelegations)})},
		{"delegations-all", views.AllDelegationsPage(allDelegations())},
	}
}

func together() views.TogetherModel {
	m := views.TogetherModel{Frame: frame(views.SectionInbox, "/approve-together?flow=back-in-stock&stage=notice"), Form: form(views.PathTogether),
		Flow: "back-in-stock", Stage: "notice", FlowTitle: "Back-in-stock notice", StageTitle: "Notice e-mail", Destination: "Postrider Mail", Mails: 3, Recipients: 3, More: true, Left: 2,
		Shared: []views.Field{{Name: "subject", Value: "First-flush Darjeeling is back"}, {Name: "text", Value: "Good news: the tea that you asked for can be ordered again.\n\nYour Aldermoor Tea team"}}}
	for i, c := range []string{"48213", "48377", "48419"} {
		x := views.TogetherItem{ID: operation.ID("op_01jrw3v9m8f6xt2c7k4q0hz5d" + fmt.Sprint(i)), URL: "/operations/x", Title: "First-flush Darjeeling is back, customer " + c, Version: "ver_1", Number: 1,
			Hash: mailVersion().Hash, Revision: 2, Varies: []views.Field{{Name: "to", Value: "recipient-" + c + "@buyer.example"}}, Content: mailVersion().Content, Required: 1, Due: in(time.Duration(4+i) * time.Hour), Picked: true}
		m.Items = append(m.Items, x)
	}
	m.Items[2].For, m.Items[2].ForName, m.Items[2].Required, m.Items[2].Given, m.Items[2].Overdue, m.Items[2].Due = "usr_lead", lead.Name, 2, 1, true, ago(12*time.Minute)
	return m
}

func invoicesTogether() views.TogetherModel {
	m := together()
	m.FlowTitle, m.StageTitle, m.Destination, m.Mails, m.Recipients, m.More, m.Left = "Subscription renewal", "Invoice", "Tallybook", 0, 0, false, 0
	m.Money = []views.Money{{Minor: "14400", Currency: "EUR"}, {Minor: "98000", Currency: "JPY"}}
	m.Shared, m.NextStage = []views.Field{{Name: "description", Value: "Tea subscription, May"}}, "Receipt e-mail"
	m.Form.Errors = map[string]views.Say{"": views.Sentence("together.pick")}
	for i := range m.Items {
		m.Items[i].Title, m.Items[i].Picked = fmt.Sprintf("Subscription %d", 2207+i), false
		m.Items[i].Varies = []views.Field{{Name: "customer", Value: fmt.Sprintf("cus_%d", 48213+i)}, {Name: "amount", Value: "4800", Money: &views.Money{Minor: "4800", Currency: "EUR"}}}
		m.Items[i].Content = taskVersion().Content
	}
	return m
}

func togetherResult() views.TogetherResultModel {
	return views.TogetherResultModel{Frame: frame(views.SectionInbox, "/approve-together/result"), Again: "/approve-together?flow=x&stage=y", Next: &views.Link{Label: "Quote for 40 tins of Assam", URL: "/operations/x"},
		Rows: []views.TogetherResult{
			{Title: "First-flush Darjeeling is back, customer 48213", URL: "/operations/x", State: operation.Ready},
			{Title: "First-flush Darjeeling is back, customer 48377", URL: "/operations/x", State: operation.PendingApproval, Refusal: operation.Refuse(operation.CodeStaleVersion)},
			{Title: "First-flush Darjeeling is back, customer 48419", URL: "/operations/x", State: operation.Confirmed},
			{Title: "Subscription 2207, 48.00 EUR", URL: "/operations/x", State: operation.Review, Refusal: operation.Refuse(operation.CodeAlone, "state", string(operation.Review))},
		}}
}

func delegations() views.DelegationsModel {
	m := views.DelegationsModel{Frame: frame(views.SectionAccount, views.PathDelegations), Given: allDelegations().All[:1], Received: allDelegations().All[1:]}
	m.New = &views.DelegationForm{Form: form(views.PathDelegations), People: []views.Option{{Value: "usr_1", Label: lead.Name}, {Value: "usr_2", Label: support.Name}},
		Roles: []views.Option{{Value: "approver", Selected: true}, {Value: "ops_owner"}}, Flows: []views.Option{{Value: "a", Label: "Late-delivery apology"}, {Value: "b", Label: "Back-in-stock notice"}},
		Starts: "2026-05-04T09:00", Ends: "2026-05-11T09:00"}
	m.New.Errors = map[string]views.Say{"ends": views.Refused(operation.Refuse(operation.CodeDelegationTime))}
	return m
}

func allDelegations() views.DelegationsModel {
	revoke := func() *views.ReasonForm { return reason("/account/delegations/dgn_1/revoke") }
	return views.DelegationsModel{Frame: frame(views.SectionPeople, views.PathAllDelegations), All: []views.DelegationLine{
		{ID: "dgn_1", From: opsOwner, To: support, Roles: []operation.Role{operation.RoleApprover, operation.RoleOpsOwner}, Reason: "On holiday", Starts: ago(26 * time.Hour), Ends: in(6 * 24 * time.Hour), Used: 3, Live: true, Revoke: revoke()},
		{ID: "dgn_2", From: lead, To: opsOwner, Roles: []operation.Role{operation.RoleApprover}, Flows: []string{"Late-delivery apology", "Back-in-stock notice"}, Reason: "Trade fair", Starts: in(48 * time.Hour), Ends: in(96 * time.Hour), Revoke: revoke()},
		{ID: "dgn_3", From: editor, To: opsOwner, Roles: []operation.Role{operation.RoleApprover}, Reason: "Ill", Starts: ago(20 * 24 * time.Hour), Ends: ago(18 * 24 * time.Hour), Used: 1, Over: true},
		{ID: "dgn_4", From: lead, To: opsOwner, Roles: []operation.Role{operation.RoleApprover}, Reason: "Back earlier than planned", Starts: ago(9 * 24 * time.Hour), Ends: in(24 * time.Hour), Ended: ago(3 * time.Hour), EndedBy: lead.Name, Over: true},
	}}
}
