package handlers

import (
	"net/http"

	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// accountRoutes are what a person sets for themselves, and the proof that it is them.
func (s *site) accountRoutes() []route {
	const security = views.PathAccountSecurity
	return []route{
		{get, views.PathAccount, members, "", s.account},
		{post, views.PathAccount + "/settings", members, views.PathAccount, s.saveSettings},
		{get, security, members, "", s.security},
		{post, views.PathAccount + "/password", members, security, s.changePassword},
		{post, views.PathAccount + "/end-session", members, security, s.endSession},
		{post, views.PathAccount + "/end-others", members, security, s.endOthers},
		{get, views.PathConfirm, selfs, "", s.confirmPage},
		{post, views.PathConfirm, selfs, views.PathConfirm, s.confirm},
	}
}

// zones are suggestions; any IANA name is taken.
var zones = []string{"Europe/Warsaw", "Europe/Berlin", "Europe/London", "UTC", "Asia/Tokyo", "America/New_York", "America/Los_Angeles", "Asia/Singapore", "Australia/Sydney"}

func (s *site) account(c echo.Context) error {
	t, _ := kept(c)
	return s.showAccount(c, http.StatusOK, t)
}

func (s *site) showAccount(c echo.Context, status int, t typed) error {
	v := web.VisitOf(c)
	settings := t.of("settings")
	titles, err := s.flowNames(c)
	if err != nil {
		return err
	}
	held, err := s.Store.ListEntitlements(c.Request().Context(), v.User.ID)
	if err != nil {
		return err
	}
	m := views.AccountModel{
		Settings: views.SettingsForm{Form: newForm(settings, views.PathAccount+"/settings"), Language: settings.or("language", v.Printer().Lang),
			Zone: settings.or("zone", v.Printer().Zone.String()), Zones: zones, Theme: settings.or("theme", web.Theme(c))},
		Roles: titles.grants(held),
	}
	m.Frame = web.Frame(c, views.SectionAccount)
	return web.RenderStatus(c, status, views.AccountPage(m))
}

// saveSettings keeps language, time zone and, for this browser, the theme.
func (s *site) saveSettings(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	err = s.Store.SetPlace(c.Request().Context(), web.VisitOf(c).Actor(), t.text("language"), t.text("zone"))
	if field, say, ok := invalidOf(err); ok {
		t.wrong(field, say)
		return s.showAccount(c, http.StatusUnprocessableEntity, t)
	}
	if err != nil {
		return err
	}
	web.SetTheme(c, t.text("theme"))
	return done(c, views.PathAccount, views.FlashAccountSaved)
}

// signInsShown is how many sign-ins a page lists.
const signInsShown = 20

func (s *site) security(c echo.Context) error {
	t, _ := kept(c)
	return s.showSecurity(c, http.StatusOK, t)
}

func (s *site) showSecurity(c echo.Context, status int, t typed) error {
	v := web.VisitOf(c)
	m := views.SecurityModel{
		Password:   views.PasswordForm{Form: newForm(t.of("password"), views.PathAccount+"/password"), MinLen: store.MinPassword},
		NoPassword: !v.User.HasPassword,
		EndSession: newForm(typed{}, views.PathAccount+"/end-session"),
		EndOthers:  newForm(typed{}, views.PathAccount+"/end-others"),
	}
	var err error
	if m.Sessions, err = s.sessionsOf(c, v.User.ID); err != nil {
		return err
	}
	if m.SignIns, err = s.signInsOf(c, *v.User); err != nil {
		return err
	}
	m.Frame = web.Frame(c, views.SectionAccount)
	return web.RenderStatus(c, status, views.SecurityPage(m))
}

// changePassword changes one's own password; all other sessions end.
func (s *site) changePassword(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	v := web.VisitOf(c)
	if t.val("password") != t.val("password_again") {
		t.wrong("password_again", views.Sentence(views.ErrorPasswordsDiffer))
		return s.showSecurity(c, http.StatusUnprocessableEntity, t)
	}
	err = s.Store.ChangePassword(c.Request().Context(), v.Actor(), t.val("current"), t.val("password"), c.RealIP(), v.TokenHash())
	if field, say, ok := invalidOf(err); ok {
		t.wrong(field, say)
		return s.showSecurity(c, http.StatusUnprocessableEntity, t)
	}
	if p, ok := proofTrouble(c, err, views.ErrorCurrentPassword); ok {
		t.wrong("current", p.say)
		return s.showSecurity(c, p.status, t)
	}
	if err != nil {
		return err
	}
	if err := web.Confirmed(c); err != nil {
		return err
	}
	return done(c, views.PathAccountSecurity, views.FlashPasswordChanged)
}
