package definition

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
)

func notice(t *testing.T, s *Source, header http.Header, body string) (Notice, error) {
	t.Helper()
	v, err := DecodeJSON([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return s.Read(header, v)
}

func TestRead_Flow(t *testing.T) {
	s := loadDemo(t).sources["shopify-flow"]
	n, err := notice(t, s, nil, `{"shop_id":"1","shopify_domain":"Demo-Shop.myshopify.com","action_run_id":"b63199047e046bd08b41c3a545dfbc9086aa1354","handle":"campaign-request","properties":{"email":"kim@example.test"}}`)
	if err != nil {
		t.Fatal(err)
	}
	if n.Event.Key != "b63199047e046bd08b41c3a545dfbc9086aa1354" || n.Event.ActionRunID != n.Event.Key || n.Handle != "campaign-request" || n.Event.Account != "demo-shop.myshopify.com" {
		t.Errorf("%+v", n)
	}
	f := loadDemo(t).flows["campaign-follow-up"]
	if got := f.TakeInputs(n.Event); got["email"] != "kim@example.test" || len(got) != 1 {
		t.Errorf("inputs %v", got)
	}
	for name, body := range map[string]string{
		"NoRun":       `{"handle":"x"}`,
		"NullRun":     `{"action_run_id":null}`,
		"EmptyRun":    `{"action_run_id":""}`,
		"BlankRun":    `{"action_run_id":"  "}`,
		"TruthRun":    `{"action_run_id":true}`,
		"ObjectRun":   `{"action_run_id":{}}`,
		"OtherShop":   `{"action_run_id":"x","shopify_domain":"other.myshopify.com"}`,
		"NoObject":    `[]`,
		"ControlChar": `{"action_run_id":"a\u0000b"}`,
	} {
		if n, err := notice(t, s, nil, body); err == nil {
			t.Errorf("%s gives %+v", name, n)
		}
	}
}

func TestRead_Webhook(t *testing.T) {
	s := loadDemo(t).sources["shopify"]
	h := http.Header{}
	for k, v := range map[string]string{"X-Shopify-Topic": "orders/paid", "X-Shopify-Shop-Domain": "demo-shop.myshopify.com", "X-Shopify-Webhook-Id": "w1", "X-Shopify-Event-Id": "e1", "X-Shopify-Triggered-At": "2026-11-29T10:00:00.5Z"} {
		h.Set(k, v)
	}
	n, err := notice(t, s, h, `{"name":"#1001","id":820982911946154508}`)
	if err != nil || n.DeliveryKey != "w1" || n.Event.Key != "e1" || n.Event.Topic != "orders/paid" || n.BusinessKey != "#1001" || n.Event.Time.IsZero() {
		t.Fatalf("%+v, %v", n, err)
	}
	h.Del("X-Shopify-Event-Id")
	if n, err = notice(t, s, h, `{}`); err != nil || n.Event.Key != "w1" {
		t.Errorf("without an event ID: %+v, %v", n, err)
	}
	for _, name := range []string{"X-Shopify-Topic", "X-Shopify-Webhook-Id", "X-Shopify-Shop-Domain"} {
		g := h.Clone()
		g.Del(name)
		if n, err := notice(t, s, g, `{}`); err == nil {
			t.Errorf("without %s: %+v", name, n)
		}
	}
	newer := http.Header{"Shopify-Topic": {"orders/paid"}, "Shopify-Shop-Domain": {"demo-shop.myshopify.com"}, "Shopify-Webhook-Id": {"w2"}, "Shopify-Event-Id": {"e2"}}
	if n, err := notice(t, s, newer, `{}`); err != nil || n.Event.Key != "e2" {
		t.Errorf("the newer header family: %+v, %v", n, err)
	}
}

func TestRead_CloudEvents(t *testing.T) {
	s := loadDemo(t).sources["api"]
	structured := http.Header{"Content-Type": {"application/cloudevents+json; charset=utf-8"}}
	a, err := notice(t, s, structured, `{"specversion":"1.0","type":"goodwill.requested","source":"/crm","id":"1","time":"2026-11-29T10:00:00Z","data":{"customer":"c"}}`)
	if err != nil {
		t.Fatal(err)
	}
	binary := http.Header{"Content-Type": {"application/json"}, "Ce-Specversion": {"1.0"}, "Ce-Type": {"goodwill.requested"}, "Ce-Source": {"/cr%6D"}, "Ce-Id": {"1"}, "Ce-Time": {"2026-11-29T10:00:00Z"}}
	b, err := notice(t, s, binary, `{"customer":"c"}`)
	if err != nil {
		t.Fatal(err)
	}
	if a.Event.Identity() != b.Event.Identity() || a.Event.Key != "/crm 1" || a.Event.Data["customer"] != "c" || b.Event.Data["customer"] != "c" || !a.Event.Time.Equal(b.Event.Time) {
		t.Errorf("structured %+v\nbinary %+v", a, b)
	}
	for name, body := range map[string]string{
		"OldVersion": `{"specversion":"0.3","type":"t","source":"s","id":"1"}`,
		"NoID":       `{"specversion":"1.0","type":"t","source":"s"}`,
		"EmptyID":    `{"specversion":"1.0","type":"t","source":"s","id":""}`,
		"NumberID":   `{"specversion":"1.0","type":"t","source":"s","id":7}`,
		"NoSource":   `{"specversion":"1.0","type":"t","id":"1"}`,
	} {
		if n, err := notice(t, s, structured, body); err == nil {
			t.Errorf("%s gives %+v", name, n)
		}
	}
	binary.Set("Ce-Id", "a%2")
	if n, err := notice(t, s, binary, `{}`); err == nil {
		t.Errorf("a broken escape gives %+v", n)
	}
}

// FC-03: a key that is missing, null or empty is refused; a number is its exact text.
func TestRead_JSON(t *testing.T) {
	s := loadDemo(t).sources["form"]
	h := http.Header{"X-Form-Delivery": {"d-1"}}
	seen := map[string]string{}
	for id, want := range map[string]string{
		`"A-1"`: "A-1", `42`: "42", `9007199254740993`: "9007199254740993", `9007199254740992`: "9007199254740992", `1`: "1", `1.0`: "1.0", `1e0`: "1e0",
	} {
		n, err := notice(t, s, h, `{"submission":{"id":`+id+`,"at":"2026-11-29T10:00:00Z","ticket":"T","fields":{"topic":"x"}}}`)
		if err != nil || n.Event.Key != want || n.Event.Topic != "form.submitted" || n.DeliveryKey != "d-1" || n.BusinessKey != "T" || n.Event.Data["topic"] != "x" || !n.Event.Time.Equal(time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)) {
			t.Errorf("%s: %+v, %v", id, n, err)
		}
		if other, twice := seen[n.Event.Identity()]; twice {
			t.Errorf("%s and %s are the same event", id, other)
		}
		seen[n.Event.Identity()] = id
	}
	for _, id := range []string{`null`, `""`, `"  "`, `true`, `{}`, `[]`, `"` + strings.Repeat("x", maxKey+1) + `"`} {
		_, err := notice(t, s, h, `{"submission":{"id":`+id+`,"fields":{}}}`)
		var ke *KeyError
		if !errors.As(err, &ke) || ke.Field != "event_key" {
			t.Errorf("%s: %v", id, err)
		}
	}
	if _, err := notice(t, s, h, `{"submission":{"fields":{}}}`); err == nil {
		t.Error("a missing key is accepted")
	}
	if _, err := notice(t, s, nil, `{"submission":{"id":"1","fields":{}}}`); err == nil {
		t.Error("a missing delivery key is accepted")
	}
}

func TestParseSource(t *testing.T) {
	s := loadDemo(t).sources["form"]
	if s.Tolerance != DefaultTolerance || s.Body != DefaultSourceBody || !s.AcceptGzip || !s.StripBOM || s.Signature.Prefix != "sha256=" {
		t.Errorf("%+v", s)
	}
	if s := loadDemo(t).sources["shopify-flow"]; s.Signature != (Signature{Scheme: SchemeHMAC, Header: "X-Shopify-Hmac-Sha256", Encoding: "base64"}) || s.Silence != 7*24*time.Hour || len(s.Secrets) != 2 {
		t.Errorf("%+v", s)
	}
	const head = "source: s\ntitle: {en: S}\naccount: a\nenvironment: test\n"
	for name, c := range map[string]struct{ src, want string }{
		"NoKey":         {head + "kind: json\ntopic: t\n", "event_key: kind json must say"},
		"NoTopic":       {head + "kind: json\nevent_key: ${body.id}\n", "topic: kind json must say"},
		"ForeignRule":   {head + "kind: cloudevents\nevent_key: ${body.id}\n", "s.yaml:6: event_key: kind cloudevents has its own rule"},
		"NoSecret":      {head + "kind: shopify_flow\n", "needs at least one secret"},
		"UselessSecret": {head + "kind: cloudevents\nsecrets: [{env: X}]\n", "nothing is checked"},
		"OwnSignature":  {head + "kind: shopify_flow\nsecrets: [{env: X}]\nsignature: {scheme: stripe}\n", "have their own signature"},
		"NoHeader":      {head + "kind: cloudevents\nsecrets: [{env: X}]\nsignature: {scheme: hmac_sha256}\n", "signature.header"},
		"OtherAnswer":   {head + "kind: cloudevents\nanswer: 204\n", "answer"},
		"UnknownKey":    {head + "kind: cloudevents\nsecret: x\n", "s.yaml:6: secret: this field is not known"},
		"ContentInKey":  {head + "kind: json\ntopic: t\nevent_key: ${content.id}\n", "undeclared reference"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseSource("s.yaml", []byte(c.src))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}
