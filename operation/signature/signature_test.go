package signature_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"holdpoint/operation/signature"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stripe/stripe-go/v82/webhook"
)

// vector is a message that is known to be signed, with the time at which it is fresh.
type vector struct {
	rule    signature.Rule
	secret  string
	message signature.Message
	now     time.Time
}

func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i+1 < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

func message(body string, pairs ...string) signature.Message {
	return signature.Message{Method: http.MethodPost, URL: "https://www.example.com/webhook_uri", Header: header(pairs...), Bodies: [][]byte{[]byte(body)}}
}

const standardSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// vectors are the ones that the senders publish or that were computed from their rule.
func vectors() map[string]vector {
	tolerance := 5 * time.Minute
	sendgrid := `[{"email":"hello@world.com","event":"dropped","reason":"Bounced Address","sg_event_id":"ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA","sg_message_id":"LRzXl_NHStOGhQ4kofSm_A.filterdrecv-p3mdw1-756b745b58-kmzbl-18-5F5FC76C-9.0","smtp-id":"<LRzXl_NHStOGhQ4kofSm_A@ismtpd0039p1iad1.sendgrid.net>","timestamp":1600112492}]` + "\r\n"
	flow := `{"shop_id":1,"shopify_domain":"x.myshopify.com","action_run_id":"b63199047e046bd08b41c3a545dfbc9086aa1354","handle":"create-task","properties":{"order_id":"1"}}`
	return map[string]vector{
		"shopify": {signature.Rule{Scheme: signature.HMAC, Header: "X-Shopify-Hmac-Sha256", Encoding: "base64"}, "hush",
			message(flow, "X-Shopify-Hmac-Sha256", "9bscPODfx9TliW19NzID5+SldkuT2rB4140xu5jm4G8="), time.Unix(1700000000, 0)},
		"stripe": {signature.Rule{Scheme: signature.Stripe, Tolerance: tolerance}, "whsec_test",
			message(`{"id":"evt_1","object":"event","type":"invoice.finalized"}`, "Stripe-Signature", "t=1700000000,v1="+strings.Repeat("0", 64)+",v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39,v1=a619fd047feca906891f421fa60698eba8da5c346e45dbd08493fea16ed61363"), time.Unix(1700000000, 0)},
		"hubspot": {signature.Rule{Scheme: signature.HubSpot, Tolerance: tolerance}, "yyyyyyyy-yyyy-yyyy-yyyy-yyyyyyyyyyyy",
			message(`{"example_field":"example_value"}`, "X-HubSpot-Request-Timestamp", "1700000000000", "X-HubSpot-Signature-v3", "rQEKkaNUiu+1qGF//O/pw4BCzstSqO1PyUnGICmf+7o="), time.Unix(1700000000, 0)},
		"sendgrid": {signature.Rule{Scheme: signature.SendGrid, Tolerance: tolerance}, "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g==",
			message(sendgrid, "X-Twilio-Email-Event-Webhook-Signature", "MEUCIGHQVtGj+Y3LkG9fLcxf3qfI10QysgDWmMOVmxG0u6ZUAiEAyBiXDWzM+uOe5W0JuG+luQAbPIqHh89M15TluLtEZtM=", "X-Twilio-Email-Event-Webhook-Timestamp", "1600112502"), time.Unix(1600112502, 0)},
		"standard webhooks": {signature.Rule{Scheme: signature.StandardWebhooks, Tolerance: tolerance}, standardSecret,
			message(`{"test": 2432232314}`, "Webhook-Id", "msg_p5jXN8AQM9LWM0D4loKWxJek", "Webhook-Timestamp", "1614265330", "Webhook-Signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="), time.Unix(1614265330, 0)},
		"svix": {signature.Rule{Scheme: signature.StandardWebhooks, Tolerance: tolerance}, standardSecret,
			message(`{"test": 2432232314}`, "Svix-Id", "msg_p5jXN8AQM9LWM0D4loKWxJek", "Svix-Timestamp", "1614265330", "Svix-Signature", "v1,AAAA v2,xx v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="), time.Unix(1614265330, 0)},
		"mailgun": {signature.Rule{Scheme: signature.Mailgun, Tolerance: tolerance}, "key-test",
			message(`{"signature":{"timestamp":"1529006854","token":"a8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3de0","signature":"2df0e54f503d31abdc1519117a730ae38748e41e86f9ae25431dbd26059468af"},"event-data":{}}`), time.Unix(1529006854, 0)},
		"basic": {signature.Rule{Scheme: signature.Basic}, "hook:s3cret:with:colons",
			message(`{}`, "Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("hook:s3cret:with:colons"))), time.Unix(1, 0)},
		"header": {signature.Rule{Scheme: signature.Header, Header: "X-Secret"}, "long-and-random", message(`{}`, "X-Secret", "long-and-random"), time.Unix(1, 0)},
	}
}

func codeOf(err error) string {
	var e *signature.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func TestPublishedVectors(t *testing.T) {
	t.Parallel()
	for name, v := range vectors() {
		verify := func(secrets []string, m signature.Message, now time.Time) string {
			_, err := signature.Verify(v.rule, secrets, m, now)
			return codeOf(err)
		}
		if code := verify([]string{v.secret}, v.message, v.now); code != "" {
			t.Errorf("%s: %s", name, code)
		}
		if code := verify([]string{"gone", v.secret, "user:x"}, v.message, v.now); code != "" {
			t.Errorf("%s with several secrets: %s", name, code)
		}
		if code := verify(nil, v.message, v.now); code != signature.CodeSecret {
			t.Errorf("%s without secrets: %q", name, code)
		}
		if code := verify([]string{""}, v.message, v.now); code == "" {
			t.Errorf("%s is accepted with an empty secret", name)
		}
		empty := v.message
		empty.Header, empty.Bodies = http.Header{}, [][]byte{[]byte(`{}`)}
		if code := verify([]string{v.secret}, empty, v.now); code != signature.CodeMissing {
			t.Errorf("%s without a signature: %q", name, code)
		}
		if v.rule.Tolerance == 0 {
			continue
		}
		for d, want := range map[time.Duration]string{299 * time.Second: "", -299 * time.Second: "", 301 * time.Second: signature.CodeTime, -301 * time.Second: signature.CodeTime} {
			if code := verify([]string{v.secret}, v.message, v.now.Add(d)); code != want {
				t.Errorf("%s, %s away: %q, want %q", name, d, code, want)
			}
		}
	}
}

// Every bit of what is covered counts.
func TestChangedBytesAreRefused(t *testing.T) {
	t.Parallel()
	for name, v := range vectors() {
		r, err := signature.Verify(v.rule, []string{v.secret}, v.message, v.now)
		if err != nil {
			t.Fatal(name, err)
		}
		if r.Content != (name != "mailgun" && name != "basic" && name != "header") {
			t.Errorf("%s says that its content is covered: %v", name, r.Content)
		}
		if !r.Content {
			continue
		}
		body := v.message.Bodies[0]
		for i := range body {
			changed := append([]byte(nil), body...)
			changed[i] ^= 1
			m := v.message
			m.Bodies = [][]byte{changed}
			if _, err := signature.Verify(v.rule, []string{v.secret}, m, v.now); codeOf(err) != signature.CodeWrong {
				t.Fatalf("%s: byte %d changed and accepted: %v", name, i, err)
			}
		}
	}
}

// A replay with another time, another ID or another address does not fit.
func TestSignedHeadersCount(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*signature.Message){
		"stripe": func(m *signature.Message) {
			m.Header.Set("Stripe-Signature", strings.Replace(m.Header.Get("Stripe-Signature"), "1700000000", "1700000001", 1))
		},
		"hubspot":           func(m *signature.Message) { m.Header.Set("X-HubSpot-Request-Timestamp", "1700000000001") },
		"sendgrid":          func(m *signature.Message) { m.Header.Set("X-Twilio-Email-Event-Webhook-Timestamp", "1600112503") },
		"standard webhooks": func(m *signature.Message) { m.Header.Set("Webhook-Id", "msg_other") },
		"svix":              func(m *signature.Message) { m.Header.Set("Svix-Timestamp", "1614265331") },
		"mailgun": func(m *signature.Message) {
			m.Bodies[0] = []byte(strings.Replace(string(m.Bodies[0]), "1529006854", "1529006855", 1))
		},
		"basic":  func(m *signature.Message) { m.Header.Add("Authorization", "Basic x") },
		"header": func(m *signature.Message) { m.Header.Set("X-Secret", "long-and-randon") },
	} {
		v := vectors()[name]
		change(&v.message)
		if _, err := signature.Verify(v.rule, []string{v.secret}, v.message, v.now); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	v := vectors()["hubspot"]
	v.message.URL = "https://www.example.com/webhook_uri?x=1"
	if _, err := signature.Verify(v.rule, []string{v.secret}, v.message, v.now); codeOf(err) != signature.CodeWrong {
		t.Errorf("hubspot at another address: %v", err)
	}
}

func TestHubSpotSignsTheAddressWithSomeEscapesWrittenPlainly(t *testing.T) {
	t.Parallel()
	plain := "POSThttps://example.com/cb/hs?a=b:c/d@e&f=%20g{}1700000000000"
	m := hmac.New(sha256.New, []byte("k"))
	m.Write([]byte(plain))
	msg := signature.Message{Method: "POST", URL: "https://example.com/cb/hs?a=b%3Ac%2fd%40e&f=%20g", Bodies: [][]byte{[]byte("{}")},
		Header: header("X-HubSpot-Request-Timestamp", "1700000000000", "X-HubSpot-Signature-v3", base64.StdEncoding.EncodeToString(m.Sum(nil)))}
	if _, err := signature.Verify(signature.Rule{Scheme: signature.HubSpot, Tolerance: time.Minute}, []string{"k"}, msg, time.Unix(1700000000, 0)); err != nil {
		t.Error(err)
	}
}

// The senders' own libraries sign, we verify.
func TestOtherLibrariesSign(t *testing.T) {
	t.Parallel()
	body, now := []byte(`{"type":"email.delivered","data":{"email_id":"é"}}`), time.Now()
	wh, err := standard.NewWebhook(standardSecret)
	if err != nil {
		t.Fatal(err)
	}
	sig, err := wh.Sign("msg_1", now, body)
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range []string{"webhook-", "svix-"} {
		m := message(string(body), family+"id", "msg_1", family+"timestamp", strconv.FormatInt(now.Unix(), 10), family+"signature", "v1,bm90aGluZw== "+sig)
		r, err := signature.Verify(signature.Rule{Scheme: signature.StandardWebhooks, Tolerance: time.Minute}, []string{standardSecret}, m, now)
		if err != nil || r.ID != "msg_1" {
			t.Errorf("%s: %+v %v", family, r, err)
		}
	}
	p := webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: body, Secret: "whsec_stripe", Timestamp: now})
	if _, err := signature.Verify(signature.Rule{Scheme: signature.Stripe, Tolerance: time.Minute}, []string{"whsec_new", "whsec_stripe"}, message(string(body), "Stripe-Signature", p.Header), now); err != nil {
		t.Error(err)
	}
}

func TestStandardWebhooksEd25519(t *testing.T) {
	t.Parallel()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	secret := "whpk_" + base64.StdEncoding.EncodeToString(public)
	sig := "v1a," + base64.StdEncoding.EncodeToString(ed25519.Sign(private, []byte(`msg_1.1700000000.{"a":1}`)))
	rule, now := signature.Rule{Scheme: signature.StandardWebhooks, Tolerance: time.Minute}, time.Unix(1700000000, 0)
	m := message(`{"a":1}`, "webhook-id", "msg_1", "webhook-timestamp", "1700000000", "webhook-signature", sig)
	if _, err := signature.Verify(rule, []string{standardSecret, secret}, m, now); err != nil {
		t.Error(err)
	}
	m.Bodies[0] = []byte(`{"a":2}`)
	if _, err := signature.Verify(rule, []string{secret}, m, now); codeOf(err) != signature.CodeWrong {
		t.Error(err)
	}
	// A public key is no HMAC key: whoever knows it must not be able to sign with it.
	k := hmac.New(sha256.New, public)
	k.Write([]byte(`msg_1.1700000000.{"a":2}`))
	m.Header.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(k.Sum(nil)))
	if _, err := signature.Verify(rule, []string{secret}, m, now); codeOf(err) != signature.CodeWrong {
		t.Error("a code made with the public key is accepted:", err)
	}
}

