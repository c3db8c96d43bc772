package viewstest

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

func checklist(answered bool) []views.CheckItem {
	var list []views.CheckItem
	for _, i := range operation.Checklist {
		c := views.CheckItem{Item: i}
		if answered {
			c.Answer, c.Comment, c.By, c.At = "yes", "Looked through the audit log of 14 April.", support, ago(90*time.Minute)
		}
		list = append(list, c)
	}
	list[0].Hint = string(opTask)
	return append(list, views.CheckItem{Item: "crm-filter", Ask: "Closed tasks searched too?", Answer: list[0].Answer, By: support, At: ago(90 * time.Minute)})
}

func reconcile() *views.ReconcileForm {
	return &views.ReconcileForm{Form: form("/operations/x/reconcile"), Destination: "Northdesk CRM", Effect: "task", Checklist: checklist(false),
		Key: string(opTask) + "-g2", Generation: 2, NextStage: "Follow-up e-mail", SecondPerson: views.RoleWho(operation.RoleOpsOwner, false), SendAgain: sendAgain()}
}

// reviewPage is the task that a person must settle.
func reviewPage() views.OperationModel {
	m := taskPage(operation.Review, operation.DecideReconcile, -42*time.Minute)
	m.Head.Responsible, m.Head.Overdue = views.RoleWho(operation.RoleOpsOwner, true), true
	m.Head.Why = views.Refused(operation.Refuse(operation.CodeKeyExpired))
	m.Tried = views.Tried{Attempts: []views.AttemptView{attemptRefused(1, 42*time.Hour), attemptUnknown(2, 41*time.Hour), attemptStatus(3, 40*time.Hour)}, Used: 3, Max: 4,
		Halt: views.Refused(operation.Refuse(operation.CodeKeyExpired))}
	m.Found.Lookups = []views.LookupLine{{Result: operation.LookupNone, At: ago(41 * time.Hour)}, {Result: operation.LookupNone, At: ago(40 * time.Hour)}, {Result: operation.LookupNone, At: ago(19 * time.Hour)}}
	m.Found.Protection.FirstUsed, m.Found.Protection.Until, m.Found.Protection.Expired = ago(41*time.Hour), ago(18*time.Hour), true
	m.Panel = views.Panel{Yours: true, Reconcile: reconcile(), Evidence: &views.EvidenceForm{Form: form("/operations/x/evidence"), States: true},
		Correct: &views.ReasonForm{Form: barred(operation.CodeAttemptsUnsettled)}, Grant: &views.GrantForm{Form: barred(operation.CodeAttemptsUnsettled)},
		Replace: &views.LinkAction{Barred: operation.Refuse(operation.CodeOriginalOpen)}}
	return m
}

