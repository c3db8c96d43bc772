package intake_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"holdpoint/store"
)

// FC-05: the signature is over the bytes received, whatever they look like.
func TestFieldCase05_SignatureOverTheBytesReceived(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for i, body := range []string{
		`{"submission":{"id":"%d","fields":{"subject":"Party 🎉"}}}`,
		`{"submission":{"id":"%d","fields":{"subject":"\u001B[0m"}}}`,
		`{"submission":{"id":"%d","fields":{"path":"a\/b"}}}`,
		`{"submission":{"id":"%d","fields":{"amount":1.0}}}`,
		"{\"submission\":\r\n{\"id\":\"%d\",\r\n\"fields\":{}}}",
		"{\"submission\":{\"id\":\"%d\",\"fields\":{}}}\n",
		`{"submission":{"id":"%d","fields":{"ключ":"ü"}}}`,
	} {
		body = fmt.Sprintf(body, i)
		sig := hexMAC("form", []byte(body))
		for j, signature := range []string{"sha256=" + sig, sig, "sha256=" + strings.ToUpper(sig)} {
			r := h.send(h.url+"/in/form", []byte(body), "X-Form-Signature", signature, "X-Form-Delivery", "d")
			if want := []string{"accepted", "repeated", "repeated"}[j]; r.status != 200 || r.body.Verdict != want {
				t.Errorf("body %d, signature %d: %d %s", i, j, r.status, r.raw)
			}
		}
		two := h.send(h.url+"/in/form", []byte(body), "X-Form-Signature", "sha256="+hexMAC("other", []byte(body)), "X-Form-Signature", "sha256="+sig, "X-Form-Delivery", "d")
		if two.status != 200 {
			t.Errorf("body %d with two headers: %d", i, two.status)
		}
		var kept []byte
		if err := h.Owner.QueryRowContext(t.Context(), `SELECT b.body FROM event_bodies b JOIN events e ON e.id = b.event_id WHERE e.event_key = $1`, strconv.Itoa(i)).Scan(&kept); err != nil || string(kept) != body {
			t.Errorf("body %d is not kept as received: %q %v", i, kept, err)
		}
		changed := []byte(strings.Replace(body, "submission", "submissioN", 1))
		before := h.refused("signature")
		for _, bad := range []reply{
			h.send(h.url+"/in/form", changed, "X-Form-Signature", "sha256="+sig, "X-Form-Delivery", "d"),
			h.send(h.url+"/in/form", append([]byte(body), ' '), "X-Form-Signature", "sha256="+sig, "X-Form-Delivery", "d"),
		} {
			if bad.status != http.StatusUnauthorized || bad.body.Code != "signature" {
				t.Errorf("body %d changed: %d %s", i, bad.status, bad.raw)
			}
		}
		if n := h.refused("signature"); n != before+2 {
			t.Errorf("%d refusals counted, want %d", n, before+2)
		}
	}
	for _, sig := range []string{"", "sha256=", "sha256=zz", "sha256=00", "=", strings.Repeat("0", 64) + "00"} {
		if r := h.send(h.url+"/in/form", []byte(`{"submission":{"id":"x"}}`), "X-Form-Signature", sig); r.status != http.StatusUnauthorized || r.body.Code != "signature_missing" {
			t.Errorf("signature %q: %d %s", sig, r.status, r.raw)
		}
	}
}

