package handlers

import (
	"bytes"
	"errors"
	"net/http"

	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// zones are suggestions; any IANA name is taken.
var zones = []string{"Europe/Warsaw", "Europe/Berlin", "Europe/London", "UTC", "Asia/Tokyo", "America/New_York", "America/Los_Angeles", "Asia/Singapore", "Australia/Sydney"}

func (s *site) account(c echo.Context) error {
	t, _ := kept(c)
	return s.showAccount(c, http.StatusOK, t)
}

func (s *site) showAccount(c echo.Context, status int, t typed) error {
	v := web.VisitOf(c)
	list, err := s.Store.ListSessions(c.Request().Context(), v.User.ID)
	if err != nil {
		return err
	}
	settings, password := t.of("settings"), t.of("password")
	m := views.AccountModel{
		Settings: views.SettingsForm{Form: newForm(settings, views.PathAccount+"/settings"), Language: settings.or("language", v.Printer().Lang),
			Zone: settings.or("zone", v.Printer().Zone.String()), Zones: zones, Theme: settings.or("theme", web.Theme(c))},
		Password: views.PasswordForm{Form: newForm(password, views.PathAccount+"/password"), MinLen: store.MinPassword},
	}
	for _, x := range list {
		m.Sessions = append(m.Sessions, views.SessionRow{Current: bytes.Equal(x.TokenHash, v.TokenHash()), Since: x.CreatedAt, Seen: x.SeenAt, Agent: x.Agent})
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

// changePassword changes one's own password; all other sessions end.
func (s *site) changePassword(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	v := web.VisitOf(c)
	if t.val("password") != t.val("password_again") {
		t.wrong("password_again", views.Sentence(views.ErrorPasswordsDiffer))
		return s.showAccount(c, http.StatusUnprocessableEntity, t)
	}
	err = s.Store.ChangePassword(c.Request().Context(), v.Actor(), t.val("current"), t.val("password"), c.RealIP(), v.TokenHash())
	var limited *store.LoginLimited
	switch field, say, ok := invalidOf(err); {
	case ok:
		t.wrong(field, say)
		return s.showAccount(c, http.StatusUnprocessableEntity, t)
	case errors.Is(err, store.ErrBadLogin):
		t.wrong("current", views.Sentence(views.ErrorCurrentPassword))
		return s.showAccount(c, http.StatusUnprocessableEntity, t)
	case errors.As(err, &limited):
		t.wrong("current", tooMany(limited, v))
		return s.showAccount(c, http.StatusTooManyRequests, t)
	case err != nil:
		return err
	}
	return done(c, views.PathAccount, views.FlashPasswordChanged)
}

// tooMany says how long to wait after too many failed tries.
func tooMany(l *store.LoginLimited, v *web.Visit) views.Say {
	return views.Sentence(views.ErrorTooManyAttempts, "Wait", v.Printer().Duration(max(l.Until.Sub(v.Now), 0)))
}
