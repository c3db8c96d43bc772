package api_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"holdpoint/operation"
)

func TestCreateOperation(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	tok := h.token("operations read")
	body := `{"flow":"newsletter-coupon","inputs":{"code":"SPRING-1","percent_off":10}}`

	t.Run("NeedsAKey", func(t *testing.T) {
		r := h.want(h.post("/operations", tok, body), http.StatusBadRequest)
		if r.header.Get("Content-Type") != "application/problem+json" || !strings.Contains(r.raw, "Idempotency-Key") {
			t.Errorf("the answer does not name the header: %s", r.raw)
		}
		h.want(h.post("/operations", tok, body, "Idempotency-Key", `""`), http.StatusBadRequest)
	})
	t.Run("SameKeySameOperation", func(t *testing.T) {
		first := h.want(h.post("/operations", tok, body, "Idempotency-Key", "k-1"), http.StatusCreated)
		quoted := h.want(h.post("/operations", tok, body, "Idempotency-Key", `"k-1"`), http.StatusOK)
		reordered := `{"inputs": {"percent_off":10, "code":"SPRING-1"}, "flow":"newsletter-coupon"}`
		third := h.want(h.post("/operations/", tok, reordered, "Idempotency-Key", "k-1"), http.StatusOK)
		if id := first.text("operation"); quoted.text("operation") != id || third.text("operation") != id || id == "" {
			t.Errorf("operations differ: %s %s %s", first.raw, quoted.raw, third.raw)
		}
		if third.body["repeated"] != true || first.body["repeated"] != false {
			t.Errorf("repeated: %s %s", first.raw, third.raw)
		}
		if new, again := h.Count(t, "deliveries WHERE verdict = 'accepted' AND status = 201"), h.Count(t, "deliveries WHERE verdict = 'repeated' AND status = 200"); new != 1 || again != 2 {
			t.Errorf("listed: %d answered with 201 and %d with 200, want 1 and 2", new, again)
		}
	})
	t.Run("SameKeyOtherBodyIsRefused", func(t *testing.T) {
		before := h.Count(t, "operations")
		other := `{"flow":"newsletter-coupon","inputs":{"code":"SPRING-2","percent_off":10}}`
		r := h.want(h.post("/operations", tok, other, "Idempotency-Key", "k-1"), http.StatusUnprocessableEntity)
		if r.text("code") != "key_reused" || r.text("reason") == "" || strings.Contains(r.raw, "⟦") {
			t.Errorf("refusal: %s", r.raw)
		}
		withRunKey := `{"flow":"newsletter-coupon","run_key":"r-9","inputs":{"code":"SPRING-2","percent_off":10}}`
		h.want(h.post("/operations", tok, withRunKey, "Idempotency-Key", "k-1"), http.StatusUnprocessableEntity)
		if n := h.Count(t, "operations"); n != before {
			t.Errorf("%d operations, want %d", n, before)
		}
		if h.Count(t, "deliveries WHERE verdict = 'conflict' AND status = 422") != 1 || h.Count(t, "deliveries WHERE verdict = 'conflict'") != 1 {
			t.Error("the conflict is not listed with what was answered")
		}
	})
	t.Run("KeysBelongToTheirToken", func(t *testing.T) {
		second := h.token("operations")
		a := h.want(h.post("/operations", tok, body, "Idempotency-Key", "shared"), 201).text("operation")
		b := h.want(h.post("/operations", second, body, "Idempotency-Key", "shared"), 201).text("operation")
		if a == b {
			t.Error("two callers' keys were merged")
		}
	})
	t.Run("OneRunPerRunKey", func(t *testing.T) {
		in := `{"flow":"newsletter-coupon","run_key":"case-7","inputs":{"code":"CASE-7","percent_off":5}}`
		a := h.want(h.post("/operations", tok, in, "Idempotency-Key", "a"), 201).text("operation")
		b := h.want(h.post("/operations", h.token("operations"), in, "Idempotency-Key", "b"), 200).text("operation")
		if a != b {
			t.Errorf("%s and %s for one run key", a, b)
		}
		other := strings.Replace(in, "CASE-7", "CASE-8", 1)
		h.want(h.post("/operations", tok, other, "Idempotency-Key", "c"), http.StatusUnprocessableEntity)
		if n := h.Count(t, "deliveries WHERE verdict = 'conflict'"); n == 0 {
			t.Error("the conflict is not on the record")
		}
	})
	t.Run("InParallelOnce", func(t *testing.T) {
		ids := make([]string, 12)
		var wg sync.WaitGroup
		for i := range ids {
			wg.Go(func() {
				r := h.post("/operations", tok, `{"flow":"newsletter-coupon","inputs":{"code":"RACE-1","percent_off":1}}`, "Idempotency-Key", "race")
				ids[i] = r.text("operation")
			})
		}
		wg.Wait()
		for _, id := range ids {
			if id == "" || id != ids[0] {
				t.Fatalf("not one operation: %v", ids)
			}
		}
	})
	t.Run("NamesWhatDoesNotFit", func(t *testing.T) {
		r := h.want(h.post("/operations", tok, `{"flow":"newsletter-coupon","inputs":{"code":"x"}}`, "Idempotency-Key", "bad"), http.StatusUnprocessableEntity)
		if r.text("code") != "content_missing" || !strings.Contains(r.text("detail"), "percent_off") {
			t.Errorf("detail: %s", r.raw)
		}
		h.want(h.post("/operations", tok, `{"flow":"nothing-such"}`, "Idempotency-Key", "bad"), http.StatusNotFound)
		h.want(h.post("/operations", tok, `{"flow":"newsletter-coupon","inputs":{"code":"BIG-1","percent_off":9007199254740993}}`, "Idempotency-Key", "bad"), http.StatusUnprocessableEntity)
	})
}

