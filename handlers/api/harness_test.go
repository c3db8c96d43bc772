package api_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"holdpoint/handlers/api"
	"holdpoint/handlers/intake"
	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"

	"github.com/labstack/echo/v4"
)

func TestMain(m *testing.M) { os.Exit(storetest.Run(m)) }

// house is a fixture with servers on it.
type house struct {
	*storetest.Fixture
	t    *testing.T
	url  string
	stop chan struct{}
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{Fixture: storetest.NewFixture(t), t: t, stop: make(chan struct{})}
	h.url = h.serve(h.Store)
	return h
}

// serve starts a server, as one more process would.
func (h *house) serve(s *store.Store) string {
	h.t.Helper()
	e := echo.New()
	log := slog.New(slog.DiscardHandler)
	if err := api.Register(e.Group("/api"), api.Deps{Store: s, Log: log, PublicURL: "https://hold.example.test", Stopping: h.stop}); err != nil {
		h.t.Fatal(err)
	}
	intake.Register(e.Group(""), intake.Deps{Store: s, Log: log})
	srv := httptest.NewServer(e)
	h.t.Cleanup(srv.Close)
	return srv.URL
}

// token makes a token with scopes; flows and destinations limit it.
func (h *house) token(scopes string, limits ...[]string) string {
	h.t.Helper()
	n := store.NewToken{Name: "test", Scopes: strings.Fields(scopes)}
	if len(limits) > 0 {
		n.Flows = limits[0]
	}
	if len(limits) > 1 {
		n.Destinations = limits[1]
	}
	_, secret, err := h.Store.AddToken(h.t.Context(), store.System("command"), n)
	if err != nil {
		h.t.Fatal(err)
	}
	return secret
}

// reply is what a server answered.
type reply struct {
	status int
	header http.Header
	raw    string
	body   map[string]any
}

func (r reply) text(name string) string {
	s, _ := r.body[name].(string)
	return s
}

func (r reply) number(name string) float64 {
	n, _ := r.body[name].(float64)
	return n
}

func (r reply) list(name string) []any {
	l, _ := r.body[name].([]any)
	return l
}

// do sends a request; body is a value to be encoded, or a string that is sent as it is.
// headers are names and values in turn.
func (h *house) do(method, url, token string, body any, headers ...string) reply {
	h.t.Helper()
	var raw []byte
	switch b := body.(type) {
	case nil:
	case string:
		raw = []byte(b)
	default:
		var err error
		if raw, err = json.Marshal(b); err != nil {
			h.t.Fatal(err)
		}
	}
	req, err := http.NewRequestWithContext(h.t.Context(), method, url, bytes.NewReader(raw))
	if err != nil {
		h.t.Fatal(err)
	}
	if raw != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		h.t.Error(err)
		return reply{}
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Error(err)
	}
	out := reply{status: resp.StatusCode, header: resp.Header, raw: string(text)}
	_ = json.Unmarshal(text, &out.body)
	return out
}

// post posts to the first server's API.
func (h *house) post(path, token string, body any, headers ...string) reply {
	h.t.Helper()
	return h.do(http.MethodPost, h.url+"/api/v1"+path, token, body, headers...)
}

func (h *house) get(path, token string) reply {
	h.t.Helper()
	return h.do(http.MethodGet, h.url+"/api/v1"+path, token, nil)
}

// want fails the test unless the status is as expected.
func (h *house) want(r reply, status int) reply {
	h.t.Helper()
	if r.status != status {
		h.t.Fatalf("status %d, want %d: %s", r.status, status, r.raw)
	}
	return r
}

// coupon creates an operation of flow newsletter-coupon through the API.
func (h *house) coupon(token, key, code string) operation.ID {
	h.t.Helper()
	r := h.post("/operations", token, map[string]any{"flow": "newsletter-coupon", "inputs": map[string]any{"code": code, "percent_off": 10}}, "Idempotency-Key", key)
	if r.status != http.StatusCreated && r.status != http.StatusOK {
		h.t.Fatalf("create: %d %s", r.status, r.raw)
	}
	return operation.ID(r.text("operation"))
}

// claimed gives an attempt on a ready operation.
func (h *house) claimed(token string) (operation.ID, string, int) {
	h.t.Helper()
	id := h.Ready(h.t)
	r := h.want(h.post("/operations/"+string(id)+"/claim", token, map[string]any{"worker": "w"}), 200)
	return id, r.text("attempt"), int(r.number("fence"))
}
