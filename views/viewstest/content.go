package viewstest

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

const taskRequest = "POST /v2/tasks HTTP/1.1\nHost: api.northdesk.example\nContent-Type: application/json\nIdempotency-Key: " +
	operation.HoleOpen + "key" + operation.HoleClose + "\n\n" +
	`{"contact":"48102","due":"2026-04-16T18:00:00+02:00","note":"Spout chipped on arrival.","ref":"` +
	operation.HoleOpen + "operation_id" + operation.HoleClose + `","subject":"Call about the damaged teapot"}`

func taskContent() views.ContentView {
	return views.ContentView{Fields: []views.Field{
		{Name: "subject", Value: "Call about the damaged teapot", Main: true},
		{Name: "queue", Value: "Returns"},
		{Name: "contact", Value: "Customer 48102"},
		{Name: "due", Value: "16 April 2026, 18:00"},
		{Name: "note", Value: "Spout chipped on arrival. Offer a replacement first, a refund second."},
		{Name: "x-colour", Label: "Label colour", Value: ""},
	}}
}

func taskVersion() *views.VersionView {
	return &views.VersionView{ID: "ver_01jrw3v9n2k7", Number: 2, Hash: hashOne, Author: editor, At: ago(43 * time.Hour), Content: taskContent(),
		Request: views.RequestView{Text: taskRequest, Bytes: 346, Credential: "crm-key", Account: "northdesk-main"}}
}

func mailContent() views.ContentView {
	return views.ContentView{Mail: &views.MailView{From: "Aldermoor Tea <service@aldermoor.example>", To: []string{"recipient-48297@buyer.example"},
		Subject:   "About your late order 10519",
		Text:      "Hello,\n\nYour order 10519 left our warehouse three days later than we told you. We are sorry for that. The carrier has it now; the tracking link below shows where it is.\n\nIf you no longer need the tea, send it back within 30 days and we refund the full amount.\n\nYour Aldermoor Tea team",
		HTMLFrame: "/gallery/frame", HTMLBytes: 4312, HTMLURL: "/gallery/html.txt", Links: []views.MailLink{{Label: "Track your parcel", URL: "https://track.example/10519", Host: "track.example"}}}}
}

func mailVersion() *views.VersionView {
	return &views.VersionView{ID: "ver_01jrw3v9n3a1", Number: 3, Hash: hashTwo, Author: editor, At: ago(61 * time.Minute), Note: "No delivery date any more.", Content: mailContent(),
		Request: views.RequestView{Text: "MAIL FROM:<service@aldermoor.example>\nRCPT TO:<recipient-48297@buyer.example>\n\nSubject: About your late order 10519\n\nHello …", Bytes: 2104, Credential: "smtp-main", Account: "postrider"}}
}

func mailVersions() []views.VersionLine {
	return []views.VersionLine{
		{Number: 3, Author: editor, At: ago(61 * time.Minute), Note: "No delivery date any more.", Current: true},
		{Number: 2, URL: "?view=changes&since=2", Author: editor, At: ago(16 * time.Hour), Decisions: []views.Signature{
			{Given: true, Who: lead, At: ago(16 * time.Hour), Decision: operation.Approve}, {Given: true, Who: support, At: ago(15 * time.Hour), Decision: operation.RequestChanges, Comment: "Promise no date."}}},
		{Number: 1, URL: "?view=changes&since=1", Author: model, At: ago(17 * time.Hour)},
	}
}

func viewLinks(current views.VersionViewKind) []views.ViewLink {
	return []views.ViewLink{{Kind: views.ViewContent, URL: "?view=content", Current: current == views.ViewContent},
		{Kind: views.ViewChanges, URL: "?view=changes", Current: current == views.ViewChanges}}
}

func mailChanges() []views.FieldChange {
	return []views.FieldChange{{Label: "text", Parts: views.Diff(
		"We are sorry for that. Your parcel will arrive on Friday, 17 April. If you no longer need the tea, simply refuse the parcel and we refund the full amount.",
		"We are sorry for that. The carrier has it now; the tracking link below shows where it is. If you no longer need the tea, send it back within 30 days and we refund the full amount.")}}
}

func mailComparison() *views.Comparison {
	c := &views.Comparison{From: 2, To: 3, Versions: []int{1, 2, 3}, Action: "/operations/" + string(opMail), Mail: true, Fields: mailChanges(),
		Same: []views.Field{{Name: "from", Value: "Aldermoor Tea <service@aldermoor.example>"}, {Name: "to", Value: "recipient-48297@buyer.example"}, {Name: "subject", Value: "About your late order 10519"}}}
	for _, f := range c.Fields {
		c.Count.Count(f.Parts)
	}
	return c
}

// head is the head of the task in a state.
func head(state operation.State, next operation.DecisionKind, who views.Who, due time.Duration) views.Head {
	h := views.Head{ID: opTask, URL: "/operations/" + string(opTask), Title: "Call about the damaged teapot, order 10482",
		Flow: views.Link{Label: "Campaign follow-up", URL: "/flows/campaign-follow-up"}, FlowVersion: 7,
		Run: views.Link{Label: "order 10482", URL: "/runs/run_1"}, Stage: "CRM task", State: state, Revision: 14,
		Next: next, Responsible: who, Destination: views.Link{Label: "Northdesk CRM", URL: "/destinations/crm"}, Environment: "test"}
	if next != operation.DecideNothing {
		h.Due = in(due)
	}
	return h
}

func approvedTask() views.Approved {
	return views.Approved{Version: taskVersion(), View: views.ViewContent, Required: 1, ExpiresAt: in(29 * time.Hour),
		Signatures: []views.Signature{{Given: true, Who: lead, At: ago(42*time.Hour + 50*time.Minute), Decision: operation.Approve}},
		Versions: []views.VersionLine{{Number: 2, Author: editor, At: ago(43 * time.Hour), Current: true},
			{Number: 1, URL: "?view=changes&since=1", Author: model, At: ago(44 * time.Hour)}}}
}

func protected() views.ProtectionView {
	return views.ProtectionView{Key: true, Proven: true, Retention: 24 * time.Hour, Generation: 1}
}

func lookYourself() []views.Link {
	return []views.Link{{Label: "Tasks of customer 48102", URL: "https://northdesk.example/customers/48102"}}
}

func history(states ...operation.State) views.HistoryModel {
	h := views.HistoryModel{Total: len(states), Verified: true}
	actions := []string{"new_version", "submit", "approve", "clear", "claim", "dispatch", "unknown", "lookup", "escalate"}
	for i := len(states) - 1; i >= 0; i-- {
		h.Entries = append(h.Entries, views.HistoryLine{Seq: int64(i + 1), Hash: hashOne, At: ago(time.Duration(len(states)-i) * time.Hour), Who: sendJob,
			Channel: "job", Action: actions[i%len(actions)], To: states[i],
			Links: map[string]string{"attempt": "att_1", "result": "none", "until": "2026-04-17T10:00:00Z", "event": "evt_1"}})
	}
	for i := range h.Entries {
		if h.Entries[i].Action == "clear" {
			h.Entries[i].From = operation.PendingApproval
		}
		if h.Entries[i].Action == "lookup" {
			h.Entries[i].Who = lookJob
		}
	}
	if len(h.Entries) > 1 {
		h.Entries[1].Who, h.Entries[1].Role, h.Entries[1].Reason = lead, operation.RoleApprover, "Address checked."
	}
	return h
}
