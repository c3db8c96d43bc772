package intake

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
)

// Refused says why a notification was not accepted. It is on the record already.
type Refused struct {
	Status int
	Code   string // stable: "signature", "event_key", "gzip", …
	Detail string
}

// Error gives code and detail.
func (r *Refused) Error() string { return r.Code + ": " + r.Detail }

// Sentence says the reason to the sender.
func (r *Refused) Sentence() string {
	return "The notification was refused (" + r.Code + "): " + r.Detail + "."
}

// Accept takes one notification of a source: it reads and checks the bytes, takes the
// keys out and stores delivery, event, run and operations in one transaction. A refusal
// is a *Refused and is recorded; a notification for another account or environment is
// acknowledged and recorded as ignored. Any other error means that it is not stored, or
// not known to be: the sender should come again.
//
// A body that holds several notifications is for AcceptAll; here it is refused.
func Accept(ctx context.Context, d Deps, a store.Actor, src *definition.Source, r *http.Request) (store.Receipt, error) {
	k := newKnock(d, a, src, r)
	ctx, cancel := context.WithTimeout(ctx, k.Patience)
	defer cancel()
	if no := k.read(); no != nil {
		return k.refuseAll(ctx, no)
	}
	if k.several {
		return k.refuseAll(ctx, &Refused{http.StatusUnsupportedMediaType, "content_type", "the body must be JSON, one notification in each request"})
	}
	defer k.usedSecret(ctx)
	return k.judge(ctx, part{body: k.raw.decoded, refused: k.raw.received, value: k.body})
}

// knock is one POST of a source while it is judged.
type knock struct {
	Deps
	actor   store.Actor
	src     *definition.Source
	r       *http.Request
	header  http.Header // with valid text only
	raw     rawBody
	body    any
	several bool // the body holds a list of notifications
	checked checked
}

func newKnock(d Deps, a store.Actor, src *definition.Source, r *http.Request) *knock {
	return &knock{Deps: d.withDefaults(), actor: a, src: src, r: r, header: cleanHeader(r.Header), several: src.HoldsSeveral(r.Header.Get("Content-Type"))}
}

// read reads the body, checks its signature and decodes it.
func (k *knock) read() (no *Refused) {
	if k.raw, no = readBody(k.r, k.src); no != nil {
		return no
	}
	if k.checked, no = k.check(k.src, k.r, k.raw); no != nil {
		return no
	}
	if k.body, no = decode(k.r.Header, k.src, k.raw); no != nil && k.apart(no) {
		return nil
	}
	return no
}

// refuseAll refuses the whole POST. What is our own fault is not recorded: the sender
// comes again.
func (k *knock) refuseAll(ctx context.Context, no *Refused) (store.Receipt, error) {
	if no.Status >= 500 {
		return store.Receipt{}, no
	}
	return k.refuse(ctx, part{body: k.raw.received}, no)
}

// part is one notification of a POST.
type part struct {
	body    []byte   // its bytes
	refused []byte   // what is kept of it when it is refused; nil = body
	value   any      // decoded
	no      *Refused // why it cannot be read; nil = it can
	post    string   // what the POST is called; "" = it is the only one
	item    int      // its place in the POST, from 1; 0 = it is the only one
}

// judge takes the keys out of one notification and hands it over.
func (k *knock) judge(ctx context.Context, p part) (store.Receipt, error) {
	n, err := k.src.ReadItem(k.header, k.body, p.value)
	if err == nil && otherEnvironment(k.src, p.value) {
		err = &definition.KeyError{Field: "environment", Why: "the notification is from another environment"}
	}
	var key *definition.KeyError
	switch {
	case errors.As(err, &key) && (key.Field == "account" || key.Field == "environment"):
		return k.ignore(ctx, p, &Refused{Status: k.src.Answer, Code: key.Field, Detail: key.Why})
	case errors.As(err, &key):
		return k.refuse(ctx, p, &Refused{http.StatusBadRequest, key.Field, key.Why})
	case err != nil:
		return store.Receipt{}, err
	}
	in, err := k.received(n, p)
	if err != nil {
		return store.Receipt{}, err
	}
	out, err := k.Store.Receive(ctx, k.actor, in)
	var refusal *operation.Refusal
	if errors.As(err, &refusal) && refusal.Code == operation.CodeContentMissing {
		return k.refuse(ctx, p, &Refused{http.StatusUnprocessableEntity, string(refusal.Code), refusal.Params["field"]})
	}
	return out, err
}

func (k *knock) received(n definition.Notice, p part) (store.Received, error) {
	in := store.Received{
		Source: k.src.Name, Account: n.Event.Account, Topic: n.Event.Topic, EventKey: n.Event.Key, DeliveryKey: n.DeliveryKey,
		Subscription: n.Subscription, BusinessKey: n.BusinessKey, Handle: n.Handle, ActionRunID: n.Event.ActionRunID,
		EventTime: n.Event.Time, Body: p.body, Data: n.Event.Data, Headers: keptHeaders(k.header), SkewMillis: k.checked.skew, Status: k.src.Answer,
		Post: p.post, Item: p.item,
	}
	if in.Subscription == "" {
		in.Subscription = subscription(k.header)
	}
	compared, err := k.src.Compared(k.src.Plain(p.body))
	if len(k.src.Volatile) > 0 {
		in.Compared = compared
	}
	return in, err
}