// FC-08, at the sources' door.
func TestFieldCase08_AmbiguousBodiesAreRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for body, code := range map[string]string{
		`{"submission":{"id":"e1","ID":"e2"}}`:                                                                         "case_variant_key",
		`{"submission":{"id":"e1","fields":{"amount":10,"amount":1000}}}`:                                              "duplicate_key",
		`{"submission":{"id":"e1"}}{"submission":{"id":"e2"}}`:                                                         "trailing_data",
		`{"submission":{"id":"e1","fields":` + strings.Repeat("[", 10001) + strings.Repeat("]", 10001) + `}}`:          "nested_too_deeply",
		`{"submission":{"id":"e1","fields":{"a":"\ud800"}}}`:                                                           "encoding",
		`{"submission":{"id":"e1","fields":{"a":"\u0000"}}}`:                                                           "nul",
		`{"submission":{"id":"e1"}`:                                                                                    "syntax",
		"{\"submission\":{\"id\":\"\xff\"}}":                                                                           "encoding",
		`{"submission":{"id":"e1","fields":{"approved_version":1,"Approved_Version":2,"x":"` + "\u212A" + `","y":1}}}`: "case_variant_key",
	} {
		r := h.form(body, "X-Form-Delivery", "d")
		if r.status != http.StatusBadRequest || r.body.Code != code {
			t.Errorf("%.60s: %d %s, want %s", body, r.status, r.raw, code)
		}
		if h.refused(code) == 0 {
			t.Errorf("%s is not on the record", code)
		}
	}
	if n := h.Count(t, "events"); n != 0 {
		t.Errorf("%d events", n)
	}
}

// FC-09: compressed bodies, marks, other encodings. Never 500.
func TestFieldCase09_WrappedBodies(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	plain := []byte(`{"submission":{"id":"g-1","fields":{}}}`)
	packed := zipped(t, plain)
	form := h.url + "/in/form" // gzip: accept, byte_order_mark: strip
	send := func(body, signed []byte, headers ...string) reply {
		return h.send(form, body, append([]string{"X-Form-Signature", "sha256=" + hexMAC("form", signed), "X-Form-Delivery", "d"}, headers...)...)
	}
	if r := h.want(send(packed, packed, "Content-Encoding", "gzip"), 200); r.body.Verdict != "accepted" {
		t.Errorf("signed over the compressed bytes: %s", r.raw)
	}
	if r := h.want(send(packed, plain, "Content-Encoding", "GZIP"), 200); r.body.Verdict != "repeated" {
		t.Errorf("signed over the uncompressed bytes: %s", r.raw)
	}
	bomb := zipped(t, bytes.Repeat([]byte(" "), 64<<20))
	if r := h.want(send(bomb, bomb, "Content-Encoding", "gzip"), http.StatusRequestEntityTooLarge); r.body.Code != "too_large" {
		t.Errorf("a bomb: %s", r.raw)
	}
	big := []byte(`{"submission":{"id":"` + strings.Repeat("x", 1<<20) + `"}}`)
	h.want(send(big, big), http.StatusRequestEntityTooLarge)
	for name, c := range map[string]struct {
		body    []byte
		headers []string
		status  int
		code    string
	}{
		"cut":         {packed[:len(packed)-6], []string{"Content-Encoding", "gzip"}, 400, "gzip"},
		"not gzip":    {plain, []string{"Content-Encoding", "gzip"}, 400, "gzip"},
		"undeclared":  {packed, nil, 415, "gzip_undeclared"},
		"brotli":      {plain, []string{"Content-Encoding", "br"}, 415, "content_encoding"},
		"twice":       {packed, []string{"Content-Encoding", "gzip, gzip"}, 415, "content_encoding"},
		"UTF-16 LE":   {utf16Of(plain, true), nil, 415, "utf16"},
		"UTF-16 BE":   {utf16Of(plain, false), nil, 415, "utf16"},
		"UTF-16 bare": {utf16Of(plain, true)[2:], nil, 415, "utf16"},
		"charset":     {plain, []string{"Content-Type", "application/json; charset=iso-8859-1"}, 415, "charset"},
		"form":        {plain, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, "content_type"},
		"broken type": {plain, []string{"Content-Type", ";;"}, 415, "content_type"},
	} {
		if r := send(c.body, c.body, c.headers...); r.status != c.status || r.body.Code != c.code {
			t.Errorf("%s: %d %s", name, r.status, r.raw)
		}
	}
	bom := append([]byte("\uFEFF"), []byte(`{"submission":{"id":"bom","fields":{}}}`)...)
	h.want(send(bom, bom), 200)
	text := []byte(`{"submission":{"id":"text","fields":{}}}`)
	h.want(send(text, text, "Content-Type", "text/plain; charset=utf-8"), 200)

	// A source whose rule permits none of it names the reason.
	body := flowAction("run-wrapped")
	flow := func(body []byte, headers ...string) reply {
		return h.send(h.url+"/in/shopify-flow", body, append([]string{"X-Shopify-Hmac-Sha256", b64("hush", body)}, headers...)...)
	}
	if r := flow(zipped(t, body), "Content-Encoding", "gzip"); r.status != 415 || r.body.Code != "gzip" {
		t.Errorf("gzip is not permitted: %d %s", r.status, r.raw)
	}
	if r := flow(append([]byte("\uFEFF"), body...)); r.status != 400 || r.body.Code != "byte_order_mark" {
		t.Errorf("a mark is not permitted: %d %s", r.status, r.raw)
	}
	if r := flow(body, "Content-Type", "text/plain"); r.status != 415 {
		t.Errorf("plain text: %d %s", r.status, r.raw)
	}
	// Bytes that are no text in headers do not break the record.
	h.want(h.webhook(h.url+"/in/shopify", []byte(`{}`), "orders/paid", "ev\xff", "d\xfe"), 200)
}

