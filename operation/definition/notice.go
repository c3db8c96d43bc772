package definition

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Notice is what a verified notification says, before anything is stored.
type Notice struct {
	DeliveryKey string // the source's own key of this delivery; "" = none
	BusinessKey string // a key that people know, such as an order number; "" = none
	Handle      string // Shopify Flow: the action's handle
	// Subscription names the subscription through which it came, where a kind json source
	// says so; "" = not known from the body.
	Subscription string
	Event        EventData
}

// KeyError says that a notification has no usable key: it must be refused, since it
// could not be told from another.
type KeyError struct {
	Field string // "event_key", "topic", "account" …
	Why   string
}

// Error names the field and the reason.
func (e *KeyError) Error() string { return e.Field + ": " + e.Why }

// Read takes the keys and the data out of a notification whose signature has been
// verified. header is the request's, body what DecodeJSON gave. A key that is
// missing, null, empty or no scalar is a *KeyError; numbers count as their exact text.
func (s *Source) Read(header http.Header, body any) (Notice, error) {
	return s.ReadItem(header, body, body)
}

// ReadItem is Read for one notification out of a body that holds several: item is the
// entry, body the whole.
func (s *Source) ReadItem(header http.Header, body, item any) (Notice, error) {
	low := lowerHeader(header)
	n := Notice{Event: EventData{Source: s.Name, Account: s.Account}}
	var err error
	switch s.Kind {
	case KindShopifyFlow:
		err = s.readFlow(&n, item)
	case KindShopifyWebhook:
		err = s.readWebhook(&n, low, item)
	case KindCloudEvents:
		err = s.readCloudEvent(&n, low, item)
	case KindStarter:
		err = &KeyError{"kind", "nothing is posted to a starter"}
	default:
		err = s.readJSON(&n, low, body, item)
	}
	if err != nil {
		return Notice{}, err
	}
	if s.businessKey != nil {
		n.BusinessKey, _ = keyText("business_key", s.businessKey, keyVariables(low, body, item))
	}
	return n, nil
}

func variables(low map[string]string, body, item any) map[string]any {
	return map[string]any{"header": low, "body": plain(body), "item": plain(item)}
}

// keyVariables are the variables for keys: every number is its exact text, so that
// 1.0 and 1, or two long identifiers, never become the same key.
func keyVariables(low map[string]string, body, item any) map[string]any {
	return map[string]any{"header": low, "body": numbersAsText(body), "item": numbersAsText(item)}
}

