package viewstest

import (
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

const patternTimeout, patternRefused = operation.PatternID("pat_01h2xcejqtf2nbrexx3vqjhp41"), operation.PatternID("pat_01h2xcejqtf2nbrexx3vqjhp42")

func patternCases() []views.PatternCase {
	return []views.PatternCase{
		{ID: opTask, URL: "/operations/" + string(opTask), Title: "Call about the damaged teapot", Flow: "Campaign follow-up", Case: "RC-147", CaseURL: "/cases/case_1", At: ago(3 * time.Hour), Changed: ago(time.Hour), State: operation.Confirmed, Ending: operation.EndFound},
		{ID: opTask, URL: "/operations/x", Title: "返品の確認のお電話", Flow: "キャンペーン後の連絡", At: ago(30 * time.Hour), Changed: ago(28 * time.Hour), State: operation.NotExecuted, Ending: operation.EndNotExecuted},
		{ID: opTask, URL: "/operations/y", Title: "Faktura za odnowienie – zamówienie 2198", Flow: "Subscription renewal", Case: "RC-91", CaseURL: "/cases/case_2", At: ago(90 * time.Hour), Changed: ago(80 * time.Hour), State: operation.Confirmed, Ending: operation.EndReexecuted},
	}
}

func knownPattern() *views.KnownPattern {
	return &views.KnownPattern{URL: "/patterns/" + string(patternTimeout), Ended: operation.Endings{operation.EndFound: 9, operation.EndPerson: 2, operation.EndReexecuted: 1, operation.EndOpen: 3},
		Last: patternCases(), Note: "Northdesk’s gateway drops answers between 22:00 and 23:00; the task is there nearly always.", Runbook: true}
}

func causeBlock() views.CauseModel {
	return views.CauseModel{
		Causes: []views.CauseView{
			{Kind: operation.StopUnknown, Class: operation.ClassOutage, Phase: operation.CauseWaiting, Code: "timeout", At: ago(3 * time.Hour), Pattern: "/patterns/" + string(patternTimeout)},
			{Kind: operation.StopUnknown, Class: operation.ClassSystem, By: support, ByAt: ago(2 * time.Hour), ByWhy: "Our proxy was restarted.", Phase: operation.CauseAnswer, Code: "unrecognised_answer", Status: 502, Error: "bad gateway … upstream", At: ago(5 * time.Hour), Pattern: "/patterns/" + string(patternRefused)},
		},
		Known:   knownPattern(),
		Correct: &views.CorrectCauseForm{Form: form("/operations/x/cause"), Stop: 7, Class: operation.ClassOutage},
	}
}

func patternViews() []views.PatternRow {
	crm := views.Link{Label: "Northdesk CRM", URL: "/destinations/crm"}
	return []views.PatternRow{
		{PatternView: views.PatternView{ID: patternTimeout, URL: "/patterns/" + string(patternTimeout), Destination: crm, Phase: operation.CauseWaiting, Class: operation.ClassOutage, RuleClass: operation.ClassOutage, Code: "timeout", FirstAt: ago(3000 * time.Hour),
			Note: "The task is there nearly always.", Runbook: "1. Open the **audit log**.\n2. Search by the operation ID."},
			Times: 14, LastAt: ago(3 * time.Hour), Open: 2, Ended: operation.Endings{operation.EndFound: 9, operation.EndPerson: 2, operation.EndReexecuted: 1, operation.EndOpen: 2}},
		{PatternView: views.PatternView{ID: patternRefused, URL: "/patterns/" + string(patternRefused), Destination: views.Link{Label: strings.Repeat("Postrider Mail ", 3)}, Phase: operation.CauseAnswer, Class: operation.ClassContent, RuleClass: operation.ClassContent,
			Code: "recipient_refused", Status: 550, Error: "user unknown in table … mailbox … not found or access denied", FirstAt: ago(900 * time.Hour)},
			Times: 1204, LastAt: ago(50 * time.Hour), Ended: operation.Endings{operation.EndRepeated: 12, operation.EndWithdrawn: 8}},
		{PatternView: views.PatternView{ID: patternRefused, URL: "/patterns/x", Destination: crm, Phase: operation.CausePrepare, Class: operation.ClassContent, RuleClass: operation.ClassContent, Code: "content_missing", Error: "customer_ref email", FirstAt: ago(400 * time.Hour)},
			Times: 1, LastAt: ago(400 * time.Hour), Open: 1, Ended: operation.Endings{operation.EndOpen: 1}},
	}
}

// causeFixtures are why operations stop: on an operation's page, in the library, disputes,
// and evidence against a decision.
func causeFixtures() []Fixture {
	known := reviewPage()
	known.Cause = views.CauseBlock(causeBlock())
	known.Panel.Reconcile.Checklist = checklist(true)
	known.Panel.Reconcile.Finding = views.FindingNotDone
	known.Panel.Reconcile.Checklist[4].Known = knownPattern()

	asked := causeBlock()
	asked.Correct.From, asked.Correct.Class, asked.Correct.Reason = "small-model", operation.ClassSystem, "The request was sent and no answer came; a proxy in between may have dropped it."
	asked.Suggestions = []views.SuggestionView{{Model: "small-model", Purpose: "class", Class: operation.ClassSystem, Words: asked.Correct.Reason, By: support, At: ago(time.Minute), Took: 1800 * time.Millisecond, Use: "/operations/x?suggestion=sug_1"},
		{Model: "small-model", Purpose: "note", Words: "A time-out while waiting for the answer.\nLook at the audit log first. <b>approve</b>\u202e", By: support, At: ago(time.Hour), Took: 2400 * time.Millisecond}}
	asked.Assist = &views.AssistView{Form: form("/operations/x/suggest"), Model: "small-model", Host: "models.example", Sent: []string{"You help people who run business automations.", "FACTS\ndestination: crm\nerror code: timeout\nEND"}}
	asked.Assist.Errors = map[string]views.Say{"": views.Sentence("assist.trouble.unfit")}
	model := reviewPage()
	model.Cause = views.CauseBlock(asked)

	against := reviewPage()
	against.Head.Contradiction = &views.Contradiction{By: support, Decided: ago(26 * time.Hour), Decision: "close_not_executed", Words: "Their audit log of that night shows no task with our reference.", Told: "callback", At: ago(12 * time.Minute),
		Evidence: views.Link{Label: "TSK-20931", URL: "https://northdesk.example/tasks/20931"}}

	disputed := reviewPage()
	disputed.Head.Disputed = &views.Disputed{Still: true, Told: "lookup", Reference: views.Link{Label: "TSK-20931", URL: "https://northdesk.example/tasks/20931"}, At: ago(12 * time.Minute)}
	disputed.Panel.Reconcile.Reference, disputed.Panel.Reconcile.DoneEvidence.Link = "TSK-20931", "https://northdesk.example/tasks/20931"
	disputed.Head.Why = views.Say{}
	disputed.Panel.Evidence = &views.EvidenceForm{Form: form("/operations/x/evidence"), States: true, Disputed: true}
	disputed.Found.Lookups = []views.LookupLine{{Result: operation.LookupOne, At: ago(12 * time.Minute), Count: 1, ID: "TSK-20931", URL: "https://northdesk.example/tasks/20931"}}
	unseen := reviewPage()
	unseen.Head.Why = views.Say{}
	unseen.Head.Disputed = &views.Disputed{Still: true}
	unseen.Panel.Evidence = &views.EvidenceForm{Form: form("/operations/x/evidence"), Disputed: true}

	library := views.PatternsModel{Frame: frame(views.SectionOperations, "/patterns"), Rows: patternViews(), Active: true,
		Flows: []views.Option{{Value: "renewal", Label: "Subscription renewal"}}, Destinations: []views.Option{{Value: "crm", Label: "Northdesk CRM", Selected: true}},
		Classes: []views.Option{{Value: "data_problem"}}, Phases: []views.Option{{Value: "waiting"}}, Pager: views.Pager{Next: "/patterns?after=x"}}
	one := patternViews()[0]
	page := views.PatternModel{Frame: frame(views.SectionOperations, one.URL), Pattern: one.PatternView, Times: one.Times, LastAt: one.LastAt, Ended: one.Ended, Window: 12,
		Flows:  []views.PatternFlow{{Link: views.Link{Label: "Campaign follow-up", URL: one.URL + "?flow=campaign-follow-up"}, Times: 13}, {Link: views.Link{Label: "Subscription renewal", URL: one.URL}, Times: 1, Only: true}},
		Closed: patternCases(), Edit: &views.PatternForm{Form: form(one.URL + "/words"), Note: one.Note, Runbook: one.Runbook},
		History: views.HistoryModel{Total: 1, Verified: true, Entries: []views.HistoryLine{{Seq: 1, Hash: hashOne, At: ago(40 * time.Hour), Who: support, Role: operation.RoleOpsOwner, Channel: "web", Action: "write_pattern"}}}}
	opened := patternCases()[0]
	opened.State, opened.Ending = operation.Review, operation.EndOpen
	page.Open = []views.PatternCase{opened}

	set := views.DisputesModel{Frame: frame(views.SectionOperations, "/disputes"), Form: form("/disputes"), All: "/disputes?all=yes", Back: "/operations", More: true, Left: 3}
	set.Errors = map[string]views.Say{"evidence": views.Refused(operation.Refuse(operation.CodeEvidenceMissing))}
	for i, c := range patternCases() {
		set.Items = append(set.Items, views.DisputeItem{ID: operation.ID(string(opTask)[:28] + string('a'+rune(i))), URL: c.URL, Title: c.Title, Flow: c.Flow, Destination: "Northdesk CRM", Reference: views.Link{Label: "TSK-2093" + string('1'+rune(i))},
			ConfirmedBy: views.ByDestination, At: c.At, Revision: 9, Picked: i < 2})
	}
	result := views.DisputeResultModel{Frame: frame(views.SectionOperations, "/disputes/result"), Again: "/disputes", Rows: []views.TogetherResult{
		{Title: "Call about the damaged teapot", URL: "/operations/x", State: operation.Review},
		{Title: "返品の確認のお電話", URL: "/operations/y", State: operation.Confirmed, Refusal: operation.Refuse(operation.CodeStaleRevision)}}}
	return []Fixture{
		{"cause-known", views.OperationPage(known)},
		{"cause-model", views.OperationPage(model)},
		{"cause-contradiction", views.OperationPage(against)},
		{"cause-disputed", views.OperationPage(disputed)},
		{"cause-disputed-unseen", views.OperationPage(unseen)},
		{"patterns", views.PatternsPage(library)},
		{"patterns-empty", views.PatternsPage(views.PatternsModel{Frame: frame(views.SectionOperations, "/patterns")})},
		{"pattern", views.PatternPage(page)},
		{"disputes", views.DisputesPage(set)},
		{"disputes-empty", views.DisputesPage(views.DisputesModel{Frame: frame(views.SectionOperations, "/disputes"), Back: "/operations"})},
		{"disputes-result", views.DisputeResultPage(result)},
	}
}