// subscription names the subscription that a delivery came through, where the sender
// says it: the same event through two of them is worth a warning (FC-02).
func subscription(h http.Header) string {
	for _, name := range []string{"X-Shopify-Name", "Shopify-Handle", "Webhook-Subscription", "Ce-Subscription"} {
		if v := h.Get(name); v != "" {
			return v
		}
	}
	return ""
}

// otherEnvironment recognises a live notification at a test endpoint and the reverse,
// where the sender says which it is.
func otherEnvironment(src *definition.Source, body any) bool {
	m, ok := body.(map[string]any)
	if !ok || src.Signature.Scheme != definition.SchemeStripe {
		return false
	}
	live, says := m["livemode"].(bool)
	production := src.Environment == "production" || src.Environment == "live"
	return says && live != production
}

func (k *knock) ignore(ctx context.Context, p part, no *Refused) (store.Receipt, error) {
	id, err := k.record(ctx, p, store.VerdictIgnored, no)
	return store.Receipt{Delivery: id, Verdict: store.VerdictIgnored, Reason: no.Error()}, err
}

func (k *knock) refuse(ctx context.Context, p part, no *Refused) (store.Receipt, error) {
	id, err := k.record(ctx, p, store.VerdictRefused, no)
	if err != nil {
		return store.Receipt{}, err
	}
	return store.Receipt{Delivery: id, Verdict: store.VerdictRefused, Reason: no.Error()}, no
}

// record writes a delivery that starts nothing.
func (k *knock) record(ctx context.Context, p part, v store.Verdict, no *Refused) (operation.DeliveryID, error) {
	k.Log.Info("delivery not accepted", "source", k.src.Name, "verdict", v, "code", no.Code, "status", no.Status, "item", p.item)
	body := p.body
	if p.refused != nil {
		body = p.refused
	}
	return k.Store.RefuseDelivery(ctx, store.Unaccepted{
		Source: k.src.Name, DeliveryKey: deliveryKey(k.header), Subscription: subscription(k.header), Verdict: v, Reason: Clip(no.Error(), 500),
		Status: no.Status, Body: body, Headers: keptHeaders(k.header), SkewMillis: k.checked.skew, Post: p.post, Item: p.item,
	})
}

// deliveryKey finds the sender's delivery key in well-known headers, for deliveries
// whose body nobody read.
func deliveryKey(h http.Header) string {
	for _, name := range []string{"X-Shopify-Webhook-Id", "Shopify-Webhook-Id", "Webhook-Id", "Ce-Id", "Svix-Id"} {
		if v := h.Get(name); v != "" {
			return Clip(v, 512)
		}
	}
	return ""
}

// cleanHeader gives the headers with valid text only: the database holds nothing else.
func cleanHeader(h http.Header) http.Header {
	out := make(http.Header, len(h))
	for name, values := range h {
		for _, v := range values {
			out.Add(name, strings.ReplaceAll(strings.ToValidUTF8(v, "\uFFFD"), "\x00", "\uFFFD"))
		}
	}
	return out
}

// keptHeaders are the ones that help to judge a delivery; no signature, no credential.
func keptHeaders(h http.Header) map[string]string {
	out := map[string]string{}
	for name, values := range h {
		low := strings.ToLower(name)
		kept := low == "content-type" || low == "content-encoding" || low == "user-agent" || strings.HasPrefix(low, "ce-") ||
			strings.HasPrefix(low, "x-shopify-") || strings.HasPrefix(low, "shopify-") || low == "webhook-id" || low == "webhook-timestamp" || low == "svix-id" || low == "svix-timestamp" || low == "x-hubspot-request-timestamp"
		if kept && !strings.Contains(low, "hmac") && !strings.Contains(low, "token") && len(out) < 40 {
			out[low] = Clip(strings.Join(values, ", "), 512)
		}
	}
	return out
}

// Skew gives how far the sender's time is behind ours, in milliseconds; negative when
// it is ahead.
func skewOf(now, theirs time.Time) *int64 {
	if theirs.IsZero() {
		return nil
	}
	ms := now.Sub(theirs).Milliseconds()
	return &ms
}

func jsonRefusal(err error) *Refused {
	var j *definition.JSONError
	if !errors.As(err, &j) {
		return &Refused{http.StatusBadRequest, "syntax", "the body is not JSON"}
	}
	detail := fmt.Sprintf("the body is not acceptable JSON at byte %d", j.Offset)
	if j.Key != "" {
		detail = fmt.Sprintf("the key %q is ambiguous", Clip(j.Key, 100))
	}
	return &Refused{http.StatusBadRequest, string(j.Code), detail}
}
