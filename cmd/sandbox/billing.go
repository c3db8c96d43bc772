package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Billing speaks like Stripe v1: forms in, JSON out. A key keeps the first
// answer from the moment execution began, errors included, for the retention;
// then the same key starts a new effect.

const (
	effectInvoice = "invoice"
	effectCoupon  = "coupon"
)

var billingAPI = api{failure: func(status int, message string) answer {
	kind := "invalid_request_error"
	if status >= 500 {
		kind = "api_error"
	}
	code := map[int]string{http.StatusTooManyRequests: "rate_limit"}[status]
	return billingError(status, kind, code, message, "")
}}

func billingError(status int, kind, code, message, param string) answer {
	inner := map[string]any{"type": kind, "message": message}
	if code != "" {
		inner["code"] = code
	}
	if param != "" {
		inner["param"] = param
	}
	return jsonAnswer(status, map[string]any{"error": inner})
}

var billingKeys = keyRules{
	maxLength: 255, replaysErrors: true, replayHeader: "Idempotent-Replayed",
	tooLong: func() answer {
		return billingError(http.StatusBadRequest, "invalid_request_error", "", "Idempotency keys are at most 255 characters long.", "")
	},
	mismatch: func(key string) answer {
		return billingError(http.StatusBadRequest, "idempotency_error", "",
			fmt.Sprintf("Keys for idempotent requests can only be used with the endpoint and parameters they were first used with. Key: %s", key), "")
	},
	busy: func(key string) answer {
		return billingError(http.StatusConflict, "idempotency_error", "idempotency_key_in_use",
			fmt.Sprintf("Another request with the key %s is still in progress.", key), "")
	},
}

func (s *sandbox) routeBilling(mux *http.ServeMux) {
	const v1 = "/billing/v1/"
	mux.HandleFunc("POST "+v1+"invoices", s.endpoint(destBilling, onEffect, billingHeaders(createInvoice)))
	mux.HandleFunc("POST "+v1+"coupons", s.endpoint(destBilling, onEffect, billingHeaders(createCoupon)))
	mux.HandleFunc("GET "+v1+"invoices", s.endpoint(destBilling, onLookup, billingHeaders(listInvoices)))
	mux.HandleFunc("GET "+v1+"invoices/search", s.endpoint(destBilling, onLookup, billingHeaders(searchInvoices)))
	mux.HandleFunc("GET "+v1+"invoices/{id}", s.endpoint(destBilling, onLookup, billingHeaders(readObject(effectInvoice))))
	mux.HandleFunc("GET "+v1+"coupons/{id}", s.endpoint(destBilling, onLookup, billingHeaders(readObject(effectCoupon))))
	mux.HandleFunc("GET "+v1+"events", s.endpoint(destBilling, onLookup, billingHeaders(listEvents)))
	mux.HandleFunc("GET "+v1+"events/{id}", s.endpoint(destBilling, onLookup, billingHeaders(readEvent)))
}

// billingHeaders adds what every answer of the API carries.
func billingHeaders(handle func(*call) answer) func(*call) answer {
	return func(c *call) answer {
		a := handle(c).with("Request-Id", c.requestID())
		if c.key != "" && c.request.Method == http.MethodPost {
			a = a.with("Idempotency-Key", c.key)
		}
		return a
	}
}

func (c *call) requestID() string { return fmt.Sprintf("req_%d", c.entry.Number) }

// fingerprint is what a key is bound to: endpoint and parameters, whatever their order.
func (c *call) fingerprint(parameters string) string {
	return c.request.Method + " " + c.request.URL.Path + "\n" + parameters
}

func createInvoice(c *call) answer {
	fields, values, refused := c.billingForm()
	if refused != nil {
		return *refused
	}
	if text(fields["customer"]) == "" {
		return billingError(http.StatusBadRequest, "invalid_request_error", "parameter_missing", "Missing required param: customer.", "customer")
	}
	return c.keyed(billingKeys, c.fingerprint(values.Encode()), func() answer {
		return c.createObject(effectInvoice, c.sandbox.ledger.nextID("in", "_"), uniqueNothing, fields, map[string]any{"status": "draft"})
	})
}

func createCoupon(c *call) answer {
	fields, values, refused := c.billingForm()
	if refused != nil {
		return *refused
	}
	percent, amount := text(fields["percent_off"]), text(fields["amount_off"])
	switch {
	case percent == "" && amount == "":
		return billingError(http.StatusBadRequest, "invalid_request_error", "parameter_missing", "Must provide percent_off or amount_off.", "percent_off")
	case amount != "" && text(fields["currency"]) == "":
		return billingError(http.StatusBadRequest, "invalid_request_error", "parameter_missing", "amount_off needs a currency.", "currency")
	}
	return c.keyed(billingKeys, c.fingerprint(values.Encode()), func() answer {
		id := text(fields["id"])
		if id == "" {
			id = c.sandbox.ledger.nextID("cpn", "_")
		}
		return c.createObject(effectCoupon, id, uniqueID, fields, map[string]any{"duration": "once", "valid": true})
	})
}

// billingForm reads the body. What is refused here was never executed.
func (c *call) billingForm() (map[string]any, url.Values, *answer) {
	refuse := func(message, param string) *answer {
		a := billingError(http.StatusBadRequest, "invalid_request_error", "", message, param)
		return &a
	}
	if kind := c.request.Header.Get("Content-Type"); !strings.HasPrefix(kind, "application/x-www-form-urlencoded") {
		return nil, nil, refuse(fmt.Sprintf("Requests are form-encoded (application/x-www-form-urlencoded), not %q.", kind), "")
	}
	fields, values, err := parseForm(string(c.body))
	if err != nil {
		return nil, nil, refuse(err.Error(), "")
	}
	if m := fields["metadata"]; m != nil {
		if _, isObject := m.(map[string]any); !isObject {
			return nil, nil, refuse("metadata is a set of keys: metadata[name]=value.", "metadata")
		}
	}
	return fields, values, nil
}

// createObject records the object and gives it as the answer. The reference is
// metadata[operation_id]; a coupon is also known by its own ID.
func (c *call) createObject(kind, id string, unique uniqueness, fields, defaults map[string]any) answer {
	now := c.now()
	object := map[string]any{"livemode": false, "metadata": map[string]any{}}
	for _, part := range []map[string]any{defaults, fields} {
		for name, v := range part {
			object[name] = v
		}
	}
	object["id"], object["object"], object["created"] = id, kind, now.Unix()
	metadata, _ := object["metadata"].(map[string]any)
	e := effect{
		Destination: destBilling, Effect: kind, ID: id, Reference: text(metadata["operation_id"]), Key: c.key,
		RequestHash: hashOf(c.body), Time: now, Fields: object,
		eventID: c.sandbox.ledger.nextID("evt", "_"), requestID: c.requestID(),
	}
	if kind == effectCoupon {
		e.aliases = []string{id}
		if e.Reference == "" {
			e.Reference = id
		}
	}
	if _, created := c.sandbox.ledger.add(e, unique); !created {
		return executed(billingError(http.StatusBadRequest, "invalid_request_error", "resource_already_exists",
			fmt.Sprintf("A %s with the ID %s already exists.", kind, id), "id"))
	}
	return executed(jsonAnswer(http.StatusOK, object))
}
