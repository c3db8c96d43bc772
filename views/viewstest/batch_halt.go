package viewstest

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

// batchHaltFixtures are a batch whose destination is paused, and one whose approval of the
// rest expired halfway.
func batchHaltFixtures() []Fixture {
	halted := underWay(operation.BatchRunning, map[operation.State]int{operation.Confirmed: 4210, operation.Ready: 32})
	halted.Head.Next, halted.Head.Responsible, halted.Head.Due = operation.DecideResume, views.RoleWho(operation.RoleOpsOwner, false), in(time.Hour)
	halted.Head.Turn = views.BatchTurn{Kind: operation.TurnResume}
	halted.Head.Paused = []views.PausedBy{{Scope: views.PauseDestination, Who: support, Since: ago(time.Hour), Reason: "Outage"}}
	lapsed := canaryReview()
	lapsed.Counts.Ops = map[operation.State]int{operation.Confirmed: 85, operation.NotExecuted: 2}
	lapsed.Counts.ToCome = lapsed.Counts.Included() - 87
	lapsed.Head.Lapsed = true
	lapsed.Sent.Closed, lapsed.Sent.Of, lapsed.Sent.Rest, lapsed.Sent.Canary = 87, 87, lapsed.Counts.ToCome, nil
	lapsed.Panel.Decide.Batch.Items, lapsed.Panel.Decide.Batch.Lapsed = lapsed.Counts.ToCome, true
	return []Fixture{
		{"batch-halted", views.BatchPage(halted)},
		{"batch-lapsed", views.BatchPage(lapsed)},
	}
}
