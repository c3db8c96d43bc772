package callback_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stripe/stripe-go/v82/webhook"
)

// sender plays one system: its words, its events, its signature.
type sender struct {
	system, action string
	secrets        map[string]string
	// event gives one event in the system's own form; word is one of its own.
	event func(word string, op operation.ID, reference, key string) string
	// sign gives body and headers as they are posted; at is the signature's time.
	sign     func(events string, at time.Time) ([]byte, http.Header)
	list     bool
	stamped  bool
	unsigned bool // nothing of the body is covered
	words    [3]string
	stranger string // an event that is not ours
	late     time.Duration
}

func mac(key, text string) []byte {
	m := hmac.New(sha256.New, []byte(key))
	m.Write([]byte(text))
	return m.Sum(nil)
}

func senders(t *testing.T) []sender {
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&ec.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	svix, err := standard.NewWebhook("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	none := map[string]string{}
	return []sender{
		{system: "sendgrid", action: "send", secrets: map[string]string{"SENDGRID_WEBHOOK_KEY": base64.StdEncoding.EncodeToString(der)}, list: true, stamped: true, late: 6 * time.Minute,
			words: [3]string{"processed", "delivered", "bounce"}, stranger: `{"email":"x@example.test","event":"delivered","sg_event_id":"s1","sg_message_id":"zz.filter","timestamp":1700000000}`,
			event: func(word string, op operation.ID, ref, key string) string {
				return fmt.Sprintf(`{"email":"kim@example.test","timestamp":%d,"smtp-id":"<%s@ismtpd>","event":"%s","category":["shop"],"sg_event_id":"%s","sg_message_id":"%s.recvd-abc-1","operation_id":"%s","response":"250 OK"}`, time.Now().Unix(), ref, word, key, ref, op)
			},
			sign: func(events string, at time.Time) ([]byte, http.Header) {
				body, stamp := "["+events+"]\r\n", strconv.FormatInt(at.Unix(), 10)
				sum := sha256.Sum256([]byte(stamp + body))
				sig, _ := ecdsa.SignASN1(rand.Reader, ec, sum[:])
				return []byte(body), http.Header{"X-Twilio-Email-Event-Webhook-Signature": {base64.StdEncoding.EncodeToString(sig)}, "X-Twilio-Email-Event-Webhook-Timestamp": {stamp}}
			}},
		{system: "resend", action: "send", secrets: map[string]string{"RESEND_WEBHOOK_SECRET": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}, stamped: true, late: 6 * time.Minute,
			words: [3]string{"email.sent", "email.delivered", "email.bounced"}, stranger: `{"type":"email.delivered","created_at":"2026-11-30T05:00:00Z","data":{"email_id":"zz"}}`,
			event: func(word string, op operation.ID, ref, key string) string {
				return fmt.Sprintf(`{"type":"%s","created_at":"2026-11-30T05:00:00.000Z","data":{"email_id":"%s","from":"shop@example.test","to":["kim@example.test"],"subject":"%s","tags":{"operation_id":"%s"}}}`, word, ref, key, op)
			},
			sign: func(events string, at time.Time) ([]byte, http.Header) {
				id := "msg_" + hex.EncodeToString(mac("id", events))[:20]
				sig, _ := svix.Sign(id, at, []byte(events))
				return []byte(events), http.Header{"Svix-Id": {id}, "Svix-Timestamp": {strconv.FormatInt(at.Unix(), 10)}, "Svix-Signature": {sig}}
			}},
		{system: "postmark", action: "send", secrets: map[string]string{"POSTMARK_WEBHOOK_LOGIN": "hook:long-and-random"}, unsigned: true,
			words: [3]string{"", "Delivery", "Bounce"}, stranger: `{"RecordType":"Delivery","MessageID":"zz","Metadata":{}}`,
			event: func(word string, op operation.ID, ref, _ string) string {
				return fmt.Sprintf(`{"RecordType":"%s","ServerID":23,"MessageStream":"outbound","MessageID":"%s","Recipient":"kim@example.test","DeliveredAt":"2026-11-30T05:00:00Z","BouncedAt":"2026-11-30T05:00:00Z","Type":"HardBounce","TypeCode":1,"Metadata":{"operation_id":"%s"}}`, word, ref, op)
			},
			sign: func(events string, _ time.Time) ([]byte, http.Header) {
				return []byte(events), http.Header{"Authorization": {basic("hook:long-and-random")}}
			}},
		{system: "mailgun", action: "send", secrets: map[string]string{"MAILGUN_WEBHOOK_KEY": "key-test"}, stamped: true, unsigned: true, late: 10 * time.Hour,
			words: [3]string{"accepted", "delivered", "failed"}, stranger: `{"id":"s1","event":"delivered","timestamp":1700000000.5,"message":{"headers":{"message-id":"zz"}},"user-variables":{}}`,
			event: func(word string, op operation.ID, ref, key string) string {
				return fmt.Sprintf(`{"id":"%s","event":"%s","timestamp":1529006854.329574,"severity":"permanent","recipient":"kim@example.test","message":{"headers":{"message-id":"%s"}},"user-variables":{"operation_id":"%s"}}`, key, word, ref, op)
			},
			sign: func(events string, at time.Time) ([]byte, http.Header) {
				stamp, token := strconv.FormatInt(at.Unix(), 10), hex.EncodeToString(mac("token", events+at.String()))[:50]
				body, _ := json.Marshal(map[string]any{"signature": map[string]any{"timestamp": stamp, "token": token, "signature": hex.EncodeToString(mac("key-test", stamp+token))}, "event-data": json.RawMessage(events)})
				return body, http.Header{}
			}},
		{system: "ses", action: "send", secrets: none, stamped: true, late: 25 * time.Hour,
			words: [3]string{"Send", "Delivery", "Bounce"}, stranger: `{"eventType":"Delivery","mail":{"messageId":"zz","tags":{}}}`,
			event: func(word string, op operation.ID, ref, _ string) string {
				return fmt.Sprintf(`{"eventType":"%s","mail":{"timestamp":"2026-11-30T05:00:00.000Z","messageId":"%s","source":"shop@example.test","destination":["kim@example.test"],"tags":{"operation_id":["%s"],"ses:configuration-set":["holdpoint"]}},"bounce":{"bounceType":"Permanent","feedbackId":"f1","timestamp":"2026-11-30T05:00:01.000Z"}}`, word, ref, op)
			}},
		{system: "stripe", action: "coupon", secrets: map[string]string{"STRIPE_CALLBACK_SECRET": "whsec_new", "STRIPE_CALLBACK_SECRET_OLD": "whsec_stripe"}, stamped: true, late: 6 * time.Minute,
			words: [3]string{"coupon.created", "coupon.created", "coupon.deleted"}, stranger: `{"id":"evt_s","object":"event","type":"coupon.created","livemode":true,"created":1700000000,"data":{"object":{"id":"zz","metadata":{"operation_id":"op_00000000000000000000000000"}}},"request":null}`,
			event: func(word string, op operation.ID, ref, key string) string {
				request := `{"id":"req_1","idempotency_key":"` + string(op) + `"}`
				if word == "coupon.deleted" {
					request = `{"id":"req_2","idempotency_key":null}`
				}
				return fmt.Sprintf(`{"id":"evt_%s","object":"event","api_version":"2026-08-26.dahlia","created":1764478800,"type":"%s","livemode":false,"pending_webhooks":2,"request":%s,"data":{"object":{"id":"%s","object":"coupon","metadata":{"operation_id":"%s"}}}}`, key, word, request, ref, op)
			},
			sign: func(events string, at time.Time) ([]byte, http.Header) {
				p := webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: []byte(events), Secret: "whsec_stripe", Timestamp: at})
				return []byte(events), http.Header{"Stripe-Signature": {p.Header}}
			}},
		{system: "hubspot", action: "task", secrets: map[string]string{"HUBSPOT_CLIENT_SECRET": "client"}, list: true, stamped: true, late: 6 * time.Minute,
			words: [3]string{"task.propertyChange", "task.propertyChange", "task.deletion"}, stranger: `{"eventId":9,"portalId":62516,"occurredAt":1700000000000,"subscriptionType":"task.propertyChange","objectId":1}`,
			event: func(word string, op operation.ID, ref, key string) string {
				property := `"propertyName":"holdpoint_operation_id","propertyValue":"` + string(op) + `",`
				if word == "task.deletion" {
					property = ""
				}
				return fmt.Sprintf(`{"eventId":%d,"subscriptionId":11,"portalId":4711,"occurredAt":1764478800000,"subscriptionType":"%s",%s"attemptNumber":0,"objectId":%s,"changeSource":"INTEGRATION","appId":5}`, int(mac("e", key)[0])+1000, word, property, ref)
			},
			sign: func(events string, at time.Time) ([]byte, http.Header) {
				body, stamp := "["+events+"]", strconv.FormatInt(at.UnixMilli(), 10)
				sig := mac("client", "POST"+public+"/cb/hubspot"+body+stamp)
				return []byte(body), http.Header{"X-Hubspot-Signature-V3": {base64.StdEncoding.EncodeToString(sig)}, "X-Hubspot-Request-Timestamp": {stamp}}
			}},
	}
}

