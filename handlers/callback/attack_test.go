package callback_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func find(t *testing.T, system string) sender {
	t.Helper()
	for _, s := range senders(t) {
		if s.system == system {
			return s
		}
	}
	t.Fatal(system)
	return sender{}
}

// Mailgun signs no event: whoever saw one callback could post other events with its
// signature. The token is taken once; the same body may come again.
func TestMailgunTokensAreTakenOnce(t *testing.T) {
	t.Parallel()
	s := find(t, "mailgun")
	h := newHouse(t, s.system, s.action)
	h.secrets = s.secrets
	a, b := h.dispatch(), h.dispatch()
	body, header := s.sign(s.event("delivered", a.id, "m1", "e1"), time.Now())
	if r := h.post("/cb/mailgun", body, header); r.Recorded != 1 {
		t.Fatal(r.raw)
	}
	if r := h.post("/cb/mailgun", body, header); r.status != 200 || r.Repeated != 1 {
		t.Errorf("the same again: %d %s", r.status, r.raw)
	}
	forged := bytes.Replace(body, []byte(a.id), []byte(b.id), 1)
	if r := h.post("/cb/mailgun", forged, header); r.status != http.StatusUnauthorized || r.Code != "token_used" {
		t.Errorf("other events under a used token: %d %s", r.status, r.raw)
	}
	b.want("in_progress", "", "")
	if n := h.Count(t, "callback_tokens"); n != 1 {
		t.Errorf("%d tokens", n)
	}
}

// Several events in one POST are judged one by one, and a wrong one hinders no other.
func TestEntriesAreJudgedOneByOne(t *testing.T) {
	t.Parallel()
	s := find(t, "sendgrid")
	h := newHouse(t, s.system, s.action)
	h.secrets = s.secrets
	a, b := h.dispatch(), h.dispatch()
	events := strings.Join([]string{s.event("processed", a.id, "m1", "e1"), `{"event":"delivered","operation_id":"x"}`, s.event("delivered", a.id, "m1", "e2"), s.event("delivered", a.id, "m1", "e2"),
		`7`, s.event("open", a.id, "m1", "e3"), s.event("bounce", b.id, "m2", "e4"), s.stranger}, ",")
	body, header := s.sign(events, time.Now())
	r := h.post("/cb/sendgrid", body, header)
	if r.status != 200 || r.Recorded != 3 || r.Repeated != 1 || r.Unreadable != 2 || r.Ignored != 2 || r.Waiting != 0 {
		t.Errorf("%d %s", r.status, r.raw)
	}
	a.want("confirmed", "delivered", "")
	b.want("confirmed", "bounced", "bounced")
	if h.refusals("entry") != 1 {
		t.Error("what could not be read is not on the record")
	}
}

// Other systems of the same account choose names and texts of their own entries. What
// cannot be read in one way only, or cannot be stored, loses no entry of ours.
func TestEntriesOfOthersLoseNoneOfOurs(t *testing.T) {
	t.Parallel()
	s := find(t, "sendgrid")
	h := newHouse(t, s.system, s.action)
	h.secrets = s.secrets
	a := h.dispatch()
	a.report("m1")
	bad := []string{`{"event":"open","Event":"x"}`, `{"event":"open","event":"click"}`, `{"event":"open","useragent":"\u0000"}`, `{"event":"open","useragent":"\ud800"}`, "{\"event\":\"open\",\"useragent\":\"\xff\"}"}
	body, header := s.sign(strings.Join(append(bad, s.event("bounce", a.id, "m1", "e1")), ","), time.Now())
	if r := h.post("/cb/sendgrid", body, header); r.status != 200 || r.Recorded != 1 || r.Unreadable != len(bad) {
		t.Errorf("%d %s", r.status, r.raw)
	}
	a.want("confirmed", "bounced", "bounced")
	if h.refusals("syntax") != 1 {
		t.Error("what could not be read is not on the record")
	}
	body, header = s.sign(strings.Join(bad, ","), time.Now())
	if r := h.post("/cb/sendgrid", body, header); r.status != 200 || r.Recorded != 0 || r.Unreadable == 0 {
		t.Errorf("none can be read: %d %s", r.status, r.raw)
	}
}

