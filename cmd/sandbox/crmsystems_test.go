package main

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
)

func TestSalesforceUpsert(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	const task = "/salesforce/services/data/v68.0/sobjects/Task/"
	patch := func(path, body string) got { return p.do("PATCH", path, "application/json", body) }

	first := patch(task+"Holdpoint_Operation__c/op_1", `{"Subject":"Call"}`)
	p.wantStatus(first, http.StatusCreated)
	again := patch(task+"Holdpoint_Operation__c/op_1", `{"Subject":"Call again"}`)
	if again.status != http.StatusOK || again.at("created") != false || again.at("id") != first.at("id") {
		t.Fatal(again.raw)
	}
	p.wantStatus(patch(strings.Replace(task, "v68.0", "v45.0", 1)+"Holdpoint_Operation__c/op_1", `{"Subject":"Old"}`), http.StatusNoContent)
	p.wantEffects(destSalesforce, "op_1", 1)
	if g := p.get(task + "Holdpoint_Operation__c/op_1"); g.at("Subject") != "Old" || g.at("Id") != first.at("id") {
		t.Error(g.raw)
	}
	q := "/salesforce/services/data/v68.0/query?q=" + url.QueryEscape("SELECT Id, Subject FROM Task WHERE Holdpoint_Operation__c = 'op_1'")
	if g := p.get(q); g.at("totalSize") != 1.0 || !strings.Contains(g.raw, `"Subject":"Old"`) {
		t.Error(g.raw)
	}
	for path, body := range map[string]string{
		task + "Holdpoint_Operation__c/op_2": `{"Subject":"x","Holdpoint_Operation__c":"op_2"}`,
		task + "Holdpoint_Operation__c/op_3": `{"Colour":"red"}`,
		task + "Holdpoint_Operation__c/op_4": `[]`,
		task + "Other__c/op_5":               `{"Subject":"x"}`,
	} {
		if g := patch(path, body); g.status != http.StatusBadRequest && g.status != http.StatusNotFound || !strings.HasPrefix(g.raw, `[{"errorCode"`) {
			t.Errorf("%s %s: %d %s", path, body, g.status, g.raw)
		}
	}
	p.wantEffects(destSalesforce, "", 1)

	p.control("faults", `{"destination":"salesforce","fault":"ignore_idempotency"}`)
	p.wantStatus(patch(task+"Holdpoint_Operation__c/op_1", `{"Subject":"Twin"}`), http.StatusCreated)
	p.wantStatus(patch(task+"Holdpoint_Operation__c/op_1", `{"Subject":"Third"}`), http.StatusMultipleChoices)
	p.wantStatus(p.get(task+"Holdpoint_Operation__c/op_1"), http.StatusMultipleChoices)
	p.wantEffects(destSalesforce, "op_1", 2)
	if g := p.json("/salesforce/services/data/v68.0/sobjects/Task", `{"Subject":"x","Holdpoint_Operation__c":"OP_1"}`); g.status != http.StatusBadRequest || !strings.Contains(g.raw, "DUPLICATE_VALUE") {
		t.Error(g.raw)
	}
}

func TestHubSpotUniquePropertyAndSearch(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	const tasks = "/hubspot/crm/v3/objects/tasks"
	const create = `{"properties":{"holdpoint_operation_id":"op_9","hs_task_subject":"Call","hs_timestamp":"1764583200000"},"associations":[]}`
	first := p.json(tasks, create)
	p.wantStatus(first, http.StatusCreated)
	if again := p.json(tasks, create); again.status != http.StatusBadRequest || again.at("category") != "VALIDATION_ERROR" {
		t.Error(again.raw)
	}
	upsert := p.json(tasks+"/batch/upsert", `{"inputs":[
		{"idProperty":"holdpoint_operation_id","id":"op_9","objectWriteTraceId":"a","properties":{"hs_task_subject":"Other","hs_timestamp":"2026-12-01T10:00:00Z"}},
		{"idProperty":"holdpoint_operation_id","id":"op_8","objectWriteTraceId":"b","properties":{"hs_task_subject":"No date"}}]}`)
	p.wantStatus(upsert, http.StatusMultiStatus)
	results, _ := upsert.at("results").([]any)
	if len(results) != 1 || results[0].(map[string]any)["new"] != false || upsert.at("numErrors") != 1.0 {
		t.Fatal(upsert.raw)
	}
	read := p.get(tasks + "/op_9?idProperty=holdpoint_operation_id")
	if read.at("properties", "hs_task_subject") != "Other" || read.at("id") != first.at("id") {
		t.Error(read.raw)
	}
	p.wantStatus(p.get(tasks+"/op_8?idProperty=holdpoint_operation_id"), http.StatusNotFound)
	p.wantStatus(p.get(tasks+"/op_9?idProperty=hs_task_subject"), http.StatusBadRequest)
	p.wantEffects(destHubSpot, "", 1)

	const search = `{"filterGroups":[{"filters":[{"propertyName":"holdpoint_operation_id","operator":"EQ","value":"op_9"}]}]}`
	if g := p.json(tasks+"/search", search); g.at("total") != 0.0 {
		t.Error(g.raw)
	}
	p.control("clock", `{"advance":"11s"}`)
	if g := p.json(tasks+"/search", search); g.at("total") != 1.0 {
		t.Error(g.raw)
	}
}

