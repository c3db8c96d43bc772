//go:build peers

package peers

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"holdpoint/connector"
	"holdpoint/operation"
)

// stripeMock starts stripe-mock on a free port.
func stripeMock(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(addr)
	cmd := exec.Command(needed(t, "HOLDPOINT_STRIPE_MOCK"), "-http-addr", addr)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("stripe-mock on port %s wrote:\n%s", port, log.String())
		}
	})
	for began := time.Now(); time.Since(began) < 20*time.Second; time.Sleep(20 * time.Millisecond) {
		if resp, err := http.Get("http://" + addr + "/v1/coupons"); err == nil {
			resp.Body.Close()
			return "http://" + addr
		}
	}
	t.Fatal("stripe-mock did not answer in 20 s")
	return ""
}

// echo sends an order's request by hand and gives the key that the answer names.
func echo(t *testing.T, o connector.Order) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), o.Request.Method, o.Request.URL, strings.NewReader(o.Request.Body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range o.Request.Header {
		req.Header.Set(h.Name, h.Value)
	}
	req.Header.Set("Authorization", "Bearer sk_test_peer")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.Header.Get("Idempotency-Key")
}

var stripeContents = map[string]map[string]any{
	"invoice_create":   {"customer": "cus_1", "currency": "eur", "description": "Goodwill", "days_until_due": 14},
	"invoice_item":     {"customer": "cus_1", "currency": "eur", "description": "Item", "amount": 1200},
	"invoice_finalize": {},
	"invoice_send":     {"note": "as agreed"},
	"coupon":           {"id": "SPRING-10", "percent_off": 10, "name": "Spring", "max_redemptions": 5},
	"promotion_code":   {"code": "SPRING", "coupon": "SPRING-10", "customer": "cus_1", "max_redemptions": 5},
}

// Stripe's own description of its API accepts every request of the profile, and refuses
// the same with one parameter more, with one of another type, and without a credential.
func TestStripeAcceptsEveryRequest(t *testing.T) {
	base := stripeMock(t)
	p := shipped(t, "stripe")
	env := func(name string) (string, bool) {
		if name == "STRIPE_URL" {
			return base, true
		}
		return "sk_test_peer", true
	}
	c, err := connector.New(p, env)
	if err != nil {
		t.Fatal(err)
	}
	for action := range p.Actions {
		content, known := stripeContents[action]
		if !known {
			t.Errorf("%s has no content here", action)
			continue
		}
		o := order(t, p, action, content, env, map[string]string{"invoice": "in_1"})
		r := c.Act(context.Background(), o)
		if r.Proof.Status != http.StatusOK {
			t.Errorf("%s: %d %s", action, r.Proof.Status, r.Proof.Excerpt)
		}
		if got := echo(t, o); got != o.Key { // what tells that an answer is to our own request
			t.Errorf("%s: the key came back as %q", action, got)
		}
		wrong := o
		wrong.Request.Body = strings.TrimPrefix(o.Request.Body+"&operation_ref=1", "&")
		if r := c.Act(context.Background(), wrong); r.Outcome != operation.OutcomeNotStarted || r.Proof.Code != "validation" || !r.Permanent {
			t.Errorf("%s with an unknown parameter: %s %+v", action, r.Outcome, r.Proof)
		}
		look := connector.LookupOrder{Operation: o.Operation, Action: action, Key: o.Key, Content: content, DispatchedAt: o.DispatchedAt}
		if f := c.Lookup(context.Background(), look); f.Proof.Status != http.StatusOK {
			t.Errorf("%s: the lookup got %d %s", action, f.Proof.Status, f.Proof.Excerpt)
		}
	}
	o := order(t, p, "coupon", stripeContents["coupon"], env, nil)
	wrong := o
	wrong.Request.Body = strings.Replace(o.Request.Body, "percent_off=10", "percent_off=ten", 1)
	if r := c.Act(context.Background(), wrong); r.Outcome != operation.OutcomeNotStarted || r.Proof.Code != "validation" {
		t.Errorf("a parameter of another type: %s %+v", r.Outcome, r.Proof)
	}
	bare, err := connector.New(p, func(name string) (string, bool) {
		if name == "STRIPE_URL" {
			return base, true
		}
		return "nonsense", true
	})
	if err != nil {
		t.Fatal(err)
	}
	if r := bare.Act(context.Background(), o); r.Outcome != operation.OutcomeNotStarted || r.Proof.Code != "refused_credentials" {
		t.Errorf("without a key of Stripe's: %s %+v", r.Outcome, r.Proof)
	}
}
