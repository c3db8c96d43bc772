package viewstest

import (
	"fmt"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

// shapeFixtures are contents of every kind and size, comparisons, and what was sent beside
// what was approved.
func shapeFixtures() []Fixture {
	return append([]Fixture{
		{"content-mail", views.OperationPage(letterPage())},
		{"content-mail-large", views.OperationPage(largePage())},
		{"content-invoice", views.OperationPage(invoicePage())},
		{"content-broken", views.OperationPage(brokenPage())},
		{"content-empty", views.OperationPage(emptyPage())},
		{"operation-many-attempts", views.OperationPage(manyPage())},
	}, append(compareFixtures(), sameFixtures()...)...)
}

// letterPage is a mail with everything that a mail can have.
func letterPage() views.OperationModel {
	m := mailPage()
	m.Approved.View, m.Approved.Views = views.ViewContent, viewLinks(views.ViewContent)
	c := mailContent()
	c.Mail.ReplyTo, c.Mail.Cc, c.Mail.Bcc = []string{"help@aldermoor.example"}, []string{"Mirela Tanaka <mirela@aldermoor.example>", "desk@aldermoor.example"}, []string{"archive@aldermoor.example"}
	c.Mail.Links = []views.MailLink{
		{Label: "Track your parcel", URL: "https://track.example/10519", Host: "track.example"},
		{Label: "www.bank.example", URL: "https://evil.test/login", Host: "evil.test", Claims: "www.bank.example"},
		{Label: "here", URL: "https://aldermoor.example@evil.test/", Host: "evil.test", Warning: views.LinkUserInfo},
		{URL: "javascript:alert(1)", Warning: views.LinkScript},
		{Label: "プレゼント", URL: "https://xn--bnk-6cd.example/", Host: "xn--bnk-6cd.example", Warning: views.LinkForeign},
		{Label: "http://203.0.113.5/", URL: "http://203.0.113.5/", Host: "203.0.113.5", Warning: views.LinkAddress},
		{Label: "old page", URL: "http://aldermoor.example/", Host: "aldermoor.example", Warning: views.LinkPlain},
		{Label: "up", URL: "/top", Warning: views.LinkBroken},
		{Label: "write to us", URL: "mailto:help@aldermoor.example"},
	}
	c.Mail.Attachments = []views.Attachment{{Name: "invoice-10519.pdf", Type: "application/pdf", Size: 84213, Hash: hashOne}, {Size: -1, URL: "https://files.example/terms.pdf"}}
	c.Mail.More = []views.Field{{Name: "tags.0", Value: "late-order"}, {Name: "schedule.send_at", Value: "2026-04-17T09:00:00+02:00"}}
	m.Approved.Version.Content = c
	return m
}

// largePage is a mail of five megabytes.
func largePage() views.OperationModel {
	m := letterPage()
	c := mailContent()
	line := "A line of a very long letter, as nobody should write it.\n"
	c.Mail.Text = strings.Repeat(line, 60)
	c.Mail.TextCut = views.Cut{Shown: len(c.Mail.Text), Total: 5_415_000, URL: "/operations/x/versions/v/content?field=text"}
	c.Mail.HTMLBytes = 1_048_579
	c.Mail.LinksLeft = 4212
	m.Approved.Version.Content = c
	m.Approved.Version.Request.Bytes, m.Approved.Version.Request.URL = 6_488_120, "/operations/x/versions/v/request"
	m.Approved.Version.Request.Cut = views.Cut{Shown: 12_288, Total: 6_488_120, URL: "/operations/x/versions/v/request"}
	return m
}

func money(minor string) *views.Money { return &views.Money{Minor: minor, Currency: "eur"} }

// invoicePage is an invoice with lines.
func invoicePage() views.OperationModel {
	m := mailPage()
	m.Head.Title, m.Head.Stage = "Invoice for order 10519", "Invoice"
	table := &views.Table{Columns: []string{"name", "quantity", "amount"}, Total: 240, Sum: money("125000")}
	for i, name := range []string{"Darjeeling, 250 g", "Teapot “Kyōto” – 急須", "Postage\u00a0and\u200b packing"} {
		table.Rows = append(table.Rows, []views.Cell{{Value: name}, {Value: fmt.Sprint(i + 1)}, {Value: "x", Money: money(fmt.Sprint(1250 * (i + 1)))}})
	}
	m.Approved = views.Approved{View: views.ViewContent, Required: 1, Version: taskVersion()}
	m.Approved.Version.Content = views.ContentView{Cut: views.Cut{Shown: 5, Total: 260, URL: "/operations/x/versions/v/content"}, Fields: []views.Field{
		{Name: "customer", Value: "cus_48297"}, {Name: "description", Value: "Late order 10519", Main: true}, {Name: "lines", Table: table},
		{Name: "amount", Money: money("125000"), Value: "125000"}, {Name: "shipping.fee", Money: &views.Money{Minor: "500", Currency: "jpy"}, Value: "500"}}}
	m.Panel.Decide.Recipients = 0
	return m
}

// brokenPage holds bytes that are no text, and long runs of what cannot be seen.
func brokenPage() views.OperationModel {
	m := mailPage()
	m.Head.Title = "Invoice \u202Egpj.exe \uFFFD\uFFFD"
	m.Approved = views.Approved{View: views.ViewContent, Required: 1, Version: taskVersion()}
	m.Approved.Version.Content = views.ContentView{Fields: []views.Field{
		{Name: "note", Value: "caf\xe9 \xff\xfe and a\u200B\u200B\u200B\u200Bb", Main: true},
		{Name: "text", Value: "شكرا " + strings.Repeat("\u2066", 40) + " spaces: \u00a0|\u2003|\u202f|\u3000|"},
		{Name: "text", Value: "begin", Cut: views.Cut{Shown: 12_288, Total: 90_000, URL: "/x"}}}}
	return m
}

// emptyPage is a version with nothing in it.
func emptyPage() views.OperationModel {
	m := mailPage()
	m.Approved = views.Approved{View: views.ViewContent, Required: 1, Version: taskVersion()}
	m.Approved.Version.Content, m.Approved.Version.Request = views.ContentView{}, views.RequestView{}
	return m
}

// manyPage has two hundred attempts and as many lookups and entries.
func manyPage() views.OperationModel {
	m := reviewPage()
	var list []views.AttemptView
	for _, n := range []int{1, 2, 193, 194, 195, 196, 197, 198, 199, 200} {
		a := attemptRefused(n, time.Duration(200-n)*time.Minute+time.Hour)
		a.Resolved, a.BytesURL = hashTwo, "/operations/x/attempts/a/request"
		a.AnswerCut = views.Cut{Shown: 3072, Total: 40_000}
		list = append(list, a)
	}
	list[9] = attemptStatus(200, time.Hour)
	m.Tried = views.Tried{Attempts: list, Gap: views.Gap{After: 2, Left: 190, URL: "?all=attempts#q2"}, Used: 200, Max: 1000, Halt: m.Tried.Halt}
	for i := range 10 {
		m.Found.Lookups = append(m.Found.Lookups, views.LookupLine{Result: operation.LookupNone, At: ago(time.Duration(20-i) * time.Minute)})
	}
	m.Found.Gap = views.Gap{After: 2, Left: 388, URL: "?all=lookups#q3"}
	m.History.Total, m.History.Older = 812, "?all=history#hist"
	return m
}

func compareFixtures() []Fixture {
	who := mailPage()
	who.Approved.Compare.Recipients = []views.RecipientChange{{Field: "to", Added: []string{"Eve \u202Egpj <eve@buyer.example>"}, Removed: []string{"recipient-48297@buyer.example"}}, {Field: "bcc", Added: []string{"archive@aldermoor.example"}}}
	who.Approved.Compare.Same = who.Approved.Compare.Same[:1]
	who.Approved.Compare.Fields = append(who.Approved.Compare.Fields, views.FieldChange{Label: "subject", Parts: views.Diff("About your order", "About your late order")},
		views.FieldChange{Label: "html", Parts: []views.DiffPart{{Op: views.DiffEqual, Text: strings.Repeat("same ", 900)}, {Op: views.DiffInsert, Text: strings.Repeat("new ", 9000)}}})
	amounts := invoicePage()
	amounts.Approved.View, amounts.Approved.Views = views.ViewChanges, viewLinks(views.ViewChanges)
	amounts.Approved.Compare = &views.Comparison{From: 1, To: 2, Versions: []int{1, 2}, Action: "/operations/x", Count: views.ChangeCount{Added: 2, Removed: 1},
		Amounts: []views.AmountChange{{Field: "amount", Old: views.Cell{Money: money("1250")}, Now: views.Cell{Money: money("125000")}}, {Field: "lines.0.quantity", Now: views.Cell{Value: "3"}}},
		Fields:  []views.FieldChange{{Label: "description", Parts: views.Diff("Order 10519", "Late order 10519")}}}
	erased := mailPage()
	erased.Approved.Compare = &views.Comparison{From: 1, To: 3, Versions: []int{1, 2, 3}, Action: "/operations/x", Erased: true}
	request := mailPage()
	request.Approved.Compare = &views.Comparison{From: 2, To: 3, Versions: []int{1, 2, 3}, Action: "/operations/x", Mail: true, Request: views.Diff("POST https://a.example/send\nX: 1", "POST https://b.example/send\nX: 1")}
	none := mailPage()
	none.Approved.Compare = &views.Comparison{From: 3, To: 3, Versions: []int{1, 2, 3}, Action: "/operations/x"}
	return []Fixture{{"compare-recipients", views.OperationPage(who)}, {"compare-amounts", views.OperationPage(amounts)}, {"compare-erased", views.OperationPage(erased)},
		{"compare-request", views.OperationPage(request)}, {"compare-nothing", views.OperationPage(none)}}
}

func sameFixtures() []Fixture {
	fact := views.SameFact{Verdict: views.SameBytes, Number: 2, Version: hashOne, Resolved: hashTwo, Attempts: []int{1}, At: ago(time.Hour), Bytes: 346, URL: "/operations/x/attempts/a/request",
		Holes: []views.HoleFill{{Name: "key", Value: string(opTask)}, {Name: "operation_id", Value: string(opTask)}}}
	page := func(facts ...views.SameFact) views.OperationModel {
		m := closedPage(operation.Confirmed)
		m.Head.ConfirmedBy = views.ByDestination
		a := attemptConfirmed(1, time.Hour)
		a.Resolved, a.BytesURL = hashTwo, fact.URL
		m.Tried = views.Tried{Attempts: []views.AttemptView{a}, Used: 1, Max: 5}
		m.Approved.Same = facts
		return m
	}
	wrong := fact
	wrong.Verdict, wrong.Fault, wrong.Holes, wrong.Attempts = views.SameDiffers, views.FaultResolved, nil, []int{2, 3, 4, 5, 6, 7}
	gone := fact
	gone.Verdict, gone.Holes, gone.URL = views.SameErased, nil, ""
	list := []Fixture{{"same", views.OperationPage(page(fact))}, {"same-erased", views.OperationPage(page(gone))}, {"same-differs", views.OperationPage(page(fact, wrong))}}
	return list
}
