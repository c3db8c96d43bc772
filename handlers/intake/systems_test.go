package intake_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"holdpoint/handlers/intake"
	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/systems"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"github.com/cloudevents/sdk-go/v2/event"
	cehttp "github.com/cloudevents/sdk-go/v2/protocol/http"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stripe/stripe-go/v82/webhook"
)

func init() {
	for name, v := range map[string]string{
		"STRIPE_WEBHOOK_SECRET": "whsec_new", "STRIPE_WEBHOOK_SECRET_OLD": "whsec_old", "HUBSPOT_CLIENT_SECRET": "hub", "HUBSPOT_CLIENT_SECRET_OLD": "hub-old",
		"STANDARD_WEBHOOKS_SECRET": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "SHOPIFY_CLIENT_SECRET": "hush", "SHOPIFY_CLIENT_SECRET_OLD": "hush-old",
	} {
		secrets[name] = v
	}
}

// readySource applies a source as it is shipped, with the account changed.
func (h *house) readySource(name string, replace ...string) {
	h.t.Helper()
	raw, err := fs.ReadFile(systems.Sources(), name+".yaml")
	if err != nil {
		h.t.Fatal(err)
	}
	h.apply(strings.NewReplacer(replace...).Replace(string(raw)))
}

// Every source that is shipped can be applied as it is, and names its variables.
func TestReadySources(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(systems.Sources(), "*.yaml")
	if err != nil || len(names) < 7 {
		t.Fatalf("%v, %v", names, err)
	}
	for _, name := range names {
		raw, err := fs.ReadFile(systems.Sources(), name)
		if err != nil {
			t.Fatal(err)
		}
		src, err := definition.ParseSource(name, raw)
		if err != nil {
			t.Error(err)
			continue
		}
		if src.Name+".yaml" != name {
			t.Errorf("%s holds the source %s", name, src.Name)
		}
		head, _, _ := strings.Cut(string(raw), "\nsource:")
		for _, ref := range src.Secrets {
			if !strings.Contains(head, ref.Env) {
				t.Errorf("%s: the head does not name %s", name, ref.Env)
			}
		}
		for _, l := range []string{"en", "ja", "pl"} {
			if src.Title[l] == "" {
				t.Errorf("%s has no title in %s", name, l)
			}
		}
	}
}

// Stripe's own signer; two Event objects for one change; the other environment.
func TestStripeSource(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.readySource("stripe", "acct_change_me", "acct_1")
	send := func(secret, id, typ, object, more string) reply {
		body := fmt.Sprintf(`{"id":"%s","object":"event","type":"%s","created":1790000000,"livemode":false,"pending_webhooks":1,"data":{"object":{"id":"%s"}}%s}`, id, typ, object, more)
		p := webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: []byte(body), Secret: secret})
		return h.send(h.url+"/in/stripe", p.Payload, "Stripe-Signature", p.Header)
	}
	for i, x := range []struct {
		secret, id, typ, object, more string
		status                        int
		verdict                       string
	}{
		{"whsec_new", "evt_1", "invoice.finalized", "in_1", "", 200, "accepted"},
		{"whsec_old", "evt_1", "invoice.finalized", "in_1", "", 200, "repeated"},
		{"whsec_new", "evt_2", "invoice.finalized", "in_1", "", 200, "held"},
		{"whsec_new", "evt_3", "invoice.updated", "in_1", "", 200, "accepted"},
		{"whsec_new", "evt_4", "invoice.updated", "in_1", "", 200, "accepted"},
		{"whsec_new", "evt_5", "invoice.paid", "in_1", `,"account":"acct_2"`, 200, "ignored"},
		{"whsec_new", "evt_6", "invoice.paid", "in_1", `,"account":"acct_1"`, 200, "accepted"},
		{"whsec_else", "evt_7", "invoice.paid", "in_2", "", 401, ""},
	} {
		if r := send(x.secret, x.id, x.typ, x.object, x.more); r.status != x.status || r.body.Verdict != x.verdict {
			t.Errorf("%d: %d %s", i, r.status, r.raw)
		}
	}
	again := `{"id":"evt_1","object":"event","type":"invoice.finalized","created":1790000000,"livemode":false,"pending_webhooks":0,"data":{"object":{"id":"in_1"}}}`
	p := webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: []byte(again), Secret: "whsec_new"})
	if r := h.send(h.url+"/in/stripe", p.Payload, "Stripe-Signature", p.Header); r.body.Verdict != "repeated" {
		t.Errorf("a retry with another counter: %s", r.raw)
	}
	live := strings.Replace(strings.Replace(again, `"livemode":false`, `"livemode":true`, 1), "evt_1", "evt_live", 1)
	p = webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: []byte(live), Secret: "whsec_new"})
	if r := h.send(h.url+"/in/stripe", p.Payload, "Stripe-Signature", p.Header); r.status != 200 || r.body.Verdict != "ignored" {
		t.Errorf("a live event: %d %s", r.status, r.raw)
	}
	if h.Count(t, "events WHERE source = 'stripe' AND event_time = to_timestamp(1790000000)") == 0 {
		t.Error("the event's time is not read")
	}
	if h.Count(t, "source_secret_uses WHERE source = 'stripe'") != 2 {
		t.Error("it is not noted which secrets are used")
	}
}

