//go:build peers

package peers

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"holdpoint/connector/connectortest"
	"holdpoint/operation"
)

// emulator starts one service of the package emulate.
func emulator(t *testing.T, service string) string {
	t.Helper()
	addr := freePort(t)
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	run(t, exec.Command("node", needed(t, "HOLDPOINT_EMULATE"), "start", "--service", service, "--port", port))
	base := "http://localhost:" + port
	waitFor(t, service, func() bool { return answers(base) })
	return base
}

// Resend's emulator keeps keys: the same bytes give the same mail, others are refused.
func TestResendsEmulatorKeepsOneMailForAKey(t *testing.T) {
	base := emulator(t, "resend")
	h := playing(t, "resend", "send", letter, map[string]string{"RESEND_URL": "BASE"})
	c := h.Connect(t, base, nil)
	o := h.Order(t, base)
	first, again := c.Act(context.Background(), o), c.Act(context.Background(), o)
	if first.Outcome != operation.OutcomeConfirmed || again.Outcome != operation.OutcomeConfirmed || first.TargetReference != again.TargetReference {
		t.Fatalf("%s %q %+v, then %s %q %+v", first.Outcome, first.TargetReference, first.Proof, again.Outcome, again.TargetReference, again.Proof)
	}
	if n := len(listed(t, base+"/emails", "data")); n != 1 {
		t.Errorf("%d mails in the list", n)
	}
	o.Request.Body = strings.Replace(o.Request.Body, "Good day", "Bad day", 1)
	if r := c.Act(context.Background(), o); r.Outcome != operation.OutcomeUnknown || !r.Mismatch {
		t.Errorf("other bytes: %s %+v", r.Outcome, r.Proof)
	}
	other := c.Act(context.Background(), h.Order(t, base))
	if other.Outcome != operation.OutcomeConfirmed || other.TargetReference == first.TargetReference {
		t.Errorf("another operation: %s %q", other.Outcome, other.TargetReference)
	}
}

// Slack's emulator keeps messages with their metadata: by it ours is found, once.
func TestSlacksEmulatorFindsOurMessage(t *testing.T) {
	base := bodyForQuery(t, emulator(t, "slack"))
	message := map[string]any{"channel": "C000000001", "text": "Approved: <!channel> & こんにちは"}
	h := playing(t, "slack", "post", message, map[string]string{"SLACK_URL": "BASE/api", "SLACK_WORKSPACE": "example"})
	c := h.Connect(t, base, nil)
	for range 3 {
		if r := c.Act(context.Background(), h.Order(t, base)); r.Outcome != operation.OutcomeConfirmed {
			t.Fatalf("%s %+v", r.Outcome, r.Proof)
		}
	}
	o := h.Order(t, base)
	if f := c.Lookup(context.Background(), connectortest.Lookup(o)); f.Result != operation.LookupNone {
		t.Errorf("before it is posted: %+v", f)
	}
	r := c.Act(context.Background(), o)
	f := c.Lookup(context.Background(), connectortest.Lookup(o))
	if r.Outcome != operation.OutcomeConfirmed || f.Result != operation.LookupOne || f.ID != r.TargetReference {
		t.Errorf("posted as %q, found %+v", r.TargetReference, f)
	}
	message["channel"] = "C0NOWHERE"
	if r := c.Act(context.Background(), h.Order(t, base)); r.Outcome != operation.OutcomeNotStarted || r.Proof.Code != "no_such_place" {
		t.Errorf("no such channel: %s %+v", r.Outcome, r.Proof)
	}
}

// bodyForQuery stands before the emulator, which knows POST alone: Slack itself documents
// conversations.history with GET and its arguments in the query.
func bodyForQuery(t *testing.T, to string) string {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		if r.In.Method == http.MethodGet {
			query := r.In.URL.RawQuery
			r.Out.Method, r.Out.URL.RawQuery = http.MethodPost, ""
			r.Out.Body, r.Out.ContentLength = io.NopCloser(strings.NewReader(query)), int64(len(query))
			r.Out.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Out.Header.Set("Content-Length", strconv.Itoa(len(query)))
		}
	}}
	s := httptest.NewServer(proxy)
	t.Cleanup(s.Close)
	return s.URL
}

// listed gives a list of an emulator's answer.
func listed(t *testing.T, address, field string) []any {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+connectortest.Secret)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var out map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		t.Fatal(err)
	}
	list, _ := out[field].([]any)
	return list
}
