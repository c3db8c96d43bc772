package handlers_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"holdpoint/handlers"
	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"

	"golang.org/x/net/html"
)

const inputTime = "2006-01-02T15:04"

// handOn lets one person hand their approvals to another, on their own page.
func (h *house) handOn(t *testing.T, from, to string) {
	t.Helper()
	b := h.as(t, from)
	page := b.get("/account/delegations").want(200)
	b.follow(b.submit(page, "form-delegations", "to", string(h.Users[to]), "ends", time.Now().UTC().Add(48*time.Hour).Format(inputTime), "reason", "On holiday").want(303)).want(200).says("Handed on")
}

// all finds every element with a data-testid.
func (a *answer) all(testid string) (out []*html.Node) {
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		if attr(n, "data-testid") == testid {
			out = append(out, n)
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(a.doc)
	return out
}

// TestPresetReason: a rejection needs a reason, and a preset one is enough; it is kept by
// its code and as it was shown. A code that was not offered is none.
func TestPresetReason(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	lead := h.as(t, "lead")
	id := h.Receive(t, storetest.CouponEvent())[0]
	page := lead.get(opPath(id)).want(200)
	for _, code := range []string{"", "no_such_reason"} {
		lead.submit(page, "form-decide", "decision", "reject", "reason_reject", code).want(422).says("Give a reason")
	}
	lead.follow(lead.submit(page, "form-decide", "decision", "reject", "reason_reject", "done_already").want(303)).want(200).says("Already done in another way", "Rejected")
	if n := h.Count(t, "approvals WHERE operation_id = $1 AND reason_code = 'done_already' AND reason_words = 'Already done in another way' AND reason = ''", string(id)); n != 1 {
		t.Errorf("%d decisions with the preset reason", n)
	}
	if n := h.Count(t, "history WHERE subject_id = $1 AND action = 'reject' AND reason = 'Already done in another way'", string(id)); n != 1 {
		t.Errorf("%d entries that say why", n)
	}
}

// TestDecideForAnother: the page says for whom, both names are shown, and who may not and
// why is said where the button would be.
func TestDecideForAnother(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	letter := h.Receive(t, storetest.CampaignEvent())[1]
	newVersion(h, t, letter, "author", mail(1), true)
	ops := h.as(t, "ops")
	before := ops.get(opPath(letter)).want(200).says("You do not hold the role")
	if before.has("form-decide") != nil || before.has("barred-approve") == nil {
		t.Fatal("an ops owner is offered the approval")
	}
	h.handOn(t, "lead", "ops")
	ops.get("/inbox").want(200).says("for Lea Lead")
	page := ops.get(opPath(letter)).want(200).says("You decide for Lea Lead.", "Cannot approve: Ann Author", "Author and approver must differ")
	ops.follow(ops.submit(page, "form-decide", "decision", "approve", "reason_approve", "checked", "comment", "Read twice.").want(303)).want(200).says("Your approval counts: 1 of 2", "Oli Ops (you) for Lea Lead", "Content and recipient checked", "Read twice.")
	lead := h.as(t, "lead")
	page = lead.get(opPath(letter)).want(200).says("already counts in an approval", "Oli Ops for Lea Lead")
	if page.has("form-decide") != nil || page.has("do-withdraw") == nil {
		t.Error("the person acted for may not approve again, and may take it back")
	}
	in := h.Decision(t, letter, operation.Approve)
	forged := url.Values{"form_id": {"f"}, "version": {string(in.Version)}, "hash": {in.Hash}, "revision": {fmt.Sprint(in.Revision)}, "decision": {"approve"}}
	lead.post(opPath(letter)+"/decide", forged).want(409).says("already counts")
	author := h.as(t, "author")
	forged.Set("for", string(h.Users["lead"]))
	author.post(opPath(letter)+"/decide", forged).want(409).says("taken back, or does not cover this")
	lead.follow(lead.submit(page, "form-withdraw", "reason", "I decide myself.").want(303)).want(200)
	lead.get(opPath(letter)).want(200).says("0 of 2")
}

// TestDelegationTakenBackWhileDeciding: the page that was open is refused, says why, and
// keeps what was typed.
func TestDelegationTakenBackWhileDeciding(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.handOn(t, "lead", "ops")
	id := h.Receive(t, storetest.CouponEvent())[0]
	ops, lead := h.as(t, "ops"), h.as(t, "lead")
	page := ops.get(opPath(id)).want(200)
	own := lead.get("/account/delegations").want(200).says("Oli Ops for Lea Lead (you)", "Live")
	lead.follow(lead.submit(own, "form-revoke-delegation").want(303)).want(200).says("Taken back.")
	ops.submit(page, "form-decide", "decision", "approve", "comment", "typed so far").want(409).says("the delegation has ended", "typed so far")
	h.wantState(t, id, operation.PendingApproval)
	ops.get("/account/delegations").want(200).says("Taken back by Lea Lead")
	// somebody else's is like one that does not exist
	var dgn string
	if err := h.Owner.QueryRow(`SELECT id FROM delegations`).Scan(&dgn); err != nil {
		t.Fatal(err)
	}
	x := h.as(t, "second").post("/account/delegations/"+dgn+"/revoke", url.Values{"form_id": {"f"}})
	y := h.as(t, "second").post("/account/delegations/dgn_none/revoke", url.Values{"form_id": {"f"}})
	if x.status != 404 || y.status != 404 || x.text() != y.text() {
		t.Errorf("foreign %d, missing %d:\n%s\n%s", x.status, y.status, x.text(), y.text())
	}
	h.as(t, "admin").get("/people/delegations").want(200).says("Oli Ops for Lea Lead", "Taken back")
	h.as(t, "lead").get("/people/delegations").want(403)
}

// TestDelegationForm: what is wrong is said at its field, and nothing is recorded.
func TestDelegationForm(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	b := h.as(t, "lead")
	page := b.get("/account/delegations").want(200)
	later := time.Now().UTC().Add(48 * time.Hour).Format(inputTime)
	for field, set := range map[string][]string{
		"to":     {"to", "", "reason", "r"},
		"ends":   {"to", string(h.Users["ops"]), "ends", "2020-01-01T00:00", "reason", "r"},
		"reason": {"to", string(h.Users["ops"]), "ends", later, "reason", ""},
	} {
		if a := b.submit(page, "form-delegations", set...).want(422); a.has("error-"+field) == nil {
			t.Errorf("%s: not said at the field:\n%s", field, a.text())
		}
	}
	b.submit(page, "form-delegations", "to", string(h.Users["auditor"]), "ends", later, "reason", "r").want(422).says("cannot take over")
	if n := h.Count(t, "delegations"); n != 0 {
		t.Errorf("%d delegations", n)
	}
	for range 2 { // a double press
		b.submit(page, "form-delegations", "to", string(h.Users["ops"]), "ends", later, "reason", "r").want(303)
	}
	if n := h.Count(t, "delegations"); n != 1 {
		t.Errorf("%d delegations of one form, want 1", n)
	}
}

// TestFieldCase47_ApproveTogether: a list is reviewed, each is decided alone, what changed
// is refused alone with its reason, and a second press changes nothing.
func TestFieldCase47_ApproveTogether(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var ids []operation.ID
	for range 4 {
		ids = append(ids, h.Receive(t, storetest.CouponEvent())[0])
	}
	lead := h.as(t, "lead")
	page := lead.get("/approve-together?flow=newsletter-coupon&stage=coupon").want(200).says("4 versions to approve", "The same in all 4 versions")
	if n := len(page.all("together-item")); n != 4 {
		t.Fatalf("%d items", n)
	}
	newVersion(h, t, ids[1], "author", map[string]any{"code": "NEW-1", "percent_off": 20, "name": "Changed meanwhile"}, true)
	action, form := page.form("form-approve-together")
	form.Set("comment", "All four read.")
	form["pick"] = []string{string(ids[0]), string(ids[1]), string(ids[2])} // the fourth is not ticked
	x, y := together(func() *answer { return lead.post(action, form) }, func() *answer { return lead.post(action, form) })
	for _, a := range []*answer{x, y} {
		a.want(303)
	}
	result := lead.get(x.to).want(200).says("2 versions approved", "1 was not approved", "Another version is current")
	if n := len(result.all("together-row")); n != 3 {
		t.Errorf("%d reported, want 3", n)
	}
	for i, want := range []operation.State{operation.Ready, operation.PendingApproval, operation.Ready, operation.PendingApproval} {
		h.wantState(t, ids[i], want)
	}
	if n := h.Count(t, "approvals WHERE reason = 'All four read.'"); n != 2 {
		t.Errorf("%d approvals, want 2", n)
	}
	lead.post(action, form).want(303)
	if n := h.Count(t, "approvals"); n != 2 {
		t.Errorf("%d approvals after another press", n)
	}
	lead.get("/approve-together?flow=newsletter-coupon&stage=coupon").want(200).says("2 versions to approve")
	// nothing ticked; a flow of which they may not know
	form.Del("pick")
	form.Set("form_id", "another")
	lead.post(action, form).want(422).says("Tick at least one")
	h.limited(t, operation.RoleApprover, "campaign-follow-up")
	b := h.nobody(t)
	h.session(t, b, h.Users["only-approver"])
	b.get("/approve-together?flow=newsletter-coupon&stage=coupon").want(404)
	form["pick"] = []string{string(ids[3])}
	b.post(action, form).want(303)
	h.wantState(t, ids[3], operation.PendingApproval)
	if n := h.Count(t, "decided_together WHERE user_id = $1", string(h.Users["only-approver"])); n != 0 {
		t.Error("something is reported of a flow of which they may not know")
	}
}

// TestTogetherRefusesWhatNeedsItsOwnPage sends an unknown outcome with a list.
func TestTogetherRefusesWhatNeedsItsOwnPage(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	doubt := h.Ready(t)
	job := store.Job("w1")
	a, err := h.Store.ClaimAndDispatch(t.Context(), job, doubt, "w1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Store.Record(t.Context(), job, a.Attempt, a.Fence, operation.Result{Proof: operation.Proof{Code: "timeout", Phase: operation.PhaseSent, Written: 300}}); err != nil {
		t.Fatal(err)
	}
	h.wantState(t, doubt, operation.Unknown)
	in := h.Decision(t, doubt, operation.Approve)
	lead := h.as(t, "lead")
	id := string(doubt)
	to := lead.post("/approve-together", url.Values{"form_id": {"f1"}, "flow": {"newsletter-coupon"}, "stage": {"coupon"}, "pick": {id}, "version." + id: {string(in.Version)}, "hash." + id: {in.Hash}, "revision." + id: {fmt.Sprint(in.Revision)}}).want(303).to
	lead.get(to).want(200).says("0 versions approved", "cannot be decided together with others")
	h.wantState(t, doubt, operation.Unknown)
}

// TestNextIsOffered: after a decision the next one of the inbox is a link with the focus;
// after the last one it says so.
func TestNextIsOffered(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	one, two := h.Receive(t, storetest.CouponEvent())[0], h.Receive(t, storetest.CouponEvent())[0]
	lead := h.as(t, "lead")
	after := lead.follow(lead.submit(lead.get(opPath(one)), "form-decide", "decision", "approve").want(303)).want(200)
	next := after.has("next")
	if next == nil || attr(next, "href") != opPath(two) || !hasAttr(next, "autofocus") || attr(next, "data-key") != "enter" {
		t.Fatalf("the next one is not offered: %+v", next)
	}
	last := lead.follow(lead.submit(lead.get(opPath(two)), "form-decide", "decision", "approve").want(303)).want(200).says("Nothing more waits for you")
	if attr(last.has("next"), "href") != "/inbox" {
		t.Error("the last one does not lead to the inbox")
	}
}

// TestFieldCase17_NoLinkDecides opens every page by GET and HEAD with all that a form would
// send in its address, as somebody who could decide: nothing is written.
func TestFieldCase17_NoLinkDecides(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.Receive(t, storetest.CouponEvent())[0]
	in := h.Decision(t, id, operation.Approve)
	q := url.Values{"form_id": {"link"}, "version": {string(in.Version)}, "hash": {in.Hash}, "revision": {fmt.Sprint(in.Revision)}, "decision": {"approve"}, "comment": {"yes"}, "confirm": {"yes"},
		"flow": {"newsletter-coupon"}, "stage": {"coupon"}, "pick": {string(id)}, "version." + string(id): {string(in.Version)}, "hash." + string(id): {in.Hash}, "revision." + string(id): {fmt.Sprint(in.Revision)}, "reason": {"r"}}
	lead := h.as(t, "lead")
	before := h.fingerprint(t)
	tried := 0
	for _, r := range handlers.Table() {
		if strings.Contains(r.Path, "live") || strings.Contains(r.Path, "events") {
			continue // a stream does not end by itself
		}
		path := strings.NewReplacer(":id", string(id), ":version", string(in.Version), ":name", "newsletter-coupon").Replace(r.Path)
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			if a := lead.do(method, path+"?"+q.Encode(), nil); a.status >= 500 {
				t.Errorf("%s %s: %d", method, path, a.status)
			}
			tried++
		}
	}
	if tried < 60 {
		t.Fatalf("only %d addresses tried", tried)
	}
	if h.fingerprint(t) != before {
		t.Error("a link changed the record")
	}
	h.wantState(t, id, operation.PendingApproval)
}
