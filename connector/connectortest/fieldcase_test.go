package connectortest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"holdpoint/connector"
	"holdpoint/connector/outbound"
	"holdpoint/operation"
)

// send makes one attempt and checks that it made one request at most, and what the
// ledger says about its classification.
func send(t *testing.T, box *Sandbox, h Harness, c connector.Connector, o connector.Order) operation.Result {
	t.Helper()
	before := len(effectRequests(box.Requests(t, h.Sandbox)))
	r := c.Act(context.Background(), o)
	if n := len(effectRequests(box.Requests(t, h.Sandbox))) - before; n > 1 {
		t.Errorf("one attempt made %d requests", n)
	}
	return r
}

func ask(c connector.Connector, o connector.Order) operation.LookupFinding {
	return c.Lookup(context.Background(), Lookup(o))
}

// The destination accepted, the answer was lost: a timeout is not a failure.
func TestFieldCase22_AnswerLostAfterTheEffect(t *testing.T) {
	t.Parallel()
	for _, name := range Destinations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := Destination(t, name)
			box := StartSandbox(t)
			c := h.Connect(t, h.In(box), nil)
			for lost, code := range map[string]string{"stall_after_execute": outbound.CodeTimeout, "drop_after_execute": outbound.CodeNoAnswer} {
				o := h.Order(t, h.In(box))
				box.Fault(t, Fault{Destination: name, Fault: lost})
				via := c
				if lost == "stall_after_execute" {
					via = h.Impatient().Connect(t, h.In(box), nil)
				}
				r := send(t, box, h, via, o)
				if r.Outcome != unknown || r.Proof.Code != code || r.Proof.Phase != operation.PhaseSent {
					t.Errorf("%s: %s %+v", lost, r.Outcome, r.Proof)
				}
				box.WaitEffects(t, name, Reference(o), 1, 5*time.Second)
				if n := len(box.Ledger(t, name, Reference(o))); n != 1 {
					t.Errorf("%s: the ledger has %d effects, want 1", lost, n)
				}
			}
			if a, _ := h.Profile.Action(h.Action); a.HasLookup() {
				o := h.Order(t, h.In(box))
				box.Fault(t, Fault{Destination: name, Fault: "drop_after_execute"})
				send(t, box, h, c, o)
				if f := ask(c, o); f.Result != operation.LookupOne || f.ID != box.Ledger(t, name, Reference(o))[0].ID {
					t.Errorf("lookup after the lost answer: %+v", f)
				}
			}
		})
	}
	t.Run("before the effect", func(t *testing.T) {
		t.Parallel()
		runUnsent(t, Destination(t, "billing")) // (a) refused, (b) TLS fails
		RunWire(t, Destination(t, "billing"), WireFault{Name: "(c) reset before the body is read",
			Play:  func(p *Peer) { _, _ = p.R.Peek(1); p.Reset() },
			Codes: []string{outbound.CodeReset, outbound.CodeNoAnswer}}, false)
	})
}

// Go's transport repeats a keyed POST on a dropped connection. Requests that arrive
// must equal attempts that are recorded.
func TestFieldCase23_NothingIsSentTwiceBehindOurBack(t *testing.T) {
	t.Parallel()
	const attempts = 3
	for name, keyed := range map[string]bool{"billing": true, "plain": false} {
		for _, encrypted := range []bool{false, true} {
			t.Run(fmt.Sprintf("key=%v/tls=%v", keyed, encrypted), func(t *testing.T) {
				t.Parallel()
				// It offers to keep the connection, answers reads, and closes on a POST.
				s := StartServer(t, encrypted, func(p *Peer) {
					for {
						r, ok := p.Read()
						if !ok || r.Method == "POST" {
							return
						}
						p.Say(AnswerText("200 OK", jsonType+"Connection: keep-alive\r\nKeep-Alive: timeout=60\r\n", `{"data":[],"has_more":false}`))
					}
				})
				h := Destination(t, name)
				base := h.at(s.Addr, encrypted)
				c := h.Connect(t, base, s.Roots)
				o := h.Order(t, base)
				for range attempts {
					ask(c, o) // warms a connection, where the profile has a lookup
					if r := c.Act(context.Background(), o); r.Outcome != unknown {
						t.Errorf("%s %+v", r.Outcome, r.Proof)
					}
				}
				if n := s.Count("POST"); n != attempts {
					t.Errorf("%d POSTs arrived for %d attempts", n, attempts)
				}
				for _, r := range s.Seen() {
					if r.Method == "POST" && (r.Header.Get("Idempotency-Key") != "") != keyed {
						t.Errorf("key sent: %q", r.Header.Get("Idempotency-Key"))
					}
				}
			})
		}
	}
}

