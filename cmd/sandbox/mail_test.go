package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestMail(t *testing.T) {
	t.Parallel()

	t.Run("AcceptsAndReads", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		made := p.effect(destMail, key, "k")
		p.wantStatus(made, http.StatusOK)
		id, _ := made.at("id").(string)
		read := p.get("/mail/emails/" + id)
		if read.at("last_event") != "sent" || read.at("subject") != "S" || read.at("to").([]any)[0] != "b@example.test" {
			t.Fatal(read.raw)
		}
		p.wantStatus(p.get("/mail/emails/em-none"), http.StatusNotFound)
		p.wantEffects(destMail, "op_1", 1)
		if g := p.get("/mail/emails"); len(g.at("data").([]any)) != 1 {
			t.Fatal(g.raw)
		}
	})

	t.Run("SearchByTagLags", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		p.control("settings", `{"destination":"mail","index_lag":"10s"}`)
		p.effect(destMail)
		path := "/mail/emails?tag=operation_id:op_1"
		if g := p.get(path); len(g.at("data").([]any)) != 0 {
			t.Fatal(g.raw)
		}
		p.control("clock", `{"advance":"11s"}`)
		if g := p.get(path); len(g.at("data").([]any)) != 1 {
			t.Fatal(g.raw)
		}
		if g := p.get("/mail/emails?tag=operation_id:op_2"); len(g.at("data").([]any)) != 0 {
			t.Fatal(g.raw)
		}
	})

	t.Run("SameKeySameAnswer", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		first := p.effect(destMail, key, "k")
		spaced := strings.Replace(effectRequests[destMail].body, `"from":`, `"from" : `, 1)
		if again := p.json("/mail/emails", spaced, key, "k"); again.raw != first.raw {
			t.Fatal(again.raw)
		}
		p.wantEffects(destMail, "op_1", 1)
		other := strings.Replace(effectRequests[destMail].body, `"S"`, `"Other"`, 1)
		changed := p.json("/mail/emails", other, key, "k")
		p.wantStatus(changed, http.StatusConflict)
		if changed.at("name") != "invalid_idempotent_request" {
			t.Fatal(changed.raw)
		}
		p.control("clock", `{"advance":"24h"}`)
		p.wantStatus(p.json("/mail/emails", other, key, "k"), http.StatusOK)
		p.wantEffects(destMail, "op_1", 2)
	})

	t.Run("ConcurrentRequestIsToldToWait", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		p.control("faults", `{"destination":"mail","fault":"slow","delay":"300ms","times":0}`)
		answers := make(chan got, 2)
		for range 2 {
			go func() { answers <- p.effect(destMail, key, "k") }()
		}
		second, first := <-answers, <-answers
		p.wantStatus(first, http.StatusOK)
		p.wantStatus(second, http.StatusConflict)
		if second.at("name") != "concurrent_idempotent_requests" {
			t.Fatal(second.raw)
		}
	})

	t.Run("ErrorAfterTheEffectIsNotStored", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		p.control("faults", `{"destination":"mail","fault":"status_after_execute"}`)
		p.wantStatus(p.effect(destMail, key, "k"), http.StatusInternalServerError)
		p.wantStatus(p.effect(destMail, key, "k"), http.StatusOK)
		p.wantEffects(destMail, "op_1", 1)
	})

	for name, c := range map[string]struct{ body, want string }{
		"no JSON":      {"x", "validation_error"},
		"no recipient": {`{"from":"a@example.test","subject":"S","text":"T"}`, "missing_required_field"},
		"no content":   {`{"from":"a@example.test","to":"b@example.test","subject":"S"}`, "missing_required_field"},
		"bad address":  {`{"from":"a@example.test","to":"b","subject":"S","text":"T"}`, "validation_error"},
		"bad tag":      {`{"from":"a@example.test","to":["b@example.test"],"subject":"S","text":"T","tags":[{"name":"a","value":"b c"}]}`, "validation_error"},
	} {
		t.Run("Refuses/"+name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t)
			g := p.json("/mail/emails", c.body)
			p.wantStatus(g, http.StatusUnprocessableEntity)
			if g.at("name") != c.want {
				t.Fatal(g.raw)
			}
			p.wantEffects(destMail, "", 0)
		})
	}

	t.Run("KeyLength", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		long := p.effect(destMail, key, strings.Repeat("k", 257))
		p.wantStatus(long, http.StatusBadRequest)
		if long.at("name") != "invalid_idempotency_key" {
			t.Fatal(long.raw)
		}
		p.wantStatus(p.effect(destMail, key, strings.Repeat("k", 256)), http.StatusOK)
	})
}