func doubtFixtures() []Fixture {
	done := reviewPage()
	done.Panel.Reconcile.Finding, done.Panel.Reconcile.Reference = views.FindingDone, "TSK-20931"
	done.Panel.Reconcile.DoneEvidence = views.EvidenceFields{Evidence: "Audit log: created 14 Apr 14:53:09 with our reference.", Link: "ftp://log"}
	done.Panel.Reconcile.Errors = map[string]views.Say{"done_link": views.Sentence(views.ErrorInvalidLink), "done_reference": views.Refused(operation.Refuse(operation.CodeReferenceTaken))}

	notDone := reviewPage()
	notDone.Panel.Reconcile.Finding, notDone.Panel.Reconcile.Then = views.FindingNotDone, views.ThenReexecute
	notDone.Panel.Reconcile.Checklist = checklist(true)
	notDone.Panel.Reconcile.Checklist[2].Answer, notDone.Panel.Reconcile.Checklist[3].Answer = "", "no"
	notDone.Panel.Reconcile.Errors = map[string]views.Say{"check_key": views.Sentence(views.ErrorRequired), "check_completion": views.Sentence(views.ErrorAnsweredNo),
		"not_done_evidence": views.Refused(operation.Refuse(operation.CodeEvidenceMissing))}

	settling := reviewPage()
	settling.Panel.Reconcile.Finding = views.FindingNotDone
	settling.Panel.Reconcile.NotDoneBarred = operation.Refuse(operation.CodeSettling, "at", "2026-04-16T07:50:00Z")

	many := reviewPage()
	many.Head.Duplicate = views.DuplicateSuspected
	many.Panel.Reconcile.Finding = views.FindingDuplicate
	many.Found.Lookups = append(many.Found.Lookups, views.LookupLine{Result: operation.LookupMany, Count: 2, At: ago(time.Hour)}, views.LookupLine{Result: operation.LookupMismatch, ID: "TSK-1", At: ago(30 * time.Minute)})
	many.Found.References = []views.Reference{{ID: "TSK-20931", URL: "https://northdesk.example/t/20931", Effect: "task", At: ago(time.Hour), By: views.SystemWho(), Candidate: true}}

	hold := reviewPage()
	hold.Head.Overdue, hold.Head.Due = false, in(26*time.Hour)
	hold.Head.HoldUntil, hold.Head.HoldReason = in(26*time.Hour), "Northdesk support answers tomorrow"
	hold.Panel.Reconcile.Finding, hold.Panel.Reconcile.HoldUntil = views.FindingHold, "2026-04-17T12:00"

	others := reviewPage()
	others.Panel = views.Panel{Reconcile: &views.ReconcileForm{Form: barred(operation.CodeNotEntitled, "role", "ops_owner")}}

	proven := reviewPage()
	proven.Tried = views.Tried{Attempts: []views.AttemptView{attemptRefused(1, time.Hour)}, Used: 5, Max: 5, Halt: views.Refused(operation.Refuse(operation.CodeAttemptLimit, "limit", "5"))}
	proven.Panel.Correct, proven.Panel.Grant, proven.Panel.Replace = reason("/operations/x/correct"), &views.GrantForm{Form: form("/operations/x/grant"), Attempts: "3"}, nil
	proven.Found.Protection, proven.Found.NoLookup, proven.Found.Lookups = views.ProtectionView{}, true, nil

	keyless := reviewPage() // looked up, but no key: a first use says nothing here
	unprotect(&keyless)
	keyless.Panel.Reconcile.Finding, keyless.Panel.Reconcile.Key, keyless.Panel.Reconcile.Generation = views.FindingNotDone, "", 0
	keyless.Panel.Reconcile.Checklist[2].NoKey = true
	keyless.Found.Protection = views.ProtectionView{Lookup: true, Generation: 1, FirstUsed: ago(30 * time.Hour), Expired: true}

	adopted := reviewPage()
	adopted.Head.Adopted, adopted.Tried, adopted.Approved = true, views.Tried{}, views.Approved{}
	adopted.Found = views.Found{Protection: views.ProtectionView{Key: true}, Evidence: evidence()}
	return append([]Fixture{
		{"operation-review", views.OperationPage(reviewPage())},
		{"operation-review-keyless", views.OperationPage(keyless)},
		{"operation-review-done", views.OperationPage(done)},
		{"operation-review-not-done", views.OperationPage(notDone)},
		{"operation-review-settling", views.OperationPage(settling)},
		{"operation-review-duplicate", views.OperationPage(many)},
		{"operation-review-hold", views.OperationPage(hold)},
		{"operation-review-others", views.OperationPage(others)},
		{"operation-review-proven", views.OperationPage(proven)},
		{"operation-review-adopted", views.OperationPage(adopted)},
	}, reexecutionFixtures()...)
}

// unprotect takes the key from the ladder: the action sends none.
func unprotect(m *views.OperationModel) {
	none := views.Refused(operation.Refuse(operation.CodeUnprotected).By(operation.Responsible{Role: operation.RoleOpsOwner}))
	m.Tried.Attempts, m.Tried.Used, m.Tried.Halt = m.Tried.Attempts[:2], 2, none // nothing was repeated
	if !m.Head.Why.Empty() {
		m.Head.Why = none
	}
	for i := range m.Tried.Attempts {
		m.Tried.Attempts[i].Key, m.Tried.Attempts[i].Generation = "", 0
	}
}

