package handlers_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
)

// passedSheet is a sheet on which every case of the plan passed.
func passedSheet(p operation.AcceptancePlan) operation.AcceptanceSheet {
	s := operation.AcceptanceSheet{Format: operation.AcceptanceFormat, ID: p.ID, Program: "test", Flow: p.Flow, Input: p.Input, Began: time.Now().UTC(), Ended: time.Now().UTC(),
		People: []string{"Test ops_owner 1"}}
	s.Flow.Source = ""
	for _, d := range p.Destinations {
		d.Source = ""
		s.Destinations = append(s.Destinations, d)
	}
	for _, key := range operation.AcceptanceCases {
		s.Cases = append(s.Cases, operation.AcceptanceCase{Key: key, Passed: true, Began: s.Began, Ended: s.Ended,
			Steps: []operation.AcceptanceNote{{At: s.Began, Code: "event_arrives", With: map[string]string{"Event": "acceptance-1"}}},
			Found: []operation.AcceptanceFinding{{Operation: "op_01", Stage: "note", Destination: p.Destinations[0].Name, State: operation.Confirmed, Effects: 1, Expected: 1, Requests: 1,
				CountedBy: operation.CountedByLedger, Target: "thing-1", Attempts: []string{"first confirmed"}}}})
	}
	return s
}

// perform takes the run that waits to its sheet, as a worker does.
func (h *house) perform(t *testing.T) operation.AcceptanceID {
	t.Helper()
	plan, err := h.Store.ClaimAcceptance(t.Context(), "w1", time.Minute)
	if err == nil {
		err = h.Store.EndAcceptance(t.Context(), plan.ID, "w1", passedSheet(plan))
	}
	if err != nil {
		t.Fatal(err)
	}
	return plan.ID
}

// accepted gives a run of a flow that passed.
func (h *house) accepted(t *testing.T, flow string) string {
	t.Helper()
	if _, err := h.Store.AskAcceptance(t.Context(), h.As("ops"), store.NewAcceptance{Flow: flow, Version: 1, Input: `{"inputs":{}}`}); err != nil {
		t.Fatal(err)
	}
	return string(h.perform(t))
}

// TestAcceptancePages asks for a run on its page, and lets the owner and the implementer
// sign the sheet that its worker left. Nobody signs unread, for another's part or twice.
func TestAcceptancePages(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ops := h.as(t, "ops")
	page := ops.get("/acceptance/new?flow=plain-note").want(http.StatusOK)
	ops.submit(page, "form-acceptance", "input", "no JSON").want(http.StatusUnprocessableEntity).says("no JSON")
	to := ops.submit(page, "form-acceptance").want(http.StatusSeeOther).to
	to, _, _ = strings.Cut(to, "?")
	if ops.get(to).want(http.StatusOK).has("form-cancel") == nil {
		t.Error("a run that waits cannot be broken off")
	}
	ops.get(to + "/sheet.json").want(http.StatusNotFound)
	if id := h.perform(t); to != "/acceptance/"+string(id) {
		t.Fatalf("led to %s, the run is %s", to, id)
	}
	sheet := ops.get(to).want(http.StatusOK)
	if sheet.has("form-sign-owner") != nil || sheet.has("form-sign-implementer") != nil || sheet.has("form-cancel") != nil {
		t.Error("whoever may not sign is offered to")
	}
	p, err := h.Store.FindAcceptance(t.Context(), h.As("ops"), operation.AcceptanceID(strings.TrimPrefix(to, "/acceptance/")))
	if err != nil {
		t.Fatal(err)
	}
	if raw := ops.get(to + "/sheet.json").want(http.StatusOK).body; raw != p.SheetText {
		t.Error("the file is not what is signed")
	}
	ops.get(to + "/sheet.md").want(http.StatusOK).says(p.HashHex())
	h.exported(t, "acceptance", string(p.ID), "json", "markdown")
	for i, part := range []struct{ who, part string }{{"ops2", operation.SignedByOwner}, {"admin", operation.SignedByImplementer}} {
		b := h.as(t, part.who)
		shown := b.get(to).want(http.StatusOK)
		form := "form-sign-" + part.part
		b.submit(shown, form, "comment", "kept words").want(http.StatusUnprocessableEntity).says("kept words")
		b.submit(shown, form, "read", "yes", "hash", strings.Repeat("0", 64)).want(http.StatusUnprocessableEntity)
		b.submit(shown, form, "read", "yes", "comment", "seen whole").want(http.StatusSeeOther)
		if again := b.get(to).want(http.StatusOK).says("seen whole"); again.has(form) != nil {
			t.Errorf("%s is asked to sign again", part.who)
		}
		b.submit(shown, form, "read", "yes").want(http.StatusUnprocessableEntity)
		p, err = h.Store.FindAcceptance(t.Context(), h.As("ops"), p.ID)
		if err != nil || p.Signed != i+1 || p.Agreed() != (i == 1) {
			t.Fatalf("%d signed: %v", p.Signed, err)
		}
	}
	h.as(t, "author").post(to+"/sign", url.Values{"part": {operation.SignedByOwner}, "read": {"yes"}}).want(http.StatusForbidden)
}
