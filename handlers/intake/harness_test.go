package intake_test

import (
	"bytes"
	"compress/gzip"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"holdpoint/handlers/intake"
	"holdpoint/store"
	"holdpoint/store/storetest"

	"github.com/labstack/echo/v4"
)

func TestMain(m *testing.M) { os.Exit(storetest.Run(m)) }

// The secrets of the sources in these tests.
var secrets = map[string]string{
	"SHOPIFY_FLOW_SECRET": "hush", "SHOPIFY_FLOW_SECRET_OLD": "hush-old", "SHOPIFY_WEBHOOK_SECRET": "hook", "SHOPIFY_WEBHOOK_SECRET_OLD": "hook-old",
	"FORM_SECRET": "form", "STANDARD_SECRET": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "STRIPE_SECRET": "whsec_stripe",
}

type house struct {
	*storetest.Fixture
	t     *testing.T
	url   string
	clock time.Duration // how far our own clock is off
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{Fixture: storetest.NewFixture(t), t: t}
	h.url = h.serve(h.Store)
	return h
}

func (h *house) serve(s *store.Store) string {
	return h.serveWith(intake.Deps{Store: s})
}

func (h *house) serveWith(d intake.Deps) string {
	d.Log = slog.New(slog.DiscardHandler)
	d.Env = func(name string) (string, bool) { v, ok := secrets[name]; return v, ok }
	if d.Now == nil {
		d.Now = func() time.Time { return time.Now().Add(h.clock) }
	}
	e := echo.New()
	intake.Register(e.Group(""), d)
	srv := httptest.NewServer(e)
	h.t.Cleanup(srv.Close)
	return srv.URL
}

// apply adds a source of this test's own.
func (h *house) apply(yaml string) {
	h.t.Helper()
	_, err := h.Store.Apply(h.t.Context(), store.System("command"), []store.File{{Name: "source.yaml", Source: []byte(yaml)}})
	if err != nil {
		h.t.Fatal(err)
	}
}

type reply struct {
	status int
	header http.Header
	raw    string
	body   struct {
		Delivery, Event, Verdict, Reason, Code, Detail string
		Operations                                     []string
	}
}

// send posts bytes as they are; headers are names and values in turn.
func (h *house) send(url string, body []byte, headers ...string) reply {
	h.t.Helper()
	return h.request(http.MethodPost, url, body, headers...)
}

func (h *house) request(method, url string, body []byte, headers ...string) reply {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), method, url, bytes.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i+1] == "" {
			req.Header.Del(headers[i])
			continue
		}
		req.Header.Add(headers[i], headers[i+1])
	}
	if n := req.Header.Values("Content-Type"); len(n) == 2 {
		req.Header.Set("Content-Type", n[1])
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		h.t.Error(err)
		return reply{}
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Error(err)
	}
	out := reply{status: resp.StatusCode, header: resp.Header, raw: string(raw)}
	_ = json.Unmarshal(raw, &out.body)
	if out.status >= 300 && resp.Header.Get("Content-Type") != "application/problem+json" {
		h.t.Errorf("an error without a problem document: %d %s", out.status, raw)
	}
	return out
}

func (h *house) want(r reply, status int) reply {
	h.t.Helper()
	if r.status != status {
		h.t.Fatalf("status %d, want %d: %s", r.status, status, r.raw)
	}
	return r
}

func mac(secret string, body []byte) []byte {
	m := hmac.New(sha256.New, []byte(secret))
	m.Write(body)
	return m.Sum(nil)
}

func b64(secret string, body []byte) string {
	return base64.StdEncoding.EncodeToString(mac(secret, body))
}

func hexMAC(secret string, body []byte) string { return hex.EncodeToString(mac(secret, body)) }

// form sends a signed notification to the source form.
func (h *house) form(body string, headers ...string) reply {
	h.t.Helper()
	return h.send(h.url+"/in/form", []byte(body), append([]string{"X-Form-Signature", "sha256=" + hexMAC("form", []byte(body))}, headers...)...)
}

// flowAction is a Flow action's body for the flow campaign-follow-up.
func flowAction(run string) []byte {
	return []byte(`{"shop_id":1,"shopify_domain":"demo-shop.myshopify.com","action_run_id":"` + run + `","handle":"campaign-request","properties":{"customer_ref":"C-1","email":"kim@example.test","campaign":"Spring"}}`)
}

// webhook sends a signed Shopify webhook.
func (h *house) webhook(url string, body []byte, topic, event, delivery string, headers ...string) reply {
	h.t.Helper()
	return h.send(url, body, append([]string{"X-Shopify-Topic", topic, "X-Shopify-Event-Id", event, "X-Shopify-Webhook-Id", delivery,
		"X-Shopify-Shop-Domain", "demo-shop.myshopify.com", "X-Shopify-Api-Version", "2026-10", "X-Shopify-Hmac-Sha256", b64("hook", body)}, headers...)...)
}

func zipped(t *testing.T, raw []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// refused counts refused deliveries with this code.
func (h *house) refused(code string) int {
	h.t.Helper()
	return h.Count(h.t, "deliveries WHERE verdict = 'refused' AND reason LIKE $1 || ':%'", code)
}
