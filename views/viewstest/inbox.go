package viewstest

import (
	"fmt"
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

func inboxFixtures() []Fixture {
	rows := 0
	row := func(state operation.State, flow, stage, title string, since, due time.Duration) views.InboxRow {
		rows++
		id := operation.ID(fmt.Sprintf("op_%026d", rows))
		return views.InboxRow{ID: id, Revision: int64(rows), URL: "/operations/" + string(id), State: state, Flow: flow, Stage: stage, Title: title,
			Destination: "Northdesk CRM", Since: ago(since), Due: in(due), Late: due < 0, OnlyYou: true}
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
	note2 := row(operation.PendingApproval, "Back-in-stock notice", "Notice e-mail", "", 37*time.Minute, 258*time.Minute)
	note2.OnlyYou, note2.Also = note.OnlyYou, note.Also
	note2.Title = "First-flush Darjeeling is back, customer 48377"
	paused := row(operation.Ready, "Campaign follow-up", "Follow-up e-mail", "Thank you for your call", 3*time.Hour, time.Hour)
	bounce := row(operation.Confirmed, "Back-in-stock notice", "Notice e-mail", "First-flush Darjeeling is back, customer 48011", 5*time.Hour, 2*time.Hour)
	closed := row(operation.Rejected, "Campaign follow-up", "CRM task", "Call about the damaged teapot, order 10482", 3*time.Hour, time.Hour)
	closed.URL, closed.Note = "/runs/run_1", "inbox.blocked"
	stuck := row(operation.Draft, "Campaign follow-up", "Mail to the customer in their own language", "Thank you for your call", 3*time.Hour, 20*time.Hour)
	stuck.Note = "inbox.earlier_closed"
	draft := row(operation.Draft, "Campaign follow-up", "Follow-up e-mail", "Thank you for your call", 20*time.Minute, 20*time.Hour)
	full := views.InboxModel{Frame: frame(views.SectionInbox, "/inbox"), Tab: views.TabMine, Counts: views.InboxCounts{Mine: 17, Others: 3, Changes: 1, Done: 100}, Groups: []views.InboxGroup{
		{Kind: views.GroupOverdue, Rows: []views.InboxRow{late, lateMail}, Total: 2},
		{Kind: views.GroupUnknown, Rows: []views.InboxRow{invoice, double}, AlsoOverdue: 1, Total: 3},
		{Kind: views.GroupReexecutions, Rows: []views.InboxRow{again}, Total: 1},
		{Kind: views.GroupHeld, Total: 2, Held: []views.HeldRow{
			{ID: "evt_1", URL: "/deliveries/dlv_1", Flows: []string{"Campaign follow-up"}, Source: "Web form", Key: "T-10482", TwinKey: "s-1", Since: ago(2 * time.Hour)},
			{ID: "evt_2", URL: "/deliveries/dlv_2", Source: "Shopify (test shop)", Key: "#1001", TwinKey: "e-1001", Since: ago(3 * time.Hour)}}},
		{Kind: views.GroupApprovals, Rows: []views.InboxRow{mail, note, note2}, AlsoOverdue: 1, Total: 4, Together: []views.Together{{Stage: "Notice e-mail", N: 2, URL: "/approve-together?flow=back-in-stock&stage=notice"}}},
		{Kind: views.GroupPaused, Rows: []views.InboxRow{paused}, Total: 1},
		{Kind: views.GroupRemedies, Rows: []views.InboxRow{bounce, closed}, Total: 2},
		{Kind: views.GroupDrafts, Rows: []views.InboxRow{draft, stuck}, Total: 2},
	}, StillChecked: 2, NextCheck: in(8 * time.Minute), StillCheckedURL: "/operations?state=unknown"}
	empty := views.InboxModel{Frame: frame(views.SectionInbox, "/inbox"), Tab: views.TabMine, StillChecked: 1, NextCheck: in(8 * time.Minute), StillCheckedURL: "/operations?state=unknown"}
	empty.Waiting = 0
	full.Waiting = 17
	return append([]Fixture{{"inbox", views.InboxPage(full)}, {"inbox-empty", views.InboxPage(empty)}}, inboxTabFixtures(full, []views.InboxRow{late, mail, note, draft})...)
}

// inboxTabFixtures are the other tabs, one group page by page, and many rows.
func inboxTabFixtures(full views.InboxModel, rows []views.InboxRow) []Fixture {
	for i := range rows {
		rows[i].OnlyYou, rows[i].Also = false, []views.Who{views.RoleWho(operation.RoleApprover, false)}
		rows[i].ID = operation.ID(string(opTask[:len(opTask)-1]) + string(rune('A'+i)))
	}
	base := full
	base.Groups, base.StillChecked = nil, 0
	others := base
	others.Tab = views.TabOthers
	others.Groups = []views.InboxGroup{{Kind: views.GroupOverdue, Rows: rows[:1], Total: 1}, {Kind: views.GroupWaiting, Rows: rows[1:3], Total: 2}}
	changes := base
	changes.Tab = views.TabChanges
	changes.Changes = []views.ChangedRow{{InboxRow: rows[3], By: views.PersonWho("Anna Wolska", true), Reason: "The customer asked in Polish: answer in Polish, and leave the discount out.", At: ago(2 * time.Hour)},
		{InboxRow: rows[2], By: views.PersonWho("Kenji Mori", false), Reason: "件名に注文番号を入れてください。", At: ago(26 * time.Hour)}}
	done := base
	done.Tab, done.First, done.Next = views.TabDone, "/inbox?tab=done", "/inbox?tab=done&after=x"
	for i, act := range []string{"approve", "request_changes", "request_reexecution", "effect"} {
		done.Done = append(done.Done, views.DoneRow{InboxRow: rows[i], Act: views.HistoryLine{Action: act, At: ago(time.Duration(i*5) * time.Hour), From: rows[i].State, To: rows[i].State}})
	}
	last := &done.Done[len(done.Done)-1]
	last.State, last.ConfirmedBy = operation.Confirmed, "person"
	many := base
	many.Counts.Mine, many.Waiting, many.StillChecked = 100, 100, 100
	g := views.InboxGroup{Kind: views.GroupApprovals, Total: 100, MoreURL: "/inbox?group=approval", Together: []views.Together{{Stage: "Notice e-mail", N: 50, URL: "/approve-together?flow=back-in-stock&stage=notice"}}}
	for i := range 200 {
		r := rows[2]
		r.ID, r.Due = operation.ID(fmt.Sprintf("op_%026d", i)), in(time.Duration(i)*time.Minute)
		g.Rows = append(g.Rows, r)
	}
	many.Groups = []views.InboxGroup{{Kind: views.GroupOverdue, Rows: rows[:1], Total: 100}, g}
	only := many
	only.Only, only.First, only.Next = views.GroupApprovals, "/inbox?group=approval", "/inbox?group=approval&after=x"
	g.Rest, g.MoreURL, g.Rows = true, "", g.Rows[:6]
	only.Groups = []views.InboxGroup{g}
	gone := only
	gone.Groups, gone.Next = nil, ""
	out := []Fixture{{"inbox-others", views.InboxPage(others)}, {"inbox-changes", views.InboxPage(changes)}, {"inbox-done", views.InboxPage(done)},
		{"inbox-many", views.InboxPage(many)}, {"inbox-group", views.InboxPage(only)}, {"inbox-group-empty", views.InboxPage(gone)}}
	for _, tab := range views.InboxTabs[1:] {
		none := base
		none.Tab, none.Counts = tab, views.InboxCounts{Mine: 2}
		out = append(out, Fixture{"inbox-" + string(tab) + "-empty", views.InboxPage(none)})
	}
	return out
}
