package handlers_test

import (
	"slices"
	"strings"
	"testing"

	"holdpoint/handlers"
	"holdpoint/operation"

	"holdpoint/store/storetest"
)

// TestHistoryPage reads the history as an auditor: entries, filters that combine, the
// way to each thing and to its timeline, and what is said when one does not verify.
func TestHistoryPage(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	op := h.Ready(t)
	h.Receive(t, storetest.CampaignEvent())
	b := h.as(t, "auditor")
	all := b.get("/history").want(200).says("Newest first.", "verified from their first entry to their last", "No signed checkpoint", "holdpoint verify --export", "recorded in your own history")
	all.has("history-row")
	b.get("/history?action=submit&flow=newsletter-coupon&role=").want(200)
	one := b.get("/history?subject="+string(op)).want(200).says("Created", "Flow and policy version 1", "Everything about it")
	if n := strings.Count(one.body, `data-testid="history-row"`); n < 2 || strings.Count(one.body, `data-subject="`+string(op)+`"`) != n {
		t.Errorf("%d entries of one operation", n)
	}
	b.get("/history?actor=" + string(h.Users["lead"]) + "&action=clear&state_to=ready&moved=yes&channel=web&kind=operation&destination=coupon-service").want(200)
	b.get("/history?action=nothing").want(200).says("Nothing fits these filters.")
	for _, q := range []string{"from=2026-11-30T00:00", "to=yesterday", "from=2026-02-30"} {
		b.get("/history?" + q).want(200).says("Nothing fits these filters.")
		if lines := strings.Count(b.get("/history/export.jsonl?"+q).want(200).body, "\n"); lines != 1 {
			t.Errorf("%s: %d lines, want the trailer alone", q, lines)
		}
	}
	b.get("/history?after=nonsense&from=nonsense&to=9999-99-99&kind=nothing").want(200)
	b.get("/history/of/operation/"+string(op)).want(200).says("Event received", "Delivery", "Created", "Everything about this operation")
	b.get("/history/of/run/"+h.runOf(t, op)).want(200).says("Event received", "Everything about this run")
	b.get("/history/of/person/"+string(h.Users["lead"])).want(200).says("Everything about this person", "Account added")
	h.as(t, "lead").get("/history/of/person/" + string(h.Users["lead"])).want(200)
	h.as(t, "lead").get("/history/of/person/" + string(h.Users["admin"])).want(404)
	h.as(t, "lead").get(opPath(op)).want(200).has("timeline")
	if _, err := h.Owner.Exec(`ALTER TABLE history DISABLE TRIGGER USER`); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Owner.Exec(`UPDATE history SET reason = 'forged' WHERE subject_id = $1 AND seq = 2`, string(op)); err != nil {
		t.Fatal(err)
	}
	b.get("/history?subject="+string(op)).want(200).says("does not verify", "does not verify from entry 2")
}

// looks gives what is recorded in a person's history of one action.
func (h *house) looks(t *testing.T, who, action string) (out []map[string]string) {
	t.Helper()
	rows, broken, err := h.Store.ListHistory(t.Context(), operation.SubjectUser, string(h.Users[who]))
	if err != nil || broken != 0 {
		t.Fatalf("history of %s: broken at %d, %v", who, broken, err)
	}
	for _, r := range rows {
		if r.Action == action {
			l := r.Links()
			l["evidence"], l["as"] = r.EvidenceHash, string(r.Role)
			out = append(out, l)
		}
	}
	return out
}

