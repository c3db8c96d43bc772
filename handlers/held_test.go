package handlers_test

import (
	"net/url"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// held brings two events of one business key and gives the delivery that is held.
func (h *house) held(t *testing.T, event func() store.Received) string {
	t.Helper()
	first, second := event(), event()
	first.BusinessKey = "T-" + first.EventKey
	second.BusinessKey = first.BusinessKey
	h.Receive(t, first)
	r, err := h.Store.Receive(t.Context(), store.System("api"), second)
	if err != nil || r.Verdict != store.VerdictHeld {
		t.Fatalf("%s, %v", r.Verdict, err)
	}
	return string(r.Delivery)
}

// form is a form with a reason.
func form(id, reason string) url.Values {
	return url.Values{"form_id": {id}, "reason": {reason}}
}

// TestFieldCase03_PossibleDuplicate follows a held event from the inbox to the decision.
func TestFieldCase03_PossibleDuplicate(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	one, two := "/deliveries/"+h.held(t, storetest.CouponEvent), "/deliveries/"+h.held(t, storetest.CouponEvent)
	ops, lead := h.as(t, "ops"), h.as(t, "lead")

	inbox := ops.get("/inbox").want(200).says("2 possible duplicates", "Possible duplicates to decide")
	if a := inbox.has("inbox-held"); a == nil || !strings.Contains(inbox.body, `href="`+one+`"`) {
		t.Fatalf("the inbox does not lead to %s", one)
	}
	if n := lead.get("/inbox").want(200); n.has("inbox-held") != nil {
		t.Error("somebody is asked who may not decide")
	}
	if list := ops.get("/deliveries?result=held").want(200).says("Held: possible duplicate", "resembles event", "evt-"); list.has("held-decide") == nil {
		t.Error("the list does not lead to the decision")
	}
	if page := lead.get(one).want(200).says("Who can: ops owner", "Decide whether it is a duplicate"); page.has("form-release") != nil || page.has("form-discard") != nil {
		t.Error("forms for somebody who may not")
	}
	lead.post(one+"/release", form("x", "why")).want(403)

	page := ops.get(one).want(200).says("Possible duplicate", "This event", "The earlier event that it resembles", "A release starts", "Newsletter coupon", "Percent off")
	empty := ops.submit(page, "form-release", "reason", " ").want(422).says("Give a reason")
	go1 := ops.submit(empty, "form-release", "reason", "Two orders of one customer")
	again := ops.submit(empty, "form-release", "reason", "Two orders of one customer") // double click
	if go1.status != 303 || again.status != 303 {
		t.Fatalf("status %d and %d", go1.status, again.status)
	}
	after := ops.follow(go1).want(200).says("Released.", "Released by", "Two orders of one customer")
	if after.has("form-release") != nil {
		t.Error("it can be decided again")
	}
	if n := h.Count(t, "runs"); n != 3 {
		t.Errorf("%d runs, want 3", n)
	}
	ops2 := h.as(t, "ops2")
	ops2.follow(ops2.submit(page, "form-discard", "reason", "I think not").want(303)).says("already")

	page = ops.get(two).want(200)
	ops.follow(ops.submit(page, "form-discard", "reason", "Sent twice").want(303)).want(200).says("Discarded as a duplicate", "Sent twice")
	if n := h.Count(t, "runs"); n != 3 {
		t.Errorf("%d runs after a discard, want 3", n)
	}
	if a := ops.get("/inbox").want(200); a.has("inbox-held") != nil {
		t.Error("what is decided still waits in the inbox")
	}
	var run string
	if err := h.Owner.QueryRow(`SELECT x.run_id FROM event_runs x JOIN held_decisions d ON d.event_id = x.event_id`).Scan(&run); err != nil {
		t.Fatal(err)
	}
	ops.get("/runs/" + run).want(200).says("Released by")
}

// TestRefusedAttemptsOnThePersonsPage shows an auditor what somebody tried.
func TestRefusedAttemptsOnThePersonsPage(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	if err := h.Store.GrantRole(t.Context(), h.As("admin"), h.Users["author"], store.RoleGrant{Role: operation.RoleApprover}, ""); err != nil {
		t.Fatal(err)
	}
	letter := h.Receive(t, storetest.CampaignEvent())[1]
	newVersion(h, t, letter, "author", mail(1), true)
	path := "/people/" + string(h.Users["author"])
	auditor := h.as(t, "auditor")
	auditor.get(path).want(200).says("Refused attempts", "None is recorded.", "Role given", "approver")

	in := h.Decision(t, letter, operation.Approve)
	send := form(in.FormID, "")
	send.Set("version", string(in.Version))
	send.Set("hash", in.Hash)
	send.Set("decision", "approve")
	h.as(t, "author").post(opPath(letter)+"/decide", send).want(403)
	page := auditor.get(path).want(200).says("Tried to decide, refused")
	if page.has("refused-row") == nil || !strings.Contains(page.body, `href="`+opPath(letter)+`"`) {
		t.Errorf("the attempt is not listed: %s", page.text())
	}
	auditor.get("/people").want(200).says("Ann Author")
	h.as(t, "admin").get(path).want(200)
	h.as(t, "lead").get(path).want(403)
	auditor.get("/people/usr_none").want(404)
}
