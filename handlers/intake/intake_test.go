package intake_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"holdpoint/handlers/intake"
	"holdpoint/store"
)

// The worked vectors of the contracts, signed by somebody else.
func TestVectors(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.apply("source: flow-vector\ntitle: {en: Vector}\nkind: shopify_flow\naccount: x.myshopify.com\nenvironment: test\nsecrets: [{env: SHOPIFY_FLOW_SECRET}]\n")
	body := `{"shop_id":1,"shopify_domain":"x.myshopify.com","action_run_id":"b63199047e046bd08b41c3a545dfbc9086aa1354","handle":"create-task","properties":{"order_id":"1"}}`
	h.want(h.send(h.url+"/in/flow-vector", []byte(body), "X-Shopify-Hmac-Sha256", "9bscPODfx9TliW19NzID5+SldkuT2rB4140xu5jm4G8="), 200)
	if n := h.Count(t, "events WHERE event_key = 'b63199047e046bd08b41c3a545dfbc9086aa1354' AND topic = 'create-task'"); n != 1 {
		t.Error("the run ID is not the event's key")
	}
	h.apply("source: standard\ntitle: {en: Standard}\nkind: json\naccount: a\nenvironment: test\nsecrets: [{env: STANDARD_SECRET}]\nsignature: {scheme: standard_webhooks}\nevent_key: ${header[\"webhook-id\"]}\ntopic: test\n")
	old := h.serveWith(intake.Deps{Store: h.Store, Now: func() time.Time { return time.Unix(1614265330, 0) }})
	h.want(h.send(old+"/in/standard", []byte(`{"test": 2432232314}`), "Webhook-Id", "msg_p5jXN8AQM9LWM0D4loKWxJek", "Webhook-Timestamp", "1614265330",
		"Webhook-Signature", "v1,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="), 200)
}

func TestFlowAction(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	send := func(body []byte) reply {
		return h.send(h.url+"/in/shopify-flow", body, "X-Shopify-Hmac-Sha256", b64("hush", body))
	}
	first := h.want(send(flowAction("run-1")), 200)
	if len(first.body.Operations) != 2 || first.body.Verdict != "accepted" {
		t.Fatalf("answer: %s", first.raw)
	}
	again := h.want(send(flowAction("run-1")), 200)
	if again.body.Verdict != "repeated" || strings.Join(again.body.Operations, " ") != strings.Join(first.body.Operations, " ") {
		t.Errorf("a resend: %s", again.raw)
	}
	text := []byte(strings.Replace(string(flowAction("run-2")), `"shop_id":1`, `"shop_id":"1"`, 1))
	if r := h.want(send(text), 200); r.body.Verdict != "accepted" {
		t.Errorf("shop_id as text: %s", r.raw)
	}
	h.want(send(nil), http.StatusBadRequest)
	for _, method := range []string{"GET", "PUT", "DELETE", "OPTIONS"} {
		if r := h.request(method, h.url+"/in/shopify-flow", nil); r.status != http.StatusMethodNotAllowed || r.header.Get("Allow") != "POST" {
			t.Errorf("%s: %d", method, r.status)
		}
	}
	if r := h.send(h.url+"/in/no-such-source", flowAction("x")); r.status != http.StatusNotFound {
		t.Errorf("unknown source: %d", r.status)
	}
	h.apply("source: slow-flow\ntitle: {en: Slow}\nkind: shopify_flow\naccount: demo-shop.myshopify.com\nenvironment: test\nsecrets: [{env: SHOPIFY_FLOW_SECRET}]\nanswer: 202\n")
	body := flowAction("run-3")
	h.want(h.send(h.url+"/in/slow-flow", body, "X-Shopify-Hmac-Sha256", b64("hush", body)), http.StatusAccepted)
}

