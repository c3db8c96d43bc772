package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// news is one thing that became of a mail.
type news struct {
	effect effect
	event  string
	at     time.Time // of the event, and of the signature
	id     string    // of the message that tells of it
	keys   *newsKeys
	topic  string
}

// newsOf composes the callback of each provider: it gives the body, and adds headers.
var newsOf = map[string]func(news, http.Header) ([]byte, error){
	destResend: resendNews, destSendGrid: sendgridNews, destPostmark: postmarkNews, destMailgun: mailgunNews, destSES: sesNews,
}

// named gives the provider's word for an event; it is an error where it has none.
func (n news) named(words map[string]string) (string, error) {
	if w := words[n.event]; w != "" {
		return w, nil
	}
	return "", fmt.Errorf("this provider does not tell that a mail was %s", n.event)
}

func hmac256(key []byte, text string) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(text))
	return m.Sum(nil)
}

// resendNews is signed as Standard Webhooks describes it, under Svix's names.
func resendNews(n news, h http.Header) ([]byte, error) {
	word, err := n.named(map[string]string{
		"accepted": "sent", "delivered": "delivered", "deferred": "delivery_delayed", "bounced": "bounced", "dropped": "failed", "complained": "complained",
	})
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(map[string]any{
		"type": "email." + word, "created_at": n.at.Format(time.RFC3339Nano),
		"data": map[string]any{
			"email_id": n.effect.ID, "created_at": n.effect.Time.Format(time.RFC3339Nano), "from": n.effect.Fields["from"], "to": []string{recipientOf(n.effect)},
			"subject": n.effect.Fields["subject"], "tags": map[string]string{"operation_id": n.effect.Reference},
		},
	})
	stamp := strconv.FormatInt(n.at.Unix(), 10)
	h.Set("Svix-Id", n.id)
	h.Set("Svix-Timestamp", stamp)
	h.Set("Svix-Signature", "v1,"+base64.StdEncoding.EncodeToString(hmac256(standardKey, n.id+"."+stamp+"."+string(body))))
	return body, err
}

// sendgridNews is a list of one event, signed by ECDSA over time and body.
func sendgridNews(n news, h http.Header) ([]byte, error) {
	word, err := n.named(map[string]string{
		"accepted": "processed", "delivered": "delivered", "deferred": "deferred", "bounced": "bounce", "dropped": "dropped", "complained": "spamreport",
	})
	if err != nil {
		return nil, err
	}
	event := map[string]any{
		"email": recipientOf(n.effect), "timestamp": n.at.Unix(), "event": word, "smtp-id": "<" + n.effect.ID + "@ismtpd>", "sg_event_id": n.id,
		"sg_message_id": n.effect.ID + ".filterdrecv-5d4b8c9f-1-67A1-0", "operation_id": n.effect.Reference,
	}
	if word == "bounce" {
		event["type"], event["status"], event["reason"] = "bounce", "5.1.1", "550 unknown recipient"
	}
	body, err := json.Marshal([]any{event})
	if err != nil {
		return nil, err
	}
	stamp := strconv.FormatInt(n.at.Unix(), 10)
	sum := sha256.Sum256([]byte(stamp + string(body)))
	der, err := ecdsa.SignASN1(rand.Reader, n.keys.sendgrid, sum[:])
	h.Set("X-Twilio-Email-Event-Webhook-Timestamp", stamp)
	h.Set("X-Twilio-Email-Event-Webhook-Signature", base64.StdEncoding.EncodeToString(der))
	return body, err
}

