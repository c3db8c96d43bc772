package handlers_test

import (
	"encoding/csv"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestExport writes the filtered list as CSV: what the viewer may see, guarded, by ISO
// times.
func TestExport(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	coupon := h.Receive(t, storetest.CouponEvent())[0]
	h.Receive(t, storetest.CampaignEvent())
	for title, id := range map[string]operation.ID{"=HYPERLINK(\"http://x\")": coupon} {
		if _, err := h.Owner.Exec(`UPDATE operations SET title = $1 WHERE id = $2`, title, string(id)); err != nil {
			t.Fatal(err)
		}
	}
	read := func(who, query string) [][]string {
		t.Helper()
		a := h.as(t, who).get("/operations/export.csv?" + query).want(200)
		if !strings.HasPrefix(a.header.Get("Content-Type"), "text/csv") || !strings.Contains(a.header.Get("Content-Disposition"), `attachment; filename="holdpoint-operations-2`) {
			t.Errorf("headers: %v", a.header)
		}
		body, found := strings.CutPrefix(a.body, "\ufeff")
		if !found {
			t.Error("no byte-order mark")
		}
		rows, err := csv.NewReader(strings.NewReader(body)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	all := read("admin", "")
	if len(all) != 4 || all[0][0] != "operation_id" {
		t.Fatalf("%d lines: %v", len(all), all)
	}
	one := read("admin", "flow=newsletter-coupon")
	if len(one) != 2 || one[1][0] != string(coupon) {
		t.Fatalf("of one flow: %v", one)
	}
	line := strings.Join(one[1], "|")
	if !strings.Contains(line, "'=HYPERLINK") || !strings.Contains(line, "pending_approval") || !strings.Contains(line, "Z|") {
		t.Errorf("line: %s", line)
	}
	if none := read("admin", "flow=nothing"); len(none) != 1 {
		t.Errorf("of no flow: %v", none)
	}
	h.limited(t, operation.RoleAuditor, "campaign-follow-up")
	if rows := read("only-auditor", ""); len(rows) != 3 || strings.Contains(fmt.Sprint(rows), string(coupon)) {
		t.Errorf("of one flow's auditor: %v", rows)
	}
}

// TestSavedViews saves, opens, renames, defaults and deletes a view as a person does it,
// without JavaScript.
func TestSavedViews(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.Receive(t, storetest.CouponEvent())
	ops, admin := h.as(t, "ops"), h.as(t, "admin")
	list := ops.get("/operations?state=review&q=&view=x").want(200)
	if strings.Contains(list.body, "viw_") {
		t.Error("a view is there before any was saved")
	}
	page := ops.get("/operations/views?state=review&after=abc&q=").want(200).says("In review")
	wrong := ops.submit(page, "form-view", "name", "").want(422).says("A name is needed.")
	if _, form := wrong.form("form-view"); form.Get("filters") != "state=review" {
		t.Errorf("the filters are kept as %q", form.Get("filters"))
	}
	saved := ops.follow(ops.submit(page, "form-view", "name", "For me", "default", "yes")).want(200).says("The view is saved.", "For me")
	if _, form := saved.form("filters"); form.Get("state") != "review" {
		t.Errorf("the list opens with %v", form)
	}
	// the list opens with it, and with everything when that is asked for
	if a := ops.get("/operations").want(303); !strings.Contains(a.to, "state=review") {
		t.Errorf("the list opens at %s", a.to)
	}
	if _, form := ops.get("/operations?view=all").want(200).form("filters"); form.Get("state") != "" {
		t.Errorf("all operations are narrowed: %v", form)
	}
	ops.submit(page, "form-view", "name", "for ME").want(422).says("A view of this name is there already.")
	ops.submit(page, "form-view", "name", "Shared", "shared", "yes").want(422)
	admin.follow(admin.submit(admin.get("/operations/views?overdue=yes"), "form-view", "name", "Late", "shared", "yes")).want(200).says("The view is saved.")

	views := ops.get("/operations/views").want(200).says("For me", "Late", "Administrators change shared views.")
	own := attr(views.has("view"), "data-id")
	other := h.as(t, "lead")
	for _, verb := range []string{"rename", "delete", "default"} {
		other.post("/operations/views/"+own+"/"+verb, url.Values{"form_id": {"x"}, "name": {"Mine"}}).want(404)
	}
	ops.submit(views, "form-rename", "name", " ").want(422).says("A name is needed.")
	ops.follow(ops.submit(views, "form-rename", "name", "For review")).want(200).says("For review")
	ops.follow(ops.submit(ops.get("/operations/views"), "form-no-default")).want(200)
	ops.get("/operations").want(200)
	ops.follow(ops.submit(ops.get("/operations/views"), "form-delete")).want(200).says("The view is deleted.")
	if a := ops.get("/operations/views").want(200); strings.Contains(a.body, "For review") {
		t.Error("the view is still there")
	}
}

// TestInbox shows the tabs, offers to review alike approvals together, and leads through
// one group.
func TestInbox(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	lead := h.as(t, "lead")
	for _, tab := range []string{"", "?tab=others", "?tab=changes", "?tab=done", "?tab=nonsense", "?group=approval", "?group=nonsense&after=x", "?tab=done&after=x"} {
		if lead.get("/inbox"+tab).want(200).has("inbox-empty") == nil {
			t.Errorf("%q does not say that it is empty", tab)
		}
	}
	var ids []operation.ID
	for range store.InboxShown + 2 {
		ids = append(ids, h.Receive(t, storetest.CouponEvent())...)
	}
	a := lead.get("/inbox").want(200).says("Approvals")
	if n := strings.Count(a.body, `data-testid="inbox-row"`); n != store.InboxShown {
		t.Errorf("%d rows", n)
	}
	together := a.has("together")
	if together == nil || attr(together, "href") != "/approve-together?flow=newsletter-coupon&stage=coupon" {
		t.Errorf("together: %v", attr(together, "href"))
	}
	if row := a.has("inbox-row"); attr(row, "data-revision") != "1" || attr(row, "id") != "row-"+attr(row, "data-id") {
		t.Errorf("row: %v", row.Attr)
	}
	group := lead.get(attr(a.has("more"), "href")).want(200)
	rest := lead.get(attr(group.has("next"), "href")).want(200)
	if n := strings.Count(rest.body, `data-testid="inbox-row"`); n != 2 {
		t.Errorf("%d rows on the second page", n)
	}
	h.Approve(t, ids[0], "lead")
	d := h.Decision(t, ids[1], operation.RequestChanges)
	d.Reason = "Say who writes"
	if err := h.Store.Decide(t.Context(), h.As("lead"), d); err != nil {
		t.Fatal(err)
	}
	lead.get("/inbox?tab=done").want(200).says("Approved", "Changes requested")
	lead.get("/inbox?tab=changes").want(200).says("Say who writes", "author")
	h.as(t, "author").get("/inbox?tab=changes").want(200).says("Say who writes")
	if h.as(t, "second").get("/inbox?tab=done").want(200).has("done-row") != nil {
		t.Error("somebody else did it")
	}
}

// TestDeliveriesSearch finds deliveries by their keys, refused ones by day and source.
func TestDeliveriesSearch(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	event := storetest.CouponEvent()
	h.Receive(t, event)
	h.Receive(t, storetest.CampaignEvent())
	if _, err := h.Store.RefuseDelivery(t.Context(), store.Unaccepted{Source: "shopify", Verdict: store.VerdictRefused, Reason: "signature: no", Status: 401}); err != nil {
		t.Fatal(err)
	}
	admin := h.as(t, "admin")
	for query, want := range map[string]int{"": 3, "q=" + event.EventKey: 1, "q=" + event.DeliveryKey: 1, "q=nothing": 0, "q=" + event.EventKey + "&result=refused": 0, "source=shopify": 1, "result=refused": 1,
		"source=shopify&result=recorded": 0, "source=nothing": 0, "to=2001-01-01": 0, "from=2001-01-01": 3, "source=" + event.Source + "&from=2001-01-01": 1} {
		a := admin.get("/deliveries?" + query).want(200)
		if n := strings.Count(a.body, `data-testid="delivery-row"`); n != want {
			t.Errorf("%q: %d rows, want %d", query, n, want)
		}
	}
	admin.get("/deliveries?q=nothing").says("Nothing fits these filters.")
}
