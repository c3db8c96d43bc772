package httpapi_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"holdpoint/connector/connectortest"
	"holdpoint/connector/httpapi"
	"holdpoint/connector/order"
	"holdpoint/operation"
	"holdpoint/operation/definition"
)

const hookProfile = `
destination: hook
title: {en: Hook}
kind: http
account: team
environment: test
base_url: ${env("HOOK_HOST")}
local: true
auth: {url: {env: HOOK_URL}}
actions:
  post:
    effect: message
    request: {method: POST, path: /, json: {text: "${content.text}"}}
    outcome:
      - {confirmed: "${status == 200 && body == 'ok'}"}
      - {not_started: "${status == 404}", code: no_such_hook, permanent: true}
`

func profileOf(t *testing.T, text string) *definition.Profile {
	t.Helper()
	p, err := definition.ParseProfile("profile.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func hook(t *testing.T, secretAddress func(base string) string) connectortest.Harness {
	return connectortest.Harness{
		Profile: profileOf(t, hookProfile), Action: "post",
		Content: func(n int) map[string]any { return map[string]any{"text": fmt.Sprint("Hello ", n)} },
		Env: func(base string) order.Env {
			return func(name string) (string, bool) {
				v, ok := map[string]string{"HOOK_HOST": base, "HOOK_URL": secretAddress(base)}[name]
				return v, ok
			}
		},
	}
}

// The whole address of a webhook is its secret: it is in nothing that is approved or kept.
func TestASecretAddressIsUsedAndNeverShown(t *testing.T) {
	t.Parallel()
	const path, query = "/services/T0001/B0001/hushHushHush01", "sig=veryHush%2F02&sp=run"
	h := hook(t, func(base string) string { return base + path + "?" + query })
	echo := "no_service: " + path + " hushHushHush01 veryHush/02 veryHush%2F02 " + query
	s := connectortest.StartServer(t, false, func(p *connectortest.Peer) {
		p.Read()
		p.Say(connectortest.AnswerText("404 Not Found", "Content-Type: text/plain\r\nLocation: "+path+"?"+query+"\r\n", echo))
	})
	base := "http://" + s.Addr
	o := h.Order(t, base)
	if o.Request.URL != base+"/" {
		t.Fatalf("approved address %q", o.Request.URL)
	}
	r := h.Connect(t, base, nil).Act(context.Background(), o)
	if r.Outcome != operation.OutcomeNotStarted || r.Proof.Code != "no_such_hook" {
		t.Errorf("%s %+v", r.Outcome, r.Proof)
	}
	if got := s.Seen()[0].Path; got != path+"?"+query {
		t.Errorf("posted to %q", got)
	}
	shown := fmt.Sprintf("%+v %+v %s", r, o, h.Profile.Auth.Name())
	for _, secret := range []string{"hushHush", "veryHush", "B0001/"} {
		if strings.Contains(shown, secret) {
			t.Errorf("%q shows: %s", secret, shown)
		}
	}
	if !strings.Contains(shown, "url env:HOOK_URL") {
		t.Errorf("the credential is not named: %s", shown)
	}
}

// A secret address that leads elsewhere would send approved bytes to a place that nobody
// approved.
func TestASecretAddressCannotLeadElsewhere(t *testing.T) {
	t.Parallel()
	s := connectortest.StartServer(t, false, answering("200 OK", "", "ok"))
	base := "http://" + s.Addr
	for name, address := range map[string]string{
		"another host":    strings.Replace(base, "127.0.0.1", "127.0.0.2", 1) + "/x",
		"another port":    "http://127.0.0.1:1/x",
		"another scheme":  strings.Replace(base, "http", "https", 1) + "/x",
		"host as a user":  "http://" + s.Addr + "@other.example/x",
		"longer host":     base + ".other.example/x",
		"with a fragment": base + "/x#y",
		"no address":      "hush-hush-no-address",
		"empty":           "",
	} {
		h := hook(t, func(string) string { return address })
		r := h.Connect(t, base, nil).Act(context.Background(), h.Order(t, base))
		if r.Outcome != operation.OutcomeNotStarted || r.Proof.Code != httpapi.CodeCredential || s.Connections() != 0 {
			t.Errorf("%s: %s %+v, %d connections", name, r.Outcome, r.Proof, s.Connections())
		}
		if strings.Contains(r.Proof.Detail, "hush") {
			t.Errorf("%s: the address shows: %s", name, r.Proof.Detail)
		}
	}
}

func TestASecretAddressHasNoPathOfItsOwnAndNoLookup(t *testing.T) {
	t.Parallel()
	for was, now := range map[string]string{
		"path: /,":     "path: /x,",
		"method: POST": "method: POST, query: {a: b}",
		"    outcome:": "    lookup: {request: {method: GET, path: \"/{key}\"}, match: \"${body}\", id: \"${match.id}\"}\n    outcome:",
	} {
		if _, err := definition.ParseProfile("p.yaml", []byte(strings.Replace(hookProfile, was, now, 1))); err == nil {
			t.Errorf("%s was taken", now)
		}
	}
}

const signedProfile = `
destination: signed
title: {en: Signed}
kind: http
account: "123456789012"
environment: test
base_url: ${env("PLACE")}
local: true
auth: {sigv4: {region: "${env('REGION')}", service: ses, access_key: {env: KEY_ID}, secret: {env: KEY}, session_token: {env: SESSION}}}
actions:
  send:
    effect: email
    request: {method: POST, path: /v2/email/outbound-emails, json: {subject: "${content.subject}"}}
    outcome:
      - {confirmed: "${status == 200}"}
`

// signed gives the harness; what the sandbox checks of a signature is tested there.
func signed(t *testing.T, values map[string]string) connectortest.Harness {
	return connectortest.Harness{
		Profile: profileOf(t, signedProfile), Action: "send",
		Content: func(n int) map[string]any { return map[string]any{"subject": fmt.Sprint("Grüße ", n)} },
		Env: func(base string) order.Env {
			return func(name string) (string, bool) {
				if name == "PLACE" {
					return base, true
				}
				v, ok := values[name]
				return v, ok
			}
		},
	}
}

func TestASignatureIsMadeWhenTheRequestLeaves(t *testing.T) {
	t.Parallel()
	h := signed(t, map[string]string{"REGION": "eu-central-1", "KEY_ID": "AKIDEXAMPLE", "KEY": "hush-hush-key", "SESSION": "hush-hush-session"})
	s := connectortest.StartServer(t, false, answering("400 Bad Request", "", `{"message":"hush-hush-key hush-hush-session"}`))
	base := "http://" + s.Addr
	o := h.Order(t, base)
	r := h.Connect(t, base, nil).Act(context.Background(), o)
	got := s.Seen()[0]
	authorization := got.Header.Get("Authorization")
	if !strings.HasPrefix(authorization, "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/") || !strings.Contains(authorization, "/eu-central-1/ses/aws4_request") {
		t.Errorf("authorization %q", authorization)
	}
	if got.Header.Get("X-Amz-Security-Token") != "hush-hush-session" || got.Header.Get("X-Amz-Date") == "" || got.Body != o.Request.Body {
		t.Errorf("headers %v, body %q", got.Header, got.Body)
	}
	if shown := fmt.Sprintf("%+v %+v", r, o); strings.Contains(shown, "hush-hush") || strings.Contains(shown, "AWS4") {
		t.Errorf("the credential shows: %s", shown)
	}
	if name := h.Profile.Auth.Name(); name != "sigv4 ses env:KEY_ID env:KEY env:SESSION" {
		t.Errorf("credential name %q", name)
	}
}

func TestNothingLeavesUnsigned(t *testing.T) {
	t.Parallel()
	whole := map[string]string{"REGION": "eu-central-1", "KEY_ID": "AKIDEXAMPLE", "KEY": "hush-hush-key", "SESSION": "hush-hush-session"}
	s := connectortest.StartServer(t, false, answering("200 OK", "", `{}`))
	base := "http://" + s.Addr
	for _, missing := range []string{"REGION", "KEY_ID", "KEY", "SESSION"} {
		values := map[string]string{}
		for name, v := range whole {
			if name != missing {
				values[name] = v
			}
		}
		h := signed(t, values)
		r := h.Connect(t, base, nil).Act(context.Background(), h.Order(t, base))
		if r.Outcome != operation.OutcomeNotStarted || r.Proof.Code != httpapi.CodeCredential || s.Connections() != 0 {
			t.Errorf("without %s: %s %+v", missing, r.Outcome, r.Proof)
		}
	}
	if _, err := definition.ParseProfile("p.yaml", []byte(strings.Replace(signedProfile, `"${env('REGION')}"`, "Frankfurt am Main", 1))); err == nil {
		t.Error("a region that is none was taken")
	}
}
