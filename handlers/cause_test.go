package handlers_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views/chrometest"

	"github.com/chromedp/chromedp"
)

// TestCauseAndPattern sets a class right, follows the pattern and writes about it: the next
// operation that stops so shows it.
func TestCauseAndPattern(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.unknown(t)
	ops := h.as(t, "ops")
	page := ops.get(opPath(id)).want(200).says("Cause", "Destination outage", "timeout")
	ops.submit(page, "form-cause", "class", "system_error").want(422).says("reason")
	page = ops.get(opPath(id))
	ops.follow(ops.submit(page, "form-cause", "class", "system_error", "reason", "Our proxy was restarted.").want(303)).says("The class is set right.", "System error", "Our proxy was restarted.")
	h.wantState(t, id, operation.Review)

	to := attr(ops.get(opPath(id)).has("to-pattern"), "href")
	library := ops.get("/patterns").want(200).says("Waiting for the answer", "1 still open")
	if !strings.Contains(library.body, to) {
		t.Errorf("the library does not lead to %s", to)
	}
	words := ops.get(to).want(200).says("Open now", "Topic")
	ops.follow(ops.submit(words, "form-pattern", "note", "Ask them by phone.", "runbook", "1. Call **them**.").want(303)).says("Ask them by phone.", "Call them", "chain verifies")
	ops.submit(words, "form-pattern", "note", "over it").want(409).says("over it")

	again := h.unknown(t)
	ops.get(opPath(again)).want(200).says("Known pattern:", "1 other stopped so", "Ask them by phone.")
	if h.as(t, "auditor").get(to).want(200).has("form-pattern") != nil {
		t.Error("an auditor may write")
	}
	if ops.get("/patterns/pat_00000000000000000000000000").status != 404 {
		t.Error("a missing pattern is there")
	}
}

// TestSuggestionIsOffByDefault: without settings nothing offers a model, and no address asks one.
func TestSuggestionIsOffByDefault(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.unknown(t)
	ops := h.as(t, "ops")
	page := ops.get(opPath(id)).want(200)
	if page.has("assist") != nil {
		t.Error("a model is offered")
	}
	action, form := page.form("form-cause")
	form.Set("purpose", "class")
	if a := ops.post(strings.Replace(action, "/cause", "/suggest", 1), form); a.status != 404 {
		t.Errorf("status %d", a.status)
	}
}

// TestContradictionStandsFirst: both statements are on the page until a person settles it anew.
func TestContradictionStandsFirst(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.unknown(t)
	ops := h.as(t, "ops")
	page := ops.get(opPath(id))
	ops.submit(page, "form-reconcile", checked("finding", "not_done", "then", "close", "not_done_confirm", "yes", "not_done_evidence", "Their list has no such note.", "not_done_reason", "Nobody wants it any more.")...).want(303)
	h.wantState(t, id, operation.NotExecuted)
	p, err := h.Store.PlaceOf(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Store.RecordCallback(t.Context(), store.System("api"), store.Callback{Operation: id, Destination: p.Destination, Kind: "effect", Reference: "NOTE-77", Body: `{}`}); err != nil {
		t.Fatal(err)
	}
	page = ops.get(opPath(id)).want(200).says("Evidence contradicts a decision", "Nothing had happened, and it is not tried again.", "called back", "NOTE-77")
	ops.submit(page, "form-reconcile", "finding", "done", "done_reference", "NOTE-77", "done_evidence", "I see it now.").want(303)
	h.wantState(t, id, operation.Confirmed)
	if ops.get(opPath(id)).has("contradiction") != nil {
		t.Error("it is settled, and the contradiction stays")
	}
}

// TestDisputesInABrowser disputes a set on a phone without scripts; all pages of this room
// stand the check of accessibility.
func TestDisputesInABrowser(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var ids []operation.ID
	for range 3 {
		id := h.Ready(t)
		d, err := h.Store.ClaimAndDispatch(t.Context(), store.Job("w1"), id, "w1")
		if err != nil {
			t.Fatal(err)
		}
		r := operation.Result{Outcome: operation.OutcomeConfirmed, TargetReference: "C-" + string(id), Proof: operation.Proof{Code: "confirmed", Status: 200}}
		if _, err := h.Store.Record(t.Context(), store.Job("w1"), d.Attempt, d.Fence, r); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	unknown := h.unknown(t)
	look := chrometest.Phone()
	look.NoScript = true
	start := chrometest.Start(t)
	tab := h.signedInTab(t, start, look, "ops")
	log := filepath.Join(t.TempDir(), "export.pdf")
	if err := os.WriteFile(log, []byte("%PDF-1.4\n%%EOF\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tab.Get(h.url + "/disputes?flow=newsletter-coupon&all=yes")
	tab.Do(chromedp.WaitVisible(`[data-testid="dispute-item"]`), chromedp.Click(`#pick-`+string(ids[1])), chromedp.SetUploadFiles(`#files`, []string{log}),
		chromedp.SendKeys(`#evidence`, "Their export has none of them."), chromedp.Click(`[data-testid="form-disputes"] [data-testid="submit"]`), chromedp.WaitVisible(`[data-testid="dispute-row"]`))
	if text := tab.Text("main"); !strings.Contains(text, "2 effects are disputed") {
		t.Errorf("the report says: %s", text)
	}
	if n := h.Count(t, "attachments WHERE kind = 'application/pdf' AND evidence_id IS NOT NULL"); n != 2 {
		t.Errorf("%d files are kept, want one with each", n)
	}
	for i, want := range []operation.State{operation.Review, operation.Confirmed, operation.Review} {
		h.wantState(t, ids[i], want)
	}
	wide := h.signedInTab(t, start, chrometest.Look{Width: 1280, Height: 900}, "ops")
	pattern := attr(h.as(t, "ops").get(opPath(unknown)).has("to-pattern"), "href")
	for _, path := range []string{"/patterns", pattern, "/cases?pattern=" + pattern[len("/patterns/"):], "/disputes", opPath(unknown)} {
		wide.Get(h.url + path)
		wide.Do(chromedp.WaitVisible(`main`))
		wide.Axe(path)
		wide.Show(chrometest.Phone())
		wide.Narrow(path)
		wide.Show(chrometest.Look{Width: 1280, Height: 900})
	}
}
