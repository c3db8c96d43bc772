package jobs

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"holdpoint/connector/connectortest"
	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/systems"
)

// triggerFiles are Shopify's profile as it ships, and a flow whose last stage is the one
// of the page for operators.
func (w *world) triggerFiles() []store.File {
	w.t.Helper()
	profile, err := fs.ReadFile(systems.Profiles(), "shopify.yaml")
	if err != nil {
		w.t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("..", "docs", "systems", "shopify-flow.md"))
	if err != nil {
		w.t.Fatal(err)
	}
	_, last, found := strings.Cut(string(page), "```yaml\n")
	last, _, _ = strings.Cut(last, "```")
	if !found || !strings.Contains(last, "action: flow_trigger") {
		w.t.Fatalf("the page holds no stage with the trigger: %s", last)
	}
	flow := `flow: shop
title: {en: Shop}
owner: {role: ops_owner}
reviewer: {role: ops_owner}
reexecution: {approvers: {role: ops_owner}, required: 1}
trigger: {source: test}
inputs: {type: object, required: [customer_ref], properties: {customer_ref: {type: string}}}
stages:
  - key: code
    destination: shopify
    action: discount_code
    content: {code: "${inputs.customer_ref}", title: Thank you, percent_off: "${10}", starts_at: "2026-12-01T10:00:00Z"}
    approval: {approvers: {role: approver}, required: 1, expires: 7d}
` + last
	local := strings.NewReplacer(`base_url: ${env("SHOPIFY_URL")}`, "base_url: "+w.box.URL+"/shopify\nlocal: true", "env: SHOPIFY_TOKEN", "env: HOLDPOINT_TEST_TOKEN",
		"settle_after: 2m", "settle_after: 100ms", "lag: 15s", "lag: 50ms")
	return []store.File{{Name: "shopify.yaml", Source: []byte(local.Replace(string(profile)))}, {Name: "flow.yaml", Source: []byte(flow)}}
}

// handOver receives what Flow handed over, answered with 200 and not asked for again, and
// approves both stages.
func (w *world) handOver(key string) []operation.ID {
	w.t.Helper()
	r, err := w.store.Receive(context.Background(), store.System("api"), store.Received{Source: "test", Account: "test", Topic: "t", EventKey: key,
		DeliveryKey: key, Body: []byte("{}"), Status: 200, Flow: "shop", RunKey: key, Author: store.Author{Kind: "token", ID: "tok_test"},
		Data: map[string]any{"customer_ref": key}})
	if err != nil || len(r.Operations) != 2 {
		w.t.Fatalf("receive: %v %+v", err, r)
	}
	for _, id := range r.Operations {
		w.approve(id)
	}
	return r.Operations
}

// The merchant's workflow goes on by a trigger that passes the same gate: once, after the
// stage before it; when its answer is lost, it is a person's and never sent again.
func TestFlowGoesOnByATrigger(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "2s")
	if _, err := w.store.Apply(context.Background(), store.System("command"), w.triggerFiles()); err != nil {
		t.Fatalf("apply: %v", err)
	}
	w.work()
	done := w.handOver("C-1001")
	w.untilState(done[0], operation.Confirmed)
	w.untilState(done[1], operation.Confirmed)
	for _, id := range done {
		w.effects("shopify", id, 1)
	}
	all := w.box.Ledger(t, "shopify", string(done[1]))
	if all[0].Effect != "flow_trigger" {
		t.Errorf("ledger %+v", all)
	}

	w.box.Fault(t, connectortest.Fault{Destination: "shopify", Fault: "drop_after_execute", Match: "flowTriggerReceive"})
	lost := w.handOver("C-1002")
	s := w.untilState(lost[1], operation.Review)
	if len(s.Attempts) != 1 || s.Attempts[0] != "unknown" || len(s.Lookups) != 0 {
		t.Errorf("%+v", s)
	}
	w.effects("shopify", lost[0], 1)
	w.effects("shopify", lost[1], 1)
	if n := len(w.box.Ledger(t, "shopify", "")); n != 4 {
		t.Errorf("%d effects of two codes and two triggers", n)
	}
}
