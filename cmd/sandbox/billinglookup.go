package main

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// readObject answers GET …/{id}, directly and without lag.
func readObject(kind string) func(*call) answer {
	return func(c *call) answer {
		id := c.request.PathValue("id")
		e, ok := c.sandbox.ledger.find(destBilling, kind, id)
		if !ok {
			return missing(kind, id)
		}
		return jsonAnswer(http.StatusOK, e.Fields)
	}
}

func missing(kind, id string) answer {
	return billingError(http.StatusNotFound, "invalid_request_error", "resource_missing", fmt.Sprintf("No such %s: %s", kind, id), "id")
}

// billed gives the billing effects that keep accepts, newest first.
func (c *call) billed(keep func(effect) bool) []effect {
	all := c.sandbox.ledger.list(destBilling, "")
	slices.Reverse(all)
	return slices.DeleteFunc(all, func(e effect) bool { return !keep(e) })
}

// listInvoices reads directly. Filters: customer, status, created[gte].
func listInvoices(c *call) answer {
	q := c.request.URL.Query()
	since := createdSince(q)
	found := c.billed(func(e effect) bool {
		return e.Effect == effectInvoice && e.Time.Unix() >= since &&
			(q.Get("customer") == "" || text(e.Fields["customer"]) == q.Get("customer")) &&
			(q.Get("status") == "" || text(e.Fields["status"]) == q.Get("status"))
	})
	objects := make([]map[string]any, len(found))
	for i, e := range found {
		objects[i] = e.Fields
	}
	return c.listPage(objects)
}

func createdSince(q url.Values) int64 {
	n, err := strconv.ParseInt(q.Get("created[gte]"), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// listPage cuts a list, newest first, by limit (default 10, at most 100) and
// starting_after.
func (c *call) listPage(objects []map[string]any) answer {
	q := c.request.URL.Query()
	if after := q.Get("starting_after"); after != "" {
		at := slices.IndexFunc(objects, func(o map[string]any) bool { return text(o["id"]) == after })
		if at < 0 {
			return missing("object", after)
		}
		objects = objects[at+1:]
	}
	limit := max(1, queryNumber(q.Get("limit"), 10, 100))
	more := len(objects) > limit
	if more {
		objects = objects[:limit]
	}
	return jsonAnswer(http.StatusOK, map[string]any{
		"object": "list", "url": c.request.URL.Path, "has_more": more, "data": objects,
	})
}

// listEvents gives one event per effect; request.idempotency_key is the key the
// caller sent. Filters: type, created[gte]. Events are 30 days back at most.
func listEvents(c *call) answer {
	q := c.request.URL.Query()
	since := max(createdSince(q), c.now().Add(-30*24*time.Hour).Unix())
	found := c.billed(func(e effect) bool {
		return e.Time.Unix() >= since && (q.Get("type") == "" || q.Get("type") == e.Effect+".created")
	})
	events := make([]map[string]any, len(found))
	for i, e := range found {
		events[i] = eventOf(e)
	}
	return c.listPage(events)
}

func readEvent(c *call) answer {
	id := c.request.PathValue("id")
	found := c.billed(func(e effect) bool { return e.eventID == id })
	if len(found) == 0 {
		return missing("event", id)
	}
	return jsonAnswer(http.StatusOK, eventOf(found[0]))
}

func eventOf(e effect) map[string]any {
	var key any
	if e.Key != "" {
		key = e.Key
	}
	return map[string]any{
		"id": e.eventID, "object": "event", "type": e.Effect + ".created", "created": e.Time.Unix(), "livemode": false,
		"data":    map[string]any{"object": e.Fields},
		"request": map[string]any{"id": e.requestID, "idempotency_key": key},
	}
}

var searchTerm = regexp.MustCompile(`^\s*(?:metadata\[["']([^"'\]]+)["']\]|(customer|status))\s*:\s*["']([^"']*)["']\s*$`)

// searchInvoices asks the index, which lags. It understands one term:
// metadata['name']:'value', customer:'…' or status:'…'.
func searchInvoices(c *call) answer {
	query := c.request.URL.Query().Get("query")
	m := searchTerm.FindStringSubmatch(query)
	if m == nil {
		return billingError(http.StatusBadRequest, "invalid_request_error", "",
			fmt.Sprintf("The query %q is not understood; write metadata['name']:'value', customer:'…' or status:'…'.", query), "query")
	}
	until := c.now().Add(-c.searchLag())
	found := c.billed(func(e effect) bool {
		if e.Effect != effectInvoice || e.Time.After(until) {
			return false
		}
		if m[2] != "" {
			return text(e.Fields[m[2]]) == m[3]
		}
		metadata, _ := e.Fields["metadata"].(map[string]any)
		return text(metadata[m[1]]) == m[3]
	})
	objects := []map[string]any{}
	for _, e := range found[:min(len(found), max(1, queryNumber(c.request.URL.Query().Get("limit"), 10, 100)))] {
		objects = append(objects, e.Fields)
	}
	return jsonAnswer(http.StatusOK, map[string]any{
		"object": "search_result", "url": c.request.URL.Path, "total_count": len(found),
		"has_more": len(found) > len(objects), "next_page": nil, "data": objects,
	})
}