// TestAuditorsLooks: what an auditor opens is recorded before they see it, once in a few
// minutes, in their own history: the operation and its deciders notice nothing of it.
func TestAuditorsLooks(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.Receive(t, storetest.CouponEvent())[0]
	approver := h.as(t, "lead")
	form := approver.get(opPath(id)).want(200)
	var before int64
	if err := h.Owner.QueryRow(`SELECT revision FROM operations WHERE id = $1`, string(id)).Scan(&before); err != nil {
		t.Fatal(err)
	}
	p, err := h.Store.FindOperation(t.Context(), h.As("auditor"), id)
	if err != nil {
		t.Fatal(err)
	}
	version := "/operations/" + string(id) + "/versions/" + string(p.VersionID) + "/content"
	b := h.as(t, "auditor")
	for range 3 {
		b.get(opPath(id)).want(200)
		b.get(version).want(200)
	}
	seen := h.looks(t, "auditor", "look")
	if len(seen) != 1 || seen[0]["operation"] != string(id) || seen[0]["version"] != string(p.VersionID) || seen[0]["as"] != "auditor" {
		t.Fatalf("looks: %v, want one at %s of %s", seen, p.VersionID, id)
	}
	h.as(t, "auditor").get(opPath(id)).want(200) // another session
	if _, err := h.Owner.Exec(`UPDATE recent_looks SET at = at - interval '6 minutes'`); err != nil {
		t.Fatal(err)
	}
	b.get(opPath(id)).want(200)
	if n := len(h.looks(t, "auditor", "look")); n != 3 {
		t.Errorf("%d looks, want one for another session and one after some minutes", n)
	}
	if n := len(h.looks(t, "lead", "look")); n != 0 {
		t.Errorf("%d looks of an approver are recorded", n)
	}
	var after int64
	if err := h.Owner.QueryRow(`SELECT revision FROM operations WHERE id = $1`, string(id)).Scan(&after); err != nil || after != before {
		t.Errorf("revision %d after the looks, %d before (%v)", after, before, err)
	}
	approver.submit(form, "form-decide", "decision", "approve").want(303)
	b.get("/history/of/operation/" + string(id)).want(200).says("Looked at content")
	h.as(t, "lead").get("/history/of/operation/" + string(id)).want(200)
	b.get("/operations/" + string(id) + "/attachments/atc_00000000000000000000000000").want(404)
	held := h.held(t, storetest.CampaignEvent)
	b.get("/deliveries/" + held).want(200)
	if last := h.looks(t, "auditor", "look"); last[len(last)-1]["delivery"] != held {
		t.Errorf("the last look is %v, want the delivery %s", last[len(last)-1], held)
	}
}

// TestAuditorReadsAndChangesNothing: an auditor may open every page but the forms by which
// others change something, and may send nothing but what concerns their own account.
func TestAuditorReadsAndChangesNothing(t *testing.T) {
	t.Parallel()
	for _, r := range handlers.Table() {
		may := len(r.Roles) == 0 || slices.Contains(r.Roles, operation.RoleAuditor)
		own := slices.ContainsFunc(ownPaths, func(p string) bool { return strings.HasPrefix(r.Path, p) })
		switch {
		case r.Method == "GET" && !may && !slices.Contains(writersPages, r.Path):
			t.Errorf("an auditor may not open %s", r.Path)
		case r.Method != "GET" && may && len(r.Roles) > 0 && !own:
			t.Errorf("an auditor may send %s", r.Path)
		}
	}
}

// writersPages are the forms by which others change something; ownPaths what concerns
// one's own account, session and views, and an improvement task that one was given.
var (
	writersPages = []string{"/operations/:id/edit", "/operations/:id/replace", "/operations/adopt", "/approve-together", "/approve-together/result", "/people/invite", "/people/factors",
		"/people/:id/sign-in", "/figures/limits/new", "/figures/limits/:id/change", "/cases/result", "/cases/queues/:id", "/disputes", "/disputes/result", "/incidents/new", "/incidents/:id/edit", "/incidents/:id/timeline",
		"/flows/:name/start", "/flows/:name/batches/new", "/lists/:id", "/lists/:id/problems.csv", "/suppressions/imports/:id", "/batches/:id/revise", "/batches/:id/pause", "/batches/:id/resume", "/batches/:id/stop", "/batches/:id/cancel", "/batches/:id/go_on"}
	ownPaths = []string{"/account", "/confirm", "/shortcuts", "/operations/views", "/tasks/:id"}
)

// TestAuditorIsRefused sends every form as an auditor of every flow: none changes anything
// but their own account.
func TestAuditorIsRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	w := newWalker(t, h)
	b := h.nobody(t)
	for _, r := range handlers.Table() {
		if r.Method == "GET" || len(r.Roles) == 0 || slices.ContainsFunc(ownPaths, func(p string) bool { return strings.HasPrefix(r.Path, p) }) {
			continue
		}
		h.session(t, b, h.Users["auditor"])
		w.last = h.fingerprint(t)
		for kind, path := range w.paths(r) {
			if a := b.do(r.Method, path, formOf(r)); a.status != 403 {
				t.Errorf("%s %s (%s): status %d, want 403", r.Method, path, kind, a.status)
			}
			if w.changed(t) {
				t.Errorf("%s %s changed the record", r.Method, path)
			}
		}
	}
}
