package systems_test

import (
	"strings"
	"testing"

	"holdpoint/connector/connectortest"
	"holdpoint/operation"
)

// TAKEN leads to a lookup: ours after a lost answer, else what blocks is shown.
func TestShopifyCodeIsTaken(t *testing.T) {
	t.Parallel()
	h := shopify(t, "discount_code")
	box := connectortest.StartSandbox(t)
	c := h.Connect(t, box.URL, nil)

	o := h.Order(t, box.URL)
	box.Fault(t, connectortest.Fault{Destination: "shopify", Fault: "stall_after_execute", Delay: 1e6})
	if r := act(c, o); r.Outcome != unknown {
		t.Fatalf("%+v", r)
	}
	if r := act(c, o); r.Outcome != unknown || !r.Lookup || r.TargetReference != "" {
		t.Errorf("repeat: %+v", r)
	}
	f := look(c, o)
	if f.Result != operation.LookupOne || !strings.HasPrefix(f.ID, "gid://shopify/DiscountCodeNode/") || effects(t, box, h, o) != 1 {
		t.Errorf("ours: %+v", f)
	}
	if !strings.HasSuffix(f.URL, "/admin/discounts/"+strings.TrimPrefix(f.ID, "gid://shopify/DiscountCodeNode/")) {
		t.Errorf("link %q", f.URL)
	}

	content := h.Content(99)
	theirs := h.OrderOf(t, box.URL, h.Action, content)
	if r := act(c, theirs); r.Outcome != confirmed {
		t.Fatalf("%+v", r)
	}
	content["code"] = strings.ToLower(content["code"].(string)) // unique whatever the case
	ours := h.OrderOf(t, box.URL, h.Action, content)
	if r := act(c, ours); r.Outcome != unknown || !r.Lookup {
		t.Errorf("somebody else's: %+v", r)
	}
	if f := look(c, ours); f.Result != operation.LookupMismatch || f.ID == "" || effects(t, box, h, ours) != 0 {
		t.Errorf("somebody else's: %+v", f)
	}
	if f := look(c, h.Order(t, box.URL)); f.Result != operation.LookupNone {
		t.Errorf("never sent: %+v", f)
	}
}

// Errors come inside a 200; only those that are documented to come before the effect
// prove anything.
func TestShopifyErrorsInsideA200(t *testing.T) {
	t.Parallel()
	box := connectortest.StartSandbox(t)
	const null = `{"data":{"discountCodeBasicCreate":{"codeDiscountNode":null,"userErrors":[{"field":null,"message":"x","code":%}]}}}`
	const throttled = `{"errors":[{"message":"Throttled","extensions":{"code":"THROTTLED"}}],"extensions":{"cost":{"requestedQueryCost":10,"actualQueryCost":null}}}`
	for name, w := range map[string]struct {
		action, body string
		want         operation.Outcome
		code         string
	}{
		"invalid":           {"discount_code", strings.Replace(null, "%", `"INVALID"`, 1), notStarted, "validation"},
		"too long":          {"discount_code", strings.Replace(null, "%", `"TOO_LONG"`, 1), notStarted, "validation"},
		"taken":             {"discount_code", strings.Replace(null, "%", `"TAKEN"`, 1), unknown, "already_exists"},
		"internal":          {"discount_code", strings.Replace(null, "%", `"INTERNAL_ERROR"`, 1), unknown, "internal_error"},
		"no code":           {"discount_code", strings.Replace(null, "%", `null`, 1), unknown, "internal_error"},
		"throttled":         {"discount_code", throttled, notStarted, "throttled"},
		"throttled, data":   {"discount_code", strings.Replace(throttled, `{"errors"`, `{"data":{"discountCodeBasicCreate":null},"errors"`, 1), unknown, ""},
		"internal server":   {"discount_code", `{"errors":[{"message":"x","extensions":{"code":"INTERNAL_SERVER_ERROR"}}]}`, unknown, ""},
		"both":              {"discount_code", `{"errors":[{"message":"x"}],"data":{"discountCodeBasicCreate":{"codeDiscountNode":{"id":"gid://shopify/DiscountCodeNode/1"},"userErrors":[]}}}`, unknown, ""},
		"another's node":    {"discount_code", `{"data":{"discountCodeBasicCreate":{"codeDiscountNode":{"id":"gid://shopify/DiscountCodeNode/1","codeDiscount":{"tags":["op_other"]}},"userErrors":[]}}}`, unknown, "reference_missing"},
		"trigger throttled": {"flow_trigger", throttled, notStarted, "throttled"},
		"trigger refused":   {"flow_trigger", `{"data":{"flowTriggerReceive":{"userErrors":[{"field":["handle"],"message":"no such trigger"}]}}}`, notStarted, "validation"},
		"trigger, nothing":  {"flow_trigger", `{"data":{"flowTriggerReceive":null}}`, unknown, ""},
	} {
		h := shopify(t, w.action)
		c := h.Connect(t, box.URL, nil)
		o := h.Order(t, box.URL)
		box.Fault(t, connectortest.Fault{Destination: "shopify", Fault: "error_in_200", Body: w.body})
		if r := act(c, o); r.Outcome != w.want || w.code != "" && r.Proof.Code != w.code {
			t.Errorf("%s: %s %+v", name, r.Outcome, r.Proof)
		}
	}
	if n := len(box.Ledger(t, "shopify", "")); n != 0 {
		t.Errorf("%d effects", n)
	}
}

// A Flow trigger is protected by nothing and cannot be looked up: two requests are two.
func TestShopifyFlowTriggerIsUnprotected(t *testing.T) {
	t.Parallel()
	h := shopify(t, "flow_trigger")
	box := connectortest.StartSandbox(t)
	c := h.Connect(t, box.URL, nil)
	o := h.Order(t, box.URL)
	if first, second := act(c, o), act(c, o); first.Outcome != confirmed || second.Outcome != confirmed {
		t.Errorf("%+v %+v", first, second)
	}
	a, err := h.Profile.Action(h.Action)
	if err != nil {
		t.Fatal(err)
	}
	if n := effects(t, box, h, o); n != 2 || a.HasLookup() || a.Protection().Key || a.Unique != "" {
		t.Errorf("%d effects; %+v", n, a.Protection())
	}
}
