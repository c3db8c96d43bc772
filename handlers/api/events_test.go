package api_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
)

func (h *house) apply(yaml string) {
	h.t.Helper()
	if _, err := h.Store.Apply(h.t.Context(), store.System("command"), []store.File{{Name: "a.yaml", Source: []byte(yaml)}}); err != nil {
		h.t.Fatal(err)
	}
}

const pager = `source: pager
title: {en: Pager}
kind: json
account: demo
environment: test
event_key: ${body.id}
topic: ${body.what}
`

func TestEvents(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	tok := h.token("events")
	ce := `{"specversion":"1.0","id":"e-1","source":"//shop","type":"newsletter.coupon","data":{"code":"EV-1","percent_off":5}}`
	first := h.want(h.post("/events", tok, ce, "Content-Type", "application/cloudevents+json"), http.StatusAccepted)
	if len(first.list("operations")) != 1 || first.text("verdict") != "accepted" {
		t.Fatalf("structured: %s", first.raw)
	}
	same := h.want(h.post("/events", tok, ce, "Content-Type", "application/cloudevents+json"), http.StatusAccepted)
	if same.list("operations")[0] != first.list("operations")[0] || same.text("verdict") != "repeated" {
		t.Errorf("again: %s", same.raw)
	}
	binary := h.want(h.post("/events", tok, `{"code":"EV-2","percent_off":5}`, "Ce-Specversion", "1.0", "Ce-Id", "e-2", "Ce-Source", "//shop", "Ce-Type", "newsletter.coupon"), http.StatusAccepted)
	if len(binary.list("operations")) != 1 {
		t.Errorf("binary: %s", binary.raw)
	}
	if r := h.want(h.post("/events", tok, `{"id":"x"}`), http.StatusBadRequest); r.text("code") != "source" {
		t.Errorf("plain JSON without a source for it: %s", r.raw)
	}
	h.apply(pager)
	plain := h.want(h.post("/events", tok, `{"id":7,"what":"alarm"}`), http.StatusOK)
	if plain.text("event") == "" || plain.text("reason") == "" {
		t.Errorf("plain JSON that triggers nothing: %s", plain.raw)
	}
	h.want(h.post("/events?source=pager", tok, `{"id":7,"what":"alarm"}`), http.StatusOK)
	if r := h.want(h.post("/events?source=pager", tok, `{"what":"alarm"}`), http.StatusBadRequest); r.text("code") != "event_key" {
		t.Errorf("without a key: %s", r.raw)
	}
	foreign := h.want(h.post("/events?source=api", h.token("events", []string{"plain-note"}), ce), http.StatusNotFound)
	missing := h.want(h.post("/events?source=nowhere", tok, ce), http.StatusNotFound)
	if foreign.raw != missing.raw {
		t.Errorf("foreign and missing differ: %s %s", foreign.raw, missing.raw)
	}
	// A source with a signature is not entered with a token alone.
	before := h.Count(t, "events")
	h.want(h.post("/events?source=form", tok, `{"submission":{"id":"f"}}`, "X-Form-Delivery", "d"), http.StatusUnauthorized)
	if n := h.Count(t, "events"); n != before {
		t.Error("a token stood in for a signature")
	}
}

func TestCallbacks(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	tok, jobs := h.token("callbacks"), h.token("claims operations")
	id, att, f := h.claimed(jobs)
	h.want(h.post("/attempts/"+att+"/dispatch", jobs, fence(f)), 200)
	h.want(h.post("/attempts/"+att+"/outcome", jobs, map[string]any{"fence": f, "outcome": "unknown"}), 200)

	h.want(h.post("/callbacks/billing", tok, map[string]any{"kind": "news", "operation": id, "note": "kim@example.test"}), 200)
	if s := h.State(t, id); s != operation.Unknown {
		t.Errorf("news changed the state to %s", s)
	}
	if n := h.Count(t, "evidence WHERE kind = 'callback' AND body LIKE '%kim@%'"); n != 0 || h.Count(t, "evidence WHERE kind = 'callback'") != 1 {
		t.Error("the callback is not kept, or not masked")
	}
	h.want(h.post("/callbacks/billing", tok, map[string]any{"kind": "effect", "operation": id, "reference": "cb-1"}), 200)
	if s := h.State(t, id); s != operation.Confirmed {
		t.Errorf("proof of the effect left it %s", s)
	}
	byReference := h.want(h.post("/callbacks/billing/", tok, map[string]any{"kind": "news", "reference": "cb-1"}), 200)
	if byReference.text("operation") != string(id) {
		t.Errorf("by reference: %s", byReference.raw)
	}
	h.want(h.post("/callbacks/crm", tok, map[string]any{"kind": "news", "operation": id}), http.StatusNotFound)
	h.want(h.post("/callbacks/nowhere", tok, map[string]any{"kind": "news", "operation": id}), http.StatusNotFound)
	for _, body := range []string{`{"kind":"exploded","operation":"x"}`, `{"kind":"news"}`, `{}`, `{"kind":"news","reference":"a b"}`} {
		h.want(h.post("/callbacks/billing", tok, body), http.StatusUnprocessableEntity)
	}
	h.want(h.post("/callbacks/billing", tok, `{"kind":7}`), http.StatusBadRequest)

	// A mail provider's notices, with our operation's ID in the tags.
	mail := h.want(h.post("/operations", jobs, `{"flow":"campaign-follow-up","inputs":{"customer_ref":"C","email":"kim@example.test","campaign":"Spring"}}`, "Idempotency-Key", "m"), 201).list("operations")[1].(string)
	notice := `{"type":"email.delivered","created_at":"2026-01-01T00:00:00Z","data":{"email_id":"em_1","tags":{"operation_id":"` + mail + `"},"to":["kim@example.test"]}}`
	r := h.want(h.post("/callbacks/mail", tok, notice, "Svix-Id", "msg_1"), 200)
	if r.body["recorded"] != true || h.Count(t, "operations WHERE id = $1 AND delivery = 'delivered' AND state = 'confirmed'", mail) != 1 {
		t.Errorf("delivered: %s", r.raw)
	}
	list := strings.Replace(strings.Replace(notice, `{"operation_id":"`+mail+`"}`, `[{"name":"operation_id","value":"`+mail+`"}]`, 1), "delivered", "bounced", 1)
	h.want(h.post("/callbacks/mail", tok, list), 200)
	if n := h.Count(t, "operations WHERE id = $1 AND delivery = 'bounced'", mail); n != 1 {
		t.Error("a bounce is not on the record")
	}
	elsewhere := strings.Replace(strings.Replace(notice, mail, "op_00000000000000000000000000", 1), "em_1", "em_2", 1)
	if r := h.want(h.post("/callbacks/mail", tok, elsewhere), 200); r.body["recorded"] != true || r.body["waiting"] != true || r.body["operation"] != nil {
		t.Errorf("a mail that is not known: %s", r.raw)
	}
}

