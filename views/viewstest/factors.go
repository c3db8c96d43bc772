package viewstest

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

// onePixel stands in the place of a QR code: a white square.
const onePixel = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAG7buVgAAAABJRU5ErkJggg=="

func factorFixtures() []Fixture {
	ask := views.SignInFactorModel{Frame: views.Frame{Path: views.PathSignInFactor}, Form: views.Form{Action: views.PathSignInFactor, FormID: "f1", Return: "/inbox"},
		Email: "anna@example.test", TOTP: true, Recovery: true, Leave: views.Form{Action: "/sign-out", FormID: "f2"},
		Passkey: &views.PasskeyAsk{Start: "/sign-in/factor/passkey/start", Finish: "/sign-in/factor/passkey", Return: "/inbox"}}
	wrong := ask
	wrong.Passkey = nil
	wrong.Errors = map[string]views.Say{"code": views.Sentence(views.ErrorWrongCode)}
	key := ask
	key.TOTP, key.Recovery = false, false

	in := views.SignInModel{Frame: views.Frame{Path: "/sign-in"}, Form: views.Form{Action: "/sign-in", FormID: "f1", Return: "/inbox"},
		Provider: &views.ProviderLink{Name: "Example ID", URL: views.PathProvider}, Passkey: &views.PasskeyAsk{Start: "/sign-in/passkey/start", Finish: "/sign-in/passkey"}}
	only := in
	only.ProviderOnly, only.Email = true, "anna@example.test"
	only.Errors = map[string]views.Say{"": views.Sentence(views.ErrorProviderOnly, "Name", "Example ID")}
	confirm := views.ConfirmModel{Frame: frame("", "/confirm"), Form: views.Form{Action: "/confirm", FormID: "f9", Return: "/account/factors"},
		After: 10 * time.Minute, HasPassword: true, Code: true, Back: "/account/factors", Passkey: ask.Passkey, Provider: in.Provider}

	glass := frame(views.SectionInbox, "/people/factors")
	glass.BreakGlass = true
	list := []Fixture{
		{"factor-ask", views.SignInFactorPage(ask)},
		{"factor-ask-wrong", views.SignInFactorPage(wrong)},
		{"factor-ask-passkey", views.SignInFactorPage(key)},
		{"signin-provider", views.SignInPage(in)},
		{"signin-provider-only", views.SignInPage(only)},
		{"confirm-factors", views.ConfirmPage(confirm)},
		{"factors", views.FactorsPage(ownFactors())},
		{"factors-none", views.FactorsPage(noFactors(false))},
		{"factors-must", views.FactorsPage(noFactors(true))},
		{"factors-totp", views.TOTPPage(totp())},
		{"factors-recovery", views.RecoveryPage(recovery())},
		{"people-factors", views.FactorRulePage(factorRule(glass))},
		{"person-sign-in", views.PersonSignInPage(signInOf())},
		{"person-sign-in-own", views.PersonSignInPage(views.PersonSignInModel{Frame: frame(views.SectionPeople, "/people/usr_1/sign-in"), Name: "Anna Wolska",
			Email: "anna@example.test", URL: "/people/usr_1", Own: true, Password: true, Provider: "Example ID", Needs: true})},
	}
	for _, why := range []string{views.ProviderAway, views.ProviderNoRole, views.ProviderAnswer} {
		m := views.ProviderModel{Frame: views.Frame{Path: views.PathProvider}, Name: "Example ID", Why: why, Again: views.PathProvider, Only: why == views.ProviderAway}
		list = append(list, Fixture{"provider-" + why, views.ProviderPage(m)})
	}
	return append(list, Fixture{"provider-not-confirmed", views.ProviderPage(views.ProviderModel{Frame: frame("", "/confirm"), Name: "Example ID",
		Why: views.ProviderNotConfirmed, Again: views.PathProvider, SignedIn: true})})
}

func factorForm(action, id string) views.Form { return views.Form{Action: action, FormID: id} }

func ownFactors() views.FactorsModel {
	m := views.FactorsModel{Frame: frame(views.SectionAccount, views.PathFactors), Any: true, TOTPSince: ago(90 * 24 * time.Hour), Recovery: 7,
		Remove: factorForm("/account/factors/totp/remove", "f2"), NewCodes: factorForm("/account/factors/recovery", "f3"),
		Add: &views.PasskeyAsk{Start: "/account/factors/passkeys/start", Finish: "/account/factors/passkeys", MaxName: 60}}
	for i, k := range []views.PasskeyRow{
		{ID: "psk_1", Name: "Office laptop", Created: ago(60 * 24 * time.Hour), Used: ago(3 * time.Hour)},
		{ID: "psk_2", Name: "個人のスマートフォン", Created: ago(9 * 24 * time.Hour), Cloned: ago(30 * time.Minute)},
	} {
		k.Rename = factorForm("/account/factors/passkeys/"+k.ID+"/rename", "r"+k.ID)
		k.Remove = factorForm("/account/factors/passkeys/"+k.ID+"/remove", "d"+k.ID)
		if i == 0 {
			k.Rename.Errors = map[string]views.Say{"name": views.Invalid("passkey_name_long", 60)}
		}
		m.Passkeys = append(m.Passkeys, k)
	}
	return m
}

