package handlers

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// pathSetPassword is where a one-use link leads.
const pathSetPassword = "/set-password"

func (s *site) signInPage(c echo.Context) error {
	back := s.back(c.QueryParam("return"))
	switch v := web.VisitOf(c); {
	case v.User != nil:
		return c.Redirect(http.StatusSeeOther, back)
	case v.Enrolling != nil:
		return c.Redirect(http.StatusSeeOther, views.PathFactors)
	case v.Pending != nil:
		return c.Redirect(http.StatusSeeOther, returning(views.PathSignInFactor, back))
	}
	return s.showSignIn(c, http.StatusOK, typed{fields: url.Values{"return": {back}}})
}

func (s *site) showSignIn(c echo.Context, status int, t typed) error {
	m := views.SignInModel{Form: newForm(t, views.PathSignIn), Email: t.val("email"), DecisionKept: web.HasKept(c)}
	m.Return = s.back(t.val("return"))
	people, err := s.Store.ListUsers(c.Request().Context())
	if err != nil {
		return err
	}
	m.SetUpNeeded = len(people) == 0
	if s.hasPasskeys(c) {
		m.Passkey = &views.PasskeyAsk{Start: views.PathSignIn + "/passkey/start", Finish: views.PathSignIn + "/passkey", Return: m.Return}
	}
	if s.Provider != nil {
		m.Provider = &views.ProviderLink{Name: s.Provider.name(), URL: returning(views.PathProvider, m.Return)}
		m.ProviderOnly = s.Provider.only()
	}
	m.Frame = web.Frame(c, "")
	return web.RenderStatus(c, status, views.SignInPage(m))
}

// signIn checks e-mail address and password. Where only the provider signs people in, a
// password of another account is wrong whatever it is, after the same work.
func (s *site) signIn(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	password := t.val("password")
	if !s.Provider.local(strings.TrimSpace(t.val("email"))) {
		password = store.NewFormID()
	}
	u, err := s.Store.VerifyPassword(c.Request().Context(), t.val("email"), password, c.RealIP())
	if errors.Is(err, store.ErrBadLogin) {
		if err := s.Store.NoteFailedSignIn(c.Request().Context(), t.val("email"), store.ByPassword, c.RealIP(), c.Request().UserAgent()); err != nil {
			return err
		}
	}
	if p, ok := proofTrouble(c, err, views.ErrorWrongPassword); ok {
		if errors.Is(err, store.ErrBadLogin) && s.Provider.only() {
			p.say = views.Sentence(views.ErrorProviderOnly, "Name", s.Provider.name())
		}
		t.wrong("", p.say)
		return s.showSignIn(c, p.status, t)
	}
	if err != nil {
		return err
	}
	to, err := s.proven(c, u, store.ByPassword, false, s.back(t.val("return")))
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, to)
}

// signOut ends the session. Without one nothing is written: the address is open to anyone.
func (s *site) signOut(c echo.Context) error {
	if v := web.VisitOf(c); v.Self() == nil && v.Pending == nil {
		return c.Redirect(http.StatusSeeOther, views.PathSignIn)
	}
	if err := web.SignOut(c); err != nil {
		return err
	}
	if err := web.Flash(c, views.FlashDone, views.FlashSignedOut); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, views.PathSignIn)
}

// setPasswordPage only shows the form: a mail scanner that opens the link uses nothing
// up (FC-17).
func (s *site) setPasswordPage(c echo.Context) error {
	return s.showSetPassword(c, http.StatusOK, typed{fields: url.Values{"token": {c.QueryParam("token")}}})
}

func (s *site) showSetPassword(c echo.Context, status int, t typed) error {
	m := views.SetPasswordModel{Form: newForm(t, pathSetPassword), Token: t.val("token"), MinLen: store.MinPassword}
	u, err := s.Store.FindPasswordLink(c.Request().Context(), m.Token)
	switch {
	case errors.Is(err, store.ErrNotFound):
		m.Expired, m.Token = true, ""
	case err != nil:
		return err
	}
	m.Email = u.Email
	m.Frame = web.Frame(c, "")
	m.Path = pathSetPassword
	return web.RenderStatus(c, status, views.SetPasswordPage(m))
}

func (s *site) setPassword(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	if t.val("password") != t.val("password_again") {
		t.wrong("password_again", views.Sentence(views.ErrorPasswordsDiffer))
		return s.showSetPassword(c, http.StatusUnprocessableEntity, t)
	}
	_, err = s.Store.SetPasswordFrom(c.Request().Context(), t.val("token"), t.val("password"), c.RealIP())
	if p, ok := proofTrouble(c, err, views.ErrorInvalid); ok {
		t.wrong("", p.say)
		return s.showSetPassword(c, p.status, t)
	}
	if field, say, ok := invalidOf(err); ok {
		t.wrong(field, say)
		return s.showSetPassword(c, http.StatusUnprocessableEntity, t)
	}
	if errors.Is(err, store.ErrNotFound) {
		return s.showSetPassword(c, http.StatusUnprocessableEntity, t)
	}
	if err != nil {
		return err
	}
	return done(c, views.PathSignIn, views.FlashPasswordChanged)
}

// back gives the page to go on to after a sign-in: one of ours that is opened by GET and
// shown to who is signed in, else the inbox.
func (s *site) back(raw string) string {
	raw = web.LocalPath(raw, views.PathInbox)
	u, err := url.Parse(raw)
	if err != nil {
		return views.PathInbox
	}
	for _, r := range s.routes() {
		if r.method == http.MethodGet && !r.may.open && fits(r.path, u.Path) {
			return raw
		}
	}
	return views.PathInbox
}

// fits reports whether a path is one of a route's pattern.
func fits(pattern, path string) bool {
	want, have := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(have) {
		return false
	}
	for i, part := range want {
		if part != have[i] && (!strings.HasPrefix(part, ":") || have[i] == "") {
			return false
		}
	}
	return true
}
