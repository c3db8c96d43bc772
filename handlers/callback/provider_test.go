package callback_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"holdpoint/connector/connectortest"
	"holdpoint/jobs"
	"holdpoint/operation"
	"holdpoint/store"
)

// told is what the provider heard when it posted its callback.
type told struct{ Posted []struct{ Status int } }

func control(t *testing.T, method, address string, order map[string]any, into any) {
	t.Helper()
	raw, err := json.Marshal(order)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, address, bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp.StatusCode, err)
	}
}

// TestProviders sends a mail through the worker and lets the provider tell of it itself.
func TestProviders(t *testing.T) {
	t.Parallel()
	for system, secret := range map[string]string{"sendgrid": "SENDGRID_WEBHOOK_KEY", "resend": "RESEND_WEBHOOK_SECRET", "postmark": "POSTMARK_WEBHOOK_LOGIN", "mailgun": "MAILGUN_WEBHOOK_KEY", "ses": "SNS_CERTIFICATE"} {
		t.Run(system, func(t *testing.T) {
			t.Parallel()
			provider(t, system, secret)
		})
	}
}

func provider(t *testing.T, system, secret string) {
	box := connectortest.StartSandbox(t)
	base := map[string]string{"sendgrid": "SENDGRID_URL", "resend": "RESEND_URL", "postmark": "POSTMARK_URL", "mailgun": "MAILGUN_URL", "ses": "SES_URL"}[system]
	path := map[string]string{"mailgun": "/v3/mg.example.test"}[system]
	h := newHouse(t, system, "send", `base_url: ${env("`+base+`")}`, `base_url: "`+box.URL+"/"+system+path+"\"\nlocal: true",
		"signature: {scheme: sns}", "signature: {scheme: sns}\n  secrets: [{env: SNS_CERTIFICATE}]")
	var given struct{ Secret string }
	address := box.URL + "/_control/callbacks/" + system
	control(t, http.MethodGet, address, nil, &given)
	h.secrets[secret] = given.Secret

	id := h.perform()
	d := dispatched{h: h, id: id}
	tell := func(status int, order map[string]any) {
		t.Helper()
		order["to"], order["reference"] = h.url+"/cb/"+system, string(id)
		var out told
		control(t, http.MethodPost, address, order, &out)
		for _, p := range out.Posted {
			if p.Status != status {
				t.Errorf("%v: %d, want %d", order, p.Status, status)
			}
		}
	}
	if system != "postmark" { // it signs nothing
		if system != "mailgun" { // it does not sign what it tells
			tell(http.StatusUnauthorized, map[string]any{"event": "delivered", "forged": true})
		}
		tell(http.StatusUnauthorized, map[string]any{"event": "delivered", "age": "26h"})
		tell(http.StatusOK, map[string]any{"event": "accepted"})
		d.want("confirmed", "accepted", "")
	}
	tell(http.StatusOK, map[string]any{"event": "delivered", "times": 2})
	d.want("confirmed", "delivered", "")
	if n := h.Count(t, "news WHERE operation_id = $1 AND kind = 'delivered'", string(id)); n != 1 {
		t.Errorf("told twice, kept %d times", n)
	}
	tell(http.StatusOK, map[string]any{"event": "deferred"}) // late
	d.want("confirmed", "delivered", "")
	tell(http.StatusOK, map[string]any{"event": "bounced"})
	d.want("confirmed", "bounced", "bounced")
	if n := len(box.Ledger(t, system, string(id))); n != 1 {
		t.Errorf("%d mails", n)
	}
}

// perform has one approved mail really sent.
func (h *house) perform() operation.ID {
	h.t.Helper()
	w, err := jobs.New(jobs.Config{Store: h.Store, Log: slog.New(slog.DiscardHandler), Poll: 50 * time.Millisecond,
		Env: func(name string) (string, bool) {
			if name == "AWS_REGION" {
				return "eu-central-1", true
			}
			return "sandbox-secret-access-key", true
		}})
	if err != nil {
		h.t.Fatal(err)
	}
	if err := w.Start(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = w.Stop(context.Background()) })
	rec, err := h.Store.Receive(h.t.Context(), store.System("api"), store.Received{Source: "form", Account: "demo", Topic: "system.asked", EventKey: "really", Data: map[string]any{}, Body: []byte(`{}`), Status: 200})
	if err != nil || len(rec.Operations) != 1 {
		h.t.Fatal(rec, err)
	}
	h.Approve(h.t, rec.Operations[0], "lead")
	for until := time.Now().Add(20 * time.Second); h.State(h.t, rec.Operations[0]) != operation.Confirmed; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) {
			h.t.Fatalf("the mail is %s", h.State(h.t, rec.Operations[0]))
		}
	}
	return rec.Operations[0]
}