func noFactors(must bool) views.FactorsModel {
	f := frame(views.SectionAccount, views.PathFactors)
	if must {
		f = views.Frame{Path: views.PathFactors}
	}
	return views.FactorsModel{Frame: f, Must: must, Start: factorForm("/account/factors/totp", "f1"), NewCodes: factorForm("/account/factors/recovery", "f3")}
}

func totp() views.TOTPModel {
	f := factorForm("/account/factors/totp/confirm", "f1")
	f.Errors = map[string]views.Say{"code": views.Sentence(views.ErrorWrongCode)}
	return views.TOTPModel{Frame: frame(views.SectionAccount, "/account/factors/totp"), Form: f, QR: onePixel, Seed: "JBSW Y3DP EHPK 3PXP JBSW Y3DP EHPK 3PXP",
		Issuer: "Holdpoint holdpoint.example.com", Account: "anna@example.test", Cancel: factorForm("/account/factors/totp/remove", "f2")}
}

func recovery() views.RecoveryModel {
	f := frame(views.SectionAccount, "/account/factors/recovery")
	f.Flash = []views.Flash{{Kind: views.FlashDone, Say: views.Sentence(views.FlashTOTPAdded)}}
	return views.RecoveryModel{Frame: f, File: factorForm("/account/factors/recovery/file", "f1"),
		Codes: []string{"mz3q-7hva-2lpd-xk5e", "b6ty-w4nr-o3sj-gq2c", "p5ul-i7fe-k2xa-hm6v", "d4rz-t3ob-y6wn-cs5j", "q2gk-e7mx-u4lh-av3p",
			"h6vs-n5yd-r2jt-bz4o", "w3ci-x7pq-f5ke-ul2m", "g4an-o6tr-z3wy-id5s", "k7hb-j2ev-m4cx-pq6f", "y5lu-s3dg-a7no-rt2w"}}
}

func factorRule(f views.Frame) views.FactorRuleModel {
	f.Section = views.SectionPeople
	f.Viewer.Roles = append(f.Viewer.Roles, operation.RoleAdmin)
	return views.FactorRuleModel{Frame: f, Form: factorForm("/people/factors", "f1"), Provider: "Example ID", ProviderOnly: true,
		Roles: []views.FactorRole{{Role: operation.RoleAuthor}, {Role: operation.RoleApprover, Must: true}, {Role: operation.RoleOpsOwner, Must: true},
			{Role: operation.RoleAuditor}, {Role: operation.RoleAdmin, Must: true}},
		People: []views.FactorPerson{{Name: "Anna Wolska", Email: "anna@example.test", URL: "/people/usr_1/sign-in", Has: true, Needs: true},
			{Name: "Mirela Tanaka", Email: "mirela@example.test", URL: "/people/usr_2/sign-in", Needs: true},
			{Name: "Piotr Zając", Email: "piotr@example.test", URL: "/people/usr_3/sign-in"}},
		BreakGlass: []views.BreakGlassRow{{Name: "Anna Wolska", URL: "/people/usr_1", At: ago(26 * time.Hour)}}}
}

func signInOf() views.PersonSignInModel {
	base := "/people/usr_2/sign-in/"
	f := func(name string) views.SignInForm { return views.SignInForm{Form: factorForm(base+name, name)} }
	m := views.PersonSignInModel{Frame: frame(views.SectionPeople, "/people/usr_2/sign-in"), Name: "Mirela Tanaka", Email: "mirela@example.test", URL: "/people/usr_2",
		Password: true, Any: true, Needs: true, TOTPSince: ago(40 * 24 * time.Hour), Recovery: 1, Provider: "Example ID",
		Passkeys:   []views.PasskeyRow{{ID: "psk_1", Name: "Telefon", Created: ago(12 * 24 * time.Hour), Cloned: ago(time.Hour)}},
		Identities: []views.IdentityRow{{Issuer: "https://id.example.com", Email: "mirela@example.test", Linked: ago(100 * 24 * time.Hour), Used: ago(time.Hour)}},
		Accounts:   []views.Link{{Label: "mirela.emergency@example.test", URL: "/people/usr_9/sign-in"}},
		Choices:    []views.Option{{Value: "usr_1", Label: "Anna Wolska · anna@example.test"}},
		Reset:      f("reset-factors"), Link: f("link"), Unlink: f("unlink"), Forget: f("forget")}
	m.Link.Errors = map[string]views.Say{"same_as": views.Invalid("account_missing", 0), "reason": views.Refused(operation.Refuse(operation.CodeReasonMissing))}
	return m
}
