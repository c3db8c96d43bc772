package viewstest

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

func cardFixtures() []Fixture {
	flows := views.FlowsModel{Frame: frame(views.SectionFlows, "/flows"), Rows: []views.FlowRow{
		{Key: "campaign-follow-up", URL: "/flows/campaign-follow-up", Title: "Campaign follow-up", Version: 7, Trigger: "campaign-request", Stages: []string{"CRM task", "Follow-up e-mail", "Goodwill coupon"}, Owner: lead, Open: 4},
		{Key: "renewal", URL: "/flows/renewal", Title: "Subscription renewal", Version: 2, Trigger: "cron", Stages: []string{"Invoice"}, Owner: support, Paused: true},
	}}
	flow := views.FlowModel{Frame: frame(views.SectionFlows, "/flows/campaign-follow-up"), Key: "campaign-follow-up", Title: "Campaign follow-up", Version: 7, AppliedAt: ago(200 * time.Hour), AppliedBy: support,
		Trigger: "Shopify Flow (test shop) · campaign-request", RunKey: "${event.action_run_id}", Owner: lead, Reviewer: views.RoleWho(operation.RoleOpsOwner, true), ReexecutionBy: views.RoleWho(operation.RoleOpsOwner, true), ReexecutionNeed: 1,
		OnMissing: "draft", Failure: "Look up in the CRM first; the mail never goes out before the task is confirmed.",
		Inputs:  []views.FlowInput{{Name: "customer_ref", Type: "string", Required: true}, {Name: "campaign", Type: "string"}},
		Outputs: []string{"crm_task_id"}, ChecklistExtra: []string{"Closed tasks searched too?"}, Runbook: "## When the outcome is unknown\n1. Open the [audit log](https://northdesk.example/audit).\n2. Search by the **operation ID**.\n\n> Nothing found is not a proof.\n\n<b>left out</b> ![pixel](https://x.example/p.png) `POST /tasks`", TestCases: []string{"normal", "redelivery"},
		Stages: []views.FlowStage{
			{Number: 1, Key: "crm-task", Title: "CRM task", Destination: views.Link{Label: "Northdesk CRM", URL: "/destinations/crm"}, Action: "Create a task", Approvers: views.RoleWho(operation.RoleApprover, false), Required: 1,
				SeparateAuthor: true, Expires: 72 * time.Hour, Due: 4 * time.Hour, AttemptsMax: 5, SatisfiedBy: "confirmed"},
			{Number: 2, Key: "email", Title: "Follow-up e-mail", Destination: views.Link{Label: "Postrider Mail", URL: "/destinations/mail"}, Action: "send", Approvers: views.RoleWho(operation.RoleApprover, false), Required: 2,
				AttemptsMax: 5, SatisfiedBy: "accepted", Drafted: []views.FlowDraft{{Name: "subject", Brief: "One line that names the campaign."}, {Name: "text"}}},
		},
		Versions: []views.DefinitionVersion{{Number: 7, URL: "/flows/campaign-follow-up/versions/7", At: ago(200 * time.Hour), By: support}}, Pause: reason("/flows/x/pause"), InFlight: 2}
	refusing := flow
	refusing.RunKey, refusing.OnMissing, refusing.Pause, refusing.Resume = "", "refuse", nil, reason("/flows/x/resume")
	refusing.Paused = []views.PausedBy{{Scope: views.PauseFlow, Who: support, Since: ago(time.Hour), Reason: "Wrong template"}, {Scope: views.PauseAll}}
	refusing.Stages[1].SatisfiedBy = "delivered"
	destinations := views.DestinationsModel{Frame: frame(views.SectionDestinations, "/destinations"), Rows: []views.DestinationRow{
		{Key: "crm", URL: "/destinations/crm", Title: "Northdesk CRM", Kind: operation.RequestHTTP, Account: "northdesk-main", Environment: "test", InFlight: 1, Unresolved: 3, Local: true},
		{Key: "mail", URL: "/destinations/mail", Title: "Postrider Mail", Kind: operation.RequestSMTP, Account: "postrider", Environment: "live", Paused: true},
	}}
	destination := views.DestinationModel{Frame: frame(views.SectionDestinations, "/destinations/crm"), Key: "crm", Title: "Northdesk CRM", Kind: operation.RequestHTTP, Account: "northdesk-main", Environment: "test",
		Address: "https://api.northdesk.example", Credential: "crm-key", Local: true, Concurrency: 8, Rate: "20/s", Timeout: 10 * time.Second, SettleAfter: 2 * time.Minute,
		Retry: views.RetryView{Max: 5, Base: 2 * time.Second, MaxInterval: 5 * time.Minute}, DocsURL: "https://northdesk.example/docs", DocsChecked: ago(900 * time.Hour),
		Actions: probed([]views.DestinationAction{
			{Name: "create_task", Title: "Create a task", Effect: "task", KeyHeader: "Idempotency-Key", Retention: 24 * time.Hour, ProvenOn: ago(2000 * time.Hour), ReplaysErrors: true, HasLookup: true, LookupLag: 15 * time.Minute},
			{Name: "upsert_contact", Title: "Update a contact", Effect: "contact", KeyHeader: "Idempotency-Key", Overwrites: true, HasLookup: true, LookupLag: time.Minute, Authoritative: true},
			{Name: "post_note", Title: "Leave a note", Effect: "note"},
			{Name: "create_ticket", Title: "Create a ticket", Effect: "ticket", Unique: true, HasLookup: true},
		}),
		Health: views.HealthView{Attempts: 100, Outcomes: map[operation.Outcome]int{operation.OutcomeConfirmed: 91, operation.OutcomeNotStarted: 5, operation.OutcomeUnknown: 3}, Open: 1, Waiting: 4,
			Slowest: 9800 * time.Millisecond, LastConfirmed: ago(3 * time.Minute), LastUnknown: ago(26 * time.Hour)},
		Versions: []views.DefinitionVersion{{Number: 3, URL: "/destinations/crm/versions/3", At: ago(90 * time.Hour), By: support}, {Number: 2, URL: "/destinations/crm/versions/2", At: ago(900 * time.Hour), By: support}},
		Runbook:  "Call Northdesk support when the audit log is down.",
		InFlight: []views.InFlight{{Operation: views.Link{Label: "Call about the damaged teapot", URL: "/operations/" + string(opTask)}, Attempt: "att_1", Dispatched: true, LeaseEnd: in(90 * time.Second)}},
		Pause:    &views.ReasonForm{Form: form("/destinations/crm/pause"), InFlight: 1}}
	pausedDest := destination
	pausedDest.Pause, pausedDest.Resume, pausedDest.InFlight, pausedDest.Kind, pausedDest.AddressUnfit = nil, reason("/destinations/crm/resume"), nil, operation.RequestSMTP, true
	pausedDest.Paused = []views.PausedBy{{Scope: views.PauseDestination, Who: support, Since: ago(time.Hour), Reason: "Outage"}}
	pausedDest.Health, pausedDest.Callbacks = views.HealthView{}, callbackCard()
	older := views.DefinitionModel{Frame: frame(views.SectionFlows, "/flows/campaign-follow-up/versions/6"), Up: views.Link{Label: "Flows", URL: "/flows"}, Of: views.Link{Label: "Campaign follow-up", URL: "/flows/campaign-follow-up"},
		Number: 6, At: ago(900 * time.Hour), By: support, Hash: hashOne, Text: "flow: campaign-follow-up\nowner: role:ops_owner\n", Since: 5, Changes: views.Diff("flow: campaign-follow-up\nowner: role:admin\n", "flow: campaign-follow-up\nowner: role:ops_owner\n"),
		Older: "/flows/campaign-follow-up/versions/5", Newer: "/flows/campaign-follow-up/versions/7"}
	first := older
	first.Number, first.Current, first.Since, first.Older, first.Newer = 1, true, 0, "", ""
	return []Fixture{
		{"definition-older", views.DefinitionPage(older)}, {"definition", views.DefinitionPage(first)},
		{"flows", views.FlowsPage(flows)}, {"flows-none", views.FlowsPage(views.FlowsModel{Frame: flows.Frame})},
		{"flow", views.FlowPage(flow)}, {"flow-paused", views.FlowPage(refusing)},
		{"destinations", views.DestinationsPage(destinations)}, {"destinations-none", views.DestinationsPage(views.DestinationsModel{Frame: destinations.Frame})},
		{"destination", views.DestinationPage(destination)}, {"destination-paused", views.DestinationPage(pausedDest)},
	}
}
