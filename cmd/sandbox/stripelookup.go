package main

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// stripes gives the effects that keep accepts, newest first.
func (c *call) stripes(keep func(effect) bool) []effect {
	all := c.sandbox.ledger.list(destStripe, "")
	slices.Reverse(all)
	return slices.DeleteFunc(all, func(e effect) bool { return !keep(e) })
}

// stripeInvoice gives an invoice as it is now: the draft, its items, and what was done
// with it since.
func (c *call) stripeInvoice(id string) (map[string]any, bool) {
	draft, ok := c.sandbox.ledger.find(destStripe, effectInvoice, id)
	if !ok {
		return nil, false
	}
	invoice, total := maps.Clone(draft.Fields), int64(0)
	for _, e := range c.stripes(func(e effect) bool { return e.Effect == effectInvoiceItem && text(e.Fields["invoice"]) == id }) {
		if n, isNumber := e.Fields["amount"].(int64); isNumber {
			total += n
		}
	}
	invoice["total"] = total
	if final, ok := c.sandbox.ledger.find(destStripe, effectFinalization, id); ok {
		for _, name := range []string{"status", "number", "auto_advance"} {
			invoice[name] = final.Fields[name]
		}
	}
	return invoice, true
}

func readStripeInvoice(c *call) answer {
	id := c.request.PathValue("id")
	invoice, ok := c.stripeInvoice(id)
	if !ok {
		return missing("invoice", id)
	}
	return jsonAnswer(http.StatusOK, invoice)
}

func readCoupon(c *call) answer {
	id := c.request.PathValue("id")
	e, ok := c.sandbox.ledger.find(destStripe, effectCoupon, id)
	if !ok {
		return missing("coupon", id)
	}
	return jsonAnswer(http.StatusOK, e.Fields)
}

// listStripeInvoices reads directly. Filters: customer, status, created[gte].
func listStripeInvoices(c *call) answer {
	q := c.request.URL.Query()
	since := createdSince(q)
	objects := []map[string]any{}
	for _, e := range c.stripes(func(e effect) bool { return e.Effect == effectInvoice && e.Time.Unix() >= since }) {
		invoice, _ := c.stripeInvoice(e.ID)
		if (q.Get("customer") == "" || text(invoice["customer"]) == q.Get("customer")) && (q.Get("status") == "" || text(invoice["status"]) == q.Get("status")) {
			objects = append(objects, invoice)
		}
	}
	return c.listPage(objects)
}

// listPromotionCodes reads directly, whatever the case of the code's letters.
func listPromotionCodes(c *call) answer {
	q := c.request.URL.Query()
	objects := []map[string]any{}
	for _, e := range c.stripes(func(e effect) bool { return e.Effect == effectPromotion }) {
		promotion, _ := e.Fields["promotion"].(map[string]any)
		switch {
		case q.Get("code") != "" && !strings.EqualFold(text(e.Fields["code"]), q.Get("code")):
		case q.Get("coupon") != "" && text(promotion["coupon"]) != q.Get("coupon"):
		case q.Get("active") != "" && text(e.Fields["active"]) != q.Get("active"):
		default:
			objects = append(objects, e.Fields)
		}
	}
	return c.listPage(objects)
}

// listStripeEvents gives one event per effect, newest first, 30 days back at most. Its
// object is as it was when the event came to be.
func listStripeEvents(c *call) answer {
	q := c.request.URL.Query()
	since := max(createdSince(q), c.now().Add(-30*24*time.Hour).Unix())
	events := []map[string]any{}
	for _, e := range c.stripes(func(e effect) bool {
		return e.Time.Unix() >= since && (q.Get("type") == "" || q.Get("type") == stripeEvents[e.Effect])
	}) {
		event := eventOf(e)
		event["type"] = stripeEvents[e.Effect]
		events = append(events, event)
	}
	return c.listPage(events)
}

// searchStripeInvoices asks the index, which lags, for one term as searchTerm knows it.
func searchStripeInvoices(c *call) answer {
	query := c.request.URL.Query().Get("query")
	m := searchTerm.FindStringSubmatch(query)
	if m == nil {
		return billingError(http.StatusBadRequest, "invalid_request_error", "", fmt.Sprintf("The query %q is not understood.", query), "query")
	}
	until := c.now().Add(-c.searchLag())
	objects := []map[string]any{}
	for _, e := range c.stripes(func(e effect) bool { return e.Effect == effectInvoice && !e.Time.After(until) }) {
		invoice, _ := c.stripeInvoice(e.ID)
		metadata, _ := invoice["metadata"].(map[string]any)
		if m[2] != "" && text(invoice[m[2]]) == m[3] || m[2] == "" && text(metadata[m[1]]) == m[3] {
			objects = append(objects, invoice)
		}
	}
	return jsonAnswer(http.StatusOK, map[string]any{
		"object": "search_result", "url": c.request.URL.Path, "has_more": false, "next_page": nil, "data": objects,
	})
}