// FC-01: one event, twenty deliveries at once, two servers on one database.
func TestFieldCase01_OneEventTwentyDeliveries(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	urls := []string{h.url, h.serve(h.Open(t, h.AppURL))}
	body := flowAction("run-parallel")
	replies := make([]reply, 20)
	var wg sync.WaitGroup
	for i := range replies {
		wg.Go(func() {
			// a sender whose notification could not be handed over in time comes again
			for try := 0; try == 0 || replies[i].status == http.StatusServiceUnavailable && try < 5; try++ {
				replies[i] = h.send(urls[i%2]+"/in/shopify-flow", body, "X-Shopify-Hmac-Sha256", b64("hush", body), "X-Shopify-Webhook-Id", fmt.Sprintf("d-%d", i))
			}
		})
	}
	wg.Wait()
	accepted := 0
	for _, r := range replies {
		if r.status != 200 || len(r.body.Operations) != 2 || r.body.Operations[0] != replies[0].body.Operations[0] {
			t.Errorf("%d %s", r.status, r.raw)
		}
		if r.body.Verdict == "accepted" {
			accepted++
		}
	}
	if accepted != 1 || h.Count(t, "runs") != 1 || h.Count(t, "operations") != 2 || h.Count(t, "events") != 1 {
		t.Errorf("%d accepted, %d runs, %d operations", accepted, h.Count(t, "runs"), h.Count(t, "operations"))
	}
	if n := h.Count(t, "deliveries WHERE event_id IS NOT NULL"); n != 20 {
		t.Errorf("%d deliveries on the record", n)
	}
}

const hookFlow = `flow: order-note
title: {en: Order note}
owner: {role: ops_owner}
reviewer: {role: ops_owner}
reexecution: {approvers: {role: ops_owner}, required: 1}
trigger: {source: shopify, topic: orders/paid}
inputs: {type: object}
stages:
  - key: note
    destination: plain
    action: create_thing
    content: {topic: "${inputs.?name.orValue(\"order\")}", text: paid}
    approval: {approvers: {role: approver}, required: 1, expires: 72h}
`

// FC-02: one event through two subscriptions, and one delivery ID for two events.
func TestFieldCase02_DeliveryIdentityIsNotEventIdentity(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.apply(hookFlow)
	body := []byte(`{"id":1,"name":"#1001"}`)
	url := h.url + "/in/shopify"
	a := h.want(h.webhook(url, body, "orders/paid", "ev-1", "d-A", "X-Shopify-Name", "sub-1"), 200)
	b := h.want(h.webhook(url, body, "orders/paid", "ev-1", "d-B", "X-Shopify-Name", "sub-2"), 200)
	c := h.want(h.webhook(url, body, "orders/paid", "ev-1", "d-A", "X-Shopify-Name", "sub-1"), 200)
	if len(a.body.Operations) != 1 || b.body.Operations[0] != a.body.Operations[0] || c.body.Operations[0] != a.body.Operations[0] {
		t.Errorf("%s\n%s\n%s", a.raw, b.raw, c.raw)
	}
	if n := h.Count(t, "(SELECT DISTINCT subscription FROM deliveries WHERE event_id = $1) x", a.body.Event); n != 2 {
		t.Errorf("%d subscriptions on the record", n)
	}
	d := h.want(h.webhook(url, []byte(`{"id":2,"name":"#1002"}`), "orders/paid", "ev-2", "d-A"), 200)
	if len(d.body.Operations) != 1 || d.body.Operations[0] == a.body.Operations[0] {
		t.Errorf("two events under one delivery ID were merged: %s", d.raw)
	}
	// The topic belongs to the identity: Shopify gives several topics one event ID.
	e := h.want(h.webhook(url, body, "orders/updated", "ev-1", "d-C"), 200)
	if e.body.Event == a.body.Event || e.body.Verdict == "conflict" {
		t.Errorf("two topics were merged: %s", e.raw)
	}
	// The other family of header names.
	f := h.want(h.send(url, body, "Shopify-Topic", "orders/paid", "Shopify-Event-Id", "ev-1", "Shopify-Webhook-Id", "d-D", "Shopify-Shop-Domain", "demo-shop.myshopify.com",
		"Shopify-Hmac-Sha256", b64("hook", body)), 200)
	if f.body.Event != a.body.Event || f.body.Verdict != "repeated" {
		t.Errorf("the lower-case family: %s", f.raw)
	}
	h.apply("source: shopify-2\ntitle: {en: Second}\nkind: shopify_webhook\naccount: demo-shop.myshopify.com\nenvironment: test\nsecrets: [{env: SHOPIFY_WEBHOOK_SECRET}]\n")
	h.apply(strings.Replace(strings.Replace(hookFlow, "order-note", "order-note-2", 1), "source: shopify,", "source: shopify-2,", 1))
	g := h.want(h.webhook(h.url+"/in/shopify-2", body, "orders/paid", "ev-1", "d-A"), 200)
	if len(g.body.Operations) != 1 || g.body.Operations[0] == a.body.Operations[0] {
		t.Errorf("the same event ID of two sources was merged: %s", g.raw)
	}
}

