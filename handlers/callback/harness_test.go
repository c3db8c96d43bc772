package callback_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"holdpoint/handlers/callback"
	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
	"holdpoint/systems"

	"github.com/labstack/echo/v4"
)

func TestMain(m *testing.M) {
	for _, name := range []string{"SENDGRID_URL", "RESEND_URL", "POSTMARK_URL", "MAILGUN_URL", "SES_URL", "STRIPE_URL", "HUBSPOT_URL"} {
		_ = os.Setenv(name, "https://example.com")
	}
	_ = os.Setenv("AWS_REGION", "eu-central-1")
	os.Exit(storetest.Run(m))
}

const public = "https://holdpoint.example.com"

// house is a store with one system's profile and a flow that has its effects there.
type house struct {
	*storetest.Fixture
	t       *testing.T
	name    string // of the destination
	account string
	secrets map[string]string
	url     string
	clock   time.Duration                                             // how far our own clock is off
	amazon  map[string][]byte                                         // what SNS's hosts answer
	fetch   func(ctx context.Context, address string) ([]byte, error) // instead of amazon; nil = amazon answers
	asked   []string
	runs    int
}

const otherProfile = `destination: elsewhere
title: {en: Elsewhere}
kind: http
account: %ACCOUNT%
environment: test
base_url: https://elsewhere.example.com
auth: {none: true}
callbacks:
  signature: {scheme: hmac_sha256, header: X-Sig}
  secrets: [{env: ELSEWHERE_SECRET}]
  operation: ${item.operation_id}
  reference: ${item.reference}
  news: [{bounced: '${item.event == "bounced"}'}]
actions:
  send:
    effect: email
    request: {method: POST, path: /send, json: {}}
    outcome: [{confirmed: '${status == 200}'}]
`

// newHouse applies a profile as it is published, with its placeholders filled in.
func newHouse(t *testing.T, system, action string, replace ...string) *house {
	t.Helper()
	h := &house{Fixture: storetest.NewFixture(t), t: t, name: system, secrets: map[string]string{"ELSEWHERE_SECRET": "else"}, amazon: map[string][]byte{}}
	raw, err := fs.ReadFile(systems.Profiles(), system+".yaml")
	if err != nil {
		t.Fatal(err)
	}
	src := strings.NewReplacer(replace...).Replace(string(raw))
	for _, line := range strings.Split(src, "\n") {
		if a, ok := strings.CutPrefix(line, "account: "); ok {
			h.account = strings.Trim(a, `"`)
		}
	}
	effect := map[string]string{"send": `content: {to: kim@example.test, subject: Hello, text: Hello}`, "coupon": `content: {id: WELCOME10, percent_off: 10, name: Welcome}`,
		"task": `content: {subject: Call, due: "2026-12-01T10:00:00Z"}`}[action]
	flow := `flow: system
title: {en: System}
owner: {role: approver}
reviewer: {role: ops_owner}
reexecution: {approvers: {role: ops_owner}}
trigger: {source: form, topic: system.asked}
inputs: {type: object}
stages:
  - key: effect
    destination: ` + system + `
    action: ` + action + `
    ` + effect + `
    approval: {approvers: {role: approver}, required: 1}
`
	for file, text := range map[string]string{"profile.yaml": src, "other.yaml": strings.Replace(otherProfile, "%ACCOUNT%", `"`+h.account+`"`, 1)} {
		h.apply(file, text)
	}
	h.apply("flow.yaml", flow)
	e := echo.New()
	callback.Register(e.Group(""), callback.Deps{Store: h.Store, Log: slog.New(slog.DiscardHandler), Base: public,
		Env: func(name string) (string, bool) { v, ok := h.secrets[name]; return v, ok }, Now: func() time.Time { return time.Now().Add(h.clock) },
		Tying: 10 * time.Second, Patience: 20 * time.Second,
		Fetch: func(ctx context.Context, address string) ([]byte, error) {
			h.asked = append(h.asked, address)
			if h.fetch != nil {
				return h.fetch(ctx, address)
			}
			if b, ok := h.amazon[address]; ok {
				return b, nil
			}
			return nil, errors.New("nothing is there")
		}})
	srv := httptest.NewServer(e)
	t.Cleanup(srv.Close)
	h.url = srv.URL
	return h
}

func (h *house) apply(name, text string) {
	h.t.Helper()
	if _, err := h.Store.Apply(h.t.Context(), store.System("command"), []store.File{{Name: name, Source: []byte(text)}}); err != nil {
		h.t.Fatal(err)
	}
}

// dispatched is one operation of the system whose request has left.
type dispatched struct {
	h       *house
	id      operation.ID
	attempt operation.AttemptID
	fence   int64
}

func (h *house) dispatch() dispatched {
	h.t.Helper()
	h.runs++
	key := "e-" + time.Now().Format(time.RFC3339Nano)
	rec, err := h.Store.Receive(h.t.Context(), store.System("api"), store.Received{Source: "form", Account: "demo", Topic: "system.asked", EventKey: key, Data: map[string]any{}, Body: []byte(`{}`), Status: 200})
	if err != nil || len(rec.Operations) != 1 {
		h.t.Fatal(rec, err)
	}
	d := dispatched{h: h, id: rec.Operations[0]}
	h.Approve(h.t, d.id, "lead")
	a, err := h.Store.ClaimAndDispatch(h.t.Context(), store.Job("test"), d.id, "test")
	if err != nil {
		h.t.Fatal(err)
	}
	d.attempt, d.fence = a.Attempt, a.Fence
	return d
}

func (d dispatched) report(reference string) {
	d.h.t.Helper()
	_, err := d.h.Store.Record(d.h.t.Context(), store.Job("test"), d.attempt, d.fence, operation.Result{Outcome: operation.OutcomeConfirmed, TargetReference: reference, Proof: operation.Proof{Code: "confirmed", Status: 200}})
	if err != nil {
		d.h.t.Fatal(err)
	}
}

func (d dispatched) want(state, delivery, remedy string) {
	d.h.t.Helper()
	var s, dl, r string
	if err := d.h.Owner.QueryRow(`SELECT state, delivery, remedy FROM operations WHERE id = $1`, string(d.id)).Scan(&s, &dl, &r); err != nil {
		d.h.t.Fatal(err)
	}
	if s != state || dl != delivery || r != remedy {
		d.h.t.Errorf("state %s, delivery %q, remedy %q; want %s, %q, %q", s, dl, r, state, delivery, remedy)
	}
}

type reply struct {
	status                                           int
	raw                                              string
	Recorded, Repeated, Waiting, Ignored, Unreadable int
	Code                                             string
}

func (h *house) post(path string, body []byte, header http.Header) reply {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), http.MethodPost, h.url+path, bytes.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	for k, v := range header {
		req.Header[k] = v
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	out := reply{status: resp.StatusCode, raw: string(raw)}
	if err := json.Unmarshal(raw, &out); err != nil {
		h.t.Fatalf("%d %s", out.status, raw)
	}
	return out
}

func (h *house) refusals(code string) int {
	return h.Count(h.t, "callback_refusals WHERE code = $1", code)
}

func basic(login string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(login)) }
