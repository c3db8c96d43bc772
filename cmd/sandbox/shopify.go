package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Shopify's Admin API speaks GraphQL: errors come inside a 200. A discount code is
// unique in the shop whatever the case of its letters; a Flow trigger is protected by
// nothing and cannot be looked up.

const (
	destShopify    = "shopify"
	effectDiscount = "discount_code"
	effectTrigger  = "flow_trigger"
)

func shopifyFailure(status int, message string) answer {
	switch {
	case status >= 500:
		return graphError(status, "INTERNAL_SERVER_ERROR", message)
	case status == http.StatusTooManyRequests:
		return graphError(status, "THROTTLED", "Throttled")
	}
	return jsonAnswer(status, map[string]any{"errors": message})
}

func graphError(status int, code, message string) answer {
	return jsonAnswer(status, map[string]any{
		"errors":     []any{map[string]any{"message": message, "extensions": map[string]any{"code": code}}},
		"extensions": graphCost,
	})
}

// graphCost is what every answer tells about the caller's limits.
var graphCost = map[string]any{"cost": map[string]any{
	"requestedQueryCost": 10, "actualQueryCost": 10,
	"throttleStatus": map[string]any{"maximumAvailable": 2000.0, "currentlyAvailable": 1990, "restoreRate": 100.0},
}}

// shopifyAuthorized: the token has a header of its own.
func shopifyAuthorized(r *http.Request) bool {
	token := r.Header.Get("X-Shopify-Access-Token")
	return token != "" && token != "wrong"
}

func (s *sandbox) routeShopify(mux *http.ServeMux) {
	mux.HandleFunc("POST /shopify/admin/api/{version}/graphql.json", s.endpoint(destShopify, onEffect, shopifyGraph))
}

// graphPurpose tells a query, which only reads, from a mutation.
func graphPurpose(body []byte) string {
	var in graphRequest
	if json.Unmarshal(body, &in) == nil && graphQuery.MatchString(in.Query) {
		return onLookup
	}
	return onEffect
}

type graphRequest struct {
	Query         string         `json:"query"`
	OperationName string         `json:"operationName"`
	Variables     map[string]any `json:"variables"`
}

var (
	graphQuery = regexp.MustCompile(`^\s*(query\b|\{)`)
	graphField = regexp.MustCompile(`\b(discountCodeBasicCreate|flowTriggerReceive|codeDiscountNodeByCode|codeDiscountNode)\s*\(([^)]*)\)`)
	graphArg   = regexp.MustCompile(`(\w+)\s*:\s*\$(\w+)`)
)

// shopifyGraph answers the documents that it knows by their one field. Arguments must
// be variables.
func shopifyGraph(c *call) answer {
	var in graphRequest
	if err := json.Unmarshal(c.body, &in); err != nil || in.Query == "" {
		return jsonAnswer(http.StatusBadRequest, map[string]any{"errors": map[string]any{"query": "Required parameter missing or invalid"}})
	}
	m := graphField.FindStringSubmatch(in.Query)
	if m == nil {
		return graphError(http.StatusOK, "undefinedField", "Only the fields of this sandbox are known.")
	}
	args := map[string]any{}
	for _, a := range graphArg.FindAllStringSubmatch(m[2], -1) {
		args[a[1]] = in.Variables[a[2]]
	}
	switch m[1] {
	case "discountCodeBasicCreate":
		return c.createDiscount(args)
	case "flowTriggerReceive":
		return c.receiveTrigger(args)
	case "codeDiscountNodeByCode":
		return c.discountNode(m[1], func(e effect) bool { return slices.Contains(e.aliases, discountAlias(text(args["code"]))) })
	}
	return c.discountNode(m[1], func(e effect) bool { return e.ID == text(args["id"]) })
}

func graphData(field string, v any) answer {
	return jsonAnswer(http.StatusOK, map[string]any{"data": map[string]any{field: v}, "extensions": graphCost})
}

func userError(code, field, message string) map[string]any {
	return map[string]any{"field": []string{"basicCodeDiscount", field}, "message": message, "code": code, "extraInfo": nil}
}

