package viewstest

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

// batchTurnFixtures are batches that cannot go on by themselves: held by an earlier stage,
// closed without all that the stage needs, or with outcomes in review again.
func batchTurnFixtures() []Fixture {
	held := func(t views.BatchTurn, who views.Who) views.BatchModel {
		m := underWay(operation.BatchRunning, nil)
		m.Head.Held, m.Head.Next, m.Head.Responsible, m.Head.Due, m.Sent = true, operation.DecideStage, who, time.Time{}, nil
		t.Kind, t.Stage = operation.TurnHeld, views.Link{Label: "CRM note", URL: "/batches/bat_1"}
		m.Head.Turn = t
		return m
	}
	disputed := held(views.BatchTurn{There: operation.TurnSettle, ThereN: 3, ThereNext: operation.DecideReconcile}, views.RoleWho(operation.RoleOpsOwner, false))
	without := held(views.BatchTurn{There: operation.TurnGoOn, ThereNext: operation.DecideRemedy}, views.RoleWho(operation.RoleApprover, false))
	again := underWay(operation.BatchClosed, map[operation.State]int{operation.Confirmed: 9980, operation.Review: 5})
	closeBatch(&again)
	again.Head.Settling, again.Head.Next, again.Head.Responsible = true, operation.DecideReconcile, views.RoleWho(operation.RoleOpsOwner, false)
	again.Head.Turn = views.BatchTurn{Kind: operation.TurnSettle, N: 5}
	blocked := unmetBatch()
	blocked.Head.Replacing.Open = []views.Link{{Label: "op_7ap3…4b0n", URL: "/operations/op_7ap312yk3reyd01scrsag54b0n"}, {Label: "op_768k…3a0a", URL: "/operations/op_768khxkh3jdsp3qmwsea3za0ax"}}
	blocked.Panel = views.BatchPanel{Yours: true, GoOn: &views.LinkAction{URL: batchURL + "/go_on"}}
	ask := views.BatchActModel{Frame: frame(views.SectionOperations, batchURL+"/go_on"), Form: form(batchURL + "/go_on"), Act: operation.BatchActGoOn, Batch: views.Link{Label: blocked.Head.Title, URL: batchURL},
		Counts: blocked.Counts, Stage: blocked.Head.Stage, Replacing: blocked.Head.Replacing}
	look := canaryReview()
	look.Panel.Decide.Batch.Doubt = 2
	return []Fixture{
		{"batch-canary-doubt", views.BatchPage(look)},
		{"batches-turns", views.BatchesPage(batchList(disputed, without, again, blocked))},
		{"batch-held", views.BatchPage(disputed)},
		{"batch-held-without", views.BatchPage(without)},
		{"batch-reopened", views.BatchPage(again)},
		{"batch-unsatisfied", views.BatchPage(blocked)},
		{"batch-go-on", views.BatchActPage(ask)},
	}
}

// unmetBatch is one that closed without all that its stage needs.
func unmetBatch() views.BatchModel {
	m := underWay(operation.BatchClosed, map[operation.State]int{operation.Confirmed: 9979, operation.NotExecuted: 6})
	closeBatch(&m)
	m.Head.Next, m.Head.Responsible, m.Head.Turn = operation.DecideRemedy, views.RoleWho(operation.RoleApprover, true), views.BatchTurn{Kind: operation.TurnGoOn}
	return m
}
