package handlers_test

import (
	"encoding/hex"
	"net/url"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"

	"golang.org/x/net/html"
)

// limitForm is a limit of more than so many events a day, as its form sends it.
func limitForm(value string) url.Values {
	return url.Values{"figure": {"events"}, "side": {"over"}, "value": {value}, "span": {"24"}, "least": {"0"}, "margin": {"0"}, "hold": {"15"}, "remind": {"24"}, "again": {"7"}, "due": {"14"}, "role": {"ops_owner"}}
}

// TestLimitForm: what is wrong comes back with what was typed; a change keeps the flow and
// meets somebody else's change.
func TestLimitForm(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ops := h.as(t, "ops")
	send := func(page, form string, set func(url.Values)) *answer {
		t.Helper()
		action, fields := ops.get(page).want(200).form(form)
		set(fields)
		return ops.post(action, fields)
	}
	over := func(v url.Values) func(url.Values) {
		return func(fields url.Values) {
			for k, x := range v {
				fields[k] = x
			}
		}
	}
	bad := limitForm("many")
	bad.Set("note", "Look at the CRM.")
	send("/figures/limits/new", "form-limit", over(bad)).want(422).says("Give a number", "Look at the CRM.")
	send("/figures/limits/new", "form-limit", over(limitForm("2"))).want(303)
	var id string
	if err := h.Owner.QueryRow(`SELECT id FROM limits`).Scan(&id); err != nil {
		t.Fatal(err)
	}
	ops.get("/figures/limits").want(200).says("Events", "2 in 24 hours", "ops owner")
	page := "/figures/limits/" + id + "/change"
	_, stale := ops.get(page).want(200).form("form-limit")
	send(page, "form-limit", over(limitForm("3"))).want(303)
	over(limitForm("4"))(stale)
	ops.post(page, stale).want(409).says("changed meanwhile")
	if n := h.Count(t, "limits WHERE value = 3 AND version = 2"); n != 1 {
		t.Error("the later change won")
	}
	h.as(t, "auditor").get("/figures/limits/" + id).want(200).says("at most 3 in 24 hours")
}

// TestFigureSaysWhichPartHasALimit: where a limit holds for one flow only, the figure of all
// flows says so, and the figure of that flow is held against it.
func TestFigureSaysWhichPartHasALimit(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ops := h.as(t, "ops")
	set := func(more ...string) {
		t.Helper()
		action, fields := ops.get("/figures/limits/new").want(200).form("form-limit")
		for k, x := range limitForm("2") {
			fields[k] = x
		}
		for i := 0; i+1 < len(more); i += 2 {
			fields.Set(more[i], more[i+1])
		}
		ops.post(action, fields).want(303)
	}
	line := func(path string) string {
		t.Helper()
		n := find(ops.get(path).want(200).doc, func(n *html.Node) bool { return attr(n, "data-figure") == "events" })
		return (&answer{doc: n}).text()
	}
	says := func(path, want, not string) {
		t.Helper()
		if got := line(path); !strings.Contains(got, want) || strings.Contains(got, not) {
			t.Errorf("%s says %q", path, got)
		}
	}
	says("/figures", "No limit set", "Only for")
	set("flow", "newsletter-coupon")
	says("/figures", "Only for Newsletter coupon: at most 2 in 24 hours", "No limit set")
	says("/figures", "No limit for the whole", "Within")
	says("/figures?flow=newsletter-coupon", "at most 2 in 24 hours", "Only for")
	set("flow", "newsletter-coupon", "source", "", "value", "9", "span", "168")
	says("/figures", "Only for parts: 2 limits", "No limit set")
	set()
	says("/figures", "at most 2 in 24 hours", "Only for")
}

// TestReportExports: the files hold what the page holds, formulas stay text, and somebody
// else's words stay words.
func TestReportExports(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.Receive(t, storetest.CouponEvent())
	now := time.Now()
	id, err := h.Store.MakeReport(t.Context(), store.NoticeChannels{}, operation.Period{Kind: operation.Monthly, Key: "2026-03", From: now.Add(-time.Hour), To: now.Add(-time.Millisecond), Before: now.Add(-2 * time.Hour)}, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Store.CommentReport(t.Context(), h.As("ops"), id, operation.ReviewOpen, "# Not a heading\n<script>alert(1)</script>", "form-x"); err != nil {
		t.Fatal(err)
	}
	at := "/reports/" + string(id)
	auditor := h.as(t, "auditor")
	auditor.get(at).want(200).says("Not completed at the end", "Not signed")
	csv := auditor.get(at + "/review.csv").want(200)
	if !strings.Contains(csv.body, "open,open_at_end,,count,1,0,0,0,0") || !strings.Contains(csv.body, "volume,events,,count,1,0,0,0,") {
		t.Errorf("the file says %s", csv.body)
	}
	md := auditor.get(at + "/review.md").want(200)
	h.exported(t, "report", at[strings.LastIndex(at, "/")+1:], "csv", "markdown")
	if !strings.Contains(md.body, `> \# Not a heading`) || strings.Contains(md.body, "<script>") || !strings.Contains(md.body, "| Not completed at the end | 1 |") {
		t.Errorf("the text says %s", md.body)
	}
	auditor.get(at + "/items?line=open_at_end").want(200).says("1 counted")
	page := auditor.get(at).want(200)
	for line, size := range map[string]string{"events": "1 event", "deliveries": "1 delivery"} {
		if drill := page.all("drill-" + line); len(drill) != 1 {
			t.Errorf("the number of %s leads nowhere", line)
		} else {
			auditor.get(attr(drill[0], "href")).want(200).says(size)
		}
	}
	auditor.get(at + "/items?line=nothing").want(404)
	h.as(t, "lead").get(at).want(404)
	p, err := h.Store.FindReport(t.Context(), h.As("ops"), id)
	if err != nil {
		t.Fatal(err)
	}
	ops := h.as(t, "ops")
	_, fields := ops.get(at).want(200).form("form-sign")
	if fields.Get("hash") != hex.EncodeToString(p.Fingerprint[:]) {
		t.Error("the form is shown with another fingerprint")
	}
	ops.post(at+"/sign", fields).want(422).says("Tick that you have read it.")
	if err := h.Store.CommentReport(t.Context(), h.As("admin"), id, operation.ReviewOpen, "One more.", "form-y"); err != nil {
		t.Fatal(err)
	}
	fields.Set("read", "yes")
	ops.post(at+"/sign", fields).want(409).says("A comment came meanwhile.")
	if n := h.Count(t, "report_signatures"); n != 0 {
		t.Error("it is signed as it was not shown")
	}
}
