package viewstest

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

func closedPage(state operation.State) views.OperationModel {
	m := taskPage(state, operation.DecideNothing, 0)
	m.Head.Responsible = views.Who{}
	m.Panel = views.Panel{Erase: &views.ReasonForm{Form: form("/operations/x/erase"), Confirm: true, Effects: []string{"keeping.goes.contents", "keeping.goes.evidence", "keeping.stays"}}, Dispute: &views.DisputeForm{Form: form("/operations/x/dispute")}, Evidence: &views.EvidenceForm{Form: form("/operations/x/evidence"), Closed: true}}
	return m
}

func closedFixtures() []Fixture {
	byDest := closedPage(operation.Confirmed)
	byDest.Head.ConfirmedBy, byDest.Head.Delivery = views.ByDestination, views.DeliveryAccepted
	byDest.Tried = views.Tried{Attempts: []views.AttemptView{attemptConfirmed(1, time.Hour)}, Used: 1, Max: 5}
	byDest.Found.References = []views.Reference{{ID: "TSK-20931", URL: "https://northdesk.example/t/20931", Effect: "task", At: ago(time.Hour), By: views.SystemWho()}}
	byDest.Approved.Version.Request.Resolved = true
	byDest.Frame.Flash = []views.Flash{{Kind: views.FlashDone, Say: views.Sentence(views.FlashConfirmed, "Reference", "TSK-20931")}}

	byPerson := closedPage(operation.Confirmed)
	byPerson.Head.ConfirmedBy = views.ByPerson
	settled := attemptUnknown(1, 20*time.Hour)
	settled.SettledBy = views.SettledEffect
	byPerson.Tried = views.Tried{Attempts: []views.AttemptView{settled}, Used: 1, Max: 5}
	byPerson.Found.References = []views.Reference{{ID: "TSK-20931", Effect: "task", At: ago(time.Hour), By: opsOwner}}
	byPerson.Found.Evidence = evidence()

	double := closedPage(operation.Confirmed)
	double.Head.ConfirmedBy, double.Head.Duplicate = views.ByPerson, views.DuplicateConfirmed
	double.Head.Next, double.Head.Responsible, double.Head.Due = operation.DecideRemedy, opsOwner, in(20*time.Hour)
	double.Panel.Yours, double.Panel.Remedy = true, reason("/operations/x/remedy")

	rejected := closedPage(operation.Rejected)
	rejected.Head.ReplacedBy = &views.Link{Label: "Call about the teapot, second draft", URL: "/operations/op_new"}
	rejected.Approved.Signatures = []views.Signature{{Given: true, Who: lead, At: ago(time.Hour), Decision: operation.Reject, Comment: "The teapot was replaced already."}}
	rejected.Approved.Versions[0].Decisions, rejected.Approved.ExpiresAt = rejected.Approved.Signatures, time.Time{}
	cancelled := closedPage(operation.Cancelled)
	cancelled.Approved.Signatures, cancelled.Approved.ExpiresAt = nil, time.Time{}
	cancelled.History.Verified = false
	notExecuted := closedPage(operation.NotExecuted)
	notExecuted.Panel.Replace = &views.LinkAction{URL: "/operations/x/replace"}
	none := attemptUnknown(1, 20*time.Hour)
	none.SettledBy = views.SettledNoEffect
	notExecuted.Tried = views.Tried{Attempts: []views.AttemptView{none}, Used: 1, Max: 5}
	notExecuted.Head.Replaces = &views.Link{Label: "Call about the teapot, first draft", URL: "/operations/op_old"}
	notExecuted.Approved.Version.Content = views.ContentView{Erased: true, Gone: &views.Erasure{At: ago(3 * time.Hour), By: lead, Reason: "The customer asked for it."}}
	run := &views.Link{Label: "run_…3v9m7", URL: "/runs/run_1"}
	blocked := rejected
	blocked.Head.ReplacedBy, blocked.Head.Blocked = nil, run
	blocked.Head.Next, blocked.Head.Responsible, blocked.Head.Due = operation.DecideRemedy, opsOwner, in(3*time.Hour)
	blocked.Panel.Yours, blocked.Panel.Remedy = true, reason("/operations/x/remedy")
	stuck := taskPage(operation.Draft, operation.DecideComplete, 20*time.Hour)
	stuck.Head.EarlierClosed = &views.Link{Label: "CRM task", URL: "/runs/run_1"}
	told := byDest
	told.News = newsSteps()
	return []Fixture{
		{"operation-confirmed-told", views.OperationPage(told)},
		{"operation-blocked", views.OperationPage(blocked)},
		{"operation-draft-stuck", views.OperationPage(stuck)},
		{"operation-confirmed", views.OperationPage(byDest)},
		{"operation-confirmed-person", views.OperationPage(byPerson)},
		{"operation-confirmed-duplicate", views.OperationPage(double)},
		{"operation-rejected", views.OperationPage(rejected)},
		{"operation-cancelled", views.OperationPage(cancelled)},
		{"operation-not-executed", views.OperationPage(notExecuted)},
	}
}

