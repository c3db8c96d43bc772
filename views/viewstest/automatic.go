package viewstest

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

func attemptRefused(n int, at time.Duration) views.AttemptView {
	return views.AttemptView{ID: operation.AttemptID("att_refused"), Number: n, Kind: operation.AttemptFirst, ClaimedAt: ago(at), By: sendJob, DispatchedAt: ago(at - time.Second),
		Key: string(opTask), Generation: 1, Outcome: operation.OutcomeNotStarted, EndedAt: ago(at - 2*time.Second),
		Proof: operation.Proof{Code: "refused_connection", Phase: operation.PhaseConnecting, Detail: "The destination refused the connection."}}
}

func attemptUnknown(n int, at time.Duration) views.AttemptView {
	return views.AttemptView{ID: operation.AttemptID("att_unknown"), Number: n, Kind: operation.AttemptRetry, ClaimedAt: ago(at), By: sendJob, DispatchedAt: ago(at - time.Second),
		Written: 346, Key: string(opTask), Generation: 1, Outcome: operation.OutcomeUnknown, EndedAt: ago(at - 31*time.Second),
		Proof: operation.Proof{Code: "timeout", Phase: operation.PhaseSent, Written: 346, Millis: 30000}}
}

func attemptStatus(n int, at time.Duration) views.AttemptView {
	a := attemptUnknown(n, at)
	a.ID, a.Kind, a.EndedAt = "att_status", operation.AttemptProtected, ago(at-3*time.Second)
	a.Proof = operation.Proof{Code: "undocumented", Status: 503, Excerpt: "<html>upstream error</html>"}
	return a
}

func attemptConfirmed(n int, at time.Duration) views.AttemptView {
	a := attemptUnknown(n, at)
	a.ID, a.Outcome, a.Reference, a.EndedAt = "att_confirmed", operation.OutcomeConfirmed, "TSK-20931", ago(at-2*time.Second)
	a.Proof = operation.Proof{Status: 201, Excerpt: `{"id":"TSK-20931"}`}
	return a
}

// taskPage is the task in a state in which the system acts.
func taskPage(state operation.State, next operation.DecisionKind, due time.Duration) views.OperationModel {
	return views.OperationModel{Frame: frame(views.SectionOperations, "/operations/"+string(opTask)), Head: head(state, next, views.SystemWho(), due),
		Stages: stages(0, state, operation.Waiting, operation.Waiting), Approved: approvedTask(),
		Found:   views.Found{Protection: protected(), LookupLag: 15 * time.Minute, LookYourself: lookYourself()},
		Panel:   views.Panel{Pause: reason("/operations/x/pause"), Evidence: &views.EvidenceForm{Form: form("/operations/x/evidence"), States: true}},
		History: history(operation.Draft, operation.PendingApproval, operation.Ready, operation.InProgress, operation.InProgress, operation.Unknown, operation.Unknown, state)}
}

func automaticFixtures() []Fixture {
	waiting := taskPage(operation.Waiting, operation.DecideStage, 3*time.Hour)
	waiting.Head.Responsible = lead
	waiting.Head.WaitingFor = &views.Link{Label: "CRM task", URL: "/operations/op_other"}
	waiting.Panel.Withdraw, waiting.Panel.Edit = reason("/operations/x/withdraw"), &views.LinkAction{URL: "/operations/x/edit"}

	ready := taskPage(operation.Ready, operation.DecideTake, 0)
	ready.Panel.Cancel = cancel()

	paused := taskPage(operation.Ready, operation.DecideResume, time.Hour)
	paused.Head.Responsible = support
	paused.Head.Paused = []views.PausedBy{{Scope: views.PauseDestination, Who: support, Since: ago(time.Hour), Reason: "Northdesk answers with errors"},
		{Scope: views.PauseOperation, Who: opsOwner, Since: ago(10 * time.Minute), Reason: "Check the address first"}}
	paused.Panel.Pause, paused.Panel.Resume = nil, reason("/operations/x/resume")
	paused.Frame.SendsPaused = true

	running := taskPage(operation.InProgress, operation.DecideFinish, 90*time.Second)
	open := attemptUnknown(1, 10*time.Second)
	open.ID, open.Kind, open.Open, open.LeaseEnd, open.Written = "att_open", operation.AttemptFirst, true, in(90*time.Second), 0
	running.Tried = views.Tried{Attempts: []views.AttemptView{open}, Used: 1, Max: 5}
	running.Panel.Cancel = &views.ReasonForm{Form: barred(operation.CodeDispatched)}
	running.Panel.Pause.InFlight = 1

	retry := taskPage(operation.RetryScheduled, operation.DecideTry, 4*time.Minute)
	retry.Tried = views.Tried{Attempts: []views.AttemptView{attemptRefused(1, time.Minute)}, Used: 1, Max: 5, Next: in(4 * time.Minute)}
	retry.Panel.Edit = &views.LinkAction{URL: "/operations/x/edit"}

	unknown := taskPage(operation.Unknown, operation.DecideCheck, 8*time.Minute)
	unknown.Tried = views.Tried{Attempts: []views.AttemptView{attemptRefused(1, 22*time.Minute), attemptUnknown(2, 20*time.Minute)}, Used: 2, Max: 5, Next: in(20 * time.Minute)}
	unknown.Found.Lookups = []views.LookupLine{{Result: operation.LookupNone, At: ago(5 * time.Minute)}, {Result: operation.LookupUnreachable, At: ago(time.Minute)}}
	unknown.Found.NextLookup = in(8 * time.Minute)
	unknown.Found.Protection.FirstUsed, unknown.Found.Protection.Until = ago(20*time.Minute), in(22*time.Hour)
	unknown.Found.Protection.SettleUntil = in(2 * time.Minute)
	unknown.Panel.Edit = &views.LinkAction{Barred: operation.Refuse(operation.CodeAttemptsUnsettled)}
	unknown.Panel.Barred = []views.BarredAction{{Action: "send_again", Why: operation.Refuse(operation.CodeNotDue, "at", "2026-04-16T08:02:00Z")}}
	return []Fixture{
		{"operation-waiting", views.OperationPage(waiting)},
		{"operation-ready", views.OperationPage(ready)},
		{"operation-paused", views.OperationPage(paused)},
		{"operation-in-progress", views.OperationPage(running)},
		{"operation-retry", views.OperationPage(retry)},
		{"operation-unknown", views.OperationPage(unknown)},
	}
}
