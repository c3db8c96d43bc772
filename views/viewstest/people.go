package viewstest

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

// flowsOf are the flows of the fixtures, some ticked.
func flowsOf(on ...string) []views.FlowChoice {
	list := []views.FlowChoice{{Name: "campaign-follow-up", Title: "Campaign follow-up"}, {Name: "goodwill-invoice", Title: "Goodwill invoice"},
		{Name: "newsletter-coupon", Title: "Newsletter coupon"}, {Name: "plain-note", Title: "Plain note"}}
	for i := range list {
		for _, name := range on {
			list[i].On = list[i].On || list[i].Name == name
		}
	}
	return list
}

func roleChoices() []views.RoleChoice {
	var list []views.RoleChoice
	for _, r := range operation.Roles {
		c := views.RoleChoice{Role: r, Flows: flowsOf()}
		switch r {
		case operation.RoleOpsOwner:
			c.All = true
		case operation.RoleApprover:
			c.Flows = flowsOf("campaign-follow-up", "newsletter-coupon")
		}
		list = append(list, c)
	}
	return list
}

const (
	agentFirefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
	agentPhone   = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1"
)

func personRows() []views.PersonRow {
	rows := []views.PersonRow{
		{ID: "usr_1", Name: "Anna Wolska", Email: "anna@example.test", State: views.AccountActive, LastSeen: ago(2 * time.Minute),
			Roles: []views.RoleGrant{{Role: operation.RoleOpsOwner}, {Role: operation.RoleApprover, Flow: "Campaign follow-up"}, {Role: operation.RoleApprover, Flow: "Newsletter coupon"}}},
		{ID: "usr_2", Name: "Mirela Tanaka", Email: "mirela@example.test", State: views.AccountInvited, Until: ago(-6 * 24 * time.Hour), Roles: []views.RoleGrant{{Role: operation.RoleApprover}}},
		{ID: "usr_4", Name: "田中 美咲", Email: "misaki@example.test", State: views.AccountExpired, Roles: []views.RoleGrant{{Role: operation.RoleAuthor, Flow: "Goodwill invoice", ByProvider: true}}},
		{ID: "usr_5", Name: "Olga Ops", Email: "olga@example.test", State: views.AccountNoPassword},
		{ID: "usr_3", Name: "Piotr Zając", Email: "piotr@example.test", State: views.AccountDisabled, LastSeen: ago(400 * 24 * time.Hour), Roles: []views.RoleGrant{{Role: operation.RoleAuditor}}},
	}
	for i := range rows {
		rows[i].URL = "/people/" + string(rows[i].ID)
	}
	return rows
}

func adminFrame(path string) views.Frame {
	f := frame(views.SectionPeople, path)
	f.Viewer.Roles = append(f.Viewer.Roles, operation.RoleAdmin)
	return f
}

func peopleFixtures() []Fixture {
	filter := views.PeopleFilter{Flows: []views.Option{{Value: "campaign-follow-up", Label: "Campaign follow-up"}}, Accounts: views.AccountOptions("")}
	for _, r := range operation.Roles {
		filter.Roles = append(filter.Roles, views.Option{Value: string(r)})
	}
	people := views.PeopleModel{Frame: adminFrame("/people"), Filter: filter, Rows: personRows(), Total: 5, MayChange: true}
	none := people
	none.Rows, none.MayChange, none.Filter.Q, none.Filter.Active = nil, false, "nobody", true
	invite := views.InviteModel{Frame: adminFrame("/people/invite"), Form: views.Form{Action: "/people/invite", FormID: "f5"}, Grants: roleChoices()}
	wrong := invite
	wrong.Email, wrong.Name = "anna@example.test", "Anna Wolska"
	wrong.Errors = map[string]views.Say{"email": views.Invalid("email_taken", 0), "reason": views.Invalid("reason_missing", 0)}
	return append([]Fixture{
		{"people", views.PeoplePage(people)},
		{"people-none", views.PeoplePage(none)},
		{"invite", views.InvitePage(invite)},
		{"invite-wrong", views.InvitePage(wrong)},
	}, append(personFixtures(), tokenFixtures()...)...)
}

func reasonForm(form string) views.ReasonForm {
	return views.ReasonForm{Form: views.Form{Action: "/people/usr_1/" + form, FormID: "f-" + form}}
}

