package handlers_test

import (
	"net/http"
	"strings"
	"testing"

	"holdpoint/operation"
)

// TestIncidentPages opens, writes, signs and exports an incident as people do, without a
// script.
func TestIncidentPages(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.unknown(t)
	b := h.as(t, "ops")
	pick := b.get("/incidents/new?operation=" + string(id) + "&operation=op_none").want(http.StatusOK)
	pick.has("missing")
	opened := b.submit(pick, "form-incident", "title", "Lost <b>answers</b>").want(http.StatusSeeOther)
	path := opened.to
	page := b.follow(opened).want(http.StatusOK)
	page.says("Lost <b>answers</b>", "Effect in doubt", "Not settled yet")

	// a pattern of the library that is chosen as the cause is named on the page and in the file
	edit := b.get(path + "/edit").want(http.StatusOK)
	b.follow(b.submit(edit, "form-edit", "pattern_id", h.patternOf(t, id))).has("library")

	// two people edit: the second gets both versions and keeps what they typed
	second := h.as(t, "ops2")
	theirs := second.get(path + "/edit").want(http.StatusOK)
	mine := b.get(path + "/edit").want(http.StatusOK)
	b.follow(b.submit(mine, "form-edit", "summary", "What happened", "cause", "As ops sees it", "response", "Looked up", "prevention", "Ask them")).says("As ops sees it")
	conflict := second.submit(theirs, "form-edit", "cause", "As ops2 sees it").want(http.StatusConflict)
	conflict.has("changed-meanwhile")
	conflict.says("As ops sees it", "As ops2 sees it")

	// the page before, once more: the same change is done once, another one is not passed off as done
	b.follow(b.submit(mine, "form-edit", "summary", "What happened", "cause", "As ops sees it", "response", "Looked up", "prevention", "Ask them")).says("As ops sees it")
	b.submit(mine, "form-edit", "cause", "On second thoughts").want(http.StatusConflict).says("On second thoughts")
	b.submit(b.get(path+"/edit"), "form-edit", "first", "0000-01-01T00:00").want(http.StatusUnprocessableEntity)

	// a moment that cannot be read, and identifiers that nobody knows: said where they stand, and nothing typed is lost
	moment := "Give a day and a time, such as 2026-03-09 14:30"
	bad := b.submit(b.get(path+"/edit"), "form-edit", "first", "yesterday at noon", "summary", "Typed anew").want(http.StatusUnprocessableEntity).says(moment)
	bad.keeps("form-edit", "first", "yesterday at noon", "summary", "Typed anew")
	bad = b.submit(b.get(path), "form-line", "at", "2026-02-30T10:00", "says", "They called back").want(http.StatusUnprocessableEntity).says(moment)
	bad.keeps("form-line", "at", "2026-02-30T10:00", "says", "They called back")
	more, typed := string(h.unknown(t)), "op_nowhere, "
	typed += more + " case_nowhere"
	bad = b.submit(b.get(path), "form-operations", "operations", typed).want(http.StatusUnprocessableEntity).says("Not there, or not for you to see: case_nowhere, op_nowhere. Nothing was added.")
	bad.keeps("form-operations", "operations", typed)
	if n := h.Count(t, "incident_operations"); n != 1 {
		t.Errorf("the incident has %d operations", n)
	}
	b.submit(b.get(path), "form-operations", "operations", " , ").want(http.StatusUnprocessableEntity).says("This is needed")

	page = b.get(path)
	page = b.follow(b.submit(page, "form-task", "title", "Ask for a status page", "role", "ops_owner")).says("Ask for a status page")
	md := b.get(path + "/incident.md").want(http.StatusOK)
	h.exported(t, "incident", path[strings.LastIndex(path, "/")+1:], "markdown")
	if s := md.text(); strings.Contains(md.body, "<b>") || !strings.Contains(md.body, `\<b\>`) || !strings.Contains(md.body, "Pattern of the library: ") {
		t.Errorf("the file holds markup, or names no pattern: %s", s)
	}
	page = b.follow(b.submit(page, "form-sign", "sure", "yes")).says("Revision 1 signed by")
	page.has("form-revise")
	b.get("/incidents?q=INC-1").want(http.StatusOK).has("incident-row")
	b.get("/tasks").want(http.StatusOK).has("task-row")

	h.limited(t, operation.RoleApprover, "newsletter-coupon")
	other := h.as(t, "only-approver")
	other.get(path).want(http.StatusNotFound)
	other.get(path + "/incident.md").want(http.StatusNotFound)
}

// patternOf is the pattern of an operation's newest stop.
func (h *house) patternOf(t *testing.T, id operation.ID) (pattern string) {
	t.Helper()
	if err := h.Owner.QueryRow(`SELECT pattern_id FROM stops WHERE operation_id = $1 ORDER BY id DESC LIMIT 1`, string(id)).Scan(&pattern); err != nil {
		t.Fatal(err)
	}
	return pattern
}

// keeps checks that a form still holds what was typed.
func (a *answer) keeps(testid string, set ...string) {
	a.t.Helper()
	_, form := a.form(testid)
	for i := 0; i+1 < len(set); i += 2 {
		if got := form.Get(set[i]); got != set[i+1] {
			a.t.Errorf("%s of %s holds %q, typed was %q", set[i], testid, got, set[i+1])
		}
	}
}

// TestFlowSheet shows each version of a flow, and none to who may not see it.
func TestFlowSheet(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	b := h.as(t, "auditor")
	b.get("/flows/campaign-follow-up/versions/1/sheet").want(http.StatusOK).says("Prompts and briefs", "edition 1", "Four things to know", "For the implementation", "Two attempts at once")
	b.get("/flows/plain-note/versions/1/sheet").want(http.StatusOK).says("takes no key")
	b.get("/flows/campaign-follow-up/versions/99/sheet").want(http.StatusNotFound)
	h.limited(t, operation.RoleApprover, "plain-note")
	h.as(t, "only-approver").get("/flows/campaign-follow-up/versions/1/sheet").want(http.StatusNotFound)
}
