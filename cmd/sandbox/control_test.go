package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestControlRefuses(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	for name, c := range map[string]struct{ path, body, says string }{
		"unknown field":        {"faults", `{"destination":"crm","fault":"refuse","tmies":2}`, "times"},
		"unknown destination":  {"faults", `{"destination":"crn","fault":"refuse"}`, "crm, billing"},
		"unknown fault":        {"faults", `{"destination":"crm","fault":"explode"}`, "stall_after_execute"},
		"fault not there":      {"faults", `{"destination":"plain","fault":"index_lag"}`, "crm, billing, mail"},
		"SMTP without bodies":  {"faults", `{"destination":"smtp","fault":"cut_body"}`, "smtp"},
		"bad delay":            {"faults", `{"destination":"crm","fault":"slow","delay":"2 seconds"}`, "25h"},
		"delay as number":      {"faults", `{"destination":"crm","fault":"slow","delay":2}`, "25h"},
		"negative times":       {"faults", `{"destination":"crm","fault":"slow","times":-1}`, "until reset"},
		"bad status":           {"faults", `{"destination":"crm","fault":"status_before_execute","status":99}`, "200"},
		"redirect to 200":      {"faults", `{"destination":"crm","fault":"redirect","status":200}`, "308"},
		"refuse on the body":   {"faults", `{"destination":"crm","fault":"refuse","match":"op_1"}`, "before the body"},
		"bad on":               {"faults", `{"destination":"crm","fault":"refuse","on":"rcpt"}`, "lookup"},
		"SMTP early match":     {"faults", `{"destination":"smtp","fault":"drop_before_execute","match":"op_1"}`, "recipient"},
		"two values":           {"faults", `{"destination":"crm","fault":"refuse"}{}`, "more than one"},
		"no JSON":              {"faults", `fault=refuse`, "JSON object"},
		"retention of the CRM": {"settings", `{"destination":"crm","retention":"3s"}`, "billing, mail"},
		"lag of plain":         {"settings", `{"destination":"plain","index_lag":"3s"}`, "search"},
		"delivery of billing":  {"settings", `{"destination":"billing","auto_deliver":"3s"}`, "mail"},
		"callback of plain":    {"settings", `{"destination":"plain","callback_url":"http://x"}`, "mail"},
		"nothing set":          {"settings", `{"destination":"mail"}`, "nothing to set"},
		"clock backwards":      {"clock", `{"advance":"-1h"}`, "negative"},
	} {
		t.Run(name, func(t *testing.T) {
			g := p.json("/_control/"+c.path, c.body)
			p.wantStatus(g, http.StatusBadRequest)
			if message, _ := g.at("error").(string); !strings.Contains(message, c.says) {
				t.Fatalf("%q does not help: it should mention %q", message, c.says)
			}
		})
	}
	if left := p.sb.faults.all(); len(left) != 0 {
		t.Fatalf("a refused fault waits: %+v", left)
	}
}

func TestControlLedgerAndRequests(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	for destination := range effectRequests {
		if g := p.effect(destination, key, "k-"+destination); g.err != nil || g.status >= 300 {
			t.Fatalf("%s: %d %v", destination, g.status, g.err)
		}
	}
	p.wantEffects("", "op_1", len(effectRequests))
	p.wantEffects("", "", len(effectRequests))
	for destination, r := range effectRequests {
		list := p.effects(destination, "op_1")
		if len(list) != 1 || list[0].Key != "k-"+destination || list[0].RequestHash != hashOf([]byte(r.body)) || list[0].Time.IsZero() {
			t.Fatalf("%s: %+v", destination, list)
		}
	}
	g := p.get("/_control/requests?destination=mail")
	entry := g.at("requests").([]any)[0].(map[string]any)
	headers := entry["headers"].(map[string]any)
	if entry["method"] != "POST" || entry["path"] != "/mail/emails" || entry["body"] != effectRequests[destMail].body ||
		entry["status"] != 200.0 || headers["Authorization"].([]any)[0] != "Bearer ****" || headers["Idempotency-Key"].([]any)[0] != "k-mail" {
		t.Fatal(g.raw)
	}
	if strings.Contains(p.get("/_control/requests").raw, "Bearer test") {
		t.Fatal("the log shows the API key")
	}
}

func TestControlWait(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	if g := p.get("/_control/wait?destination=crm&effects=1&timeout=20ms"); g.at("reached") != false {
		t.Fatal(g.raw)
	}
	waiting := make(chan got, 1)
	go func() { waiting <- p.get("/_control/wait?destination=crm&effects=1&requests=1&timeout=4s") }()
	p.effect(destPlain)
	p.effect(destCRM)
	if g := <-waiting; g.at("reached") != true || g.at("effects") != 1.0 || g.at("requests") != 1.0 {
		t.Fatal(g.raw)
	}
	p.wantStatus(p.get("/_control/wait?destination=crm"), http.StatusBadRequest)
	p.wantStatus(p.get("/_control/wait?effects=1&timeout=x"), http.StatusBadRequest)
}

