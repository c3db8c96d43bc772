package handlers_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"holdpoint/connector/outbound"
	"holdpoint/handlers"
	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"

	"github.com/golang-jwt/jwt/v5"
	"github.com/oauth2-proxy/mockoidc"
)

// vouched is what the provider says of somebody; change alters the token's own claims.
type vouched struct {
	*mockoidc.MockUser
	AuthTime int64
	Methods  []string
	change   func(*mockoidc.IDTokenClaims)
}

type vouchedClaims struct {
	*mockoidc.IDTokenClaims
	Email         string   `json:"email,omitempty"`
	EmailVerified bool     `json:"email_verified"`
	Name          string   `json:"name,omitempty"`
	Groups        []string `json:"groups"`
	AuthTime      int64    `json:"auth_time,omitempty"`
	Methods       []string `json:"amr,omitempty"`
}

// Claims are those of the ID token.
func (u vouched) Claims(_ []string, base *mockoidc.IDTokenClaims) (jwt.Claims, error) {
	if u.change != nil {
		u.change(base)
	}
	return vouchedClaims{base, u.Email, u.EmailVerified, u.PreferredUsername, u.Groups, u.AuthTime, u.Methods}, nil
}

// person is one of the fixture's people, or somebody else, as the provider knows them.
func person(short string, groups ...string) vouched {
	return vouched{MockUser: &mockoidc.MockUser{Subject: "sub-" + short, Email: storetest.Email(short), EmailVerified: true, PreferredUsername: short, Groups: groups}}
}

// identity is a provider with the installation's settings for it.
func idProvider(t *testing.T) (*mockoidc.MockOIDC, *handlers.Provider) {
	t.Helper()
	m, err := mockoidc.Run()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Shutdown() })
	roles, err := handlers.ParseGroupRoles("marketing=approver; cn=ops,dc=example=ops_owner; coupons=author:newsletter-coupon; bosses=admin")
	if err != nil {
		t.Fatal(err)
	}
	return m, &handlers.Provider{Issuer: m.Issuer(), ClientID: m.ClientID, Secret: func() (string, error) { return m.ClientSecret, nil }, Name: "Example ID",
		Scopes: []string{"email", "profile", "groups"}, Groups: "groups", Roles: roles, HTTP: outbound.Client(true)}
}

// leave goes to the provider and gives the address to which it sends back.
func (b *browser) leave(m *mockoidc.MockOIDC, from string, u vouched) string {
	b.t.Helper()
	m.QueueUser(u)
	a := b.get(from)
	if a.status != http.StatusSeeOther || !strings.HasPrefix(a.to, m.AuthorizationEndpoint()) {
		b.t.Fatalf("to the provider: status %d to %q\n%s", a.status, a.to, a.text())
	}
	q, err := url.Parse(a.to)
	if err != nil {
		b.t.Fatal(err)
	}
	if v := q.Query(); v.Get("code_challenge_method") != "S256" || len(v.Get("nonce")) < 20 || len(v.Get("state")) < 20 {
		b.t.Fatalf("asked with %v", v)
	}
	res, err := b.http.Get(a.to)
	if err != nil {
		b.t.Fatal(err)
	}
	res.Body.Close()
	back := res.Header.Get("Location")
	if !strings.HasPrefix(back, b.url+"/sign-in/provider/callback?") {
		b.t.Fatalf("the provider sends to %q (status %d)", back, res.StatusCode)
	}
	return strings.TrimPrefix(back, b.url)
}

// through signs in by the provider.
func (b *browser) through(m *mockoidc.MockOIDC, u vouched) *answer {
	b.t.Helper()
	return b.get(b.leave(m, "/sign-in/provider", u))
}

// refusedBecause checks the page about a sign-in that failed, and that nobody is signed in.
func (b *browser) refusedBecause(a *answer, why string, status int) {
	b.t.Helper()
	a.want(status)
	if n := a.has("provider"); n == nil || attr(n, "data-why") != why {
		b.t.Errorf("refused with another page than %s:\n%s", why, a.text())
	}
	if in := b.get("/inbox"); in.status != http.StatusSeeOther {
		b.t.Errorf("%s: somebody is signed in", why)
	}
}

