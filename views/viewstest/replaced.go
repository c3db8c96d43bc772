package viewstest

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

// replacedFixtures are replacements whose original is open again or has its effect after
// all, and a re-execution that may not go out, since its recipient is suppressed by now.
func replacedFixtures() []Fixture {
	original := &views.Link{Label: "op_…9f2ka", URL: "/operations/op_original"}
	waits := taskPage(operation.Ready, operation.DecideOriginal, 23*time.Hour)
	waits.Head.Replaces, waits.Head.Original = original, "open"
	waits.Tried = views.Tried{Max: 5}
	waits.Found = views.Found{Protection: protected(), LookupLag: 15 * time.Minute, LookYourself: lookYourself()}
	waits.Panel.Cancel = cancel()
	waits.History = history(operation.Draft, operation.PendingApproval, operation.PendingApproval, operation.Ready)

	done := closedPage(operation.Cancelled)
	done.Head.Replaces, done.Head.Original = original, "done"
	done.Found, done.Tried = waits.Found, views.Tried{Max: 5}
	done.History = history(operation.Draft, operation.PendingApproval, operation.PendingApproval, operation.Ready, operation.Cancelled)
	done.History.Entries[0].Who, done.History.Entries[0].Action, done.History.Entries[0].From = views.SystemWho(), string(operation.EvCancel), operation.Ready
	done.History.Entries[0].Links = map[string]string{"cause": string(operation.CodeOriginalConfirmed), "original": "op_01jrw3v9m8f6xt2c7k4q0h9f2k"}

	second := secondPage()
	refused := operation.Refuse(operation.CodeSuppressed)
	second.Head.Batch, second.Head.BatchRow = &views.Link{Label: "Spring has come to the demo shop", URL: "/batches/bat_1"}, 58
	second.Panel.Reexecution.Errors = map[string]views.Say{"": views.Refused(refused)}
	asked := reexecutionPage()
	asked.Head.Batch, asked.Head.BatchRow = second.Head.Batch, second.Head.BatchRow
	asked.Panel.Reexecution.Decision, asked.Panel.Reexecution.Errors = "approve", map[string]views.Say{"": views.Refused(refused)}
	back := reviewPage()
	back.Head.Batch, back.Head.BatchRow, back.Head.Why = second.Head.Batch, second.Head.BatchRow, views.Refused(refused)
	back.Tried.Halt = views.Refused(refused)
	return []Fixture{
		{"operation-replacement-waits", views.OperationPage(waits)},
		{"operation-replacement-not-sent", views.OperationPage(done)},
		{"operation-reexecution-suppressed", views.OperationPage(asked)},
		{"case-second-suppressed", views.CasePage(second)},
		{"operation-review-suppressed", views.OperationPage(back)},
	}
}
