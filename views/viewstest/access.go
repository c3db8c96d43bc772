package viewstest

import "holdpoint/views"

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
	return []Fixture{
		{"signin", views.SignInPage(signIn)},
		{"signin-wrong", views.SignInPage(wrong)},
		{"signin-first", views.SignInPage(first)},
		{"setpassword", views.SetPasswordPage(set)},
		{"setpassword-wrong", views.SetPasswordPage(short)},
		{"setpassword-expired", views.SetPasswordPage(old)},
	}
}
