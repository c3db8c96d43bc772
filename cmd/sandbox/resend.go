package main

import (
	"net/http"
	"slices"
)

// Resend: mail.go's rules for keys and tags. The list has no filter and shows
// neither tags nor texts, so that a mail is found by its own ID only.

const destResend = "resend"

func (s *sandbox) routeResend(mux *http.ServeMux) {
	mux.HandleFunc("POST /resend/emails", s.endpoint(destResend, onEffect, sendEmail))
	mux.HandleFunc("GET /resend/emails", s.endpoint(destResend, onLookup, listResend))
	mux.HandleFunc("GET /resend/emails/{id}", s.endpoint(destResend, onLookup, readResend))
}

func listResend(c *call) answer {
	q := c.request.URL.Query()
	for name := range q {
		if !slices.Contains([]string{"limit", "after", "before"}, name) {
			return mailError(http.StatusUnprocessableEntity, "validation_error", "The list has no parameter "+name+".")
		}
	}
	all := c.sandbox.ledger.list(destResend, "")
	slices.Reverse(all)
	shown := []map[string]any{}
	for _, e := range all {
		entry := map[string]any{}
		for _, name := range []string{"id", "to", "from", "subject", "created_at", "last_event"} {
			entry[name] = e.Fields[name]
		}
		shown = append(shown, entry)
	}
	if after := q.Get("after"); after != "" {
		shown = shown[slices.IndexFunc(shown, func(m map[string]any) bool { return m["id"] == after })+1:]
	}
	page := shown[:min(len(shown), max(1, queryNumber(q.Get("limit"), 20, 100)))]
	return jsonAnswer(http.StatusOK, map[string]any{"object": "list", "has_more": len(shown) > len(page), "data": page})
}

func readResend(c *call) answer {
	e, ok := c.sandbox.ledger.find(destResend, effectEmail, c.request.PathValue("id"))
	if !ok {
		return mailAPI.failure(http.StatusNotFound, "Email not found.")
	}
	return jsonAnswer(http.StatusOK, e.Fields)
}
