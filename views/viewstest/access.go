package viewstest

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

func accessFixtures() []Fixture {
	signIn := views.SignInModel{Frame: views.Frame{Path: "/sign-in"}, Form: views.Form{Action: "/sign-in", FormID: "f1", Return: "/inbox"}}
	wrong := signIn
	wrong.Email, wrong.DecisionKept = "anna@example.test", true
	wrong.Errors = map[string]views.Say{"": views.Sentence(views.ErrorWrongPassword)}
	first := signIn
	first.SetUpNeeded = true
	set := views.SetPasswordModel{Frame: views.Frame{Path: "/set-password"}, Form: views.Form{Action: "/set-password", FormID: "f2"},
		Token: "tok", Email: "anna@example.test", MinLen: 12}
	short := set
	short.Errors = map[string]views.Say{"password": views.Invalid("password_short", 12), "password_again": views.Sentence(views.ErrorPasswordsDiffer)}
	old := set
	old.Expired = true
	people := views.PeopleModel{Frame: frame(views.SectionPeople, "/people"), Rows: []views.PersonRow{
		{ID: "usr_1", Name: "Anna Wolska", Email: "anna@example.test", Active: true, PasswordSet: true, LastSeen: ago(2 * time.Minute),
			Roles: []views.RoleGrant{{Role: operation.RoleOpsOwner}, {Role: operation.RoleApprover, Flow: "Campaign follow-up"}}},
		{ID: "usr_2", Name: "Mirela Tanaka", Email: "mirela@example.test", Active: true, Roles: []views.RoleGrant{{Role: operation.RoleApprover}}},
		{ID: "usr_3", Name: "Piotr Zając", Email: "piotr@example.test", LastSeen: ago(400 * 24 * time.Hour), Roles: []views.RoleGrant{{Role: operation.RoleAuditor}}},
	}}
	people.Viewer.Roles = append(people.Viewer.Roles, operation.RoleAdmin)
	for i := range people.Rows {
		people.Rows[i].URL = "/people/" + string(people.Rows[i].ID)
	}
	person := views.PersonModel{Frame: people.Frame, Person: people.Rows[0], History: views.HistoryModel{Total: 2, Verified: true, Entries: []views.HistoryLine{
		{Seq: 2, Hash: "ab12", At: ago(time.Hour), Who: views.PersonWho("Anna Wolska", false), Channel: "web", Action: "decision_refused", Links: map[string]string{"operation": string(opTask), "code": "own_content"}},
		{Seq: 1, Hash: "cd34", At: ago(90 * time.Hour), Who: views.SystemWho(), Channel: "command", Action: "grant_role", Links: map[string]string{"granted": "approver", "flow": "campaign-follow-up"}},
	}}, Refused: []views.RefusedAttempt{{At: ago(time.Hour), Operation: views.Link{Label: "op_…teapot00", URL: "/operations/" + string(opTask)}, Code: operation.CodeOwnContent}}}
	good := person
	good.Refused, good.Person = nil, people.Rows[2]
	return []Fixture{
		{"signin", views.SignInPage(signIn)},
		{"signin-wrong", views.SignInPage(wrong)},
		{"signin-first", views.SignInPage(first)},
		{"setpassword", views.SetPasswordPage(set)},
		{"setpassword-wrong", views.SetPasswordPage(short)},
		{"setpassword-expired", views.SetPasswordPage(old)},
		{"people", views.PeoplePage(people)},
		{"person", views.PersonPage(person)},
		{"person-nothing-refused", views.PersonPage(good)},
		{"account", views.AccountPage(account())},
	}
}

func account() views.AccountModel {
	f := frame(views.SectionAccount, "/account")
	f.Flash = []views.Flash{{Kind: views.FlashDone, Say: views.Sentence(views.FlashAccountSaved)}}
	return views.AccountModel{Frame: f,
		Settings: views.SettingsForm{Form: views.Form{Action: "/account", FormID: "f3", Errors: map[string]views.Say{"zone": views.Invalid("zone_unknown", 0)}},
			Language: "pl", Zone: "Europe/Warschau", Zones: []string{"Asia/Tokyo", "Europe/Warsaw"}, Theme: "auto"},
		Password: views.PasswordForm{Form: views.Form{Action: "/account/password", FormID: "f4"}, MinLen: 12},
		Sessions: []views.SessionRow{{Current: true, Since: ago(time.Hour), Seen: ago(time.Minute), Agent: "Firefox, Linux"},
			{Since: ago(72 * time.Hour), Seen: ago(30 * time.Hour), Agent: "Safari, iPhone"}}}
}
