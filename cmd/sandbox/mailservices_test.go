package main

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

const (
	asJSON = "application/json"
	aCard  = `{"type":"message","attachments":[{"contentType":"application/vnd.microsoft.card.adaptive",
		"content":{"type":"AdaptiveCard","version":"1.4","body":[{"type":"TextBlock","text":"op_1"}]}}]}`
)

func init() {
	for destination, r := range map[string][3]string{
		destResend: {"/resend/emails", asJSON, `{"from":"a@example.test","to":["b@example.test"],"subject":"S","text":"T","tags":[{"name":"operation_id","value":"op_1"}]}`},
		destSendGrid: {"/sendgrid/v3/mail/send", asJSON, `{"from":{"email":"a@example.test"},"personalizations":[{"to":[{"email":"b@example.test"}]}],
			"subject":"S","content":[{"type":"text/plain","value":"T"}],"custom_args":{"operation_id":"op_1"}}`},
		destPostmark:  {"/postmark/email", asJSON, `{"From":"a@example.test","To":"b@example.test","Subject":"S","TextBody":"T","Metadata":{"operation_id":"op_1"}}`},
		destMailgun:   {"/mailgun/v3/mg.example.test/messages", "application/x-www-form-urlencoded", "from=a@example.test&to=b@example.test&subject=S&text=T&o:tag=op_1&v:operation_id=op_1"},
		destSES:       {"/ses/v2/email/outbound-emails", asJSON, `{"FromEmailAddress":"a@example.test","Destination":{"ToAddresses":["b@example.test"]},"Content":{"Simple":{"Subject":{"Data":"S"},"Body":{"Text":{"Data":"T"}}}},"EmailTags":[{"Name":"operation_id","Value":"op_1"}]}`},
		destSlack:     {"/slack/api/chat.postMessage", asJSON, `{"channel":"C0123456","text":"T","metadata":{"event_type":"x","event_payload":{"op":"op_1"}}}`},
		destSlackHook: {"/slack-webhook/services/T1/B1/token", asJSON, `{"text":"T op_1"}`},
		destTeams:     {"/teams/workflows/w1?sig=x", asJSON, aCard},
	} {
		effectRequests[destination] = struct{ path, kind, body string }{r[0], r[1], r[2]}
	}
}

// credentials are the headers by which a system lets a request in; nil = the token that
// every request carries.
func (p *peer) credentials(destination, path, kind, body string) []string {
	switch destination {
	case destPostmark:
		return []string{"X-Postmark-Server-Token", "test", "Accept", asJSON}
	case destMailgun:
		return []string{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte("api:test"))}
	case destSES:
		return signedHeaders(p.t, p.base+path, kind, body, sesSecrets[0], time.Now())
	}
	return nil
}

// otherCredential: these let a request in by another header, or by its address.
var otherCredential = map[string]bool{destPostmark: true, destSlackHook: true, destTeams: true}

// signedHeaders signs a POST as AWS describes it.
func signedHeaders(t testing.TB, url, kind, body, secret string, now time.Time) []string {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	date := now.UTC().Format(sigV4Time)
	r.Header.Set("X-Amz-Date", date)
	r.Header.Set("Content-Type", kind)
	s := sigV4{"AKIDEXAMPLE", date[:8], "eu-central-1", "ses", []string{"content-type", "host", "x-amz-date"}, ""}
	return []string{"X-Amz-Date", date, "Authorization", fmt.Sprintf("%s Credential=%s/%s/%s/%s/aws4_request, SignedHeaders=%s, Signature=%s",
		sigV4Algorithm, s.keyID, s.day, s.region, s.service, strings.Join(s.signed, ";"), s.of(r, []byte(body), secret))}
}

// ownLook is how a fault looks at systems whose answers have no JSON body, or none at all.
var ownLook = map[string]func(*testing.T, *peer, got){
	"empty_body/" + destSendGrid:  emptyAccepted,
	"cut_body/" + destSendGrid:    emptyAccepted,
	"empty_body/" + destTeams:     emptyAccepted,
	"cut_body/" + destTeams:       emptyAccepted,
	"empty_body/" + destSlackHook: func(t *testing.T, p *peer, g got) { p.wantStatus(g, 200); wantRaw(t, g, "") },
}

func emptyAccepted(t *testing.T, p *peer, g got) {
	t.Helper()
	p.wantStatus(g, http.StatusAccepted)
	wantRaw(t, g, "")
}

func wantRaw(t *testing.T, g got, raw string) {
	t.Helper()
	if g.raw != raw {
		t.Fatalf("body %q, want %q", g.raw, raw)
	}
}