// postmarkNews is not signed; a login goes with it.
func postmarkNews(n news, h http.Header) ([]byte, error) {
	word, err := n.named(map[string]string{"delivered": "Delivery", "deferred": "Bounce", "bounced": "Bounce", "complained": "SpamComplaint"})
	if err != nil {
		return nil, err
	}
	body := map[string]any{
		"RecordType": word, "MessageID": n.effect.ID, "MessageStream": "outbound", "Metadata": map[string]string{"operation_id": n.effect.Reference},
	}
	at := n.at.Format(time.RFC3339Nano)
	if word == "Delivery" {
		body["Recipient"], body["DeliveredAt"], body["Details"] = recipientOf(n.effect), at, "Test"
	} else {
		body["Email"], body["BouncedAt"], body["ID"] = recipientOf(n.effect), at, n.at.UnixMicro()
		kind := map[string]string{"deferred": "Transient", "bounced": "HardBounce", "complained": "SpamComplaint"}[n.event]
		body["Type"], body["TypeCode"] = kind, map[string]int{"Transient": 2, "HardBounce": 1, "SpamComplaint": 512}[kind]
	}
	h.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(postmarkLogin)))
	return json.Marshal(body)
}

// mailgunNews signs a time and a token, not the event.
func mailgunNews(n news, _ http.Header) ([]byte, error) {
	word, err := n.named(map[string]string{
		"accepted": "accepted", "delivered": "delivered", "deferred": "failed", "bounced": "failed", "dropped": "rejected", "complained": "complained",
	})
	if err != nil {
		return nil, err
	}
	event := mailgunEvent(n.effect, word, recipientOf(n.effect))
	event["id"], event["timestamp"] = n.id, float64(n.at.UnixMilli())/1000
	if word == "failed" {
		event["severity"] = map[string]string{"deferred": "temporary", "bounced": "permanent"}[n.event]
	}
	stamp, token := strconv.FormatInt(n.at.Unix(), 10), randomToken(50)
	return json.Marshal(map[string]any{
		"signature":  map[string]string{"timestamp": stamp, "token": token, "signature": hex.EncodeToString(hmac256([]byte(mailgunKey), stamp+token))},
		"event-data": event,
	})
}

// sesNews is a text inside an envelope of SNS, signed by RSA over the envelope's fields.
func sesNews(n news, h http.Header) ([]byte, error) {
	word, err := n.named(map[string]string{
		"accepted": "Send", "delivered": "Delivery", "deferred": "DeliveryDelay", "bounced": "Bounce", "dropped": "Reject", "complained": "Complaint",
	})
	if err != nil {
		return nil, err
	}
	at := n.at.Format("2006-01-02T15:04:05.000Z")
	inner := map[string]any{
		"eventType": word,
		"mail": map[string]any{
			"timestamp": n.effect.Time.Format(time.RFC3339Nano), "messageId": n.effect.ID, "source": n.effect.Fields["from"],
			"destination": []string{recipientOf(n.effect)}, "tags": map[string][]string{"operation_id": {n.effect.Reference}},
		},
	}
	switch word {
	case "Delivery":
		inner["delivery"] = map[string]any{"timestamp": at, "smtpResponse": "250 ok", "recipients": []string{recipientOf(n.effect)}}
	case "Bounce":
		inner["bounce"] = map[string]any{"timestamp": at, "bounceType": "Permanent", "feedbackId": n.id, "bouncedRecipients": []any{map[string]any{"emailAddress": recipientOf(n.effect)}}}
	case "Complaint":
		inner["complaint"] = map[string]any{"timestamp": at, "feedbackId": n.id}
	}
	message, err := json.Marshal(inner)
	if err != nil {
		return nil, err
	}
	signed := "Message\n" + string(message) + "\nMessageId\n" + n.id + "\nTimestamp\n" + at + "\nTopicArn\n" + n.topic + "\nType\nNotification\n"
	sum := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(rand.Reader, n.keys.amazon, crypto.SHA256, sum[:])
	if err != nil {
		return nil, err
	}
	h.Set("Content-Type", "text/plain; charset=UTF-8")
	h.Set("X-Amz-Sns-Message-Type", "Notification")
	h.Set("X-Amz-Sns-Message-Id", n.id)
	return json.Marshal(map[string]any{
		"Type": "Notification", "MessageId": n.id, "TopicArn": n.topic, "Message": string(message), "Timestamp": at, "SignatureVersion": "2",
		"Signature":      base64.StdEncoding.EncodeToString(signature),
		"SigningCertURL": "https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-0000000000000000.pem",
	})
}
