package viewstest

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

// incidentFixtures are incidents, improvement tasks and the flow sheet.
func incidentFixtures() []Fixture {
	row := views.IncidentView{ID: "inc_1", Number: "INC-7", URL: "/incidents/inc_1", Title: "Tasks in doubt after the outage of the CRM", State: operation.IncidentOpen, Began: ago(26 * time.Hour),
		Destinations: []string{"Northdesk CRM", "Mail"}, Operations: 23, OpenTasks: 2, LateTasks: 1, Owner: opsOwner, Class: operation.ClassOutage, Pattern: "Answer lost after the request left"}
	row.Library = &views.PatternView{ID: "pat_1", URL: "/patterns/pat_1", Destination: views.Link{Label: "Northdesk CRM"}, Phase: operation.CauseWaiting, Code: "no_answer", Error: "… timeout awaiting response headers"}
	old := row
	old.ID, old.Number, old.Title, old.State, old.SamePattern, old.LateTasks = "inc_0", "INC-3", "応答が失われた操作", operation.IncidentSigned, true, 0
	list := views.IncidentsModel{Frame: frame(views.SectionReports, views.PathIncidents), Rows: []views.IncidentView{row, old}, MayOpen: true}
	none := views.IncidentsModel{Frame: frame(views.SectionReports, views.PathIncidents), MayOpen: true}

	op := views.OperationRow{ID: opTask, Revision: 4, URL: "/operations/" + string(opTask), State: operation.Review, Flow: "Campaign follow-up", Stage: "CRM task", Title: "Call the customer back",
		Destination: "Northdesk CRM", Next: operation.DecideReconcile, Responsible: views.RoleWho(operation.RoleOpsOwner, false), Due: in(time.Hour), Changed: ago(time.Hour)}
	second := op
	second.ID, second.State, second.Title, second.ConfirmedBy, second.Duplicate = "op_01jrw4v9n2k7aaaaaaaaaaaaaa", operation.Confirmed, "注文10482について電話する", views.ByPerson, views.DuplicateConfirmed
	pick := views.PickModel{Frame: frame(views.SectionReports, views.PathIncidents+"/new"), Form: form(views.PathIncidents + "/new"), Missing: 1, Known: []views.IncidentView{old},
		Rows: []views.PickRow{{OperationRow: op, Picked: true}, {OperationRow: second}}, People: []views.Option{{Value: "usr_1", Label: "Anna Wolska", Selected: true}}, Into: []views.Option{{Value: "inc_1", Label: "INC-7 Tasks in doubt"}}}
	tasks := []views.TaskView{
		{ID: "tsk_1", Number: "T-17", URL: "/tasks/tsk_1", Title: "Ask the CRM for a status page", Owner: opsOwner, Due: ago(30 * time.Hour), Late: true, State: operation.TaskOpen, Origin: operation.FromIncident, From: views.Link{Label: "INC-7", URL: row.URL}},
		{ID: "tsk_2", Number: "T-18", URL: "/tasks/tsk_2", Title: "照合の間隔を見直す", Role: operation.RoleOpsOwner, Due: in(9 * 24 * time.Hour), State: operation.TaskOpen, Origin: operation.FromReport, From: views.Link{Label: "2026-W15", URL: "/reports/rep_1"}},
		{ID: "tsk_3", Number: "T-4", URL: "/tasks/tsk_3", Title: "Search closed tasks too", Owner: support, OwnerGone: true, Role: operation.RoleApprover, Due: ago(90 * time.Hour), State: operation.TaskDone, Word: "The checklist asks for it.", Origin: operation.FromPerson},
	}
	page := incidentPage(row, op, second, tasks, old)
	signed := page
	scope := page.Scope
	scope.Effects = map[operation.Effect]int{operation.EffectConfirmed: 20, operation.EffectDoubtful: 2, operation.EffectNone: 1}
	signed.State, signed.Open, signed.Signed, signed.Sign, signed.Hidden, signed.HiddenFlows = operation.IncidentSigned, false, &scope, views.SignForm{}, 3, 1
	signed.Signatures = []views.SignatureView{{Revision: 1, By: "Anna Wolska", Role: operation.RoleOpsOwner, At: ago(time.Hour), Comment: "Agreed with the provider.", Hash: hashOne, Text: "holdpoint/incident/1\nid: inc_1\n"}}
	signed.Revise = &views.ReasonForm{Form: form(row.URL + "/revise")}
	edit := views.IncidentEditModel{Frame: frame(views.SectionReports, row.URL+"/edit"), Form: form(row.URL + "/edit"), Number: "INC-7", URL: row.URL, Title: row.Title, Summary: page.Summary, Pattern: row.Pattern,
		Cause: "Mine: the CRM was down.", Proposed: map[string]time.Time{"first": ago(26 * time.Hour), "last": ago(25 * time.Hour)}, Last: "2026-04-15T08:00",
		Classes: []views.Option{{Value: "system_error"}, {Value: "destination_outage", Selected: true}, {Value: "data_problem"}}, Changed: []views.ChangedField{{Label: "Cause", Now: "Theirs: a release of the CRM went wrong."}}}
	choose := views.ChooseLinesModel{Frame: frame(views.SectionReports, row.URL+"/timeline"), Form: form(row.URL + "/timeline"), Number: "INC-7", URL: row.URL, Lines: page.Lines[:2]}
	list2 := views.TasksModel{Frame: frame(views.SectionReports, views.PathTasks), Rows: tasks, Open: 2, Late: 1}
	task := views.TaskModel{Frame: frame(views.SectionReports, tasks[0].URL), TaskView: tasks[0], Flows: []string{"Campaign follow-up"}, Opened: ago(99 * time.Hour), OpenedBy: opsOwner, NextTold: in(5 * 24 * time.Hour), MayChange: true,
		Close: &views.CloseTaskForm{Form: form(tasks[0].URL + "/close")}, Edit: &views.TaskForm{Form: form(tasks[0].URL + "/edit"), ID: "edit-", Title: tasks[0].Title, Due: "2026-04-15T08:00", Change: true, Now: &tasks[0]}}
	task.History = views.HistoryModel{Total: 1, Verified: true, Entries: []views.HistoryLine{{Seq: 1, Hash: hashOne, At: ago(99 * time.Hour), Who: opsOwner, Role: operation.RoleOpsOwner, Channel: "web", Action: "open_task"}}}
	task.Why = "Nobody knew for two hours whether it was them or us."
	faulty := task
	wrong := *task.Edit
	wrong.Title, wrong.Now = "", nil
	wrong.Errors = map[string]views.Say{"title": views.Invalid("text_missing", 0), "owner": views.Invalid("owner_missing", 0), "due": views.Invalid("due_past", 0), "reason": views.Invalid("reason_missing", 0)}
	faulty.Edit = &wrong
	return []Fixture{{"task-faults", views.TaskPage(faulty)}, {"incidents", views.IncidentsPage(list)}, {"incidents-none", views.IncidentsPage(none)}, {"incident-new", views.PickPage(pick)}, {"incident", views.IncidentPage(page)},
		{"incident-signed", views.IncidentPage(signed)}, {"incident-conflict", views.IncidentEditPage(edit)}, {"incident-timeline", views.ChooseLinesPage(choose)},
		{"tasks", views.TasksPage(list2)}, {"task", views.TaskPage(task)}, {"flow-sheet", views.SheetPage(flowSheet())}}
}

