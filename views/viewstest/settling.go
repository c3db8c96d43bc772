package viewstest

import (
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/static"
	"holdpoint/views"
)

// attachments are a screenshot, a document with a long name, and one that was erased.
func attachments() []views.AttachmentView {
	return []views.AttachmentView{
		{ID: "atc_1", URL: static.Path("logo.svg"), Name: "audit-log.png", Kind: "image/png", Size: 84_210, Width: 1280, Height: 720, Hash: hashTwo, By: support, At: ago(90 * time.Minute)},
		{ID: "atc_2", URL: "/operations/x/attachments/atc_2", Name: strings.Repeat("search-of-all-closed-tasks-", 5) + ".pdf", Kind: "application/pdf", Size: 2_300_000, Hash: hashOne, By: support, At: ago(80 * time.Minute)},
		{ID: "atc_3", Kind: "image/webp", Size: 12_000, Width: 400, Height: 300, Hash: hashOne, By: support, At: ago(80 * time.Minute), Erased: true},
	}
}

func sendAgain() *views.SendAgain {
	return &views.SendAgain{Why: "expired", At: ago(18 * time.Hour), Destination: "Northdesk CRM", Effect: "task", Who: views.RoleWho(operation.RoleOpsOwner, false)}
}

// settlingFixtures are a case with files, what comes after it, and forms that are refused.
func settlingFixtures() []Fixture {
	files := reviewPage()
	files.Panel.Reconcile.Finding, files.Panel.Reconcile.Reference = views.FindingDone, "TSK-20931"
	files.Panel.Reconcile.DoneEvidence = views.EvidenceFields{How: views.HowLog, Evidence: "Audit log: created 14 Apr 14:53:09 with our reference, then closed by the returns desk."}
	files.Panel.Reconcile.FilesLost = 2
	files.Panel.Reconcile.Errors = map[string]views.Say{"done_files": views.Sentence("attachment.refused.file_kind", "Name", "page.png")}
	files.Found.Evidence = evidence()
	files.Found.Evidence[0].Attachments = attachments()

	mail := reviewPage()
	mail.Panel.Reconcile.Effect, mail.Panel.Reconcile.NextStage = "email", ""
	mail.Panel.Reconcile.Finding, mail.Panel.Reconcile.Then = views.FindingNotDone, views.ThenClose
	mail.Panel.Reconcile.Checklist = checklist(true)
	mail.Panel.Reconcile.Checklist[1].Attachments = attachments()[:1]
	mail.Panel.Reconcile.SendAgain = &views.SendAgain{Why: "keyless", Destination: "Northdesk CRM", Effect: "email", Who: views.RoleWho(operation.RoleOpsOwner, true), NotBefore: in(20 * time.Minute)}

	second := reviewPage()
	second.Head.State, second.Head.Next, second.Head.Overdue, second.Head.Due = operation.ReexecutionRequested, operation.DecideReexecution, false, in(48*time.Minute)
	second.Head.Why = views.Say{}
	answers := checklist(true)
	answers[1].Attachments, answers[4].Attachments = attachments()[:1], attachments()[1:2]
	given := evidence()[:1]
	given[0].Attachments = attachments()
	second.Panel = views.Panel{Yours: true, Reexecution: &views.ReexecutionForm{Form: form("/operations/x/reexecution"), Decision: "approve", Destination: "Northdesk CRM",
		Key: string(opTask) + "-g2", Generation: 2, RequestedBy: support, RequestedAt: ago(72 * time.Minute), Reason: "Nothing was created; the gateway dropped our request.",
		Checklist: answers, Evidence: given, Required: 1, FreshLookup: true, ApprovalExpiry: 4 * time.Hour}}

	settled := taskPage(operation.Confirmed, operation.DecideNothing, 0)
	settled.Panel = views.Panel{Next: &views.NextUnknown{ID: opTask, URL: "/operations/x?settle=1", Title: "Invoice for subscription 2198", Left: 9}}
	last := taskPage(operation.Confirmed, operation.DecideNothing, 0)
	last.Panel = views.Panel{Next: &views.NextUnknown{}}
	return []Fixture{
		{"settling-files", views.OperationPage(files)},
		{"settling-mail-close", views.OperationPage(mail)},
		{"settling-second-person", views.OperationPage(second)},
		{"settling-next", views.OperationPage(settled)},
		{"settling-last", views.OperationPage(last)},
		{"error-cross-site", views.ErrorPage(views.ErrorModel{Frame: views.Frame{Path: "/x"}, Status: 403, Kind: views.ErrorForeign})},
		{"error-other-person", views.ErrorPage(views.ErrorModel{Frame: frame("", "/x"), Status: 403, Kind: views.ErrorOfAnother,
			Back: views.Link{Label: "Call about the damaged teapot", URL: "/operations/" + string(opTask)}})},
	}
}