func numbersAsText(v any) any {
	switch x := v.(type) {
	case json.Number:
		return x.String()
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = numbersAsText(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, e := range x {
			out[k] = numbersAsText(e)
		}
		return out
	}
	return plain(v)
}

func (s *Source) readFlow(n *Notice, body any) error {
	m, ok := body.(map[string]any)
	if !ok {
		return &KeyError{"body", "it is not an object"}
	}
	run, err := scalarKey("action_run_id", m["action_run_id"])
	if err != nil {
		return err
	}
	if shop, _ := m["shopify_domain"].(string); shop != "" && !strings.EqualFold(shop, s.Account) {
		return &KeyError{"account", "the notification is from another shop"}
	}
	n.Handle, _ = m["handle"].(string)
	n.DeliveryKey = run
	n.Event.Key, n.Event.ActionRunID, n.Event.Data = run, run, m
	n.Event.Topic = or(n.Handle, "action")
	return nil
}

func (s *Source) readWebhook(n *Notice, low map[string]string, body any) error {
	m, ok := body.(map[string]any)
	if !ok {
		return &KeyError{"body", "it is not an object"}
	}
	get := func(name string) string { return or(low["x-shopify-"+name], low["shopify-"+name]) }
	if shop := get("shop-domain"); !strings.EqualFold(shop, s.Account) {
		return &KeyError{"account", "the notification is from another shop"}
	}
	var err error
	if n.Event.Topic, err = scalarKey("topic", get("topic")); err != nil {
		return err
	}
	if n.DeliveryKey, err = scalarKey("delivery_key", get("webhook-id")); err != nil {
		return err
	}
	// The event ID is the same over several deliveries; where the sender gives none,
	// the delivery is the event.
	n.Event.Key = or(get("event-id"), n.DeliveryKey)
	n.Event.Time, _ = time.Parse(time.RFC3339Nano, get("triggered-at"))
	n.Event.Data = m
	return nil
}

func (s *Source) readCloudEvent(n *Notice, low map[string]string, body any) error {
	attribute := func(name string) (string, error) { return decodeAttribute(low["ce-"+name]) }
	data := body
	if structured(low["content-type"]) {
		m, ok := body.(map[string]any)
		if !ok {
			return &KeyError{"body", "it is not an object"}
		}
		attribute = func(name string) (string, error) {
			v, _ := m[name].(string)
			return v, nil
		}
		data = m["data"]
	}
	fields := map[string]string{}
	for _, name := range []string{"specversion", "id", "source", "type", "time"} {
		v, err := attribute(name)
		if err != nil {
			return &KeyError{name, err.Error()}
		}
		if name != "time" {
			if v, err = scalarKey(name, v); err != nil {
				return err
			}
		}
		fields[name] = v
	}
	if fields["specversion"] != "1.0" {
		return &KeyError{"specversion", "only CloudEvents 1.0 is understood"}
	}
	// source and id together are unique (CloudEvents 1.0): both make the key.
	n.Event.Key = fields["source"] + " " + fields["id"]
	n.Event.ID = fields["id"]
	n.DeliveryKey = n.Event.Key
	n.Event.Topic = fields["type"]
	n.Event.Time, _ = time.Parse(time.RFC3339Nano, fields["time"])
	n.Event.Data = asObject(data)
	return nil
}

func (s *Source) readJSON(n *Notice, low map[string]string, body, item any) error {
	vars, keys := variables(low, body, item), keyVariables(low, body, item)
	if err := s.checkAccount(keys); err != nil {
		return err
	}
	var err error
	if n.Event.Key, err = keyText("event_key", s.eventKey, keys); err != nil {
		return err
	}
	if n.Event.Topic, err = keyText("topic", s.topic, keys); err != nil {
		return err
	}
	if s.deliveryKey != nil {
		if n.DeliveryKey, err = keyText("delivery_key", s.deliveryKey, keys); err != nil {
			return err
		}
	}
	if s.subscription != nil { // a warning only hangs on it
		n.Subscription, _ = keyText("subscription", s.subscription, keys)
	}
	if s.time != nil {
		if v, err := s.time.render(vars); err == nil {
			n.Event.Time = timeOf(v)
		}
	}
	n.Event.Data = asObject(item)
	if s.data != nil {
		v, err := s.data.render(vars)
		if err != nil {
			return &KeyError{"data", err.Error()}
		}
		n.Event.Data = asObject(v)
	}
	return nil
}

// checkAccount compares the account that a notification names with the source's. One
// that names none is taken as the source's own.
func (s *Source) checkAccount(keys map[string]any) error {
	if s.accountOf == nil {
		return nil
	}
	v, err := s.accountOf.render(keys)
	account := ""
	if err == nil {
		account, err = textOf(v)
	}
	switch {
	case err != nil:
		return &KeyError{"account_of", err.Error()}
	case account != "" && account != s.Account:
		return &KeyError{"account", "the notification is about another account"}
	}
	return nil
}

// timeOf reads a time: RFC 3339 text. An expression such as timestamp(…) gives that too.
func timeOf(v any) time.Time {
	text, _ := v.(string)
	t, _ := time.Parse(time.RFC3339Nano, text)
	return t
}

// asObject gives an object as it is, and anything else under "value".
func asObject(v any) map[string]any {
	if m, ok := v.(map[string]any); ok {
		return m
	}
	return map[string]any{"value": v}
}

// keyText evaluates a key. Every expression in it must give a text or a number.
func keyText(field string, t template, vars map[string]any) (string, error) {
	ps, err := t.pieces(vars)
	if err != nil {
		return "", &KeyError{field, err.Error()}
	}
	text, err := keyPieces(ps)
	if err != nil {
		return "", &KeyError{field, err.Error()}
	}
	return scalarKey(field, text)
}

// maxKey is the longest key of a source, in bytes.
const maxKey = 512

func scalarKey(field string, v any) (string, error) {
	text, err := textOf(v)
	if _, isBool := v.(bool); isBool {
		err = errors.New("a truth value is no key")
	}
	switch {
	case err != nil:
		return "", &KeyError{field, err.Error()}
	case strings.TrimSpace(text) == "":
		return "", &KeyError{field, "it is missing or empty"}
	case len(text) > maxKey:
		return "", &KeyError{field, fmt.Sprintf("it is longer than %d bytes", maxKey)}
	case hasControl(text):
		return "", &KeyError{field, "it holds control characters"}
	}
	return text, nil
}

// decodeAttribute decodes a CloudEvents header value: percent-encoding, exactly once.
func decodeAttribute(s string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		var c byte
		if i+2 >= len(s) {
			return "", errors.New("a percent sign is not followed by two digits")
		}
		if _, err := fmt.Sscanf(s[i+1:i+3], "%02x", &c); err != nil {
			return "", errors.New("a percent sign is not followed by two digits")
		}
		b.WriteByte(c)
		i += 2
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD"), nil
}
