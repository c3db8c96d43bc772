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

// Mail speaks like Resend: JSON in, an ID out. A key gives the same answer for
// the retention and sends no second mail. Accepted is not delivered: what
// became of a mail comes as a callback.

const effectEmail = "email"

var mailAPI = api{failure: func(status int, message string) answer {
	name := map[int]string{
		http.StatusBadRequest: "validation_error", http.StatusUnauthorized: "missing_api_key",
		http.StatusNotFound: "not_found", http.StatusUnprocessableEntity: "validation_error",
		http.StatusTooManyRequests: "rate_limit_exceeded",
	}[status]
	if name == "" {
		name = "application_error"
	}
	return mailError(status, name, message)
}}

func mailError(status int, name, message string) answer {
	return jsonAnswer(status, map[string]any{"statusCode": status, "name": name, "message": message})
}

var mailKeys = keyRules{
	maxLength: 256,
	tooLong: func() answer {
		return mailError(http.StatusBadRequest, "invalid_idempotency_key", "The idempotency key must have between 1 and 256 characters.")
	},
	mismatch: func(string) answer {
		return mailError(http.StatusConflict, "invalid_idempotent_request",
			"This idempotency key was used before on this endpoint, but the request body was modified.")
	},
	busy: func(string) answer {
		return mailError(http.StatusConflict, "concurrent_idempotent_requests", "A request with this idempotency key is still in progress.")
	},
}

func (s *sandbox) routeMail(mux *http.ServeMux) {
	mux.HandleFunc("POST /mail/emails", s.endpoint(destMail, onEffect, sendEmail))
	mux.HandleFunc("GET /mail/emails", s.endpoint(destMail, onLookup, listEmails))
	mux.HandleFunc("GET /mail/emails/{id}", s.endpoint(destMail, onLookup, readEmail))
}

// oneOrMany reads a field that is one text or a list of texts.
type oneOrMany []string

func (o *oneOrMany) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*o = oneOrMany{one}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(o))
}

type mailTag struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type mailOrder struct {
	From    string            `json:"from"`
	To      oneOrMany         `json:"to"`
	Subject string            `json:"subject"`
	Text    string            `json:"text"`
	HTML    string            `json:"html"`
	Headers map[string]string `json:"headers"`
	Tags    []mailTag         `json:"tags"`
}

var tagChars = regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`)

func (o mailOrder) check() *answer {
	refuse := func(name, message string) *answer {
		a := mailError(http.StatusUnprocessableEntity, name, message)
		return &a
	}
	required := []struct{ name, value string }{
		{"from", o.From}, {"to", strings.Join(o.To, "")}, {"subject", o.Subject}, {"text", o.Text + o.HTML},
	}
	for _, field := range required {
		if field.value == "" {
			return refuse("missing_required_field", fmt.Sprintf("Missing %q field.", field.name))
		}
	}
	if len(o.To) > 50 {
		return refuse("validation_error", "At most 50 recipients.")
	}
	for _, to := range o.To {
		if !strings.Contains(to, "@") {
			return refuse("validation_error", fmt.Sprintf("%q is no mail address.", to))
		}
	}
	for _, tag := range o.Tags {
		if !tagChars.MatchString(tag.Name) || !tagChars.MatchString(tag.Value) {
			return refuse("validation_error", "Tags have ASCII letters, digits, underscores and dashes only.")
		}
	}
	return nil
}

func (o mailOrder) tag(name string) string {
	for _, t := range o.Tags {
		if t.Name == name {
			return t.Value
		}
	}
	return ""
}

func sendEmail(c *call) answer {
	var order mailOrder
	var whole any
	if json.Unmarshal(c.body, &whole) != nil || json.Unmarshal(c.body, &order) != nil {
		return mailError(http.StatusUnprocessableEntity, "validation_error", "The body is not the JSON of a mail.")
	}
	if refused := order.check(); refused != nil {
		return *refused
	}
	if values := c.request.Header.Values("Idempotency-Key"); len(values) > 0 && values[0] == "" {
		return mailKeys.tooLong()
	}
	canonical, err := json.Marshal(whole)
	if err != nil {
		return mailError(http.StatusUnprocessableEntity, "validation_error", err.Error())
	}
	return c.keyed(mailKeys, c.fingerprint(string(canonical)), func() answer { return c.acceptEmail(order) })
}

func (c *call) acceptEmail(order mailOrder) answer {
	id, now := c.sandbox.ledger.nextID("em", "-"), c.now()
	e := effect{
		Destination: c.destination, Effect: effectEmail, ID: id, Reference: order.tag("operation_id"), Key: c.key,
		RequestHash: hashOf(c.body), Time: now,
		Fields: map[string]any{
			"id": id, "object": "email", "from": order.From, "to": []string(order.To), "subject": order.Subject,
			"text": order.Text, "html": order.HTML, "headers": order.Headers, "tags": order.Tags,
			"created_at": now.Format(time.RFC3339Nano), "last_event": "sent",
		},
	}
	for name, value := range order.Headers {
		if strings.EqualFold(name, "Message-ID") {
			e.Fields["message_id"] = value
			e.aliases = messageIDNames(value)
		}
	}
	c.sandbox.ledger.add(e, uniqueNothing)
	if c.destination == destMail {
		c.sandbox.callbacks.schedule(id)
	}
	return executed(jsonAnswer(http.StatusOK, map[string]any{"id": id}))
}

// messageIDNames gives a Message-ID without its angle brackets, and its local part.
func messageIDNames(id string) []string {
	id = strings.Trim(strings.TrimSpace(id), "<>")
	local, _, _ := strings.Cut(id, "@")
	if local == id {
		return []string{id}
	}
	return []string{id, local}
}

func readEmail(c *call) answer {
	id := c.request.PathValue("id")
	e, ok := c.sandbox.ledger.find(destMail, effectEmail, id)
	if !ok {
		return mailAPI.failure(http.StatusNotFound, "Email not found.")
	}
	return jsonAnswer(http.StatusOK, e.Fields)
}

// listEmails lists newest first, cut by limit and after. The search by tag,
// ?tag=name:value, is a convenience of the sandbox (Resend has no filter); it
// lags like a search.
func listEmails(c *call) answer {
	q := c.request.URL.Query()
	name, value, filtered := strings.Cut(q.Get("tag"), ":")
	until := c.now()
	if filtered {
		until = until.Add(-c.searchLag())
	}
	all := c.sandbox.ledger.list(destMail, "")
	slices.Reverse(all)
	found := []map[string]any{}
	for _, e := range all {
		tags, _ := e.Fields["tags"].([]mailTag)
		if !filtered || !e.Time.After(until) && slices.Contains(tags, mailTag{name, value}) {
			found = append(found, e.Fields)
		}
	}
	if after := q.Get("after"); after != "" {
		at := slices.IndexFunc(found, func(m map[string]any) bool { return m["id"] == after })
		found = found[at+1:]
	}
	limit := max(1, queryNumber(q.Get("limit"), 20, 100))
	page := found[:min(limit, len(found))]
	return jsonAnswer(http.StatusOK, map[string]any{"object": "list", "has_more": len(found) > len(page), "data": page})
}
