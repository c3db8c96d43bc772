package api_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestContentAtFault: content that the request cannot hold is 422 with its place, for a
// new run as for a new version; never our fault, and nothing is stored of it (FC-10).
func TestContentAtFault(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	tok := h.token("operations read")
	place := func(r reply, want string) {
		t.Helper()
		if r := h.want(r, http.StatusUnprocessableEntity); r.text("code") != "content_missing" || !strings.Contains(r.text("detail"), " "+want+".") {
			t.Errorf("%s, want %s", r.raw, want)
		}
	}
	letter := func(content string) string {
		return `{"flow":"goodwill-invoice","inputs":{"customer":"cus_1","email":"kim@example.test","amount":5,"currency":"eur"},"content":{"letter":` + content + `}}`
	}
	for subject, key := range map[string]string{`a\tb`: "tab", `a\u001bb`: "escape", `a\u2028b`: "separator"} {
		place(h.post("/operations", tok, letter(`{"to":"kim@example.test","subject":"`+subject+`","text":"t"}`), "Idempotency-Key", key), "/content/letter/subject")
	}
	place(h.post("/operations", tok, letter(`{"subject":"s","text":"t"}`), "Idempotency-Key", "part"), "/content/letter/to")
	place(h.post("/operations", tok, letter(`{"to":"kim@example.test","subject":"s","text":"%EE%80%80key%EE%80%81"}`), "Idempotency-Key", "mark"), "/content/letter/text")
	if n := h.Count(t, "operations"); n != 0 {
		t.Fatalf("%d operations of refused content", n)
	}
	// the key of a refused call is free: the corrected one goes through
	made := h.want(h.post("/operations", tok, letter(`{"to":"kim@example.test","subject":"s","text":"t"}`), "Idempotency-Key", "part"), http.StatusCreated)
	path := "/operations/" + made.list("operations")[1].(string)
	version := func(content string, more string) reply {
		return h.post(path+"/versions", tok, `{"content":`+content+more+`}`)
	}
	place(version(`{"to":"kim@example.test","subject":"a\tb","text":"t"}`, ""), "/content/subject")
	place(version(`{"to":"kim@example.test"}`, ""), "/content/subject, /content/text")
	if got := h.want(h.get(path, tok), 200); got.text("state") != "pending_approval" {
		t.Errorf("a refused version changed the state: %s", got.raw)
	}
	draft := h.want(version(`{"to":"kim@example.test","subject":"a\tb","text":"t"}`, `,"submit":false`), 200)
	if draft.text("state") != "draft" {
		t.Errorf("state %s", draft.raw)
	}
}