func TestSignInByProvider(t *testing.T) {
	t.Parallel()
	m, p := idProvider(t)
	h := houseWith(t, p)
	b := h.nobody(t)
	link := b.get("/sign-in?return=/flows").want(200).has("provider-link")
	if link == nil || attr(link, "href") != "/sign-in/provider?return=%2Fflows" {
		t.Fatal("the sign-in page does not offer the provider")
	}
	a := b.get(b.leave(m, attr(link, "href"), person("lead", "marketing", "unknown group")))
	if a.to != "/flows" {
		t.Fatalf("status %d to %q\n%s", a.status, a.to, a.text())
	}
	b.get("/flows").want(200)
	if n := h.Count(t, "user_roles WHERE by_provider AND user_id = $1 AND role = 'approver'", string(h.Users["lead"])); n != 1 {
		t.Errorf("%d roles of the group", n)
	}
	if n := h.Count(t, "sign_ins WHERE how = 'provider' AND user_id = $1", string(h.Users["lead"])); n != 1 {
		t.Errorf("%d sign-ins are on record", n)
	}

	stranger := h.nobody(t)
	stranger.refusedBecause(stranger.through(m, person("stranger")), "no_role", 403)
	made := h.nobody(t)
	if a := made.through(m, person("newcomer", "cn=ops,dc=example", "coupons")); a.to != "/inbox" {
		t.Fatalf("a group makes no account: %d to %q\n%s", a.status, a.to, a.text())
	}
	if n := h.Count(t, "user_roles r JOIN users u ON u.id = r.user_id WHERE u.email = $1", storetest.Email("newcomer")); n != 2 {
		t.Errorf("%d roles", n)
	}
	made.get("/inbox").want(200)
	made.through2(m, person("newcomer"), "no_role")
	if a := made.get("/inbox"); a.status != 303 {
		t.Error("the session outlives the last role")
	}
}

// through2 signs in once more in a browser of its own, which fails.
func (b *browser) through2(m *mockoidc.MockOIDC, u vouched, why string) {
	b.t.Helper()
	o := newBrowser(b.t, b.url)
	o.refusedBecause(o.through(m, u), why, 403)
}

// TestProviderRefuses goes through what must not sign anybody in.
func TestProviderRefuses(t *testing.T) {
	t.Parallel()
	m, p := idProvider(t)
	p.Domains = []string{"example.test"}
	h := houseWith(t, p)
	if err := h.Store.DisableUser(t.Context(), store.System("command"), h.Users["auditor"], "left"); err != nil {
		t.Fatal(err)
	}
	claim := func(change func(*mockoidc.IDTokenClaims)) vouched {
		u := person("lead")
		u.change = change
		return u
	}
	unverified, foreign := person("lead"), person("lead", "marketing")
	unverified.EmailVerified, foreign.Email = false, "lead@elsewhere.test"
	for name, c := range map[string]struct {
		u   vouched
		why string
	}{
		"wrong nonce":      {claim(func(c *mockoidc.IDTokenClaims) { c.Nonce = "another" }), "answer"},
		"no nonce":         {claim(func(c *mockoidc.IDTokenClaims) { c.Nonce = "" }), "answer"},
		"wrong audience":   {claim(func(c *mockoidc.IDTokenClaims) { c.Audience = jwt.ClaimStrings{"somebody else"} }), "answer"},
		"several":          {claim(func(c *mockoidc.IDTokenClaims) { c.Audience = append(c.Audience, "somebody else") }), "answer"},
		"wrong issuer":     {claim(func(c *mockoidc.IDTokenClaims) { c.Issuer = "https://evil.example" }), "answer"},
		"too old":          {claim(func(c *mockoidc.IDTokenClaims) { c.ExpiresAt = jwt.NewNumericDate(time.Now().Add(-time.Hour)) }), "answer"},
		"not verified":     {unverified, "email"},
		"other domain":     {foreign, "domain"},
		"disabled account": {person("auditor", "bosses"), "disabled"},
	} {
		b := h.nobody(t)
		a := b.through(m, c.u)
		if n := a.has("provider"); n == nil || attr(n, "data-why") != c.why {
			t.Errorf("%s: status %d\n%s", name, a.status, a.text())
		}
		if b.get("/inbox").status != 303 {
			t.Errorf("%s: somebody is signed in", name)
		}
	}
	if n := h.Count(t, "provider_identities"); n != 0 {
		t.Errorf("%d accounts were linked", n)
	}
}

