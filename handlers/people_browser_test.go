package handlers_test

import (
	"net/url"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/views/chrometest"

	"github.com/chromedp/chromedp"
)

// TestInviteInABrowser lets an administrator invite somebody, look at every page of
// people and access and of their own account, in a real browser with and without scripts;
// the invited person sets a password by the link.
func TestInviteInABrowser(t *testing.T) {
	t.Parallel()
	for name, look := range map[string]chrometest.Look{"wide": {}, "phone-dark-pl-noscript": {Width: 390, Height: 844, Dark: true, Language: "pl", NoScript: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			w := &stroll{Tab: chrometest.Start(t).Tab(t, look), t: t, h: h, noScript: look.NoScript, name: "invite." + name, who: "admin"}
			w.enter()
			w.open("/people/invite")
			w.write(`#email`, "nia@example.test")
			w.write(`#name`, "Nia New")
			w.press(`input[value="approver:"]`)
			w.write(`#reason`, "Joins the team.")
			w.press(tid("form-invite") + " " + tid("submit"))
			var link string
			w.Do(chromedp.WaitVisible(`#once-text`), chromedp.Value(`#once-text`, &link))
			w.check("invited")
			if !strings.HasPrefix(link, h.url+"/set-password?token=") {
				t.Fatalf("the page shows %q", link)
			}
			for _, path := range []string{"/people", "/people/" + string(h.Users["lead"]), "/people/" + string(h.Users["admin"]), "/people/tokens", "/account", "/account/security", "/confirm"} {
				w.open(path)
			}
			h.age(t)
			w.open("/confirm?return=%2Fpeople")

			door, err := url.Parse(link)
			if err != nil {
				t.Fatal(err)
			}
			b := h.nobody(t)
			b.submit(b.get(door.RequestURI()), "form-set-password", "password", goodPassword, "password_again", goodPassword).want(303)
			u, err := h.Store.VerifyPassword(t.Context(), "nia@example.test", goodPassword, "192.0.2.1")
			if err != nil || !u.Has(operation.RoleApprover, "plain-note") {
				t.Errorf("invited as %+v, %v", u, err)
			}
		})
	}
}