func personFixtures() []Fixture {
	rows := personRows()
	person := views.PersonModel{Frame: adminFrame("/people/usr_1"), Person: rows[0],
		Roles: views.RolesForm{Form: views.Form{Action: "/people/usr_1/roles", FormID: "f6"}, Was: []string{"ops_owner:", "approver:campaign-follow-up"}, Grants: roleChoices()},
		Actions: []views.AccountAction{{Word: "sign_out_user", Form: reasonForm("sign-out")}, {Word: "reset_password", Form: reasonForm("reset")},
			{Word: "disable_user", Danger: true, Form: reasonForm("disable")}},
		Sessions: []views.SessionRow{{ID: "a1", Since: ago(time.Hour), Seen: ago(time.Minute), Agent: agentFirefox, IP: "192.0.2.7"}},
		SignIns: []views.SignInRow{{At: ago(time.Hour), How: "code", OK: true, IP: "192.0.2.7", Agent: agentFirefox},
			{At: ago(2 * time.Hour), How: "password", IP: "203.0.113.80", Agent: "curl/8.9.1"}},
		History: views.HistoryModel{Total: 2, Verified: true, Entries: []views.HistoryLine{
			{Seq: 2, Hash: "ab12", At: ago(time.Hour), Who: views.PersonWho("Anna Wolska", false), Channel: "web", Action: "decision_refused", Links: map[string]string{"operation": string(opTask), "code": "own_content"}},
			{Seq: 1, Hash: "cd34", At: ago(90 * time.Hour), Who: views.SystemWho(), Channel: "command", Action: "grant_role", Reason: "stands in for Olga", Links: map[string]string{"granted": "approver", "flow": "campaign-follow-up"}},
		}}, Refused: []views.RefusedAttempt{{At: ago(time.Hour), Operation: views.Link{Label: "op_…teapot00", URL: "/operations/" + string(opTask)}, Code: operation.CodeOwnContent}}}
	stale := person
	stale.Roles.Reason = "Takes over from Olga."
	stale.Roles.Errors = map[string]views.Say{"": views.Invalid("roles_changed", 0)}
	invited := person
	invited.Person, invited.Refused, invited.Sessions, invited.SignIns = rows[1], nil, nil, nil
	invited.Link = &views.OnceLink{Text: "https://holdpoint.example.test/set-password?token=K7QXM4ZP2JTR6WVYB5NC3HDGFA", Invitation: true, Until: ago(-7 * 24 * time.Hour)}
	invited.Actions = []views.AccountAction{{Word: "resend_invitation", Form: reasonForm("resend")}, {Word: "revoke_invitation", Danger: true, Form: reasonForm("revoke")}}
	read := person
	read.Barred, read.Person = views.Sentence(views.BarredRole), rows[2]
	read.Person.SameAs = &views.Link{Label: "misaki.tanaka@example.test", URL: "/people/usr_9"}
	off := person
	off.Refused, off.Person, off.Sessions = nil, rows[4], nil
	off.Actions = []views.AccountAction{{Word: "enable_user", Form: reasonForm("enable")}}
	return []Fixture{
		{"person", views.PersonPage(person)},
		{"person-roles-changed", views.PersonPage(stale)},
		{"person-invited", views.PersonPage(invited)},
		{"person-read", views.PersonPage(read)},
		{"person-disabled", views.PersonPage(off)},
	}
}

func tokenFixtures() []Fixture {
	form := views.TokenForm{Form: views.Form{Action: "/people/tokens/add", FormID: "f7"}, Scopes: views.ScopeOptions([]string{"claims"}),
		Flows:        []views.Option{{Value: "campaign-follow-up", Label: "Campaign follow-up"}, {Value: "plain-note", Label: "Plain note"}},
		Destinations: []views.Option{{Value: "crm", Label: "CRM"}}, Lives: views.LifeOptions("90d")}
	rows := []views.TokenRow{
		{ID: "tok_1", URL: "/people/tokens/tok_1", Name: "n8n", Scopes: []string{"claims", "read"}, Limits: []string{"Campaign follow-up", "CRM"}, By: views.PersonWho("Adam Admin", false),
			At: ago(50 * time.Hour), Expires: ago(-40 * 24 * time.Hour), Used: ago(time.Minute), State: views.TokenHolds},
		{ID: "tok_2", URL: "/people/tokens/tok_2", Name: "shop import", Scopes: []string{"events"}, By: views.SystemWho(), At: ago(900 * time.Hour), State: views.TokenRevoked},
		{ID: "tok_3", URL: "/people/tokens/tok_3", Name: "月次レポート", Scopes: []string{"read"}, By: views.PersonWho("Piotr Zając", false), At: ago(900 * time.Hour), State: views.TokenOrphan},
	}
	list := views.TokensModel{Frame: adminFrame("/people/tokens"), Rows: rows, Secret: "hp_K7QXM4ZP2JTR6WVYB5NC3HDGFA", New: form}
	none := views.TokensModel{Frame: adminFrame("/people/tokens"), Barred: views.Sentence(views.BarredRole)}
	wrong := list
	wrong.Secret, wrong.New.Errors = "", map[string]views.Say{"name": views.Invalid("name_missing", 0), "scopes": views.Invalid("scope_missing", 0)}
	one := views.TokenModel{Frame: adminFrame("/people/tokens/tok_1"), Token: rows[0], Revoke: &views.ReasonForm{Form: views.Form{Action: "/people/tokens/tok_1/revoke", FormID: "f8"}}}
	gone := views.TokenModel{Frame: adminFrame("/people/tokens/tok_2"), Token: rows[1]}
	return []Fixture{
		{"tokens", views.TokensPage(list)},
		{"tokens-none", views.TokensPage(none)},
		{"tokens-wrong", views.TokensPage(wrong)},
		{"token", views.TokenPage(one)},
		{"token-revoked", views.TokenPage(gone)},
	}
}
