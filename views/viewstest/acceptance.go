package viewstest

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

func acceptanceFixtures() []Fixture {
	line := views.AcceptanceLine{ID: "acc_01jrw3v9m8f6xt2c7k4q0hz5da", Number: 12, URL: views.PathAcceptance + "/acc_01jrw3v9m8f6xt2c7k4q0hz5da", Flow: "Campaign follow-up", Version: 4,
		State: operation.AcceptancePassed, By: opsOwner, At: ago(time.Hour), Signed: 1}
	list := views.AcceptancesModel{Frame: frame(views.SectionFlows, views.PathAcceptance), Start: &views.Link{URL: views.PathAcceptanceNew}, Older: views.PathAcceptance + "?before=3"}
	for i, s := range views.AcceptanceStates {
		l := line
		l.State, l.Number, l.Signed, l.Stale = s, int64(20-i), 0, i == 3
		if s == operation.AcceptancePassed {
			l.Signed, l.Stale = 2, true
		}
		list.Rows = append(list.Rows, l)
	}
	none := views.AcceptancesModel{Frame: list.Frame, Start: list.Start, Of: &views.Link{Label: "billing"}}
	passed, running, failed, broken := acceptanceSheet(line), acceptanceSheet(line), acceptanceSheet(line), acceptanceSheet(line)
	running.State, running.Hash, running.JSON, running.Signs, running.Cases = operation.AcceptanceRunning, "", "", nil, passed.Cases[:2]
	cancel := form(line.URL + "/cancel")
	running.Cancel, running.Canceling = &cancel, true
	failed.State, failed.Stale, failed.Current, failed.Signs = operation.AcceptanceFailed, true, 5, passed.Signs[1:]
	failed.Cases = append([]operation.AcceptanceCase{}, passed.Cases...)
	failed.Cases[2].Passed = false
	for _, f := range views.AcceptanceFaults {
		failed.Cases[2].Failures = append(failed.Cases[2].Failures, operation.AcceptanceNote{Code: f, With: map[string]string{"Stage": "crm-task", "Found": "2", "Expected": "1",
			"Error": "it took too long", "Delivery": "3", "State": "ready"}})
	}
	broken.State, broken.Hash, broken.Cases, broken.Signs, broken.JSON, broken.Failure = operation.AcceptanceBroken, "", nil, nil, "", "there is no PostgreSQL on this machine"
	return []Fixture{{"acceptance-list", views.AcceptancesPage(list)}, {"acceptance-list-none", views.AcceptancesPage(none)}, {"acceptance-new", views.AcceptanceNewPage(acceptanceNew(line, nil))},
		{"acceptance-new-barred", views.AcceptanceNewPage(acceptanceNew(line, []string{"not_test", "kind", "clients", "not_countable", "version", "for_each"}))},
		{"acceptance-passed", views.AcceptancePage(passed)}, {"acceptance-running", views.AcceptancePage(running)}, {"acceptance-failed", views.AcceptancePage(failed)},
		{"acceptance-broken", views.AcceptancePage(broken)}}
}

func acceptanceNew(last views.AcceptanceLine, bars []string) views.AcceptanceNewModel {
	m := views.AcceptanceNewModel{Frame: frame(views.SectionFlows, views.PathAcceptanceNew), Flows: []views.Option{{Value: "campaign", Label: "Campaign follow-up", Selected: true}, {Value: "note", Label: "Plain note"}},
		Flow: "campaign", Title: "Campaign follow-up", Versions: []views.Option{{Value: "4", Label: "Version 4", Selected: true}, {Value: "3", Label: "Version 3"}},
		Destinations: acceptanceTargets(), Input: "{\n  \"inputs\": {\n    \"email\": \"acceptance-{n}@example.test\"\n  }\n}", Form: form(views.PathAcceptanceNew), Last: &last}
	for _, code := range bars {
		m.Bars = append(m.Bars, views.AcceptanceBar{Code: code, Destination: "billing", Environment: "production", Stage: "Campaign mail"})
	}
	return m
}

