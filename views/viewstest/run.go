package viewstest

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

func runPage(state operation.RunState) views.RunModel {
	return views.RunModel{Frame: frame(views.SectionOperations, "/runs/run_1"), ID: "run_01jrw3v9m7", Title: "order 10482",
		Flow: views.Link{Label: "Campaign follow-up", URL: "/flows/campaign-follow-up"}, FlowVersion: 7, Key: hashTwo, State: state, StartedAt: ago(44 * time.Hour), Owner: lead,
		Stages: []views.RunStage{
			{Number: 1, Key: "crm-task", Title: "CRM task", Operation: opTask, URL: "/operations/" + string(opTask), State: operation.Confirmed, Mark: views.MarkKept, Destination: "Northdesk CRM",
				Reference: &views.Reference{ID: "TSK-20931", URL: "https://northdesk.example/t/20931"}, ConfirmedBy: views.ByPerson, Preview: views.Sentence("run.preview.kept"), DestURL: "/destinations/crm"},
			{Number: 2, Key: "email", Title: "Follow-up e-mail", Operation: opMail, URL: "/operations/" + string(opMail), State: operation.Ready, Mark: views.MarkNext, Version: 3, Hash: hashTwo, Destination: "Postrider Mail", DestURL: "/destinations/mail",
				Preview: views.Sentence("run.preview.send", "Destination", "Postrider Mail", "Number", 3), Next: operation.DecideTake, Responsible: views.SystemWho(), Due: in(time.Minute)},
			{Number: 3, Key: "coupon", Title: "Goodwill coupon", Mark: views.MarkLater, Destination: "Couponry", Preview: views.Sentence("run.preview.none"), Why: views.Refused(operation.Refuse(operation.CodeEarlierStage, "stage", "Follow-up e-mail"))},
		},
		Event:  views.EventView{ID: "evt_1", Source: "Shopify Flow (test shop)", Account: "aldermoor.myshopify.example", Topic: "campaign-request", Key: "b1946ac9-2492", At: ago(44 * time.Hour), Payload: `{"customer_ref":"48102"}`},
		Inputs: []views.Field{{Name: "customer_ref", Value: "48102"}, {Name: "campaign", Value: "Spring returns"}},
		Deliveries: []views.DeliveryRow{
			{ID: "dlv_1", At: ago(44 * time.Hour), Source: "Shopify Flow (test shop)", Topic: "campaign-request", Key: "d-1", EventKey: "b1946ac9-2492", Result: views.DeliveryRecorded, Status: 200},
			{ID: "dlv_2", At: ago(43 * time.Hour), Source: "Shopify Flow (test shop)", Topic: "campaign-request", Key: "d-2", EventKey: "b1946ac9-2492", Result: views.DeliveryRedelivery, Status: 200},
		}}
}

func runFixtures() []Fixture {
	open := runPage(operation.RunOpen)
	blocked := runPage(operation.RunBlocked)
	blocked.Stages[0].State, blocked.Stages[0].Mark, blocked.Stages[0].Reference = operation.NotExecuted, views.MarkBlocked, nil
	blocked.Stages[0].GoOn = &views.GoOnForm{Form: form("/runs/run_1/go-on"), Stage: "CRM task"}
	blocked.Stages[0].ReplaceURL, blocked.Stages[0].LeaveURL = "/operations/"+string(opTask)+"/replace", "/operations/"+string(opTask)+"#decision"
	blocked.Stages[0].ConfirmedBy, blocked.Stages[0].Preview = "", views.Sentence("run.preview.closed")
	blocked.Stages[1].Preview = views.Sentence("run.preview.draft_later", "Stage", "CRM task")
	blocked.Stages[1].Next, blocked.Stages[1].Responsible, blocked.Stages[1].Due, blocked.Stages[1].Overdue = operation.DecideComplete, views.RoleWho(operation.RoleAuthor, false), ago(time.Hour), true
	blocked.Stages[1].State, blocked.Stages[1].Mark, blocked.Stages[1].Version = operation.Draft, views.MarkLater, 0
	blocked.Stages[1].Why = views.Sentence("run.earlier_closed", "Stage", "CRM task")
	blocked.Event.Conflict, blocked.Event.Payload, blocked.Missing = true, "", []string{"email"}
	went := runPage(operation.RunCompleted)
	went.Stages[0].WentOn = &views.Signature{Given: true, Who: lead, At: ago(time.Hour), Comment: "Called by hand."}
	went.Stages[1].GoOn = &views.GoOnForm{Form: barred(operation.CodeNotEntitled), Stage: "Follow-up e-mail"}
	went.Event.Erased = true
	stopped := runPage(operation.RunStopped)
	return []Fixture{{"run", views.RunPage(open)}, {"run-blocked", views.RunPage(blocked)}, {"run-completed", views.RunPage(went)}, {"run-stopped", views.RunPage(stopped)}}
}