func TestShopifyCodesAndTriggers(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	const graph = "/shopify/admin/api/2026-10/graphql.json"
	made := p.effect(destShopify)
	if made.at("data", "discountCodeBasicCreate", "codeDiscountNode", "id") == nil {
		t.Fatal(made.raw)
	}
	if g := p.effect(destShopify); !strings.Contains(g.raw, `"code":"TAKEN"`) || g.status != http.StatusOK {
		t.Error(g.raw)
	}
	find := p.json(graph, `{"query":"query F($code: String!) { codeDiscountNodeByCode(code: $code) { id } }","variables":{"code":"spring"}}`)
	if find.at("data", "codeDiscountNodeByCode", "id") == nil {
		t.Error(find.raw)
	}
	log := p.sb.requests.of(destShopify)
	if !log[2].Lookup || log[0].Lookup || strings.Contains(strings.Join(log[0].Headers.Values("X-Shopify-Access-Token"), ""), "test") {
		t.Errorf("log %+v", log)
	}
	// An ID with slashes leads to a page of its own.
	_, link, _ := strings.Cut(p.get("/?destination=shopify").raw, `href="/shopify/view/`)
	link, _, _ = strings.Cut(link, `"`)
	if g := p.get("/shopify/view/" + link); g.status != http.StatusOK || !strings.Contains(g.raw, "DiscountCodeNode") {
		t.Errorf("%s: %d", link, g.status)
	}
	// A fault that is meant for effects is not used up by the query, and the other way round.
	p.control("faults", `{"destination":"shopify","fault":"drop_before_execute","on":"lookup"}`)
	p.wantStatus(p.json(graph, `{"query":"mutation T($h: String, $p: JSON) { flowTriggerReceive(handle: $h, payload: $p) { userErrors { message } } }","variables":{"h":"x","p":{}}}`), http.StatusOK)
	if g := p.json(graph, `{"query":"{ codeDiscountNode(id: $id) { id } }","variables":{}}`); g.err == nil {
		t.Error(g.raw)
	}
	for name, body := range map[string]string{
		"blank": `{"code":"","title":"x"}`, "no title": `{"code":"A"}`, "percentage": `{"code":"A","title":"x","customerGets":{"value":{"percentage":10}}}`,
	} {
		g := p.json(graph, `{"query":"mutation M($i: DiscountCodeBasicInput!) { discountCodeBasicCreate(basicCodeDiscount: $i) { userErrors { code } } }","variables":{"i":`+body+`}}`)
		if errs, _ := g.at("data", "discountCodeBasicCreate", "userErrors").([]any); len(errs) != 1 || g.status != http.StatusOK {
			t.Errorf("%s: %s", name, g.raw)
		}
	}
	p.wantEffects(destShopify, "", 2)
}

// Twenty at once make one, wherever something is unique.
func TestUniqueHoldsUnderConcurrency(t *testing.T) {
	t.Parallel()
	for _, destination := range []string{destShopify, destHubSpot, destSalesforce} {
		t.Run(destination, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t)
			var wg sync.WaitGroup
			for range 20 {
				wg.Go(func() { p.effect(destination) })
			}
			wg.Wait()
			p.wantEffects(destination, "op_1", 1)
		})
	}
}
