package viewstest

import (
	"fmt"
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

const caseID operation.CaseID = "case_01h2xcejqtf2nbrexx3vqjhp43"

func caseView(n int) views.CaseView {
	return views.CaseView{ID: caseID, Number: operation.CaseNumber(int64(n)), URL: "/cases/" + string(caseID), OpenedAt: ago(19 * time.Hour), OpenedAs: operation.Unknown}
}

// casePage is the case of the task that a person must settle, as the reviewer sees it.
func casePage() views.CaseModel {
	o := reviewPage()
	o.Panel.Reconcile.Focus = false
	m := views.CaseModel{Case: caseView(147), Head: o.Head, Approved: o.Approved, Tried: o.Tried, Found: o.Found, Panel: o.Panel, Attempt: 4, Max: 5}
	m.Frame = frame(views.SectionOperations, m.Case.URL)
	me := views.RoleWho(operation.RoleOpsOwner, true)
	m.Gate = []views.GateLine{{Name: operation.GateVersion}, {Name: operation.GateEarlier}, {Name: operation.GateAttempt}, {Name: operation.GatePauses},
		{Name: operation.GatePermission, Why: operation.Refuse(operation.CodeNotReady), Waits: &me}}
	for i, c := range checklist(true) {
		item := views.CaseItem{CheckItem: c}
		f := form("/operations/x/checklist")
		if item.Form = &f; i > 3 {
			item.Answer, item.Comment = "", ""
		}
		m.List.Items = append(m.List.Items, item)
	}
	m.List.Items[1].Attachments, m.List.By = attachments()[:1], []views.Who{support}
	m.Evidence, m.Files = evidence()[:1], attachments()
	release, lookup := form("/cases/x/release"), form("/cases/x/lookup")
	m.Hand = views.CaseHand{By: views.PersonWho("Oli Ops", true), Since: ago(144 * time.Minute), Mine: true, Release: &release, Lookup: &lookup}
	m.Clock = views.CaseClockView{InHand: 144 * time.Minute, Active: 14 * time.Minute, Holds: []views.CaseHold{{Who: support, Taken: ago(5 * time.Hour), Released: ago(4 * time.Hour)}, {Who: m.Hand.By, Taken: ago(144 * time.Minute)}},
		People: []views.CaseActive{{Who: m.Hand.By, Active: 14 * time.Minute}}, Corrections: []views.CaseCorrection{{Who: support, At: ago(3 * time.Hour), Clock: operation.ClockInHand, Delta: -30 * time.Minute, Reason: "The page stayed open over lunch."}},
		Correct: &views.CorrectForm{Form: form("/cases/x/time")}}
	return m
}

// secondPage is the same case before the second person.
func secondPage() views.CaseModel {
	m := casePage()
	m.Head.State, m.Head.Next, m.Head.Overdue, m.Head.Due, m.Head.Why = operation.ReexecutionRequested, operation.DecideReexecution, false, in(48*time.Minute), views.Say{}
	for i, c := range checklist(true) {
		m.List.Items[i] = views.CaseItem{CheckItem: c}
	}
	m.Request = &views.CaseRequest{By: support, At: ago(72 * time.Minute), Version: 1, State: "requested",
		Reason: "Nothing was created. The gateway dropped our request. The renewal date is 17 April, so the task is needed today."}
	m.Hand = views.CaseHand{By: support, Since: ago(144 * time.Minute), From: "usr_x", Take: reason("/cases/x/take")}
	m.Panel = views.Panel{Yours: true, Reexecution: &views.ReexecutionForm{Form: form("/operations/x/reexecution"), Decision: "approve", Destination: "Northdesk CRM",
		Key: string(opTask) + "-g2", Generation: 2, RequestedBy: support, RequestedAt: ago(72 * time.Minute), Required: 1, FreshLookup: true, ApprovalExpiry: 4 * time.Hour}}
	return m
}

func caseLines() []views.CaseLine {
	var out []views.CaseLine
	for i := range 5 {
		r := views.CaseLine{CaseView: caseView(143 + i), Op: opTask, State: operation.Review, Flow: "Campaign follow-up", Stage: "Follow-up task", Title: "Call about the damaged teapot", Destination: "Northdesk CRM",
			Next: operation.DecideReconcile, Responsible: views.RoleWho(operation.RoleOpsOwner, true), Due: in(time.Duration(i-1) * time.Hour), Overdue: i == 0, Picked: i < 2}
		r.ID = operation.CaseID(fmt.Sprint(caseID[:30], i))
		if i == 2 {
			r.TakenBy, r.TakenAt, r.From, r.State = support, ago(20*time.Minute), "usr_x", operation.Unknown
		}
		out = append(out, r)
	}
	return out
}

// caseFixtures are the recovery cases.
func caseFixtures() []Fixture {
	queue := casePage()
	queue.Queue = &views.CaseQueueBar{URL: "/cases/queues/x", Place: 41, Sums: views.QueueSums{Total: 120, Settled: 37, Requested: 2, Held: 1, Gone: 3, Left: 77}, Next: &views.Link{Label: "RC-148", URL: "/cases/x"}}
	dealt := casePage()
	dealt.Case.ClosedAt, dealt.Case.ClosedAs, dealt.Head.State, dealt.Head.Next, dealt.Gate = ago(time.Minute), operation.Confirmed, operation.Confirmed, operation.DecideNothing, nil
	dealt.Panel, dealt.Hand, dealt.Queue = views.Panel{}, views.CaseHand{Closed: true}, &views.CaseQueueBar{URL: "/cases/queues/x", Place: 41, Done: true, Sums: queue.Queue.Sums, Next: queue.Queue.Next}
	others := casePage()
	others.Panel = views.Panel{Reconcile: &views.ReconcileForm{Form: barred(operation.CodeCaseTaken, "at", "2026-04-16T05:50:00Z", "name", "Mirela Tanaka"), Destination: "Northdesk CRM", Effect: "task"}}
	others.Hand = views.CaseHand{By: support, Since: ago(time.Hour), From: "usr_x", Take: reason("/cases/x/take"), Lost: &views.CaseTaken{By: support, At: ago(time.Hour), Reason: "You are on leave."}}
	others.Asked = &views.CaseAsked{By: views.PersonWho("Ona Ops", false), Of: support, At: ago(30 * time.Minute), Reason: "Which days were searched?"}
	for i := range others.List.Items {
		others.List.Items[i].Form = nil
	}
	open := secondPage()
	open.Panel.Reexecution.Form = barred(operation.CodeParty, "role", "ops_owner")
	list := views.CasesModel{Frame: frame(views.SectionOperations, "/cases"), Form: form("/cases"), Rows: caseLines(), Total: 120, MayAct: true,
		Queues: []views.CaseQueueLine{{URL: "/cases/queues/x", At: ago(2 * time.Hour), Sums: queue.Queue.Sums}},
		Filter: views.CasesFilter{Whose: []views.Option{{Value: "mine"}, {Value: "untaken"}}, Ages: []views.Option{{Value: "1h"}, {Value: "24h"}, {Value: "168h"}}}}
	result := views.CasesResultModel{Frame: frame(views.SectionOperations, "/cases/result"), Form: form("/cases"), Verb: "take"}
	frozen := views.CaseQueueModel{Frame: frame(views.SectionOperations, "/cases/queues/x"), At: ago(2 * time.Hour), Sums: queue.Queue.Sums, Next: queue.Queue.Next}
	for i, r := range caseLines() {
		line := views.CaseResult{CaseView: r.CaseView, Title: r.Title, State: r.State}
		if i == 2 {
			line.Refusal, line.From = operation.Refuse(operation.CodeCaseTaken, "at", "2026-04-16T05:50:00Z", "name", "Mirela Tanaka"), "usr_x"
		}
		result.Rows = append(result.Rows, line)
		row := views.QueueItem{CaseView: r.CaseView, Place: i + 1, Title: r.Title, State: r.State}
		row.DoneAs, row.Gone = []operation.QueueDone{operation.QueueSettled, operation.QueueRequested, operation.QueueHeld, "", ""}[i], i == 3
		frozen.Rows = append(frozen.Rows, row)
	}
	return []Fixture{
		{"case-review", views.CasePage(casePage())},
		{"case-second-person", views.CasePage(secondPage())},
		{"case-party", views.CasePage(open)},
		{"case-of-another", views.CasePage(others)},
		{"case-in-queue", views.CasePage(queue)},
		{"case-dealt-with", views.CasePage(dealt)},
		{"cases", views.CasesPage(list)},
		{"cases-empty", views.CasesPage(views.CasesModel{Frame: frame(views.SectionOperations, "/cases")})},
		{"cases-result", views.CasesResultPage(result)},
		{"cases-queue", views.CaseQueuePage(frozen)},
	}
}
