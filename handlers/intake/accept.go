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
func Accept(ctx context.Context, d Deps, a store.Actor, src *definition.Source, r *http.Request) (store.Receipt, error) {
	d = d.withDefaults()
	ctx, cancel := context.WithTimeout(ctx, d.Patience)
	defer cancel()
	raw, no := readBody(r, src)
	var skew *int64
	if no == nil {
		skew, no = d.check(src, r.Header, raw)
	}
	if no != nil && no.Status >= 500 {
		return store.Receipt{}, no
	}
	var body any
	if no == nil {
		body, no = decode(r.Header, src, raw)
	}
	if no != nil {
		return d.refuse(ctx, src, r, raw.received, no, skew)
	}
	header := cleanHeader(r.Header)
	n, err := src.Read(header, body)
	if err == nil && otherEnvironment(src, body) {
		err = &definition.KeyError{Field: "environment", Why: "the notification is from another environment"}
	}
	var key *definition.KeyError
	switch {
	case errors.As(err, &key) && (key.Field == "account" || key.Field == "environment"):
		no := &Refused{Status: src.Answer, Code: key.Field, Detail: key.Why}
		id, err := record(ctx, d, src, r, raw.received, store.VerdictIgnored, no, skew)
		return store.Receipt{Delivery: id, Verdict: store.VerdictIgnored, Reason: no.Error()}, err
	case errors.As(err, &key):
		return d.refuse(ctx, src, r, raw.received, &Refused{http.StatusBadRequest, key.Field, key.Why}, skew)
	case err != nil:
		return store.Receipt{}, err
	}
	in := received(src, n, header, raw, skew)
	out, err := d.Store.Receive(ctx, a, in)
	var refusal *operation.Refusal
	if errors.As(err, &refusal) && refusal.Code == operation.CodeContentMissing {
		return d.refuse(ctx, src, r, raw.received, &Refused{http.StatusUnprocessableEntity, string(refusal.Code), refusal.Params["field"]}, skew)
	}
	return out, err
}

func received(src *definition.Source, n definition.Notice, header http.Header, raw rawBody, skew *int64) store.Received {
	return store.Received{
		Source: src.Name, Account: n.Event.Account, Topic: n.Event.Topic, EventKey: n.Event.Key, DeliveryKey: n.DeliveryKey,
		Subscription: subscription(header), BusinessKey: n.BusinessKey, Handle: n.Handle, ActionRunID: n.Event.ActionRunID,
		EventTime: n.Event.Time, Body: raw.decoded, Data: n.Event.Data, Headers: keptHeaders(header), SkewMillis: skew, Status: src.Answer,
	}
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

func (d Deps) refuse(ctx context.Context, src *definition.Source, r *http.Request, body []byte, no *Refused, skew *int64) (store.Receipt, error) {
	id, err := record(ctx, d, src, r, body, store.VerdictRefused, no, skew)
	if err != nil {
		return store.Receipt{}, err
	}
	return store.Receipt{Delivery: id, Verdict: store.VerdictRefused, Reason: no.Error()}, no
}

// record writes a delivery that starts nothing.
func record(ctx context.Context, d Deps, src *definition.Source, r *http.Request, body []byte, v store.Verdict, no *Refused, skew *int64) (operation.DeliveryID, error) {
	h := cleanHeader(r.Header)
	d.Log.Info("delivery not accepted", "source", src.Name, "verdict", v, "code", no.Code, "status", no.Status)
	return d.Store.RefuseDelivery(ctx, store.Unaccepted{
		Source: src.Name, DeliveryKey: deliveryKey(h), Subscription: subscription(h), Verdict: v, Reason: clip(no.Error(), 500),
		Status: no.Status, Body: body, Headers: keptHeaders(h), SkewMillis: skew,
	})
}

// deliveryKey finds the sender's delivery key in well-known headers, for deliveries
// whose body nobody read.
func deliveryKey(h http.Header) string {
	for _, name := range []string{"X-Shopify-Webhook-Id", "Shopify-Webhook-Id", "Webhook-Id", "Ce-Id", "Svix-Id"} {
		if v := h.Get(name); v != "" {
			return clip(v, 512)
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
			strings.HasPrefix(low, "x-shopify-") || strings.HasPrefix(low, "shopify-") || low == "webhook-id" || low == "webhook-timestamp" || low == "svix-id"
		if kept && !strings.Contains(low, "hmac") && !strings.Contains(low, "token") && len(out) < 40 {
			out[low] = clip(strings.Join(values, ", "), 512)
		}
	}
	return out
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n-3], "") + "…"
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
		detail = fmt.Sprintf("the key %q is ambiguous", clip(j.Key, 100))
	}
	return &Refused{http.StatusBadRequest, string(j.Code), detail}
}
