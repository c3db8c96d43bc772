package api_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

func coupon() store.Received { return storetest.CouponEvent() }

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func fence(n int) map[string]any { return map[string]any{"fence": n} }

func TestAttempt(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	tok := h.token("claims")
	id, att, f := h.claimed(tok)

	if s := h.State(t, id); s != operation.InProgress {
		t.Fatalf("state %s", s)
	}
	h.want(h.post("/attempts/"+att+"/heartbeat", tok, fence(f)), 200)
	if r := h.want(h.post("/attempts/"+att+"/dispatch", tok, fence(f+1)), http.StatusConflict); r.text("code") != "stale_fence" || strings.Contains(r.raw, "request\"") {
		t.Errorf("a stale fence got %s", r.raw)
	}
	d := h.want(h.post("/attempts/"+att+"/dispatch", tok, fence(f)), 200)
	req, _ := d.body["request"].(map[string]any)
	if req["method"] != "POST" || !strings.Contains(req["url"].(string), "/billing/v1/coupons") || d.text("key") != string(id) || d.text("send_by") == "" || d.number("budget_ms") <= 0 {
		t.Errorf("dispatch: %s", d.raw)
	}
	if !strings.Contains(req["body"].(string), string(id)) {
		t.Errorf("the hole of the operation's ID is not filled: %s", req["body"])
	}
	again := h.want(h.post("/attempts/"+att+"/dispatch", tok, fence(f)), 200)
	if a, b := d.body["request"], again.body["request"]; mustJSON(t, a) != mustJSON(t, b) || d.text("send_by") != again.text("send_by") {
		t.Errorf("not the same answer again:\n%s\n%s", d.raw, again.raw)
	}
	stranger := h.token("claims")
	h.want(h.post("/attempts/"+att+"/dispatch", stranger, fence(f)), http.StatusConflict)
	h.want(h.post("/attempts/"+att+"/outcome", stranger, map[string]any{"fence": f, "outcome": "confirmed", "target_reference": "X"}), http.StatusConflict)

	out := map[string]any{"fence": f, "outcome": "confirmed", "target_reference": "coupon-1", "target_url": "javascript:alert(1)",
		"proof": map[string]any{"code": "created", "status": 200, "excerpt": `{"id":"coupon-1","email":"kim@example.test"}`}}
	r := h.want(h.post("/attempts/"+att+"/outcome", tok, out), 200)
	if r.text("state") != "confirmed" || r.text("outcome") != "confirmed" || r.body["late"] != false {
		t.Errorf("outcome: %s", r.raw)
	}
	if r := h.want(h.post("/attempts/"+att+"/outcome", tok, out), 200); r.text("state") != "confirmed" || r.body["late"] != false {
		t.Errorf("the same report again: %s", r.raw)
	}
	if n := h.Count(t, "evidence WHERE operation_id = $1", string(id)); n != 0 {
		t.Errorf("the repeated report left %d pieces of evidence", n)
	}
	if n := h.Count(t, "attempts WHERE proof LIKE '%kim@%'"); n != 0 {
		t.Error("personal data of the excerpt was kept")
	}
	if n := h.Count(t, "operations WHERE target_url LIKE 'javascript%'"); n != 0 {
		t.Error("an unsafe link was kept")
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// FC-25: what counts is what is proven, not what a job says.
func TestFieldCase25_AReportWithoutProofIsUnknown(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	tok := h.token("claims")
	for _, c := range []struct {
		name    string
		report  map[string]any
		outcome string
		code    string
		state   operation.State
	}{
		{"ConfirmedWithoutReference", map[string]any{"outcome": "confirmed"}, "unknown", "reference_missing", operation.Unknown},
		{"NotStartedWithoutCode", map[string]any{"outcome": "not_started"}, "unknown", "proof_not_listed", operation.Unknown},
		{"NotStartedByExitCode", map[string]any{"outcome": "not_started", "proof": map[string]any{"code": "exit_1"}}, "unknown", "proof_not_listed", operation.Unknown},
		{"NotStartedByForeignCode", map[string]any{"outcome": "not_started", "proof": map[string]any{"code": "looks_fine"}}, "unknown", "proof_not_listed", operation.Unknown},
		{"NotStartedByListedCode", map[string]any{"outcome": "not_started", "proof": map[string]any{"code": "rate_limited", "status": 429}}, "not_started", "", operation.RetryScheduled},
		{"NotStartedForGood", map[string]any{"outcome": "not_started", "proof": map[string]any{"code": "validation", "status": 400}}, "not_started", "", operation.Review},
		{"Unknown", map[string]any{"outcome": "unknown", "proof": map[string]any{"code": "timeout"}}, "unknown", "", operation.Unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			id, att, f := h.claimed(tok)
			h.want(h.post("/attempts/"+att+"/dispatch", tok, fence(f)), 200)
			c.report["fence"] = f
			r := h.want(h.post("/attempts/"+att+"/outcome", tok, c.report), 200)
			if r.text("outcome") != c.outcome || r.text("code") != c.code || (c.code != "") != (r.text("reason") != "") {
				t.Errorf("counts as %s", r.raw)
			}
			if s := h.State(t, id); s != c.state {
				t.Errorf("state %s, want %s", s, c.state)
			}
		})
	}
	t.Run("BeforeDispatchNothingHappened", func(t *testing.T) {
		id, att, f := h.claimed(tok)
		h.want(h.post("/attempts/"+att+"/outcome", tok, map[string]any{"fence": f, "outcome": "confirmed", "target_reference": "R"}), http.StatusConflict)
		r := h.want(h.post("/attempts/"+att+"/outcome", tok, map[string]any{"fence": f, "outcome": "unknown"}), 200)
		if r.text("outcome") != "not_started" || h.State(t, id) != operation.RetryScheduled {
			t.Errorf("before dispatch: %s", r.raw)
		}
	})
}

// FC-18: what runs is what was approved.
func TestFieldCase18_WhatRunsIsWhatWasApproved(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	tok := h.token("claims read operations")
	content := func(id operation.ID) (map[string]any, string) {
		v, _ := h.want(h.get("/operations/"+string(id), tok), 200).body["version"].(map[string]any)
		return v["content"].(map[string]any), v["content_hash"].(string)
	}
	other := h.Ready(t)
	otherContent, otherHash := content(other)
	for _, c := range []struct {
		name    string
		present func(map[string]any) map[string]any
		differs bool
	}{
		{"OneChangedField", func(m map[string]any) map[string]any {
			m["percent_off"] = 11
			return map[string]any{"content": m}
		}, true},
		{"Empty", func(map[string]any) map[string]any { return map[string]any{"content": map[string]any{}} }, true},
		{"KeysReordered", func(m map[string]any) map[string]any {
			return map[string]any{"content": json.RawMessage(`{"percent_off":` + mustJSON(t, m["percent_off"]) + `,"name":` + mustJSON(t, m["name"]) + `,"code":` + mustJSON(t, m["code"]) + `}`)}
		}, false},
		{"AnAddedField", func(m map[string]any) map[string]any {
			m["note"] = nil
			return map[string]any{"content": m}
		}, true},
		{"AnotherOperations", func(map[string]any) map[string]any { return map[string]any{"content": otherContent} }, true},
		{"AnotherHash", func(map[string]any) map[string]any { return map[string]any{"content_hash": otherHash} }, true},
		{"AnotherRequest", func(map[string]any) map[string]any {
			return map[string]any{"request": map[string]any{"kind": "http", "method": "POST", "url": "https://elsewhere.example/", "body": ""}}
		}, true},
	} {
		for _, at := range []string{"claim", "dispatch"} {
			t.Run(c.name+"/"+at, func(t *testing.T) {
				id := h.Ready(t)
				m, _ := content(id)
				body := c.present(m)
				path := "/operations/" + string(id) + "/claim"
				if at == "dispatch" {
					r := h.want(h.post(path, tok, map[string]any{"worker": "w"}), 200)
					body["fence"] = r.number("fence")
					path = "/attempts/" + r.text("attempt") + "/dispatch"
				} else {
					body["worker"] = "w"
				}
				r := h.post(path, tok, body)
				if !c.differs {
					h.want(r, 200)
					return
				}
				h.want(r, http.StatusConflict)
				if r.text("code") != "content_differs" {
					t.Errorf("code: %s", r.raw)
				}
				if n := h.Count(t, "attempts WHERE operation_id = $1 AND outcome = 'not_started' AND dispatched_at IS NULL AND resolved IS NULL", string(id)); n != 1 {
					t.Errorf("%d attempts ended as not_started", n)
				}
				if n := h.Count(t, "history WHERE subject_id = $1 AND action = 'content_differs'", string(id)); n != 1 {
					t.Errorf("%d entries show what was presented", n)
				}
				if n := h.Count(t, "operations WHERE id = $1 AND attempts_used = 0", string(id)); n != 1 {
					t.Error("the try was not given back")
				}
			})
		}
	}
	t.Run("TheHashIsThatOfTheCanonicalJSON", func(t *testing.T) {
		id := h.Ready(t)
		m, hash := content(id)
		raw, err := json.Marshal(m) // sorted keys, plain values: canonical already
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(raw)
		if hex.EncodeToString(sum[:]) != hash {
			t.Errorf("hash %s of %s", hash, raw)
		}
		h.want(h.post("/operations/"+string(id)+"/claim", tok, map[string]any{"worker": "w", "content_hash": "sha256:" + strings.ToUpper(hash)}), 200)
	})
	t.Run("TheApprovedRequestPasses", func(t *testing.T) {
		_, att, f := h.claimed(tok)
		d := h.want(h.post("/attempts/"+att+"/dispatch", tok, fence(f)), 200)
		again := map[string]any{"fence": f, "request": d.body["request"]}
		h.want(h.post("/attempts/"+att+"/dispatch", tok, again), 200)
	})
	t.Run("AnOldVersionsTextDoesNot", func(t *testing.T) {
		id := h.Receive(t, coupon())[0]
		old, oldHash := content(id)
		next := map[string]any{"code": old["code"], "percent_off": 20, "name": "second"}
		h.want(h.post("/operations/"+string(id)+"/versions", tok, map[string]any{"content": next}), 200)
		h.Approve(t, id, "lead")
		h.want(h.post("/operations/"+string(id)+"/claim", tok, map[string]any{"worker": "w", "content_hash": oldHash}), http.StatusConflict)
	})
}

// FC-30, by the API: a lease that is lost, and the first worker's late word.
func TestFieldCase30_LeaseLostWhileTheWorkerLives(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	tok := h.token("claims read")
	expire := func(id operation.ID) {
		t.Helper()
		if _, err := h.Owner.ExecContext(t.Context(), `UPDATE attempts SET lease_until = clock_timestamp() - interval '1 second' WHERE operation_id = $1 AND outcome IS NULL`, string(id)); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Store.SweepLeases(t.Context(), store.System("job")); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("BeforeDispatchTheFirstStops", func(t *testing.T) {
		id, att, f := h.claimed(tok)
		expire(id)
		if s := h.State(t, id); s != operation.RetryScheduled {
			t.Fatalf("state %s", s)
		}
		due(t, h, id)
		second := h.want(h.post("/operations/"+string(id)+"/claim", tok, map[string]any{"worker": "w"}), 200)
		if second.text("attempt") == att || int(second.number("fence")) == f {
			t.Error("the second claim has no token of its own")
		}
		h.want(h.post("/attempts/"+att+"/dispatch", tok, fence(f)), http.StatusConflict)
		h.want(h.post("/attempts/"+att+"/heartbeat", tok, fence(f)), http.StatusConflict)
		h.want(h.post("/attempts/"+second.text("attempt")+"/dispatch", tok, fence(int(second.number("fence")))), 200)
	})
	t.Run("AfterDispatchNobodySendsAgain", func(t *testing.T) {
		id, att, f := h.claimed(tok)
		h.want(h.post("/attempts/"+att+"/dispatch", tok, fence(f)), 200)
		expire(id)
		if s := h.State(t, id); s != operation.Unknown {
			t.Fatalf("state %s", s)
		}
		r := h.want(h.post("/operations/"+string(id)+"/claim", tok, map[string]any{"worker": "w"}), http.StatusConflict)
		if r.body["next_decision"] == nil || r.text("state") != "unknown" {
			t.Errorf("refusal: %s", r.raw)
		}
		late := h.want(h.post("/attempts/"+att+"/outcome", tok, map[string]any{"fence": f, "outcome": "not_started", "proof": map[string]any{"code": "rate_limited"}}), 200)
		if late.body["late"] != true || h.State(t, id) != operation.Unknown {
			t.Errorf("a late word changed the state: %s", late.raw)
		}
		late = h.want(h.post("/attempts/"+att+"/outcome", tok, map[string]any{"fence": f, "outcome": "confirmed", "target_reference": "late-1"}), 200)
		if late.body["late"] != true || late.text("state") != "confirmed" {
			t.Errorf("late evidence of the effect: %s", late.raw)
		}
	})
}

// due makes a scheduled try due.
func due(t *testing.T, h *house, id operation.ID) {
	t.Helper()
	if _, err := h.Owner.ExecContext(t.Context(), `UPDATE operations SET retry_at = clock_timestamp() - interval '1 second' WHERE id = $1`, string(id)); err != nil {
		t.Fatal(err)
	}
}

// What a destination answered may hold anything; the operation must stay readable.
func TestAnyExcerptStaysReadable(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	tok := h.token("claims read")
	id, att, f := h.claimed(tok)
	h.want(h.post("/attempts/"+att+"/dispatch", tok, fence(f)), 200)
	if _, err := h.Store.Record(t.Context(), store.Job("w"), operation.AttemptID(att), int64(f), operation.Result{Proof: operation.Proof{Code: "body_cut", Excerpt: "a\x00b\u2028"}}); err != nil {
		t.Fatal(err)
	}
	r := h.want(h.get("/operations/"+string(id), tok), 200)
	attempt, _ := r.list("attempts")[0].(map[string]any)
	if attempt["outcome"] != "unknown" || attempt["code"] != "body_cut" {
		t.Errorf("attempts: %s", r.raw)
	}
}

func TestClaims(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	tok := h.token("claims")
	for range 3 {
		h.Ready(t)
	}
	h.Receive(t, coupon()) // waits for approval
	r := h.want(h.post("/claims", tok, map[string]any{"destination": "billing", "max": 2, "worker": "w"}), 200)
	if len(r.list("claims")) != 2 {
		t.Fatalf("claims: %s", r.raw)
	}
	if r := h.want(h.post("/claims", tok, map[string]any{"destination": "billing", "max": 50, "worker": "w"}), 200); len(r.list("claims")) != 1 {
		t.Errorf("the rest: %s", r.raw)
	}
	h.Ready(t)
	for name, limited := range map[string]string{
		"another flow": h.token("claims", []string{"goodwill-invoice"}),
	} {
		if r := h.want(h.post("/claims", limited, map[string]any{"destination": "billing", "worker": "w"}), 200); len(r.list("claims")) != 0 {
			t.Errorf("%s: %s", name, r.raw)
		}
	}
	foreign := h.want(h.post("/claims", h.token("claims", nil, []string{"crm"}), map[string]any{"destination": "billing", "worker": "w"}), http.StatusNotFound)
	missing := h.want(h.post("/claims", tok, map[string]any{"destination": "nowhere", "worker": "w"}), http.StatusNotFound)
	if foreign.raw != missing.raw {
		t.Errorf("foreign and missing differ:\n%s%s", foreign.raw, missing.raw)
	}
	h.want(h.post("/claims", tok, map[string]any{"destination": "billing", "worker": "w", "max": 51}), http.StatusBadRequest)
}
