package jobs

import (
	"flag"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"holdpoint/connector/smtp"
	"holdpoint/operation"
	"holdpoint/store"
)

var update = flag.Bool("update", false, "write the golden mails anew")

// mailAt gives the installation's mail at a server.
func mailAt(t testing.TB, addr string) *Mail {
	t.Helper()
	server, err := smtp.FromURL("smtp://" + addr + "?starttls=off")
	if err != nil {
		t.Fatal(err)
	}
	return &Mail{Server: server, From: mail.Address{Name: "Holdpoint", Address: "holdpoint@shop.example"}}
}

// An order as the record gives it, for mails without a database.
func sampleOrder(lang, name string, kind operation.NoticeKind, title string) store.NoticeOrder {
	at := time.Date(2026, 4, 16, 7, 42, 0, 0, time.UTC)
	return store.NoticeOrder{ID: "ntc_01", Channel: store.ChannelMail, Attempt: 1, Message: "ntc_01@shop.example", At: at, Now: at,
		To: store.NoticeReader{ID: "usr_1", Email: "lead@example.test", Name: name, Locale: lang, Zone: map[string]string{"en": "Europe/London", "ja": "Asia/Tokyo", "pl": "Europe/Warsaw"}[lang]},
		Items: []store.NoticeItem{{ID: "ntc_01", Kind: kind, Subject: "op_01h455vb4pex5vsknk084sn02q", Title: title, State: operation.PendingApproval,
			FlowTitle:  map[string]string{"en": "Campaign follow-up", "ja": "キャンペーンのフォローアップ", "pl": "Kontakt po kampanii"},
			StageTitle: map[string]string{"en": "CRM task", "ja": "CRMタスク", "pl": "Zadanie w CRM"}, Due: at.Add(4 * time.Hour)}}}
}

func composer() *notifier {
	return &notifier{cfg: Notify{PublicURL: "https://holdpoint.shop.example", Mail: &Mail{From: mail.Address{Name: "Holdpoint", Address: "holdpoint@shop.example"}}}}
}

func bundleOf(o store.NoticeOrder, n int) store.NoticeOrder {
	o.Bundle = true
	first := o.Items[0]
	o.Items = []store.NoticeItem{{ID: "ntc_d", Kind: operation.NoticeDigest, Subject: "usr_1", Title: "25"}}
	for range n {
		o.Items = append(o.Items, first)
	}
	return o
}

// TestGoldenMails holds the mails in three languages to what somebody has read.
func TestGoldenMails(t *testing.T) {
	n := composer()
	overdue := sampleOrder("pl", "Łucja Żółć", operation.NoticeOverdue, "Zadzwoń do C-1042 w sprawie „Wiosny”")
	overdue.Items[0].Step, overdue.Items[0].Due = operation.StepEscalate, overdue.At.Add(-5*time.Hour)
	for name, o := range map[string]store.NoticeOrder{
		"approval.en": sampleOrder("en", "Lena Lead", operation.NoticeApproval, "Call C-1042 about Spring"),
		"unknown.ja":  sampleOrder("ja", "田中 さくら", operation.NoticeUnknown, "C-1042様への電話（春）"),
		"overdue.pl":  overdue,
		"digest.en":   bundleOf(sampleOrder("en", "Lena Lead", operation.NoticeCompleted, "Call C-1042 about Spring"), 2),
		"digest.ja":   bundleOf(sampleOrder("ja", "田中 さくら", operation.NoticeWork, "C-1042様への電話（春）"), 1),
		"digest.pl":   bundleOf(sampleOrder("pl", "Łucja Żółć", operation.NoticeWork, "Zadzwoń do C-1042"), 24),
	} {
		req, err := n.compose(o)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", "mail", name+".eml")
		got := strings.ReplaceAll(req.Body, "\r\n", "\n") + "\n" + readable(t, req.Body)
		if *update {
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs:\n%s", name, got)
		}
		if strings.Contains(got, "⟦") {
			t.Errorf("%s has a sentence that no catalogue knows", name)
		}
		again, _ := n.compose(o)
		if again.Body != req.Body {
			t.Errorf("%s: the second try has other bytes", name)
		}
	}
}

// readable gives the subject and the text part as a mail program shows them.
func readable(t *testing.T, raw string) string {
	t.Helper()
	m, err := mail.ReadMessage(strings.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	if err != nil {
		t.Fatal(err)
	}
	_, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := multipart.NewReader(m.Body, params["boundary"]).NextPart()
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(p)
	if err != nil {
		t.Fatal(err)
	}
	return "== " + subject + "\n" + strings.ReplaceAll(string(b), "\r\n", "\n")
}

func TestMailHoldsNoContentAndNoForgedLine(t *testing.T) {
	t.Parallel()
	n := composer()
	o := sampleOrder("en", "Eve\r\nBcc: all@example.test", operation.NoticeApproval, "Pay\u202e now\r\nBcc: all@example.test <script>alert(1)</script>"+strings.Repeat("x", 600))
	req, err := n.compose(o)
	if err != nil {
		t.Fatal(err)
	}
	m, err := mail.ReadMessage(strings.NewReader(req.Body))
	if err != nil {
		t.Fatal(err)
	}
	if m.Header.Get("Bcc") != "" || len(req.To) != 1 {
		t.Error("a title or a name adds a recipient")
	}
	got := readable(t, req.Body)
	if strings.Contains(got, "\u202e") || len(strings.SplitN(got, "\n", 2)[0]) > 200 {
		t.Errorf("subject %q", strings.SplitN(got, "\n", 2)[0])
	}
	_, html, _ := strings.Cut(strings.ReplaceAll(req.Body, "=\r\n", ""), "text/html")
	if strings.Contains(html, "<script>") || !strings.Contains(html, "&lt;script&gt;") {
		t.Error("the HTML part holds a title's markup")
	}
	o.To.Email = "a@b.example>\r\nRCPT TO:<c@d.example"
	if _, err := n.compose(o); err == nil {
		t.Error("a broken address is used")
	}
}

// TestMailShowsATitleThatIsAnEncodedWord: what a title says in code is not shown as if it
// were Holdpoint's own words.
func TestMailShowsATitleThatIsAnEncodedWord(t *testing.T) {
	t.Parallel()
	const coded = "=?utf-8?q?Sign_in_again=0d=0aBcc:_all=40example.test?="
	req, err := composer().compose(sampleOrder("en", "Eve "+coded, operation.NoticeApproval, "Pay "+coded))
	if err != nil {
		t.Fatal(err)
	}
	m, err := mail.ReadMessage(strings.NewReader(req.Body))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Subject", "To"} {
		shown, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get(name))
		if err != nil || !strings.Contains(shown, coded) {
			t.Errorf("%s is shown as %q, %v", name, shown, err)
		}
	}
	to, err := m.Header.AddressList("To")
	if err != nil || len(to) != 1 || to[0].Address != req.To[0] {
		t.Errorf("to %v, %v", to, err)
	}
}
