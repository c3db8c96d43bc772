package handlers_test

import (
	"fmt"
	"maps"
	"net/url"
	"strings"
	"sync"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// together sends two posts at the same moment and gives both answers.
func together(a, b func() *answer) (x, y *answer) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	wg.Go(func() { <-start; x = a() })
	wg.Go(func() { <-start; y = b() })
	close(start)
	wg.Wait()
	return x, y
}

// TestFieldCase12_DoubleClickIsOneDecision sends one form several times, to two server
// processes, at once, later, and after a reload.
func TestFieldCase12_DoubleClickIsOneDecision(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.Receive(t, storetest.CouponEvent())[0]
	one := h.as(t, "lead")
	two := newBrowser(t, serve(t, h.Open(t, h.AppURL)))
	h.session(t, two, h.Users["lead"])
	action, form := one.get(opPath(id)).want(200).form("form-decide")
	form.Set("comment", "Go.")

	x, y := together(func() *answer { return one.post(action, form) }, func() *answer { return two.post(action, form) })
	again := one.post(action, form) // Back and press, or F5 on the result
	for _, a := range []*answer{x, y, again} {
		if a.status != 303 || a.to != opPath(id) {
			t.Fatalf("status %d to %q, want 303 to the operation: %s", a.status, a.to, a.text())
		}
	}
	page := one.get(opPath(id)).want(200).says("Approved. It is sent once", "Go.")
	if n := strings.Count(page.body, `data-testid="flash"`); n != 1 {
		t.Errorf("%d messages, want 1", n)
	}
	if n := h.Count(t, "approvals WHERE operation_id = $1", string(id)); n != 1 {
		t.Errorf("%d approvals, want 1", n)
	}
	if n := h.Count(t, "river_job"); n != 1 {
		t.Errorf("%d wake-ups, want 1", n)
	}
	// another form of the same page, filled from an older copy, says the same thing calmly
	form.Set("form_id", store.NewFormID())
	one.follow(one.post(action, form).want(303)).want(200).says("You have already decided")
}

// TestFieldCase12_TheSameFormSaysSomethingElse presses again on a page whose first answer
// did not arrive, with another choice: it is not said to be done, and nothing changes.
func TestFieldCase12_TheSameFormSaysSomethingElse(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	lead := h.as(t, "lead")
	letter := h.Receive(t, storetest.CampaignEvent())[1]
	newVersion(h, t, letter, "author", mail(1), true)
	action, form := lead.get(opPath(letter)).want(200).form("form-decide")
	form.Set("decision", "approve")
	lead.post(action, form).want(303)
	other := maps.Clone(form)
	other.Set("decision", "reject")
	other.Set("comment", "On second thoughts, no.")
	lead.post(action, other).want(409).says("On second thoughts, no.")
	h.wantState(t, letter, operation.PendingApproval)
	lead.post(action, form).want(303)
	if n := h.Count(t, "approvals WHERE operation_id = $1", string(letter)); n != 1 {
		t.Errorf("%d decisions, want 1", n)
	}

	lead.submit(lead.get(opPath(letter)).want(200), "form-withdraw").want(303)
	lead.post(action, form).want(409) // the approval that it once was is taken back

	coupon := h.Receive(t, storetest.CouponEvent())[0]
	action, form = lead.get(opPath(coupon)).want(200).form("form-cancel")
	form.Set("reason", "Wrong customer.")
	form.Set("confirm", "yes")
	lead.post(action, form).want(303)
	other = maps.Clone(form)
	other.Set("reason", "Wrong amount.")
	lead.post(action, other).want(409).says("Wrong amount.")
	lead.post(action, form).want(303)
}

// TestFieldCase13_TwoDecideAtOnce lets one approve while another rejects, fifty times.
func TestFieldCase13_TwoDecideAtOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	lead, second := h.as(t, "lead"), h.as(t, "second")
	won := map[operation.State]int{}
	for round := range 50 {
		id := h.Receive(t, storetest.CouponEvent())[0]
		form := func(d operation.Decision) url.Values {
			in := h.Decision(t, id, d)
			return url.Values{"form_id": {in.FormID}, "version": {string(in.Version)}, "hash": {in.Hash}, "revision": {fmt.Sprint(in.Revision)}, "decision": {string(d)}, "comment": {"my reason " + string(d)}}
		}
		yes, no := form(operation.Approve), form(operation.Reject)
		x, y := together(func() *answer { return lead.post(opPath(id)+"/decide", yes) }, func() *answer { return second.post(opPath(id)+"/decide", no) })
		winner, loser, state := x, y, operation.Ready
		if x.status != 303 {
			winner, loser, state = y, x, operation.Rejected
		}
		winner.want(303)
		loser.want(409).says("my reason") // what the loser typed is still there
		if loser.has("stale") == nil {
			t.Fatalf("round %d: the loser does not see both sides", round)
		}
		h.wantState(t, id, state)
		if n := h.Count(t, "approvals WHERE operation_id = $1", string(id)); n != 1 {
			t.Fatalf("round %d: %d decisions, want 1", round, n)
		}
		won[state]++
	}
	t.Logf("decided: %v", won)
}