func TestSendGridTakesItsOwnCurveOnly(t *testing.T) {
	t.Parallel()
	rule, now := signature.Rule{Scheme: signature.SendGrid, Tolerance: time.Minute}, time.Unix(1700000000, 0)
	for curve, want := range map[elliptic.Curve]string{elliptic.P256(): "", elliptic.P384(): signature.CodeSecret} {
		key, err := ecdsa.GenerateKey(curve, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256([]byte("1700000000[]"))
		sig, err := ecdsa.SignASN1(rand.Reader, key, sum[:])
		if err != nil {
			t.Fatal(err)
		}
		m := message(`[]`, "X-Twilio-Email-Event-Webhook-Signature", base64.StdEncoding.EncodeToString(sig), "X-Twilio-Email-Event-Webhook-Timestamp", "1700000000")
		if _, err := signature.Verify(rule, []string{base64.StdEncoding.EncodeToString(der)}, m, now); codeOf(err) != want {
			t.Errorf("%s: %v", curve.Params().Name, err)
		}
	}
}

// Mailgun's signature says nothing about the event: the token is what must be new.
func TestMailgunGivesItsTokenOut(t *testing.T) {
	t.Parallel()
	code := func(stamp, token string) string {
		m := hmac.New(sha256.New, []byte("key"))
		m.Write([]byte(stamp + token))
		return hex.EncodeToString(m.Sum(nil))
	}
	rule, now := signature.Rule{Scheme: signature.Mailgun, Tolerance: time.Minute}, time.Unix(1700000000, 0)
	for _, stamp := range []any{"1700000000", 1700000000} {
		body, _ := json.Marshal(map[string]any{"signature": map[string]any{"timestamp": stamp, "token": "tok", "signature": code("1700000000", "tok")}, "event-data": map[string]any{"event": "delivered"}})
		r, err := signature.Verify(rule, []string{"other", "key"}, message(string(body)), now)
		if err != nil || r.Token != "tok" || r.Content {
			t.Errorf("%+v %v", r, err)
		}
	}
	long := strings.Repeat("t", 300)
	body, _ := json.Marshal(map[string]any{"signature": map[string]any{"timestamp": "1700000000", "token": long, "signature": code("1700000000", long)}})
	if _, err := signature.Verify(rule, []string{"key"}, message(string(body)), now); codeOf(err) != signature.CodeMissing {
		t.Error("a token without bound is accepted:", err)
	}
}

func TestSeveralBodiesAndWhatWasSigned(t *testing.T) {
	t.Parallel()
	m := hmac.New(sha256.New, []byte("k"))
	m.Write([]byte("decoded"))
	msg := signature.Message{Header: header("X-Sig", "sha256="+strings.ToUpper(hex.EncodeToString(m.Sum(nil)))), Bodies: [][]byte{[]byte("packed"), []byte("decoded")}}
	r, err := signature.Verify(signature.Rule{Scheme: signature.HMAC, Header: "X-Sig", Encoding: "hex"}, []string{"k"}, msg, time.Unix(1, 0))
	if err != nil || string(r.Body) != "decoded" {
		t.Errorf("%q %v", r.Body, err)
	}
}