func utf16Of(s []byte, little bool) []byte {
	out := []byte{0xFE, 0xFF}
	if little {
		out = []byte{0xFF, 0xFE}
	}
	for _, u := range utf16.Encode([]rune(string(s))) {
		if little {
			out = append(out, byte(u), byte(u>>8))
		} else {
			out = append(out, byte(u>>8), byte(u))
		}
	}
	return out
}

const stripeSource = `source: stripe
title: {en: Stripe}
kind: json
account: acct_1
environment: test
secrets: [{env: STRIPE_SECRET}, {env: STRIPE_SECRET_NEW}]
signature: {scheme: stripe}
event_key: ${body.id}
topic: ${body.type}
`

// FC-10: our own check never refuses genuine events for the wrong reason.
func TestFieldCase10_GenuineEventsAreNotRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.apply(stripeSource)
	n := 0
	send := func(age time.Duration, secrets []string, extra string) reply {
		n++
		body := fmt.Sprintf(`{"id":"evt_%d","type":"invoice.paid","created":%d%s}`, n, time.Now().Add(-20*time.Hour).Unix(), extra)
		stamp := strconv.FormatInt(time.Now().Add(-age).Unix(), 10)
		sig := "t=" + stamp
		for _, s := range secrets {
			sig += ",v1=" + hexMAC(s, []byte(stamp+"."+body))
		}
		return h.send(h.url+"/in/stripe", []byte(body), "Stripe-Signature", sig)
	}
	current := []string{"whsec_stripe"}
	for age, status := range map[time.Duration]int{6 * time.Minute: 401, -6 * time.Minute: 401, 4 * time.Minute: 200, -4 * time.Minute: 200} {
		r := send(age, current, "")
		if r.status != status {
			t.Errorf("a signature %s old: %d %s", age, r.status, r.raw)
		}
		if status == 401 && r.body.Code != "signature_time" {
			t.Errorf("reason: %s", r.raw)
		}
	}
	for _, sign := range []string{"> 100000", "< -100000"} {
		if h.Count(t, "deliveries WHERE source = 'stripe' AND skew_ms "+sign) != 2 {
			t.Errorf("skew %s ms is not on the record", sign)
		}
	}
	// The event is 20 hours old, its signature is fresh: accepted above and here; two
	// signatures during a rotation: any that fits counts.
	h.want(send(0, []string{"whsec_gone", "whsec_stripe"}, ""), 200)
	h.want(send(0, []string{"whsec_gone"}, ""), http.StatusUnauthorized)
	ignored := h.want(send(0, current, `,"livemode":true`), 200)
	if ignored.body.Verdict != "ignored" || len(ignored.body.Operations) != 0 {
		t.Errorf("another environment: %s", ignored.raw)
	}
	h.want(send(0, current, `,"livemode":false`), 200)

	// Shopify: both secrets of a rotation, another shop, the stated time.
	body := flowAction("run-rotated")
	h.want(h.send(h.url+"/in/shopify-flow", body, "X-Shopify-Hmac-Sha256", b64("hush-old", body)), 200)
	other := bytes.Replace(flowAction("run-foreign"), []byte("demo-shop"), []byte("other-shop"), 1)
	r := h.want(h.send(h.url+"/in/shopify-flow", other, "X-Shopify-Hmac-Sha256", b64("hush", other)), 200)
	if r.body.Verdict != "ignored" || h.Count(t, "deliveries WHERE verdict = 'ignored' AND reason LIKE 'account:%'") != 1 {
		t.Errorf("another shop: %s", r.raw)
	}
	late := time.Now().Add(-90 * time.Second).UTC().Format(time.RFC3339)
	early := time.Now().Add(90 * time.Second).UTC().Format(time.RFC3339)
	h.want(h.webhook(h.url+"/in/shopify", []byte(`{"a":1}`), "orders/paid", "late", "d1", "X-Shopify-Triggered-At", late), 200)
	h.want(h.webhook(h.url+"/in/shopify", []byte(`{"a":2}`), "orders/paid", "early", "d2", "X-Shopify-Triggered-At", early), 200)
	if h.Count(t, "deliveries WHERE source = 'shopify' AND skew_ms BETWEEN 80000 AND 120000") != 1 || h.Count(t, "deliveries WHERE source = 'shopify' AND skew_ms BETWEEN -120000 AND -60000") != 1 {
		t.Error("the sender's stated time is not measured in both directions")
	}
	// No secret can be read: our fault, the sender comes again.
	h.apply("source: unset\ntitle: {en: Unset}\nkind: shopify_webhook\naccount: a\nenvironment: test\nsecrets: [{env: NO_SUCH_SECRET}]\n")
	h.want(h.send(h.url+"/in/unset", []byte(`{}`), "X-Shopify-Hmac-Sha256", b64("", []byte(`{}`))), http.StatusServiceUnavailable)
}

