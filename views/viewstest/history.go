package viewstest

import (
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

// hashed stands for a hash in fixtures.
func hashed(c string) string { return strings.Repeat(c, 64/len(c)) }

// historyLines are entries of every kind that the page shows in its own way.
func historyLines() []views.HistoryPageRow {
	op := views.HistoryPageRow{ID: 91, Kind: operation.SubjectOperation, Subject: string(opTask), Label: "Call about the damaged teapot, order 10482", URL: "/operations/" + string(opTask),
		Flow: "Campaign follow-up", Destination: "Northdesk CRM", Policy: "3", Version: "ver_01h2xcejqtf2nbrexx3vqjhp44"}
	line := func(r views.HistoryPageRow, l views.HistoryLine) views.HistoryPageRow { r.HistoryLine = l; return r }
	delegated := views.PersonWho("佐藤 花子", false)
	delegated.For = "Anna Wolska"
	approved := line(op, views.HistoryLine{Seq: 3, Hash: hashed("3fa9"), At: ago(2 * time.Hour), Who: delegated, Role: operation.RoleApprover, Channel: "web", Action: "clear",
		From: operation.PendingApproval, To: operation.Ready, Reason: "The offer and the price are right."})
	approved.Delegation = "dgn_01h2xcejqtf2nbrexx3vqjhp77"
	dispatched := line(op, views.HistoryLine{Seq: 5, Hash: hashed("b01d"), At: ago(time.Hour), Who: views.Who{Kind: views.WhoJob, Name: "worker-2f9c"}, Channel: "job", Action: "dispatch", From: operation.InProgress, To: operation.InProgress,
		Links: map[string]string{"attempt": "att_01h2xcejqtf2nbrexx3vqjhp50"}})
	dispatched.Profile = "2"
	found := line(op, views.HistoryLine{Seq: 7, Hash: hashed("77e2"), At: ago(50 * time.Minute), Who: views.SystemWho(), Channel: "job", Action: "lookup", From: operation.Unknown, To: operation.Review,
		Links: map[string]string{"result": "none"}})
	found.Evidence = hashed("c4")
	paused := line(views.HistoryPageRow{ID: 94, Kind: operation.SubjectFlow, Subject: "campaign-follow-up", Label: "Campaign follow-up", URL: "/flows/campaign-follow-up", Flow: "Campaign follow-up"},
		views.HistoryLine{Seq: 2, Hash: hashed("09ab"), At: ago(40 * time.Minute), Who: views.PersonWho("Anna Wolska", true), Role: operation.RoleOpsOwner, Channel: "web", Action: "pause", Reason: "=HYPERLINK(\"http://x\",\"ok\")"})
	looked := line(views.HistoryPageRow{ID: 95, Kind: operation.SubjectUser, Subject: "usr_01h2xcejqtf2nbrexx3vqjhp01", Label: "Zofia Łęcka", URL: "/people/usr_01h2xcejqtf2nbrexx3vqjhp01",
		Objects: []views.HistoryObject{{Kind: "operation", Link: views.Link{Label: "op_…3vqjhp41", URL: "/operations/" + string(opTask)}}}},
		views.HistoryLine{Seq: 14, Hash: hashed("5c11"), At: ago(30 * time.Minute), Who: views.PersonWho("Zofia Łęcka", false), Role: operation.RoleAuditor, Channel: "web", Action: "look"})
	exported := line(views.HistoryPageRow{ID: 96, Kind: operation.SubjectUser, Subject: "usr_01h2xcejqtf2nbrexx3vqjhp01", Label: "Zofia Łęcka", URL: "/people/usr_01h2xcejqtf2nbrexx3vqjhp01", Evidence: hashed("ee")},
		views.HistoryLine{Seq: 16, Hash: hashed("a7d0"), At: ago(20 * time.Minute), Who: views.PersonWho("Zofia Łęcka", false), Channel: "web", Action: "export_done",
			Links: map[string]string{"export": "history", "format": "jsonl", "filter": "flow=campaign-follow-up", "rows": "1048576"}})
	run := line(views.HistoryPageRow{ID: 97, Kind: operation.SubjectRun, Subject: "run_01h2xcejqtf2nbrexx3vqjhp60", URL: "/runs/run_01h2xcejqtf2nbrexx3vqjhp60", Flow: "Campaign follow-up"},
		views.HistoryLine{Seq: 1, Hash: hashed("6b60"), At: ago(10 * time.Minute), Who: views.SystemWho(), Channel: "job", Action: "run_completed", From: "open", To: "completed"})
	system := line(views.HistoryPageRow{ID: 98, Kind: operation.SubjectSystem, Subject: "installation", URL: "/installation"},
		views.HistoryLine{Seq: 9, Hash: hashed("d00d"), At: ago(5 * time.Minute), Who: views.Who{Kind: views.WhoToken, Name: "n8n"}, Channel: "api", Action: "add_token", Links: map[string]string{"name": "n8n", "scopes": "events read"}})
	gone := line(op, views.HistoryLine{Seq: 2, Hash: hashed("41c7"), At: ago(2 * time.Hour), Who: views.Who{Kind: views.WhoPerson, Gone: true}, Role: operation.RoleApprover, Channel: "web", Action: "request_changes",
		From: operation.PendingApproval, To: operation.Draft, Gone: ago(time.Minute)})
	return []views.HistoryPageRow{system, run, exported, looked, paused, found, dispatched, approved, gone}
}

func historyFixtures() []Fixture {
	option := func(values ...string) (out []views.Option) {
		for _, v := range values {
			out = append(out, views.Option{Value: v})
		}
		return out
	}
	named := func(value, label string) []views.Option { return []views.Option{{Value: value, Label: label}} }
	filter := views.HistoryPageFilter{From: "2026-04-01", To: "2026-04-16", Kinds: option("operation", "run", "flow"), Actors: named("usr_1", "Anna Wolska"), Roles: option("approver", "auditor"), Channels: option("web", "api", "job", "command"),
		Actions: named("clear", "Cleared to be sent"), Flows: named("campaign-follow-up", "Campaign follow-up"), Destinations: named("crm", "Northdesk CRM"), Before: named("unknown", "Outcome unknown"), After: named("ready", "Ready"), Active: true}
	page := views.HistoryPageModel{Frame: frame(views.SectionHistory, "/history"), Filter: filter, Rows: historyLines(), Pager: views.Pager{Next: "/history?after=2"},
		Integrity: views.HistoryIntegrity{Whole: 6, Entries: 41, Left: 1, Checkpoint: &views.HistoryCheckpoint{Entries: 1048576, Root: hashed("9f"), At: ago(4 * time.Minute), Key: "holdpoint-demo+2f9c71aa"}},
		CSV:       "/history/export.csv?flow=campaign-follow-up", Lines: "/history/export.jsonl?flow=campaign-follow-up", Content: "/history/export.jsonl?flow=campaign-follow-up&content=yes", Recorded: true}
	broken := page
	broken.Rows, broken.Filter.More, broken.Filter.Subject, broken.Filter.Moved, broken.Recorded = historyLines()[5:], true, string(opTask), true, false
	broken.Timeline = "/history/of/operation/" + string(opTask)
	broken.Integrity = views.HistoryIntegrity{Whole: 0, Broken: []views.BrokenHistory{{Kind: operation.SubjectOperation, Subject: string(opTask), Seq: 3, URL: "/history?kind=operation&subject=" + string(opTask)}}}
	none := page
	none.Rows, none.Pager = nil, views.Pager{}
	fresh := none
	fresh.Filter, fresh.Integrity, fresh.Recorded = views.HistoryPageFilter{}, views.HistoryIntegrity{}, false
	return []Fixture{{"history", views.HistoryPage(page)}, {"history-broken", views.HistoryPage(broken)}, {"history-no-match", views.HistoryPage(none)}, {"history-none", views.HistoryPage(fresh)},
		{"timeline", views.TimelinePage(timelineFixture())}, {"timeline-none", views.TimelinePage(views.TimelineModel{Frame: page.Frame, Kind: "person", Title: "Zofia Łęcka"})}}
}

func timelineFixture() views.TimelineModel {
	m := views.TimelineModel{Frame: frame(views.SectionHistory, "/history/of/operation/"+string(opTask)), Kind: "operation", Title: "Call about the damaged teapot, order 10482", URL: "/operations/" + string(opTask), ID: string(opTask),
		History: "/history?kind=operation&subject=" + string(opTask), First: "/history/of/operation/" + string(opTask), Next: "/history/of/operation/" + string(opTask) + "?after=2"}
	m.Rows = append(m.Rows, views.TimelineRow{At: ago(time.Minute), Notice: &views.ToldLine{Kind: "unknown", Title: "Call about the damaged teapot, order 10482", To: views.PersonWho("Anna Wolska", true), Channel: "mail", State: "sent"}},
		views.TimelineRow{At: ago(2 * time.Minute), Notice: &views.ToldLine{Kind: "overdue", Title: "Call about the damaged teapot, order 10482", Place: "#ops", Channel: "slack_hook", State: "failed"}})
	for _, r := range historyLines()[5:] {
		m.Rows = append(m.Rows, views.TimelineRow{At: r.At, Entry: &r})
	}
	m.Rows = append(m.Rows, views.TimelineRow{At: ago(3 * time.Hour), Delivery: &views.DeliveryRow{ID: "dlv_1", Source: "Shopify (test shop)", Key: "d-10482", Result: views.DeliveryRecorded, Status: 202}},
		views.TimelineRow{At: ago(3 * time.Hour), Event: &views.EventView{ID: "evt_1", Source: "Shopify (test shop)", Topic: "orders/create", Key: "10482", At: ago(3 * time.Hour)}})
	return m
}
