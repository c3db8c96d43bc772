package signature

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // version 1 of Amazon's signature is what older topics send
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// The types of an SNS message.
const (
	SNSNotification = "Notification"
	SNSConfirmation = "SubscriptionConfirmation"
	SNSUnsubscribed = "UnsubscribeConfirmation"
)

// SNSMessage is Amazon SNS's envelope. All its fields but the certificate's address are
// part of what is signed; the address is bound to Amazon's own hosts.
type SNSMessage struct {
	Type             string
	MessageID        string
	TopicARN         string
	Subject          string
	Message          string // the news itself, JSON as text
	Timestamp        string
	Token            string
	SubscribeURL     string // to be opened once to confirm a subscription; see SNSAddress
	SignatureVersion string
	Signature        string
	CertURL          string // of the certificate that signed; "" = not at a host of Amazon's

	subject bool // a subject is there
}

// ParseSNS reads an envelope. Members are taken by their exact names.
func ParseSNS(body []byte) (SNSMessage, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(body, &raw); err != nil {
		return SNSMessage{}, errMissing
	}
	var s SNSMessage
	for name, to := range map[string]*string{"Type": &s.Type, "MessageId": &s.MessageID, "TopicArn": &s.TopicARN, "Subject": &s.Subject, "Message": &s.Message,
		"Timestamp": &s.Timestamp, "Token": &s.Token, "SubscribeURL": &s.SubscribeURL, "SignatureVersion": &s.SignatureVersion, "Signature": &s.Signature, "SigningCertURL": &s.CertURL} {
		v, there := raw[name]
		if there && json.Unmarshal(v, to) != nil {
			return SNSMessage{}, errMissing
		}
		if name == "Subject" {
			s.subject = there && string(v) != "null"
		}
	}
	if u, err := url.Parse(s.CertURL); err != nil || !SNSAddress(s.CertURL) || u.RawQuery != "" || !strings.HasSuffix(u.Path, ".pem") {
		s.CertURL = ""
	}
	return s, nil
}

var snsHost = regexp.MustCompile(`^sns\.[a-z0-9-]{3,40}\.amazonaws\.com(\.cn)?$`)

// SNSAddress reports whether an address is https at one of Amazon SNS's own hosts, without
// user, port or fragment: the only ones from which a certificate is taken, or where a
// subscription is confirmed.
func SNSAddress(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme == "https" && u.User == nil && u.Fragment == "" && u.Opaque == "" && snsHost.MatchString(u.Host)
}

// signed is what an envelope's signature covers: names and values, one a line.
func (s SNSMessage) signed() []byte {
	fields := [][2]string{{"Message", s.Message}, {"MessageId", s.MessageID}}
	if s.Type == SNSNotification {
		if s.subject {
			fields = append(fields, [2]string{"Subject", s.Subject})
		}
		fields = append(fields, [2]string{"Timestamp", s.Timestamp})
	} else {
		fields = append(fields, [2]string{"SubscribeURL", s.SubscribeURL}, [2]string{"Timestamp", s.Timestamp}, [2]string{"Token", s.Token})
	}
	fields = append(fields, [2]string{"TopicArn", s.TopicARN}, [2]string{"Type", s.Type})
	var b strings.Builder
	for _, f := range fields {
		b.WriteString(f[0] + "\n" + f[1] + "\n")
	}
	return []byte(b.String())
}

// readSNS reads the envelope's signature, version 1 (SHA-1) or 2 (SHA-256). The secrets
// are certificates in PEM: the one fetched from CertURL, or those that a profile pins.
func readSNS(m Message) (proof, error) {
	if len(m.Bodies) == 0 {
		return proof{}, errMissing
	}
	body := m.Bodies[len(m.Bodies)-1]
	s, err := ParseSNS(body)
	if err != nil {
		return proof{}, err
	}
	at, err := time.Parse(time.RFC3339, s.Timestamp)
	code, bad := base64.StdEncoding.DecodeString(s.Signature)
	known := s.Type == SNSNotification || s.Type == SNSConfirmation || s.Type == SNSUnsubscribed
	if err != nil || bad != nil || len(code) == 0 || !known || s.MessageID == "" {
		return proof{}, errMissing
	}
	var hash crypto.Hash
	var sum []byte
	switch s.SignatureVersion {
	case "1":
		d := sha1.Sum(s.signed()) //nolint:gosec // see above
		hash, sum = crypto.SHA1, d[:]
	case "2":
		d := sha256.Sum256(s.signed())
		hash, sum = crypto.SHA256, d[:]
	default:
		return proof{}, errMissing
	}
	return proof{result: Result{At: at, ID: s.MessageID, Content: true}, stamped: true, body: body, fits: func(secret string, _ []byte) (bool, bool) {
		c := certificate(secret)
		if c == nil {
			return false, false
		}
		key, ok := c.PublicKey.(*rsa.PublicKey)
		valid := ok && !at.Before(c.NotBefore) && !at.After(c.NotAfter) // when it was signed
		return valid && rsa.VerifyPKCS1v15(key, hash, sum, code) == nil, true
	}}, nil
}

// certificate reads a certificate in PEM; nil = it is none.
func certificate(text string) *x509.Certificate {
	block, _ := pem.Decode([]byte(text))
	if block == nil || block.Type != "CERTIFICATE" {
		return nil
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil
	}
	return c
}