// TestProviderCallback: an answer counts once, in the browser that asked, with its state.
func TestProviderCallback(t *testing.T) {
	t.Parallel()
	m, p := idProvider(t)
	h := houseWith(t, p)
	b := h.nobody(t)
	back := b.leave(m, "/sign-in/provider", person("lead"))
	other := h.nobody(t)
	other.refusedBecause(other.get(back), "answer", 403) // an answer that was sent to somebody else
	other.get("/sign-in/provider")
	other.refusedBecause(other.get(back), "answer", 403) // who is on a journey of their own
	if a := b.get(back); a.to != "/inbox" {
		t.Fatalf("the right browser: status %d to %q", a.status, a.to)
	}
	b.post("/sign-out", url.Values{"form_id": {"x"}})
	b.refusedBecause(b.get(back), "answer", 403) // replayed

	back = b.leave(m, "/sign-in/provider", person("lead"))
	b.refusedBecause(b.get(back+"x"), "answer", 403) // the state is another
	b.refusedBecause(b.get(back), "answer", 403)     // and the journey is over
	b.get("/sign-in/provider")
	b.refusedBecause(b.get("/sign-in/provider/callback?error=access_denied"), "answer", 403)
	back = b.leave(m, "/sign-in/provider", person("lead"))
	q, err := url.Parse(back)
	if err != nil {
		t.Fatal(err)
	}
	b.refusedBecause(b.get("/sign-in/provider/callback?error=access_denied&state="+q.Query().Get("state")), "denied", 403)
	back = b.leave(m, "/sign-in/provider", person("lead"))
	b.refusedBecause(b.get(back+"&iss=https%3A%2F%2Fevil.example"), "answer", 403)
	for _, evil := range []string{"https://evil.example/", "//evil.example", "/\\evil.example", "/sign-out", "javascript:alert(1)", "/static/app.js"} {
		o := h.nobody(t)
		if a := o.get(o.leave(m, "/sign-in/provider?return="+url.QueryEscape(evil), person("lead"))); a.to != "/inbox" {
			t.Errorf("%q leads to %q", evil, a.to)
		}
	}
}

// TestProviderAway: people read what to do, and chosen local accounts still sign in, on record.
func TestProviderAway(t *testing.T) {
	t.Parallel()
	m, p := idProvider(t)
	p.Only = []string{storetest.Email("admin")}
	h := houseWith(t, p)
	h.SetPassword(t, "lead", phrase)
	h.SetPassword(t, "admin", phrase)
	b := h.nobody(t)
	m.QueueError(&mockoidc.ServerError{Code: 503, Error: "temporarily_unavailable"})
	a := b.get("/sign-in/provider")
	b.refusedBecause(a, "away", 503)
	a.says("does not answer", "Passwords open only the accounts")
	if err := m.Shutdown(); err != nil {
		t.Fatal(err)
	}
	b.refusedBecause(b.get("/sign-in/provider"), "away", 503)

	known, unknown := b.givePassword("lead").want(422), b.submit(b.get("/sign-in"), "form-signin", "email", "nobody@example.test", "password", phrase).want(422)
	if x, y := inner(known.has("form-error")), inner(unknown.has("form-error")); x != y || !strings.Contains(x, "Example ID") {
		t.Errorf("a right password of another account: %q; of nobody: %q", x, y)
	}
	if a := b.givePassword("admin"); a.to != "/inbox" {
		t.Fatalf("break-glass: status %d to %q", a.status, a.to)
	}
	if b.get("/inbox").want(200).has("break-glass") == nil {
		t.Error("the pages do not say so")
	}
	if n := h.Count(t, "history WHERE action = 'break_glass'"); n != 2 {
		t.Errorf("%d entries", n)
	}
	b.get("/people/factors").want(200).says("Sign-ins past the provider", "Admin")
}

