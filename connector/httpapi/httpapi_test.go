package httpapi_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"holdpoint/connector"
	"holdpoint/connector/connectortest"
	"holdpoint/connector/httpapi"
	"holdpoint/connector/order"
	"holdpoint/operation"
	"holdpoint/operation/definition"
)

const created = `{"id":"THG-1"}`

func answering(status, headers, body string) func(*connectortest.Peer) {
	return func(p *connectortest.Peer) {
		p.Read()
		p.Say(connectortest.AnswerText(status, "Content-Type: application/json\r\n"+headers, body))
	}
}

func TestActAddsTheCredentialOnlyWhenItSends(t *testing.T) {
	t.Parallel()
	env := func(base string) order.Env {
		return func(name string) (string, bool) {
			v, ok := map[string]string{connectortest.PlaceEnv: base, "USER": "mailer", "PASS": "hush-hush-1"}[name]
			return v, ok
		}
	}
	basic := base64.StdEncoding.EncodeToString([]byte("mailer:hush-hush-1"))
	pass := definition.SecretRef{Env: "PASS"}
	cases := []struct {
		auth         definition.Auth
		header, want string
	}{
		{definition.Auth{Scheme: "bearer", Secret: pass}, "Authorization", "Bearer hush-hush-1"},
		{definition.Auth{Scheme: "basic", User: definition.SecretRef{Env: "USER"}, Secret: pass}, "Authorization", "Basic " + basic},
		{definition.Auth{Scheme: "header", Header: "X-Api-Key", Secret: pass}, "X-Api-Key", "hush-hush-1"},
		{definition.Auth{Scheme: "none"}, "Authorization", ""},
	}
	for _, c := range cases {
		h := connectortest.Destination(t, "plain")
		h.Env = func(base string) connector.Env { return env(base) }
		h.Profile.Auth = c.auth
		echo := fmt.Sprintf(`{"message":"hush-hush-1 and %s and hush-hush-1x"}`, basic)
		s := connectortest.StartServer(t, false, answering("403 Forbidden", "Request-Id: hush-hush-1\r\n", echo))
		base := "http://" + s.Addr
		o := h.Order(t, base)
		r := h.Connect(t, base, nil).Act(context.Background(), o)
		if r.Outcome != operation.OutcomeNotStarted || r.Proof.Code != "refused_before_execution" || r.Proof.Phase != operation.PhaseComplete {
			t.Errorf("%s: %s %+v", c.auth.Scheme, r.Outcome, r.Proof)
		}
		if got := s.Seen()[0].Header.Get(c.header); got != c.want {
			t.Errorf("%s: %s: %q, want %q", c.auth.Scheme, c.header, got, c.want)
		}
		if shown := fmt.Sprintf("%+v %+v", r, o); c.want != "" && (strings.Contains(shown, "hush-hush") || c.auth.Scheme == "basic" && strings.Contains(shown, basic)) {
			t.Errorf("%s: the credential shows: %s", c.auth.Scheme, shown)
		}
	}
}

func TestActWithoutACredentialSendsNothing(t *testing.T) {
	t.Parallel()
	s := connectortest.StartServer(t, false, answering("201 Created", "", created))
	h := connectortest.Destination(t, "plain")
	h.Profile.Auth.Secret = definition.SecretRef{Env: "NOT_SET"}
	base := "http://" + s.Addr
	r := h.Connect(t, base, nil).Act(context.Background(), h.Order(t, base))
	if r.Outcome != operation.OutcomeNotStarted || r.Proof.Code != httpapi.CodeCredential || s.Connections() != 0 {
		t.Errorf("%+v, %d connections", r, s.Connections())
	}
	if f := h.Connect(t, base, nil).Lookup(context.Background(), connector.LookupOrder{Action: "create_thing"}); f.Result != operation.LookupUnreachable {
		t.Errorf("%+v", f)
	}
}

// A confirmation that comes before the request is complete is not one to it.
func TestActDoesNotTakeAnEarlyConfirmation(t *testing.T) {
	t.Parallel()
	h := connectortest.Destination(t, "plain")
	s := connectortest.StartServer(t, false, func(p *connectortest.Peer) {
		_, _ = p.R.Peek(1)
		p.Say(connectortest.AnswerText("201 Created", "", created))
		p.Conn.Close()
	})
	base := "http://" + s.Addr
	o := h.Order(t, base)
	o.Request.Body = `{"name":"` + strings.Repeat("x", 32<<20) + `"}`
	r := h.Connect(t, base, nil).Act(context.Background(), o)
	if r.Outcome != operation.OutcomeUnknown || r.TargetReference != "" {
		t.Errorf("%s %+v", r.Outcome, r.Proof)
	}
}

func TestActConfirmsWithTheDestinationsReference(t *testing.T) {
	t.Parallel()
	for _, encrypted := range []bool{false, true} {
		s := connectortest.StartServer(t, encrypted, answering("201 Created", "", created))
		base := map[bool]string{false: "http://", true: "https://"}[encrypted] + s.Addr
		h := connectortest.Destination(t, "plain")
		r := h.Connect(t, base, s.Roots).Act(context.Background(), h.Order(t, base))
		if r.Outcome != operation.OutcomeConfirmed || r.TargetReference != "THG-1" || r.Proof.Status != 201 || r.Proof.Written == 0 || r.Proof.Code == "" {
			t.Errorf("%s %+v", r.Outcome, r)
		}
	}
}

func TestLookupThatIsNotAWholeAnswerSaysNothing(t *testing.T) {
	t.Parallel()
	h := connectortest.Destination(t, "crm")
	for name, play := range map[string]func(*connectortest.Peer){
		"closed":     func(p *connectortest.Peer) { p.Read() },
		"silent":     func(p *connectortest.Peer) { p.Read(); p.Hold() },
		"cut":        func(p *connectortest.Peer) { p.Read(); p.Say("HTTP/1.1 404 Not Found\r\nContent-Length: 90\r\n\r\n{") },
		"redirect":   answering("302 Found", "Location: /login\r\n", `{"id":"x"}`),
		"500":        answering("500 Oops", "", `{}`),
		"401":        answering("401 Unauthorized", "", `{}`),
		"other 404":  answering("404 Not Found", "", `<h1>no such page</h1>`),
		"login page": answering("200 OK", "", `<h1>Sign in</h1>`),
		"empty 200":  answering("200 OK", "", ``),
	} {
		s := connectortest.StartServer(t, false, play)
		base := "http://" + s.Addr
		o := h.Order(t, base)
		f := h.Connect(t, base, nil).Lookup(context.Background(), connectortest.Lookup(o))
		if f.Result != operation.LookupUnreachable || f.ID != "" || f.Proof.Code == "" {
			t.Errorf("%s: %+v", name, f)
		}
		if n := s.Count("POST"); n != 0 || s.Connections() != 1 {
			t.Errorf("%s: %d POSTs, %d connections", name, n, s.Connections())
		}
	}
}