func incidentPage(row views.IncidentView, op, second views.OperationRow, tasks []views.TaskView, old views.IncidentView) views.IncidentModel {
	m := views.IncidentModel{Frame: frame(views.SectionReports, row.URL), IncidentView: row, Revision: 2, Opened: ago(20 * time.Hour), OpenedBy: opsOwner,
		Summary: "The CRM answered nothing for an hour. 23 tasks were sent and nobody knew which of them it had saved.", Cause: "A release of the CRM was rolled back.\nIts queue kept what it had taken.",
		Response: "Every task was looked up by our reference.", Flows: []string{"Campaign follow-up"}, Whole: true, Open: true, Unsettled: true, Hash: hashOne, SignedText: "holdpoint/incident/1\nid: inc_1\n",
		EditURL: row.URL + "/edit", TimelineURL: row.URL + "/timeline", Markdown: row.URL + "/incident.md", Omitted: 1, Similar: []views.IncidentView{old}, Tasks: tasks[:1],
		Scope: operation.IncidentScope{Operations: 23, Effects: map[operation.Effect]int{operation.EffectConfirmed: 21, operation.EffectDoubtful: 1, operation.EffectNone: 1}, ConfirmedByPerson: 3, DuplicateConfirmed: 1,
			Recipients: 19, RecipientsNamed: 20, RecipientsNotNamed: 2, RecipientsNotStored: 1},
		Times: []views.IncidentTime{{Key: "first", At: ago(26 * time.Hour)}, {Key: "last", At: ago(25 * time.Hour), Corrected: true}, {Key: "detected", At: ago(26*time.Hour - time.Minute)}, {Key: "settled"}},
		Ops:   []views.IncidentOp{{OperationRow: op, Effect: operation.EffectDoubtful}, {OperationRow: second, Effect: operation.EffectConfirmed}},
	}
	link := views.Link{Label: "op_0…aaaaaaaa", URL: op.URL}
	m.Lines = []views.TimelineLine{
		{Key: "1-9-23", At: ago(26 * time.Hour), Until: ago(25*time.Hour + 50*time.Minute), Action: "dispatch", From: operation.InProgress, To: operation.InProgress, Operations: []views.Link{link}, Count: 23, Chosen: true},
		{Key: "10-19-23", At: ago(26*time.Hour - time.Minute), Until: ago(25*time.Hour + 49*time.Minute), Action: "unknown", From: operation.InProgress, To: operation.Unknown, Operations: []views.Link{link}, Count: 23, Chosen: true},
		{ID: "inl_1", At: ago(25 * time.Hour), Until: ago(25 * time.Hour), Who: "Anna Wolska", Says: "Called the provider: they roll back."},
		{Key: "20-20-1", At: ago(20 * time.Hour), Until: ago(20 * time.Hour), Action: "effect", From: operation.Review, To: operation.Confirmed, Operations: []views.Link{link}, Count: 1, Who: "Tomek Lis", Says: "Seen in the CRM."},
	}
	m.AddLine, m.AddOps, m.Take, m.RemoveLine = views.LineForm{Form: form(row.URL + "/line"), At: "2026-04-16T09:42"}, views.AddOpsForm{Form: form(row.URL + "/operations")}, form(row.URL+"/take"), form(row.URL+"/remove-line")
	m.AddTask, m.Sign = views.TaskForm{Form: form(row.URL + "/task"), ID: "task-", Due: "2026-04-30T09:42"}, views.SignForm{Form: form(row.URL + "/sign")}
	return m
}

