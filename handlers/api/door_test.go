package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"holdpoint/handlers/api"
	"holdpoint/operation"

	"github.com/getkin/kin-openapi/openapi3"
)

// every route of the API with a request that would be fine, and a scope that it takes.
var table = []struct {
	method, path, body string
	scope, wrong       string
}{
	{"POST", "/events", `{"specversion":"1.0","id":"1","source":"s","type":"t"}`, "events", "read operations claims callbacks"},
	{"POST", "/operations", `{"flow":"newsletter-coupon","inputs":{"code":"AB-1","percent_off":1}}`, "operations", "read events claims callbacks"},
	{"GET", "/operations/{operation}", "", "read", "events callbacks"},
	{"POST", "/operations/{operation}/versions", `{"content":{"code":"AB-1","percent_off":1,"name":"n"}}`, "operations", "read events claims callbacks"},
	{"POST", "/operations/{operation}/claim", `{"worker":"w"}`, "claims", "read events operations callbacks"},
	{"POST", "/claims", `{"destination":"billing","worker":"w"}`, "claims", "read events operations callbacks"},
	{"POST", "/attempts/{attempt}/dispatch", `{"fence":1}`, "claims", "read events operations callbacks"},
	{"POST", "/attempts/{attempt}/heartbeat", `{"fence":1}`, "claims", "read events operations callbacks"},
	{"POST", "/attempts/{attempt}/outcome", `{"fence":1,"outcome":"unknown"}`, "claims", "read events operations callbacks"},
	{"POST", "/batches", `{"flow":"mailing","inputs":{"season":"spring"},"shared":{"subject":"Hello"},"items":[{"email":"ann@example.test","name":"Ann"}]}`, "batches", "read events operations claims callbacks"},
	{"GET", "/batches/{batch}", "", "batches", "events operations claims callbacks"},
	{"GET", "/batches/{batch}/items", "", "read", "events operations claims callbacks"},
	{"POST", "/batches/{batch}/pause", `{"reason":"a look"}`, "batches", "read events operations claims callbacks"},
	{"POST", "/batches/{batch}/resume", `{"reason":"go on"}`, "batches", "read events operations claims callbacks"},
	{"POST", "/batches/{batch}/stop", `{"reason":"enough"}`, "batches", "read events operations claims callbacks"},
	{"POST", "/callbacks/{destination}", `{"kind":"news","operation":"{operation}"}`, "callbacks", "read events operations claims"},
	{"GET", "/suppressions", "", "suppressions", "read events operations claims callbacks batches"},
	{"POST", "/suppressions", `{"entries":[{"address":"ann@example.test","reason":"manual"}]}`, "suppressions", "read events operations claims callbacks batches"},
	{"DELETE", "/suppressions/{suppression}?reason=asked", "", "suppressions", "read events operations claims callbacks batches"},
}