func discountAlias(code string) string { return "code:" + strings.ToLower(code) }

func (c *call) createDiscount(args map[string]any) answer {
	const field = "discountCodeBasicCreate"
	refuse := func(problems ...any) answer {
		return graphData(field, map[string]any{"codeDiscountNode": nil, "userErrors": problems})
	}
	input, _ := args["basicCodeDiscount"].(map[string]any)
	if input == nil {
		return graphError(http.StatusOK, "INVALID_VARIABLE", "Variable $input of type DiscountCodeBasicInput! was provided invalid value")
	}
	if problems := discountProblems(input); len(problems) > 0 {
		return refuse(problems...)
	}
	return c.execute(func() answer {
		now, code := c.now(), text(input["code"])
		id := c.sandbox.ledger.nextID("gid://shopify/DiscountCodeNode/", "")
		tags, _ := input["tags"].([]any)
		discount := map[string]any{
			"title": input["title"], "tags": append([]any{}, tags...), "status": "ACTIVE", "createdAt": now.Format(time.RFC3339),
			"codes": map[string]any{"nodes": []any{map[string]any{"code": code}}},
		}
		e := effect{
			Destination: destShopify, Effect: effectDiscount, ID: id, Key: c.key, RequestHash: hashOf(c.body), Time: now,
			Fields: map[string]any{"id": id, "codeDiscount": discount}, aliases: []string{discountAlias(code)},
		}
		for _, tag := range tags {
			if strings.HasPrefix(text(tag), "op_") {
				e.Reference = text(tag)
			}
		}
		if _, added := c.sandbox.ledger.add(e, uniqueAlias); !added {
			return executed(refuse(userError("TAKEN", "code", "Code must be unique. Please try a different code.")))
		}
		return executed(graphData(field, map[string]any{"codeDiscountNode": e.Fields, "userErrors": []any{}}))
	})
}

// discountProblems are the refusals that a shop gives before it saves anything.
func discountProblems(input map[string]any) []any {
	var out []any
	gets, _ := input["customerGets"].(map[string]any)
	value, _ := gets["value"].(map[string]any)
	percentage, given := value["percentage"].(float64)
	switch {
	case text(input["code"]) == "":
		out = append(out, userError("BLANK", "code", "Code can't be blank"))
	case text(input["title"]) == "":
		out = append(out, userError("BLANK", "title", "Title can't be blank"))
	case given && (percentage <= 0 || percentage > 1):
		out = append(out, userError("VALUE_OUTSIDE_RANGE", "percentage", "Value must be between 0.0 and 1.0"))
	case len(text(input["code"])) > 255:
		out = append(out, userError("TOO_LONG", "code", "Code is too long"))
	}
	return out
}

// discountNode reads directly, without the search index.
func (c *call) discountNode(field string, is func(effect) bool) answer {
	for _, e := range c.sandbox.ledger.list(destShopify, "") {
		if e.Effect == effectDiscount && !e.Deleted && is(e) {
			return graphData(field, e.Fields)
		}
	}
	return graphData(field, nil)
}

func (c *call) receiveTrigger(args map[string]any) answer {
	const field = "flowTriggerReceive"
	handle := text(args["handle"])
	if payload, isObject := args["payload"].(map[string]any); handle == "" || !isObject || payload == nil {
		return graphData(field, map[string]any{"userErrors": []any{map[string]any{
			"field": []string{"handle"}, "message": fmt.Sprintf("Errors validating schema: handle %q, payload.", handle)}}})
	}
	return c.execute(func() answer {
		c.sandbox.ledger.add(effect{
			Destination: destShopify, Effect: effectTrigger, ID: c.sandbox.ledger.nextID("flow", "-"),
			Reference: c.request.Header.Get("X-Holdpoint-Operation"), Key: c.key, RequestHash: hashOf(c.body), Time: c.now(),
			Fields: map[string]any{"handle": handle, "payload": args["payload"]},
		}, uniqueNothing)
		return executed(graphData(field, map[string]any{"userErrors": []any{}}))
	})
}
