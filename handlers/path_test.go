package handlers_test

import (
	"testing"

	"holdpoint/operation"
	"holdpoint/store/storetest"

	"golang.org/x/net/html"
)

// TestPath walks the ordinary way with forms only: an event, an approval, a draft, two
// approvals.
func TestPath(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ids := h.Receive(t, storetest.CampaignEvent())
	task, letter := ids[0], ids[1]

	lead := h.as(t, "lead")
	lead.get("/inbox").want(200).says("Campaign follow-up", "CRM task")
	page := lead.get(opPath(task)).want(200)
	done := lead.submit(page, "form-decide", "decision", "approve", "comment", "Fine with me.").want(303)
	lead.follow(done).want(200).says("Approved. It is sent once", "Fine with me.")
	h.wantState(t, task, operation.Ready)

	author := h.as(t, "author")
	edit := author.get(opPath(letter) + "/edit").want(200)
	saved := author.submit(edit, "form-edit", "content.subject", "Spring campaign", "content.text", "Dear Anna,\nthank you.", "note", "first draft", "submit", "yes").want(303)
	author.follow(saved).want(200).says("waits for approval", "Spring campaign", "Dear Anna")
	h.wantState(t, letter, operation.PendingApproval)

	page = lead.get(opPath(letter)).want(200)
	lead.follow(lead.submit(page, "form-decide", "decision", "approve").want(303)).says("Your approval counts: 1 of 2")
	second := h.as(t, "second")
	page = second.get(opPath(letter)).want(200)
	second.follow(second.submit(page, "form-decide", "decision", "approve").want(303)).says("Approved.")
	h.wantState(t, letter, operation.Waiting)
	second.get(opPath(letter)).says("CRM task")
}

// TestPages opens every page in every language for a run that has every column filled.
func TestPages(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.Ready(t)
	id := h.Receive(t, storetest.CampaignEvent())[0]
	admin := h.as(t, "admin")
	run := admin.get(opPath(id)).has("run-link")
	if run == nil {
		t.Fatal("no link to the run")
	}
	for _, path := range []string{"/inbox", "/operations", "/operations?state=pending_approval&q=&flow=", opPath(id), opPath(id) + "/edit", attr(run, "href"),
		"/deliveries", "/flows", "/flows/campaign-follow-up", "/destinations", "/destinations/crm", "/people", "/account", "/operations/adopt"} {
		for _, lang := range []string{"en", "ja", "pl"} {
			if err := h.Store.SetPlace(t.Context(), h.As("admin"), lang, "Asia/Tokyo"); err != nil {
				t.Fatal(err)
			}
			a := admin.get(path).want(200)
			if x := find(a.doc, func(n *html.Node) bool { return n.Data == "html" }); attr(x, "lang") != lang {
				t.Errorf("%s: language %q, want %q", path, attr(x, "lang"), lang)
			}
			if bad := missingText(a.body); bad != "" {
				t.Errorf("%s in %s: no text for %s", path, lang, bad)
			}
		}
	}
}