const topic = "arn:aws:sns:eu-central-1:123456789012:holdpoint"

// sns plays Amazon's side.
type sns struct {
	key  *rsa.PrivateKey
	cert []byte
}

const certificateAt = "https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-1.pem"

func newSNS(t *testing.T) *sns {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "sns.amazonaws.com"}, NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(48 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return &sns{key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

func (s *sns) envelope(kind, message string, at time.Time, more map[string]string) []byte {
	m := map[string]string{"Type": kind, "MessageId": hex.EncodeToString(mac("m", message))[:20], "TopicArn": topic, "Message": message, "Timestamp": at.UTC().Format("2006-01-02T15:04:05.000Z"),
		"SignatureVersion": "2", "SigningCertURL": certificateAt}
	order := []string{"Message", "MessageId", "Timestamp", "TopicArn", "Type"}
	if kind != "Notification" {
		order = []string{"Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"}
	}
	for k, v := range more {
		m[k] = v
	}
	text := ""
	for _, k := range order {
		text += k + "\n" + m[k] + "\n"
	}
	sum := sha256.Sum256([]byte(text))
	sig, _ := rsa.SignPKCS1v15(rand.Reader, s.key, crypto.SHA256, sum[:])
	m["Signature"] = base64.StdEncoding.EncodeToString(sig)
	body, _ := json.Marshal(m)
	return body
}

// TestSystems brings realistic callbacks of every system whose profile is published.
func TestSystems(t *testing.T) {
	t.Parallel()
	for _, s := range senders(t) {
		t.Run(s.system, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, s.system, s.action, "account: change-me", "account: \"4711\"", "arn:aws:sns:eu-central-1:000000000000:change-me", topic)
			h.secrets = s.secrets
			if s.sign == nil {
				amazon := newSNS(t)
				h.amazon[certificateAt] = amazon.cert
				s.sign = func(events string, at time.Time) ([]byte, http.Header) {
					return amazon.envelope("Notification", events, at, nil), http.Header{"Content-Type": {"text/plain; charset=UTF-8"}}
				}
			}
			s.run(t, h)
		})
	}
}

