package definition

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/signature"
)

// Callbacks says how a destination tells later what became of an effect: how it proves
// itself, and how its news is read. It is read-only after ParseProfile.
type Callbacks struct {
	Rule    signature.Rule
	Secrets []SecretRef // any of them is accepted, so that a secret can be rotated
	// Topics are the Amazon SNS topics whose news is taken and whose subscription is
	// confirmed; for scheme sns only.
	Topics []string
	Body   int64         // the largest body, in bytes
	Within time.Duration // silence about an accepted effect for so long is the owner's work; 0 = the flow says

	profile                                      *Profile
	items, dedupe, operation, reference, url, at template
	ours                                         *expr
	kinds                                        []newsRule
}

type newsRule struct {
	kind operation.NewsKind
	rule *expr
}

// News is one entry of a callback.
type News struct {
	Key       string             // the same entry has the same key
	Kind      operation.NewsKind // NewsIgnored = not ours, or nothing that is recorded
	Operation operation.ID       // named by the entry; "" = none
	Reference string             // the destination's own; "" = none
	URL       string
	At        time.Time // by the destination's clock; zero = it does not say
	Item      string    // the entry as JSON
}

// Defaults of callbacks.
const (
	DefaultCallbackBody = 2 << 20
	// Senders that repeat a message do so with its first signed time. Their messages are
	// told apart by a signed ID (SNS) or a token that is taken once (Mailgun).
	mailgunTolerance = 9 * time.Hour
	snsTolerance     = 24 * time.Hour
)

type rawCallbacks struct {
	Signature struct {
		Scheme   string `json:"scheme"`
		Header   string `json:"header"`
		Encoding string `json:"encoding"`
		Prefix   string `json:"prefix"`
	} `json:"signature"`
	Secrets   []SecretRef             `json:"secrets"`
	Topics    []string                `json:"topics"`
	Tolerance duration                `json:"tolerance"`
	Body      size                    `json:"body"`
	Items     expression              `json:"items"`
	Ours      expression              `json:"ours"`
	Dedupe    expression              `json:"dedupe"`
	Operation expression              `json:"operation"`
	Reference expression              `json:"reference"`
	URL       expression              `json:"url"`
	Time      expression              `json:"time"`
	News      []map[string]expression `json:"news"`
	Within    duration                `json:"within"`
}

func (r *rawCallbacks) compile(pr *Profile, p *problems) *Callbacks {
	if r == nil {
		return nil
	}
	const path = "callbacks"
	c := &Callbacks{
		Rule: signature.Rule{Scheme: signature.Scheme(r.Signature.Scheme), Header: r.Signature.Header, Encoding: or(r.Signature.Encoding, "hex"),
			Prefix: r.Signature.Prefix, Tolerance: time.Duration(r.Tolerance)},
		Secrets: r.Secrets, Topics: r.Topics, Body: int64(orInt(int(r.Body), DefaultCallbackBody)), Within: time.Duration(r.Within), profile: pr,
		ours: compileRule(scopeNews, r.Ours, join(path, "ours"), p),
	}
	for _, x := range []struct {
		name string
		raw  expression
		to   *template
	}{{"items", r.Items, &c.items}, {"dedupe", r.Dedupe, &c.dedupe}, {"operation", r.Operation, &c.operation}, {"reference", r.Reference, &c.reference}, {"time", r.Time, &c.at}} {
		*x.to = compileValue(scopeNews, x.raw, join(path, x.name), p)
	}
	c.url = compileValue(scopeNewsLink, r.URL, join(path, "url"), p)
	for i, raw := range r.News {
		for kind, rule := range raw { // exactly one, by the schema
			c.kinds = append(c.kinds, newsRule{operation.NewsKind(kind), compileRule(scopeNews, rule, join(item(join(path, "news"), i), kind), p)})
		}
	}
	c.check(path, p)
	return c
}

// check fits the parts to the scheme.
func (c *Callbacks) check(path string, p *problems) {
	r := &c.Rule
	wantsHeader := r.Scheme == signature.HMAC || r.Scheme == signature.Header
	sns := r.Scheme == signature.SNS
	switch {
	case wantsHeader && r.Header == "":
		p.add(join(path, "signature.header"), "this field is missing")
	case !wantsHeader && r.Header != "":
		p.add(join(path, "signature.header"), "the scheme %s has its own headers", r.Scheme)
	}
	switch {
	case sns && len(c.Topics) == 0:
		p.add(join(path, "topics"), "Amazon's signature says only that the message is from some topic: name yours")
	case !sns && len(c.Topics) > 0:
		p.add(join(path, "topics"), "topics are for the scheme sns")
	case !sns && len(c.Secrets) == 0:
		p.add(join(path, "secrets"), "callbacks need at least one secret")
	}
	if c.operation == nil && c.reference == nil {
		p.add(path, "say where the operation's ID or the destination's own reference stands: operation, reference")
	}
	if r.Tolerance == 0 {
		r.Tolerance = DefaultTolerance
		if r.Scheme == signature.Mailgun {
			r.Tolerance = mailgunTolerance
		}
		if sns {
			r.Tolerance = snsTolerance
		}
	}
}