// HubSpot signs our public address; each entry of its list is judged by itself.
func TestHubSpotSource(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.readySource("hubspot")
	at := h.serveWith(intake.Deps{Store: h.Store, Base: "https://holdpoint.example.com/"})
	send := func(secret, path, body string, when time.Time) (reply, itemsReply) {
		stamp := strconv.FormatInt(when.UnixMilli(), 10)
		r := h.send(at+path, []byte(body), "X-HubSpot-Signature-v3", b64(secret, []byte("POST"+"https://holdpoint.example.com"+path+body+stamp)), "X-HubSpot-Request-Timestamp", stamp)
		return r, itemsOf(r)
	}
	entry := func(id, attempt int, more string) string {
		return fmt.Sprintf(`{"eventId":%d,"subscriptionId":%d,"portalId":62515,"occurredAt":1790000000123,"subscriptionType":"contact.creation","attemptNumber":%d,"objectId":%d,"changeSource":"CRM","changeFlag":"NEW","appId":1}`,
			id, 7, attempt, 100+id) + more
	}
	body := "[" + entry(1, 0, "") + "," + strings.Replace(entry(2, 0, ""), "62515", "4711", 1) + "," + entry(9007199254740993, 0, "") + "]"
	r, out := send("hub", "/in/hubspot?x=a%20b", body, time.Now())
	if r.status != 200 || verdicts(out) != "accepted 200, ignored 200, accepted 200" {
		t.Fatalf("%d %s", r.status, r.raw)
	}
	if r, out = send("hub-old", "/in/hubspot", "["+entry(1, 1, "")+","+entry(9007199254740993, 1, "")+"]", time.Now()); verdicts(out) != "repeated 200, repeated 200" {
		t.Errorf("the retry: %s", r.raw)
	}
	if _, out = send("hub", "/in/hubspot", "["+strings.Replace(entry(1, 0, ""), `"eventId":1`, `"eventId":31`, 1)+"]", time.Now()); verdicts(out) != "held 200" {
		t.Errorf("the same change under another ID: %+v", out)
	}
	if _, out = send("hub", "/in/hubspot", "["+strings.Replace(entry(1, 0, ""), `"objectId":101`, `"objectId":202`, 1)+"]", time.Now()); verdicts(out) != "accepted 200" {
		t.Errorf("another object under the same ID: %+v", out)
	}
	if h.Count(t, "deliveries WHERE source = 'hubspot' AND subscription = '7' AND verdict = 'accepted'") != 3 {
		t.Error("the subscription is not noted")
	}
	if r, _ := send("hub", "/in/hubspot", "["+entry(5, 0, "")+"]", time.Now().Add(-6*time.Minute)); r.status != 401 {
		t.Errorf("an old signature: %d", r.status)
	}
	stamp := strconv.FormatInt(time.Now().UnixMilli(), 10)
	if r := h.send(at+"/in/hubspot", []byte(body), "X-HubSpot-Signature-v3", b64("hub", []byte("POST"+at+"/in/hubspot"+body+stamp)), "X-HubSpot-Request-Timestamp", stamp); r.status != 401 {
		t.Errorf("signed for another address: %d", r.status)
	}
}

func itemsOf(r reply) itemsReply {
	var out itemsReply
	_ = json.Unmarshal([]byte(r.raw), &out)
	return out
}

// The library of Standard Webhooks signs.
func TestStandardWebhooksSource(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.readySource("standard-webhooks")
	w, err := standardwebhooks.NewWebhook(secrets["STANDARD_WEBHOOKS_SECRET"])
	if err != nil {
		t.Fatal(err)
	}
	for i, prefix := range []string{"Webhook-", "Webhook-", "Svix-"} {
		body := []byte(`{"type":"user.created","timestamp":"2026-11-29T10:00:00Z","data":{"id":"u1"}}`)
		id, now := "msg_"+prefix, time.Now()
		sig, err := w.Sign(id, now, body)
		if err != nil {
			t.Fatal(err)
		}
		r := h.send(h.url+"/in/standard-webhooks", body, prefix+"Id", id, prefix+"Timestamp", strconv.FormatInt(now.Unix(), 10), prefix+"Signature", sig)
		if want := []string{"accepted", "repeated", "accepted"}[i]; r.status != 200 || r.body.Verdict != want {
			t.Errorf("%s: %d %s", prefix, r.status, r.raw)
		}
	}
}