// The two requests of AWS's published test suite that need no file.
func TestSigV4OfThePublishedVectors(t *testing.T) {
	t.Parallel()
	const secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
	for method, want := range map[string]string{
		http.MethodGet:  "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
		http.MethodPost: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
	} {
		r, err := http.NewRequest(method, "https://example.amazonaws.com/", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Amz-Date", "20150830T123600Z")
		s := sigV4{"AKIDEXAMPLE", "20150830", "us-east-1", "service", []string{"host", "x-amz-date"}, ""}
		if got := s.of(r, nil, secret); got != want {
			t.Errorf("%s: %s, want %s", method, got, want)
		}
	}
}

func TestSESTakesOnlyWhatIsSigned(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	r := effectRequests[destSES]
	now, url := time.Now(), p.base+r.path
	for name, headers := range map[string][]string{
		"another secret": signedHeaders(t, url, r.kind, r.body, "other", now),
		"another body":   signedHeaders(t, url, r.kind, r.body+" ", sesSecrets[0], now),
		"another path":   signedHeaders(t, url+"x", r.kind, r.body, sesSecrets[0], now),
		"another type":   signedHeaders(t, url, "text/plain", r.body, sesSecrets[0], now),
		"too old":        signedHeaders(t, url, r.kind, r.body, sesSecrets[0], now.Add(-time.Hour)),
		"no signature":   {"Authorization", sigV4Algorithm + " x"},
		"a token":        nil,
	} {
		if g := p.do("POST", r.path, r.kind, r.body, headers...); g.status != http.StatusForbidden && g.status != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", name, g.status, g.raw)
		}
	}
	p.wantEffects(destSES, "", 0)
	p.wantStatus(p.effect(destSES), http.StatusOK)
	p.wantEffects(destSES, "op_1", 1)
}

// Only Resend takes a key. Everywhere else an equal request is a second effect.
func TestProvidersRepeat(t *testing.T) {
	t.Parallel()
	for _, d := range providers() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t)
			first, second := p.effect(d.name, "Idempotency-Key", "k1"), p.effect(d.name, "Idempotency-Key", "k1")
			if first.status >= 300 || second.status != first.status {
				t.Fatalf("%d %s, then %d %s", first.status, first.raw, second.status, second.raw)
			}
			if d.keyed {
				wantRaw(t, second, first.raw)
				p.wantEffects(d.name, "op_1", 1)
				return
			}
			p.wantEffects(d.name, "op_1", 2)
		})
	}
}

func TestProvidersRefuse(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	basic := []string{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte("api:test"))}
	postmark := []string{"X-Postmark-Server-Token", "test", "Accept", asJSON}
	for name, c := range map[string]struct {
		path, kind, body string
		headers          []string
		status           int
		says             string
	}{
		"sendgrid: unknown field":  {"/sendgrid/v3/mail/send", asJSON, `{"x":1}`, nil, 400, "x"},
		"sendgrid: nobody":         {"/sendgrid/v3/mail/send", asJSON, `{"from":{"email":"a@b.test"},"subject":"S","content":[{"type":"text/plain","value":"T"}]}`, nil, 400, "personalizations"},
		"sendgrid: html first":     {"/sendgrid/v3/mail/send", asJSON, `{"from":{"email":"a@b.test"},"personalizations":[{"to":[{"email":"b@b.test"}]}],"subject":"S","content":[{"type":"text/html","value":"T"},{"type":"text/plain","value":"T"}]}`, nil, 400, "must be first"},
		"postmark: without token":  {"/postmark/email", asJSON, `{}`, []string{"Accept", asJSON}, 401, "ErrorCode"},
		"postmark: no JSON wanted": {"/postmark/email", asJSON, `{}`, postmark[:2], 409, "JSON"},
		"postmark: inactive":       {"/postmark/email", asJSON, `{"From":"a@b.test","To":"inactive@b.test","Subject":"S","TextBody":"T"}`, postmark, 422, "406"},
		"mailgun: a token":         {"/mailgun/v3/d/messages", "application/x-www-form-urlencoded", "", nil, 401, "Forbidden"},
		"mailgun: no from":         {"/mailgun/v3/d/messages", "application/x-www-form-urlencoded", "to=a@b.test", basic, 400, "from parameter"},
		"mailgun: half a form":     {"/mailgun/v3/d/messages", "multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"from\"\r\n\r\na@b.test", basic, 400, "form"},
		"slack: no text":           {"/slack/api/chat.postMessage", asJSON, `{"channel":"C1"}`, nil, 200, `"no_text"`},
		"slack: archived":          {"/slack/api/chat.postMessage", asJSON, `{"channel":"CARCHIVED1","text":"x"}`, nil, 200, `"is_archived"`},
		"slack hook: wrong token":  {"/slack-webhook/services/T/B/wrong", asJSON, `{"text":"x"}`, nil, 403, "invalid_token"},
		"teams: no signature":      {"/teams/workflows/w1", asJSON, aCard, nil, 401, "signature"},
		"teams: no card":           {"/teams/workflows/w1?sig=x", asJSON, `{"type":"message"}`, nil, 400, "schema"},
		"teams: old, too large":    {"/teams/webhookb2/w1", asJSON, strings.Replace(aCard, "op_1", strings.Repeat("x", cardLimit), 1), nil, 200, "HTTP error 413"},
	} {
		g := p.do("POST", c.path, c.kind, c.body, c.headers...)
		if g.status != c.status || !strings.Contains(g.raw, c.says) {
			t.Errorf("%s: %d %s, want %d with %q", name, g.status, g.raw, c.status, c.says)
		}
	}
	p.wantEffects("", "", 0)
}

