package viewstest

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

func inboxFixtures() []Fixture {
	row := func(state operation.State, flow, stage, title string, since, due time.Duration) views.InboxRow {
		return views.InboxRow{ID: opTask, URL: "/operations/" + string(opTask), State: state, Flow: flow, Stage: stage, Title: title,
			Destination: "Northdesk CRM", Since: ago(since), Due: in(due), OnlyYou: true}
	}
	late := row(operation.Review, "Campaign follow-up", "CRM task", "Call about the damaged teapot, order 10482", 19*time.Hour, -42*time.Minute)
	late.Attempts = 3
	lateMail := row(operation.PendingApproval, "Wholesale quote", "Quote e-mail", "Quote for 40 tins of Assam, valid to 30 April", 17*time.Hour, -12*time.Minute)
	lateMail.OnlyYou, lateMail.Also, lateMail.Destination = false, []views.Who{views.RoleWho(operation.RoleApprover, false)}, "Postrider Mail"
	double := row(operation.Review, "Campaign follow-up", "CRM task", "Call about the wrong tea, order 10497", 18*time.Hour, 80*time.Minute)
	double.Duplicate, double.Found, double.Attempts = views.DuplicateSuspected, 2, 2
	invoice := row(operation.Review, "Subscription renewal", "Invoice", "Subscription 2207, 48.00 EUR", 90*time.Minute, 30*time.Minute)
	invoice.Attempts, invoice.Destination = 2, "Tallybook"
	again := row(operation.ReexecutionRequested, "Subscription renewal", "Invoice", "Subscription 2198, 48.00 EUR", 72*time.Minute, 48*time.Minute)
	again.Attempts = 1
	mail := row(operation.PendingApproval, "Late-delivery apology", "Apology e-mail", "About your late order 10519", 61*time.Minute, 78*time.Minute)
	mail.Version, mail.Given, mail.Required, mail.Destination = 3, 1, 2, "Postrider Mail"
	note := row(operation.PendingApproval, "Back-in-stock notice", "Notice e-mail", "First-flush Darjeeling is back, customer 48213", 37*time.Minute, 258*time.Minute)
	note.OnlyYou, note.Also = false, []views.Who{lead}
	blocked := row(operation.Waiting, "Campaign follow-up", "Follow-up e-mail", "Thank you for your call", 3*time.Hour, time.Hour)
	bounce := row(operation.Confirmed, "Back-in-stock notice", "Notice e-mail", "First-flush Darjeeling is back, customer 48011", 5*time.Hour, 2*time.Hour)
	closed := row(operation.Rejected, "Campaign follow-up", "CRM task", "Call about the damaged teapot, order 10482", 3*time.Hour, time.Hour)
	closed.URL, closed.Note = "/runs/run_1", "inbox.blocked"
	stuck := row(operation.Draft, "Campaign follow-up", "Mail to the customer in their own language", "Thank you for your call", 3*time.Hour, 20*time.Hour)
	stuck.Note = "inbox.earlier_closed"
	draft := row(operation.Draft, "Campaign follow-up", "Follow-up e-mail", "Thank you for your call", 20*time.Minute, 20*time.Hour)
	full := views.InboxModel{Frame: frame(views.SectionInbox, "/inbox"), Groups: []views.InboxGroup{
		{Kind: views.GroupOverdue, Rows: []views.InboxRow{late, lateMail}},
		{Kind: views.GroupUnknown, Rows: []views.InboxRow{invoice, double}, AlsoOverdue: 1},
		{Kind: views.GroupReexecutions, Rows: []views.InboxRow{again}},
		{Kind: views.GroupHeld, Held: []views.HeldRow{
			{ID: "evt_1", URL: "/deliveries/dlv_1", Flows: []string{"Campaign follow-up"}, Source: "Web form", Key: "T-10482", TwinKey: "s-1", Since: ago(2 * time.Hour)},
			{ID: "evt_2", URL: "/deliveries/dlv_2", Source: "Shopify (test shop)", Key: "#1001", TwinKey: "e-1001", Since: ago(3 * time.Hour)}}},
		{Kind: views.GroupApprovals, Rows: []views.InboxRow{mail, note, note}, AlsoOverdue: 1},
		{Kind: views.GroupStages, Rows: []views.InboxRow{blocked}},
		{Kind: views.GroupRemedies, Rows: []views.InboxRow{bounce, closed}},
		{Kind: views.GroupDrafts, Rows: []views.InboxRow{draft, stuck}},
	}, StillChecked: 2, NextCheck: in(8 * time.Minute), StillCheckedURL: "/operations?state=unknown", WithOthers: 3, WithOthersURL: "/operations?responsible=others"}
	empty := views.InboxModel{Frame: frame(views.SectionInbox, "/inbox"), StillChecked: 1, NextCheck: in(8 * time.Minute), StillCheckedURL: "/operations?state=unknown"}
	empty.Waiting = 0
	full.Waiting = 100
	return []Fixture{{"inbox", views.InboxPage(full)}, {"inbox-empty", views.InboxPage(empty)}}
}
