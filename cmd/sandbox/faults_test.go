package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// faultCase is what a fault must look like to the caller, at every HTTP
// destination, and how many effects it leaves behind.
type faultCase struct {
	fault   string // further fields of the order
	effects int
	check   func(t *testing.T, p *peer, g got)
}

func noAnswer(t *testing.T, _ *peer, g got) {
	t.Helper()
	if g.err == nil || g.status != 0 {
		t.Fatalf("got an answer: %d %s", g.status, g.raw)
	}
}

func statusIs(status int) func(*testing.T, *peer, got) {
	return func(t *testing.T, p *peer, g got) {
		t.Helper()
		p.wantStatus(g, status)
	}
}

var faultCases = map[string]faultCase{
	"refuse": {`"fault":"refuse"`, 0, func(t *testing.T, _ *peer, g got) {
		if !errors.Is(g.err, syscall.ECONNRESET) && !errors.Is(g.err, syscall.EPIPE) {
			t.Fatalf("%d %v, want a reset", g.status, g.err)
		}
	}},
	"drop_before_execute":           {`"fault":"drop_before_execute"`, 0, noAnswer},
	"drop_after_execute":            {`"fault":"drop_after_execute"`, 1, noAnswer},
	"stall_after_execute":           {`"fault":"stall_after_execute","delay":"50ms"`, 1, noAnswer},
	"status_before_execute":         {`"fault":"status_before_execute"`, 0, statusIs(503)},
	"status_before_execute/status":  {`"fault":"status_before_execute","status":422`, 0, statusIs(422)},
	"status_after_execute":          {`"fault":"status_after_execute"`, 1, statusIs(500)},
	"status_after_execute/accepted": {`"fault":"status_after_execute","status":202`, 1, statusIs(202)},
	"status_after_execute/body": {`"fault":"status_after_execute","status":200,"body":{"id":"another"}`, 1, func(t *testing.T, p *peer, g got) {
		p.wantStatus(g, 200)
		if g.at("id") != "another" {
			t.Fatal(g.raw)
		}
	}},
	"empty_body": {`"fault":"empty_body"`, 1, func(t *testing.T, _ *peer, g got) {
		if g.err != nil || g.status >= 300 || g.raw != "" || g.header.Get("Content-Type") != "application/json" {
			t.Fatalf("%d %q %v", g.status, g.raw, g.err)
		}
	}},
	"empty_body/location": {`"fault":"empty_body","status":204,"location":"/x/1"`, 1, func(t *testing.T, p *peer, g got) {
		p.wantStatus(g, 204)
		if g.header.Get("Location") != "/x/1" {
			t.Fatal(g.header)
		}
	}},
	"cut_body": {`"fault":"cut_body"`, 1, func(t *testing.T, _ *peer, g got) {
		if g.status >= 300 || g.status == 0 || !errors.Is(g.err, io.ErrUnexpectedEOF) || g.raw == "" {
			t.Fatalf("%d %q %v", g.status, g.raw, g.err)
		}
	}},
	"redirect": {`"fault":"redirect"`, 0, func(t *testing.T, p *peer, g got) {
		p.wantStatus(g, 302)
		if !strings.HasPrefix(g.header.Get("Location"), p.base+"/elsewhere/") {
			t.Fatal(g.header)
		}
	}},
	"redirect/307": {`"fault":"redirect","status":307,"location":"https://other.test/"`, 0, func(t *testing.T, p *peer, g got) {
		p.wantStatus(g, 307)
		if g.header.Get("Location") != "https://other.test/" {
			t.Fatal(g.header)
		}
	}},
	"html_200": {`"fault":"html_200"`, 0, func(t *testing.T, p *peer, g got) {
		p.wantStatus(g, 200)
		if !strings.Contains(g.raw, "<h1>") || !strings.HasPrefix(g.header.Get("Content-Type"), "text/html") {
			t.Fatal(g.raw)
		}
	}},
	"error_in_200": {`"fault":"error_in_200"`, 0, func(t *testing.T, p *peer, g got) {
		p.wantStatus(g, 200)
		if g.at("ok") != false {
			t.Fatal(g.raw)
		}
	}},
	"error_in_200/false": {`"fault":"error_in_200","body":false`, 0, func(t *testing.T, p *peer, g got) {
		p.wantStatus(g, 200)
		if g.raw != "false" {
			t.Fatal(g.raw)
		}
	}},
	"retry_after": {`"fault":"retry_after","delay":"7s"`, 0, func(t *testing.T, p *peer, g got) {
		p.wantStatus(g, 429)
		if g.header.Get("Retry-After") != "7" {
			t.Fatal(g.header)
		}
	}},
	"slow": {`"fault":"slow","delay":"30ms"`, 1, func(t *testing.T, _ *peer, g got) {
		if g.err != nil || g.status >= 300 {
			t.Fatalf("%d %v", g.status, g.err)
		}
	}},
}

