package handlers_test

import (
	"bytes"
	"encoding/base64"
	"image/png"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"holdpoint/handlers"
	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
	"holdpoint/web"

	"github.com/pquerna/otp/totp"
	"golang.org/x/net/html"
)

const phrase = "a long pass phrase"

// houseWith is a house with a sign-in provider, opened by a name, as passkeys need it.
func houseWith(t *testing.T, p *handlers.Provider) *house {
	t.Helper()
	f := storetest.NewFixture(t)
	srv := httptest.NewUnstartedServer(nil)
	_, port, _ := strings.Cut(srv.Listener.Addr().String(), ":")
	public := "http://localhost:" + port
	log := slog.New(slog.NewTextHandler(testWriter{t}, &slog.HandlerOptions{Level: slog.LevelError + 1}))
	e := web.New(web.Config{PublicURL: public, Log: log, Store: f.Store, Waiting: handlers.Waiting(f.Store)})
	handlers.Register(e, handlers.Deps{Store: f.Store, Log: log, Provider: p})
	srv.Config.Handler = e
	srv.Start()
	t.Cleanup(srv.Close)
	return &house{Fixture: f, url: public}
}

// shows is what an authenticator app with this seed shows, some steps from now.
func shows(t *testing.T, seed string, steps int) string {
	t.Helper()
	c, err := totp.GenerateCode(strings.ReplaceAll(seed, " ", ""), time.Now().Add(time.Duration(steps)*store.TOTPPeriod))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// givePassword signs in as far as the password goes.
func (b *browser) givePassword(short string) *answer {
	b.t.Helper()
	return b.submit(b.get("/sign-in").want(200), "form-signin", "email", storetest.Email(short), "password", phrase)
}

// setApp sets an authenticator app up by hand, with the code of the step before, and
// gives its seed and the recovery codes.
func (b *browser) setApp() (seed string, codes []string) {
	b.t.Helper()
	a := b.follow(b.submit(b.get("/account/factors").want(200), "form-totp"))
	seed = inner(a.has("seed"))
	a = b.submit(a, "form-confirm-totp", "code", shows(b.t, seed, -1))
	if a.to != "/account/factors/recovery" {
		b.t.Fatalf("after the first code: status %d to %q\n%s", a.status, a.to, a.text())
	}
	a = b.get(a.to).want(200)
	for n := a.has("codes").FirstChild; n != nil; n = n.NextSibling {
		codes = append(codes, inner(n))
	}
	return seed, codes
}

// inner is an element's text.
func inner(n *html.Node) string {
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(n)
	return strings.TrimSpace(b.String())
}

// TestSecondFactor sets an app up, signs out, and signs in with password and code, by the
// pages alone.
func TestSecondFactor(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.SetPassword(t, "lead", phrase)
	b := h.nobody(t)
	b.follow(b.givePassword("lead")).want(200)
	seed, codes := b.setApp()
	if len(codes) != store.RecoveryCodes {
		t.Fatalf("codes %v", codes)
	}
	if a := b.get("/account/factors/recovery"); a.to != "/account/factors" {
		t.Errorf("the codes are shown twice: status %d to %q", a.status, a.to)
	}
	if a := b.get("/account/factors/totp"); a.to != "/account/factors" {
		t.Errorf("the seed in use is shown: status %d to %q", a.status, a.to)
	}
	b.post("/sign-out", url.Values{"form_id": {"x"}})

	a := b.givePassword("lead")
	if a.to != "/sign-in/factor" {
		t.Fatalf("after the password: to %q", a.to)
	}
	page := b.get(a.to).want(200)
	if page.has("nav-inbox") != nil || strings.Contains(page.body, "Lead") {
		t.Error("the page shows more than the address that was typed")
	}
	b.submit(page, "form-factor", "code", "000000").want(422).says("wrong, too old, or was used")
	a = b.submit(page, "form-factor", "code", shows(t, seed, 0))
	if a.to != "/inbox" {
		t.Fatalf("after the code: status %d to %q", a.status, a.to)
	}
	b.get("/inbox").want(200)

	other := h.nobody(t)
	other.givePassword("lead")
	other.submit(other.get("/sign-in/factor"), "form-factor", "code", shows(t, seed, 0)).want(422)
	a = other.submit(other.get("/sign-in/factor"), "form-factor", "code", codes[0])
	if a.to != "/inbox" {
		t.Fatalf("after a recovery code: status %d to %q", a.status, a.to)
	}
	other.get("/inbox").want(200).says("You have used up a recovery code")
	if n := h.Count(t, "sign_ins WHERE user_id = $1 AND how IN ('code', 'recovery')", string(h.Users["lead"])); n != 2 {
		t.Errorf("%d sign-ins by a second factor are on record", n)
	}
}

// TestPendingReachesNothing walks the whole table with a session in which the password
// was given and the second factor was not: it is nobody's.
func TestPendingReachesNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.SetPassword(t, "admin", phrase)
	b := h.nobody(t)
	b.follow(b.givePassword("admin"))
	b.setApp()
	b.post("/sign-out", url.Values{"form_id": {"x"}})
	b.givePassword("admin")
	before := h.fingerprint(t)
	seen := 0
	for _, r := range handlers.Table() {
		if len(r.Roles) == 0 {
			continue
		}
		seen++
		path := strings.NewReplacer(":id", string(h.Users["lead"]), ":name", "crm", ":version", "1").Replace(r.Path)
		a := b.do(r.Method, path, formOf(r))
		if a.status != http.StatusSeeOther || !strings.HasPrefix(a.to, "/sign-in") {
			t.Errorf("%s %s: status %d to %q, want the sign-in", r.Method, path, a.status, a.to)
		}
	}
	if seen < 50 || h.fingerprint(t) != before {
		t.Errorf("%d addresses were tried, or the record changed", seen)
	}
	if a := b.get("/sign-in?return=/flows"); a.to != "/sign-in/factor?return=%2Fflows" {
		t.Errorf("the sign-in leads to %q", a.to)
	}
	b.submit(b.get("/sign-in/factor"), "form-leave")
	if a := b.get("/sign-in/factor"); a.to != "/sign-in" {
		t.Errorf("after leaving: %q", a.to)
	}
}

