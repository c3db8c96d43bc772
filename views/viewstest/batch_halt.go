package viewstest

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

// rejected is a batch that was refused before anything was sent.
func rejected() views.BatchModel {
	m := underWay(operation.BatchRejected, nil)
	m.Counts.Unsent, m.Counts.ToCome = m.Counts.Included(), 0
	m.Head.Next = operation.DecideNothing
	return m
}

// runOfBatches is a run whose stages fan out.
func runOfBatches(list ...views.BatchModel) views.RunModel {
	m := runPage(operation.RunOpen)
	m.Stages = nil
	for i, x := range list {
		m.Stages = append(m.Stages, views.RunStage{Number: i + 1, Key: x.Head.Stage, Title: x.Head.Stage, URL: batchURL, Batch: &x.Head.BatchStanding, Counts: x.Counts, Destination: "Postrider Mail", Mark: views.MarkNext,
			Preview: views.Sentence("batch.in_run", "N", x.Counts.Included()), Next: x.Head.Next, Turn: x.Head.Turn, Responsible: x.Head.Responsible, Due: x.Head.Due})
	}
	return m
}

// batchHaltFixtures are a batch whose destination is paused, and one whose approval of the
// rest expired halfway.
func batchHaltFixtures() []Fixture {
	halted := underWay(operation.BatchRunning, map[operation.State]int{operation.Confirmed: 4210, operation.Ready: 32})
	halted.Head.Next, halted.Head.Responsible, halted.Head.Due = operation.DecideResume, views.RoleWho(operation.RoleOpsOwner, false), in(time.Hour)
	halted.Head.Halted = true
	halted.Stages[0].Batch = &views.BatchStanding{State: operation.BatchRunning, Halted: true}
	halted.Head.Turn = views.BatchTurn{Kind: operation.TurnResume}
	halted.Head.Paused = []views.PausedBy{{Scope: views.PauseDestination, Who: support, Since: ago(time.Hour), Reason: "Outage"}}
	lapsed := canaryReview()
	lapsed.Counts.Ops = map[operation.State]int{operation.Confirmed: 85, operation.NotExecuted: 2}
	lapsed.Counts.ToCome = lapsed.Counts.Included() - 87
	lapsed.Head.Lapsed = true
	lapsed.Sent.Closed, lapsed.Sent.Of, lapsed.Sent.Rest, lapsed.Sent.Canary = 87, 87, lapsed.Counts.ToCome, nil
	lapsed.Panel.Decide.Batch.Items, lapsed.Panel.Decide.Batch.Lapsed = lapsed.Counts.ToCome, true
	lapsed.Approved.Signatures = append([]views.Signature{{Given: true, Rest: true, Lapsed: true, Who: lead, At: ago(time.Minute), Decision: operation.Approve}}, lapsed.Approved.Signatures...)
	return []Fixture{
		{"batches-halted", views.BatchesPage(batchList(halted, rejected()))},
		{"run-batches", views.RunPage(runOfBatches(halted, unmetBatch()))},
		{"batch-halted", views.BatchPage(halted)},
		{"batch-lapsed", views.BatchPage(lapsed)},
	}
}