func evidence() []views.EvidenceLine {
	return []views.EvidenceLine{
		{ID: "evi_1", Kind: views.EvidenceStatement, At: ago(90 * time.Minute), By: support, Text: "41 tasks from 14 April, none with our reference.", Link: "https://northdesk.example/log", Hash: hashTwo},
		{ID: "evi_2", Kind: views.EvidenceLate, At: ago(80 * time.Minute), By: views.Who{Kind: views.WhoToken, Name: "crm-worker"}, Erased: true, Hash: hashOne},
		{ID: "evi_3", Kind: views.EvidenceCallback, At: ago(70 * time.Minute), By: views.SystemWho(), Result: "bounced", Reference: "msg_77"},
	}
}

// reexecutionPage is a request for a re-execution before the second person.
func reexecutionPage() views.OperationModel {
	m := reviewPage()
	m.Head.State, m.Head.Next, m.Head.Overdue, m.Head.Due = operation.ReexecutionRequested, operation.DecideReexecution, false, in(48*time.Minute)
	m.Head.Why = views.Say{}
	m.Panel = views.Panel{Yours: true, Reexecution: &views.ReexecutionForm{Form: form("/operations/x/reexecution"), Destination: "Northdesk CRM",
		Key: string(opTask) + "-g2", Generation: 2, RequestedBy: support, RequestedAt: ago(72 * time.Minute), Reason: "Nothing was created; the gateway dropped our request.",
		Checklist: checklist(true), Evidence: evidence(), Required: 1, FreshLookup: true, ApprovalExpiry: 4 * time.Hour}}
	return m
}

func reexecutionFixtures() []Fixture {
	tick := reexecutionPage()
	tick.Panel.Reexecution.Decision, tick.Panel.Reexecution.KeyKept, tick.Panel.Reexecution.FreshLookup = "approve", true, false
	tick.Panel.Reexecution.Errors = map[string]views.Say{"confirm": views.Sentence(views.ErrorConfirm), "comment": views.Refused(operation.Refuse(operation.CodeReasonMissing))}
	keyless := reexecutionPage()
	unprotect(&keyless)
	keyless.Found.Protection, keyless.Found.NoLookup, keyless.Found.Lookups = views.ProtectionView{}, true, nil
	keyless.Panel.Reexecution.Decision, keyless.Panel.Reexecution.Key, keyless.Panel.Reexecution.Generation = "approve", "", 0
	keyless.Panel.Reexecution.Checklist[2].NoKey, keyless.Panel.Reexecution.FreshLookup = true, false
	party := reexecutionPage()
	party.Head.Responsible = views.Who{Kind: views.WhoRole, Role: operation.RoleOpsOwner, Another: true}
	party.Panel.Yours, party.Panel.Reexecution.Form = false, barred(operation.CodeParty)
	party.Panel.WithdrawRequest = reason("/operations/x/withdraw-request")
	recheck := reexecutionPage()
	recheck.Head.State, recheck.Head.Next = operation.Ready, operation.DecideTake
	recheck.Tried.Reexecution, recheck.Tried.Halt = true, views.Say{}
	recheck.Panel = views.Panel{Yours: true, Recheck: &views.RecheckForm{Form: form("/operations/x/recheck"), Checklist: checklist(false)}}
	return []Fixture{
		{"operation-reexecution", views.OperationPage(reexecutionPage())},
		{"operation-reexecution-confirm", views.OperationPage(tick)},
		{"operation-reexecution-keyless", views.OperationPage(keyless)},
		{"operation-reexecution-party", views.OperationPage(party)},
		{"operation-reexecution-recheck", views.OperationPage(recheck)},
	}
}
