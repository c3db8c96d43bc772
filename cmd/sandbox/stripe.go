package main

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Stripe v1: invoices in four steps (draft, items, finalize, send), coupons and
// promotion codes. A key keeps the first answer once execution began, errors
// included. Every effect has an event that names the key of its request.

const (
	destStripe         = "stripe"
	effectInvoiceItem  = "invoice_item"
	effectFinalization = "invoice_finalization"
	effectInvoiceMail  = "invoice_mail"
	effectPromotion    = "promotion_code"
)

// stripeEvents are the types of the events that tell of each effect.
var stripeEvents = map[string]string{
	effectInvoice: "invoice.created", effectInvoiceItem: "invoiceitem.created", effectFinalization: "invoice.finalized",
	effectInvoiceMail: "invoice.sent", effectCoupon: "coupon.created", effectPromotion: "promotion_code.created",
}

// stripeFailure words an error; a declined card is a payment that was tried.
func stripeFailure(status int, message string) answer {
	if status == http.StatusPaymentRequired {
		return billingError(status, "card_error", "card_declined", message, "")
	}
	return billingAPI.failure(status, message)
}

func (s *sandbox) routeStripe(mux *http.ServeMux) {
	const v1 = "/stripe/v1/"
	act := func(path string, handle func(*call) answer) {
		mux.HandleFunc("POST "+v1+path, s.endpoint(destStripe, onEffect, billingHeaders(handle)))
	}
	read := func(path string, handle func(*call) answer) {
		mux.HandleFunc("GET "+v1+path, s.endpoint(destStripe, onLookup, billingHeaders(handle)))
	}
	act("invoices", draftInvoice)
	act("invoiceitems", addInvoiceItem)
	act("invoices/{id}/finalize", finalizeInvoice)
	act("invoices/{id}/send", sendInvoice)
	act("coupons", addCoupon)
	act("promotion_codes", addPromotionCode)
	read("invoices", listStripeInvoices)
	read("invoices/search", searchStripeInvoices)
	read("invoices/{id}", readStripeInvoice)
	read("coupons/{id}", readCoupon)
	read("promotion_codes", listPromotionCodes)
	read("events", listStripeEvents)
}

// stripeParameters are the parameters that each call takes; another one is refused.
var stripeParameters = map[string]string{
	effectInvoice:      "auto_advance collection_method currency customer days_until_due description due_date metadata number pending_invoice_items_behavior",
	effectInvoiceItem:  "amount currency customer description invoice metadata",
	effectFinalization: "auto_advance",
	effectInvoiceMail:  "",
	effectCoupon:       "amount_off currency duration duration_in_months id max_redemptions metadata name percent_off redeem_by",
	effectPromotion:    "active code customer expires_at max_redemptions metadata promotion",
}

// stripeForm reads the parameters of a call. What is refused here was never executed.
func (c *call) stripeForm(kind string, required ...string) (map[string]any, url.Values, *answer) {
	if kind == effectInvoiceMail && len(c.body) == 0 {
		return map[string]any{}, url.Values{}, nil
	}
	fields, values, refused := c.billingForm()
	if refused != nil {
		return nil, nil, refused
	}
	known := strings.Fields(stripeParameters[kind])
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(known, name) {
			a := billingError(http.StatusBadRequest, "invalid_request_error", "parameter_unknown", "Received unknown parameter: "+name, name)
			return nil, nil, &a
		}
	}
	for _, name := range required {
		if fields[name] == nil || fields[name] == "" {
			a := billingError(http.StatusBadRequest, "invalid_request_error", "parameter_missing", "Missing required param: "+name+".", name)
			return nil, nil, &a
		}
	}
	for _, name := range []string{"amount", "amount_off", "days_until_due", "max_redemptions", "percent_off", "duration_in_months"} {
		if v, given := fields[name].(string); given {
			n, err := strconv.ParseInt(v, 10, 64)
			if err != nil {
				a := billingError(http.StatusBadRequest, "invalid_request_error", "parameter_invalid_integer", "Invalid integer: "+v, name)
				return nil, nil, &a
			}
			fields[name] = n
		}
	}
	if v, given := fields["auto_advance"].(string); given {
		fields["auto_advance"] = v == "true"
	}
	return fields, values, nil
}

func draftInvoice(c *call) answer {
	fields, values, refused := c.stripeForm(effectInvoice, "customer")
	if refused != nil {
		return *refused
	}
	return c.keyed(billingKeys, c.fingerprint(values.Encode()), func() answer {
		return c.addStripe(effectInvoice, "invoice", c.sandbox.ledger.nextID("in", "_"), uniqueNothing, fields,
			map[string]any{"status": "draft", "number": nil, "total": 0, "auto_advance": false, "collection_method": "charge_automatically"})
	})
}

func addInvoiceItem(c *call) answer {
	fields, values, refused := c.stripeForm(effectInvoiceItem, "customer")
	if refused != nil {
		return *refused
	}
	return c.keyed(billingKeys, c.fingerprint(values.Encode()), func() answer {
		if id := text(fields["invoice"]); id != "" {
			invoice, ok := c.stripeInvoice(id)
			switch {
			case !ok:
				return executed(missing("invoice", id))
			case invoice["status"] != "draft":
				return executed(billingError(http.StatusBadRequest, "invalid_request_error", "invoice_not_editable", "The invoice is no draft any more.", "invoice"))
			}
		}
		return c.addStripe(effectInvoiceItem, "invoiceitem", c.sandbox.ledger.nextID("ii", "_"), uniqueNothing, fields, nil)
	})
}