func TestAddVersion(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	tok := h.token("operations read")
	r := h.want(h.post("/operations", tok, `{"flow":"plain-note","inputs":{"topic":"T"}}`, "Idempotency-Key", "n"), 201)
	path := "/operations/" + r.text("operation")
	draft := h.want(h.get(path, tok), 200)
	if draft.text("state") != "draft" {
		t.Fatalf("state %s", draft.raw)
	}
	decision, _ := draft.body["next_decision"].(map[string]any)
	if decision["kind"] != "complete" || decision["responsible"] == nil || decision["at"] == nil {
		t.Errorf("next decision: %v", decision)
	}
	v := map[string]any{"content": map[string]any{"topic": "T", "text": "Hello"}, "revision": draft.number("revision"),
		"author": map[string]any{"model": "writer-1", "prompted_by": "author@example.test"}}
	done := h.want(h.post(path+"/versions", tok, v), 200)
	if done.text("state") != "pending_approval" {
		t.Errorf("state %s", done.raw)
	}
	if n := h.Count(t, "content_versions WHERE author_kind = 'model' AND prompted_by = $1", string(h.Users["author"])); n != 1 {
		t.Error("the person behind the model is not on the record")
	}
	stale := h.want(h.post(path+"/versions", tok, v), http.StatusConflict)
	if stale.text("code") != "stale_revision" || stale.text("link") == "" || stale.body["next_decision"] == nil || stale.body["responsible"] == nil {
		t.Errorf("refusal: %s", stale.raw)
	}
	v["author"] = map[string]any{"model": "writer-1", "prompted_by": "nobody@example.test"}
	h.want(h.post(path+"/versions", tok, v), http.StatusUnprocessableEntity)
}

func TestWait(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	tok := h.token("read")
	id := h.Receive(t, coupon())[0]
	path := "/operations/" + string(id)
	rev := int64(h.want(h.get(path, tok), 200).number("revision"))

	t.Run("AnswersAtOnceWhenItChangedAlready", func(t *testing.T) {
		start := time.Now()
		h.want(h.get(path+"?wait=20s&revision=0", tok), 200)
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("waited %s", d)
		}
	})
	t.Run("WakesOnChange", func(t *testing.T) {
		got := make(chan reply, 1)
		go func() { got <- h.get(path+"?wait=20s&revision="+itoa(rev), tok) }()
		h.Approve(t, id, "lead")
		r := h.want(<-got, 200)
		if r.text("state") != "ready" || int64(r.number("revision")) == rev {
			t.Errorf("woke with %s", r.raw)
		}
		rev = int64(r.number("revision"))
	})
	t.Run("AnswersWhenTheTimeIsOver", func(t *testing.T) {
		if r := h.want(h.get(path+"?wait=300ms&revision="+itoa(rev), tok), 200); int64(r.number("revision")) != rev {
			t.Errorf("revision %s", r.raw)
		}
	})
	t.Run("EndsWhenTheServerStops", func(t *testing.T) {
		got := make(chan reply, 1)
		go func() { got <- h.get(path+"?wait=60s&revision="+itoa(rev), tok) }()
		close(h.stop)
		select {
		case r := <-got:
			h.want(r, 200)
		case <-time.After(20 * time.Second):
			t.Fatal("the waiting request held the server up")
		}
	})
	h.want(h.get(path+"?wait=soon", tok), http.StatusBadRequest)
}