// Success is not read from the status line.
func TestFieldCase25_ErrorInsideA200(t *testing.T) {
	t.Parallel()
	bodies := []string{
		`{"ok":false,"error":"x"}`, `false`, `<html>Sign in</html>`, `{"messages":[{"status":"0"},{"status":"9"}]}`,
		`{"data":null,"errors":[{"message":"x"}]}`, `{"id":null}`, `[]`, `""`, ``,
	}
	for _, name := range []string{"crm", "billing", "mail", "plain"} {
		for _, status := range []string{"200 OK", "207 Multi-Status"} {
			for _, body := range bodies {
				RunWire(t, Destination(t, name), WireFault{Name: body, Play: reads(AnswerText(status, jsonType, body)), Status: atoi(status)}, false)
			}
		}
	}
	// The record of someone else: the profile says what makes it ours.
	RunWire(t, Destination(t, "crm"), WireFault{Status: 201, Play: reads(AnswerText("201 Created", jsonType,
		`{"id":"TSK-other","reference":"op_00000000000000000000000000","url":"https://crm.example/TSK-other"}`))}, false)
	RunWire(t, Destination(t, "billing"), WireFault{Status: 200, Play: reads(AnswerText("200 OK", jsonType,
		`{"id":"in_other","object":"invoice","metadata":{"operation_id":"op_00000000000000000000000000"}}`))}, false)
	t.Run("body kept as evidence", func(t *testing.T) {
		h := Destination(t, "plain")
		s := StartServer(t, false, reads(AnswerText("200 OK", jsonType, `{"ok":false,"error":"not_saved","mail":"anna@customer.test","key":"`+Secret+`"}`)))
		r := h.Connect(t, h.at(s.Addr, false), nil).Act(context.Background(), h.Order(t, h.at(s.Addr, false)))
		if !strings.Contains(r.Proof.Excerpt, "not_saved") || strings.Contains(r.Proof.Excerpt, "anna") {
			t.Errorf("excerpt %q", r.Proof.Excerpt)
		}
		checkProof(t, r.Proof)
	})
}

func atoi(status string) int {
	n := 0
	for _, c := range status[:3] {
		n = n*10 + int(c-'0')
	}
	return n
}

// Created, but the body is empty, cut or never ends: the status is kept, nothing is
// called failed, and nothing is created again.
func TestFieldCase26_CreatedWithoutAUsableBody(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"crm", "billing", "mail", "plain"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := Destination(t, name)
			box := StartSandbox(t)
			c := h.Connect(t, h.In(box), nil)
			for _, f := range []Fault{
				{Fault: "empty_body"}, {Fault: "empty_body", Status: 201, Location: "/somewhere/7"}, {Fault: "empty_body", Status: 204},
				{Fault: "cut_body"}, {Fault: "cut_body", Delay: 2 * time.Second},
			} {
				o := h.Order(t, h.In(box))
				f.Destination = name
				box.Fault(t, f)
				via := c
				if f.Delay > 0 {
					via = h.Impatient().Connect(t, h.In(box), nil)
				}
				r := send(t, box, h, via, o)
				if r.Outcome != unknown || r.Proof.Status < 200 || r.Proof.Status > 299 {
					t.Errorf("%+v: %s %+v", f, r.Outcome, r.Proof)
				}
				if n := len(box.Ledger(t, name, Reference(o))); n != 1 {
					t.Errorf("%+v: the ledger has %d effects", f, n)
				}
			}
		})
	}
	for _, body := range []string{
		"HTTP/1.1 201 Created\r\n" + jsonType + "Content-Length: 100\r\n\r\n{\"id\":1}x",
		"HTTP/1.1 201 Created\r\n" + jsonType + "Content-Encoding: gzip\r\nContent-Length: 6\r\n\r\n\x1f\x8b\x08\x00\x00\x00",
	} {
		RunWire(t, Destination(t, "crm"), WireFault{Status: 201, Play: reads(body), Codes: []string{outbound.CodeCutBody, outbound.CodeEncoding}}, true)
	}
}

// A redirect is not followed, not to the same host and not to another, and is shown
// with its target.
func TestFieldCase27_RedirectIsNeverFollowed(t *testing.T) {
	t.Parallel()
	for _, w := range redirects {
		RunWire(t, Destination(t, "plain"), w, false)
	}
	for _, name := range []string{"crm", "billing", "mail", "plain"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := Destination(t, name)
			box, other := StartSandbox(t), StartServer(t, false, func(p *Peer) { p.Read(); p.Say(AnswerText("200 OK", jsonType, `{"id":"x"}`)) })
			c := h.Connect(t, h.In(box), nil)
			for _, status := range []int{301, 302, 303, 307, 308} {
				for _, location := range []string{"", "http://" + other.Addr + "/there?token=secret"} {
					o := h.Order(t, h.In(box))
					box.Fault(t, Fault{Destination: name, Fault: "redirect", Status: status, Location: location})
					r := send(t, box, h, c, o)
					if r.Outcome != unknown || r.Proof.Code != "redirect" || r.Proof.Status != status || r.Proof.Location == "" {
						t.Errorf("%d: %s %+v", status, r.Outcome, r.Proof)
					}
					checkProof(t, r.Proof)
				}
			}
			box.Fault(t, Fault{Destination: name, Fault: "redirect", On: "lookup"})
			if f := ask(c, h.Order(t, h.In(box))); f.Result != operation.LookupUnreachable {
				t.Errorf("lookup after a redirect: %s", f.Result)
			}
			if n := len(box.Requests(t, "elsewhere")) + other.Connections(); n != 0 {
				t.Errorf("%d requests followed a redirect", n)
			}
			if n := len(box.Ledger(t, name, "")); n != 0 {
				t.Errorf("%d effects", n)
			}
		})
	}
}
