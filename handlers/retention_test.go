package handlers_test

import (
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// settledNote gives a note that a person has confirmed by what they saw.
func (h *house) settledNote(t *testing.T) operation.ID {
	t.Helper()
	id := h.unknown(t)
	p, err := h.Store.FindOperation(t.Context(), h.As("ops"), id)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Store.ConfirmDone(t.Context(), h.As("ops"), store.Shown{Operation: id, Revision: p.Revision, FormID: "form-settle", Reason: "Mr Smith read it to me."}, store.Reference{ID: "note_1"}); err != nil {
		t.Fatal(err)
	}
	h.wantState(t, id, operation.Confirmed)
	return id
}

// TestErase erases the content of one operation on its page: an administrator, with a
// reason and a confirmation; the page says afterwards when, by whom and why.
func TestErase(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.settledNote(t)
	if a := h.as(t, "ops").get(opPath(id)).want(200).says("Mr Smith read it to me."); a.has("form-erase") != nil {
		t.Error("an ops owner is offered to erase")
	}
	admin := h.as(t, "admin")
	page := admin.get(opPath(id)).want(200)
	if page.says("Contents and the bytes sent go for good", "statements and lookups go for good"); strings.Contains(page.text(), "attachments go for good") {
		t.Error("what is not there is said to go")
	}
	admin.submit(page, "form-erase", "reason", "She asked for it.").want(422).says("She asked for it.")
	admin.submit(page, "form-erase", "confirm", "yes").want(422)
	if n := h.Count(t, "erasures"); n != 0 {
		t.Fatalf("%d erasures without a reason or a confirmation", n)
	}
	after := admin.follow(admin.submit(page, "form-erase", "reason", "She asked for it.", "confirm", "yes").want(303))
	after.says("Erased: Contents, Statements and lookups. Facts", "Erased for privacy", "She asked for it.", "Admin")
	if after.has("form-erase") != nil {
		t.Error("it is offered once more, though nothing is left")
	}
	admin.follow(admin.submit(page, "form-erase", "reason", "She asked for it.", "confirm", "yes").want(303)).says("Nothing was left to erase") // twice is once
	if n := h.Count(t, "erasures"); n != 2 {
		t.Errorf("%d erasures, want one of each kind of which something was there", n)
	}
	for _, who := range []string{"ops", "auditor"} {
		a := h.as(t, who).get(opPath(id)).want(200).says("Erased for privacy", "She asked for it.", "The text was erased; its hash stays.", "note_1")
		for _, gone := range []string{"Mr Smith", "Please call the customer."} {
			if strings.Contains(a.body, gone) {
				t.Errorf("%s still reads %q", who, gone)
			}
		}
	}
	p, err := h.Store.FindOperation(t.Context(), h.As("ops"), id)
	if err != nil || !p.ChainOK {
		t.Errorf("chain %v, %v", p.ChainOK, err)
	}
	admin.get("/history/of/operation/"+string(id)).want(200).says("Contents erased", "Statements and lookups erased")
}

// TestRetentionPage: the terms of all kinds are previewed before they are saved.
func TestRetentionPage(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	admin := h.as(t, "admin")
	page := admin.get("/installation/retention").want(200).says("Statements and lookups", "Deliveries", "Kept for ever")
	if page.has("form-save") != nil {
		t.Error("it can be saved without a preview")
	}
	preview := admin.get("/installation/retention?preview=1&contents=&attachments=&evidence=400&deliveries=90").want(200).says("This is a preview", "Nothing is that old yet.")
	admin.get("/installation/retention?preview=1&deliveries=7").want(200).says("at least 30")
	admin.follow(admin.submit(preview, "form-save").want(303)).says("The terms are saved")
	for kind, days := range map[string]int{"contents": 0, "attachments": 0, "evidence": 400, "deliveries": 90} {
		if n := h.Count(t, "retention_settings WHERE kind = $1 AND COALESCE(days, 0) = $2", kind, days); n != 1 {
			t.Errorf("%s is not kept for %d days", kind, days)
		}
	}
	h.as(t, "auditor").get("/installation/retention").want(200).says("Only an administrator")

	// what would go is named as people know it, in one sentence with its days
	h.settledNote(t)
	if _, err := h.Owner.Exec(`ALTER TABLE operations DISABLE TRIGGER USER; UPDATE operations SET created_at = '2024-03-05T12:00:00Z', updated_at = '2024-03-05T12:00:00Z'; ALTER TABLE operations ENABLE TRIGGER USER`); err != nil {
		t.Fatal(err)
	}
	admin.get("/installation/retention?preview=1&contents=90").want(200).says("1 operation loses them now", "From 5 March 2024 to 5 March 2024", "Plain note")
}

// exported fails unless exactly these exports of one document are recorded, begun and ended
// with the hash of the file.
func (h *house) exported(t *testing.T, what, id string, formats ...string) {
	t.Helper()
	for _, format := range formats {
		for action, hash := range map[string]int{"export": 0, "export_done": 64} {
			n := h.Count(t, "history WHERE action = $1 AND length(evidence_hash) = $2 AND CAST(links AS json)->>'export' = $3 AND CAST(links AS json)->>'filter' = $4 AND CAST(links AS json)->>'format' = $5",
				action, hash, what, "id="+id, format)
			if n != 1 {
				t.Errorf("%d entries %s of %s %s as %s, want 1", n, action, what, id, format)
			}
		}
	}
}

// TestLookAtCaseAndRun: an auditor's look at a case's page and at a run's is recorded.
func TestLookAtCaseAndRun(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.unknown(t)
	p, err := h.Store.FindOperation(t.Context(), h.As("ops"), id)
	if err != nil || p.LastCase == nil {
		t.Fatalf("no case: %v", err)
	}
	for _, who := range []string{"ops", "auditor"} {
		b := h.as(t, who)
		b.get("/cases/" + string(p.LastCase.ID)).want(200)
		b.get("/runs/" + string(p.RunID)).want(200)
	}
	for where, n := range map[string]int{"links LIKE '%\"operation\":\"" + string(id) + "\"%'": 1, "links LIKE '%\"run\":\"" + string(p.RunID) + "\"%'": 1, "true": 2} {
		if got := h.Count(t, "history WHERE action = 'look' AND "+where); got != n {
			t.Errorf("%d looks recorded where %s, want %d", got, where, n)
		}
	}
}

// TestSmallForms: what a form says wrong is said in its own words, and nothing typed is lost.
func TestSmallForms(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ops := h.as(t, "ops")
	form := ops.get("/tasks").want(200)
	due := []string{"title", "Ask them", "role", "ops_owner", "due"}
	if past := ops.submit(form, "form-task", append(due, "2020-01-01T10:00")...).want(422).says("The due time has passed"); !strings.Contains(past.body, `value="Ask them"`) {
		t.Error("the title is lost")
	}
	ops.submit(form, "form-task", append(due, "soon")...).want(422).says("Give a day and a time")

	h.unknown(t)
	cases := ops.get("/cases").want(200)
	id := attr(cases.has("case-row"), "data-case")
	ops.submit(cases, "form-cases", "case", id, "do", "delete").want(400)

	limit := ops.get("/figures/limits/new").want(200)
	first := ops.submit(limit, "form-limit").want(303)
	if again := ops.submit(limit, "form-limit").want(303); again.header.Get("Location") != first.header.Get("Location") {
		t.Errorf("the same form leads to %s, then to %s", first.header.Get("Location"), again.header.Get("Location"))
	}
	if n := h.Count(t, "limits"); n != 1 {
		t.Errorf("%d limits", n)
	}
	ops.submit(limit, "form-limit", "value", "77").want(422)
	if strings.Contains(h.as(t, "auditor").get("/people").want(200).body, `href="/people/factors"`) {
		t.Error("an auditor is shown a page that they may not open")
	}
	if !strings.Contains(h.as(t, "admin").get("/people").want(200).body, `href="/people/factors"`) {
		t.Error("an admin is not shown the rule about factors")
	}
}

// TestErasedDelivery: a delivery whose body is past its term says so on its page and in the
// list, with its key and its verdict; one that is not yet due says nothing of the kind.
func TestErasedDelivery(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	refuse := func(key string) string {
		t.Helper()
		id, err := h.Store.RefuseDelivery(t.Context(), store.Unaccepted{Source: storetest.CouponEvent().Source, DeliveryKey: key, Verdict: store.VerdictRefused, Reason: "signature", Status: 401, Body: []byte("who am I")})
		if err != nil {
			t.Fatal(err)
		}
		return "/deliveries/" + string(id)
	}
	old := refuse("dlv-old")
	if _, err := h.Owner.Exec(`ALTER TABLE deliveries DISABLE TRIGGER USER; UPDATE deliveries SET received_at = received_at - interval '40 days'; ALTER TABLE deliveries ENABLE TRIGGER USER`); err != nil {
		t.Fatal(err)
	}
	fresh, b := refuse("dlv-new"), h.as(t, "ops")
	if b.get(old).want(200).has("body-erased") != nil {
		t.Error("it is called erased before it was")
	}
	if err := h.Store.SetRetention(t.Context(), h.Fresh(t, "admin"), map[store.RetentionKind]int{store.RetainDeliveries: 30}); err != nil {
		t.Fatal(err)
	}
	if n, err := h.Store.SweepRetention(t.Context(), store.System("job")); err != nil || n != 1 {
		t.Fatalf("%d erased, want the old one: %v", n, err)
	}
	for _, page := range []string{old, "/deliveries?q=dlv-old"} {
		if a := b.get(page).want(200).says("Its body was erased,", "; its hash stays.", "dlv-old", "Refused"); a.has("body-erased") == nil {
			t.Errorf("%s does not mark what was erased", page)
		}
	}
	if b.get(fresh).want(200).says("dlv-new").has("body-erased") != nil {
		t.Error("the new one is called erased")
	}
}