// FC-03: the event's ID is missing, or another one on the retry.
func TestFieldCase03_EventIDMissingOrChanged(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, id := range []string{`null`, `""`, `"  "`, `true`, `{}`, `["a"]`} {
		r := h.want(h.form(`{"submission":{"id":`+id+`,"fields":{}}}`, "X-Form-Delivery", "d"), http.StatusBadRequest)
		if r.body.Code != "event_key" || r.body.Delivery == "" {
			t.Errorf("id %s: %s", id, r.raw)
		}
	}
	h.want(h.form(`{"submission":{"fields":{}}}`, "X-Form-Delivery", "d"), http.StatusBadRequest)
	if n := h.refused("event_key"); n != 7 {
		t.Errorf("%d refused deliveries on the record", n)
	}
	if r := h.want(h.form(`{"submission":{"id":123,"fields":{}}}`, "X-Form-Delivery", "d"), 200); r.body.Verdict != "accepted" {
		t.Errorf("a number as ID: %s", r.raw)
	}
	if n := h.Count(t, "events WHERE event_key = '123'"); n != 1 {
		t.Error("the number's own text is not the key")
	}
	one := `{"submission":{"id":"s-1","ticket":"T-9","fields":{"a":1}}}`
	two := `{"submission":{"id":"s-2","ticket":"T-9","fields":{"a":1}}}`
	h.want(h.form(one, "X-Form-Delivery", "d1"), 200)
	// The business key is remembered for ever; the second arrival comes 30 hours later.
	if _, err := h.Owner.ExecContext(t.Context(), `ALTER TABLE events DISABLE TRIGGER USER; UPDATE events SET received_at = received_at - interval '30 hours'; ALTER TABLE events ENABLE TRIGGER USER`); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if r := h.want(h.form(two, "X-Form-Delivery", "d2"), 200); r.body.Verdict != "held" || len(r.body.Operations) != 0 {
			t.Errorf("a possible duplicate: %s", r.raw)
		}
	}
	if r := h.want(h.form(one, "X-Form-Delivery", "d3"), 200); r.body.Verdict != "repeated" {
		t.Errorf("the first again: %s", r.raw)
	}
	if r := h.want(h.form(strings.Replace(one, `"a":1`, `"a":2`, 1), "X-Form-Delivery", "d4"), 200); r.body.Verdict != "conflict" {
		t.Errorf("same identity, other payload: %s", r.raw)
	}
}