func acceptanceTargets() []views.AcceptanceTarget {
	return []views.AcceptanceTarget{{Name: "crm", URL: views.PathDestinations + "/crm", Version: 2, Current: 3, Environment: "test", Hash: hashOne, Sandbox: true},
		{Name: "mail", URL: views.PathDestinations + "/mail", Version: 1, Current: 1, Environment: "sandbox", Hash: hashTwo}}
}

// acceptanceSheet is a run that passed, signed by the owner.
func acceptanceSheet(line views.AcceptanceLine) views.AcceptanceModel {
	sign := form(line.URL + "/sign")
	m := views.AcceptanceModel{Frame: frame(views.SectionFlows, line.URL), AcceptanceLine: line, FlowURL: views.PathFlows + "/campaign", Current: 4, Ended: ago(57 * time.Minute), Targets: acceptanceTargets(),
		FlowHash: hashOne, Program: "v1.4.0 4be190c7a1d2", People: []string{"Test ops_owner 1", "Test approver 1", "Test person for lead@example.test"}, Input: "{\"inputs\":{\"campaign\":\"acceptance-{n}\"}}",
		Hash: hashTwo, JSON: line.URL + "/sheet.json", Markdown: line.URL + "/sheet.md",
		Changed: []operation.AcceptanceChange{{File: "crm", Field: "base_url", From: "${env(\"SANDBOX_URL\") + \"/crm\"}", To: "http://127.0.0.1:40123"}, {File: "mail", Field: "actions.send.protection.retention", From: "24h", To: "3s"}},
		Signs: []views.AcceptanceSign{{Part: operation.SignedByOwner, Role: operation.RoleApprover, By: lead, At: ago(30 * time.Minute), Comment: "As agreed on Monday"},
			{Part: operation.SignedByImplementer, Role: operation.RoleAdmin, Form: &sign}},
		History: views.HistoryModel{Total: 2, Verified: true, Entries: []views.HistoryLine{{Seq: 2, Hash: hashTwo, At: ago(57 * time.Minute), Who: sendJob, Channel: "job", Action: "end_acceptance"},
			{Seq: 1, Hash: hashOne, At: ago(time.Hour), Who: opsOwner, Channel: "web", Action: "ask_acceptance"}}}}
	with := map[string]string{"Stage": "crm-task", "Event": "acceptance-1", "Times": "20", "Person": "Test author 1", "People": "2", "Target": "task_7", "Claimants": "6", "Refusals": "117", "Seconds": "3"}
	for i, key := range operation.AcceptanceCases {
		began := ago(59*time.Minute - time.Duration(i)*10*time.Second)
		c := operation.AcceptanceCase{Key: key, Passed: true, Began: began, Ended: began.Add(8 * time.Second)}
		for n, code := range views.AcceptanceSteps {
			if n%len(operation.AcceptanceCases) == i {
				c.Steps = append(c.Steps, operation.AcceptanceNote{At: began.Add(time.Duration(n) * 100 * time.Millisecond), Code: code, With: with})
			}
		}
		c.Found = []operation.AcceptanceFinding{{Operation: opTask, Stage: "crm-task", Destination: "crm", State: operation.Confirmed, Effects: 1, Expected: 1, CountedBy: operation.CountedByLedger, Requests: 1,
			Attempts: []string{"first unknown", "protected confirmed", "retry not_started", "reexecution confirmed"}, Evidence: []string{"lookup one", "lookup none", "lookup many", "lookup mismatch", "lookup unreachable", "late_report"},
			Target: "task_7", Version: hashOne, Sent: hashTwo, History: hashOne},
			{Operation: opMail, Stage: "email", Destination: "mail", State: operation.Review, Effects: 0, Expected: 1, CountedBy: operation.CountedByLookup, Requests: 2, Attempts: []string{"first confirmed"}}}
		m.Cases = append(m.Cases, c)
	}
	return m
}