func editFixtures() []Fixture {
	fields := []views.EditField{
		{Path: "to", Name: "to", Value: "recipient-48297@buyer.example", ReadOnly: true},
		{Path: "subject", Name: "subject", Kind: views.EditLine, Value: "About your late order 10519", MaxLen: 200},
		{Path: "text", Name: "text", Kind: views.EditLong, Missing: true},
		{Path: "html", Name: "html", Kind: views.EditLong, Optional: true},
		{Path: "lines.0.amount", Name: "amount", Kind: views.EditNumber, Value: "48"},
		{Path: "urgent", Name: "urgent", Label: "Urgent", Kind: views.EditFlag, Value: "yes"},
		{Path: "currency", Name: "currency", Kind: views.EditChoice, Options: []views.Option{{Value: "EUR", Label: "EUR", Selected: true}, {Value: "PLN", Label: "PLN"}}},
	}
	page := mailPage()
	edit := views.EditModel{Frame: page.Frame, Head: page.Head, Stages: page.Stages,
		Edit: views.EditForm{Form: form("/operations/x/edit"), Mode: views.EditVersion, Fields: fields, Lapses: 1, Submit: true}}
	edit.Edit.Errors = map[string]views.Say{"content.text": views.Sentence(views.ErrorRequired)}
	replace := edit
	replace.Edit.Mode, replace.Edit.Dispatched, replace.Edit.Lapses = views.EditReplacement, 2, 0
	barredEdit := edit
	barredEdit.Edit = views.EditForm{Form: barred(operation.CodeAttemptsUnsettled), Mode: views.EditVersion}

	old := mailVersion()
	old.Number, old.Hash = 2, hashOne
	stale := views.StaleModel{Frame: page.Frame, Head: page.Head, Seen: views.StaleSide{Revision: 8, State: operation.PendingApproval, Version: old},
		Now: views.StaleSide{Revision: 9, State: operation.PendingApproval, Version: mailVersion()}, Diff: mailChanges(), Panel: page.Panel, Signatures: page.Approved.Signatures, Changes: page.History.Entries}
	stale.Panel.Decide.Comment, stale.Panel.Decide.Decision = "Address checked against the order.", operation.Approve
	moved := stale
	moved.Diff, moved.SameContent, moved.Panel = nil, true, views.Panel{Evidence: &views.EvidenceForm{Form: form("/operations/x/evidence"), Closed: true, Kept: true,
		EvidenceFields: views.EvidenceFields{Evidence: "Address checked against the order."}}}
	moved.Now.State = operation.Cancelled
	return []Fixture{
		{"edit", views.EditPage(edit)},
		{"edit-replacement", views.EditPage(replace)},
		{"edit-barred", views.EditPage(barredEdit)},
		{"stale", views.StalePage(stale)},
		{"stale-moved", views.StalePage(moved)},
	}
}
