package handlers_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"holdpoint/operation"
)

// TestNothingFromTheAddress sends a whole decision in the address of a form: only its
// body counts.
func TestNothingFromTheAddress(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.unknown(t)
	ops := h.as(t, "ops")
	action, fields := ops.get(opPath(id)).form("form-reconcile")
	fields.Set("finding", "done")
	fields.Set("done_reference", "note_1")
	fields.Set("done_evidence", "Seen it there.")
	ops.post(action+"?"+fields.Encode(), url.Values{"form_id": {fields.Get("form_id")}})
	h.wantState(t, id, operation.Review)
	ops.post(action, fields).want(303)
	h.wantState(t, id, operation.Confirmed)
}

// TestUnfitForms are bodies and addresses that no page of ours sends: each is refused
// with its status, none is a fault of the server, and nothing is recorded.
func TestUnfitForms(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.unknown(t)
	ops := h.as(t, "ops")
	page := ops.get(opPath(id)).want(200)
	action, fields := page.form("form-reconcile")
	with := func(name, value string) url.Values {
		f := url.Values{}
		for k, v := range fields {
			f[k] = v
		}
		f.Set("finding", "hold")
		f.Set("hold_until", "2027-03-01T09:00")
		f.Set("hold_reason", "They look into it.")
		f.Set(name, value)
		return f
	}
	ops.post(action, with("form_id", "a\x00b")).want(422)
	ops.post(action, with("form_id", strings.Repeat("a", 101))).want(422)
	ops.post(action, with("version", "ver_\x00")).want(422)
	ops.post(action, with("hold_reason", "\xff\xfe")).want(422)
	ops.post(action, with("hold_reason", strings.Repeat("ż", 10_001))).want(422).says("At most 10,000 characters")
	if n := h.Count(t, "operations WHERE hold_until IS NOT NULL"); n != 0 {
		t.Error("an unfit form was recorded")
	}
	ops.post(action, with("hold_reason", strings.Repeat("ż", 10_000))).want(303)

	broken := h.raw(t, ops, action, "multipart/form-data; boundary=x", "--x\r\nno part")
	broken.want(400)
	h.raw(t, ops, action, "application/x-www-form-urlencoded", "form_id=%zz").want(400)
	for _, path := range []string{"/operations/%00", "/operations/" + string(id) + "%00", "/operations/op_x", "/operations/" + strings.ToUpper(string(id)),
		"/runs/%00", "/deliveries/%00", "/flows/%00", "/destinations/%ff"} {
		ops.get(path).want(404)
	}
	ops.get("/operations?q=%00").want(400)
}

// raw posts a body as it is.
func (h *house) raw(t *testing.T, b *browser, path, kind, body string) *answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Origin", b.url)
	req.Header.Set("Content-Type", kind)
	resp, err := b.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return &answer{t: t, status: resp.StatusCode}
}

// TestAddressOfAForm opens the address that a failed form leaves in the browser.
func TestAddressOfAForm(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.unknown(t)
	ops := h.as(t, "ops")
	for _, form := range []string{"decide", "reconcile", "reexecution", "withdraw-request", "cancel", "evidence"} {
		if a := ops.get(opPath(id) + "/" + form).want(303); a.to != opPath(id) {
			t.Errorf("%s leads to %q", form, a.to)
		}
	}
	ops.get("/account/settings").want(303)
	ops.get(opPath(id) + "/edit").want(200) // a page of its own
}

// TestEveryErrorAtItsField answers a checklist by half: each question that is open is
// marked, and the list above leads to it.
func TestEveryErrorAtItsField(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.unknown(t)
	ops := h.as(t, "ops")
	page := ops.get(opPath(id)).want(200)
	half := ops.submit(page, "form-reconcile", "finding", "not_done", "check_operation_id", "yes", "check_destination", "no").want(422)
	for _, name := range []string{"check_destination", "check_key", "check_completion", "check_cause", "check_asked-them", "not_done_evidence", "then"} {
		if half.has("error-"+name) == nil {
			t.Errorf("%s is not marked", name)
		}
	}
	if half.has("error-check_operation_id") != nil {
		t.Error("an answered question is marked")
	}
	if sum := half.has("form-error"); sum == nil || !hasAttr(sum, "autofocus") || !strings.Contains(half.body, `href="#check-key-yes"`) {
		t.Error("no list of what is wrong takes the focus")
	}
	half.says("Answered with no")
}

