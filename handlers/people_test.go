package handlers_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"

	"golang.org/x/net/html"
)

const goodPassword = "violet kettle moon"

// age makes every proof of a person so old that it must be given anew.
func (h *house) age(t *testing.T) {
	t.Helper()
	if _, err := h.Owner.Exec(`UPDATE sessions SET authenticated_at = authenticated_at - interval '11 minutes' WHERE user_id IS NOT NULL`); err != nil {
		t.Fatal(err)
	}
}

// once is the secret that a page shows; "" = none.
func (a *answer) once() string {
	n := a.has("once-text")
	if n == nil {
		return ""
	}
	return attr(n, "value")
}

// cookie is the session's token in a browser.
func (b *browser) cookie() string {
	u, _ := url.Parse(b.url)
	for _, c := range b.http.Jar.Cookies(u) {
		if strings.HasPrefix(c.Name, "holdpoint_") && c.Name != "holdpoint_theme" {
			return c.Value
		}
	}
	return ""
}

func TestInvite(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	admin := h.as(t, "admin")
	admin.get("/people").want(200).says("Ada Admin", "Lea Lead")
	page := admin.get("/people/invite").want(200)
	action, form := page.form("form-invite")
	form.Set("email", "Nia@Example.test")
	form.Set("name", "Nia New")
	form["grant"] = []string{"approver:newsletter-coupon", "author:"}
	admin.post(action, form).want(422).says("A reason is needed.")
	form.Set("reason", "Joins the team.")
	sent := admin.post(action, form).want(303)

	secret := ""
	if err := h.Owner.QueryRow(`SELECT string_agg(encode(data, 'escape'), ' ') FROM sessions`).Scan(&secret); err != nil || strings.Contains(secret, "set-password") {
		t.Errorf("the link lies open in the table of sessions: %v", err)
	}
	twice := admin.post(action, form).want(303) // a double click leads to the same page
	if twice.to != sent.to {
		t.Errorf("the second press led to %s, the first to %s", twice.to, sent.to)
	}
	shown := admin.get(sent.to).want(200).says("Nia New is invited.", "Invited")
	if got := strings.Join(ticked(shown, "form-roles", "grant"), " "); got != "author: approver:newsletter-coupon" {
		t.Errorf("holds %s", got)
	}
	link := shown.once()
	if !strings.HasPrefix(link, h.url+"/set-password?token=") {
		t.Fatalf("the page shows %q", link)
	}
	if again := admin.get(sent.to).want(200); again.once() != "" || strings.Contains(again.body, "token=") {
		t.Error("the link is shown a second time")
	}
	if a := h.as(t, "auditor").get(sent.to).want(200).says("Only an administrator of every flow changes this."); a.has("form-roles") != nil {
		t.Error("an auditor is shown the form")
	}

	nia := h.nobody(t)
	door := nia.get(strings.TrimPrefix(link, h.url)).want(200).says("nia@example.test")
	nia.submit(door, "form-set-password", "password", "nianewnianew", "password_again", "nianewnianew").want(422).says("little more than your name")
	nia.submit(door, "form-set-password", "password", goodPassword, "password_again", goodPassword).want(303)
	nia.submit(nia.get("/sign-in"), "form-signin", "email", "nia@example.test", "password", goodPassword).want(303)
	nia.get("/account").want(200).says("approver, Newsletter coupon")
	if a := h.nobody(t).get(strings.TrimPrefix(link, h.url)).want(200); a.has("form-set-password") != nil {
		t.Error("the link opens twice")
	}

	t.Run("RevokedItOpensNothing", func(t *testing.T) {
		form.Set("email", "typo@exmaple.test")
		form.Set("form_id", "another")
		to := admin.post(action, form).want(303).to
		page := admin.get(to).want(200)
		admin.submit(page, "form-revoke_invitation", "reason", "Wrong address.").want(303)
		admin.get(to).want(200).says("Disabled", "Invitation revoked", "Wrong address.")
		if a := h.nobody(t).get(strings.TrimPrefix(page.once(), h.url)).want(200); a.has("form-set-password") != nil {
			t.Error("a revoked invitation opens")
		}
	})
	t.Run("OfAnAddressThatIsTaken", func(t *testing.T) {
		form.Set("email", "LEAD@example.test")
		form.Set("form_id", "third")
		admin.post(action, form).want(422).says("Somebody has this e-mail address already.")
	})
}