// Entries are the entries of one callback.
type Entries struct {
	rules       *Callbacks
	header      map[string]string
	plain, text any // the whole body, read once: as it is, and with exact numbers
	list        []any
}

// Len is how many there are.
func (e *Entries) Len() int { return len(e.list) }

// Entries gives the entries of a callback's body; without a rule the body is the one entry.
// An error means that the body does not look as documented.
func (c *Callbacks) Entries(header http.Header, body any) (*Entries, error) {
	e := &Entries{rules: c, header: lowerHeader(header), plain: plain(body), text: numbersAsText(body), list: []any{body}}
	if c.items == nil {
		return e, nil
	}
	v := body
	if x, ok := c.items.(single); !ok || x.e.text != "body" { // there, numbers stay exact
		var err error
		if v, err = c.items.render(c.variables(map[string]any{"header": e.header, "body": e.plain, "item": nil})); err != nil {
			return nil, err
		}
	}
	list, ok := v.([]any)
	if !ok {
		return nil, errNoList
	}
	e.list = list
	return e, nil
}

var errNoList = errors.New("there is no list of entries")

func (c *Callbacks) variables(vars map[string]any) map[string]any {
	vars["account"], vars["environment"] = c.profile.Account, c.profile.Environment
	return vars
}

// Read takes the news out of one entry. An error means that this entry cannot be read;
// the others can.
func (e *Entries) Read(i int, env Env) (News, error) {
	c, entry := e.rules, e.list[i]
	vars := c.variables(map[string]any{"header": e.header, "body": e.plain, "item": plain(entry)})
	keys := c.variables(map[string]any{"header": e.header, "body": e.text, "item": numbersAsText(entry)})
	text, err := marshal(entry)
	if err != nil {
		return News{}, err
	}
	n := News{Kind: operation.NewsPlain, Item: text}
	if c.ours != nil {
		ours, err := c.ours.holds(vars)
		if err != nil {
			return n, err
		}
		if !ours {
			n.Kind = operation.NewsIgnored
			return n, nil
		}
	}
	for _, k := range c.kinds {
		holds, err := k.rule.holds(vars)
		if err != nil {
			return n, err
		}
		if holds {
			n.Kind = k.kind
			break
		}
	}
	if n.Kind == operation.NewsIgnored {
		return n, nil
	}
	return n, c.name(&n, vars, keys, env)
}

// name fills in what the entry is about.
func (c *Callbacks) name(n *News, vars, keys map[string]any, env Env) error {
	if c.dedupe != nil {
		key, err := keyText("dedupe", c.dedupe, keys)
		if err != nil {
			return err
		}
		n.Key = key
	} else {
		sum := sha256.Sum256([]byte(n.Item))
		n.Key = "sha256:" + hex.EncodeToString(sum[:])
	}
	if c.operation != nil {
		if text, err := keyText("operation", c.operation, keys); err == nil {
			n.Operation = operation.FindID(text)
		}
	}
	if c.reference != nil {
		if id, err := referenceText(c.reference, keys); err == nil {
			n.Reference = id
		}
	}
	if c.at != nil {
		if v, err := c.at.render(vars); err == nil {
			n.At = momentOf(v)
		}
	}
	n.URL = linkText(c.url, vars, env)
	return nil
}

// momentOf reads a time: RFC 3339, or a number of seconds or milliseconds since 1970.
func momentOf(v any) time.Time {
	text, err := textOf(v)
	if err != nil {
		return time.Time{}
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999-07", "Mon, 02 Jan 2006 15:04:05 -0700"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC()
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || f <= 0 || f > 1e14:
		return time.Time{}
	case f > 1e11:
		return time.UnixMilli(int64(f)).UTC()
	}
	return time.UnixMicro(int64(f * 1e6)).UTC()
}

// UnwrapSNS gives what an SNS notification carries: JSON as text, or plain text.
func UnwrapSNS(message string) any {
	v, err := DecodeJSON([]byte(message))
	if err != nil {
		return map[string]any{"text": message}
	}
	switch v.(type) {
	case map[string]any, []any:
		return v
	}
	return map[string]any{"text": message}
}