func (s sender) run(t *testing.T, h *house) {
	mail := s.action == "send"
	n := 0
	send := func(word int, d dispatched, ref string) reply {
		n++
		body, header := s.sign(s.event(s.words[word], d.id, ref, fmt.Sprintf("%s-%d-%s", s.words[word], word, ref)), time.Now())
		return h.post("/cb/"+s.system, body, header)
	}
	reference := func(i int) string { return strconv.Itoa(900100 + i) }
	after := map[bool][3]string{true: {"accepted", "delivered", "bounced"}, false: {"", "", ""}}[mail]
	remedy := map[bool]string{true: "bounced", false: "denied"}[mail]

	// in order, then again, then worse news
	a := h.dispatch()
	a.report(reference(1))
	if s.words[0] != "" {
		if r := send(0, a, reference(1)); r.status != 200 || r.Recorded != 1 || r.Waiting != 0 {
			t.Errorf("accepted: %s", r.raw)
		}
		a.want("confirmed", after[0], "")
	}
	if s.words[1] != s.words[0] {
		if r := send(1, a, reference(1)); r.Recorded != 1 {
			t.Errorf("delivered: %s", r.raw)
		}
	}
	a.want("confirmed", after[1], "")
	if r := send(1, a, reference(1)); s.words[1] != s.words[0] && (r.Recorded != 0 || r.Repeated != 1) {
		t.Errorf("twice: %s", r.raw)
	}
	if r := send(2, a, reference(1)); r.Recorded != 1 || r.Waiting != 0 {
		t.Errorf("bad news: %s", r.raw)
	}
	a.want("confirmed", after[2], remedy)

	// before the outcome is recorded, and out of order
	b := h.dispatch()
	send(1, b, reference(2))
	b.want("confirmed", after[1], "")
	b.report(reference(2))
	if s.words[0] != "" {
		send(0, b, reference(2))
	}
	b.want("confirmed", after[1], "")

	s.attack(t, h)
}