// TestFieldCase13_SamePersonFillsOneSlot lets one person press twice where two are needed.
func TestFieldCase13_SamePersonFillsOneSlot(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	letter := h.Receive(t, storetest.CampaignEvent())[1]
	newVersion(h, t, letter, "author", mail(1), true)
	lead := h.as(t, "lead")
	page := lead.get(opPath(letter)).want(200)
	lead.submit(page, "form-decide", "decision", "approve").want(303)
	lead.submit(page, "form-decide", "decision", "approve", "form_id", "another").want(303)
	h.wantState(t, letter, operation.PendingApproval)
	after := lead.get(opPath(letter)).want(200).says("You have already decided")
	if after.has("form-decide") != nil {
		t.Error("the button is still offered")
	}
}

// TestFieldCase14_ChangeAfterApproval changes approved content a little at a time: the
// approval covers none of it, and does not come back with the old bytes.
func TestFieldCase14_ChangeAfterApproval(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.Ready(t)
	author, lead := h.as(t, "author"), h.as(t, "lead")
	_, first := author.get(opPath(id) + "/edit").want(200).form("form-edit")
	was := first.Get("content.name")
	version := 1
	for _, set := range [][]string{{"content.name", was + " "}, {"content.code", "OTHER-1"}, {"content.percent_off", "99"}, {"content.name", "Else"}} {
		edit := author.get(opPath(id) + "/edit").want(200)
		author.submit(edit, "form-edit", append(set, "submit", "yes")...).want(303)
		version++
		h.wantState(t, id, operation.PendingApproval)
		if _, err := h.Store.ClaimAndDispatch(t.Context(), store.Job("w1"), id, "w1"); err == nil {
			t.Fatalf("version %d was claimed without an approval", version)
		}
		page := lead.get(opPath(id)).want(200).says(fmt.Sprintf("To be approved: version %d", version), "0 of 1")
		if page.has("form-decide") == nil {
			t.Fatal("no approval is asked for")
		}
		if version == 2 {
			lead.submit(page, "form-decide", "decision", "approve").want(303)
			h.wantState(t, id, operation.Ready)
		}
	}
	// back to the first bytes: a new version, not a revived approval
	edit := author.get(opPath(id) + "/edit").want(200)
	author.submit(edit, "form-edit", "content.name", was, "content.code", first.Get("content.code"), "content.percent_off", first.Get("content.percent_off"), "submit", "yes").want(303)
	h.wantState(t, id, operation.PendingApproval)
	lead.get(opPath(id)).want(200).says(fmt.Sprintf("To be approved: version %d", version+1))
	if n := h.Count(t, "attempts WHERE operation_id = $1", string(id)); n != 0 {
		t.Errorf("%d attempts, want none", n)
	}
}

// TestFieldCase15_OlderVersionOnThePage approves what is no longer current.
func TestFieldCase15_OlderVersionOnThePage(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.Receive(t, storetest.CouponEvent())[0]
	lead := h.as(t, "lead")
	page := lead.get(opPath(id)).want(200)
	newVersion(h, t, id, "author", map[string]any{"code": "NEW-1", "percent_off": 20, "name": "Summer coupon"}, true)

	stale := lead.submit(page, "form-decide", "decision", "approve", "comment", "Looks right to me.").want(409)
	stale.says("Summer coupon", "Looks right to me.")
	if stale.has("stale-seen") == nil || stale.has("stale-now") == nil || stale.has("changes") == nil {
		t.Error("both sides and their difference are not shown")
	}
	for name, set := range map[string][]string{"removed": {"version", "", "hash", ""}, "altered": {"version", "ver_00000000000000000000000000"}, "hash": {"hash", strings.Repeat("0", 64)}} {
		lead.submit(page, "form-decide", append(set, "decision", "approve")...).want(409)
		if n := h.Count(t, "approvals"); n != 0 {
			t.Fatalf("%s: %d approvals, want none", name, n)
		}
	}
	h.wantState(t, id, operation.PendingApproval)
	// a new press on what is now before their eyes counts
	lead.submit(stale, "form-decide").want(303)
	h.wantState(t, id, operation.Ready)
	if n := h.Count(t, "approvals a JOIN operations o ON o.version_id = a.version_id WHERE a.reason = 'Looks right to me.'"); n != 1 {
		t.Errorf("%d approvals of the current version, want 1", n)
	}
}

