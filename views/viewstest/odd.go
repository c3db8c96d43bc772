package viewstest

import (
	"fmt"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

// oddFixtures are contents that break careless pages: very long titles, text from
// right to left, invisible characters, markup, and Japanese differences.
func oddFixtures() []Fixture {
	long := mailPage()
	long.Head.Title = strings.Repeat("Rindfleischetikettierungsüberwachung und Teekannen ", 10)[:500]
	long.Head.Flow.Label = strings.Repeat("campaign", 20)
	rtl := mailPage()
	rtl.Head.Title = "بخصوص طلبك المتأخر 10519"
	rtl.Approved.View = views.ViewContent
	content := mailContent()
	content.Mail.Subject = "תשלום \u202Egpj.exe"
	content.Mail.Text = "مرحبا،\n\nPay\u200Bment to <script>alert(1)</script>\u2066 now\u2069"
	content.Mail.Cc = []string{"copy@example.test"}
	rtl.Approved.Version.Content = content
	japanese := mailPage()
	japanese.Approved.Compare = mailComparison()
	japanese.Approved.Compare.Fields = []views.FieldChange{{Label: "text", Parts: views.Diff("お荷物は金曜日に届きます。返品は不要です。", "お荷物は土曜日に届きます。返品はご不要です。")}}
	inbox := views.InboxModel{Frame: frame(views.SectionInbox, "/inbox"), Tab: views.TabMine, Counts: views.InboxCounts{Mine: 1}, Groups: []views.InboxGroup{{Kind: views.GroupApprovals, Total: 1, Rows: []views.InboxRow{
		{ID: opMail, URL: "/x", State: operation.PendingApproval, Flow: long.Head.Flow.Label, Stage: "Mail", Title: long.Head.Title, Destination: strings.Repeat("d", 90), Since: ago(900 * time.Hour), Due: in(900 * time.Hour), OnlyYou: true}}}}}
	return []Fixture{{"odd-long", views.OperationPage(long)}, {"odd-rtl", views.OperationPage(rtl)}, {"odd-japanese", views.OperationPage(japanese)}, {"odd-inbox", views.InboxPage(inbox)}}
}

func errorFixtures() []Fixture {
	var list []Fixture
	for _, status := range []int{403, 404, 405, 409, 413, 422, 429, 500, 503} {
		m := views.ErrorModel{Frame: frame("", "/x"), Status: status, RequestID: "req-7f2c"}
		if status == 409 {
			m.Refusal = views.Refused(operation.Refuse(operation.CodeClosed, "state", "confirmed"))
			m.Back = views.Link{Label: "Call about the damaged teapot", URL: "/operations/" + string(opTask)}
		}
		if status == 503 {
			m.Saved, m.Viewer = views.ErrorOutcomeUnknown, nil
		}
		list = append(list, Fixture{fmt.Sprintf("error-%d", status), views.ErrorPage(m)})
	}
	away := views.ErrorModel{Frame: frame("", "/x"), Status: 503, RequestID: "req-7f2d", Saved: views.ErrorNothingDecided}
	list = append(list, Fixture{"error-503-away", views.ErrorPage(away)})
	return list
}
