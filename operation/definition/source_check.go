package definition

import (
	"regexp"
	"strings"
)

// compile compiles the expressions of a source.
func (s *Source) compile(raw rawSource, p *problems) {
	for _, x := range []struct {
		name string
		raw  expression
		to   *template
	}{
		{"event_key", raw.EventKey, &s.eventKey}, {"delivery_key", raw.DeliveryKey, &s.deliveryKey},
		{"business_key", raw.BusinessKey, &s.businessKey}, {"topic", raw.Topic, &s.topic},
		{"time", raw.Time, &s.time}, {"data", raw.Data, &s.data},
		{"subscription", raw.Subscription, &s.subscription}, {"account_of", raw.AccountOf, &s.accountOf},
	} {
		if !x.raw.set {
			continue
		}
		if raw.Kind != KindJSON && (x.name != "business_key" || raw.Kind == KindStarter) {
			p.add(x.name, "kind %s has its own rule for this; the field is for kind json", raw.Kind)
			continue
		}
		*x.to = compileValue(scopeNotice, x.raw, x.name, p)
	}
	if raw.Items.set {
		s.compileItems(raw, p)
	}
}

// itemsPath is what items may be: the body, or a member of it by plain names.
var itemsPath = regexp.MustCompile(`^\$\{\s*body((?:\.[A-Za-z_][A-Za-z0-9_]*)*)\s*\}$`)

// compileItems reads where the list of notifications stands. It is a path and no
// expression: each entry is taken as exactly the bytes that were received.
func (s *Source) compileItems(raw rawSource, p *problems) {
	if raw.Kind != KindJSON {
		p.add("items", "kind %s has its own rule for this; the field is for kind json", raw.Kind)
		return
	}
	text, _ := raw.Items.raw.(string)
	m := itemsPath.FindStringSubmatch(text)
	if m == nil {
		p.add("items", "it must be ${body} or a member of it, such as ${body.events}")
		return
	}
	s.items = []string{}
	for _, name := range strings.Split(m[1], ".") {
		if name != "" {
			s.items = append(s.items, name)
		}
	}
}

func (s *Source) check(raw rawSource, p *problems) {
	if s.Kind == KindStarter {
		s.checkStarter(raw, p)
		return
	}
	shopify := s.Kind == KindShopifyFlow || s.Kind == KindShopifyWebhook
	switch {
	case shopify && raw.Signature != nil:
		p.add("signature", "Shopify kinds have their own signature")
	case shopify:
		s.Signature = Signature{Scheme: SchemeHMAC, Header: "X-Shopify-Hmac-Sha256", Encoding: "base64"}
	case s.Signature.Scheme == SchemeHMAC && s.Signature.Header == "":
		p.add("signature.header", "this field is missing")
	}
	if s.Signature.Scheme == SchemeHMAC && s.Signature.Encoding == "" {
		s.Signature.Encoding = "hex"
	}
	if s.Signature.Scheme != SchemeToken && len(s.Secrets) == 0 {
		p.add("secrets", "a signature needs at least one secret")
	}
	if s.Signature.Scheme == SchemeToken && len(s.Secrets) > 0 {
		p.add("secrets", "without a signature nothing is checked with a secret")
	}
	if s.Kind == KindJSON && s.eventKey == nil {
		p.add("event_key", "kind json must say where the event's key is")
	}
	if s.Kind == KindJSON && s.topic == nil {
		p.add("topic", "kind json must say what the topic is: text, or where it stands")
	}
	if len(s.Origins) > 0 && s.Kind != KindCloudEvents {
		p.add("origins", "only senders of CloudEvents ask for leave to deliver")
	}
	if len(s.Flows) > 0 {
		p.add("flows", "the field is for kind starter: flows name their trigger themselves")
	}
}

// checkStarter refuses what only has a meaning for notifications.
func (s *Source) checkStarter(raw rawSource, p *problems) {
	for _, x := range []struct {
		name string
		set  bool
	}{
		{"signature", raw.Signature != nil}, {"secrets", len(raw.Secrets) > 0}, {"tolerance", raw.Tolerance != 0}, {"answer", raw.Answer != 0},
		{"body", raw.Body != 0}, {"gzip", raw.Gzip != ""}, {"byte_order_mark", raw.ByteOrderMark != ""}, {"silence", raw.Silence != 0},
		{"volatile", len(raw.Volatile) > 0}, {"origins", len(raw.Origins) > 0},
	} {
		if x.set {
			p.add(x.name, "nothing is posted to a starter; people start runs on its pages")
		}
	}
}

// Stamped reports whether a time is part of what is signed, so that the tolerance counts.
func (s Signature) Stamped() bool {
	return s.Scheme == SchemeStandardWebhooks || s.Scheme == SchemeStripe || s.Scheme == SchemeHubSpot
}