// TestProviderAndSecondFactor: our own second factor is asked for after the provider, but
// not where the provider has asked for one.
func TestProviderAndSecondFactor(t *testing.T) {
	t.Parallel()
	m, p := idProvider(t)
	h := houseWith(t, p)
	b := h.nobody(t)
	b.through(m, person("lead"))
	if err := h.Store.SetFactorRoles(t.Context(), store.System("command"), []operation.Role{operation.RoleApprover}, "rule"); err != nil {
		t.Fatal(err)
	}
	if a := b.get("/inbox"); a.to != "/account/factors" {
		t.Errorf("a provider's sign-in without a second factor: to %q", a.to)
	}
	strong := person("lead")
	strong.Methods = []string{"pwd", "mfa"}
	o := h.nobody(t)
	o.follow(o.through(m, strong)).want(200)
	seed, _ := b.setApp()
	o = h.nobody(t)
	a := o.through(m, person("lead"))
	if a.to != "/sign-in/factor" {
		t.Fatalf("the app's code is not asked for: to %q", a.to)
	}
	if a = o.submit(o.get(a.to), "form-factor", "code", shows(t, seed, 0)); a.to != "/inbox" {
		t.Errorf("after the code: to %q", a.to)
	}
}

// TestConfirmAtProvider: only the person themselves, asked anew, confirms.
func TestConfirmAtProvider(t *testing.T) {
	t.Parallel()
	m, p := idProvider(t)
	h := houseWith(t, p)
	b := h.nobody(t)
	b.through(m, person("lead"))
	age := func() {
		if _, err := h.Owner.Exec(`UPDATE sessions SET authenticated_at = authenticated_at - interval '1 hour' WHERE user_id IS NOT NULL`); err != nil {
			t.Fatal(err)
		}
	}
	age()
	page := b.get("/confirm?return=/account/factors").want(200)
	to := attr(page.has("provider-link"), "href")
	asked := b.get(to)
	if q, err := url.Parse(asked.to); err != nil || q.Query().Get("prompt") != "login" || q.Query().Get("max_age") != "0" {
		t.Fatalf("asked with %q", asked.to)
	}
	now := func(short string, at time.Time) vouched {
		u := person(short)
		u.AuthTime = at.Unix()
		return u
	}
	for name, u := range map[string]vouched{"somebody else": now("second", time.Now()), "an old proof": now("lead", time.Now().Add(-time.Hour)), "no time": person("lead")} {
		if a := b.get(b.leave(m, to, u)); a.status != 403 || attr(a.has("provider"), "data-why") != "not_confirmed" {
			t.Errorf("%s: status %d\n%s", name, a.status, a.text())
		}
		b.get("/confirm").want(200)
	}
	if a := b.get(b.leave(m, to, now("lead", time.Now()))); a.to != "/account/factors" {
		t.Errorf("confirmed: status %d to %q\n%s", a.status, a.to, a.text())
	}
	if a := b.get("/confirm"); a.status != 303 {
		t.Error("the proof does not count")
	}
}

func TestProviderSettings(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"marketing", "=approver", "marketing=boss", "marketing=approver:x=y"} {
		if got, err := handlers.ParseGroupRoles(bad); err == nil {
			t.Errorf("%q is taken as %v", bad, got)
		}
	}
	got, err := handlers.ParseGroupRoles(" a=approver ; a=author:letters;; ")
	if err != nil || len(got["a"]) != 2 || got["a"][1] != (store.RoleGrant{Role: operation.RoleAuthor, Flow: "letters"}) {
		t.Errorf("%v, %v", got, err)
	}
	for issuer, ok := range map[string]bool{"https://id.example.com": true, "http://id.example.com": false, "https://10.0.0.5": false, "https://127.0.0.1:1": false, "id.example.com": false, "https://u:p@id.example.com": false} {
		p := handlers.Provider{Issuer: issuer, ClientID: "x"}
		if err := p.Check(false); (err == nil) != ok {
			t.Errorf("%s: %v", issuer, err)
		}
	}
	local := handlers.Provider{Issuer: "http://127.0.0.1:1", ClientID: "x"}
	if err := local.Check(true); err != nil {
		t.Error(err)
	}
}

// TestProviderIsGuarded: without the setting, a provider in a private network is not reached.
func TestProviderIsGuarded(t *testing.T) {
	t.Parallel()
	_, p := idProvider(t)
	p.HTTP = outbound.Client(false)
	h := houseWith(t, p)
	b := h.nobody(t)
	b.refusedBecause(b.get("/sign-in/provider"), "away", 503)
}
