package viewstest

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

func accountFixtures() []Fixture {
	none := account()
	none.Flash, none.Settings.Errors, none.Roles = nil, nil, nil
	safe := security()
	wrong := security()
	wrong.Password.Errors = map[string]views.Say{"current": views.Sentence(views.ErrorCurrentPassword), "password": views.Invalid("password_common", 0)}
	other := security()
	other.NoPassword, other.SignIns, other.Sessions = true, nil, other.Sessions[:1]
	confirm := views.ConfirmModel{Frame: frame("", "/confirm"), Form: views.Form{Action: "/confirm", FormID: "f9", Return: "/people/usr_1?kept=1"},
		After: 10 * time.Minute, Kept: true, HasPassword: true, Back: "/people/usr_1?kept=1"}
	refused := confirm
	refused.Errors = map[string]views.Say{"password": views.Sentence(views.ErrorCurrentPassword)}
	provider := confirm
	provider.HasPassword, provider.Kept = false, false
	return []Fixture{
		{"account", views.AccountPage(account())},
		{"account-no-role", views.AccountPage(none)},
		{"account-security", views.SecurityPage(safe)},
		{"account-security-wrong", views.SecurityPage(wrong)},
		{"account-security-provider", views.SecurityPage(other)},
		{"confirm", views.ConfirmPage(confirm)},
		{"confirm-wrong", views.ConfirmPage(refused)},
		{"confirm-no-password", views.ConfirmPage(provider)},
	}
}

func account() views.AccountModel {
	f := frame(views.SectionAccount, "/account")
	f.Flash = []views.Flash{{Kind: views.FlashDone, Say: views.Sentence(views.FlashAccountSaved)}}
	return views.AccountModel{Frame: f,
		Settings: views.SettingsForm{Form: views.Form{Action: "/account/settings", FormID: "f3", Errors: map[string]views.Say{"zone": views.Invalid("zone_unknown", 0)}},
			Language: "pl", Zone: "Europe/Warschau", Zones: []string{"Asia/Tokyo", "Europe/Warsaw"}, Theme: "auto"},
		Roles: []views.RoleGrant{{Role: operation.RoleOpsOwner}, {Role: operation.RoleApprover, Flow: "Campaign follow-up", ByProvider: true}}}
}

func security() views.SecurityModel {
	return views.SecurityModel{Frame: frame(views.SectionAccount, "/account/security"),
		Password:   views.PasswordForm{Form: views.Form{Action: "/account/password", FormID: "f4"}, MinLen: 12},
		EndSession: views.Form{Action: "/account/end-session", FormID: "f10"}, EndOthers: views.Form{Action: "/account/end-others", FormID: "f11"},
		Sessions: []views.SessionRow{{ID: "a1", Current: true, Since: ago(time.Hour), Seen: ago(time.Minute), Agent: agentFirefox, IP: "192.0.2.7"},
			{ID: "b2", Since: ago(72 * time.Hour), Seen: ago(30 * time.Hour), Agent: agentPhone, IP: "2001:db8:85a3:8d3:1319:8a2e:370:7348"},
			{ID: "c3", Since: ago(80 * time.Hour), Seen: ago(80 * time.Hour)}},
		SignIns: []views.SignInRow{{At: ago(time.Hour), How: "passkey", OK: true, IP: "192.0.2.7", Agent: agentFirefox},
			{At: ago(20 * time.Hour), How: "password", IP: "203.0.113.80", Agent: "curl/8.9.1"},
			{At: ago(72 * time.Hour), How: "password", OK: true, IP: "2001:db8:85a3:8d3:1319:8a2e:370:7348", Agent: agentPhone}}}
}