// TestFieldCase17_ScannerOpensLinks fetches every link before its person does.
func TestFieldCase17_ScannerOpensLinks(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.Receive(t, storetest.CouponEvent())[0]
	link, err := h.Store.ResetPassword(t.Context(), store.System("command"), h.Users["lead"], "")
	if err != nil {
		t.Fatal(err)
	}
	before := h.fingerprint(t)
	for range 2 {
		for _, method := range []string{"GET", "HEAD"} {
			scanner := h.nobody(t)
			if a := scanner.do(method, opPath(id), nil); method == "GET" && (a.status != 303 || !strings.HasPrefix(a.to, "/sign-in?return=")) {
				t.Fatalf("%s: %d to %q", method, a.status, a.to)
			}
			scanner.do(method, "/set-password?token="+link.Secret, nil)
			scanner.do(method, opPath(id)+"/decide", nil)
		}
	}
	if h.fingerprint(t) != before {
		t.Fatal("a fetch changed the record")
	}
	b := h.nobody(t)
	page := b.get("/set-password?token=" + link.Secret).want(200).says("lead@example.test")
	b.follow(b.submit(page, "form-set-password", "password", "a long pass phrase", "password_again", "a long pass phrase").want(303)).says("Sign in")
	signin := b.get(opPath(id)).want(303)
	page = b.get(signin.to).want(200)
	b.follow(b.submit(page, "form-signin", "email", "Lead@Example.test", "password", "a long pass phrase").want(303)).want(200).says("May version 1 be sent?")
	b.get("/set-password?token=" + link.Secret).want(200).says("used") // once
}