func TestFaultsAtEveryDestination(t *testing.T) {
	t.Parallel()
	for name, c := range faultCases {
		for _, destination := range systemNames(system.byHTTP) {
			t.Run(name+"/"+destination, func(t *testing.T) {
				t.Parallel()
				p := newPeer(t)
				p.control("faults", fmt.Sprintf(`{"destination":%q,%s}`, destination, c.fault))
				check := c.check
				if own, ok := ownLook[name+"/"+destination]; ok {
					check = own
				}
				check(t, p, p.effect(destination))
				p.wantEffects(destination, "op_1", c.effects)
				if left := p.sb.faults.all(); len(left) != 0 {
					t.Fatalf("the fault was not used up: %+v", left)
				}
				entry := p.sb.requests.of(destination)[0]
				kind, _, _ := strings.Cut(name, "/")
				if entry.Fault != kind || entry.Answered == "not yet" {
					t.Fatalf("the log does not tell of the fault: %+v", entry)
				}
				p.wantEffects("", "", c.effects)
			})
		}
	}
}

func TestEveryFaultIsTested(t *testing.T) {
	t.Parallel()
	elsewhere := map[string]bool{faultIgnoreIdempotency: true, faultIndexLag: true}
	for _, name := range faultNames() {
		if _, tested := faultCases[name]; !tested && !elsewhere[name] {
			t.Errorf("the fault %s has no case", name)
		}
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()

	t.Run("SlowEffectComesThoughTheCallerLeft", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		p.http.Timeout = 50 * time.Millisecond
		p.control("faults", `{"destination":"crm","fault":"slow","delay":"2h"}`)
		if g := p.effect(destCRM); g.err == nil {
			t.Fatal("the caller did not leave")
		}
		p.http.Timeout = 5 * time.Second
		p.control("clock", `{"advance":"1h"}`)
		p.wantEffects(destCRM, "op_1", 0)
		p.control("clock", `{"advance":"1h"}`)
		if g := p.get("/_control/wait?destination=crm&effects=1"); g.at("reached") != true {
			t.Fatal(g.raw)
		}
	})

	t.Run("CutBodyCanStall", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		p.http.Timeout = 200 * time.Millisecond
		p.control("faults", `{"destination":"crm","fault":"cut_body","delay":"1h"}`)
		g := p.effect(destCRM)
		if g.status != http.StatusCreated || g.err == nil || errors.Is(g.err, io.ErrUnexpectedEOF) {
			t.Fatalf("%d %v, want a time-out after the status", g.status, g.err)
		}
	})

	t.Run("ConflictAfterALostAnswer", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		p.control("faults", `{"destination":"crm","fault":"status_after_execute"}`)
		p.wantStatus(p.effect(destCRM), http.StatusInternalServerError)
		p.wantStatus(p.effect(destCRM), http.StatusConflict)
		p.wantEffects(destCRM, "op_1", 1)
	})

	t.Run("ALookupDoesNotUseUpAnEffectsFault", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		p.control("faults", `{"destination":"crm","fault":"status_before_execute"}`)
		p.wantStatus(p.get("/crm/tasks?reference=op_1"), http.StatusOK)
		p.wantStatus(p.effect(destCRM), http.StatusServiceUnavailable)
	})

	t.Run("OnLookup", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		p.control("faults", `{"destination":"crm","fault":"drop_before_execute","on":"lookup","times":2}`)
		p.wantStatus(p.effect(destCRM), http.StatusCreated)
		for range 2 {
			if g := p.get("/crm/tasks/by-reference/op_1"); g.err == nil {
				t.Fatal("the lookup was answered")
			}
		}
		p.wantStatus(p.get("/crm/tasks/by-reference/op_1"), http.StatusOK)
	})

	t.Run("IndexLagForOneSearch", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		p.effect(destCRM)
		p.control("faults", `{"destination":"crm","fault":"index_lag","delay":"20s"}`)
		p.wantStatus(p.get("/crm/tasks/by-reference/op_1"), http.StatusOK)
		for _, want := range []float64{0, 1} {
			if g := p.get("/crm/tasks?reference=op_1"); g.at("total") != want {
				t.Fatalf("%s, want %v", g.raw, want)
			}
		}
	})

	t.Run("InOrder", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		p.control("faults", `{"destination":"plain","fault":"status_before_execute","status":500}`)
		p.control("faults", `{"destination":"plain","fault":"refuse"}`)
		p.control("faults", `{"destination":"plain","fault":"status_before_execute","status":429}`)
		p.wantStatus(p.effect(destPlain), 500)
		if g := p.effect(destPlain); g.err == nil {
			t.Fatal("not refused")
		}
		p.wantStatus(p.effect(destPlain), 429)
		p.wantStatus(p.effect(destPlain), http.StatusCreated)
	})

	t.Run("Times", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		p.control("faults", `{"destination":"plain","fault":"status_before_execute","times":0}`)
		for range 3 {
			p.wantStatus(p.effect(destPlain), 503)
		}
		p.wantStatus(p.do("DELETE", "/_control/faults", "", ""), http.StatusOK)
		p.wantStatus(p.effect(destPlain), http.StatusCreated)
	})

	for name, c := range map[string]struct {
		match string
		hit   bool
	}{
		"body":         {"op_1", true},
		"other body":   {"op_2", false},
		"header":       {"Idempotency-Key: k1", true},
		"other header": {"Idempotency-Key: k2", false},
		"path":         {"/crm/tasks", true},
		"other path":   {"/crm/other", false},
	} {
		t.Run("Match/"+name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t)
			p.control("faults", fmt.Sprintf(`{"destination":"crm","fault":"status_before_execute","match":%q}`, c.match))
			want := http.StatusCreated
			if c.hit {
				want = http.StatusServiceUnavailable
			}
			p.wantStatus(p.effect(destCRM, key, "k1"), want)
		})
	}

	t.Run("RefuseWaitsForAFaultThatNeedsTheBody", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		p.control("faults", `{"destination":"crm","fault":"status_before_execute","match":"op_1"}`)
		p.control("faults", `{"destination":"crm","fault":"refuse"}`)
		p.wantStatus(p.effect(destCRM), 503)
		if g := p.effect(destCRM); g.err == nil {
			t.Fatal("not refused")
		}
	})

	t.Run("KeyIgnoredAndAnswerLostAtOnce", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		p.control("faults", `{"destination":"mail","fault":"ignore_idempotency","times":2}`)
		p.control("faults", `{"destination":"mail","fault":"drop_after_execute"}`)
		if g := p.effect(destMail, key, "k"); g.err == nil {
			t.Fatal("answered")
		}
		p.wantStatus(p.effect(destMail, key, "k"), http.StatusOK)
		p.wantEffects(destMail, "op_1", 2)
	})

	t.Run("ACallerWhoFollowsARedirectIsFoundOut", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		p.http.CheckRedirect = nil
		p.control("faults", `{"destination":"crm","fault":"redirect","status":307}`)
		p.wantStatus(p.effect(destCRM), http.StatusOK)
		p.wantEffects(destElsewhere, "op_1", 1)
		p.control("faults", `{"destination":"crm","fault":"redirect","status":302}`)
		p.wantStatus(p.effect(destCRM), http.StatusOK)
		p.wantEffects(destElsewhere, "op_1", 1)
		if n := p.sb.requests.count(destElsewhere); n != 2 {
			t.Fatalf("%d requests followed the redirects, want 2", n)
		}
	})

	t.Run("AClientThatSendsTwiceByItselfIsFoundOut", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		transport := &http.Transport{} // keeps connections, and repeats a request with this header by itself
		defer transport.CloseIdleConnections()
		p.http.Transport = transport
		p.get("/healthz")
		p.control("faults", `{"destination":"plain","fault":"drop_after_execute"}`)
		p.wantStatus(p.effect(destPlain, key, "k"), http.StatusCreated)
		p.wantEffects(destPlain, "op_1", 2)
		if n := p.sb.requests.count(destPlain); n != 2 {
			t.Fatalf("%d requests are in the log, want both", n)
		}
	})

	t.Run("Authorization", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		p.control("faults", `{"destination":"crm","fault":"status_before_execute"}`)
		for destination := range effectRequests {
			if otherCredential[destination] {
				continue
			}
			for _, value := range []string{"", "Bearer wrong"} {
				p.wantStatus(p.effect(destination, "Authorization", value), http.StatusUnauthorized)
			}
		}
		p.wantEffects("", "", 0)
		p.wantStatus(p.effect(destCRM), http.StatusServiceUnavailable)
	})
}