// TestPendingEnds: a session that owes the second factor ends with the password it rests
// on, with the account, and after a while.
func TestPendingEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*testing.T, *house){
		"new password": func(t *testing.T, h *house) { h.SetPassword(t, "lead", phrase+" 2") },
		"disabled": func(t *testing.T, h *house) {
			if err := h.Store.DisableUser(t.Context(), store.System("command"), h.Users["lead"], "left"); err != nil {
				t.Fatal(err)
			}
		},
		"too late": func(t *testing.T, h *house) {
			_, err := h.Owner.Exec(`UPDATE sessions SET data = convert_to(replace(convert_from(data, 'UTF8'), '"owed":"1', '"owed":"0'), 'UTF8') WHERE pending_user IS NOT NULL`)
			if err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.SetPassword(t, "lead", phrase)
			b := h.nobody(t)
			b.follow(b.givePassword("lead"))
			seed, _ := b.setApp()
			b.post("/sign-out", url.Values{"form_id": {"x"}})
			page := b.follow(b.givePassword("lead")).want(200)
			end(t, h)
			if a := b.submit(page, "form-factor", "code", shows(t, seed, 0)); a.to != "/sign-in" {
				t.Errorf("status %d to %q", a.status, a.to)
			}
			if a := b.get("/inbox"); a.status != 303 {
				t.Errorf("the inbox opens: %d", a.status)
			}
		})
	}
}

// TestMustEnrol: whoever must have a second factor and has none reaches nothing but the
// pages on which it is set up, also in a session from before the rule.
func TestMustEnrol(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.SetPassword(t, "lead", phrase)
	b := h.nobody(t)
	b.follow(b.givePassword("lead")).want(200)
	if err := h.Store.SetFactorRoles(t.Context(), store.System("command"), []operation.Role{operation.RoleApprover}, "rule"); err != nil {
		t.Fatal(err)
	}
	before := h.fingerprint(t)
	for _, r := range handlers.Table() {
		if len(r.Roles) == 0 || strings.HasPrefix(r.Path, "/account/factors") || strings.HasPrefix(r.Path, "/confirm") {
			continue
		}
		path := strings.NewReplacer(":id", string(h.Users["lead"]), ":name", "crm", ":version", "1").Replace(r.Path)
		if a := b.do(r.Method, path, formOf(r)); a.status != http.StatusSeeOther || a.to != "/account/factors" {
			t.Errorf("%s %s: status %d to %q, want the second factors", r.Method, path, a.status, a.to)
		}
	}
	if h.fingerprint(t) != before {
		t.Error("the record changed")
	}
	if a := b.get("/sign-in"); a.to != "/account/factors" {
		t.Errorf("the sign-in leads to %q", a.to)
	}
	a := b.get("/account/factors").want(200).says("Set up a second factor")
	if a.has("nav-inbox") != nil {
		t.Error("the page leads on to others")
	}
	b.setApp()
	b.get("/inbox").want(200)
}

