package api_test

import (
	"net/http"
	"strings"
	"testing"
)

// Programs keep the suppression list: all or none, once each, page by page, lifted with a reason.
func TestSuppressions(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	tok := h.token("suppressions")
	for _, other := range []string{"", h.token("read events operations claims callbacks batches")} {
		for _, r := range []reply{h.get("/suppressions", other), h.post("/suppressions", other, `{"entries":[{"address":"a@example.test","reason":"manual"}]}`),
			h.do(http.MethodDelete, h.url+"/api/v1/suppressions/sup_1?reason=x", other, nil)} {
			if r.status != http.StatusUnauthorized && r.status != http.StatusForbidden {
				t.Errorf("without the scope: %d %s", r.status, r.raw)
			}
		}
	}
	for code, about := range map[string][2]string{
		"address_form":        {"address", `{"address":"nope","reason":"manual","scope":"effect","channel":"email"}`},
		"address_all":         {"address", `{"address":"nope","reason":"manual"}`},
		"suppression_channel": {"channel", `{"address":"b@example.test","reason":"manual","scope":"destination","channel":"nowhere"}`},
		"suppression_until":   {"until", `{"address":"b@example.test","reason":"manual","until":"2001-01-01T00:00:00Z"}`},
	} {
		r := h.want(h.post("/suppressions", tok, `{"entries":[{"address":"fine@example.test","reason":"manual"},`+about[1]+`,{"address":"nor this","reason":"manual"}]}`), 422)
		if r.text("code") != code || r.number("entry") != 2 || r.text("field") != about[0] || !strings.HasPrefix(r.text("detail"), "Entry 2, "+about[0]+": ") {
			t.Errorf("%s: %s", code, r.raw)
		}
	}
	for _, address := range []string{`kim@exa\u200bmple.test`, `a@b`, `a@-x.test`, `a@b.test\nc@d.test`} {
		body := `{"entries":[{"address":"` + address + `","reason":"manual","scope":"effect","channel":"email"}]}`
		if r := h.want(h.post("/suppressions", tok, body), 422); r.text("code") != "address_form" {
			t.Errorf("%s: %s", address, r.raw)
		}
	}
	for _, body := range []string{`{"entries":[]}`, `{"entries":[{"address":"a@example.test"}]}`, `{"entries":[{"address":"a@example.test","reason":"because"}]}`,
		`{"entries":[{"address":"fine@example.test","reason":"manual"},{"address":"b@example.test","reason":"manual","scope":"destination","channel":"nowhere"}]}`,
		`{"entries":[{"address":"fine@example.test","reason":"manual"},{"address":"nope","reason":"manual","scope":"effect","channel":"email"}]}`,
		`{"entries":[{"address":"fine@example.test","reason":"manual"},{"address":"a@b.test, c@d.test","reason":"manual"}]}`} {
		if r := h.post("/suppressions", tok, body); r.status != http.StatusBadRequest && r.status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", body, r.status)
		}
	}
	if n := h.Count(t, "suppressions"); n != 0 {
		t.Fatalf("%d entries of what was refused", n)
	}
	body := `{"note":"weekly","entries":[{"address":"Kim@Example.test","reason":"unsubscribed"},{"address":"lee@example.test","reason":"complaint","scope":"effect","channel":"email","until":"2099-01-01T00:00:00Z"}]}`
	if r := h.want(h.post("/suppressions", tok, body), 200); r.number("added") != 2 || r.number("known") != 0 || len(r.list("suppressions")) != 2 {
		t.Errorf("added %s", r.raw)
	}
	if r := h.want(h.post("/suppressions", tok, body), 200); r.number("added") != 0 || r.number("known") != 2 || len(r.list("suppressions")) != 0 {
		t.Errorf("again %s", r.raw)
	}
	spelled := `{"entries":[{"address":"\"kim\"@Example.test.","reason":"unsubscribed"},{"address":"lee@example.test.","reason":"complaint","scope":"effect","channel":"email","until":"2099-01-01T00:00:00Z"}]}`
	if r := h.want(h.post("/suppressions", tok, spelled), 200); r.number("added") != 0 || r.number("known") != 2 {
		t.Errorf("spelled otherwise %s", r.raw)
	}
	first := h.want(h.get("/suppressions?limit=1", tok), 200)
	rest := h.want(h.get("/suppressions?limit=1&after="+first.text("next"), tok), 200)
	if len(first.list("suppressions")) != 1 || len(rest.list("suppressions")) != 1 || rest.body["next"] != nil {
		t.Errorf("pages %s %s", first.raw, rest.raw)
	}
	found := h.want(h.get("/suppressions?search=kim&reason=unsubscribed", tok), 200).list("suppressions")
	if len(found) != 1 {
		t.Fatalf("found %v", found)
	}
	id, _ := found[0].(map[string]any)["id"].(string)
	if r := h.do(http.MethodDelete, h.url+"/api/v1/suppressions/"+id, tok, nil); r.status != http.StatusBadRequest {
		t.Errorf("without a reason: %d %s", r.status, r.raw)
	}
	for range 2 {
		if r := h.do(http.MethodDelete, h.url+"/api/v1/suppressions/"+id+"?reason=asked+again", tok, nil); r.status != http.StatusNoContent {
			t.Errorf("lift: %d %s", r.status, r.raw)
		}
	}
	if r := h.do(http.MethodDelete, h.url+"/api/v1/suppressions/sup_00000000000000000000000000?reason=x", tok, nil); r.status != http.StatusNotFound {
		t.Errorf("a missing one: %d", r.status)
	}
	if n := h.Count(t, "suppressions WHERE lifted_at IS NOT NULL AND lifted_why = 'asked again'"); n != 1 {
		t.Errorf("%d lifted", n)
	}
	if r := h.do(http.MethodPut, h.url+"/api/v1/suppressions", tok, nil); r.status != http.StatusMethodNotAllowed || r.header.Get("Allow") != "GET, POST" {
		t.Errorf("another method: %d, allowed %q", r.status, r.header.Get("Allow"))
	}
}