// TestWithdrawRequest lets the reviewer who asked for one more attempt take that back,
// where everybody else is a party or away.
func TestWithdrawRequest(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.unknown(t)
	ops := h.as(t, "ops")
	ops.submit(ops.get(opPath(id)), "form-reconcile", checked("finding", "not_done", "then", "request_reexecution", "not_done_evidence", "Called them.", "not_done_reason", "Still wanted.")...).want(303)
	page := ops.get(opPath(id)).want(200).says("ops owner, another person")
	if strings.Contains(page.text(), "ops owner (you)") {
		t.Error("a party is named as the one who decides")
	}
	if h.as(t, "author").get(opPath(id)).has("form-withdraw_request") != nil {
		t.Error("somebody who is no reviewer may take the request back")
	}
	ops.submit(page, "form-withdraw_request").want(422)
	h.wantState(t, id, operation.ReexecutionRequested)
	back := ops.follow(ops.submit(page, "form-withdraw_request", "reason", "Nobody else is here today.").want(303))
	back.says("The request is withdrawn", "Re-execution request withdrawn", "Nobody else is here today.")
	h.wantState(t, id, operation.Review)
}

// TestReexecutionNeedsAReason and says so, for either answer.
func TestReexecutionNeedsAReason(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.unknown(t)
	ops, ops2 := h.as(t, "ops"), h.as(t, "ops2")
	ops.submit(ops.get(opPath(id)), "form-reconcile", checked("finding", "not_done", "then", "request_reexecution", "not_done_evidence", "Called them.", "not_done_reason", "Still wanted.")...).want(303)
	page := ops2.get(opPath(id)).want(200).says("Needed for either answer", "No key protects this request; a second effect is possible")
	if strings.Contains(page.text(), "generation") {
		t.Error("a key's generation is named where no key is sent")
	}
	for _, d := range []string{"approve", "refuse"} {
		if ops2.submit(page, "form-reexecution", "decision", d, "confirm", "yes").want(422).has("error-comment") == nil {
			t.Errorf("%s: the missing reason is not marked", d)
		}
	}
	h.wantState(t, id, operation.ReexecutionRequested)
}

// TestTypedTextHasOnePlace: after a change in between, the comment stands in the form of
// the decision; where that is gone, it is kept as a note.
func TestTypedTextHasOnePlace(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.unknown(t)
	ops, ops2 := h.as(t, "ops"), h.as(t, "ops2")
	page := ops.get(opPath(id)).want(200)
	ops2.submit(ops2.get(opPath(id)), "form-reconcile", "finding", "hold", "hold_until", "2027-03-01T09:00", "hold_reason", "They look into it.").want(303)
	done := []string{"finding", "done", "done_reference", "note_1", "done_evidence", "Seen with my own eyes."}
	stale := ops.submit(page, "form-reconcile", done...).want(409)
	if n := strings.Count(stale.body, "Seen with my own eyes."); n != 1 {
		t.Errorf("the text stands in %d places", n)
	}
	ops2.submit(ops2.get(opPath(id)), "form-reconcile", "finding", "done", "done_reference", "note_2", "done_evidence", "Found.").want(303)
	gone := ops.submit(page, "form-reconcile", done...).want(409).says("kept below as a note")
	if _, note := gone.form("form-evidence"); note.Get("evidence") != "note_1\n\nSeen with my own eyes." {
		t.Errorf("the note holds %q", note.Get("evidence"))
	}
}