// FC-08: what two readers could understand in two ways is refused.
func TestFieldCase08_AmbiguousKeysAreRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	tok := h.token("operations claims")
	for name, body := range map[string]string{
		"duplicate":    `{"flow":"newsletter-coupon","inputs":{"percent_off":10,"percent_off":100,"code":"A-1"}}`,
		"case variant": `{"flow":"newsletter-coupon","Flow":"plain-note"}`,
		"inner case":   `{"flow":"newsletter-coupon","inputs":{"code":"A-1","CODE":"A-2","percent_off":1}}`,
		"two values":   `{"flow":"newsletter-coupon"}{"flow":"plain-note"}`,
		"wrong case":   `{"FLOW":"newsletter-coupon"}`,
		"unknown":      `{"flow":"newsletter-coupon","flows":"x"}`,
		"deep":         `{"flow":"newsletter-coupon","inputs":` + strings.Repeat("[", 10001) + strings.Repeat("]", 10001) + `}`,
		"NUL":          `{"flow":"newsletter-coupon","inputs":{"code":"A\u0000"}}`,
	} {
		r := h.post("/operations", tok, body, "Idempotency-Key", "k")
		if r.status != http.StatusBadRequest || r.text("code") == "" {
			t.Errorf("%s: %d %s", name, r.status, r.raw)
		}
	}
	if n := h.Count(t, "operations"); n != 0 {
		t.Errorf("%d operations were made", n)
	}
	id := h.Ready(t)
	r := h.post("/operations/"+string(id)+"/claim", tok, `{"worker":"a","WORKER":"b"}`)
	h.want(r, http.StatusBadRequest)
	if s := h.State(t, id); s != operation.Ready {
		t.Errorf("state %s", s)
	}
}

// FC-19: a graph's node that runs again, and answers that come for the wrong thing.
func TestFieldCase19_ANodeRunsAgain(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	tok := h.token("operations claims read")
	var ids []operation.ID
	for range 4 {
		ids = append(ids, h.coupon(tok, "thread-1/node-a", "NODE-A"))
	}
	for _, id := range ids {
		if id != ids[0] {
			t.Fatalf("the node made several operations: %v", ids)
		}
	}
	other := h.coupon(tok, "thread-1/node-b", "NODE-B")
	h.want(h.get("/operations/op_00000000000000000000000000", tok), http.StatusNotFound)
	h.want(h.post("/operations/op_00000000000000000000000000/claim", tok, `{"worker":"w"}`), http.StatusNotFound)
	h.Approve(t, ids[0], "lead")
	if r := h.want(h.post("/operations/"+string(other)+"/claim", tok, `{"worker":"w"}`), http.StatusConflict); r.text("code") == "" || r.text("state") != "pending_approval" {
		t.Errorf("the other one was released: %s", r.raw)
	}
	if err := h.Decide(t, ids[0], "lead", operation.Reject); err == nil {
		t.Error("approve, then reject: both counted")
	}
	statuses := make([]int, 6)
	var wg sync.WaitGroup
	for i := range statuses {
		wg.Go(func() {
			statuses[i] = h.post("/operations/"+string(ids[0])+"/claim", tok, `{"worker":"w"}`).status
		})
	}
	wg.Wait()
	won := 0
	for _, s := range statuses {
		if s == 200 {
			won++
		} else if s != http.StatusConflict {
			t.Errorf("status %d", s)
		}
	}
	if won != 1 || h.Count(t, "attempts WHERE operation_id = $1", string(ids[0])) != 1 {
		t.Errorf("%d workers got the permit: %v", won, statuses)
	}
}
