package handlers_test

import (
	"context"
	"strings"
	"testing"

	"holdpoint/store/storetest"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
)

// authenticator gives the browser a device with passkeys of its own.
func authenticator(id *webauthn.AuthenticatorID) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) (err error) {
		if err = webauthn.Enable().Do(ctx); err != nil {
			return err
		}
		*id, err = webauthn.AddVirtualAuthenticator(&webauthn.VirtualAuthenticatorOptions{Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
			HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true}).Do(ctx)
		return err
	})
}

// TestPasskey adds a passkey in a real browser, signs out, signs in by it without a
// password, and uses it as the second factor and to confirm.
func TestPasskey(t *testing.T) {
	t.Parallel()
	h := houseWith(t, nil)
	h.SetPassword(t, "lead", phrase)
	ctx := chromium(t)
	var device webauthn.AuthenticatorID
	var at string
	run := func(what string, actions ...chromedp.Action) {
		t.Helper()
		if err := chromedp.Run(ctx, actions...); err != nil {
			_ = chromedp.Run(ctx, chromedp.Location(&at))
			t.Fatalf("%s, at %s: %v", what, at, err)
		}
	}
	password := chromedp.Tasks{
		chromedp.Navigate(h.url + "/sign-in"),
		chromedp.WaitVisible(`#email`),
		chromedp.SendKeys(`#email`, storetest.Email("lead")),
		chromedp.SendKeys(`#password`, phrase),
		chromedp.Click(`[data-testid="form-signin"] [data-testid="submit"]`),
	}
	signOut := chromedp.Tasks{chromedp.Click(`[data-testid="sign-out"]`), chromedp.WaitVisible(`[data-testid="form-signin"]`)}
	const add, get = `[data-testid="passkey-add"] button`, `[data-testid="passkey-get"] button`

	run("sign in by the password", authenticator(&device), password, chromedp.WaitVisible(`[data-testid="nav-account"]`))
	run("add a passkey", chromedp.Navigate(h.url+"/account/factors"), chromedp.WaitVisible(add),
		chromedp.SendKeys(`#passkey-name`, "Virtual key"), chromedp.Click(add), chromedp.WaitVisible(`[data-testid="passkey-row"]`))
	if n := h.Count(t, `passkeys WHERE name = 'Virtual key' AND credential::json->'flags'->>'userVerified' = 'true' AND user_id = $1`, string(h.Users["lead"])); n != 1 {
		t.Fatalf("%d passkeys with their flags are on record", n)
	}

	run("sign out", signOut)
	run("sign in by the passkey alone", chromedp.WaitVisible(get), chromedp.Click(get), chromedp.WaitVisible(`[data-testid="nav-account"]`), chromedp.Location(&at))
	if !strings.HasSuffix(at, "/inbox") {
		t.Errorf("signed in at %s", at)
	}
	if n := h.Count(t, "sign_ins WHERE how = 'passkey' AND user_id = $1", string(h.Users["lead"])); n != 1 {
		t.Errorf("%d sign-ins by passkey are on record", n)
	}

	run("sign out again", signOut)
	run("password, then passkey", password, chromedp.WaitVisible(`[data-testid="form-leave"]`), chromedp.WaitVisible(get), chromedp.Location(&at))
	if !strings.Contains(at, "/sign-in/factor") {
		t.Fatalf("the second factor is asked for at %s", at)
	}
	run("passkey as the second factor", chromedp.Click(get), chromedp.WaitVisible(`[data-testid="nav-account"]`))

	if _, err := h.Owner.Exec(`UPDATE sessions SET authenticated_at = authenticated_at - interval '1 hour' WHERE user_id IS NOT NULL`); err != nil {
		t.Fatal(err)
	}
	run("confirm by the passkey", chromedp.Navigate(h.url+"/confirm?return=/account/factors"), chromedp.WaitVisible(get), chromedp.Click(get),
		chromedp.WaitVisible(`[data-testid="passkey-row"]`))
	run("add it a second time", chromedp.SendKeys(`#passkey-name`, "Again"), chromedp.Click(add), chromedp.WaitVisible(`[data-testid="passkey-add"] .field-error`))
	if n := h.Count(t, "passkeys"); n != 1 {
		t.Errorf("%d passkeys", n)
	}

	// a copy of the key was used elsewhere: the counter here is behind
	if _, err := h.Owner.Exec(`UPDATE passkeys SET credential = jsonb_set(credential::jsonb, '{authenticator,signCount}', '4000000')::text`); err != nil {
		t.Fatal(err)
	}
	run("sign out once more", chromedp.Navigate(h.url+"/inbox"), chromedp.WaitVisible(`[data-testid="sign-out"]`), signOut)
	run("a counter that went back", chromedp.WaitVisible(get), chromedp.Click(get), chromedp.WaitVisible(`[data-testid="passkey-get"] .field-error`), chromedp.Location(&at))
	if n := h.Count(t, "passkeys WHERE cloned_at IS NOT NULL"); n != 1 || strings.HasSuffix(at, "/inbox") {
		t.Errorf("the copy signs in, or is not noted: at %s", at)
	}
}