// A large callback is taken whole, as far as the profile's limit of bytes permits, and comes
// again without a second effect; one without bound is refused.
func TestLargeCallbacks(t *testing.T) {
	t.Parallel()
	s := find(t, "sendgrid")
	h := newHouse(t, s.system, s.action)
	h.secrets = s.secrets
	const n = 6001 // more than two transactions take
	a := h.dispatch()
	a.report("m1")
	var events []string
	for i := range n - 1 {
		events = append(events, fmt.Sprintf(`{"event":"delivered","sg_event_id":"e%d","operation_id":"op_%026d"}`, i, i))
	}
	events = append(events, s.event("bounce", a.id, "m1", "last"))
	body, header := s.sign(strings.Join(events, ","), time.Now())
	if r := h.post("/cb/sendgrid", body, header); r.status != 200 || r.Recorded != n || r.Waiting != n-1 {
		t.Errorf("%d %s", r.status, r.raw)
	}
	a.want("confirmed", "bounced", "bounced")
	if r := h.post("/cb/sendgrid", body, header); r.status != 200 || r.Recorded != 0 || r.Repeated != n {
		t.Errorf("again: %d %s", r.status, r.raw)
	}
	if kept := h.Count(t, "news"); kept != n {
		t.Errorf("%d pieces of news", kept)
	}
	if r := h.post("/cb/sendgrid", bytes.Repeat([]byte("["), 3<<20), header); r.status != http.StatusRequestEntityTooLarge || r.Code != "too_large" {
		t.Errorf("%d %s", r.status, r.raw)
	}
	deep := strings.Repeat("[", 100000) + strings.Repeat("]", 100000)
	body, header = s.sign(deep, time.Now())
	if r := h.post("/cb/sendgrid", body, header); r.status != 200 || r.Recorded != 0 {
		t.Errorf("a deep body: %d %s", r.status, r.raw)
	}
}

// Genuine bytes that do not look as documented are acknowledged and recorded: a refusal
// would make the sender come again for ever, or switch itself off (FC-10).
func TestGenuineButUnreadableIsAcknowledged(t *testing.T) {
	t.Parallel()
	s := find(t, "sendgrid")
	h := newHouse(t, s.system, s.action)
	h.secrets = s.secrets
	for events, code := range map[string]string{`{"a":1,"a":2}`: "syntax", `"\u0000"`: "nul", `x`: "syntax"} {
		body, header := s.sign(events, time.Now())
		if r := h.post("/cb/sendgrid", body, header); r.status != 200 || r.Unreadable != 1 || h.refusals(code) == 0 {
			t.Errorf("%s: %d %s", events, r.status, r.raw)
		}
	}
}

// Bad credentials are 401, never 403: at 403 Postmark stops for good. Our own fault is 503.
func TestAnswersThatSendersUnderstand(t *testing.T) {
	t.Parallel()
	s := find(t, "postmark")
	h := newHouse(t, s.system, s.action)
	h.secrets = s.secrets
	for _, login := range []string{"hook:wrong", "hook:", ":long-and-random", "long-and-random", "hook:long-and-random "} {
		if r := h.post("/cb/postmark", []byte(`{}`), http.Header{"Authorization": {basic(login)}}); r.status != http.StatusUnauthorized {
			t.Errorf("%q: %d", login, r.status)
		}
	}
	for i, path := range []string{"/cb/postmark", "/cb/postmark/"} {
		a := h.dispatch()
		body, header := s.sign(s.event("Delivery", a.id, fmt.Sprint("m", i), ""), time.Now())
		if r := h.post(path, body, header); r.Recorded != 1 {
			t.Errorf("%s: %s", path, r.raw)
		}
		a.want("confirmed", "delivered", "")
	}
	h.secrets = map[string]string{}
	if r := h.post("/cb/postmark", []byte(`{}`), http.Header{"Authorization": {basic("hook:x")}}); r.status != http.StatusServiceUnavailable {
		t.Errorf("without our secret: %d", r.status)
	}
	for path, want := range map[string]int{"/cb/nowhere": 404, "/cb/crm": 404} {
		if r := h.post(path, []byte(`{}`), nil); r.status != want {
			t.Errorf("%s: %d", path, r.status)
		}
	}
	zipped := http.Header{"Content-Encoding": {"gzip"}}
	if r := h.post("/cb/elsewhere", []byte("x"), zipped); r.status != http.StatusUnsupportedMediaType {
		t.Errorf("compressed: %d", r.status)
	}
}