// ticked are the values of a form's ticked boxes of one name.
func ticked(a *answer, testid, name string) []string {
	var out []string
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.ElementNode && attr(n, "name") == name && hasAttr(n, "checked") {
			out = append(out, attr(n, "value"))
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(a.has(testid))
	return out
}

func TestChangeRoles(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	admin, lead := h.as(t, "admin"), h.as(t, "lead")
	id := h.Receive(t, storetest.CampaignEvent())[0]
	decision := lead.get(opPath(id)).want(200)
	before := lead.cookie()
	path := "/people/" + string(h.Users["lead"])
	page := admin.get(path).want(200)
	if got := ticked(page, "form-roles", "grant"); len(got) != 1 || got[0] != "approver:" {
		t.Errorf("ticked: %v", got)
	}
	action, form := page.form("form-roles")
	form["grant"] = []string{"approver:newsletter-coupon"}
	form.Set("reason", "Coupons alone.")
	admin.post(action, form).want(303)
	now := admin.get(path).want(200).says("Coupons alone.", "Role taken away")
	if got := ticked(now, "form-roles", "grant"); len(got) != 1 || got[0] != "approver:newsletter-coupon" {
		t.Errorf("after the change: %v", got)
	}

	// it counts with the next request, without a new sign-in, and under a new token
	if a := lead.submit(decision, "form-decide", "decision", "approve"); a.status != http.StatusNotFound {
		t.Errorf("after the role was narrowed: status %d, want 404", a.status)
	}
	lead.get("/inbox").want(200)
	if lead.cookie() == before {
		t.Error("the token is the same after a change of rights")
	}
	h.wantState(t, id, operation.PendingApproval)

	t.Run("ThatSomebodyElseHasChanged", func(t *testing.T) {
		form["grant"] = nil
		form.Set("reason", "Leaves marketing.")
		stale := admin.post(action, form).want(409).says("Somebody has changed these roles", "Leaves marketing.")
		if got := ticked(stale, "form-roles", "grant"); len(got) != 1 || got[0] != "approver:newsletter-coupon" {
			t.Errorf("the page shows %v, not what is there now", got)
		}
	})
	t.Run("OnesOwnAreBarred", func(t *testing.T) {
		own := "/people/" + string(h.Users["admin"])
		a := admin.get(own).want(200).says("Nobody changes their own access")
		if a.has("form-roles") != nil || a.has("form-disable_user") != nil {
			t.Error("the forms are shown")
		}
		for _, what := range []string{"roles", "disable", "reset", "sign-out"} {
			admin.post(own+"/"+what, url.Values{"form_id": {"x"}, "reason": {"me"}, "was": {"admin:"}, "grant": {"admin:", "approver:"}}).want(409).says("Nobody changes their own access")
		}
	})
}

func TestDisableInTheBrowser(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	admin, lead := h.as(t, "admin"), h.as(t, "lead")
	lead.get("/inbox").want(200)
	path := "/people/" + string(h.Users["lead"])
	page := admin.get(path).want(200)
	admin.submit(page, "form-disable_user", "reason", " ").want(422).says("A reason is needed.")
	admin.submit(page, "form-disable_user", "reason", "Left the company.").want(303)
	if a := lead.get("/inbox"); a.status != 303 || !strings.HasPrefix(a.to, "/sign-in") {
		t.Errorf("a disabled person's page: status %d to %q", a.status, a.to)
	}
	page = admin.get(path).want(200).says("Disabled", "Left the company.")
	if page.has("form-roles") == nil || page.has("form-reset_password") != nil {
		t.Error("a disabled account can be enabled and its roles changed, nothing else")
	}
	admin.submit(page, "form-enable_user", "reason", "Came back.").want(303)
	page = admin.get(path).want(200).says("Came back.")
	to := admin.submit(page, "form-reset_password", "reason", "Forgot it.").want(303).to
	if link := admin.get(to).want(200).once(); !strings.Contains(link, "/set-password?token=") {
		t.Errorf("the page shows %q", link)
	}
}

// TestConfirmKeepsTheForm: the proof is too old; the person confirms, comes back to the
// form with what was typed, and presses again. Nothing is done by the confirmation.
func TestConfirmKeepsTheForm(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.SetPassword(t, "admin", goodPassword)
	admin := h.as(t, "admin")
	path := "/people/" + string(h.Users["author"])
	page := admin.get(path).want(200)
	h.age(t)
	before := h.fingerprint(t)
	action, form := page.form("form-roles")
	form["grant"] = []string{"auditor:"}
	form.Set("reason", "Reads from now on.")
	ask := admin.post(action, form).want(303)
	door := admin.get(ask.to).want(200).says("Confirm that it is you", "You come back to the form with what you typed")
	admin.submit(door, "form-confirm", "password", "wrong wrong wrong").want(422).says("The current password is wrong.")
	was := admin.cookie()
	back := admin.submit(door, "form-confirm", "password", goodPassword).want(303)
	if admin.cookie() == was {
		t.Error("the token is the same after a proof")
	}
	shown := admin.get(back.to).want(200).says("Reads from now on.", "Nothing is decided yet")
	if got := ticked(shown, "form-roles", "grant"); len(got) != 1 || got[0] != "auditor:" {
		t.Errorf("the form came back with %v", got)
	}
	if h.fingerprint(t) != before {
		t.Error("the confirmation changed something")
	}
	action, form = shown.form("form-roles")
	form["grant"] = []string{"auditor:"}
	admin.post(action, form).want(303)
	if got := ticked(admin.get(path).want(200), "form-roles", "grant"); len(got) != 1 || got[0] != "auditor:" {
		t.Errorf("after the second press: %v", got)
	}
	if admin.get("/confirm?return=/people").to != "/people" {
		t.Error("a fresh session is asked again")
	}
}

// TestConfirmBeforeAReexecution asks the second person for a proof before they permit one
// more attempt.
func TestConfirmBeforeAReexecution(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.SetPassword(t, "ops2", goodPassword)
	id := h.unknown(t)
	ops, ops2 := h.as(t, "ops"), h.as(t, "ops2")
	page := ops.get(opPath(id)).want(200)
	ops.submit(page, "form-reconcile", checked("finding", "not_done", "not_done_evidence", "Their log shows nothing.", "then", "request_reexecution",
		"not_done_reason", "The customer still waits.", "not_done_confirm", "yes")...).want(303)
	h.wantState(t, id, operation.ReexecutionRequested)
	form := ops2.get(opPath(id)).want(200)
	h.age(t)
	ask := ops2.submit(form, "form-reexecution", "decision", "approve", "confirm", "yes", "comment", "I have looked at the log too.").want(303)
	door := ops2.get(ask.to).want(200).says("Confirm that it is you")
	h.wantState(t, id, operation.ReexecutionRequested)
	back := ops2.submit(door, "form-confirm", "password", goodPassword).want(303)
	shown := ops2.get(back.to).want(200).says("I have looked at the log too.")
	h.wantState(t, id, operation.ReexecutionRequested)
	ops2.submit(shown, "form-reexecution", "decision", "approve", "confirm", "yes").want(303)
	h.wantState(t, id, operation.Ready)
}

func TestTokensInTheBrowser(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	admin := h.as(t, "admin")
	page := admin.get("/people/tokens").want(200).says("There is no token yet.")
	action, form := page.form("form-token")
	admin.post(action, form).want(422).says("A name is needed.")
	form.Set("name", "n8n")
	form["scope"] = []string{"claims", "read"}
	form["flow"] = []string{"newsletter-coupon"}
	admin.post(action, form).want(303)
	admin.post(action, form).want(303) // the same press
	shown := admin.get("/people/tokens").want(200).says("n8n", "Newsletter coupon", "Valid", "made its token already")
	secret := shown.once()
	a, err := h.Store.FindToken(t.Context(), secret)
	if err != nil || len(a.Scopes) != 2 || len(a.Flows) != 1 || h.Count(t, "api_tokens") != 1 {
		t.Errorf("the page shows %q: %+v %v", secret, a, err)
	}
	if admin.get("/people/tokens").once() != "" {
		t.Error("the token is shown a second time")
	}
	one := "/people/tokens/" + a.ID
	if x := h.as(t, "auditor").get(one).want(200); x.has("form-revoke_token") != nil {
		t.Error("an auditor is shown the form")
	}
	page = admin.get(one).want(200)
	admin.submit(page, "form-revoke_token", "reason", "Leaked.").want(303)
	admin.get(one).want(200).says("Revoked")
	if _, err := h.Store.FindToken(t.Context(), secret); err == nil {
		t.Error("a revoked token opens")
	}
}

func TestOwnSessions(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.SetPassword(t, "lead", goodPassword)
	signIn := func(password string) (*browser, *answer) {
		b := h.nobody(t)
		return b, b.submit(b.get("/sign-in"), "form-signin", "email", storetest.Email("lead"), "password", password)
	}
	_, failed := signIn("wrong wrong wrong")
	failed.want(422)
	here, a := signIn(goodPassword)
	a.want(303)
	there, a := signIn(goodPassword)
	a.want(303)
	page := here.get("/account/security").want(200).says("Signed in with the password", "Wrong password", "this session")
	here.submit(page, "form-end-session").want(303)
	here.get("/account/security").want(200).says("The session has ended.")
	if a := there.get("/inbox"); !strings.HasPrefix(a.to, "/sign-in") {
		t.Errorf("the ended session opens: %d", a.status)
	}
	third, _ := signIn(goodPassword)
	here.submit(here.get("/account/security"), "form-end-others").want(303)
	if a := third.get("/inbox"); !strings.HasPrefix(a.to, "/sign-in") {
		t.Errorf("another session opens: %d", a.status)
	}
	page = here.get("/account/security").want(200)
	here.submit(page, "form-password", "current", goodPassword, "password", "Password2026!", "password_again", "Password2026!").want(422).says("guessed first")
	here.submit(page, "form-password", "current", goodPassword, "password", "silver bridge at noon", "password_again", "silver bridge at noon").want(303)
	here.get("/account/security").want(200)

	t.Run("OfWhoeverHoldsNoRole", func(t *testing.T) {
		link, err := h.Store.AddUser(t.Context(), store.System("command"), store.NewUser{Email: "none@example.test", Name: "No Role"})
		if err != nil {
			t.Fatal(err)
		}
		b := h.nobody(t)
		h.session(t, b, link.User)
		b.get("/account").want(200).says("You hold no role yet.")
		b.get("/account/security").want(200)
		b.get("/operations").want(403)
	})
}

func TestPeopleFilter(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	admin := h.as(t, "admin")
	rows := func(query string) string {
		var names []string
		var walk func(*html.Node)
		walk = func(n *html.Node) {
			if attr(n, "data-testid") == "person-row" {
				for short, id := range h.Users {
					if string(id) == attr(n, "data-id") {
						names = append(names, short)
					}
				}
			}
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				walk(c)
			}
		}
		walk(admin.get("/people?" + query).want(200).doc)
		return strings.Join(names, " ")
	}
	for query, want := range map[string]string{"q=LEA": "lead", "role=ops_owner": "ops ops2", "role=ops_owner&flow=plain-note&q=ona": "ops2", "account=disabled": "", "q=zzz": "", "role=auditor": "auditor"} {
		if got := rows(query); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}
