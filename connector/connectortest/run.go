package connectortest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"holdpoint/connector"
	"holdpoint/connector/outbound"
	"holdpoint/operation"
)

const (
	notStarted = operation.OutcomeNotStarted
	confirmed  = operation.OutcomeConfirmed
	unknown    = operation.OutcomeUnknown
)

// Run is what every destination must pass: the wire misbehaves in every way, and in
// the sandbox every fault is compared with the ledger of what really happened.
func Run(t *testing.T, h Harness) {
	t.Run("wire", func(t *testing.T) {
		t.Parallel()
		runUnsent(t, h)
		if h.smtp() {
			return // the conversation has its own tests, in connector/smtp
		}
		for _, w := range wireFaults {
			for _, encrypted := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/tls=%v", w.Name, encrypted), func(t *testing.T) {
					t.Parallel()
					RunWire(t, h, w, encrypted)
				})
			}
		}
	})
	if h.Sandbox != "" {
		t.Run("sandbox", func(t *testing.T) {
			t.Parallel()
			runMatrix(t, h)
		})
	}
}

// WireFault is one way in which an exchange goes wrong after the request has left. No
// profile may judge it: the outcome is always unknown.
type WireFault struct {
	Name   string
	Play   func(*Peer)
	Codes  []string // one of these; nil = whatever the profile says
	Status int      // that must be kept
	Stalls bool     // only a timeout ends it
}

// reads plays: read the request, say this, close.
func reads(say string) func(*Peer) {
	return func(p *Peer) {
		p.Read()
		p.Say(say)
	}
}

// AnswerText gives a whole HTTP answer. headers are lines that end with \r\n.
func AnswerText(status, headers, body string) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Length: %d\r\n%s\r\n%s", status, len(body), headers, body)
}

const jsonType = "Content-Type: application/json\r\n"

var wireFaults = append([]WireFault{
	{"reset before it reads", func(p *Peer) { _, _ = p.R.Peek(1); p.Reset() }, []string{outbound.CodeReset, outbound.CodeNoAnswer}, 0, false},
	{"closes without an answer", func(p *Peer) { p.Read() }, []string{outbound.CodeNoAnswer, outbound.CodeReset}, 0, false},
	{"resets without an answer", func(p *Peer) { p.Read(); p.Reset() }, []string{outbound.CodeReset, outbound.CodeNoAnswer}, 0, false},
	{"says nothing", func(p *Peer) { p.Read(); p.Hold() }, []string{outbound.CodeTimeout}, 0, true},
	{"does not speak HTTP", reads("220 mail ready\r\n"), []string{outbound.CodeNoAnswer}, 0, false},
	{"status, then silence", func(p *Peer) {
		p.Read()
		p.Say("HTTP/1.1 201 Created\r\n" + jsonType + "Content-Length: 100\r\n\r\n{")
		p.Hold()
	}, []string{outbound.CodeTimeout}, 201, true},
	{"cut body", reads("HTTP/1.1 201 Created\r\n" + jsonType + "Content-Length: 100\r\n\r\n{\"id\":\"x"), []string{outbound.CodeCutBody}, 201, false},
	{"cut body of a refusal", reads("HTTP/1.1 401 Unauthorized\r\n" + jsonType + "Content-Length: 100\r\n\r\n{"), []string{outbound.CodeCutBody}, 401, false},
	{"cut gzip", reads("HTTP/1.1 201 Created\r\n" + jsonType + "Content-Encoding: gzip\r\nContent-Length: 12\r\n\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xab\x56"), []string{outbound.CodeEncoding}, 201, false},
	{"endless body", func(p *Peer) {
		p.Read()
		p.Say("HTTP/1.1 200 OK\r\n" + jsonType + "Transfer-Encoding: chunked\r\n\r\n")
		chunk := fmt.Sprintf("%x\r\n%s\r\n", 1<<16, strings.Repeat(" ", 1<<16))
		for range 64 {
			p.Say(chunk)
		}
	}, []string{outbound.CodeBodyLimit, outbound.CodeTimeout}, 200, false},
	{"answers in half", reads(AnswerText("200 OK", jsonType, `{"id":"x","object":"invoice"`)), nil, 200, false},
	{"500", reads(AnswerText("500 Internal Server Error", jsonType, `{"error":"x"}`)), nil, 500, false},
	{"502 page", reads(AnswerText("502 Bad Gateway", "Content-Type: text/html\r\n", "<h1>Bad gateway</h1>")), nil, 502, false},
	{"504", reads(AnswerText("504 Gateway Timeout", "", "")), nil, 504, false},
	{"408", reads(AnswerText("408 Request Timeout", "", "")), nil, 408, false},
	{"created, empty body", reads(AnswerText("201 Created", jsonType, "")), nil, 201, false},
	{"created, only a Location", reads(AnswerText("201 Created", "Location: /things/7\r\n", "")), nil, 201, false},
	{"accepted, not done", reads(AnswerText("202 Accepted", "", "")), nil, 202, false},
	{"no content", reads("HTTP/1.1 204 No Content\r\n\r\n"), nil, 204, false},
	{"200 with an error", reads(AnswerText("200 OK", jsonType, `{"ok":false,"error":"x"}`)), nil, 200, false},
	{"200 false", reads(AnswerText("200 OK", jsonType, `false`)), nil, 200, false},
	{"200 null", reads(AnswerText("200 OK", jsonType, `null`)), nil, 200, false},
	{"200 login page", reads(AnswerText("200 OK", "Content-Type: text/html\r\n", "<h1>Sign in</h1>")), nil, 200, false},
	{"200 partly", reads(AnswerText("200 OK", jsonType, `{"messages":[{"status":"0"},{"status":"9"}]}`)), nil, 200, false},
	{"200 data null", reads(AnswerText("200 OK", jsonType, `{"data":null,"errors":[{"message":"x"}]}`)), nil, 200, false},
	{"200 empty id", reads(AnswerText("200 OK", jsonType, `{"id":"","object":"invoice"}`)), nil, 200, false},
	{"200 id is an object", reads(AnswerText("201 Created", jsonType, `{"id":{"a":1}}`)), nil, 201, false},
	{"207", reads(AnswerText("207 Multi-Status", jsonType, `{"id":"x"}`)), nil, 207, false},
}, redirects...)