func TestControlReset(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	first := p.effect(destCRM).at("id")
	p.effect(destBilling, key, "k")
	p.control("clock", `{"advance":"5h"}`)
	p.control("settings", `{"destination":"billing","retention":"3s"}`)
	p.control("faults", `{"destination":"crm","fault":"refuse"}`)
	p.control("faults", `{"destination":"plain","fault":"stall_after_execute","delay":"1h"}`)
	held := make(chan got, 1)
	go func() { held <- p.effect(destPlain) }()
	p.get("/_control/wait?destination=plain&effects=1")

	p.control("reset", "")
	if g := <-held; g.err == nil {
		t.Fatal("the stalled answer came")
	}
	p.wantEffects("", "", 0)
	if g := p.get("/_control/requests"); g.at("count") != 0.0 {
		t.Fatal(g.raw)
	}
	if g := p.get("/_control/clock"); g.at("advanced") != "0s" {
		t.Fatal(g.raw)
	}
	if g := p.get("/_control/settings"); g.at("billing", "retention") != "24h0m0s" {
		t.Fatal(g.raw)
	}
	if g := p.get("/_control/faults"); len(g.at("faults").([]any)) != 0 {
		t.Fatal(g.raw)
	}
	again := p.effect(destCRM)
	p.wantStatus(again, http.StatusCreated)
	if again.at("id") == first {
		t.Fatal("an ID was used again")
	}
	if g := p.effect(destBilling, key, "k"); g.header.Get("Idempotent-Replayed") != "" {
		t.Fatal("a key outlived the reset")
	}
}

func TestPage(t *testing.T) {
	t.Parallel()
	page := func(p *peer, path string) string {
		t.Helper()
		g := p.get(path)
		p.wantStatus(g, http.StatusOK)
		return g.raw
	}
	press := func(p *peer, path string, form url.Values) {
		t.Helper()
		g := p.form(path, form.Encode(), "Accept", "text/html", "Sec-Fetch-Site", "same-origin")
		p.wantStatus(g, http.StatusSeeOther)
		want := "/"
		if strings.HasPrefix(path, "/_control/faults") {
			want = "/#faults"
		}
		if g.header.Get("Location") != want {
			t.Fatal(g.header)
		}
	}

	t.Run("ShowsOneTaskAndThenTwo", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		if !strings.Contains(page(p, "/"), "Nothing exists yet") {
			t.Fatal("no empty state")
		}
		id, _ := p.effect(destCRM).at("id").(string)
		if s := page(p, "/"); strings.Count(s, "exactly one") != 1 || !strings.Contains(s, "Call C-1") || !strings.Contains(s, "/crm/view/"+id) {
			t.Fatal(s)
		}
		if s := page(p, "/crm/view/"+id); !strings.Contains(s, "Call C-1") || !strings.Contains(s, "op_1") {
			t.Fatal(s)
		}
		p.control("faults", `{"destination":"crm","fault":"ignore_idempotency"}`)
		p.effect(destCRM)
		if s := page(p, "/"); strings.Count(s, "2: double effect") != 2 {
			t.Fatal(s)
		}
		p.wantStatus(p.get("/crm/view/none"), http.StatusNotFound)
	})

	t.Run("NarrowsToADestinationOrReference", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		p.effect(destCRM)
		p.effect(destPlain)
		p.json("/crm/tasks", `{"subject":"Another","reference":"op_2"}`)
		for query, rows := range map[string]int{"": 3, "?destination=crm": 2, "?reference=op_1": 2, "?destination=crm&reference=op_2": 1, "?reference=op_3": 0} {
			if s := page(p, "/"+query); strings.Count(s, `data-testid="effect"`) != rows || strings.Contains(s, "Show all") == (query == "") {
				t.Fatalf("%q shows %d rows, want %d", query, strings.Count(s, `data-testid="effect"`), rows)
			}
		}
	})

	t.Run("ButtonsInjectAndClear", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		for _, b := range faultButtons() {
			for _, destination := range b.Places {
				form := url.Values{"destination": {destination}, "fault": {b.Fault}}
				if b.Status != 0 {
					form.Set("status", "500")
				}
				if b.Delay != "" {
					form.Set("delay", b.Delay)
				}
				press(p, "/_control/faults", form)
			}
		}
		before := len(p.sb.faults.all())
		if before < 30 {
			t.Fatalf("only %d faults wait", before)
		}
		if s := page(p, "/"); strings.Count(s, `data-testid="fault"`) != before {
			t.Fatal("the page does not list every fault that waits")
		}
		press(p, "/_control/faults/clear", url.Values{"id": {"1"}})
		if after := len(p.sb.faults.all()); after != before-1 {
			t.Fatalf("%d faults left of %d", after, before)
		}
		press(p, "/_control/faults/clear", nil)
		if left := p.sb.faults.all(); len(left) != 0 {
			t.Fatal(left)
		}
		press(p, "/_control/clock", url.Values{"advance": {"25h"}})
		if p.sb.clock.advanced().Hours() != 25 {
			t.Fatal(p.sb.clock.advanced())
		}
		press(p, "/_control/reset", nil)
	})

	t.Run("AForeignPageMayNotPressThem", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		g := p.form("/_control/reset", "", "Accept", "text/html", "Sec-Fetch-Site", "cross-site")
		p.wantStatus(g, http.StatusForbidden)
	})

	t.Run("RefreshAndStyle", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		if strings.Contains(page(p, "/"), "http-equiv") || !strings.Contains(page(p, "/?refresh=3"), `http-equiv="refresh" content="3"`) {
			t.Fatal("refreshing must be off unless asked for")
		}
		if g := p.get("/assets/page.css"); g.status != http.StatusOK || !strings.HasPrefix(g.header.Get("Content-Type"), "text/css") {
			t.Fatal(g.status, g.header)
		}
	})
}
