package handlers_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestLists narrows operations and deliveries by what people know: titles, days in their
// own zone, every verdict.
func TestLists(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	coupon, campaign := storetest.CouponEvent(), storetest.CampaignEvent()
	h.Receive(t, coupon)
	h.Receive(t, campaign)
	again := coupon
	again.Body = []byte(`{"other":1}`)
	for _, in := range []store.Received{coupon, again} {
		if _, err := h.Store.Receive(t.Context(), store.System("api"), in); err != nil {
			t.Fatal(err)
		}
	}
	for v, reason := range map[store.Verdict]string{store.VerdictRefused: "signature_missing: a readable signature is missing", store.VerdictIgnored: "account: the notification is for another account"} {
		if _, err := h.Store.RefuseDelivery(t.Context(), store.Unaccepted{Source: "shopify", Verdict: v, Reason: reason, Status: 401}); err != nil {
			t.Fatal(err)
		}
	}
	job := store.Received{Source: store.JobSource, Topic: "newsletter-coupon", EventKey: "job-1", DeliveryKey: "job-1", Flow: "newsletter-coupon", RunKey: "job-1", Status: 201,
		Body: []byte(`{}`), Data: map[string]any{}, Inputs: map[string]any{"code": "JOB-1", "percent_off": 5}, Author: store.Author{Kind: "token", ID: "tok_x"}}
	if _, err := h.Store.CreateOperation(t.Context(), store.Actor{Kind: "token", ID: "tok_x", Channel: "api"}, job, "job-1"); err != nil {
		t.Fatal(err)
	}
	admin := h.as(t, "admin")
	// a zone in which the day is another one than in UTC, most of the time
	if err := h.Store.SetPlace(t.Context(), h.As("admin"), "en", "Pacific/Kiritimati"); err != nil {
		t.Fatal(err)
	}
	zone, err := time.LoadLocation("Pacific/Kiritimati")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().In(zone)
	today, tomorrow, before := now.Format(time.DateOnly), now.AddDate(0, 0, 1).Format(time.DateOnly), now.AddDate(0, 0, -1).Format(time.DateOnly)
	for query, want := range map[string]int{"": 4, "source=" + coupon.Source: 1, "source=job-api": 1, "source=nobody": 0, "from=" + today + "&to=" + today: 4, "to=" + before: 0,
		"from=" + tomorrow: 0, "from=nonsense": 4, "source=" + campaign.Source + "&from=" + today: 2} {
		a := admin.get("/operations?" + query).want(200)
		if n := strings.Count(a.body, `data-testid="op-row"`); n != want {
			t.Errorf("operations %q: %d rows, want %d", query, n, want)
		}
	}
	list := admin.get("/operations?from="+today+"&to="+today+"&source=job-api").want(200).says("Job API", "Campaign follow-up", "CRM (sandbox)")
	_, form := list.form("filters")
	if form.Get("from") != today || form.Get("to") != today || form.Get("source") != "job-api" {
		t.Errorf("the filters are shown as %v", form)
	}

	for result, want := range map[string]int{"recorded": 3, "redelivery": 1, "conflict": 1, "refused": 1, "ignored": 1, "held": 0} {
		a := admin.get("/deliveries?result=" + result).want(200)
		if n := strings.Count(a.body, `data-testid="delivery-row"`); n != want {
			t.Errorf("deliveries %q: %d rows, want %d", result, n, want)
		}
	}
	refused := admin.get("/deliveries?result=refused").says("A readable signature is missing.")
	if strings.Contains(refused.text(), "a readable signature is missing") {
		t.Error("the reason is said twice")
	}
	admin.get("/deliveries?result=ignored").says("Ignored: not for here", "It is for another account.")
	jobs := admin.get("/deliveries?"+url.Values{"source": {"job-api"}}.Encode()).says("Job API", "Newsletter coupon")
	if jobs.has("delivery-row") == nil || strings.Contains(jobs.text(), "newsletter-coupon") {
		t.Errorf("rows show names instead of titles: %s", jobs.text())
	}
}

// TestCards says the definitions in words.
func TestCards(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	admin := h.as(t, "admin")
	admin.get("/flows").want(200).says("Lea Lead")
	campaign := admin.get("/flows/campaign-follow-up").want(200).says("Lea Lead", "When the task's outcome is unknown", "One line that names the campaign.", "CRM (sandbox)", "CRM task’s ID")
	if strings.Contains(campaign.body, "## When") || !strings.Contains(campaign.body, "<h3>When the task") || !strings.Contains(campaign.body, "<li>Holdpoint asks the CRM") {
		t.Error("the runbook is not rendered")
	}
	admin.get("/flows/plain-note").want(200).says("The event’s identity", "Topic")
	if a := admin.get("/destinations/crm").want(200).says("Task"); strings.Contains(a.text(), "0 ms") {
		t.Error("a lag of nothing is shown")
	}
}