func TestEveryRouteNeedsAToken(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id, att, _ := h.claimed(h.token("claims"))
	fill := strings.NewReplacer("{operation}", string(id), "{attempt}", att, "{destination}", "billing").Replace
	entries := h.Count(t, "history WHERE subject_id = $1", string(id))
	spec, err := openapi3.NewLoader().LoadFromData(api.Spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := spec.Validate(t.Context()); err != nil {
		t.Errorf("openapi.yaml: %v", err)
	}
	inTable := map[string]bool{}
	for _, r := range table {
		path, _, _ := strings.Cut(r.path, "?")
		inTable[r.method+" /v1"+path] = true
	}
	for path, item := range spec.Paths.Map() {
		for method := range item.Operations() {
			if !inTable[method+" "+path] {
				t.Errorf("%s %s is not in the table of this test", method, path)
			}
		}
	}
	expired := h.token("events operations claims callbacks read")
	if _, err := h.Owner.ExecContext(t.Context(), `UPDATE api_tokens SET created_at = now() - interval '2 days', expires_at = now() - interval '1 day' WHERE id = (SELECT id FROM api_tokens ORDER BY id DESC LIMIT 1)`); err != nil {
		t.Fatal(err)
	}
	for _, r := range table {
		url := h.url + "/api/v1" + fill(r.path)
		var body any
		if r.body != "" {
			body = fill(r.body)
		}
		idem := []string{"Idempotency-Key", "k", "Cookie", "holdpoint=" + expired}
		for name, token := range map[string]string{"none": "", "wrong": "hp_nonsense", "expired": expired} {
			got := h.do(r.method, url, token, body, idem...)
			if got.status != http.StatusUnauthorized || got.header.Get("WWW-Authenticate") == "" || got.text("code") != "unauthorized" {
				t.Errorf("%s %s with token %s: %d %s", r.method, r.path, name, got.status, got.raw)
			}
		}
		for _, scheme := range []string{"Basic ", "bearer", "Token "} {
			if got := h.do(r.method, url, "", body, append(idem, "Authorization", scheme+h.token(r.scope))...); got.status != http.StatusUnauthorized {
				t.Errorf("%s %s with %q: %d", r.method, r.path, scheme, got.status)
			}
		}
		got := h.do(r.method, url, h.token(r.wrong), body, idem...)
		if got.status != http.StatusForbidden || got.text("code") != "scope" {
			t.Errorf("%s %s with the wrong scopes: %d %s", r.method, r.path, got.status, got.raw)
		}
	}
	if n := h.Count(t, "history WHERE subject_id = $1", string(id)); n != entries || h.State(t, id) != operation.InProgress {
		t.Errorf("%d entries of the operation; a refused request wrote some", n)
	}
}

// FC-48, for tokens: what is outside a token's limits looks like what does not exist.
func TestFieldCase48_ForeignIsLikeMissing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	all := "events operations claims callbacks read batches"
	full := h.token(all)
	id, att, f := h.claimed(full)
	entries := h.Count(t, "history WHERE subject_id = $1", string(id))
	const noOp, noAtt = "op_00000000000000000000000000", "att_00000000000000000000000000"
	for name, tok := range map[string]string{
		"flow":        h.token(all, []string{"goodwill-invoice"}),
		"destination": h.token(all, nil, []string{"crm"}),
	} {
		for _, r := range table {
			if r.path == "/events" || r.path == "/claims" || r.scope == "suppressions" {
				continue // they name no object of a flow; see TestClaims, TestEvents and TestSuppressions
			}
			send := func(op, attempt, destination, flow string) reply {
				fill := strings.NewReplacer("{operation}", op, "{attempt}", attempt, "{destination}", destination, "newsletter-coupon", flow, `"fence":1`, `"fence":`+itoa(int64(f))).Replace
				var body any
				if r.body != "" {
					body = fill(r.body)
				}
				return h.do(r.method, h.url+"/api/v1"+fill(r.path), tok, body, "Idempotency-Key", "k")
			}
			start := time.Now()
			foreign := send(string(id), att, "billing", "newsletter-coupon")
			took := time.Since(start)
			missing := send(noOp, noAtt, "billing", "no-such-flow")
			if foreign.status != http.StatusNotFound || missing.status != http.StatusNotFound || foreign.raw != missing.raw {
				t.Errorf("%s %s %s: foreign %d %s missing %d %s", name, r.method, r.path, foreign.status, foreign.raw, missing.status, missing.raw)
			}
			if took > 2*time.Second {
				t.Errorf("%s took %s", r.path, took)
			}
			if strings.Contains(foreign.raw, string(id)) {
				t.Errorf("the answer tells of the foreign one: %s", foreign.raw)
			}
		}
	}
	if h.State(t, id) != operation.InProgress || h.Count(t, "history WHERE subject_id = $1", string(id)) != entries {
		t.Error("a foreign token wrote something")
	}
	h.want(h.post("/attempts/"+att+"/dispatch", full, fence(f)), 200)
}

// FC-27, our own doors: both slash forms, no redirect.
func TestFieldCase27_BothSlashFormsWithoutRedirect(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	tok := h.token("events operations read")
	event := `{"specversion":"1.0","id":"%","source":"//test","type":"newsletter.coupon","data":{"code":"SLASH-%","percent_off":1}}`
	for n, path := range map[string]string{"1": "/events", "2": "/events/"} {
		r := h.post(path, tok, strings.ReplaceAll(event, "%", n), "Content-Type", "application/cloudevents+json")
		if h.want(r, http.StatusAccepted); len(r.list("operations")) != 1 {
			t.Errorf("%s: %s", path, r.raw)
		}
	}
	for _, path := range []string{"/operations", "/operations/"} {
		h.want(h.post(path, tok, `{"flow":"newsletter-coupon","inputs":{"code":"AB-1","percent_off":1}}`, "Idempotency-Key", path), 201)
	}
	id := h.coupon(tok, "x", "AB-2")
	h.want(h.get("/operations/"+string(id)+"/", tok), 200)
	h.want(h.get("/operations/"+string(id), tok), 200)
}

