package handlers

import (
	"encoding/json"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/views"
)

func decoded(t *testing.T, s string) map[string]any {
	t.Helper()
	x, err := definition.DecodeJSON([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return x.(map[string]any)
}

func fieldNamed(list []views.Field, name string) views.Field {
	for _, f := range list {
		if f.Name == name {
			return f
		}
	}
	return views.Field{}
}

func TestInvoiceIsATableWithAmountsOfMinorUnits(t *testing.T) {
	t.Parallel()
	fields, cut := shownFields(decoded(t, `{"currency":"eur","amount":9007199254740991,"tax":"19 %","ratio":1.50,
		"lines":[{"name":"Tea","quantity":2,"amount":9007199254740990},{"name":"Pot","amount":1,"quantity":1}],
		"tags":["a","b"],"ship":{"city":"Łódź","fee":250}}`), "/x")
	if !cut.Whole() {
		t.Errorf("cut: %+v", cut)
	}
	if f := fieldNamed(fields, "amount"); f.Money == nil || f.Money.Minor != "9007199254740991" || f.Money.Currency != "eur" {
		t.Errorf("amount %+v", f)
	}
	if f := fieldNamed(fields, "ship.fee"); f.Money == nil || f.Money.Minor != "250" {
		t.Errorf("a fee below: %+v", f)
	}
	if fieldNamed(fields, "tax").Money != nil || fieldNamed(fields, "ratio").Money != nil || fieldNamed(fields, "ratio").Value != "1.50" {
		t.Error("what is no amount in minor units is read as one")
	}
	if f := fieldNamed(fields, "tags"); f.Value != "a\nb" {
		t.Errorf("a list of texts: %+v", f)
	}
	tab := fieldNamed(fields, "lines").Table
	if tab == nil || strings.Join(tab.Columns, " ") != "name quantity amount" || len(tab.Rows) != 2 || tab.Rows[1][1].Value != "1" || tab.Rows[0][2].Money == nil {
		t.Fatalf("table %+v", tab)
	}
	if tab.Sum == nil || tab.Sum.Minor != "9007199254740991" {
		t.Errorf("sum %+v", tab.Sum)
	}
}

func TestNoSumOfDifferentCurrencies(t *testing.T) {
	t.Parallel()
	fields, _ := shownFields(decoded(t, `{"lines":[{"amount":1,"currency":"eur"},{"amount":2,"currency":"usd"}]}`), "")
	if tab := fieldNamed(fields, "lines").Table; tab == nil || tab.Sum != nil {
		t.Errorf("table %+v", tab)
	}
	fields, _ = shownFields(decoded(t, `{"amount":5}`), "")
	if fieldNamed(fields, "amount").Money != nil {
		t.Error("an amount without a currency is read as money")
	}
}

func TestContentOfAnySizeFitsAPage(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]map[string]any{
		"one text of 5 MB":   {"text": strings.Repeat("word ", 1<<20)},
		"marks alone":        {"text": strings.Repeat("\u200B\u202E", 800_000)},
		"a hundred thousand": manyFields(100_000),
		"a list of texts":    {"list": manyTexts(100_000)},
		"a table":            {"lines": manyLines(100_000)},
	} {
		t.Run(name, func(t *testing.T) {
			fields, cut := shownFields(content, "/whole")
			size, said := 0, !cut.Whole()
			for _, f := range fields {
				size += len(f.Value)
				said = said || !f.Cut.Whole()
				if f.Table != nil {
					said = said || f.Table.Total > len(f.Table.Rows)
				}
			}
			if size > 2*views.ShownContent || len(fields) > views.ShownRows || !said {
				t.Errorf("%d bytes in %d fields, said to be cut: %v", size, len(fields), said)
			}
		})
	}
}

func manyFields(n int) map[string]any {
	m := map[string]any{}
	for i := range n {
		m["f"+itoa(i)] = "x"
	}
	return m
}

func manyTexts(n int) []any {
	var list []any
	for i := range n {
		list = append(list, itoa(i))
	}
	return list
}

func manyLines(n int) []any {
	var list []any
	for i := range n {
		list = append(list, map[string]any{"name": itoa(i)})
	}
	return list
}

func mailOf(request operation.Request, content map[string]any) *views.MailView {
	raw, _ := jsonOf(request)
	return mailHead(store.VersionRow{RequestText: raw}, content)
}

func TestRecipientsAreThoseOfTheRequest(t *testing.T) {
	t.Parallel()
	content := map[string]any{"to": "ann@example.test", "subject": "Hi", "text": "x"}
	m := mailOf(operation.Request{Kind: operation.RequestHTTP, Body: `{"from":{"email":"s@example.test","name":"Shop"},"to":["ann@example.test"],"cc":"Bob <bob@example.test>, c@example.test","bcc":[{"email":"d@example.test"}],"replyTo":"r@example.test","subject":"[Shop] Hi","attachments":[{"filename":"a.pdf","content":"aGVsbG8=","type":"application/pdf"},{"path":"https://x.example/b"}]}`}, content)
	if m.From != "Shop <s@example.test>" || len(m.Cc) != 2 || len(m.Bcc) != 1 || m.ReplyTo[0] != "r@example.test" || m.Subject != "[Shop] Hi" || m.Recipients() != 4 {
		t.Errorf("%+v, %d recipients", m, m.Recipients())
	}
	if a := m.Attachments; len(a) != 2 || a[0].Size != 5 || a[0].Hash == "" || a[1].Size != -1 || a[1].URL != "https://x.example/b" {
		t.Errorf("attachments %+v", a)
	}
	m = mailOf(operation.Request{Kind: operation.RequestSMTP, From: "s@example.test", To: []string{"ann@example.test", "unseen@example.test"},
		Body: "From: =?utf-8?q?Za=C5=BC=C3=B3=C5=82=C4=87?= <s@example.test>\r\nTo: ann@example.test\r\nReply-To: r@example.test\r\nSubject: =?utf-8?q?Cze=C5=9B=C4=87?=\r\n\r\nx"}, content)
	if m.From != "Zażółć <s@example.test>" || m.Subject != "Cześć" || len(m.Bcc) != 1 || m.Bcc[0] != "unseen@example.test" || m.Recipients() != 2 || m.ReplyTo[0] != "r@example.test" {
		t.Errorf("%+v, %d recipients", m, m.Recipients())
	}
	m = mailOf(operation.Request{Kind: operation.RequestHTTP, Body: `to=ann%40example.test&cc=b%40example.test&from=s%40example.test`}, content)
	if m.From != "s@example.test" || m.Recipients() != 2 {
		t.Errorf("a form: %+v", m)
	}
	if m = mailOf(operation.Request{}, content); m.Recipients() != 1 || m.From != "" {
		t.Errorf("a draft: %+v", m)
	}
}

func TestSafeURL(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"javascript:alert(1)", "data:text/html,x", "//x.example", "/x", "https://", "https://bank.example@evil.test/", "ftp://x.example/", "http://[::1", " https://x.example"} {
		if got := safeURL(bad); got != "" {
			t.Errorf("%q became the link %q", bad, got)
		}
	}
	if safeURL("https://x.example/a?b=c") == "" {
		t.Error("an ordinary address is refused")
	}
}

func jsonOf(v any) (string, error) {
	raw, err := json.Marshal(v)
	return string(raw), err
}