// The CloudEvents SDK as sender, in its three modes; and leave to deliver.
func TestCloudEventsSource(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.readySource("cloudevents")
	_, token, err := h.Store.AddToken(t.Context(), store.System("command"), store.NewToken{Name: "t", Scopes: []string{"events"}})
	if err != nil {
		t.Fatal(err)
	}
	address := h.url + "/in/cloudevents"
	p, err := cloudevents.NewHTTP(cloudevents.WithTarget(address), cloudevents.WithHeader("Authorization", "Bearer "+token))
	if err != nil {
		t.Fatal(err)
	}
	client, err := cloudevents.NewClient(p)
	if err != nil {
		t.Fatal(err)
	}
	make := func(id string) event.Event {
		e := cloudevents.NewEvent()
		e.SetID(id)
		e.SetSource("//shop/a")
		e.SetType("note.requested")
		e.SetTime(time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC))
		if err := e.SetData(cloudevents.ApplicationJSON, map[string]string{"note": "n " + id}); err != nil {
			t.Fatal(err)
		}
		return e
	}
	for mode, encoding := range map[string]func(context.Context) context.Context{"binary": cloudevents.WithEncodingBinary, "structured": cloudevents.WithEncodingStructured} {
		for range 2 {
			var result *cehttp.Result
			if err := client.Send(encoding(t.Context()), make(mode)); !cloudevents.ResultAs(err, &result) || result.StatusCode != http.StatusAccepted {
				t.Errorf("%s: %v", mode, err)
			}
		}
	}
	req, err := cehttp.NewHTTPRequestFromEvents(t.Context(), address, []event.Event{make("b1"), make("structured"), make("b2")})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(req.Body)
	if err != nil {
		t.Fatal(err)
	}
	raw = bytes.Replace(raw, []byte(`{"specversion":"1.0","id":"b2"`), []byte(`{"specversion":"0.3","id":"b3"},{"specversion":"1.0","id":"b2"`), 1)
	var out itemsReply
	for i, want := range []string{"accepted 202, repeated 202, accepted 202", "repeated 202, repeated 202, repeated 202"} {
		r := h.send(address, raw, "Content-Type", req.Header.Get("Content-Type"), "Authorization", "Bearer "+token)
		if out = itemsOf(r); r.status != 202 || strings.ReplaceAll(verdicts(out), "refused 400, ", "") != want {
			t.Errorf("batch %d: %d %s", i, r.status, r.raw)
		}
	}
	if h.Count(t, "events WHERE source = 'cloudevents' AND event_key LIKE '//shop/a %'") != 4 {
		t.Error("not four events")
	}
	h.leave(address)
}

func (h *house) leave(address string) {
	h.t.Helper()
	ask := func(url, origin string) reply {
		return h.request(http.MethodOptions, url, nil, "WebHook-Request-Origin", origin, "WebHook-Request-Rate", "120")
	}
	if r := ask(address, "eventgrid.azure.net"); r.status != 200 || r.header.Get("WebHook-Allowed-Origin") != "eventgrid.azure.net" || r.header.Get("WebHook-Allowed-Rate") != "*" || !strings.Contains(r.header.Get("Allow"), "POST") {
		h.t.Errorf("leave: %d %v", r.status, r.header)
	}
	for _, r := range []reply{ask(address, "eventemitter.example.com"), ask(h.url+"/in/shopify", "eventgrid.azure.net"), ask(h.url+"/in/none", "eventgrid.azure.net")} {
		if r.status < 400 || r.header.Get("WebHook-Allowed-Origin") != "" {
			h.t.Errorf("no leave: %d %v", r.status, r.header)
		}
	}
	if h.Count(h.t, "deliveries WHERE source = 'cloudevents' AND headers LIKE '%OPTIONS%'") != 0 {
		h.t.Error("a question is no delivery")
	}
}

// Nothing is posted to a starter.
func TestStarterTakesNoPost(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.readySource("starter")
	if r := h.send(h.url+"/in/starter", []byte(`{}`)); r.status != http.StatusNotFound {
		t.Errorf("%d %s", r.status, r.raw)
	}
}
