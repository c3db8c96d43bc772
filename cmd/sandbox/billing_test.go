package main

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
)

const key = "Idempotency-Key"

func TestBillingInvoices(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	made := p.effect(destBilling, key, "k1")
	p.wantStatus(made, http.StatusOK)
	id, _ := made.at("id").(string)
	if made.at("object") != "invoice" || made.at("status") != "draft" || made.at("metadata", "operation_id") != "op_1" ||
		made.header.Get(key) != "k1" || made.header.Get("Request-Id") == "" {
		t.Fatalf("%s %v", made.raw, made.header)
	}

	t.Run("Reads", func(t *testing.T) {
		p.wantStatus(p.get("/billing/v1/invoices/"+id), http.StatusOK)
		none := p.get("/billing/v1/invoices/in_none")
		p.wantStatus(none, http.StatusNotFound)
		if none.at("error", "code") != "resource_missing" {
			t.Fatal(none.raw)
		}
		if g := p.get("/billing/v1/invoices?customer=cus_1"); len(g.at("data").([]any)) != 1 {
			t.Fatal(g.raw)
		}
		if g := p.get("/billing/v1/invoices?customer=cus_2"); len(g.at("data").([]any)) != 0 {
			t.Fatal(g.raw)
		}
	})

	t.Run("EventCarriesTheKey", func(t *testing.T) {
		g := p.get("/billing/v1/events?type=invoice.created")
		event := g.at("data").([]any)[0].(map[string]any)
		request, object := event["request"].(map[string]any), event["data"].(map[string]any)["object"].(map[string]any)
		if request["idempotency_key"] != "k1" || object["id"] != id || event["type"] != "invoice.created" {
			t.Fatal(g.raw)
		}
		p.wantStatus(p.get("/billing/v1/events/"+event["id"].(string)), http.StatusOK)
		if g := p.get("/billing/v1/events?type=coupon.created"); len(g.at("data").([]any)) != 0 {
			t.Fatal(g.raw)
		}
	})

	t.Run("SearchLagsByDefault", func(t *testing.T) {
		path := "/billing/v1/invoices/search?query=" + url.QueryEscape("metadata['operation_id']:'op_1'")
		p.control("settings", `{"destination":"billing","index_lag":"1h"}`)
		if g := p.get(path); len(g.at("data").([]any)) != 0 {
			t.Fatal(g.raw)
		}
		p.control("clock", `{"advance":"61m"}`)
		if g := p.get(path); len(g.at("data").([]any)) != 1 {
			t.Fatal(g.raw)
		}
		p.wantStatus(p.get("/billing/v1/invoices/search?query=x"), http.StatusBadRequest)
	})

	t.Run("Pages", func(t *testing.T) {
		for range 11 {
			p.form("/billing/v1/invoices", "customer=cus_pages")
		}
		first := p.get("/billing/v1/invoices?customer=cus_pages")
		data := first.at("data").([]any)
		if len(data) != 10 || first.at("has_more") != true {
			t.Fatal(first.raw)
		}
		last, _ := data[9].(map[string]any)["id"].(string)
		rest := p.get("/billing/v1/invoices?customer=cus_pages&starting_after=" + last)
		if len(rest.at("data").([]any)) != 1 || rest.at("has_more") != false {
			t.Fatal(rest.raw)
		}
	})
}

func TestBillingCoupons(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	body := "id=op_9&percent_off=10"
	p.wantStatus(p.form("/billing/v1/coupons", body), http.StatusOK)
	again := p.form("/billing/v1/coupons", body)
	p.wantStatus(again, http.StatusBadRequest)
	if again.at("error", "code") != "resource_already_exists" {
		t.Fatal(again.raw)
	}
	p.wantStatus(p.get("/billing/v1/coupons/op_9"), http.StatusOK)
	p.wantEffects(destBilling, "op_9", 1)

	named := p.form("/billing/v1/coupons", "id=SUMMER&amount_off=500&currency=eur&metadata[operation_id]=op_10")
	p.wantStatus(named, http.StatusOK)
	p.wantEffects(destBilling, "op_10", 1)
	p.wantEffects(destBilling, "SUMMER", 1)
}

func TestBillingRefusesBeforeExecution(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ path, kind, body, param string }{
		"JSON":                {"invoices", "application/json", `{"customer":"c"}`, ""},
		"no customer":         {"invoices", "application/x-www-form-urlencoded", "description=x", "customer"},
		"metadata no keys":    {"invoices", "application/x-www-form-urlencoded", "customer=c&metadata=x", "metadata"},
		"brackets":            {"invoices", "application/x-www-form-urlencoded", "customer=c&metadata[x=1", ""},
		"value and object":    {"invoices", "application/x-www-form-urlencoded", "customer=c&a=1&a[b]=2", ""},
		"no discount":         {"coupons", "application/x-www-form-urlencoded", "id=x", "percent_off"},
		"amount, no currency": {"coupons", "application/x-www-form-urlencoded", "amount_off=1", "currency"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t)
			g := p.do("POST", "/billing/v1/"+c.path, c.kind, c.body, key, "k")
			p.wantStatus(g, http.StatusBadRequest)
			if g.at("error", "type") != "invalid_request_error" || c.param != "" && g.at("error", "param") != c.param {
				t.Fatal(g.raw)
			}
			p.wantEffects(destBilling, "", 0)
			// The refusal was not stored under the key.
			p.wantStatus(p.effect(destBilling, key, "k"), http.StatusOK)
		})
	}
}