// redirects answer with a tempting body: what follows a redirect, or reads it as an
// answer, would find a success.
var redirects = func() []WireFault {
	var out []WireFault
	for _, status := range []int{300, 301, 302, 303, 304, 307, 308} {
		for name, location := range map[string]string{"same host": "/elsewhere/", "other host": "https://other.example/x?token=secret", "loop": "", "nowhere": "::"} {
			body := `{"id":"x","object":"invoice"}`
			if status == 304 {
				body = ""
			}
			headers := jsonType
			if location != "" {
				headers += "Location: " + location + "\r\n"
			}
			out = append(out, WireFault{fmt.Sprintf("redirect %d %s", status, name), func(p *Peer) {
				for {
					if _, ok := p.Read(); !ok {
						return
					}
					p.Say(AnswerText(fmt.Sprint(status, " Moved"), headers, body))
				}
			}, []string{"redirect"}, status, false})
		}
	}
	return out
}()

// RunWire lets one exchange go wrong and checks what is said about it.
func RunWire(t *testing.T, h Harness, w WireFault, encrypted bool) {
	t.Helper()
	if w.Stalls {
		h = h.Impatient()
	}
	s := StartServer(t, encrypted, w.Play)
	base := h.at(s.Addr, encrypted)
	o := h.Order(t, base)
	r := h.Connect(t, base, s.Roots).Act(context.Background(), o)
	if r.Outcome != unknown {
		t.Errorf("outcome %s (%s), want unknown", r.Outcome, r.Proof.Code)
	}
	if r.TargetReference != "" {
		t.Errorf("a reference %q was taken", r.TargetReference)
	}
	if r.Proof.Status != w.Status {
		t.Errorf("status %d was kept, want %d", r.Proof.Status, w.Status)
	}
	known := w.Codes == nil
	for _, code := range w.Codes {
		known = known || code == r.Proof.Code
	}
	if !known || r.Proof.Code == "" {
		t.Errorf("code %q, want one of %q", r.Proof.Code, w.Codes)
	}
	if n := len(s.Seen()); n > 1 || s.Connections() != 1 {
		t.Errorf("one attempt made %d requests over %d connections", n, s.Connections())
	}
	checkProof(t, r.Proof)
}

// checkProof: evidence is short and shows no secret.
func checkProof(t testing.TB, p operation.Proof) {
	t.Helper()
	if shown := fmt.Sprintf("%+v", p); strings.Contains(shown, Secret) || strings.Contains(shown, "token=secret") {
		t.Errorf("the evidence shows a secret: %s", shown)
	}
	if len(p.Excerpt) > outbound.ExcerptLimit {
		t.Errorf("the excerpt has %d bytes", len(p.Excerpt))
	}
	if p.Phase == "" || p.Code == "" {
		t.Errorf("the evidence does not say how far it got: %+v", p)
	}
}

// runUnsent: what never left is proven, and nothing arrives.
func runUnsent(t *testing.T, h Harness) {
	gone := StartServer(t, false, func(*Peer) {})
	silent := StartServer(t, false, func(p *Peer) { p.Hold() })
	type unsent struct {
		name, base string
		edit       func(*connector.Order)
		local      bool
		code       string
	}
	cases := []unsent{
		{"nobody listens", h.at(ClosedAddr(t), false), nil, true, outbound.CodeRefused},
		{"address not allowed", h.at(silent.Addr, false), nil, false, outbound.CodeBlocked},
		{"past the monotonic deadline", h.at(silent.Addr, false), func(o *connector.Order) { o.Deadline = time.Now() }, true, outbound.CodeLate},
		{"past the wall deadline", h.at(silent.Addr, false), func(o *connector.Order) { o.WallDeadline = time.Now().Round(0) }, true, outbound.CodeLate},
		{"action gone from the profile", h.at(silent.Addr, false), func(o *connector.Order) { o.Action = "gone" }, true, ""},
	}
	if !h.smtp() {
		cases = append(cases, unsent{"TLS fails", "https://" + gone.Addr, nil, true, outbound.CodeTLS})
	}
	for _, c := range cases {
		o := h.Order(t, c.base)
		if c.edit != nil {
			c.edit(&o)
		}
		profile := *h.Profile
		profile.Local = c.local
		there := h
		there.Profile = &profile
		r := there.Connect(t, c.base, nil).Act(context.Background(), o)
		if r.Outcome != notStarted || c.code != "" && r.Proof.Code != c.code || r.Proof.Written != 0 {
			t.Errorf("%s: %s %+v, want not_started %s", c.name, r.Outcome, r.Proof, c.code)
		}
		checkProof(t, r.Proof)
	}
	if n := len(silent.Seen()) + len(gone.Seen()); n != 0 {
		t.Errorf("%d requests arrived", n)
	}
}