// Everybody may send rubbish; what is kept of it is bounded.
func TestRefusalsAreBounded(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "postmark", "send")
	for range 70 {
		h.post("/cb/elsewhere", []byte(`{}`), http.Header{"X-Sig": {hex.EncodeToString(mac("wrong", "{}"))}})
	}
	if n := h.Count(t, "callback_refusals"); n != 60 {
		t.Errorf("%d refusals kept", n)
	}
}

// Amazon SNS: certificates and confirmations at Amazon's hosts only, and only for topics
// that the profile names.
func TestSNS(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "ses", "send", "arn:aws:sns:eu-central-1:000000000000:change-me", topic)
	amazon := newSNS(t)
	h.amazon[certificateAt] = amazon.cert
	const confirm = "https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&Token=2336"
	h.amazon[confirm] = []byte("<ConfirmSubscriptionResponse/>")
	post := func(kind string, more map[string]string) reply {
		return h.post("/cb/ses", amazon.envelope(kind, "You have chosen to subscribe", time.Now(), more), nil)
	}
	if r := post("SubscriptionConfirmation", map[string]string{"SubscribeURL": confirm, "Token": "2336"}); r.status != 200 {
		t.Errorf("confirmation: %d %s", r.status, r.raw)
	}
	if len(h.asked) != 2 || h.asked[1] != confirm {
		t.Errorf("asked %v", h.asked)
	}
	if h.Count(t, "history WHERE subject_kind = 'destination' AND subject_id = 'ses' AND action = 'topic_confirmed'") != 1 {
		t.Error("the confirmation is not in the history")
	}
	h.asked = nil
	for name, more := range map[string]map[string]string{
		"another topic":       {"SubscribeURL": confirm, "Token": "1", "TopicArn": topic + "x"},
		"another host":        {"SubscribeURL": "https://evil.example.com/confirm", "Token": "1"},
		"inside":              {"SubscribeURL": "http://169.254.169.254/latest/meta-data", "Token": "1"},
		"foreign certificate": {"SubscribeURL": confirm, "Token": "1", "SigningCertURL": "https://evil.example.com/x.pem"},
	} {
		if r := post("SubscriptionConfirmation", more); r.status != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", name, r.status, r.raw)
		}
	}
	if len(h.asked) != 0 { // the certificate is kept
		t.Errorf("asked %v", h.asked)
	}
	if r := h.post("/cb/ses", newSNS(t).envelope("Notification", `{}`, time.Now(), nil), nil); r.status != http.StatusUnauthorized || r.Code != "signature" {
		t.Errorf("signed by somebody else: %d %s", r.status, r.raw)
	}
	if r := post("UnsubscribeConfirmation", map[string]string{"SubscribeURL": confirm, "Token": "1"}); r.status != 200 || h.refusals("unsubscribed") != 1 {
		t.Errorf("unsubscribed: %d %s", r.status, r.raw)
	}
	if r := post("Notification", nil); r.status != 200 || r.Ignored != 1 {
		t.Errorf("plain text: %d %s", r.status, r.raw)
	}
}
