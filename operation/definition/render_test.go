package definition

import (
	"encoding/json"
	"errors"
	"flag"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
)

var update = flag.Bool("update", false, "write the golden files")

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.FixedZone("", 9*3600))

// show writes a request as people read it.
func show(v operation.Version) string {
	var b strings.Builder
	r := v.Request
	b.WriteString("destination: " + v.Destination + "/" + v.Action + "\naccount: " + v.Account + " (" + v.Environment + ")\ncredential: " + v.Credential + "\n\n")
	if r.Kind == operation.RequestSMTP {
		b.WriteString("SMTP " + r.URL + "\nMAIL FROM:<" + r.From + ">\nRCPT TO:<" + strings.Join(r.To, ">,<") + ">\n\n")
	} else {
		b.WriteString(r.Method + " " + r.URL + "\n")
		for _, h := range r.Header {
			b.WriteString(h.Name + ": " + h.Value + "\n")
		}
		b.WriteString("\n")
	}
	return operation.ShowHoles(b.String()+strings.ReplaceAll(r.Body, "\r\n", "\n")) + "\n"
}

func TestRender_Golden(t *testing.T) {
	d := loadDemo(t)
	for name, c := range map[string]struct {
		destination, action string
		content             map[string]any
	}{
		"crm":     {"crm", "create_task", map[string]any{"subject": `Call "C-1" <now> & {key}`, "due": "2026-12-01T10:00:00Z", "note": "line\nline"}},
		"invoice": {"billing", "create_invoice", map[string]any{"customer": "cus_1&amount=1", "amount": json.Number("500"), "currency": "eur", "description": "Überweisung = gut"}},
		"coupon":  {"billing", "create_coupon", map[string]any{"code": "WINTER-26", "percent_off": json.Number("10"), "name": "Winter"}},
		"mail":    {"mail", "send", map[string]any{"to": "kim@example.test", "subject": "こんにちは", "text": "Dear Kim,\nhello."}},
		"plain":   {"plain", "create_thing", map[string]any{"topic": "t", "text": "x"}},
		"smtp":    {"smtp", "send", map[string]any{"to": "kim@example.test", "subject": "Kontakt po kampanii: dziękujemy", "text": "Dzień dobry,\n.\nFrom us: " + strings.Repeat("długi ", 20), "html": "<p>Dzień dobry</p>"}},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := d.profiles[c.destination].Action(c.action)
			if err != nil {
				t.Fatal(err)
			}
			v, err := a.Render(c.content, demoEnv, noon)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, "request-"+name+".txt", show(v))
			golden(t, "explain-"+name+".txt", explained(a))
			again, err := a.Render(c.content, demoEnv, noon)
			if err != nil || show(again) != show(v) {
				t.Errorf("the same content gives another request: %v", err)
			}
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := string(read(t, file)); got != want {
		t.Errorf("%s differs; got\n%s", name, got)
	}
}

// hostile holds texts that try to become syntax, headers, paths or holes.
var hostile = []string{
	`"}, "reference": "forged", {"`,
	"x\r\nX-Injected: 1\r\n\r\nbody",
	"a&metadata[operation_id]=forged&b=c",
	"../../admin?x=1#y",
	"{operation_id}{key}{target_ref(crm-task)}",
	"\uE000operation_id\uE001\uE000key\uE001",
	"${operation_id}", `\u0022\ue000key\ue001`,
	"\x00\x1b\u202e",
	"<script>&amp;",
}

func TestRender_ContentNeverBecomesSyntax(t *testing.T) {
	d := loadDemo(t)
	values := map[string]string{operation.HoleOperationID: "op_01234567890123456789012345", operation.HoleKey: "op_01234567890123456789012345"}
	for _, text := range hostile {
		crm := d.profiles["crm"].Actions["create_task"]
		v, err := crm.Render(map[string]any{"subject": text, "due": "2026-12-01T10:00:00Z"}, demoEnv, noon)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		r, err := v.Request.Resolve(values)
		if err != nil {
			t.Fatal(err)
		}
		var body map[string]any
		if err := json.Unmarshal([]byte(r.Body), &body); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if body["subject"] != operation.Normalize(text) || body["reference"] != values[operation.HoleOperationID] || len(body) != 3 {
			t.Errorf("%q became %v", text, body)
		}
		invoice := d.profiles["billing"].Actions["create_invoice"]
		v, err = invoice.Render(map[string]any{"customer": text, "amount": json.Number("1"), "currency": "eur", "description": text}, demoEnv, noon)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if r, err = v.Request.Resolve(values); err != nil {
			t.Fatal(err)
		}
		form, err := url.ParseQuery(r.Body)
		if err != nil || form.Get("customer") != operation.Normalize(text) || form.Get("metadata[operation_id]") != values[operation.HoleOperationID] || len(form) != 7 {
			t.Errorf("%q became %v, %v", text, form, err)
		}
	}
}