// News may come before its operation is known. It is kept, whichever way it came, and acts
// once; a token that does not reach the whole destination keeps nothing and is told so.
func TestCallbacksWaitForTheirOperation(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	tok, jobs := h.token("callbacks"), h.token("claims operations")
	early := map[string]any{"kind": "effect", "reference": "cb-9"}
	for i := range 2 {
		if r := h.want(h.post("/callbacks/billing", tok, early), 200); r.body["waiting"] != true || h.Count(t, "news WHERE state = 'waiting' AND repeats = $1", i) != 1 {
			t.Errorf("early news: %s", r.raw)
		}
	}
	if n := h.Count(t, "history WHERE action = 'news_held' AND subject_id = 'billing' AND actor_kind = 'token'"); n != 1 {
		t.Errorf("%d entries say who passed it on", n)
	}
	id, att, f := h.claimed(jobs)
	h.want(h.post("/attempts/"+att+"/dispatch", jobs, fence(f)), 200)
	h.want(h.post("/attempts/"+att+"/outcome", jobs, map[string]any{"fence": f, "outcome": "confirmed", "target_reference": "cb-9", "proof": map[string]any{"code": "confirmed", "status": 200}}), 200)
	for range 2 {
		if r := h.want(h.post("/callbacks/billing", tok, early), 200); r.text("operation") != string(id) || r.body["waiting"] != nil {
			t.Errorf("its operation is known now: %s", r.raw)
		}
	}
	if n := h.Count(t, "news WHERE state = 'tied' AND operation_id = $1", string(id)); n != 1 || h.Count(t, "evidence WHERE kind = 'callback'") != 1 {
		t.Errorf("it acted more than once, or not at all: %d", n)
	}
	missing, elsewhere := map[string]any{"kind": "bounced", "operation": "op_00000000000000000000000000"}, map[string]any{"kind": "bounced", "operation": id}
	for _, limited := range []string{h.token("callbacks", []string{"campaign-follow-up"}), h.token("callbacks", nil, []string{"mail"})} {
		a, b := h.post("/callbacks/billing", limited, missing), h.post("/callbacks/billing", limited, elsewhere)
		if h.want(a, http.StatusNotFound); !strings.Contains(a.raw, "whole") && !strings.Contains(a.raw, "limited to no flow") || a.body["detail"] != b.body["detail"] {
			t.Errorf("a limited token: %s %s", a.raw, b.raw)
		}
	}
	// At its own destination it learns nothing about operations of other ones.
	if r := h.want(h.post("/callbacks/mail", h.token("callbacks", nil, []string{"mail"}), elsewhere), 200); r.body["waiting"] != true {
		t.Errorf("an operation of another destination: %s", r.raw)
	}
	h.want(h.post("/callbacks/billing", tok, map[string]any{"kind": "news", "operation": "op_1"}), http.StatusUnprocessableEntity)
	// Many at once, for one destination: none waits for another for ever.
	var all sync.WaitGroup
	for i := range 48 {
		all.Go(func() {
			if r := h.post("/callbacks/billing", tok, map[string]any{"kind": "news", "reference": "at-once-" + itoa(int64(i/2))}); r.status != 200 {
				t.Errorf("%d at once: %d %s", i, r.status, r.raw)
			}
		})
	}
	all.Wait()
	if n := h.Count(t, "news WHERE reference LIKE 'at-once-%' AND state = 'waiting' AND repeats = 1"); n != 24 {
		t.Errorf("%d pieces of news were kept, each once", n)
	}
}