func TestBillingIdempotency(t *testing.T) {
	t.Parallel()

	t.Run("ReplaysTheFirstAnswer", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		first, again := p.effect(destBilling, key, "k"), p.effect(destBilling, key, "k")
		p.wantStatus(again, http.StatusOK)
		if first.raw != again.raw || again.header.Get("Idempotent-Replayed") != "true" || first.header.Get("Idempotent-Replayed") != "" {
			t.Fatalf("%s %s", first.raw, again.raw)
		}
		reordered := p.form("/billing/v1/invoices", "metadata[operation_id]=op_1&customer=cus_1", key, "k")
		if reordered.raw != first.raw {
			t.Fatalf("the order of parameters must not matter: %s", reordered.raw)
		}
		p.wantEffects(destBilling, "op_1", 1)
	})

	t.Run("WithoutKeyARepeatIsASecondEffect", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		p.effect(destBilling)
		p.effect(destBilling)
		p.wantEffects(destBilling, "op_1", 2)
	})

	t.Run("MismatchIsRefused", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		p.effect(destBilling, key, "k")
		for _, g := range []got{
			p.form("/billing/v1/invoices", "customer=cus_2", key, "k"),
			p.form("/billing/v1/coupons", "percent_off=5", key, "k"),
		} {
			p.wantStatus(g, http.StatusBadRequest)
			if g.at("error", "type") != "idempotency_error" {
				t.Fatal(g.raw)
			}
		}
		p.wantEffects(destBilling, "", 1)
	})

	t.Run("ReplaysAStoredError", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		p.control("faults", `{"destination":"billing","fault":"status_after_execute"}`)
		first, again := p.effect(destBilling, key, "k"), p.effect(destBilling, key, "k")
		p.wantStatus(first, http.StatusInternalServerError)
		p.wantStatus(again, http.StatusInternalServerError)
		if again.raw != first.raw || again.header.Get("Idempotent-Replayed") != "true" || again.at("error", "type") != "api_error" {
			t.Fatal(again.raw)
		}
		p.wantEffects(destBilling, "op_1", 1)
	})

	t.Run("ReplaysARefusalOfTheExecution", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		p.form("/billing/v1/coupons", "id=C&percent_off=5")
		p.wantStatus(p.form("/billing/v1/coupons", "id=C&percent_off=5", key, "k"), http.StatusBadRequest)
		again := p.form("/billing/v1/coupons", "id=C&percent_off=5", key, "k")
		if again.header.Get("Idempotent-Replayed") != "true" {
			t.Fatal(again.header)
		}
	})

	t.Run("StoresNothingBeforeExecution", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		p.control("faults", `{"destination":"billing","fault":"status_before_execute","status":500}`)
		p.control("faults", `{"destination":"billing","fault":"retry_after","delay":"3s"}`)
		p.wantStatus(p.effect(destBilling, key, "k"), http.StatusInternalServerError)
		limited := p.effect(destBilling, key, "k")
		p.wantStatus(limited, http.StatusTooManyRequests)
		if limited.header.Get("Retry-After") != "3" {
			t.Fatal(limited.header)
		}
		p.wantStatus(p.effect(destBilling, key, "k", "Authorization", "Bearer wrong"), http.StatusUnauthorized)
		p.wantEffects(destBilling, "", 0)
		p.wantStatus(p.effect(destBilling, key, "k"), http.StatusOK)
	})

	t.Run("ConcurrentRequestIsToldToWait", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		p.control("faults", `{"destination":"billing","fault":"slow","delay":"300ms","times":0}`)
		answers := make(chan got, 2)
		for range 2 {
			go func() { answers <- p.effect(destBilling, key, "k") }()
		}
		second, first := <-answers, <-answers
		p.wantStatus(first, http.StatusOK)
		p.wantStatus(second, http.StatusConflict)
		if second.at("error", "code") != "idempotency_key_in_use" {
			t.Fatal(second.raw)
		}
		p.wantEffects(destBilling, "op_1", 1)
	})

	t.Run("KeyLength", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		p.wantStatus(p.effect(destBilling, key, strings.Repeat("k", 256)), http.StatusBadRequest)
		p.wantStatus(p.effect(destBilling, key, strings.Repeat("k", 255)), http.StatusOK)
	})

	t.Run("PrunedKeyStartsANewEffect", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		p.effect(destBilling, key, "k")
		p.control("clock", `{"advance":"23h59m"}`)
		p.effect(destBilling, key, "k")
		p.wantEffects(destBilling, "op_1", 1)
		p.control("clock", `{"advance":"2m"}`)
		fresh := p.effect(destBilling, key, "k")
		if fresh.header.Get("Idempotent-Replayed") != "" {
			t.Fatal("a pruned key was replayed")
		}
		p.wantEffects(destBilling, "op_1", 2)
	})

	t.Run("RetentionIsSettable", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		p.control("settings", `{"destination":"billing","retention":"3s"}`)
		p.effect(destBilling, key, "k")
		p.control("clock", `{"advance":"3s"}`)
		p.effect(destBilling, key, "k")
		p.wantEffects(destBilling, "op_1", 2)
	})

	t.Run("IgnoredKeyMakesTwo", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		p.control("faults", `{"destination":"billing","fault":"ignore_idempotency","times":0}`)
		p.effect(destBilling, key, "k")
		p.effect(destBilling, key, "k")
		p.wantEffects(destBilling, "op_1", 2)
	})

	t.Run("TwentyAtOnceMakeOne", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() { p.effect(destBilling, key, "k") })
		}
		wg.Wait()
		p.wantEffects(destBilling, "op_1", 1)
	})
}