// FC-04: "seen" is never written without the work.
func TestFieldCase04_NeverSeenWithoutTheWork(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	if _, err := h.Owner.ExecContext(t.Context(), `ALTER TABLE operations ADD CONSTRAINT sabotage CHECK (flow <> 'campaign-follow-up')`); err != nil {
		t.Fatal(err)
	}
	body := flowAction("run-lost")
	send := func() reply {
		return h.send(h.url+"/in/shopify-flow", body, "X-Shopify-Hmac-Sha256", b64("hush", body))
	}
	r := h.want(send(), http.StatusServiceUnavailable)
	if r.header.Get("Retry-After") == "" {
		t.Error("the sender is not told to come again")
	}
	if n := h.Count(t, "events") + h.Count(t, "deliveries") + h.Count(t, "runs"); n != 0 {
		t.Errorf("%d rows stayed of a hand-over that failed", n)
	}
	if _, err := h.Owner.ExecContext(t.Context(), `ALTER TABLE operations DROP CONSTRAINT sabotage`); err != nil {
		t.Fatal(err)
	}
	if r := h.want(send(), 200); r.body.Verdict != "accepted" || len(r.body.Operations) != 2 {
		t.Errorf("the redelivery: %s", r.raw)
	}
	// A database that does not answer in time: the sender hears so before it gives up.
	lock, err := h.Owner.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Rollback()
	if _, err := lock.ExecContext(t.Context(), `LOCK TABLE events IN ACCESS EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	impatient := h.serveWith(intake.Deps{Store: h.Store, Patience: 200 * time.Millisecond})
	other := flowAction("run-stalled")
	start := time.Now()
	h.want(h.send(impatient+"/in/shopify-flow", other, "X-Shopify-Hmac-Sha256", b64("hush", other)), http.StatusServiceUnavailable)
	if d := time.Since(start); d > 3*time.Second {
		t.Errorf("answered after %s", d)
	}
	if err := lock.Rollback(); err != nil {
		t.Fatal(err)
	}
	if r := h.want(h.send(h.url+"/in/shopify-flow", other, "X-Shopify-Hmac-Sha256", b64("hush", other)), 200); r.body.Verdict != "accepted" {
		t.Errorf("the redelivery after the stall: %s", r.raw)
	}
}

func TestTokenSource(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	token := func(scope string, flows ...string) string {
		t.Helper()
		_, secret, err := h.Store.AddToken(t.Context(), store.System("command"), store.NewToken{Name: "t", Scopes: []string{scope}, Flows: flows})
		if err != nil {
			t.Fatal(err)
		}
		return "Bearer " + secret
	}
	body := []byte(`{"code":"TOKEN-1","percent_off":5}`)
	binary := []string{"Ce-Specversion", "1.0", "Ce-Id", "a%20b", "Ce-Source", "//shop", "Ce-Type", "newsletter.coupon", "Ce-Time", "2026-01-02T03:04:05Z"}
	for name, auth := range map[string]string{"none": "", "nonsense": "Bearer x", "scope": token("read"), "another flow": token("events", "plain-note")} {
		r := h.send(h.url+"/in/api", body, append(binary, "Authorization", auth)...)
		if r.status != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", name, r.status, r.raw)
		}
	}
	good := token("events")
	r := h.want(h.send(h.url+"/in/api", body, append(binary, "Authorization", good)...), http.StatusAccepted)
	if len(r.body.Operations) != 1 {
		t.Fatalf("binary mode: %s", r.raw)
	}
	if n := h.Count(t, "events WHERE event_key = '//shop a b' AND event_time = '2026-01-02T03:04:05Z'"); n != 1 {
		t.Error("the attributes were not decoded exactly once")
	}
	structured := []byte(`{"specversion":"1.0","id":"s-1","source":"//shop","type":"newsletter.coupon","data":{"code":"TOKEN-2","percent_off":5}}`)
	r = h.want(h.send(h.url+"/in/api/", structured, "Content-Type", "application/CloudEvents+json; charset=utf-8", "Authorization", good), http.StatusAccepted)
	if len(r.body.Operations) != 1 {
		t.Errorf("structured mode: %s", r.raw)
	}
	h.want(h.send(h.url+"/in/api", structured, "Content-Type", "application/cloudevents-batch+json", "Authorization", good), http.StatusBadRequest)
	for _, missing := range []string{"Ce-Id", "Ce-Type", "Ce-Source", "Ce-Specversion"} {
		var without []string
		for i := 0; i < len(binary); i += 2 {
			if binary[i] != missing {
				without = append(without, binary[i], binary[i+1])
			}
		}
		if r := h.send(h.url+"/in/api", body, append(without, "Authorization", good)...); r.status != http.StatusBadRequest {
			t.Errorf("without %s: %d", missing, r.status)
		}
	}
	h.want(h.send(h.url+"/in/api", []byte(`{"code":"x"}`), append([]string{"Authorization", good, "Ce-Id", "bad"}, binary[4:]...)...), http.StatusBadRequest)
	refusal := append([]string{"Authorization", good, "Ce-Specversion", "1.0", "Ce-Id", "refused"}, binary[4:]...)
	if r := h.want(h.send(h.url+"/in/api", []byte(`{"code":"TOKEN-3"}`), refusal...), http.StatusUnprocessableEntity); !strings.Contains(r.raw, "percent_off") {
		t.Errorf("what is missing is not named: %s", r.raw)
	}
}
