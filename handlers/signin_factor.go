package handlers

import (
	"errors"
	"net/http"
	"net/url"

	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// proven goes on after a first factor: to the page that asks for the second where the
// person has one, else into a new session. It gives the address to go on to.
func (s *site) proven(c echo.Context, u store.User, how store.SignInKind, strong bool, back string) (string, error) {
	if s.Provider.only() && how != store.ByProvider {
		web.BreakGlass(c)
	}
	if u.HasFactor && how != store.ByPasskey && !strong {
		if err := web.Owe(c, u, how); err != nil {
			return "", err
		}
		return returning(views.PathSignInFactor, back), nil
	}
	if strong {
		web.Strong(c)
	}
	return s.enter(c, u, how, back)
}

// enter starts the person's session. It decides nothing: a form that was kept comes back
// and must be sent again.
func (s *site) enter(c echo.Context, u store.User, how store.SignInKind, back string) (string, error) {
	if err := web.SignIn(c, u, how); err != nil {
		return "", err
	}
	if web.VisitOf(c).IsBreakGlass() {
		if err := s.Store.NoteBreakGlass(c.Request().Context(), u, c.RealIP()); err != nil {
			return "", err
		}
	}
	if web.HasKept(c) {
		if err := web.Flash(c, views.FlashWarn, views.FlashSignInAgain); err != nil {
			return "", err
		}
	}
	return back, nil
}

// returning adds the page to come back to, where it is not the inbox.
func returning(path, back string) string {
	if back == "" || back == views.PathInbox {
		return path
	}
	return path + "?return=" + url.QueryEscape(back)
}

// factorPage asks for the second factor of whoever has given the first in this session.
func (s *site) factorPage(c echo.Context) error {
	back := s.back(c.QueryParam("return"))
	if web.VisitOf(c).Pending == nil {
		return c.Redirect(http.StatusSeeOther, returning(views.PathSignIn, back))
	}
	return s.showFactor(c, http.StatusOK, typed{fields: url.Values{"return": {back}}})
}

func (s *site) showFactor(c echo.Context, status int, t typed) error {
	u := web.VisitOf(c).Pending
	f, err := s.Store.FindFactors(c.Request().Context(), u.ID)
	if err != nil {
		return err
	}
	m := views.SignInFactorModel{Form: newForm(t, views.PathSignInFactor), Leave: newForm(typed{}, views.PathSignOut),
		TOTP: !f.TOTPSince.IsZero(), Recovery: f.Recovery > 0, Email: u.Email}
	m.Return = s.back(t.val("return"))
	if len(f.Passkeys) > 0 && s.hasPasskeys(c) {
		m.Passkey = &views.PasskeyAsk{Start: views.PathSignInFactor + "/passkey/start", Finish: views.PathSignInFactor + "/passkey", Return: m.Return}
	}
	m.Frame = web.Frame(c, "")
	return web.RenderStatus(c, status, views.SignInFactorPage(m))
}

// giveFactor takes a code as the second factor and starts the session.
func (s *site) giveFactor(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	u := web.VisitOf(c).Pending
	if u == nil {
		return c.Redirect(http.StatusSeeOther, returning(views.PathSignIn, s.back(t.val("return"))))
	}
	how, err := s.Store.VerifyCode(c.Request().Context(), u.ID, t.val("code"), c.RealIP())
	if status, say, ok := codeError(c, err); ok {
		if status == http.StatusUnprocessableEntity {
			if err := s.Store.NoteFailedSignIn(c.Request().Context(), u.Email, store.ByCode, c.RealIP(), c.Request().UserAgent()); err != nil {
				return err
			}
		}
		t.wrong("code", say)
		return s.showFactor(c, status, t)
	}
	if err != nil {
		return err
	}
	to, err := s.enter(c, *u, how, s.back(t.val("return")))
	if err != nil {
		return err
	}
	if how == store.ByRecovery {
		if err := web.Flash(c, views.FlashWarn, views.FlashRecoveryUsed); err != nil {
			return err
		}
	}
	return c.Redirect(http.StatusSeeOther, to)
}

// codeError says what was wrong with a code; ok is false for another error, or none.
func codeError(c echo.Context, err error) (status int, say views.Say, ok bool) {
	var limited *store.LoginLimited
	switch {
	case errors.Is(err, store.ErrBadCode):
		return http.StatusUnprocessableEntity, views.Sentence(views.ErrorWrongCode), true
	case errors.As(err, &limited):
		return http.StatusTooManyRequests, tooMany(limited, web.VisitOf(c)), true
	}
	return 0, views.Say{}, false
}