func flowSheet() views.SheetModel {
	flow := views.FlowModel{Key: "campaign-follow-up", Title: "Campaign follow-up", Version: 4, AppliedAt: ago(99 * time.Hour), Trigger: "Shopify Flow · campaign-request", Owner: lead, Reviewer: views.RoleWho(operation.RoleOpsOwner, false),
		ReexecutionBy: views.RoleWho(operation.RoleOpsOwner, false), ReexecutionNeed: 1, OnMissing: "draft", Failure: "Look in the CRM first. The mail never goes out before the task is confirmed.",
		Inputs: []views.FlowInput{{Name: "customer_ref", Type: "string", Required: true}, {Name: "email", Type: "email", Required: true}}, ChecklistExtra: []string{"Closed tasks searched too?"}, Runbook: "1. Look it up.\n2. Nothing found is not a proof."}
	stage := views.FlowStage{Number: 1, Key: "crm-task", Title: "CRM task", Destination: views.Link{Label: "Northdesk CRM"}, Action: "Create a task", Approvers: views.RoleWho(operation.RoleApprover, false), Required: 1, SeparateAuthor: true, AttemptsMax: 5, SatisfiedBy: "confirmed"}
	mail := stage
	mail.Number, mail.Title, mail.Destination, mail.Action, mail.Required, mail.SatisfiedBy, mail.Drafted = 2, "Mail", views.Link{Label: "Mail"}, "Send a mail", 2, "accepted", []views.FlowDraft{{Name: "subject", Brief: "One line."}}
	return views.SheetModel{Frame: frame(views.SectionFlows, "/flows/campaign-follow-up/versions/4/sheet"), Flow: flow, URL: "/flows/campaign-follow-up/versions/4", Current: true, Hash: hashOne,
		Introduction: "A request becomes **one task**, then **one mail**.", Outputs: []views.SheetNamed{{Key: "crm_task_id", Says: "Number of the task"}, {Key: "message_id"}},
		Stages: []views.SheetStage{{FlowStage: stage, Account: "northdesk-42", Environment: "live", SettleAfter: 2 * time.Minute, Protection: views.SheetProtection{Unique: "reference", Lookup: true, Lag: 15 * time.Second, Authoritative: true}},
			{FlowStage: mail, Protection: views.SheetProtection{Key: true, Header: "Idempotency-Key", Retention: 24 * time.Hour, Proven: ago(400 * time.Hour), Broken: ago(30 * time.Hour), ReplaysErrors: true}}},
		Prompts: []views.SheetPrompt{{Name: "email", Version: "3", Text: "Thank the customer; no prices."}}, Cases: []views.SheetCase{{Name: "redelivery", Title: "The same event twice", Given: "It is delivered again.", Expect: "One run."}, {Name: "resume"}}}
}