// FC-27 at intake: both slash forms, no redirect.
func TestFieldCase27_IntakeTakesBothSlashForms(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for i, path := range []string{"/in/shopify-flow", "/in/shopify-flow/"} {
		body := flowAction("run-slash-" + strconv.Itoa(i))
		if r := h.want(h.send(h.url+path, body, "X-Shopify-Hmac-Sha256", b64("hush", body)), 200); r.body.Verdict != "accepted" {
			t.Errorf("%s: %s", path, r.raw)
		}
	}
}

func TestRefusedBodiesAreBounded(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	big := []byte(`{"submission":{"id":"` + strings.Repeat("x", 100<<10) + `"}}`)
	h.want(h.send(h.url+"/in/form", big, "X-Form-Signature", hexMAC("wrong", big)), http.StatusUnauthorized)
	if n := h.Count(t, "deliveries WHERE verdict = 'refused' AND length(body) = $1", store.KeptRefusedBody); n != 1 {
		t.Error("what is kept of a refused body is not bounded")
	}
	for range 70 {
		if _, err := h.Store.RefuseDelivery(t.Context(), store.Unaccepted{Source: "form", Verdict: store.VerdictRefused, Reason: "test: x", Status: 401, Body: []byte("x")}); err != nil {
			t.Fatal(err)
		}
	}
	if n, all := h.Count(t, "deliveries WHERE body IS NOT NULL"), h.Count(t, "deliveries"); n > 60 || all != 71 {
		t.Errorf("%d of %d refused bodies kept", n, all)
	}
}

// Nobody without a secret learns how a body was understood.
func TestNothingIsSaidBeforeTheSignature(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, body := range []string{`{"a":1,"a":2}`, `not json`, "\xff\xfe{\x00"} {
		r := h.send(h.url+"/in/shopify-flow", []byte(body), "X-Shopify-Hmac-Sha256", b64("wrong", []byte(body)))
		if r.status != http.StatusUnauthorized || r.body.Code != "signature" {
			t.Errorf("%q: %d %s", body, r.status, r.raw)
		}
	}
}
