package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// peer is a client of one running sandbox. It never re-sends by itself and
// never follows a redirect.
type peer struct {
	t    *testing.T
	base string
	sb   *sandbox
	http *http.Client
}

func newPeer(t *testing.T, change ...func(*config)) *peer {
	t.Helper()
	cfg := config{addr: "127.0.0.1:0", smtpAddr: "", idTag: "t"}
	for _, c := range change {
		c(&cfg)
	}
	sb, err := start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sb.stop)
	return &peer{t: t, base: "http://" + sb.addr(), sb: sb, http: &http.Client{
		Timeout:       5 * time.Second,
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// got is an answer; err is set when it could not be read to the end.
type got struct {
	status int
	header http.Header
	raw    string
	body   map[string]any
	err    error
}

// at gives a field of the body by its path.
func (g got) at(path ...string) any {
	var v any = g.body
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

func (p *peer) do(method, path, contentType, body string, headers ...string) got {
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.base+path, strings.NewReader(body))
	if err != nil {
		p.t.Error(err)
		return got{err: err}
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	req.Header.Set("Authorization", "Bearer test")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	if token := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer "); token != "" {
		req.Header.Set("X-Shopify-Access-Token", token)
	}
	resp, err := p.http.Do(req)
	if err != nil {
		return got{err: err}
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	g := got{status: resp.StatusCode, header: resp.Header, raw: string(raw), err: err}
	_ = json.Unmarshal(raw, &g.body)
	return g
}

func (p *peer) get(path string) got { return p.do("GET", path, "", "") }

func (p *peer) json(path, body string, headers ...string) got {
	return p.do("POST", path, "application/json", body, headers...)
}

func (p *peer) form(path, body string, headers ...string) got {
	return p.do("POST", path, "application/x-www-form-urlencoded", body, headers...)
}

// control gives an order that must be obeyed.
func (p *peer) control(path, body string) got {
	p.t.Helper()
	g := p.json("/_control/"+path, body)
	if g.err != nil || g.status >= 300 {
		p.t.Fatalf("control %s %s: %d %s %v", path, body, g.status, g.raw, g.err)
	}
	return g
}

// effects asks the ledger over HTTP.
func (p *peer) effects(destination, reference string) []effect {
	p.t.Helper()
	g := p.get("/_control/ledger?destination=" + destination + "&reference=" + url.QueryEscape(reference))
	var out struct {
		Effects []effect `json:"effects"`
		Count   int      `json:"count"`
	}
	if err := json.Unmarshal([]byte(g.raw), &out); err != nil {
		p.t.Fatalf("ledger: %v: %s", err, g.raw)
	}
	if out.Count != len(out.Effects) {
		p.t.Fatalf("ledger counts %d but lists %d", out.Count, len(out.Effects))
	}
	return out.Effects
}

func (p *peer) wantEffects(destination, reference string, n int) {
	p.t.Helper()
	if list := p.effects(destination, reference); len(list) != n {
		p.t.Fatalf("%d effects of %q at %s, want %d: %+v", len(list), reference, destination, n, list)
	}
}

func (p *peer) wantStatus(g got, status int) {
	p.t.Helper()
	if g.err != nil || g.status != status {
		p.t.Fatalf("answer %d %s (%v), want %d", g.status, g.raw, g.err, status)
	}
}

// effectRequest is one request per HTTP destination that makes an effect with
// the reference op_1.
var effectRequests = map[string]struct{ path, kind, body string }{ // a path may begin with another method than POST
	destStripe: {"/stripe/v1/invoices", "application/x-www-form-urlencoded", "customer=cus_1&metadata[operation_id]=op_1"},
	destShopify: {"/shopify/admin/api/2026-10/graphql.json", "application/json",
		`{"query":"mutation M($i: DiscountCodeBasicInput!) { discountCodeBasicCreate(basicCodeDiscount: $i) { codeDiscountNode { id } } }","variables":{"i":{"code":"SPRING","title":"Spring","tags":["op_1"]}}}`},
	destHubSpot: {"/hubspot/crm/v3/objects/tasks/batch/upsert", "application/json",
		`{"inputs":[{"idProperty":"holdpoint_operation_id","id":"op_1","properties":{"hs_task_subject":"Call","hs_timestamp":"2026-12-01T10:00:00Z"}}]}`},
	destSalesforce: {"PATCH /salesforce/services/data/v68.0/sobjects/Task/Holdpoint_Operation__c/op_1", "application/json", `{"Subject":"Call"}`},

	destCRM:     {"/crm/tasks", "application/json", `{"subject":"Call C-1","reference":"op_1"}`},
	destBilling: {"/billing/v1/invoices", "application/x-www-form-urlencoded", "customer=cus_1&metadata[operation_id]=op_1"},
	destMail: {"/mail/emails", "application/json",
		`{"from":"a@example.test","to":"b@example.test","subject":"S","text":"T","tags":[{"name":"operation_id","value":"op_1"}]}`},
	destPlain: {"/plain/things", "application/json", `{"reference":"op_1"}`},
}

func (p *peer) effect(destination string, headers ...string) got {
	r := effectRequests[destination]
	method, path, given := strings.Cut(r.path, " ")
	if !given {
		method, path = "POST", r.path
	}
	return p.do(method, path, r.kind, r.body, append(p.credentials(destination, path, r.kind, r.body), headers...)...)
}

func TestSandboxImportsNothingOfTheProduct(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range strings.Fields(string(out)) {
		if path != "holdpoint/cmd/sandbox" {
			t.Errorf("the sandbox depends on %s; it may use the standard library only", path)
		}
	}
	if !strings.Contains(string(out), "holdpoint/cmd/sandbox") {
		t.Errorf("go list did not list the sandbox itself: %s", out)
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	env := map[string]string{"SANDBOX_ADDR": "127.0.0.1:0", "SANDBOX_SMTP_ADDR": "127.0.0.1:0"}
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, nil, func(name string) string { return env[name] }, in, io.Discard)
	}()
	var line struct{ Addr, SMTP string }
	if err := json.NewDecoder(out).Decode(&line); err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(line.Addr, ":0") || strings.HasSuffix(line.SMTP, ":0") || line.SMTP == "" {
		t.Fatalf("announced %+v", line)
	}
	resp, err := http.Get("http://" + line.Addr + "/healthz")
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("healthz: %v %v", resp, err)
	}
	resp.Body.Close()
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("did not stop")
	}
	// The first may still meet a connection that the kernel had taken: it is reset.
	for range 2 {
		if _, err = http.Get("http://" + line.Addr + "/healthz"); err == nil {
			t.Fatal("it answers after the stop")
		}
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("after the stop: %v, want connection refused", err)
	}
}

func TestRunRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	for _, args := range [][]string{{"--no-such-flag"}, {"argument"}, {"--addr", "nowhere:x"}} {
		if err := run(t.Context(), args, func(string) string { return "" }, io.Discard, &stderr); err == nil {
			t.Errorf("run %q did not fail", args)
		}
	}
}

func TestStopReleasesHeldAnswers(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	p.control("faults", `{"destination":"plain","fault":"stall_after_execute","delay":"1h"}`)
	held := make(chan got, 1)
	go func() { held <- p.effect(destPlain) }()
	if g := p.get("/_control/wait?destination=plain&effects=1"); g.at("reached") != true {
		t.Fatal(g.raw)
	}
	began := time.Now()
	p.sb.stop()
	if g := <-held; g.err == nil {
		t.Fatalf("a stalled request got an answer: %d", g.status)
	}
	if took := time.Since(began); took > time.Second {
		t.Fatalf("stopping took %v", took)
	}
}