// notice is one callback as the receiver saw it.
type notice struct {
	path, token, id string
	body            map[string]any
}

func receiver(t *testing.T) (string, <-chan notice) {
	t.Helper()
	seen := make(chan notice, 10)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := notice{path: r.URL.Path, token: r.Header.Get("Authorization"), id: r.Header.Get("Svix-Id")}
		if err := json.NewDecoder(r.Body).Decode(&n.body); err != nil {
			t.Error(err)
		}
		seen <- n
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, seen
}

func TestMailCallbacks(t *testing.T) {
	t.Parallel()

	t.Run("OnCommand", func(t *testing.T) {
		t.Parallel()
		url, seen := receiver(t)
		p := newPeer(t, func(c *config) { c.callbackURL, c.callbackToken = url+"/api/v1/callbacks", "tok" })
		id, _ := p.effect(destMail).at("id").(string)
		for _, event := range []string{"delivered", "bounced", "complained"} {
			told := p.control("deliver", `{"reference":"op_1","event":"`+event+`"}`)
			if told.at("status") != 202.0 {
				t.Fatal(told.raw)
			}
			n := <-seen
			data, _ := n.body["data"].(map[string]any)
			if n.path != "/api/v1/callbacks/mail" || n.token != "Bearer tok" || n.id == "" || n.body["type"] != "email."+event ||
				data["email_id"] != id || data["tags"].(map[string]any)["operation_id"] != "op_1" || data["to"].([]any)[0] != "b@example.test" {
				t.Fatalf("%+v", n)
			}
			if g := p.get("/mail/emails/" + id); g.at("last_event") != event {
				t.Fatal(g.raw)
			}
		}
		p.wantStatus(p.json("/_control/deliver", `{"id":"em-none","event":"delivered"}`), http.StatusBadRequest)
		p.wantStatus(p.json("/_control/deliver", `{"id":"`+id+`","event":"eaten"}`), http.StatusBadRequest)
		p.wantStatus(p.json("/_control/deliver", `{"event":"delivered"}`), http.StatusBadRequest)
	})

	t.Run("WithoutAURLOnlyTheMailChanges", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		id, _ := p.effect(destMail).at("id").(string)
		told := p.control("deliver", `{"id":"`+id+`","event":"delivered"}`)
		if told.at("url") != nil || told.at("status") != nil {
			t.Fatal(told.raw)
		}
		if g := p.get("/_control/callbacks"); len(g.at("callbacks").([]any)) != 1 {
			t.Fatal(g.raw)
		}
	})

	t.Run("ByThemselves", func(t *testing.T) {
		t.Parallel()
		url, seen := receiver(t)
		p := newPeer(t, func(c *config) { c.callbackURL = url + "/mail" })
		p.control("settings", `{"destination":"mail","auto_deliver":"50ms"}`)
		p.effect(destMail)
		if n := <-seen; n.path != "/mail" || n.body["type"] != "email.delivered" {
			t.Fatalf("%+v", n)
		}
	})

	t.Run("ByThemselvesWhenTheClockIsAdvanced", func(t *testing.T) {
		t.Parallel()
		url, seen := receiver(t)
		p := newPeer(t, func(c *config) { c.callbackURL = url })
		p.control("settings", `{"destination":"mail","auto_deliver":"3h"}`)
		p.effect(destMail)
		p.control("clock", `{"advance":"4h"}`)
		select {
		case n := <-seen:
			if n.body["type"] != "email.delivered" {
				t.Fatalf("%+v", n)
			}
		case <-time.After(5 * time.Second):
			t.Fatal("no callback")
		}
	})

	t.Run("AddressSetWhileRunningOutlivesAReset", func(t *testing.T) {
		t.Parallel()
		url, seen := receiver(t)
		p := newPeer(t)
		p.control("settings", `{"destination":"mail","callback_url":"`+url+`","callback_token":"later"}`)
		p.control("reset", "")
		p.effect(destMail)
		p.control("deliver", `{"reference":"op_1","event":"delivered"}`)
		if n := <-seen; n.token != "Bearer later" || n.path != "/mail" {
			t.Fatalf("%+v", n)
		}
		if g := p.get("/_control/settings"); strings.Contains(g.raw, "later") {
			t.Fatal("the token is shown")
		}
	})

	t.Run("AFailureIsTold", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t, func(c *config) { c.callbackURL = "http://127.0.0.1:1" })
		p.effect(destMail)
		if told := p.control("deliver", `{"reference":"op_1","event":"bounced"}`); told.at("error") == nil {
			t.Fatal(told.raw)
		}
	})
}