func (s sender) attack(t *testing.T, h *house) {
	// an operation that nobody knows waits
	unknown := dispatched{h: h, id: operation.ID("op_" + strings.Repeat("0", 25) + "9")}
	body, header := s.sign(s.event(s.words[1], unknown.id, "900999", "unknown"), time.Now())
	if r := h.post("/cb/"+s.system, body, header); r.status != 200 || r.Recorded != 1 || r.Waiting != 1 {
		t.Errorf("unknown operation: %s", r.raw)
	}
	// what others do in the same account is acknowledged and not kept
	body, header = s.sign(s.stranger, time.Now())
	kept := h.Count(t, "news")
	if r := h.post("/cb/"+s.system, body, header); r.status != 200 || r.Ignored != 1 || h.Count(t, "news") != kept {
		t.Errorf("a stranger's: %d %s", r.status, r.raw)
	}
	c := h.dispatch()
	event := s.event(s.words[1], c.id, "900777", "forged")
	body, header = s.sign(event, time.Now())
	if !s.unsigned {
		forged := []byte(strings.Replace(string(body), "900777", "900778", 1))
		if r := h.post("/cb/"+s.system, forged, header); r.status != http.StatusUnauthorized || r.Code != "signature" {
			t.Errorf("forged: %d %s", r.status, r.raw)
		}
	}
	bare := http.Header{"Authorization": {basic("hook:wrong")}}
	if r := h.post("/cb/"+s.system, []byte(`{"signature":{},"Type":"Notification"}`), bare); r.status != http.StatusUnauthorized {
		t.Errorf("without a signature: %d %s", r.status, r.raw)
	}
	if s.stamped {
		for _, away := range []time.Duration{-s.late, s.late} {
			old, header := s.sign(event, time.Now().Add(away))
			if r := h.post("/cb/"+s.system, old, header); r.status != http.StatusUnauthorized || r.Code != "signature_time" {
				t.Errorf("%s away: %d %s", away, r.status, r.raw)
			}
		}
		if h.refusals("signature_time") != 2 {
			t.Error("the refusals are not on the record")
		}
	}
	c.want("in_progress", "", "")
	// the other destination's secret does not open this one, nor the reverse
	other := http.Header{"X-Sig": {hex.EncodeToString(mac("else", string(body)))}}
	if r := h.post("/cb/"+s.system, body, other); s.system != "mailgun" && s.system != "ses" && r.status != http.StatusUnauthorized {
		t.Errorf("another destination's secret: %d %s", r.status, r.raw)
	}
	h.secrets["ELSEWHERE_SECRET"] = "else"
	cross := `{"event":"bounced","operation_id":"` + string(c.id) + `","reference":"900100"}`
	r := h.post("/cb/elsewhere", []byte(cross), http.Header{"X-Sig": {hex.EncodeToString(mac("else", cross))}})
	if r.status != 200 || r.Waiting != 1 {
		t.Errorf("an operation of another destination: %s", r.raw)
	}
	if s.system != "mailgun" && s.system != "ses" {
		c.want("in_progress", "", "")
	}
}
