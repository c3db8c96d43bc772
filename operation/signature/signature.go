package signature

import (
	"net/http"
	"time"
)

// Scheme is how a sender proves itself.
type Scheme string

// The schemes.
const (
	HMAC             Scheme = "hmac_sha256"       // of the raw body, in a header
	StandardWebhooks Scheme = "standard_webhooks" // webhook-id, webhook-timestamp, webhook-signature; also svix-*
	Stripe           Scheme = "stripe"            // Stripe-Signature: t=…,v1=…
	HubSpot          Scheme = "hubspot_v3"        // X-HubSpot-Signature-v3
	SendGrid         Scheme = "sendgrid"          // X-Twilio-Email-Event-Webhook-Signature, ECDSA
	Mailgun          Scheme = "mailgun"           // in the body; covers its own time and token only
	SNS              Scheme = "sns"               // Amazon SNS, in the body, RSA
	Basic            Scheme = "basic"             // Authorization: Basic
	Header           Scheme = "header"            // a fixed secret in a header
	Token            Scheme = "token"             // an API token of ours; not checked here
)

// Rule says how one sender signs.
type Rule struct {
	Scheme    Scheme
	Header    string        // for HMAC and Header
	Encoding  string        // of HMAC: "hex" or "base64"
	Prefix    string        // of HMAC: before the code, e.g. "sha256="
	Tolerance time.Duration // how far the signed time may be away from ours, in both directions
}

// Message is what was received.
type Message struct {
	Method string
	URL    string // as the sender knows it: the public address with its query; for HubSpot
	Header http.Header
	// Bodies are the bytes received and, where compression is permitted, the same
	// decompressed: senders differ in what they sign, and neither can be forged.
	Bodies [][]byte
}

// Result says what the signature told. It is of use beside an error as well: the time
// that the sender states shows a clock that is wrong.
type Result struct {
	Secret  int       // the one of the secrets that fitted, from 0
	At      time.Time // the signed time; zero = the scheme has none
	Body    []byte    // the one of Message.Bodies that was signed
	ID      string    // the sender's signed ID of this message; "" = none
	Token   string    // to be taken once only (Mailgun); "" = none
	Content bool      // the body is covered by the signature
}

// The codes of a refusal.
const (
	CodeMissing = "signature_missing" // there is none that can be read
	CodeWrong   = "signature"         // it does not fit
	CodeTime    = "signature_time"    // it fits, and its time is too far away
	CodeSecret  = "secret"            // our own secret cannot be used
)

// Error says why a message is not believed. It holds no part of a secret.
type Error struct {
	Code   string
	Detail string
}

// Error gives code and detail.
func (e *Error) Error() string { return e.Code + ": " + e.Detail }

var (
	errMissing = &Error{CodeMissing, "a readable signature is missing"}
	errWrong   = &Error{CodeWrong, "the signature does not fit the bytes received"}
	errSecret  = &Error{CodeSecret, "no secret can be used for this scheme"}
)

// proof is a signature as read from a message: fits says whether a secret made it over a
// body. stamped tells that the time is part of what is signed.
type proof struct {
	result  Result
	stamped bool
	body    []byte // where the signature stands in a body: that one, whatever else came
	fits    func(secret string, body []byte) (ok, usable bool)
}

// Verify checks a message with the secrets that are current. A nil error means that one of
// them signed it within the tolerance. The error is an *Error.
//
// What the secrets are depends on the scheme: the key as text (HMAC, Stripe, HubSpot,
// Mailgun), "whsec_…" or a public key "whpk_…" (Standard Webhooks), a public key in base64
// or PEM (SendGrid), certificates in PEM (SNS), "user:password" (Basic), the header's whole
// value (Header).
func Verify(r Rule, secrets []string, m Message, now time.Time) (Result, error) {
	p, err := read(r, m)
	if err != nil {
		return p.result, err
	}
	usable := false
	for i, secret := range secrets {
		for _, body := range m.Bodies {
			ok, can := p.fits(secret, body)
			usable = usable || can
			if !ok {
				continue
			}
			p.result.Secret = i
			if p.result.Body = body; p.body != nil {
				p.result.Body = p.body
			}
			if p.stamped && !within(now, p.result.At, r.Tolerance) {
				d := now.Sub(p.result.At).Abs().Round(time.Second)
				return p.result, &Error{CodeTime, "the signature's time is " + d.String() + " away from ours"}
			}
			return p.result, nil
		}
	}
	if !usable {
		return p.result, errSecret
	}
	return p.result, errWrong
}

// read takes the signature out of a message.
func read(r Rule, m Message) (proof, error) {
	switch r.Scheme {
	case HMAC:
		return readHMAC(r, m.Header)
	case StandardWebhooks:
		return readStandard(m.Header)
	case Stripe:
		return readStripe(m.Header)
	case HubSpot:
		return readHubSpot(m)
	case SendGrid:
		return readSendGrid(m.Header)
	case Mailgun:
		return readMailgun(m)
	case SNS:
		return readSNS(m)
	case Basic:
		return readBasic(m.Header)
	case Header:
		return readHeader(r, m.Header)
	}
	return proof{}, &Error{CodeSecret, "the scheme is not known"}
}

// within checks a time in both directions (FC-10). How old the news itself is does not
// matter.
func within(now, at time.Time, tolerance time.Duration) bool {
	d := now.Sub(at)
	return d <= tolerance && d >= -tolerance
}