// TestFactorsNeedAFreshProof: whoever finds a browser open adds and removes nothing.
func TestFactorsNeedAFreshProof(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.SetPassword(t, "lead", phrase)
	b := h.nobody(t)
	b.follow(b.givePassword("lead"))
	old := func() {
		if _, err := h.Owner.Exec(`UPDATE sessions SET authenticated_at = authenticated_at - interval '1 hour' WHERE user_id IS NOT NULL`); err != nil {
			t.Fatal(err)
		}
	}
	old()
	page := b.get("/account/factors").want(200)
	if a := b.submit(page, "form-totp"); !strings.HasPrefix(a.to, "/confirm?") {
		t.Fatalf("setting an app up: status %d to %q", a.status, a.to)
	}
	a := b.submit(b.get("/confirm?return=/account/factors").want(200), "form-confirm", "password", phrase)
	if a.to != "/account/factors" {
		t.Fatalf("confirmed: status %d to %q", a.status, a.to)
	}
	seed, _ := b.setApp()
	old()
	a = b.submit(b.get("/account/factors").want(200), "form-remove-totp")
	if !strings.HasPrefix(a.to, "/confirm?") || h.Count(t, "totp_factors") != 1 {
		t.Fatalf("removing it: status %d to %q", a.status, a.to)
	}
	confirm := b.get("/confirm?return=/account/factors").want(200)
	b.submit(confirm, "form-confirm", "password", phrase, "code", "").want(422)
	a = b.submit(confirm, "form-confirm", "password", phrase, "code", shows(t, seed, 1))
	if a.to != "/account/factors" {
		t.Fatalf("confirmed with the app: status %d to %q\n%s", a.status, a.to, a.text())
	}
	b.follow(b.submit(b.get("/account/factors"), "form-remove-totp")).want(200).says("Removed.")
	if n := h.Count(t, "totp_factors") + h.Count(t, "recovery_codes"); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

func TestQRCode(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	b := h.as(t, "lead")
	a := b.follow(b.submit(b.get("/account/factors").want(200), "form-totp")).want(200)
	img := find(a.doc, func(n *html.Node) bool { return n.Data == "img" })
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(attr(img, "src"), "data:image/png;base64,"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := png.Decode(bytes.NewReader(raw)); err != nil || attr(img, "alt") == "" {
		t.Errorf("the picture: %v, alt %q", err, attr(img, "alt"))
	}
	if a := b.follow(b.submit(a, "form-cancel-totp")).want(200); h.Count(t, "totp_factors") != 0 {
		t.Errorf("what was begun is still there\n%s", a.text())
	}
}

func TestRecoveryFile(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	b := h.as(t, "lead")
	_, codes := b.setApp()
	a := b.post("/account/factors/recovery/file", url.Values{"form_id": {"f"}, "codes": {strings.Join(codes, " ")}}).want(200)
	if !strings.Contains(a.body, codes[9]) || !strings.Contains(a.header.Get("Content-Disposition"), "attachment") || a.header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("%v\n%s", a.header, a.body)
	}
	if a := b.post("/account/factors/recovery/file", url.Values{"form_id": {"f"}, "codes": {"made-upxx-code-xxxx"}}); a.status != 303 {
		t.Errorf("codes of nobody as a file: status %d", a.status)
	}
	page := b.get("/account/factors").want(200).says("10 codes are left")
	again := b.follow(b.submit(page, "form-recovery")).want(200)
	if again.has("codes") == nil || strings.Contains(again.body, codes[0]) {
		t.Errorf("new codes:\n%s", again.text())
	}
}

// TestResetByAdmin takes a lost app away, and lets nobody do so to themselves.
func TestResetByAdmin(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.as(t, "lead").setApp()
	admin := h.as(t, "admin")
	at := attr(admin.get("/people/"+string(h.Users["lead"])).want(200).has("sign-in-of"), "href")
	page := admin.get(at).want(200)
	admin.submit(page, "form-reset_factors", "reason", "").want(422)
	admin.follow(admin.submit(page, "form-reset_factors", "reason", "lost phone")).want(200).says("second factors are reset")
	if n := h.Count(t, "totp_factors"); n != 0 {
		t.Error("the app is still there")
	}
	admin.setApp()
	if a := admin.get("/people/" + string(h.Users["admin"]) + "/sign-in").want(200); a.has("form-reset_factors") != nil {
		t.Error("one's own reset is offered")
	}
	a := admin.post("/people/"+string(h.Users["admin"])+"/sign-in/reset-factors", url.Values{"form_id": {"f"}, "reason": {"mine"}})
	if a.status != 422 || h.Count(t, "totp_factors") != 1 {
		t.Errorf("one's own reset: status %d", a.status)
	}
	rule := admin.get("/people/factors").want(200)
	a = admin.submit(rule, "form-rule", "role", "approver", "reason", "advice of the auditor")
	admin.follow(a).want(200).says("The rule is saved.", "Missing")
}

// TestLinkAccounts makes two accounts one person, at the pages.
func TestLinkAccounts(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	admin := h.as(t, "admin")
	at := "/people/" + string(h.Users["second"]) + "/sign-in"
	page := admin.get(at).want(200)
	admin.submit(page, "form-link_person", "reason", "her second address", "same_as", "").want(422)
	admin.follow(admin.submit(page, "form-link_person", "reason", "her second address", "same_as", string(h.Users["lead"]))).want(200).says("count as one person")
	if n := h.Count(t, "users WHERE same_as = $1", string(h.Users["lead"])); n != 1 {
		t.Error("they are not linked")
	}
	admin.follow(admin.submit(admin.get(at), "form-unlink_person", "reason", "two people after all")).want(200)
	if n := h.Count(t, "users WHERE same_as IS NOT NULL"); n != 0 {
		t.Error("they are still linked")
	}
}