// finalizeInvoice numbers the invoice. It happens once; a second time is refused.
func finalizeInvoice(c *call) answer {
	fields, values, refused := c.stripeForm(effectFinalization)
	if refused != nil {
		return *refused
	}
	id := c.request.PathValue("id")
	return c.keyed(billingKeys, c.fingerprint(values.Encode()), func() answer {
		invoice, ok := c.stripeInvoice(id)
		if !ok {
			return executed(missing("invoice", id))
		}
		invoice["status"], invoice["number"] = "open", "SBX-"+strings.ToUpper(strings.TrimPrefix(id, "in_"))
		if invoice["total"] == int64(0) {
			invoice["status"] = "paid"
		}
		if v, given := fields["auto_advance"]; given {
			invoice["auto_advance"] = v
		}
		if _, added := c.addStripeEffect(effectFinalization, id, uniqueID, invoice); !added {
			return executed(billingError(http.StatusBadRequest, "invalid_request_error", "invoice_not_editable",
				"This invoice is already finalized, you can't re-finalize a non-draft invoice.", ""))
		}
		return executed(jsonAnswer(http.StatusOK, invoice))
	})
}

// sendInvoice mails the invoice: each time, a mail.
func sendInvoice(c *call) answer {
	_, values, refused := c.stripeForm(effectInvoiceMail)
	if refused != nil {
		return *refused
	}
	id := c.request.PathValue("id")
	return c.keyed(billingKeys, c.fingerprint(values.Encode()), func() answer {
		invoice, ok := c.stripeInvoice(id)
		switch {
		case !ok:
			return executed(missing("invoice", id))
		case invoice["status"] == "draft":
			return executed(billingError(http.StatusBadRequest, "invalid_request_error", "", "A draft cannot be sent; finalize it first.", ""))
		}
		c.addStripeEffect(effectInvoiceMail, id, uniqueNothing, invoice)
		return executed(jsonAnswer(http.StatusOK, invoice))
	})
}

func addCoupon(c *call) answer {
	fields, values, refused := c.stripeForm(effectCoupon)
	if refused != nil {
		return *refused
	}
	if fields["percent_off"] == nil && (fields["amount_off"] == nil || fields["currency"] == nil) {
		return billingError(http.StatusBadRequest, "invalid_request_error", "parameter_missing", "Must provide percent_off, or amount_off and currency.", "percent_off")
	}
	return c.keyed(billingKeys, c.fingerprint(values.Encode()), func() answer {
		id := text(fields["id"])
		if id == "" {
			id = c.sandbox.ledger.nextID("cpn", "_")
		}
		return c.addStripe(effectCoupon, "coupon", id, uniqueID, fields, map[string]any{"duration": "once", "valid": true})
	})
}

// addPromotionCode keeps codes unique among the active ones, whatever their case.
func addPromotionCode(c *call) answer {
	fields, values, refused := c.stripeForm(effectPromotion, "promotion")
	if refused != nil {
		return *refused
	}
	promotion, _ := fields["promotion"].(map[string]any)
	return c.keyed(billingKeys, c.fingerprint(values.Encode()), func() answer {
		coupon := text(promotion["coupon"])
		if _, ok := c.sandbox.ledger.find(destStripe, effectCoupon, coupon); !ok {
			return executed(missing("coupon", coupon))
		}
		id := c.sandbox.ledger.nextID("promo", "_")
		if text(fields["code"]) == "" {
			fields["code"] = strings.ToUpper(strings.TrimPrefix(id, "promo_"))
		}
		return c.addStripe(effectPromotion, "promotion_code", id, uniqueAlias, fields, map[string]any{"active": true, "times_redeemed": 0})
	})
}

// addStripe records an object under its own ID and gives it as the answer.
func (c *call) addStripe(kind, object, id string, unique uniqueness, fields, defaults map[string]any) answer {
	out := map[string]any{"livemode": false, "metadata": map[string]any{}}
	maps.Copy(out, defaults)
	maps.Copy(out, fields)
	out["id"], out["object"], out["created"] = id, object, c.now().Unix()
	if _, added := c.addStripeEffect(kind, id, unique, out); !added {
		param := map[string]string{effectPromotion: "code"}[kind]
		return executed(billingError(http.StatusBadRequest, "invalid_request_error", "resource_already_exists",
			fmt.Sprintf("Another %s already has this name.", kind), cmpOr(param, "id")))
	}
	return executed(jsonAnswer(http.StatusOK, out))
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// addStripeEffect puts an effect into the ledger. Finalizing and sending carry no
// metadata: there the key is the caller's name for it.
func (c *call) addStripeEffect(kind, id string, unique uniqueness, object map[string]any) (effect, bool) {
	metadata, _ := object["metadata"].(map[string]any)
	e := effect{
		Destination: destStripe, Effect: kind, ID: id, Reference: text(metadata["operation_id"]), Key: c.key,
		RequestHash: hashOf(c.body), Time: c.now(), Fields: object,
		eventID: c.sandbox.ledger.nextID("evt", "_"), requestID: c.requestID(),
	}
	switch kind {
	case effectFinalization, effectInvoiceMail:
		e.Reference = c.key
	case effectPromotion:
		e.aliases = []string{"code:" + strings.ToLower(text(object["code"]))}
	}
	return c.sandbox.ledger.add(e, unique)
}