// expire makes an approval run out, as time would.
func (h *house) expire(t *testing.T, id operation.ID) {
	t.Helper()
	for _, q := range []string{`ALTER TABLE clearances DISABLE TRIGGER USER`, `UPDATE clearances SET expires_at = clock_timestamp() - interval '1 second'`,
		`ALTER TABLE clearances ENABLE TRIGGER USER`, `UPDATE operations SET expires_at = clock_timestamp() - interval '1 second' WHERE expires_at IS NOT NULL`} {
		if _, err := h.Owner.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFieldCase20_ApprovalPastItsDeadline lets an approval run out before the claim.
func TestFieldCase20_ApprovalPastItsDeadline(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.Ready(t)
	h.expire(t, id)
	if _, err := h.Store.ClaimAndDispatch(t.Context(), store.Job("w1"), id, "w1"); err == nil {
		t.Fatal("an expired approval was used")
	}
	if _, err := h.Store.SweepExpired(t.Context(), store.Job("sweep")); err != nil {
		t.Fatal(err)
	}
	h.wantState(t, id, operation.PendingApproval)
	lead := h.as(t, "lead")
	page := lead.get(opPath(id)).want(200).says("0 of 1")
	if page.has("form-decide") == nil {
		t.Fatal("no new approval is asked for")
	}
	if !strings.Contains(page.text(), "xpired") {
		t.Errorf("the page does not say that the approval expired:\n%s", page.text())
	}
	// a late refusal stays a refusal
	lead.follow(lead.submit(page, "form-decide", "decision", "reject", "comment", "Too late now.").want(303)).says("Rejected. Nothing was sent.")
	h.wantState(t, id, operation.Rejected)
	if n := h.Count(t, "attempts"); n != 0 {
		t.Errorf("%d attempts, want none", n)
	}
}

// TestFieldCase42_SessionEndsWhileDeciding presses approve after the session has ended.
func TestFieldCase42_SessionEndsWhileDeciding(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.SetPassword(t, "lead", "a long pass phrase")
	reason := strings.Repeat("Because the customer asked for exactly this. ", 100)
	for name, changed := range map[string]bool{"unchanged": false, "changed meanwhile": true} {
		t.Run(name, func(t *testing.T) {
			id := h.Receive(t, storetest.CouponEvent())[0]
			b := h.as(t, "lead")
			page := b.get(opPath(id)).want(200)
			if _, err := h.Store.RevokeUserSessions(t.Context(), h.As("lead"), h.Users["lead"], nil); err != nil {
				t.Fatal(err)
			}
			if changed {
				newVersion(h, t, id, "author", map[string]any{"code": "NEW-42", "percent_off": 20, "name": "Changed meanwhile"}, true)
			}
			before := h.fingerprint(t)
			ask := b.submit(page, "form-decide", "decision", "approve", "comment", reason).want(303)
			signin := b.get(ask.to).want(200)
			b.submit(signin, "form-signin", "email", "lead@example.test", "password", "wrong").want(422) // once wrong
			back := b.follow(b.submit(signin, "form-signin", "email", "lead@example.test", "password", "a long pass phrase").want(303)).want(200)
			back.says("Nothing was decided", strings.TrimSpace(reason[:80]))
			if h.fingerprint(t) != before {
				t.Fatal("signing in decided something")
			}
			if (back.has("stale") != nil) != changed {
				t.Errorf("both sides shown: %v, want %v", back.has("stale") != nil, changed)
			}
			b.submit(back, "form-decide").want(303)
			h.wantState(t, id, operation.Ready)
			if n := h.Count(t, "approvals WHERE operation_id = $1 AND reason = $2", string(id), strings.TrimSpace(reason)); n != 1 {
				t.Errorf("%d approvals with the whole text, want 1", n)
			}
		})
	}
}

// TestFieldCase44_RightsWithdrawnWhileSignedIn takes rights away while the page is open.
func TestFieldCase44_RightsWithdrawnWhileSignedIn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	admin := h.As("admin")
	ran := h.Ready(t) // approved by lead, not yet run
	id := h.Receive(t, storetest.CouponEvent())[0]
	b := h.as(t, "lead")
	page := b.get(opPath(id)).want(200)
	if err := h.Store.RevokeRole(t.Context(), admin, h.Users["lead"], store.RoleGrant{Role: operation.RoleApprover}, "moved on"); err != nil {
		t.Fatal(err)
	}
	b.submit(page, "form-decide", "decision", "approve").want(403)
	if err := h.Store.GrantRole(t.Context(), admin, h.Users["lead"], store.RoleGrant{Role: operation.RoleAuditor}, ""); err != nil {
		t.Fatal(err)
	}
	b.submit(page, "form-decide", "decision", "approve").want(403)
	if err := h.Store.DisableUser(t.Context(), admin, h.Users["lead"], "left"); err != nil {
		t.Fatal(err)
	}
	if a := b.submit(page, "form-decide", "decision", "approve").want(303); !strings.HasPrefix(a.to, "/sign-in") {
		t.Errorf("led to %q, want the sign-in", a.to)
	}
	h.wantState(t, id, operation.PendingApproval)
	// what they approved before does not run, stays readable, and carries their name
	if _, err := h.Store.ClaimAndDispatch(t.Context(), store.Job("w1"), ran, "w1"); err == nil {
		t.Error("an approval of somebody who lost the right was used")
	}
	h.as(t, "admin").get(opPath(ran)).want(200).says("Lea Lead")
}

// TestFieldCase45_OwnRequest lets an author who is an approver and admin approve what
// they wrote.
func TestFieldCase45_OwnRequest(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, r := range []operation.Role{operation.RoleApprover, operation.RoleAdmin} {
		if err := h.Store.GrantRole(t.Context(), h.As("admin"), h.Users["author"], store.RoleGrant{Role: r}, ""); err != nil {
			t.Fatal(err)
		}
	}
	letter := h.Receive(t, storetest.CampaignEvent())[1]
	newVersion(h, t, letter, "author2", mail(1), true)
	h.Approve(t, letter, "lead")
	newVersion(h, t, letter, "author", mail(2), true) // the last editor counts as author
	author := h.as(t, "author")
	page := author.get(opPath(letter)).want(200)
	if page.has("form-decide") != nil || page.has("barred-approve") == nil {
		t.Error("the button is offered to the author")
	}
	in := h.Decision(t, letter, operation.Approve)
	forged := url.Values{"form_id": {"f"}, "version": {string(in.Version)}, "hash": {in.Hash}, "revision": {fmt.Sprint(in.Revision)}, "decision": {"approve"}}
	author.post(opPath(letter)+"/decide", forged).want(403)
	if n := h.Count(t, "approvals WHERE user_id = $1", string(h.Users["author"])); n != 0 {
		t.Errorf("%d own approvals, want none", n)
	}
	h.Approve(t, letter, "lead", "second")
	h.wantState(t, letter, operation.Waiting)
}

// TestCrossOrigin refuses a form that another site's page sends.
func TestCrossOrigin(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.Receive(t, storetest.CouponEvent())[0]
	b := h.as(t, "lead")
	action, form := b.get(opPath(id)).want(200).form("form-decide")
	for _, head := range [][2]string{{"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"}} {
		a := b.postWith(action, form, head[0], head[1])
		if a.status != 403 {
			t.Errorf("%s: %s: status %d, want 403", head[0], head[1], a.status)
		}
	}
	h.wantState(t, id, operation.PendingApproval)
}