// A search sees what is older than its lag, and nothing of another caller.
func TestProvidersSearch(t *testing.T) {
	t.Parallel()
	searches := map[string]struct {
		path  string
		count func(got) int
	}{
		destSendGrid: {"/sendgrid/v3/messages?limit=10&query=%28unique_args%5B%27operation_id%27%5D%3D%22op_1%22%29", listed("messages")},
		destPostmark: {"/postmark/messages/outbound?count=50&offset=0&metadata_operation_id=op_1", listed("Messages")},
		destMailgun:  {"/mailgun/v3/mg.example.test/events?event=accepted&tags=op_1&limit=300", listed("items")},
		destSlack:    {"/slack/api/conversations.history?channel=C0123456&include_all_metadata=true", listed("messages")},
	}
	for name, search := range searches {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t)
			p.control("settings", fmt.Sprintf(`{"destination":%q,"index_lag":"1m"}`, name))
			ask := func(path string) got {
				g := p.do("GET", path, "", "", p.credentials(name, path, "", "")...)
				p.wantStatus(g, 200)
				return g
			}
			if g := p.effect(name); g.status >= 300 {
				t.Fatal(g.raw)
			}
			if n := search.count(ask(search.path)); n != 0 {
				t.Fatalf("%d found before the lag", n)
			}
			p.control("clock", `{"advance":"2m"}`)
			if n := search.count(ask(search.path)); n != 1 {
				t.Fatalf("%d found after the lag", n)
			}
			if n := search.count(ask(strings.NewReplacer("op_1", "op_2", "C0123456", "C9").Replace(search.path))); n != 0 {
				t.Fatalf("%d found of somebody else", n)
			}
		})
	}
}

func listed(field string) func(got) int {
	return func(g got) int {
		list, _ := g.at(field).([]any)
		return len(list)
	}
}

func TestNewsIsOrdered(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	p.wantStatus(p.effect(destResend), http.StatusOK)
	for name, c := range map[string]struct{ path, body, says string }{
		"no such system": {"callbacks/plain", `{"to":"http://x.test","reference":"op_1","event":"delivered"}`, "signed callbacks"},
		"no such event":  {"callbacks/resend", `{"to":"http://x.test","reference":"op_1","event":"read"}`, "delivered"},
		"no such mail":   {"callbacks/resend", `{"to":"http://x.test","reference":"op_2","event":"delivered"}`, "op_2"},
		"nowhere to go":  {"callbacks/resend", `{"reference":"op_1","event":"delivered"}`, "to"},
		"unknown field":  {"callbacks/resend", `{"url":"x"}`, "to, id, reference"},
		"not told":       {"callbacks/postmark", `{"to":"http://x.test","reference":"op_1","event":"dropped"}`, "op_1"},
	} {
		if g := p.json("/_control/"+c.path, c.body); g.status != http.StatusBadRequest || !strings.Contains(g.raw, c.says) {
			t.Errorf("%s: %d %s", name, g.status, g.raw)
		}
	}
	g := p.json("/_control/callbacks/resend", `{"to":"`+p.base+`/plain/things","reference":"op_1","event":"bounced"}`)
	p.wantStatus(g, http.StatusOK)
	if !strings.Contains(g.raw, "email.bounced") || !strings.Contains(p.get("/_control/ledger?destination=resend").raw, `"last_event":"bounced"`) {
		t.Error(g.raw)
	}
	if got := p.get("/_control/callbacks/sendgrid").at("secret"); got == nil || got == "" {
		t.Errorf("secret %v", got)
	}
}