func TestProblems(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	tok := h.token("operations read claims")
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/api/v1/nothing", 404}, {"DELETE", "/api/v1/operations", 405}, {"GET", "/api/v1/events", 405}, {"PUT", "/api/v1/operations/x", 405}, {"OPTIONS", "/api/v1/operations", 405},
	} {
		r := h.do(c.method, h.url+c.path, tok, nil, "Origin", "https://elsewhere.example")
		if r.status != c.status || r.header.Get("Content-Type") != "application/problem+json" || r.text("type") == "" || r.number("status") != float64(c.status) {
			t.Errorf("%s %s: %d %s", c.method, c.path, r.status, r.raw)
		}
		if r.header.Get("Access-Control-Allow-Origin") != "" {
			t.Error("there is no CORS")
		}
	}
	big := `{"flow":"newsletter-coupon","note":"` + strings.Repeat("x", 1<<20) + `"}`
	h.want(h.post("/operations", tok, big, "Idempotency-Key", "k"), http.StatusRequestEntityTooLarge)
	h.want(h.post("/operations", tok, `{"flow":"x"}`, "Idempotency-Key", "k", "Content-Type", "text/plain"), http.StatusUnsupportedMediaType)
	h.want(h.post("/operations", tok, `{"flow":"x"}`, "Idempotency-Key", "k", "Content-Encoding", "gzip"), http.StatusUnsupportedMediaType)
	h.want(h.post("/operations", tok, ``, "Idempotency-Key", "k"), http.StatusBadRequest)

	spec := h.do("GET", h.url+"/api/openapi.yaml", "", nil)
	if spec.status != 200 || spec.raw != string(api.Spec) {
		t.Errorf("openapi.yaml: %d", spec.status)
	}
	id := h.Ready(t)
	if err := pause(h, id); err != nil {
		t.Fatal(err)
	}
	for _, lang := range []string{"", "pl", "ja"} {
		r := h.want(h.post("/operations/"+string(id)+"/claim", tok, `{"worker":"w"}`, "Accept-Language", lang), 409)
		if r.text("code") != "paused_operation" || r.text("reason") == "" || strings.ContainsAny(r.text("reason"), "⟦⟧") {
			t.Errorf("refusal in %q: %s", lang, r.raw)
		}
		for _, member := range []string{"next_decision", "responsible", "link", "operation", "state"} {
			if r.body[member] == nil {
				t.Errorf("the refusal lacks %s: %s", member, r.raw)
			}
		}
		if !strings.HasPrefix(r.text("link"), "https://hold.example.test/operations/") {
			t.Errorf("link %s", r.text("link"))
		}
	}
}

func pause(h *house, id operation.ID) error {
	return h.Store.PauseOperation(h.t.Context(), h.As("ops"), id, "a test")
}

// TestInvalid_SaysItPlainly: a request that departs from the contract is told so in a
// sentence, without addresses of schemas or what it held.
func TestInvalid_SaysItPlainly(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	tok := h.token("claims operations events read")
	for body, want := range map[string]string{
		`{"destination":"billing","worker":"w","max":0}`:   "In the body at /max: the number must be at least 1.",
		`{"destination":"billing","worker":"w","max":51}`:  "In the body at /max: the number must be at most 50.",
		`{"destination":"billing","worker":"w","max":"4"}`: "In the body at /max: ",
		`{"destination":"billing","worker":""}`:            "In the body at /worker: ",
		`{"destination":"billing"}`:                        "In the body at /worker: ",
		`{"destination":"billing","worker":"w","most":1}`:  "In the body",
	} {
		r := h.want(h.post("/claims", tok, body), http.StatusBadRequest)
		detail := r.text("detail")
		if !strings.HasPrefix(detail, want) || strings.Contains(detail, "://") || strings.Contains(detail, "jsonschema") || strings.Contains(detail, "$ref") {
			t.Errorf("%s: %s", body, detail)
		}
	}
}