func TestRender_PathsAndHeaders(t *testing.T) {
	src := strings.Replace(minimal, "path: /things, json: {", `path: "/things/${content.id}/x-{operation_id}", query: {q: "${content.q}", ref: "{key}"}, headers: {X-Who: "${content.who}"}, json: {`, 1)
	p, err := ParseProfile("p.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	a := p.Actions["act"]
	v, err := a.Render(map[string]any{"id": "a b?c#d%2e&é", "q": "x&y=1 é", "who": "Kim", "text": "t"}, nil, noon)
	if err != nil {
		t.Fatal(err)
	}
	r, err := v.Request.Resolve(map[string]string{"operation_id": "op_01234567890123456789012345", "key": "op_01234567890123456789012345"})
	if err != nil {
		t.Fatal(err)
	}
	want := "https://d.example/things/a%20b%3Fc%23d%252e&%C3%A9/x-op_01234567890123456789012345?q=x%26y%3D1+%C3%A9&ref=op_01234567890123456789012345"
	if r.URL != want {
		t.Errorf("URL\n%s\n%s", r.URL, want)
	}
	for _, id := range []string{"", ".", "..", "a/b", "../x", `..\x`, "%2e%2e/", "x\r\ny", "\u0085"} {
		if v, err := a.Render(map[string]any{"id": id, "q": "q", "who": "w", "text": "t"}, nil, noon); err == nil {
			t.Errorf("the path value %q gives %s", id, v.Request.URL)
		}
	}
	for _, who := range []string{"x\r\nX-Injected: 1", "x\ny", "x\x00", " x", "\u2028"} {
		if v, err := a.Render(map[string]any{"id": "1", "q": "q", "who": who, "text": "t"}, nil, noon); err == nil {
			t.Errorf("the header value %q gives %v", who, v.Request.Header)
		}
	}
}

func TestRender_Refuses(t *testing.T) {
	d := loadDemo(t)
	crm := d.profiles["crm"].Actions["create_task"]
	ok := map[string]any{"subject": "s", "due": "2026-12-01T10:00:00Z"}
	with := func(k string, v any) map[string]any {
		m := map[string]any{}
		for n, x := range ok {
			m[n] = x
		}
		m[k] = v
		return m
	}
	for name, c := range map[string]struct {
		content map[string]any
		want    string
	}{
		"Missing":      {map[string]any{"subject": "s"}, "due"},
		"Empty":        {with("subject", ""), "subject"},
		"UnknownField": {with("colour", "red"), "colour"},
		"WrongKind":    {with("note", json.Number("1")), "note"},
		"EncodedHole":  {with("note", "x %EE%80%80key%EE%80%81"), "mark of a hole"},
		"LowerCase":    {with("note", "x %ee%80%80key%ee%80%81"), "mark of a hole"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := crm.Render(c.content, demoEnv, noon)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
	var ce *ContentError
	if _, err := crm.Render(map[string]any{}, demoEnv, noon); !errors.As(err, &ce) || strings.Join(ce.Fields, " ") != "due subject" {
		t.Errorf("fields %v", ce)
	}
	if _, err := crm.Render(ok, func(string) (string, bool) { return "", false }, noon); err == nil || !strings.Contains(err.Error(), "SANDBOX_URL is not set") {
		t.Errorf("without the variable: %v", err)
	}
	if _, err := crm.Render(ok, func(string) (string, bool) { return "ftp://x", true }, noon); err == nil {
		t.Error("another scheme was accepted")
	}
}

func TestRender_Mail(t *testing.T) {
	a := loadDemo(t).profiles["smtp"].Actions["send"]
	text := "Zażółć\r\n.\nFrom here\n" + strings.Repeat("あ", 100) + "\n--=_0\n"
	v, err := a.Render(map[string]any{"to": "kim@example.test", "subject": "=?utf-8?q?spoof?= " + strings.Repeat("ł", 80), "text": text, "html": "<b>é</b>"}, demoEnv, noon)
	if err != nil {
		t.Fatal(err)
	}
	r, err := v.Request.Resolve(map[string]string{"operation_id": "op_01234567890123456789012345"})
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(r.Body, "\r\n") {
		if len(line) > 78 && !strings.HasPrefix(line, "Content-Type: multipart") || strings.ContainsAny(line, "\r\n") || !isASCII(strings.ReplaceAll(line, "\t", "")) {
			t.Errorf("line %d does not fit RFC 5322: %q", i+1, line)
		}
	}
	m, err := mail.ReadMessage(strings.NewReader(r.Body))
	if err != nil {
		t.Fatal(err)
	}
	dec := new(mime.WordDecoder)
	subject, err := dec.DecodeHeader(m.Header.Get("Subject"))
	if err != nil || subject != "=?utf-8?q?spoof?= "+strings.Repeat("ł", 80) {
		t.Errorf("subject %q, %v", subject, err)
	}
	for name, want := range map[string]string{
		"Message-Id": "<op_01234567890123456789012345@sandbox.example.test>", "Date": "Sun, 29 Nov 2026 03:00:00 +0000",
		"From": `"Demo shop" <shop@example.test>`, "To": "<kim@example.test>", "X-Operation-Id": "op_01234567890123456789012345",
	} {
		if got := m.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	_, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	parts := multipart.NewReader(m.Body, params["boundary"])
	for _, want := range []string{"Zażółć\n.\nFrom here\n" + strings.Repeat("あ", 100) + "\n--=_0\n", "<b>é</b>\n"} {
		part, err := parts.NextRawPart()
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(quotedprintable.NewReader(part))
		if got := strings.ReplaceAll(string(raw), "\r\n", "\n"); err != nil || strings.TrimRight(got, "\n") != strings.TrimRight(want, "\n") {
			t.Errorf("part %q, %v", got, err)
		}
	}
	if r.From != "shop@example.test" || len(r.To) != 1 || r.To[0] != "kim@example.test" || r.URL != "smtp://127.0.0.1:7425" {
		t.Errorf("envelope %+v", r)
	}
}

func TestRender_MailRefusesInjection(t *testing.T) {
	src := `destination: m
title: {en: M}
kind: smtp
account: a
environment: test
local: true
smtp: {addr: "127.0.0.1:25", starttls: off, from: a@example.test, message_id_domain: example.test}
actions:
  send:
    effect: email
    mail: {to: "${content.to}", subject: "Re: ${content.subject}", text: "${content.text}", reply_to: "${content.to}", headers: {X-Note: "${content.subject}"}}
    outcome: [{confirmed: ${status == 250}}]
`
	p, err := ParseProfile("p.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	a := p.Actions["send"]
	if _, err := a.Render(map[string]any{"to": "Kim \"K\" =?x?= <k@example.test>", "subject": "s", "text": "t"}, nil, noon); err != nil {
		t.Errorf("a harmless mail is refused: %v", err)
	}
	for _, to := range []any{"", "x", "k@example.test\r\nBcc: all@example.test", "k@example.test, l@example.test", "k@exämple.test", `"a b"@example.test`,
		"<k@example.test>\n", "k@example.test>\r\nRCPT TO:<l@example.test", "\"x\r\nBcc: y\" <k@example.test>", nil, []any{}, []any{"k@example.test", "K@example.test"}, map[string]any{}} {
		if v, err := a.Render(map[string]any{"to": to, "subject": "s", "text": "t"}, nil, noon); err == nil {
			t.Errorf("the recipient %q gives %v", to, v.Request.To)
		}
	}
	for _, subject := range []string{"x\r\nBcc: all@example.test", "x\ny", "x\x00y", "x\u2028y"} {
		if v, err := a.Render(map[string]any{"to": "k@example.test", "subject": subject, "text": "t"}, nil, noon); err == nil {
			t.Errorf("the subject %q gives\n%s", subject, v.Request.Body)
		}
	}
	for _, text := range []string{"", "  \n", "x\x00"} {
		if _, err := a.Render(map[string]any{"to": "k@example.test", "subject": "s", "text": text}, nil, noon); err == nil {
			t.Errorf("the text %q is accepted", text)
		}
	}
	forged := "\uE000operation_id\uE001 {operation_id}"
	v, err := a.Render(map[string]any{"to": "k@example.test", "subject": forged, "text": forged}, nil, noon)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(v.Request.Body, operation.HoleOpen); n != 1 {
		t.Errorf("%d holes instead of the Message-ID's one:\n%s", n, v.Request.Body)
	}
}
