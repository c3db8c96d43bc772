package viewstest

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

// mailPage is the mail that waits for approval.
func mailPage() views.OperationModel {
	h := head(operation.PendingApproval, operation.DecideApprove, views.RoleWho(operation.RoleApprover, true), 78*time.Minute)
	h.ID, h.Title, h.Stage, h.Revision = opMail, "About your late order 10519", "Follow-up e-mail", 9
	h.Number, h.Given, h.Required = 3, 1, 2
	h.Destination = views.Link{Label: "Postrider Mail", URL: "/destinations/mail"}
	signatures := []views.Signature{{Given: true, Who: support, At: ago(47 * time.Minute), Decision: operation.Approve, Comment: "Fine now. Address checked."},
		{Who: views.RoleWho(operation.RoleApprover, true), Since: ago(61 * time.Minute)}}
	return views.OperationModel{Frame: frame(views.SectionOperations, "/operations/"+string(opMail)), Head: h,
		Stages: stages(1, operation.Confirmed, operation.PendingApproval, operation.Waiting),
		Approved: views.Approved{Version: mailVersion(), View: views.ViewChanges, Views: viewLinks(views.ViewChanges), Compare: mailComparison(),
			Required: 2, Signatures: signatures, Versions: mailVersions()},
		Found:   views.Found{Protection: protected(), AcceptedOnly: true, LookupLag: time.Minute},
		Panel:   views.Panel{Yours: true, Decide: decide(), Edit: &views.LinkAction{URL: "/operations/x/edit"}, Pause: reason("/operations/x/pause"), Cancel: cancel()},
		History: history(operation.Draft, operation.PendingApproval, operation.PendingApproval)}
}

func decide() *views.DecideForm {
	return &views.DecideForm{Form: form("/operations/x/decide"), Number: 3, Given: 1, Required: 2, Recipients: 1, Destination: "Postrider Mail", NextStage: "Goodwill coupon", Presets: presets(""), Apart: []views.Who{editor}}
}

func cancel() *views.ReasonForm {
	f := reason("/operations/x/cancel")
	f.Confirm = true
	return f
}

// sentBack is a version whose author is asked to change it, after one had approved it.
func sentBack() views.OperationModel {
	m := mailPage()
	m.Head.State, m.Head.Next, m.Head.Responsible = operation.Draft, operation.DecideComplete, views.RoleWho(operation.RoleAuthor, true)
	m.Approved.Signatures = m.Approved.Signatures[:1]
	m.Approved.Versions = mailVersions()
	m.Approved.Versions[0].Decisions = []views.Signature{m.Approved.Signatures[0],
		{Given: true, Who: lead, At: ago(12 * time.Minute), Decision: operation.RequestChanges, Preset: "wording", Comment: "Promise no date."}}
	m.Panel = views.Panel{Yours: true, Edit: &views.LinkAction{URL: "/operations/x/edit"}, Cancel: cancel()}
	return m
}

func approvalFixtures() []Fixture {
	asMail := mailPage()
	asMail.Approved.View, asMail.Approved.Views = views.ViewContent, viewLinks(views.ViewContent)

	wrong := mailPage()
	wrong.Panel.Decide.Decision, wrong.Panel.Decide.Comment = operation.Reject, ""
	wrong.Panel.Decide.Errors = map[string]views.Say{"comment": views.Refused(operation.Refuse(operation.CodeReasonMissing))}
	wrong.Frame.Flash = []views.Flash{{Kind: views.FlashWarn, Say: views.Sentence(views.FlashSignInAgain)}}

	own := mailPage()
	own.Head.Responsible = views.Who{Kind: views.WhoRole, Role: operation.RoleApprover, Another: true}
	own.Approved.Signatures = []views.Signature{own.Approved.Signatures[0], {Who: own.Head.Responsible}}
	own.Panel = views.Panel{Decide: &views.DecideForm{Form: barred(operation.CodeOwnContent), Required: 2},
		Barred: []views.BarredAction{{Action: "send_again", Why: operation.Refuse(operation.CodeNotApproved)}}, Withdraw: reason("/operations/x/withdraw")}

	expired := mailPage()
	expired.Panel.Decide.Expired, expired.Panel.Decide.Given = true, 0
	expired.Approved.Signatures = nil

	task := mailPage()
	task.Head.Title, task.Approved = "Call about the damaged teapot, order 10482", views.Approved{Version: taskVersion(), View: views.ViewContent, Required: 1}
	task.Panel.Decide.Recipients, task.Panel.Decide.Required, task.Panel.Decide.Given = 0, 1, 0

	draft := mailPage()
	draft.Head.State, draft.Head.Next, draft.Head.Responsible = operation.Draft, operation.DecideComplete, views.RoleWho(operation.RoleAuthor, true)
	draft.Approved = views.Approved{Missing: []string{"subject", "text"}, Required: 2}
	draft.Panel = views.Panel{Yours: true, Edit: &views.LinkAction{URL: "/operations/x/edit"}, Cancel: cancel()}
	return []Fixture{
		{"operation-pending", views.OperationPage(mailPage())},
		{"operation-pending-mail", views.OperationPage(asMail)},
		{"operation-pending-wrong", views.OperationPage(wrong)},
		{"operation-pending-own", views.OperationPage(own)},
		{"operation-pending-expired", views.OperationPage(expired)},
		{"operation-pending-task", views.OperationPage(task)},
		{"operation-pending-interrupt", views.OperationPage(interruptPage())},
		{"operation-draft", views.OperationPage(draft)},
		{"operation-sent-back", views.OperationPage(sentBack())},
	}
}
