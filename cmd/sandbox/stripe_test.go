package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestStripeInvoiceGoesThroughItsSteps(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	const v1 = "/stripe/v1/"
	draft := p.form(v1+"invoices", "customer=cus_1&currency=eur&metadata[operation_id]=op_1", key, "op_1")
	id, _ := draft.at("id").(string)
	if draft.at("status") != "draft" || draft.at("total") != 0.0 || draft.at("livemode") != false {
		t.Fatal(draft.raw)
	}
	p.wantStatus(p.form(v1+"invoices/"+id+"/send", "", key, "early"), http.StatusBadRequest)
	p.wantStatus(p.form(v1+"invoiceitems", "customer=cus_1&invoice="+id+"&amount=700", key, "op_2"), http.StatusOK)
	p.wantStatus(p.form(v1+"invoiceitems", "customer=cus_1&invoice="+id+"&amount=-200", key, "op_3"), http.StatusOK)
	final := p.form(v1+"invoices/"+id+"/finalize", "auto_advance=false", key, "op_4")
	if final.at("status") != "open" || final.at("total") != 500.0 || final.at("number") == nil {
		t.Fatal(final.raw)
	}
	for path, body := range map[string]string{"invoices/" + id + "/finalize": "", "invoiceitems": "customer=cus_1&amount=1&invoice=" + id} {
		g := p.form(v1+path, body)
		p.wantStatus(g, http.StatusBadRequest)
		if g.at("error", "code") != "invoice_not_editable" {
			t.Fatal(g.raw)
		}
	}
	p.wantStatus(p.form(v1+"invoices/"+id+"/send", "", key, "op_5"), http.StatusOK)
	p.wantEffects(destStripe, "op_5", 1)
	p.wantEffects(destStripe, "", 5)

	// Each event shows the object as it was, and names the key of its request.
	for kind, want := range map[string][2]string{"invoice.created": {"draft", "op_1"}, "invoice.finalized": {"open", "op_4"}, "invoice.sent": {"open", "op_5"}} {
		data := p.get(v1 + "events?type=" + kind).at("data").([]any)
		event := data[0].(map[string]any)
		object, request := event["data"].(map[string]any)["object"].(map[string]any), event["request"].(map[string]any)
		if len(data) != 1 || object["status"] != want[0] || request["idempotency_key"] != want[1] || object["id"] != id {
			t.Errorf("%s: %v", kind, event)
		}
	}
	if now := p.get(v1 + "invoices/" + id); now.at("status") != "open" || now.at("total") != 500.0 {
		t.Error(now.raw)
	}
	if list := p.get(v1 + "invoices?status=draft"); len(list.at("data").([]any)) != 0 {
		t.Error(list.raw)
	}
}

func TestStripeRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	for body, code := range map[string]string{
		"invoices customer=c&colour=red":          "parameter_unknown",
		"invoices currency=eur":                   "parameter_missing",
		"invoices customer=c&days_until_due=soon": "parameter_invalid_integer",
		"coupons id=x":                            "parameter_missing",
		"promotion_codes code=x":                  "parameter_missing",
		"promotion_codes promotion[type]=coupon&promotion[coupon]=nobody": "resource_missing",
		"invoices/in_none/finalize auto_advance=false":                    "resource_missing",
		"invoices/in_none/send expand=x":                                  "parameter_unknown",
	} {
		path, form, _ := strings.Cut(body, " ")
		g := p.form("/stripe/v1/"+path, form)
		if g.status < 400 || g.status > 404 || g.at("error", "code") != code || g.at("error", "type") != "invalid_request_error" {
			t.Errorf("%s: %d %s", body, g.status, g.raw)
		}
	}
	p.wantEffects(destStripe, "", 0)
}

func TestStripePromotionCodesAreUniqueWhateverTheirCase(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	p.wantStatus(p.form("/stripe/v1/coupons", "id=base&percent_off=10"), http.StatusOK)
	const promotion = "promotion[type]=coupon&promotion[coupon]=base"
	p.wantStatus(p.form("/stripe/v1/promotion_codes", "code=Spring&"+promotion), http.StatusOK)
	p.wantStatus(p.form("/stripe/v1/promotion_codes", "code=SPRING&"+promotion), http.StatusBadRequest)
	if g := p.get("/stripe/v1/promotion_codes?code=spring"); len(g.at("data").([]any)) != 1 {
		t.Error(g.raw)
	}
}

func TestStripeSearchLags(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	p.effect(destStripe)
	path := "/stripe/v1/invoices/search?query=" + url.QueryEscape("metadata['operation_id']:'op_1'")
	if g := p.get(path); len(g.at("data").([]any)) != 0 {
		t.Error(g.raw)
	}
	p.control("clock", `{"advance":"61s"}`)
	if g := p.get(path); len(g.at("data").([]any)) != 1 {
		t.Error(g.raw)
	}
}
