package definition

import "time"

// The kinds of source.
const (
	KindShopifyFlow    = "shopify_flow"    // a Flow action calls us: one run per action_run_id
	KindShopifyWebhook = "shopify_webhook" // a webhook subscription
	KindCloudEvents    = "cloudevents"     // CloudEvents 1.0 over HTTP, binary or structured
	KindJSON           = "json"            // anything else that posts JSON; the file says where its keys are
	KindStarter        = "starter"         // people start runs by hand or from a table; nothing is posted
)

// Schemes of a signature for kinds cloudevents and json. Shopify kinds have their
// own. Without a scheme a source is entered with an API token of ours.
const (
	SchemeHMAC             = "hmac_sha256"       // of the raw body, in a header
	SchemeStandardWebhooks = "standard_webhooks" // webhook-id, webhook-timestamp, webhook-signature
	SchemeStripe           = "stripe"            // Stripe-Signature: t=…,v1=…
	SchemeHubSpot          = "hubspot_v3"        // X-HubSpot-Signature-v3, over our public address too
	SchemeToken            = "token"             // our own API token
)

// Source is one version of a source: a system that tells us that something happened,
// and how its notifications are recognised. It is read-only after ParseSource.
type Source struct {
	Name        string
	Title       Text
	Kind        string
	Account     string // e.g. the shop's domain; part of an event's identity
	Environment string
	Secrets     []SecretRef // any of them is accepted, so that a secret can be rotated
	Signature   Signature
	Tolerance   time.Duration // how old a signed time stamp may be
	Answer      int           // 200 or 202: what a stored notification is answered with
	Body        int64         // the largest body, in bytes
	AcceptGzip  bool          // accept Content-Encoding: gzip
	StripBOM    bool          // take a byte-order mark off before decoding
	Silence     time.Duration // no notification for so long is reported; 0 = never
	// Volatile are members of a notification that differ between two deliveries of the same
	// event, such as a counter of attempts: they are left out when payloads are compared.
	Volatile []string
	// Origins are the senders that may ask by OPTIONS whether they may deliver (CloudEvents
	// webhooks); "*" = any.
	Origins []string
	// Flows are what a starter may start beside the flows that name it as their trigger.
	Flows []string

	Source []byte   // the file as applied
	Hash   [32]byte // SHA-256 of Source

	// items is where the list of notifications stands in one body: names from the top on;
	// nil = a body is one notification.
	items []string

	eventKey, deliveryKey, businessKey, topic, time, data, subscription, accountOf template
}

// Signature says how a source of kind json or cloudevents signs.
type Signature struct {
	Scheme   string `json:"scheme"`
	Header   string `json:"header"`   // for hmac_sha256
	Encoding string `json:"encoding"` // "hex" or "base64", for hmac_sha256
	Prefix   string `json:"prefix"`   // before the signature, e.g. "sha256="
}

// Defaults of a source.
const (
	DefaultTolerance  = 5 * time.Minute
	DefaultSourceBody = 1 << 20
)

type rawSource struct {
	Source        string      `json:"source"`
	Title         Text        `json:"title"`
	Kind          string      `json:"kind"`
	Account       string      `json:"account"`
	Environment   string      `json:"environment"`
	Secrets       []SecretRef `json:"secrets"`
	Signature     *Signature  `json:"signature"`
	EventKey      expression  `json:"event_key"`
	DeliveryKey   expression  `json:"delivery_key"`
	BusinessKey   expression  `json:"business_key"`
	Topic         expression  `json:"topic"`
	Time          expression  `json:"time"`
	Data          expression  `json:"data"`
	Tolerance     duration    `json:"tolerance"`
	Answer        int         `json:"answer"`
	Body          size        `json:"body"`
	Gzip          string      `json:"gzip"`
	ByteOrderMark string      `json:"byte_order_mark"`
	Silence       duration    `json:"silence"`
	Items         expression  `json:"items"`
	Subscription  expression  `json:"subscription"`
	AccountOf     expression  `json:"account_of"`
	Volatile      []string    `json:"volatile"`
	Origins       []string    `json:"origins"`
	Flows         []string    `json:"flows"`
}

// ParseSource reads a source file. The error is Problems, with file, line and field.
func ParseSource(file string, src []byte) (*Source, error) {
	var raw rawSource
	d, p, err := load("source", file, src, &raw)
	if err != nil {
		return nil, err
	}
	s := &Source{
		Name: raw.Source, Title: raw.Title, Kind: raw.Kind, Account: raw.Account, Environment: raw.Environment,
		Secrets: raw.Secrets, Signature: Signature{Scheme: SchemeToken}, Tolerance: orDuration(raw.Tolerance, DefaultTolerance),
		Answer: orInt(raw.Answer, 200), Body: int64(orInt(int(raw.Body), DefaultSourceBody)),
		AcceptGzip: raw.Gzip == "accept", StripBOM: raw.ByteOrderMark == "strip", Silence: time.Duration(raw.Silence),
		Volatile: raw.Volatile, Origins: raw.Origins, Flows: raw.Flows,
		Source: src, Hash: d.hash(),
	}
	if raw.Signature != nil {
		s.Signature = *raw.Signature
	}
	s.compile(raw, p)
	s.check(raw, p)
	if err := p.err(); err != nil {
		return nil, err
	}
	return s, nil
}
